"""Lowering of statements and declarations: one function from its syntax tree to its automaton."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plait.c import syntax as s
from plait.c.builder import Scope
from plait.c.declarations import Declarations
from plait.c.jumps import Kept
from plait.c.libclang import Cursor
from plait.c.places import MemoryPlace, Place, RegisterPlace
from plait.c.syntax import Node, strip
from plait.c.terms import binary, conditional, constant, convert, negation, truth
from plait.c.types import CType, Shape, layout_of, promote
from plait.errors import UnsupportedCode
from plait.model.actions import (
    AtomicBegin,
    AtomicEnd,
    Check,
    CheckKind,
    EndThread,
    EnterScope,
    Fence,
    Guard,
    Input,
    Order,
    Return,
    Skip,
    Unsupported,
)
from plait.model.expressions import TRUE, BinaryOp, Const, Expr, FrameAddress, Register
from plait.model.types import F64, Kind, Scalar

if TYPE_CHECKING:
    from plait.c.unit import Unit

_ATOMIC_FUNCTION = "__VERIFIER_atomic_"
_ASSUMPTION = re.compile(r"(?:__attribute__\(\(|\[\[)(?:\w+::)?_*assume_*\(")
_ASM_FENCES = {"mfence": Order.SEQ_CST, "lfence": Order.ACQUIRE, "sfence": Order.RELEASE}
_HARMLESS_ASM = {
    "",
    "nop",
    "pause",
    "rep; nop",
    "rep;nop",
    "mfence",
    "lfence",
    "sfence",
    "yield",
} | {
    f"lock; {operation} $0,0(%%{stack})"
    for operation in ("addl", "orl")
    for stack in ("rsp", "esp")
}


class FunctionLowering(Declarations):
    """The automaton of one function under construction."""

    def __init__(self, unit: Unit, name: str, cursor: Cursor) -> None:
        linker = unit.linker
        super().__init__(linker.data_model.pointer, unit.origin(cursor))
        self.unit = unit
        self.name = name
        self.data_model = linker.data_model
        self.checks = linker.checks
        self.accesses_whole_locations = linker.finds_races
        self.spurious_failures = linker.options.spurious_wakeups
        self.locals: dict[int, Place] = {}
        self.vla_sizes: dict[int, Expr] = {}
        self.varargs: Register | None = None
        self.result_address: Register | None = None
        self.returns: CType | None = None
        self.is_static_context = False
        self._address_taken: set[int] = set()
        self._breaks: list[tuple[int, Scope]] = []
        self._continues: list[tuple[int, Scope]] = []
        self._switches: list[list[tuple[Node | None, Node | None, int, Scope]]] = []
        self._indirect_jumps: list[tuple[int, Scope, Expr]] = []
        # Also definitions of __VERIFIER_atomic_begin and _end that the program brings along; the
        # library's own begin and end a section.
        self._is_atomic = name.startswith(_ATOMIC_FUNCTION) and not unit.is_library
        self._is_noreturn = not unit.is_library and unit.is_noreturn(cursor)
        self._root: Node | None = None
        self._unfinished: dict[int, Unsupported] = {}

    # Functions

    def lower(self, root: Node, function_type: CType) -> int:
        """Lower a definition; returns the number of parameters."""
        self._root = root
        body = root.children[-1]
        self._find_addresses(body)
        self.returns = function_type.result
        assert self.returns is not None
        if self.returns.shape is Shape.RECORD:
            self.result_address = self.register(self.pointer, "(result)")
        parameters = [child for child in root.children if child.kind == s.PARAMETER]
        # An old-style definition has the promoted types in its own type.
        passed = [declared.scalar for declared in function_type.parameters]
        passed += [None] * (len(parameters) - len(passed))
        moved = [
            self._parameter(child, scalar) for child, scalar in zip(parameters, passed, strict=True)
        ]
        if function_type.variadic:
            self.varargs = self.register(self.pointer, "(arguments)")
        count = len(self.registers)
        if self._is_atomic:
            self.emit(AtomicBegin(self.origin))
        entry = self.at
        self.at = self.location()
        start = self.at
        for item in moved:
            if item is not None:
                place, value = item
                if place.type.shape is Shape.RECORD:
                    assert isinstance(place, MemoryPlace)
                    self.copy_record(place, MemoryPlace(value, place.type))
                    continue
                if isinstance(place, RegisterPlace):
                    declared = place.register
                    place.register = self.register(
                        declared.type, declared.name, place.type.spelling
                    )
                self.write(place, value)
        self.statement(body)
        self.origin = self.unit.end_origin(root.cursor)
        self._fall_off()
        self._write_indirect_jumps()
        self.resolve_jumps()
        for location, stop in self._unfinished.items():
            if not self.edges[location]:
                self.edge(location, stop, -1)
        slots = tuple(self.scope.slots)
        self.edge(entry, EnterScope(self.origin, slots) if slots else Skip(self.origin), start)
        return count

    def kept_by_jumps(self) -> Kept:
        """The locals whose values a longjmp back to this function leaves as they are."""
        registers: set[int] = set()
        slots: set[int] = set()
        for place in self.locals.values():
            ctype = place.type
            while ctype.shape is Shape.ARRAY and ctype.inner is not None:
                ctype = ctype.inner
            if not (ctype.volatile or place.type.volatile or ctype.const or place.type.const):
                continue
            if isinstance(place, RegisterPlace):
                registers.add(place.register.index)
            elif isinstance(place.address, FrameAddress):
                slots.add(place.address.slot.index)
        return Kept(frozenset(registers), frozenset(slots))

    def _parameter(self, node: Node, passed: Scalar | None) -> tuple[Place, Expr] | None:
        ctype = self.unit.type_of(node)
        if any(map(self.has_effects, node.children)):
            raise UnsupportedCode("side effects in the length of an array that is a parameter")
        name = self.unit.tree.name(node)
        key = node.cursor.data[0] or 0
        if ctype.shape is Shape.RECORD:
            source = self.register(self.pointer, name, f"{ctype.spelling} *")
            slot = self.slot(name, layout_of(ctype), ctype.spelling)
            place = MemoryPlace(self.slot_address(slot), ctype)
            self.locals[key] = place
            return place, source
        if ctype.shape in (Shape.ARRAY, Shape.VARIABLE_ARRAY, Shape.FUNCTION):
            register = self.register(self.pointer, name, ctype.spelling)
        else:
            if ctype.scalar is None:
                raise UnsupportedCode(f"a parameter of the type '{ctype.spelling}'")
            promoted = passed or _promoted_argument(ctype.scalar)
            register = self.register(promoted, name, ctype.spelling)
            if promoted != ctype.scalar:
                return self._narrowed(register, ctype, name, key)
        if key not in self._address_taken and not ctype.atomic:
            self.locals[key] = RegisterPlace(register, ctype)
            return None
        slot = self.slot(name, layout_of(ctype), ctype.spelling)
        place = MemoryPlace(self.slot_address(slot), ctype)
        self.locals[key] = place
        return place, register

    def _narrowed(
        self, register: Register, ctype: CType, name: str, key: int
    ) -> tuple[Place, Expr]:
        """A parameter of an old-style definition: passed promoted, converted on entry."""
        scalar = ctype.require_scalar()
        place: Place
        if key in self._address_taken or ctype.atomic:
            slot = self.slot(name, layout_of(ctype), ctype.spelling)
            place = MemoryPlace(self.slot_address(slot), ctype)
        else:
            place = RegisterPlace(Register(scalar, -1, name), ctype)  # numbered after all others
        self.locals[key] = place
        return place, convert(scalar, register)

    def _find_addresses(self, node: Node) -> None:
        """Which locals must live in memory: those whose address is taken."""
        pending = [node]
        library = self.unit.library
        while pending:
            item = pending.pop()
            pending.extend(item.children)
            if (
                item.kind == s.UNARY
                and library.getCursorUnaryOperatorKind(item.cursor) == s.ADDRESS
            ):
                operand = strip(item.children[0])
                while operand.kind == s.UNARY:  # __extension__
                    operand = strip(operand.children[0])
                if operand.kind == s.DECL_REF:
                    declaration = library.getCursorReferenced(operand.cursor)
                    self._address_taken.add(declaration.data[0] or 0)

    def _fall_off(self) -> None:
        """The closing brace: main returns 0, other functions an indeterminate value."""
        assert self.returns is not None
        scalar = self.returns.scalar
        if scalar is None or self.returns.shape is Shape.VOID:
            self._return(None)
        elif self.name == "main":
            self._return(constant(scalar, 0))
        else:
            value = self.register(scalar)
            self.emit(Input(self.origin, value, "missing return value", indeterminate=True))
            self._return(value)

    def _return(self, value: Expr | None) -> None:
        if self._is_noreturn:  # C17 6.7.4; compilers put nothing behind its calls
            message = f"'{self.name}' returns, which is declared not to"
            self.check(Const(TRUE.type, 0), CheckKind.UNDEFINED, message)
        if self._is_atomic:
            if value is not None:
                value = self.stable(value)
            self.emit(AtomicEnd(self.origin))
        self.finish(Return(self.origin, value))

    # Statements

    def statement(self, node: Node) -> None:
        if node.kind == s.COMPOUND:
            opened = self.enter_scope()
            for child in node.children:
                self.statement(child)
            self.leave_scope(opened)
            return
        outer, scope = self.origin, self.scope
        start, first, nesting = self.at, len(self.edges), self._nesting
        depths = len(self._breaks), len(self._continues), len(self._switches)
        self.origin = self.unit.origin(node.cursor)
        try:
            self._statement(node)
        except UnsupportedCode as error:
            # What was begun inside the statement is left without a way on.
            stop = Unsupported(self.unit.origin(node.cursor), _message(error))
            self._unfinished.update(dict.fromkeys(range(first, len(self.edges)), stop))
            self.scope, self._nesting = scope, nesting
            # Nothing of the statement is executed: its actions may belong under a branch.
            self.edges[start] = []
            self.at = start
            del self._breaks[depths[0] :]
            del self._continues[depths[1] :]
            del self._switches[depths[2] :]
            self.emit(stop)
        finally:
            self.origin = outer

    def _statement(self, node: Node) -> None:
        children = node.children
        match node.kind:
            case s.DECLARATION:
                for child in children:
                    self._declaration(child)
            case s.IF:
                self._if(children)
            case s.WHILE:
                self._while(children[-2], children[-1])
            case s.DO:
                self._do(children[0], children[1])
            case s.FOR:
                self._for(node)
            case s.SWITCH:
                self._switch(children[-2], children[-1])
            case s.CASE:
                self._case(children[0], children[1] if len(children) > 2 else None, children[-1])
            case s.DEFAULT:
                self._case(None, None, children[-1])
            case s.LABEL:
                self.label(node.cursor.data[1] or 0)
                self.statement(children[-1])
            case s.GOTO:
                self.jump_to_label(self.unit.label_of(children[0]))
            case s.INDIRECT_GOTO:
                target = self.rvalue(children[0])
                self.emit(Skip(self.origin))
                self._indirect_jumps.append((self.at, self.scope, target))
                self.at = self.location()
            case s.BREAK:
                self.jump(*self._breaks[-1])
            case s.CONTINUE:
                self.jump(*self._continues[-1])
            case s.RETURN:
                self._return_statement(children)
            case s.NULL:
                pass
            case s.ASM:
                self._asm(node)
            case s.UNEXPOSED_STATEMENT:  # an attribute on a statement
                self._refuse_assumption(children)
                for child in children:
                    if child.kind < 400:
                        self.statement(child)
            case kind if s.FIRST_EXPRESSION <= kind <= s.LAST_EXPRESSION:
                self.effect(node)
            case _:
                raise UnsupportedCode(f"a statement of this kind (clang cursor {node.kind})")

    def _refuse_assumption(self, children: list[Node]) -> None:
        """The attribute `assume` makes a false condition undefined behaviour; libclang does not
        show it, so every empty statement with an attribute in such a function is suspect."""
        assert self._root is not None
        is_empty = any(child.kind == s.NULL for child in children)
        if is_empty and _ASSUMPTION.search(self.unit.library.pretty(self._root.cursor)):
            raise UnsupportedCode("the attribute 'assume'")

    def _if(self, children: list[Node]) -> None:
        then, after = self.location(), self.location()
        otherwise = self.location() if len(children) > 2 else after
        self._condition(children[0], then, otherwise)
        self.at = then
        self._substatement(children[1])
        self.connect(after)
        if len(children) > 2:
            self.at = otherwise
            self._substatement(children[2])
            self.connect(after)
        self.at = after

    def _substatement(self, node: Node) -> None:
        """A branch or loop body is a block of its own, with or without braces (C17 6.8.4)."""
        if node.kind == s.COMPOUND:
            self.statement(node)
            return
        opened = self.enter_scope()
        self.statement(node)
        self.leave_scope(opened)

    def _condition(self, node: Node, then: int, otherwise: int) -> None:
        outer = self.origin, self.decided
        self.origin = self.unit.origin(node.cursor)
        self.decided = {then: True, otherwise: False}
        self.condition(node, then, otherwise)
        self.origin, self.decided = outer

    def _loop_body(self, body: Node, leave: int, again: int) -> None:
        self._breaks.append((leave, self.scope))
        self._continues.append((again, self.scope))
        self._substatement(body)
        self._breaks.pop()
        self._continues.pop()

    def _while(self, condition: Node, body: Node) -> None:
        head, inside, after = self.location(), self.location(), self.location()
        self.start(head)
        self._condition(condition, inside, after)
        self.at = inside
        self._loop_body(body, after, head)
        self.connect(head)
        self.at = after

    def _do(self, body: Node, condition: Node) -> None:
        head, test, after = self.location(), self.location(), self.location()
        self.start(head)
        self._loop_body(body, after, test)
        self.start(test)
        self._condition(condition, head, after)
        self.at = after

    def _for(self, node: Node) -> None:
        assert self._root is not None
        initial, condition, step, body = self.unit.for_parts(self._root, node)
        opened = self.enter_scope()
        if initial is not None:
            self.statement(initial)
        head, inside, again, after = (self.location() for _ in range(4))
        self.start(head)
        if condition is None:
            self.connect(inside)
        else:
            self._condition(condition, inside, after)
        self.at = inside
        self._loop_body(body, after, again)
        self.start(again)
        if step is not None:
            self.statement(step)
        self.connect(head)
        self.at = after
        self.leave_scope(opened)

    def _switch(self, value: Node, body: Node) -> None:
        selector = self.stable(self.rvalue(value))
        self.emit(Skip(self.origin))
        head = self.at
        scope = self.scope
        after = self.location()
        cases: list[tuple[Node | None, Node | None, int, Scope]] = []
        self._switches.append(cases)
        self._breaks.append((after, scope))
        self.at = self.location()
        self.statement(body)
        self.connect(after)
        self._breaks.pop()
        self._switches.pop()
        others: list[Expr] = []
        default: tuple[int, Scope] = (after, scope)
        for low, high, location, inner in cases:
            if low is None:
                default = (location, inner)
                continue
            chosen = self._case_condition(selector, low, high)
            self.at = self.location()
            self.edge(head, Guard(self.origin, chosen), self.at)
            self.scope = scope
            self.jump(location, inner)
            others.append(negation(chosen))
        self.at = self.location()
        none_of = Guard(self.origin, _all_of(others)) if others else Skip(self.origin)
        self.edge(head, none_of, self.at)
        self.jump(*default)
        self.scope = scope
        self.at = after

    def _case_condition(self, selector: Expr, low: Node, high: Node | None) -> Expr:
        first = self.unit.tree.integer(low)
        if first is None:
            raise UnsupportedCode("a case label that libclang cannot evaluate")
        start = constant(selector.type, first)
        if high is None:
            return binary(BinaryOp.EQ, selector, start)
        last = self.unit.tree.integer(high)
        if last is None:
            raise UnsupportedCode("a case label that libclang cannot evaluate")
        end = constant(selector.type, last)
        return conditional(
            binary(BinaryOp.LE, start, selector),
            binary(BinaryOp.LE, selector, end),
            Const(TRUE.type, 0),
        )

    def _case(self, low: Node | None, high: Node | None, body: Node) -> None:
        location = self.location()
        self.start(location)
        self._switches[-1].append((low, high, location, self.scope))
        self.statement(body)

    def _return_statement(self, children: list[Node]) -> None:
        assert self.returns is not None
        if not children:
            if self.returns.scalar is None:
                self._return(None)
            else:
                self._fall_off()
            return
        if self.returns.shape is Shape.RECORD:
            assert self.result_address is not None
            source = self.record(children[0])
            self.copy_record(MemoryPlace(self.result_address, self.returns), source)
            self._return(None)
        elif self.returns.scalar is None:
            self.effect(children[0])
            self._return(None)
        else:
            self._return(convert(self.returns.scalar, self.rvalue(children[0])))

    def _asm(self, node: Node) -> None:
        template, operands = self.unit.assembly(node)
        # An empty template leaves its operands as they are, but gives an output no value. What
        # barriers and hints clobber is memory, which the model never caches, or flags.
        is_bare = not any(part.strip() for part in operands.split(":")[:3])
        harmless = template in _HARMLESS_ASM and (is_bare or not template)
        if not harmless or '"=' in operands:
            raise UnsupportedCode("inline assembly with effects")
        if any(map(self.has_effects, node.children)):
            raise UnsupportedCode("inline assembly whose operands have side effects")
        order = _ASM_FENCES.get(template, Order.SEQ_CST if "lock;" in template else None)
        self.emit(Skip(self.origin) if order is None else Fence(self.origin, order))

    def _write_indirect_jumps(self) -> None:
        for source, scope, value in self._indirect_jumps:
            others: list[Expr] = []
            for label, number in self.unit.label_values.items():
                chosen = binary(BinaryOp.EQ, value, Const(self.pointer, number))
                self.at = self.location()
                self.edge(source, Guard(self.origin, chosen), self.at)
                self.scope, outer = scope, self.scope
                self.jump_to_label(label)
                self.scope = outer
                others.append(negation(chosen))
            self.at = self.location()
            none_of = Guard(self.origin, _all_of(others)) if others else Skip(self.origin)
            self.edge(source, none_of, self.at)
            message = "a computed goto to no label"
            self.emit(Check(self.origin, Const(TRUE.type, 0), CheckKind.UNDEFINED, message))
            self.finish(EndThread(self.origin))

    # Expressions that need statements

    def statement_expression(self, node: Node, used: bool) -> Expr | MemoryPlace | None:
        body = node.children[0]
        ctype = self.unit.type_of(node)
        result: Expr | MemoryPlace | None = None
        if used and ctype.shape is Shape.RECORD:
            result = self.temporary_object(ctype)
        opened = self.enter_scope()
        for child in body.children[:-1]:
            self.statement(child)
        if body.children:
            last = _last_expression(body.children[-1])
            if not used or last is None or ctype.shape is Shape.VOID:
                self.statement(body.children[-1])
            elif isinstance(result, MemoryPlace):
                self.copy_record(result, self.record(last))
            else:
                result = self.temporary(self.rvalue(last))
        self.leave_scope(opened)
        return result


def _all_of(conditions: list[Expr]) -> Expr:
    """The conjunction of truth values, as a balanced tree."""
    while len(conditions) > 1:
        pairs = [conditions[index : index + 2] for index in range(0, len(conditions), 2)]
        conditions = [
            pair[0] if len(pair) == 1 else conditional(pair[0], pair[1], Const(TRUE.type, 0))
            for pair in pairs
        ]
    return truth(conditions[0])


def _promoted_argument(scalar: Scalar) -> Scalar:
    """C's default argument promotions."""
    return F64 if scalar.kind is Kind.FLOAT else promote(scalar)


def _message(error: UnsupportedCode) -> str:
    message = error.diagnostic.message
    return message if "not supported" in message else f"not supported: {message}"


def _last_expression(node: Node) -> Node | None:
    if s.FIRST_EXPRESSION <= node.kind <= s.LAST_EXPRESSION:
        return node
    return None
