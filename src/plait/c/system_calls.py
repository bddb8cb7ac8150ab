"""Lowering of calls of system functions without a model: what they return and write are inputs.

What such a function accesses is taken from `effects.txt`; of one that is not listed there, but
declared in a header of the system, the types of its parameters tell it. It reads what its `const`
pointers lead to, and may write everything of each object that another pointer leads to: that has to
be a variable of the caller, so that its size is known. Where the types leave open what could be
written or called (pointers inside of what is passed, callbacks, pointers as results), the call is
unsupported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plait.c import syntax as s
from plait.c.effects import (
    Access,
    Amount,
    Effect,
    Result,
    ResultKind,
    SystemFunction,
)
from plait.c.entry import EntryCalls
from plait.c.places import MemoryPlace
from plait.c.syntax import Node, strip
from plait.c.terms import binary, conditional, constant, convert, pointer_add, truth
from plait.c.types import CType, Shape
from plait.data import dataclass, replace
from plait.model.actions import Assign, Call, Input, Prune, Store, Unsupported
from plait.model.expressions import BinaryOp, Const, Expr, FrameAddress, Register, StaticAddress
from plait.model.system_inputs import written
from plait.model.types import I32, U8, Kind, Scalar

_NOTE_FAILURE = "__plait_note_failure"
_NOTE_POSSIBLE_FAILURE = "__plait_note_possible_failure"
FAILURE_NOTES = (_NOTE_FAILURE, _NOTE_POSSIBLE_FAILURE)
# What these do is more than to access memory.
_FAMILIES = ("pthread_", "sem_", "thrd_", "mtx_", "cnd_", "tss_", "sig", "mq_")
_STRINGS = (ResultKind.STRING, ResultKind.STRING_OR_NULL, ResultKind.GIVEN_STRING)
_FAILING = (ResultKind.STATUS, ResultKind.FROM_MINUS_ONE, ResultKind.COUNT)  # with -1
_TAKES_NO_STREAM = ("fflush", "fflush_unlocked")  # null: all of them
_MOST_CELLS = 64  # of what is written or read one by one: larger objects are written as bytes
_KNOWN_EFFECTS = "their results, and what they write, can be anything that POSIX allows"
_EFFECTS_BY_TYPES = (
    "they may return any value, but for pointers to characters, which are null or lead to a string;"
    " they read the strings and objects that their const pointers lead to, may write the variables"
    " whose addresses they get, and touch no other memory"
)


class _Refused(Exception):
    """The effects of a call cannot be bounded."""


@dataclass(slots=True, eq=False)
class _Passed:
    """An argument: its value (None: a struct), the type that the function is declared to get."""

    node: Node
    value: Expr | None
    type: CType

    @property
    def is_null(self) -> bool:
        return isinstance(self.value, Const) and self.value.value == 0

    @property
    def pointee(self) -> CType | None:
        return self.type.inner if self.type.is_pointer else None


class SystemCalls(EntryCalls):
    """Calls of functions of the system that have no model."""

    def _system_call(
        self,
        name: str,
        node: Node,
        arguments: list[Node],
        used: bool,
        declared: CType,
        known: SystemFunction | None,
    ) -> Expr | MemoryPlace | None:
        passed = self._passed(arguments, declared)
        self.use_streams(name, [item.value for item in passed], [item.type for item in passed])
        self._cancellation_point(name)
        try:
            if known is None or known.by_types:
                if name.startswith(_FAMILIES):
                    raise _Refused("a function of threads or signals without a model")
                function = self._by_types(passed, declared)
                self.unit.linker.assume_effects(name, _EFFECTS_BY_TYPES)
            else:
                function = known
                if not known.only_reads:
                    self.unit.linker.assume_effects(name, _KNOWN_EFFECTS)
            is_noticed = used or (function.uses_result and function.result.kind not in _STRINGS)
            if not is_noticed:
                function = replace(function, result=Result(ResultKind.UNUSED))
            result = self._effects_of(name, node, passed, function)
        except _Refused as error:
            self.emit(Unsupported(self.origin, f"'{name}' is not supported: {error}"))
            return self._any_value(node, f"{name}()", used)
        if self.unit.type_of(node).shape is Shape.RECORD:
            return self._any_value(node, f"{name}()", used)
        return result

    def _cancellation_point(self, name: str) -> None:
        """Before a call of a function of the library in the user's code."""
        found = self.unit.linker.cancellation_points.get(name)
        if found is not None and not self.unit.is_library:
            self.emit(Call(self.origin, None, self.unit.linker.library_function(found), ()))

    def _passed(self, arguments: list[Node], declared: CType) -> list[_Passed]:
        values: list[Expr | MemoryPlace | None] = []
        starts = []
        for argument in arguments:
            values.append(self.value(argument))
            starts.append((self.at, self.emitted))
        found = []
        for position, (argument, value, start) in enumerate(
            zip(arguments, values, starts, strict=True)
        ):
            ctype = self.unit.type_of(argument)
            if position < len(declared.parameters):
                ctype = declared.parameters[position]
            kept: Expr | None = None
            alternative = _any_of_pointers(ctype)
            if isinstance(value, MemoryPlace) and alternative is not None:
                ctype = alternative
                kept = self.load_scalar(value.address, self.pointer)
            elif isinstance(value, Expr):
                if ctype.scalar is not None:
                    value = convert(ctype.scalar, value)
                kept = self.keep(value, *start)
                if not isinstance(kept, FrameAddress):
                    kept = self.stable(kept)
            found.append(_Passed(argument, kept, ctype))
        return found

    def use_streams(
        self, name: str, values: Sequence[Expr | None], parameters: Sequence[CType]
    ) -> None:
        """What a function does to a stream begins with an access to it: null is none."""
        if name in _TAKES_NO_STREAM:
            return
        null = Const(self.pointer, 0)

        def access() -> None:
            self.load_scalar(null, U8)

        for value, parameter in zip(values, parameters, strict=False):
            if value is None or not _is_stream(parameter) or isinstance(value, StaticAddress):
                continue
            self._where(binary(BinaryOp.EQ, value, null), access)

    def _any_value(self, node: Node, name: str, used: bool) -> Expr | MemoryPlace | None:
        ctype = self.unit.type_of(node)
        if ctype.shape is Shape.RECORD:
            return self.temporary_object(ctype)
        if ctype.scalar is None or not used:
            return None
        target = self.register(ctype.scalar)
        self.emit(Input(self.origin, target, name))
        return target

    # Functions that nothing is known of but their declaration

    def _by_types(self, passed: list[_Passed], declared: CType) -> SystemFunction:
        result = declared.result
        returned = Result(ResultKind.ANY)
        if result is not None and result.is_pointer and not _is_opaque(result.inner):
            if not _is_text(result.inner):
                raise _Refused("it returns memory that is not modelled")
            returned = Result(ResultKind.GIVEN_STRING)
        effects: list[Effect] = []
        for number, item in enumerate(passed, 1):
            if has_callback(item.type) or self.leads_to_callback(item.node):
                raise _Refused("it gets a callback")
            pointee = item.pointee
            if pointee is None:
                if item.type.shape is Shape.RECORD and _has_pointers(item.type):
                    raise _Refused("it gets pointers inside of a struct")
                if self._is_hidden_pointer(item.node):
                    raise _Refused("it gets a pointer as an integer")
                continue
            if item.is_null or _is_opaque(pointee):
                continue
            if _has_pointers(pointee):
                raise _Refused("it gets pointers that lead to others")
            if not pointee.const:
                size = self._size_of_variable(item.node)
                if size is None:
                    raise _Refused("how much memory it may write is not known")
                unit = pointee.size
                if unit and size % unit == 0:
                    effects.append(Effect(Access.WRITES, number, Amount.FIXED, size // unit, False))
                else:
                    effects.append(Effect(Access.WRITES, number, Amount.FIXED, size, True))
            elif pointee.shape is Shape.VOID:
                raise _Refused("how much memory it may read is not known")
        return SystemFunction(returned, tuple(effects))

    def leads_to_callback(self, argument: Node) -> bool:
        """Whether who gets an argument can find a function to call in it, also one that is passed
        as a `void *`."""
        inner = argument
        while not has_callback(self.unit.type_of(inner)):
            stripped = strip(inner)
            if stripped is not inner:
                inner = stripped
            elif inner.kind == s.CAST:
                inner = inner.children[-1]
            else:
                return False
        return True

    def _is_hidden_pointer(self, node: Node) -> bool:
        """Whether an integer is made of an address right where it is passed."""
        inner = strip(node)
        while inner.kind == s.CAST:
            inner = strip(inner.children[-1])
            ctype = self.unit.type_of(inner)
            if ctype.is_pointer or ctype.shape in (Shape.ARRAY, Shape.FUNCTION):
                return True
        return False

    def _size_of_variable(self, node: Node) -> int | None:
        """How large the variable is whose address (of its beginning) an argument is."""
        inner = strip(node)
        while inner.kind == s.CAST:
            inner = strip(inner.children[-1])
        is_address = inner.kind == s.UNARY and self._unary_kind(inner) == s.ADDRESS
        variable = strip(inner.children[0]) if is_address else inner
        if variable.kind != s.DECL_REF:
            return None
        ctype = self.unit.type_of(variable)
        if not is_address and ctype.shape is not Shape.ARRAY:
            return None
        if ctype.shape not in (Shape.SCALAR, Shape.ARRAY, Shape.RECORD) or _has_pointers(ctype):
            return None
        declaration = self.unit.library.getCursorReferenced(variable.cursor)
        if declaration.kind != s.VAR or not ctype.size:
            return None
        return ctype.size

    # Effects and results

    def _effects_of(
        self, name: str, node: Node, passed: list[_Passed], function: SystemFunction
    ) -> Expr | None:
        """The accesses of a call, and its result if that is a scalar."""
        if max(function.arguments(), default=0) > len(passed):
            raise _Refused("it is called with fewer arguments than it has")
        for number in function.needs:
            self._refuse_null(name, passed[number - 1])
        for number, bits in function.without:
            self._refuse_bits(name, passed[number - 1], bits)
        amounts = [self._amount(effect, passed) for effect in function.effects]
        for number, item in enumerate(passed, 1):
            if not function.mentions(number):
                self._read_constant(item)
        result = self._result(name, node, passed, function.result)
        for effect, amount in zip(function.effects, amounts, strict=True):
            if effect.amount is Amount.RESULT:
                if result is None:
                    raise _Refused("it is declared with another result than it has")
                amount = self._bytes_of_result(result)
            item = passed[effect.argument - 1]
            access = self._access(written(name, effect.argument), effect, item, amount)
            if function.result.kind in _FAILING and effect.access is not Access.READS and result:
                access = self._where_successful(result, access)
            self._if_there(item, access)
        return result

    def _where_successful(self, result: Expr, access: Callable[[], None]) -> Callable[[], None]:
        """A call that fails writes nothing."""
        succeeded = binary(BinaryOp.LE, Const(result.type, 0), result)
        return lambda: self._where(succeeded, access)

    def _refuse_null(self, name: str, item: _Passed) -> None:
        def refuse() -> None:
            message = f"'{name}' with a null pointer is not supported: it returns new memory"
            self.emit(Unsupported(self.origin, message))

        assert item.value is not None
        self._where(binary(BinaryOp.EQ, item.value, Const(item.value.type, 0)), refuse)

    def _refuse_bits(self, name: str, item: _Passed, bits: int) -> None:
        def refuse() -> None:
            message = f"'{name}' with these flags is not supported: its result means another thing"
            self.emit(Unsupported(self.origin, message))

        if item.value is None or item.value.type.kind is not Kind.INT:
            raise _Refused("it is called with other arguments than it has")
        wanted = Const(item.value.type, bits)
        found = binary(BinaryOp.AND, item.value, wanted)
        self._where(binary(BinaryOp.NE, found, Const(item.value.type, 0)), refuse)

    def _where(self, condition: Expr, body: Callable[[], None]) -> None:
        inside, after = self.location(), self.location()
        self.branch(condition, inside, after)
        self.at = inside
        body()
        self.start(after)

    def _if_there(self, item: _Passed, body: Callable[[], None]) -> None:
        """What happens to the memory that an argument points to."""
        if item.value is None or item.pointee is None:
            raise _Refused("it is called with other arguments than it has")
        if isinstance(item.value, (StaticAddress, FrameAddress)):
            body()
        elif not item.is_null:
            self._where(binary(BinaryOp.NE, item.value, Const(item.value.type, 0)), body)

    def _amount(self, effect: Effect, passed: list[_Passed]) -> Expr:
        """How many elements or bytes, before the call."""
        size_type = self.unit.size_type
        if effect.amount in (Amount.FIXED, Amount.RESULT):
            return constant(size_type, effect.number)
        teller = passed[effect.number - 1]
        if effect.amount is Amount.ARGUMENT:
            if teller.value is None:
                raise _Refused("it is called with other arguments than it has")
            amount = convert(size_type, teller.value)
            if not effect.times:
                return amount
            factor = passed[effect.times - 1].value
            if factor is None:
                raise _Refused("it is called with other arguments than it has")
            return binary(BinaryOp.MUL, amount, convert(size_type, factor))
        pointee = teller.pointee
        scalar = None if pointee is None else pointee.scalar
        if scalar is None or scalar.kind is not Kind.INT:
            raise _Refused("it is called with other arguments than it has")
        found = self.register(size_type)
        self.emit(Assign(self.origin, found, Const(size_type, 0)))

        def read() -> None:
            assert teller.value is not None
            told = self.load_scalar(teller.value, scalar)
            self.emit(Assign(self.origin, found, convert(size_type, told)))

        self._if_there(teller, read)
        return found

    def _bytes_of_result(self, result: Expr) -> Expr:
        failed = binary(BinaryOp.LT, result, Const(result.type, 0))
        size_type = self.unit.size_type
        amount = convert(size_type, result)
        return self.temporary(conditional(failed, constant(size_type, 0), amount))

    def _access(
        self, inputs: str, effect: Effect, item: _Passed, amount: Expr
    ) -> Callable[[], None]:
        pointee = item.pointee
        if pointee is None:
            raise _Refused("it is called with other arguments than it has")
        if _has_pointers(pointee) and effect.access is not Access.READS:
            raise _Refused("it writes pointers")
        size = 1 if effect.in_bytes or pointee.shape is Shape.VOID else pointee.size
        if not size:
            raise _Refused("the type of what it writes is not known")
        size_type = self.unit.size_type

        def access() -> None:
            where = item.value
            assert where is not None
            cells = [] if effect.in_bytes else _cells(pointee)
            if effect.access is Access.WRITES and isinstance(amount, Const):
                if 0 < len(cells) * int(amount.value) <= _MOST_CELLS:
                    for index in range(int(amount.value)):
                        self._write_cells(inputs, where, index * size, cells)
                    return
            length = binary(BinaryOp.MUL, amount, constant(size_type, size))
            self._help(_HELPERS[effect.access], where, length, inputs=inputs)

        return access

    def _write_cells(
        self, inputs: str, where: Expr, start: int, cells: list[tuple[int, Scalar]]
    ) -> None:
        for offset, scalar in cells:
            value = self.register(scalar)
            self.emit(Input(self.origin, value, inputs))
            place = pointer_add(where, Const(self.data_model.offset_type, start + offset))
            self.emit(Store(self.origin, place, value))

    def _help(self, helper: str, *values: Expr, inputs: str = "") -> None:
        linked = self.unit.linker.library_function(helper)
        self.emit(Call(self.origin, None, linked, values, inputs))

    def read_constant(self, node: Node, value: Expr | None, ctype: CType) -> None:
        """What a function reads that gets an argument of this type."""
        self._read_constant(_Passed(node, value, ctype))

    def _read_constant(self, item: _Passed) -> None:
        pointee = item.pointee
        if pointee is None or not pointee.const or strip(item.node).kind == s.STRING:
            return
        is_text = pointee.scalar is not None and pointee.size == 1
        if item.value is None or (not is_text and not pointee.size):
            return

        def read() -> None:
            assert item.value is not None
            if is_text:
                self._help("__plait_read_text", item.value)
            else:
                size = constant(self.unit.size_type, pointee.size)
                self._help("__plait_read_bytes", item.value, size)

        self._if_there(item, read)

    def _result(
        self, name: str, node: Node, passed: list[_Passed], result: Result
    ) -> Register | None:
        scalar = self.unit.type_of(node).scalar
        if result.kind is ResultKind.UNUSED:
            self.note_failure(None)
            return None
        if scalar is None:
            return None
        target = self.register(scalar)
        if result.kind in _STRINGS:
            return self._string(target, result.kind)
        if scalar.kind is Kind.POINTER and result.kind is not ResultKind.ARGUMENT:
            if not _is_opaque(self.unit.type_of(node).inner):
                raise _Refused("it returns memory that is not modelled")
        if result.kind is ResultKind.ARGUMENT:
            self._argument_or_null(name, target, passed[result.argument - 1])
        else:
            self.emit(Input(self.origin, target, f"{name}()"))
            if result.kind is not ResultKind.ANY and scalar.kind is not Kind.INT:
                raise _Refused("it is declared with another result than it has")
            self.allow(target, passed, result)
        self.note_failure(target)
        return target

    def allow(self, target: Register, passed: list[_Passed], result: Result) -> None:
        """Only results that a function can have."""
        if result.kind is not ResultKind.ANY and target.type.kind is Kind.INT:
            self.emit(Prune(self.origin, self._allowed(target, passed, result)))

    def _string(self, target: Register, kind: ResultKind) -> Register:
        if target.type.kind is not Kind.POINTER:
            raise _Refused("it is declared with another result than it has")
        helper = "__plait_given_string" if kind is ResultKind.GIVEN_STRING else "__plait_string"
        linked = self.unit.linker.library_function(helper)
        or_null = Const(I32, int(kind is ResultKind.STRING_OR_NULL))
        arguments = () if kind is ResultKind.GIVEN_STRING else (or_null,)
        self.emit(Call(self.origin, target, linked, arguments))
        if kind is not ResultKind.STRING:
            self.note_failure(target)
        return target

    def _argument_or_null(self, name: str, target: Register, item: _Passed) -> None:
        if item.value is None or target.type.kind is not Kind.POINTER:
            raise _Refused("it is declared with another result than it has")
        succeeds = self.register(I32)
        self.emit(Input(self.origin, succeeds, f"{name}() succeeds", Const(I32, 2)))
        null = Const(target.type, 0)
        self.emit(Assign(self.origin, target, conditional(truth(succeeds), item.value, null)))

    def _allowed(self, target: Register, passed: list[_Passed], result: Result) -> Expr:
        def at_least(limit: int) -> Expr:
            return binary(BinaryOp.LE, constant(target.type, limit), target)

        def compared(op: BinaryOp) -> Expr:
            value = passed[result.argument - 1].value
            if value is None:
                raise _Refused("it is called with other arguments than it has")
            size_type = self.unit.size_type
            return binary(op, convert(size_type, target), convert(size_type, value))

        is_zero = binary(BinaryOp.EQ, target, Const(target.type, 0))
        match result.kind:
            case ResultKind.STATUS:
                failed = binary(BinaryOp.EQ, target, constant(target.type, -1))
                return binary(BinaryOp.OR, is_zero, failed)
            case ResultKind.FROM_MINUS_ONE:
                return at_least(-1)
            case ResultKind.COUNT:
                failed = binary(BinaryOp.EQ, target, constant(target.type, -1))
                counts = binary(BinaryOp.AND, at_least(0), compared(BinaryOp.LE))
                return binary(BinaryOp.OR, failed, counts)
            case ResultKind.UP_TO:
                return binary(BinaryOp.AND, at_least(0), compared(BinaryOp.LE))
            case ResultKind.BELOW:
                below = binary(BinaryOp.AND, at_least(0), compared(BinaryOp.LT))
                return binary(BinaryOp.OR, is_zero, below)
        assert result.kind is ResultKind.NOT_NEGATIVE
        return at_least(0)

    def note_failure(self, result: Register | None) -> None:
        """What a failing call leaves in errno; None: of a result that nobody looks at."""
        if result is None:
            self._help(_NOTE_POSSIBLE_FAILURE)
            return
        zero = Const(result.type, 0)
        if result.type.kind is Kind.POINTER:
            failed = binary(BinaryOp.EQ, result, zero)
        elif result.type.kind is Kind.INT and result.type.signed:
            failed = binary(BinaryOp.LT, result, zero)
        else:
            return
        self._help(_NOTE_FAILURE, convert(I32, failed))


_HELPERS = {
    Access.WRITES: "__plait_unknown_bytes",
    Access.TEXT: "__plait_unknown_text",
    Access.READS: "__plait_read_bytes",
}


def _cells(ctype: CType) -> list[tuple[int, Scalar]]:
    """Scalars that fill an object, padding included; nothing where they are not to be told."""
    if ctype.scalar is not None:
        return [(0, ctype.scalar)]
    if ctype.shape is Shape.ARRAY and ctype.inner is not None:
        inner = _cells(ctype.inner)
        if len(inner) * (ctype.count or 0) > _MOST_CELLS:
            return []
        return [
            (index * ctype.inner.size + offset, scalar)
            for index in range(ctype.count or 0)
            for offset, scalar in inner
        ]
    if ctype.shape is not Shape.RECORD or ctype.is_union:
        return []
    found: list[tuple[int, Scalar]] = []
    end = 0
    for member in ctype.fields:
        inner = _cells(member.type)
        if member.bit_width is not None or not inner:
            return []
        found += [(offset, U8) for offset in range(end, member.offset)]
        found += [(member.offset + offset, scalar) for offset, scalar in inner]
        end = member.offset + member.type.size
    return found + [(offset, U8) for offset in range(end, ctype.size)]


def _any_of_pointers(ctype: CType) -> CType | None:
    """Of a union of pointers (the addresses of sockets in glibc) the first one."""
    if ctype.is_union and ctype.fields and all(item.type.is_pointer for item in ctype.fields):
        return ctype.fields[0].type
    return None


def _is_opaque(ctype: CType | None) -> bool:
    """A type of the system whose objects programs only pass on: FILE, or one that is incomplete."""
    if ctype is None:
        return False
    if ctype.spelling.removeprefix("struct ") in ("FILE", "_IO_FILE", "DIR"):
        return True
    return ctype.shape is Shape.RECORD and not ctype.size and not ctype.fields


def _is_stream(ctype: CType) -> bool:
    if not ctype.is_pointer or ctype.inner is None:
        return False
    return ctype.inner.spelling.removeprefix("struct ") in ("FILE", "_IO_FILE")


def _is_text(ctype: CType | None) -> bool:
    scalar = None if ctype is None else ctype.scalar
    return scalar is not None and scalar.kind is Kind.INT and scalar.bits == 8


def _has_pointers(ctype: CType) -> bool:
    if ctype.is_pointer:
        return True
    if ctype.inner is not None and ctype.shape in (Shape.ARRAY, Shape.VARIABLE_ARRAY):
        return _has_pointers(ctype.inner)
    return any(_has_pointers(member.type) for member in ctype.fields)


def has_callback(ctype: CType) -> bool:
    """Whether a function that gets a value of this type can find a function to call in it."""
    pending, seen = [ctype], {id(ctype)}
    while pending:
        item = pending.pop()
        if item.shape is Shape.FUNCTION:
            return True
        if not _is_opaque(item):
            inner = [] if item.inner is None else [item.inner]
            for other in inner + [member.type for member in item.fields]:
                if id(other) not in seen:
                    seen.add(id(other))
                    pending.append(other)
    return False
