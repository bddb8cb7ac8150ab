"""Lowering of calls: functions of the program, of the library, and plait's intrinsics."""

from __future__ import annotations

from plait.c import syntax as s
from plait.c.adapters import as_passed, has_width_of
from plait.c.atomics import ANY_ORDER, ATOMIC_PREFIX
from plait.c.libclang import Cursor
from plait.c.places import MemoryPlace
from plait.c.syntax import Node, strip
from plait.c.system_calls import SystemCalls
from plait.c.terms import binary, constant, convert, pointer_add, truth
from plait.c.types import CType, Shape
from plait.errors import UnsupportedCode
from plait.model.actions import (
    Allocate,
    Assign,
    AtomicBegin,
    AtomicEnd,
    Call,
    Check,
    CheckKind,
    EndProcess,
    EndThread,
    Fence,
    Free,
    Input,
    ObjectSize,
    Output,
    Prune,
    Spawn,
    Store,
    Unsupported,
    Wait,
)
from plait.model.expressions import (
    BinaryOp,
    Const,
    CurrentThread,
    Expr,
    FrameAddress,
    FunctionAddress,
    Register,
    StaticAddress,
)
from plait.model.machine import FIRST_PAGE, STORAGES
from plait.model.types import I32, I128, Kind, Scalar

_IDENTITY_BUILTINS = {
    "__builtin_expect",
    "__builtin_expect_with_probability",
    "__builtin_assume_aligned",
    "__builtin_launder",
}
_HINTS = {"__builtin_prefetch", "__builtin___clear_cache"}
_NANS = {"__builtin_nan", "__builtin_nanf"}
_INFINITIES = {"__builtin_inf", "__builtin_inff", "__builtin_huge_val", "__builtin_huge_valf"}
_OBJECT_SIZES = {"__builtin_object_size", "__builtin_dynamic_object_size"}
_OVERFLOW_OPERATORS = {"add": BinaryOp.ADD, "sub": BinaryOp.SUB, "mul": BinaryOp.MUL}
_VARIADIC_UNIT = 8
_MESSAGES = {"syslog", "vsyslog", "warn", "warnx", "vwarn", "vwarnx"}
_FAILED_ASSERTIONS = {"__assert_fail", "__assert"}  # called with the text of the assertion


