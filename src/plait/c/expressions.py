"""Lowering of C expressions to actions and pure model expressions.

Order of evaluation is fixed: operands left to right; in an assignment the address on the left,
then the value on the right, then the store; arguments left to right, then the call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plait.c import syntax as s
from plait.c.branches import Branches
from plait.c.jumps import SETTING
from plait.c.libclang import Cursor
from plait.c.places import MemoryPlace, Place, RegisterPlace, access_order
from plait.c.spelling import spelled
from plait.c.syntax import Node, strip
from plait.c.terms import (
    binary,
    constant,
    convert,
    negation,
    pointer_add,
    unary,
    zero,
)
from plait.c.types import CType, Shape, find_member, promote, usual_arithmetic
from plait.data import replace
from plait.errors import UnsupportedCode
from plait.model.actions import Assign
from plait.model.expressions import (
    BinaryOp,
    Const,
    Expr,
    FrameAddress,
    FunctionAddress,
    Register,
    StaticAddress,
    UnaryOp,
    children,
)
from plait.model.types import F64, I32, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    Change = Callable[[Expr], Expr]

_OPERATORS = {
    s.MUL: BinaryOp.MUL,
    s.DIV: BinaryOp.DIV,
    s.REM: BinaryOp.REM,
    s.ADD: BinaryOp.ADD,
    s.SUB: BinaryOp.SUB,
    s.SHL: BinaryOp.SHL,
    s.SHR: BinaryOp.SHR,
    s.AND: BinaryOp.AND,
    s.XOR: BinaryOp.XOR,
    s.OR: BinaryOp.OR,
    s.EQ: BinaryOp.EQ,
    s.NE: BinaryOp.NE,
    s.LT: BinaryOp.LT,
    s.LE: BinaryOp.LE,
}
_DEEPEST_EXPRESSION = 64
_SPELLED = (s.MEMBER, s.SUBSCRIPT, s.UNARY)
_STEPS = {s.POST_INC: 1, s.PRE_INC: 1, s.POST_DEC: -1, s.PRE_DEC: -1}


class Expressions(Branches):
    """Expressions of one function. Statements, calls and initialisers are lowered by subclasses."""

    locals: dict[int, Place]

    # Provided by subclasses

    def call(self, node: Node, used: bool) -> Expr | MemoryPlace | None:
        raise NotImplementedError

    def statement_expression(self, node: Node, used: bool) -> Expr | MemoryPlace | None:
        raise NotImplementedError

    def compound_literal(self, node: Node) -> MemoryPlace:
        raise NotImplementedError

    # Entry points

    def effect(self, node: Node) -> None:
        """Evaluate for side effects only."""
        inner = node
        while inner.kind in (s.PAREN, s.CAST) and inner.children:
            if inner.kind == s.CAST and self.unit.type_of(inner).shape is not Shape.VOID:
                break
            inner = inner.children[-1]
        match inner.kind:
            case s.CALL:
                self.call(inner, used=False)
            case s.STATEMENT_EXPRESSION:
                self.statement_expression(inner, used=False)
            case s.UNARY if self._unary_kind(inner) in _STEPS:
                self._step(inner, used=False)
            case s.BINARY if self._binary_kind(inner) == s.COMMA:
                self.effect(inner.children[0])
                self.effect(inner.children[1])
            case s.CONDITIONAL:
                self._conditional_effect(inner)
            case s.UNEXPOSED if len(inner.children) == 1:
                self.effect(inner.children[0])
            case _:
                self.value(inner)

    def value(self, node: Node) -> Expr | MemoryPlace | None:
        """A scalar value, the place of a record, or None for void."""
        ctype = self.unit.type_of(node)
        if ctype.shape is Shape.RECORD:
            return self.record(node)
        if ctype.shape is Shape.VOID:
            self._void(node)
            return None
        return self.rvalue(node)

    def _void(self, node: Node) -> None:
        match node.kind:
            case s.PAREN:
                self.value(node.children[0])
            case s.UNEXPOSED if len(node.children) == 1:
                self.value(node.children[0])
            case s.UNEXPOSED if len(node.children) == 3:  # __builtin_choose_expr
                choice = self.unit.tree.integer(node.children[0])
                if choice is None:
                    raise self._unsupported(node)
                self.effect(node.children[1 if choice else 2])
            case s.CAST:
                self.refuse_sizes_with_effects(self.unit.type_of(node), node.children[:-1])
                self.effect(node.children[-1])
            case s.CALL:
                self.call(node, used=False)
            case s.STATEMENT_EXPRESSION:
                self.statement_expression(node, used=False)
            case s.CONDITIONAL:
                self._conditional_effect(node)
            case s.BINARY if self._binary_kind(node) == s.COMMA:
                self.effect(node.children[0])
                self.effect(node.children[1])
            case s.UNARY if self._unary_kind(node) == s.EXTENSION:
                self.effect(node.children[0])
            case s.UNARY if self._unary_kind(node) == s.DEREFERENCE:
                self.rvalue(node.children[0])
            case s.GENERIC:
                self.effect(self.unit.selected_generic(node))
            case _:
                raise self._unsupported(node)

    # What an expression would do if it were evaluated

    def has_effects(self, node: Node) -> bool:
        """Whether evaluating it could do more than give a value."""
        match node.kind:
            case s.CALL | s.STATEMENT_EXPRESSION | s.COMPOUND_ASSIGN:
                return True
            case s.UNARY if self._unary_kind(node) in _STEPS:
                return True
            case s.BINARY if self._binary_kind(node) == s.ASSIGN:
                return True
            case s.SIZEOF if self.unit.tree.integer(node) is not None:
                return False
        return any(map(self.has_effects, node.children))

    def is_open(self, node: Node) -> bool:
        """Whether evaluating it could do more than give a value that the text alone decides."""
        if node.kind == s.SIZEOF:
            return self.has_effects(node)
        if node.kind == s.DECL_REF:
            declaration = self.unit.library.getCursorReferenced(node.cursor)
            return declaration.kind not in (s.ENUM_CONSTANT, s.FUNCTION)
        if node.kind == s.STRING or not node.children:
            return False
        return self.has_effects(node) or any(map(self.is_open, node.children))

    def refuse_sizes_with_effects(self, ctype: CType, parts: list[Node]) -> None:
        """The sizes in a variably modified type are evaluated where it is written; plait does
        not, unless it is the type of an array. Without side effects nobody notices."""
        while ctype.inner is not None and ctype.shape is not Shape.VARIABLE_ARRAY:
            ctype = ctype.inner
        if ctype.shape is Shape.VARIABLE_ARRAY and any(map(self.has_effects, parts)):
            raise UnsupportedCode("side effects in the length of an array inside a type")

    def rvalue(self, node: Node) -> Expr:
        """The value of a scalar expression, after array and function decay."""
        self._nesting += 1
        value = self._rvalue(node)
        self._nesting -= 1
        # Keep expressions shallow: everything that reads the model walks them.
        is_deep = self._nesting > 0 and self._nesting % _DEEPEST_EXPRESSION == 0
        if is_deep and not self.is_static_context and children(value):
            return self.temporary(value)
        return value

    def _rvalue(self, node: Node) -> Expr:
        match node.kind:
            case s.PAREN:
                return self.rvalue(node.children[0])
            case s.UNEXPOSED:
                return self._unexposed(node)
            case s.INTEGER | s.CHARACTER:
                return self._literal(node)
            case s.FLOATING:
                return convert(
                    self.unit.type_of(node).require_scalar(),
                    Const(F64, self.unit.tree.floating(node)),
                )
            case s.DECL_REF:
                return self._reference(node)
            case s.BINARY:
                return self._binary(node)
            case s.UNARY:
                return self._unary(node)
            case s.COMPOUND_ASSIGN:
                return self._compound_assign(node)
            case s.CONDITIONAL:
                return self._conditional(node)
            case s.CAST:
                return self._cast(node)
            case s.CALL:
                return self._scalar(self.call(node, used=True))
            case s.STATEMENT_EXPRESSION:
                return self._scalar(self.statement_expression(node, used=True))
            case s.SIZEOF:
                return self._sizeof(node)
            case s.GENERIC:
                return self.rvalue(self.unit.selected_generic(node))
            case s.LABEL_ADDRESS:
                label = self.unit.label_of(node.children[0])
                labels = self.unit.label_values
                number = labels.setdefault(label, len(labels) + 1)
                return Const(self.pointer, number)
            case s.MEMBER | s.SUBSCRIPT | s.STRING | s.COMPOUND_LITERAL:
                return self.read(self.lvalue(node))
            case s.INIT_LIST if len(node.children) == 1:
                return self.rvalue(node.children[0])
        value = None if self.has_effects(node) else self.unit.tree.integer(node)
        scalar = self.unit.type_of(node).scalar
        if value is not None and scalar is not None and scalar.kind is not Kind.FLOAT:
            if scalar.bits <= 64:  # libclang cuts larger ones
                return constant(scalar, value)
        raise self._unsupported(node)

    def _unsupported(self, node: Node) -> UnsupportedCode:
        return UnsupportedCode(f"an expression of this kind (clang cursor {node.kind})")

    def _scalar(self, value: Expr | MemoryPlace | None) -> Expr:
        if value is None or isinstance(value, MemoryPlace):
            raise UnsupportedCode("a value of this type is not supported here")
        return value

    def _literal(self, node: Node) -> Expr:
        value = self.unit.tree.integer(node)
        scalar = self.unit.type_of(node).require_scalar()
        if value is None:
            raise UnsupportedCode("a constant that libclang cannot evaluate")
        return constant(scalar, value)

    def converted(self, node: Node, target: CType) -> Expr:
        """The value of `node` converted to another scalar type."""
        return convert(target.require_scalar(), self.rvalue(node))

    # Implicit casts and the other things that libclang does not name

    def _unexposed(self, node: Node) -> Expr:
        children = node.children
        ctype = self.unit.type_of(node)
        if len(children) == 1:
            inner = children[0]
            if ctype.scalar is None:
                return self.rvalue(inner)
            self._note_conversion(inner, ctype)
            return self.checked_conversion(ctype.scalar, self.rvalue(inner))
        if len(children) == 4:
            return self._elvis(children[0], children[3], ctype)
        if len(children) == 3:  # __builtin_choose_expr
            choice = self.unit.tree.integer(children[0])
            if choice is not None:
                return convert(ctype.require_scalar(), self.rvalue(children[1 if choice else 2]))
        value = None if self.has_effects(node) else self.unit.tree.integer(node)
        if value is not None and ctype.scalar is not None:
            if ctype.scalar.kind is Kind.FLOAT:
                return Const(ctype.scalar, self.unit.tree.floating(node))
            if ctype.scalar.bits <= 64:
                return constant(ctype.scalar, value)
        raise self._unsupported(node)

    def _elvis(self, common: Node, otherwise: Node, ctype: CType) -> Expr:
        """GNU `x ?: y`: x is evaluated once."""
        scalar = ctype.require_scalar()
        first = self.rvalue(common)
        if not isinstance(first, (Const, Register)):
            first = self.temporary(first)
        start, emitted = self.at, self.emitted
        second = convert(scalar, self.rvalue(otherwise))
        return self._choose(negation(first), second, convert(scalar, first), start, emitted)

    # Names

    def _reference(self, node: Node) -> Expr:
        declaration = self.unit.library.getCursorReferenced(node.cursor)
        if declaration.kind == s.ENUM_CONSTANT:
            scalar = self.unit.type_of(node).require_scalar()
            return constant(scalar, self.unit.library.getEnumConstantDeclValue(declaration))
        if declaration.kind == s.FUNCTION:
            return self._function_address(declaration)
        return self.read(self._variable(declaration))

    def _function_address(self, declaration: Cursor) -> FunctionAddress:
        name = self.unit.library.spelling(declaration)
        if not (self.unit.is_library or self.unit.is_defined(name, declaration)):
            self.unit.linker.note_call(name)
        if name in SETTING and not self.unit.is_defined(name, declaration):
            raise UnsupportedCode(f"a pointer to '{name}'")
        if name in self.unit.linker.cancellation_points and not self.unit.is_library:
            if not self.unit.is_defined(name, declaration):
                raise UnsupportedCode(f"a pointer to '{name}', where threads can be cancelled")
        return FunctionAddress(self.pointer, self.unit.function_name(declaration))

    def _variable(self, declaration: Cursor) -> Place:
        key = declaration.data[0] or 0
        place = self.locals.get(key)
        if place is None:
            item = self.unit.variable(declaration)
            ctype = self.unit.types.of(declaration)
            place = self.locals[key] = MemoryPlace(StaticAddress(self.pointer, item), ctype)
        return place

    def lvalue(self, node: Node) -> Place:
        place = self._lvalue(node)
        if node.kind in _SPELLED and isinstance(place, MemoryPlace):
            if not isinstance(place.address, (StaticAddress, FrameAddress)):
                place.spelled = spelled(self.unit.tree, node)
        return place

    def _lvalue(self, node: Node) -> Place:
        match node.kind:
            case s.PAREN:
                return self.lvalue(node.children[0])
            case s.UNEXPOSED if len(node.children) == 1:
                return self.lvalue(node.children[0])
            case s.DECL_REF:
                declaration = self.unit.library.getCursorReferenced(node.cursor)
                if declaration.kind == s.FUNCTION:
                    return MemoryPlace(self._function_address(declaration), self.unit.type_of(node))
                return self._variable(declaration)
            case s.MEMBER:
                return self._member(node)
            case s.SUBSCRIPT:
                return self._subscript(node)
            case s.UNARY if self._unary_kind(node) == s.DEREFERENCE:
                return MemoryPlace(self.rvalue(node.children[0]), self.unit.type_of(node))
            case s.UNARY if self._unary_kind(node) in (s.EXTENSION, s.REAL):
                return self.lvalue(node.children[0])
            case s.STRING:
                item = self.unit.string_literal(node)
                return MemoryPlace(StaticAddress(self.pointer, item), self.unit.type_of(node))
            case s.COMPOUND_LITERAL:
                return self.compound_literal(node)
            case s.GENERIC:
                return self.lvalue(self.unit.selected_generic(node))
        if self.unit.type_of(node).shape is Shape.RECORD:
            return self.record(node)
        if self.unit.type_of(node).shape is Shape.ARRAY and node.kind == s.CALL:
            raise UnsupportedCode("an array inside a function's result")
        raise self._unsupported(node)

    def record(self, node: Node) -> MemoryPlace:
        """The place that holds a struct or union value."""
        match node.kind:
            case s.PAREN:
                return self.record(node.children[0])
            case s.UNEXPOSED if len(node.children) == 1:
                return self.record(node.children[0])
            case s.CAST:
                if self.unit.type_of(node.children[-1]).shape is not Shape.RECORD:
                    raise UnsupportedCode("a cast to a union")
                return self.record(node.children[-1])
            case s.CALL:
                result = self.call(node, used=True)
            case s.STATEMENT_EXPRESSION:
                result = self.statement_expression(node, used=True)
            case s.BINARY:
                return self._record_binary(node)
            case s.CONDITIONAL:
                return self._record_conditional(node)
            case s.UNEXPOSED if len(node.children) == 3:  # __builtin_choose_expr
                choice = self.unit.tree.integer(node.children[0])
                if choice is None:
                    raise self._unsupported(node)
                return self.record(node.children[1 if choice else 2])
            case s.DECL_REF | s.MEMBER | s.SUBSCRIPT | s.UNARY | s.COMPOUND_LITERAL | s.GENERIC:
                place = self.lvalue(node)
                if isinstance(place, RegisterPlace):
                    raise self._unsupported(node)
                return place
            case _:
                raise self._unsupported(node)
        if not isinstance(result, MemoryPlace):
            raise self._unsupported(node)
        return result

    def _record_binary(self, node: Node) -> MemoryPlace:
        left, right = node.children
        if self._binary_kind(node) == s.COMMA:
            self.effect(left)
            return self.record(right)
        target = self.record(left)
        source = self.record(right)
        self.copy_record(target, source)
        return target

    def _record_conditional(self, node: Node) -> MemoryPlace:
        ctype = self.unit.type_of(node)
        then, otherwise, after = self.location(), self.location(), self.location()
        chosen = self.register(self.pointer)
        self.condition(node.children[0], then, otherwise)
        for start, child in ((then, node.children[1]), (otherwise, node.children[2])):
            self.at = start
            self.emit(Assign(self.origin, chosen, self.record(child).address))
            self.connect(after)
        self.at = after
        return MemoryPlace(chosen, ctype)

    def _member(self, node: Node) -> MemoryPlace:
        base = node.children[0]
        base_type = self.unit.type_of(base)
        if base_type.is_pointer:
            address = self.rvalue(base)
            record = base_type.inner
        else:
            place = self.record(base)
            address, record = place.address, base_type
            is_result = strip(base).kind == s.CALL
            if is_result and self.unit.type_of(node).shape is Shape.ARRAY:
                if self.checks_lifetimes:
                    what = "an array inside a function's result, with valid-memsafety"
                    raise UnsupportedCode(what)
                self.unit.linker.assume(
                    "no pointer into the result of a function is used after its expression"
                )
        assert record is not None
        if record.atomic or self.unit.type_of(strip(base)).atomic:  # undefined, as C17 6.5.2.3 says
            raise UnsupportedCode("a member of an atomic struct or union")
        name = self.unit.tree.name(node)
        if "(" in name:  # the anonymous struct or union on the way to its member
            field = self.unit.library.getCursorReferenced(node.cursor)
            offset = self.unit.library.Cursor_getOffsetOfField(field) // 8
            moved = pointer_add(address, Const(self.data_model.offset_type, offset))
            return MemoryPlace(moved, self._qualified(self.unit.type_of(node), record))
        member = find_member(record, name) if name else None
        if member is None:
            raise UnsupportedCode(f"the member '{name}' of '{record.spelling}'")
        place_type = self._qualified(member.type, record)
        offset, bit_offset, size = member.offset, member.bit_offset, 0
        if member.bit_width is not None and self.accesses_whole_locations:
            first, end = member.location
            bit_offset += (offset - first) * 8
            offset, size = first, end - first
        moved = pointer_add(address, Const(self.data_model.offset_type, offset))
        return MemoryPlace(moved, place_type, bit_offset, member.bit_width, size)

    def _qualified(self, ctype: CType, outer: CType) -> CType:
        """A member of a volatile object is volatile."""
        if outer.volatile and not ctype.volatile:
            return replace(ctype, volatile=True)
        return ctype

    def _subscript(self, node: Node) -> MemoryPlace:
        first, second = node.children
        if not self.unit.type_of(first).is_pointer and self.unit.type_of(second).is_pointer:
            index = self.rvalue(first)
            start, emitted = self.at, self.emitted
            base = self.rvalue(second)
            index = self.keep(index, start, emitted)
        else:
            base = self.rvalue(first)
            start, emitted = self.at, self.emitted
            index = self.rvalue(second)
            base = self.keep(base, start, emitted)
        element = self.unit.type_of(node)
        size = self.size_of(element)
        offset = self._scaled_by(index, size)
        array = self.unit.type_of(strip(first))
        length = None
        if array.shape is Shape.ARRAY and isinstance(size, int):
            length = size * (array.count or 0)
        return MemoryPlace(pointer_add(base, offset, length), element)

    # Operators

    def _unary(self, node: Node) -> Expr:
        kind = self._unary_kind(node)
        child = node.children[0]
        if kind in _STEPS:
            return self._step(node, used=True)
        match kind:
            case s.ADDRESS:
                return self.address_of(child)
            case s.DEREFERENCE:
                return self.read(self.lvalue(node))
            case s.EXTENSION:
                return self.rvalue(child)
            case s.PLUS | s.REAL:
                return convert(self.unit.type_of(node).require_scalar(), self.rvalue(child))
            case s.MINUS:
                operand = self.rvalue(child)
                self.check_overflow(BinaryOp.SUB, zero(operand.type), operand)
                return unary(UnaryOp.NEG, operand)
            case s.NOT:
                return unary(UnaryOp.NOT, self.rvalue(child))
            case s.LOGICAL_NOT:
                return negation(self.rvalue(child))
        raise UnsupportedCode("complex numbers")

    def address_of(self, node: Node) -> Expr:
        place = self.lvalue(node)
        if isinstance(place, RegisterPlace) or place.bit_width is not None:
            raise UnsupportedCode("the address of this expression")
        return place.address

    def _step(self, node: Node, used: bool) -> Expr:
        """++ and --, before or after."""
        kind = self._unary_kind(node)
        place = self.lvalue(node.children[0])
        scalar = place.type.require_scalar()

        def stepped(old: Expr) -> Expr:
            if place.type.is_pointer:
                size = self.size_of(place.type.inner) if place.type.inner is not None else 1
                return pointer_add(old, self._scaled_by(Const(I32, _STEPS[kind]), size))
            if scalar.kind is Kind.FLOAT:
                return binary(BinaryOp.ADD, old, Const(scalar, float(_STEPS[kind])))
            common = promote(scalar)
            operand = convert(common, old)
            one = constant(common, 1)
            op = BinaryOp.ADD if _STEPS[kind] > 0 else BinaryOp.SUB
            if not place.type.atomic:
                self.check_overflow(op, operand, one)
            return convert(scalar, binary(op, operand, one))

        return self._update(place, stepped, used, kind in (s.POST_INC, s.POST_DEC))

    def _update(self, place: Place, change: Change, used: bool, old_wanted: bool) -> Expr:
        scalar = place.type.require_scalar()
        if isinstance(place, MemoryPlace) and place.type.atomic:
            old = self.register(scalar)
            new = change(old)
            self.read_modify_write(place.address, old, new, access_order(place.type))
            return old if old_wanted else new
        if isinstance(place, MemoryPlace):
            place = replace(place, address=self.stable(place.address))
        before = self.read(place)
        if old_wanted and used and isinstance(place, RegisterPlace):
            before = self.temporary(before)
        after = self.write(place, change(before))
        return before if old_wanted else after

    def _compound_assign(self, node: Node) -> Expr:
        left, right = node.children
        kind = s.COMPOUND_OPERATORS[self._binary_kind(node)]
        place = self.lvalue(left)
        if isinstance(place, MemoryPlace):
            place = replace(place, address=self.stable(place.address))
        operand = self.rvalue(right)
        if isinstance(place, MemoryPlace) or not isinstance(operand, (Const, Register)):
            operand = self.stable(operand) if not isinstance(operand, Const) else operand
        scalar = place.type.require_scalar()

        def changed(old: Expr) -> Expr:
            if place.type.is_pointer:
                size = self.size_of(place.type.inner) if place.type.inner is not None else 1
                offset = self._scaled_by(operand, size)
                if kind == s.SUB:
                    offset = unary(UnaryOp.NEG, offset)
                return pointer_add(old, offset)
            source = promote(self._promoted_bits(place, scalar))
            if kind in (s.SHL, s.SHR):
                common = source
                value = operand
            else:
                common = usual_arithmetic(source, operand.type)
                value = convert(common, operand)
            operator = _OPERATORS[kind]
            if place.type.atomic:
                # Signed atomic arithmetic wraps (C17 6.5.16.2), and `old` is not known before.
                self.check_operand(operator, common, value)
                return convert(scalar, binary(operator, convert(common, old), value))
            return self.checked_conversion(
                scalar, self.arithmetic(operator, convert(common, old), value)
            )

        return self._update(place, changed, used=True, old_wanted=False)

    def _binary(self, node: Node) -> Expr:
        kind = self._binary_kind(node)
        left, right = node.children
        match kind:
            case s.ASSIGN:
                return self._assign(left, right)
            case s.COMMA:
                self.effect(left)
                return self.rvalue(right)
            case s.LOGICAL_AND | s.LOGICAL_OR:
                return self._logical(kind, left, right)
        first = self.rvalue(left)
        start, emitted = self.at, self.emitted
        second = self.rvalue(right)
        first = self.keep(first, start, emitted)
        left_type, right_type = self.unit.type_of(left), self.unit.type_of(right)
        if kind in (s.ADD, s.SUB) and (left_type.is_pointer or right_type.is_pointer):
            return self._pointer_arithmetic(kind, first, second, left_type, right_type)
        if kind in (s.GT, s.GE):
            kind = s.LT if kind == s.GT else s.LE
            first, second = second, first
        if kind not in (s.SHL, s.SHR) and first.type != second.type:
            first, second = self._same_type(first, second)
        return self.arithmetic(_OPERATORS[kind], first, second)

    def _assign(self, left: Node, right: Node) -> Expr:
        place = self.lvalue(left)
        scalar = place.type.require_scalar()
        if isinstance(place, RegisterPlace):
            return self.write(place, convert(scalar, self.rvalue(right)))
        start, emitted = self.at, self.emitted
        value = convert(scalar, self.rvalue(right))
        address = self.keep(place.address, start, emitted)
        return self.write(replace(place, address=address), value)

    # Casts and sizes

    def _cast(self, node: Node) -> Expr:
        operand = node.children[-1]
        self.refuse_sizes_with_effects(self.unit.type_of(node), node.children[:-1])
        scalar = self.unit.type_of(node).require_scalar()
        source = self.unit.type_of(operand)
        if source.shape is Shape.RECORD:
            raise UnsupportedCode("a cast of a struct or union")
        self._note_conversion(operand, self.unit.type_of(node))
        return self.checked_conversion(scalar, self.rvalue(operand))

    def _note_conversion(self, operand: Node, target: CType) -> None:
        """Whether it makes something else of the address of a function."""
        if self.unit.type_of(operand).points_to_function and not target.points_to_function:
            if not target.require_scalar().is_bool and not self.unit.is_library:
                self.unit.linker.has_functions_as_data = True

    def _sizeof(self, node: Node) -> Expr:
        value = self.unit.tree.integer(node)
        scalar = self.unit.type_of(node).require_scalar()
        if value is not None:
            return constant(scalar, value)
        operands = node.expressions()
        if operands:
            inner = strip(operands[0])
            if inner.kind == s.DECL_REF:
                declaration = self.unit.library.getCursorReferenced(inner.cursor)
                size = self.vla_sizes.get(declaration.data[0] or 0)
                if size is not None:
                    return convert(scalar, size)
        raise UnsupportedCode("sizeof of this variable length array")

    vla_sizes: dict[int, Expr]
    is_static_context: bool
    _nesting: int = 0