class Calls(SystemCalls):
    """Calls of one function."""

    varargs: Register | None

    def call(self, node: Node, used: bool) -> Expr | MemoryPlace | None:
        watching = self.unit.linker.watching
        target = strip(node.children[0])
        if watching is None or target.kind != s.DECL_REF:
            return self._call_of(node, used)
        name = self.unit.library.spelling(target.cursor)
        before, behind = watching.hooks_around(self.unit, name)
        if before is not None:
            self.emit(Call(self.origin, None, watching.function(before), ()))
        result = self._call_of(node, used or (behind is not None and behind.takes_result))
        if behind is not None:
            passed: tuple[Expr, ...] = ()
            if behind.takes_result:
                assert result is not None and not isinstance(result, MemoryPlace)
                result = self.stable(result)
                passed = (result,)
            self.emit(Call(self.origin, None, watching.function(behind), passed))
        return result

    def _call_of(self, node: Node, used: bool) -> Expr | MemoryPlace | None:
        callee, arguments = node.children[0], node.children[1:]
        target = strip(callee)
        if target.kind == s.DECL_REF:
            declaration = self.unit.library.getCursorReferenced(target.cursor)
            if declaration.kind == s.FUNCTION:
                name = self.unit.library.spelling(declaration)
                special = self._special(name, node, arguments, used, declaration)
                if special is not _ORDINARY:
                    return special  # type: ignore[return-value]
                linked = self.unit.function_name(declaration)
                declared = self.unit.types.of(declaration)
                defined = self.unit.linker.defined_type(self.unit, name)
                return self._call(linked, None, declared, node, arguments, used, defined)
        function = self.rvalue(callee)
        pointer_type = self.unit.type_of(callee)
        pointee = pointer_type.inner if pointer_type.is_pointer else pointer_type
        assert pointee is not None
        return self._call(None, function, pointee, node, arguments, used)

    def _call(
        self,
        name: str | None,
        function: Expr | None,
        declared: CType,
        node: Node,
        arguments: list[Node],
        used: bool,
        defined: CType | None = None,
    ) -> Expr | MemoryPlace | None:
        """`defined` is the type that the function's definition has, which old C may not know."""
        result_type = self.unit.type_of(node)
        values: list[Expr] = []
        since = self.at
        if function is not None:
            values.append(function)
        starts = [(since, self.emitted)] * len(values)
        passing = declared if declared.prototyped or defined is None else defined
        fixed = len(passing.parameters)
        split = passing.variadic
        extra: list[tuple[Expr, CType]] = []
        for position, argument in enumerate(arguments):
            value = self._argument(argument)
            if defined is not None and position < len(defined.parameters):
                value = self._callback(argument, value, name, defined.parameters[position])
            if split and position >= fixed:
                extra.append((self.stable(value), self.unit.type_of(argument)))
                continue
            values.append(value)
            starts.append((self.at, self.emitted))
        for position, parameter in enumerate(declared.parameters[: len(values)]):
            index = position + (function is not None)
            if parameter.scalar is not None and index < len(values):
                values[index] = convert(parameter.scalar, values[index])
        if defined is not None:
            for position, parameter in enumerate(defined.parameters[: len(values)]):
                passed = as_passed(values[position], parameter)
                if passed is None:
                    what = f"argument {position + 1} of '{name}' is not of the type that it takes"
                    return self._stop(f"not supported: {what}", node)
                values[position] = passed
        values = [self.keep(value, *start) for value, start in zip(values, starts, strict=True)]
        if function is not None:
            function, values = values[0], values[1:]
        if name is not None and self.unit.linker.is_library_function(name):
            self.use_streams(name, values, declared.parameters)
        if split:
            values.append(self._variadic_block(extra))
        place: MemoryPlace | None = None
        if result_type.shape is Shape.RECORD:
            place = self.temporary_object(result_type)
            values.insert(0, place.address)
        target = None
        returned = None if defined is None else defined.result
        expected = result_type if returned is None or not used else returned
        if expected.shape is not result_type.shape and Shape.RECORD in (
            expected.shape,
            result_type.shape,
        ):
            return self._stop(f"not supported: the result of '{name}' is of another type", node)
        if used and expected.scalar is not None:
            target = self.register(expected.scalar)
        if name is not None and self.unit.linker.is_library_function(name):
            self._cancellation_point(name)
        callee: str | Expr = name if name is not None else function  # type: ignore[assignment]
        self.emit(Call(self.origin, target, callee, tuple(values)))
        if place is not None or not used or result_type.scalar is None:
            return place
        if target is not None and has_width_of(target.type, result_type.scalar):
            return target
        if target is not None and Kind.FLOAT in (target.type.kind, result_type.scalar.kind):
            return self._stop(f"not supported: the result of '{name}' is of another type", node)
        return self._result_register(target, result_type.scalar)

    def _result_register(self, returned: Register | None, scalar: Scalar) -> Expr:
        """What a caller finds that expects another type: the low bits are what was returned."""
        if returned is not None and returned.type.bits > scalar.bits:
            return convert(scalar, returned)
        found = self.register(scalar)
        self.emit(Input(self.origin, found, "result beyond what a function returns"))
        if returned is not None:
            same = binary(BinaryOp.EQ, convert(returned.type, found), returned)
            self.emit(Prune(self.origin, same))
        return found

    def _callback(self, argument: Node, value: Expr, name: str | None, parameter: CType) -> Expr:
        """A function for the library to call: its type may not be the one that it is called by."""
        wanted = parameter.inner if parameter.is_pointer else None
        if wanted is None or wanted.shape is not Shape.FUNCTION or name is None:
            return value
        inner = strip(argument)
        while inner.kind == s.CAST:
            inner = strip(inner.children[-1])
        if inner.kind != s.DECL_REF or not self.unit.linker.is_library_function(name):
            return value
        declaration = self.unit.library.getCursorReferenced(inner.cursor)
        if declaration.kind != s.FUNCTION:
            return value
        spelled = self.unit.library.spelling(declaration)
        defined = self.unit.linker.defined_type(self.unit, spelled)
        if defined is None:
            return value
        linked = self.unit.linker.adapted(self.unit.function_name(declaration), defined, wanted)
        return value if linked is None else FunctionAddress(self.pointer, linked)

    def _argument(self, argument: Node) -> Expr:
        """The value passed: of a struct or union the address, the callee copies it."""
        if self.unit.type_of(argument).shape is not Shape.RECORD:
            return self.rvalue(argument)
        return self.record(argument).address

    def _variadic_block(self, values: list[tuple[Expr, CType]]) -> Expr:
        """Variable arguments lie one after the other in a block of the caller's frame."""
        if not values:
            return Const(self.pointer, 0)
        sizes = [_variadic_size(ctype) for _, ctype in values]
        block = self.register(self.pointer)
        size = constant(self.unit.size_type, sum(sizes))
        self.emit(Allocate(self.origin, block, size, False, "stack"))
        offset = 0
        for (value, ctype), length in zip(values, sizes, strict=True):
            where = pointer_add(block, Const(self.data_model.offset_type, offset))
            if ctype.shape is Shape.RECORD:
                self.copy(where, value, ctype)
            else:
                self.emit(Store(self.origin, where, value))
            offset += length
        return block

    # Functions that are not ordinary calls

    def _special(
        self, name: str, node: Node, arguments: list[Node], used: bool, declaration: Cursor
    ) -> object:
        if name.startswith("__plait_"):
            if name.startswith(ATOMIC_PREFIX):
                return self.atomic_call(name[len(ATOMIC_PREFIX) :], node, arguments)
            handler = getattr(self, "_intrinsic" + name[len("__plait") :], None)
            if handler is not None:
                return handler(arguments)
        if name.startswith("__builtin_"):
            return self._builtin(name, node, arguments, used)
        if name in ("alloca", "__builtin_alloca"):
            return self._alloca(arguments)
        if name in self.unit.linker.error_functions:
            return _ORDINARY
        effects = self.unit.linker.system_functions.get(name)
        is_primitive = self.unit.is_library and effects is not None  # see library/output.c
        if self.unit.is_defined(name, declaration) and not is_primitive:
            return _ORDINARY
        if not self.unit.is_library:
            self.unit.linker.note_call(name)
        watching = self.unit.linker.watching
        if watching is not None and watching.is_observed(self.unit, name):
            return _ORDINARY
        if name in _FAILED_ASSERTIONS and arguments and strip(arguments[0]).kind == s.STRING:
            for argument in arguments[1:]:
                self.effect(argument)
            self._fail_assertion(self._text(arguments[0]))
            return None
        if name == "assert" and len(arguments) == 1:  # declared by hand, without its header
            failed, after = self.location(), self.location()
            self.branch(truth(self.rvalue(arguments[0])), after, failed)
            self.at = failed
            self._fail_assertion(self.unit.source_text(arguments[0]))
            self.start(after)
            return self._any_value(node, "assert()", used)
        if name.startswith("__VERIFIER_nondet_") and not arguments:
            return self._nondet(name, node)
        why = self.unit.linker.why_unsupported(self.unit, name, declaration)
        is_input = name.startswith("__VERIFIER_nondet_")
        if why is None and is_input and not self.unit.is_modelled(name):
            why = "an input with arguments"
        if why is not None:
            for argument in arguments:
                self.effect(argument)
            return self._stop(f"'{name}' is not supported: {why}", node)
        if name in self.unit.linker.no_effect_functions:
            declared = self.unit.types.of(declaration)
            return self._no_effect(name, node, arguments, used, declared)
        if effects is not None:
            declared = self.unit.types.of(declaration)
            return self._system_call(name, node, arguments, used, declared, effects)
        if not self.unit.is_modelled(name):
            return self._undefined_function(name, node, arguments, used, declaration)
        return _ORDINARY

    def _fail_assertion(self, text: str) -> None:
        """An assertion that fails ends the process, also where nobody checks it."""
        self.check(Const(I32, 0), CheckKind.ASSERTION, f"assertion '{text}' failed")
        abort = self.unit.linker.library_function("abort")
        self.emit(Call(self.origin, None, abort, ()))

    def _stop(self, message: str, node: Node) -> Expr | MemoryPlace | None:
        """An Unsupported action, and a value of the right type for what follows it."""
        self.emit(Unsupported(self.origin, message))
        return self._any_value(node, "unsupported", used=True)

    def _nondet(self, name: str, node: Node) -> Expr | MemoryPlace | None:
        return self._any_value(node, f"{name}()", used=True)

    def _no_effect(
        self,
        name: str,
        node: Node,
        arguments: list[Node],
        used: bool,
        declared: CType | None = None,
    ) -> Expr | MemoryPlace | None:
        values = [self._any_kind_of_argument(argument) for argument in arguments]
        if declared is not None:
            self.use_streams(name, values, declared.parameters)
        if name == "fclose":
            said = "no stream is used after it was closed (--monitor file-use checks that)"
            self.unit.linker.assume(said)
        self._cancellation_point(name)
        if "printf" in name and any(self._writes_count(argument) for argument in arguments):
            return self._stop(f"'%n' in the format of '{name}' is not supported", node)
        if name == "printf" and values:
            kept = tuple(value for value in values if value is not None)
            self.emit(Output(self.origin, kept))
        if declared is not None and not _is_formatting(name):
            for argument, value, ctype in zip(arguments, values, declared.parameters, strict=False):
                self.read_constant(argument, value, ctype)
        result = self._any_value(node, f"{name}()", used)
        returned = self.unit.linker.no_effect_functions[name]
        if isinstance(result, Register):
            self.allow(result, [], returned)
        if not _is_formatting(name) and (result is None or isinstance(result, Register)):
            self.note_failure(result)
        return result

    def _writes_count(self, argument: Node) -> bool:
        literal = strip(argument)
        return literal.kind == s.STRING and "%n" in self._text(argument).replace("%%", "")

    def _any_kind_of_argument(self, argument: Node) -> Expr | None:
        value = self.value(argument)
        return None if isinstance(value, MemoryPlace) else value

    def _undefined_function(
        self,
        name: str,
        node: Node,
        arguments: list[Node],
        used: bool,
        declaration: Cursor,
    ) -> Expr | MemoryPlace | None:
        if self.unit.is_of_system(declaration) and not self.unit.is_noreturn(declaration):
            declared = self.unit.types.of(declaration)
            return self._system_call(name, node, arguments, used, declared, None)
        values = [self._any_kind_of_argument(argument) for argument in arguments]
        if self.unit.is_noreturn(declaration):
            self.unit.linker.assume_undefined(name, "it ends the process and touches no memory")
            self.finish(EndProcess(self.origin, Const(I32, 1), "exit"))
            return self._any_value(node, f"{name}()", used)
        refused = f"not supported: a callback for '{name}', which is not defined"
        if any(map(self.leads_to_callback, arguments)):
            return self._stop(refused, node)
        for argument, value in zip(arguments, values, strict=True):
            pointee = self.unit.type_of(strip(argument)).inner
            if value is not None and pointee is not None and pointee.shape is Shape.VOID:
                self._stop_at_functions(value, refused)
        pointee = self.unit.type_of(node).inner
        if self.unit.linker.options.assume_defined and used and pointee is not None:
            if self.unit.type_of(node).is_pointer and pointee.size > 0:
                return self._new_object_or_null(name, pointee)
        self.unit.linker.assume_undefined(name)
        return self._any_value(node, f"{name}()", used)

    def _stop_at_functions(self, value: Expr, message: str) -> None:
        """Nothing is known of who gets a `void *` that is the address of a function."""
        if isinstance(value, (Const, StaticAddress, FrameAddress)):
            return
        first_beyond = self.unit.linker.end_of_functions
        number = convert(first_beyond.type, self.stable(value))
        is_low = binary(BinaryOp.LT, number, first_beyond)
        onward, inside, stop = self.location(), self.location(), self.location()
        self.branch(is_low, inside, onward)
        self.unit.linker.note_callback_guard(self.edges[self.at])
        self.at = inside
        lowest = constant(first_beyond.type, FIRST_PAGE << self.data_model.page_bits)
        self.branch(binary(BinaryOp.LT, number, lowest), onward, stop)
        self.at = stop
        self.emit(Unsupported(self.origin, message))
        self.start(onward)

    def _new_object_or_null(self, name: str, pointee: CType) -> Expr:
        """What an environment that hands out valid pointers may return."""
        self.unit.linker.assume_undefined(
            name, "it may return null or a new object of its type and touches no memory"
        )
        target, is_object = self.register(self.pointer), self.register(I32)
        self.emit(Input(self.origin, is_object, f"{name}() returns an object", Const(I32, 2)))
        made, null, after = self.location(), self.location(), self.location()
        self.branch(is_object, made, null)
        self.at = made
        size = constant(self.unit.size_type, pointee.size)
        self.emit(Allocate(self.origin, target, size, False, "given"))
        self.connect(after)
        self.at = null
        self.emit(Assign(self.origin, target, Const(self.pointer, 0)))
        self.connect(after)
        self.at = after
        return target

    def _alloca(self, arguments: list[Node]) -> Expr:
        target = self.register(self.pointer)
        size = convert(self.unit.size_type, self.rvalue(arguments[0]))
        self.emit(Allocate(self.origin, target, size, False, "stack"))
        return target

    # Compiler builtins

    def _builtin(self, name: str, node: Node, arguments: list[Node], used: bool) -> object:
        if name in _IDENTITY_BUILTINS:
            # gcc drops the expectation of a constant, clang evaluates it.
            if name.startswith("__builtin_expect") and any(map(self.has_effects, arguments[1:])):
                raise UnsupportedCode(f"side effects in what {name} expects")
            first = self.rvalue(arguments[0])
            since = self.at, self.emitted
            for other in arguments[1:]:
                self.effect(other)
            return convert(self.unit.type_of(node).require_scalar(), self.keep(first, *since))
        if name in _HINTS:
            for argument in arguments:
                self.effect(argument)
            return None
        if name == "__builtin_assume":  # clang does not evaluate it
            if self.has_effects(arguments[0]):
                raise UnsupportedCode("side effects in __builtin_assume")
            assumed = truth(self.rvalue(arguments[0]))
            self.check(assumed, CheckKind.UNDEFINED, "__builtin_assume of what does not hold")
            return None
        if name == "__builtin_unreachable":
            self.emit(
                Check(
                    self.origin,
                    Const(I32, 0),
                    CheckKind.UNDEFINED,
                    "__builtin_unreachable is reached",
                )
            )
            return None
        if name in ("__builtin_trap", "__builtin_debugtrap"):
            name = "__builtin_abort"
        if name == "__builtin_constant_p":
            known = self.unit.tree.integer(node)
            return constant(I32, known or 0)
        if name in _OBJECT_SIZES:
            return self._compiler_known_size(name, node, arguments)
        if name == "__builtin_classify_type":  # a matter of the type: not evaluated
            return constant(I32, self.unit.tree.integer(node) or 0)
        if name in ("__builtin_alloca", "__builtin_alloca_with_align"):
            return self._alloca(arguments)
        parts = name.split("_")
        if (name.endswith("_overflow") and "add" in name) or "_sub" in name or "_mul" in name:
            if name.endswith("_overflow"):
                op = next(op for key, op in _OVERFLOW_OPERATORS.items() if key in parts[3])
                return self._overflow_builtin(op, arguments)
        scalar = self.unit.type_of(node).scalar
        # libclang computes the value of `f((c++, 5))`, too, and says nothing of `c`.
        is_closed = not any(map(self.is_open, arguments))
        folded = self.unit.tree.integer(node) if is_closed else None
        if folded is not None and scalar is not None and scalar.kind is not Kind.FLOAT:
            return constant(scalar, folded)
        if name in _NANS or name in _INFINITIES:
            assert scalar is not None
            for argument in arguments:
                self.effect(argument)
            return Const(scalar, float("nan" if name in _NANS else "inf"))
        for candidate in (f"__plait_builtin_{name[10:]}", name[10:]):
            if candidate in self.unit.linker.no_effect_functions:
                return self._no_effect(candidate, node, arguments, used)
            if self.unit.is_modelled(candidate):
                linked = self.unit.linker.library_function(candidate)
                declared = self.unit.linker.library_type(candidate)
                return self._call(linked, None, declared, node, arguments, used)
        return self._stop(f"the builtin '{name}' is not supported", node)

    def _compiler_known_size(self, name: str, node: Node, arguments: list[Node]) -> Expr:
        """__builtin_object_size does not evaluate its arguments, and knows nothing of those with
        side effects. What it knows of others depends on the optimiser unless it is constant."""
        scalar = self.unit.type_of(node).require_scalar()
        kind = self.unit.tree.integer(arguments[1]) or 0
        if self.has_effects(arguments[0]):
            return constant(scalar, 0 if kind & 2 else -1)
        known = self.unit.tree.integer(node)
        if known is None:
            raise UnsupportedCode(f"{name} of what only an optimiser knows")
        return constant(scalar, known)

    def _overflow_builtin(self, op: BinaryOp, arguments: list[Node]) -> Expr:
        """__builtin_add_overflow and its like: exact result, stored and compared."""
        left = self.stable(self.rvalue(arguments[0]))
        right = self.stable(self.rvalue(arguments[1]))
        target = self.unit.type_of(arguments[2]).inner
        assert target is not None
        scalar = target.require_scalar()
        if max(left.type.bits, right.type.bits, scalar.bits) > 64:
            raise UnsupportedCode("an overflow builtin on 128-bit integers")
        if op is BinaryOp.MUL and not (left.type.signed and right.type.signed):
            wide = Scalar(Kind.INT, 128, signed=left.type.signed or right.type.signed)
        else:
            wide = I128
        where = self.stable(self.rvalue(arguments[2]))
        exact = self.temporary(binary(op, convert(wide, left), convert(wide, right)))
        stored = self.temporary(convert(scalar, exact))
        self.emit(Store(self.origin, where, stored))
        return binary(BinaryOp.NE, convert(wide, stored), exact)

    # Intrinsics of the library's C sources; `_intrinsic_NAME` lowers `__plait_NAME`

    def _text(self, node: Node) -> str:
        literal = strip(node)
        if literal.kind != s.STRING:
            raise UnsupportedCode("an intrinsic needs a string literal here")
        return s.decode_string(self.unit.tree.name(literal), 1).decode("utf-8", "replace")

    def _intrinsic_atomic_begin(self, arguments: list[Node]) -> None:
        self.emit(AtomicBegin(self.origin))

    def _intrinsic_atomic_end(self, arguments: list[Node]) -> None:
        self.emit(AtomicEnd(self.origin))

    def _intrinsic_wait(self, arguments: list[Node]) -> None:
        condition = truth(self.rvalue(arguments[0]))
        on = self.rvalue(arguments[2])
        self.emit(Wait(self.origin, condition, self._text(arguments[1]), on))

    def _intrinsic_self(self, arguments: list[Node]) -> Expr:
        return CurrentThread(I32)

    def _intrinsic_spawn(self, arguments: list[Node]) -> Expr:
        target = self.register(I32)
        function, argument = self.rvalue(arguments[0]), self.rvalue(arguments[1])
        self.emit(Spawn(self.origin, target, function, argument))
        return target

    def _intrinsic_end_thread(self, arguments: list[Node]) -> None:
        self.finish(EndThread(self.origin))

    def _intrinsic_end_process(self, arguments: list[Node]) -> None:
        status = self.rvalue(arguments[0])
        self.finish(EndProcess(self.origin, status, self._text(arguments[1])))

    def _intrinsic_check(self, arguments: list[Node]) -> None:
        kind = CheckKind(self._text(arguments[0]))
        if kind in self.checks:
            condition = truth(self.rvalue(arguments[1]))
            self.check(condition, kind, self._text(arguments[2]))

    def _intrinsic_assume(self, arguments: list[Node]) -> None:
        self.emit(Prune(self.origin, truth(self.rvalue(arguments[0]))))

    def _intrinsic_choose(self, arguments: list[Node]) -> Expr:
        count = self.rvalue(arguments[1])
        target = self.register(I32)
        self.emit(Input(self.origin, target, self._text(arguments[0]), count))
        return target

    def _intrinsic_allocate(self, arguments: list[Node]) -> Expr:
        size = convert(self.unit.size_type, self.rvalue(arguments[0]))
        zeroed = self.unit.tree.integer(arguments[1])
        if zeroed is None:
            raise UnsupportedCode("__plait_allocate needs a constant 'zeroed'")
        target = self.register(self.pointer)
        storage = self._storage(arguments[2])
        self.emit(Allocate(self.origin, target, size, bool(zeroed), storage))
        return target

    def _intrinsic_free(self, arguments: list[Node]) -> None:
        storage = self._storage(arguments[1])
        self.emit(Free(self.origin, self.rvalue(arguments[0]), storage))

    def _intrinsic_object_size(self, arguments: list[Node]) -> Expr:
        target = self.register(self.unit.size_type)
        storage = self._storage(arguments[1])
        self.emit(ObjectSize(self.origin, target, self.rvalue(arguments[0]), storage))
        return target

    def _storage(self, node: Node) -> str:
        storage = self._text(node)
        if storage not in STORAGES:
            raise UnsupportedCode(f"memory that is called {storage!r}")
        return storage

    def _intrinsic_unsupported(self, arguments: list[Node]) -> None:
        self.emit(Unsupported(self.origin, self._text(arguments[0])))

    def _intrinsic_fence(self, arguments: list[Node]) -> None:
        orders = self.orders_of(arguments[0], "a fence", ANY_ORDER)
        self.with_order(orders, lambda order: self.emit(Fence(self.origin, order)))

    def _intrinsic_signal_fence(self, arguments: list[Node]) -> None:
        # Handlers of signals are not modelled: there is nothing to order.
        self.orders_of(arguments[0], "a fence", ANY_ORDER)

    def _intrinsic_varargs(self, arguments: list[Node]) -> Expr:
        if self.varargs is None:
            raise UnsupportedCode("va_start outside of a variadic function")
        return self.varargs


def _is_formatting(name: str) -> bool:
    """Functions that print: what their arguments point to is not read."""
    return "printf" in name or name in _MESSAGES


def _variadic_size(ctype: CType) -> int:
    size = ctype.size
    return max(_VARIADIC_UNIT, (size + _VARIADIC_UNIT - 1) // _VARIADIC_UNIT * _VARIADIC_UNIT)


_ORDINARY = object()
