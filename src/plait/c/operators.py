"""Arithmetic on lowered operands, with the checks that make it total."""

from __future__ import annotations

from plait.c import syntax as s
from plait.c.places import MemoryPlace, Place, Places
from plait.c.terms import binary, constant, convert, negation, pointer_add, scaled, unary, zero
from plait.c.types import CType, Shape, layout_of, usual_arithmetic
from plait.errors import UnsupportedCode
from plait.model.actions import Check, CheckKind
from plait.model.expressions import (
    BinaryOp,
    Const,
    Expr,
    FunctionAddress,
    Register,
    StaticAddress,
    UnaryOp,
)
from plait.model.types import I32, I64, I128, U32, Kind, Scalar


class Operators(Places):
    """Operators of one function; `checks` are the kinds of Check that the property needs."""

    checks: frozenset[CheckKind]

    @property
    def checks_lifetimes(self) -> bool:
        return CheckKind.VALID_DEREF in self.checks

    def copy_record(self, target: MemoryPlace, source: MemoryPlace) -> None:
        if target.type.atomic or source.type.atomic:
            raise UnsupportedCode("an atomic struct or union")
        self.copy(self.stable(target.address), self.stable(source.address), target.type)

    def size_of(self, ctype: CType) -> int | Expr:
        """A type's size: an expression for variable length arrays."""
        if ctype.shape is Shape.VARIABLE_ARRAY:
            return self.unit_vla_size(ctype)
        return ctype.size if ctype.shape not in (Shape.VOID, Shape.FUNCTION) else 1

    def unit_vla_size(self, ctype: CType) -> Expr:
        raise UnsupportedCode("a multi-dimensional variable length array")

    def _scaled_by(self, index: Expr, size: int | Expr) -> Expr:
        offset_type = self.data_model.offset_type
        if isinstance(size, int):
            return scaled(index, size, offset_type)
        return binary(BinaryOp.MUL, convert(offset_type, index), convert(offset_type, size))

    def stable(self, value: Expr) -> Expr:
        """A value that later assignments cannot change."""
        if isinstance(value, (Const, StaticAddress, FunctionAddress)):
            return value
        if isinstance(value, Register) and not self.registers[value.index].name:
            return value
        return self.temporary(value)

    def _promoted_bits(self, place: Place, scalar: Scalar) -> Scalar:
        """A bit-field narrower than int promotes to int (C17 6.3.1.1)."""
        if isinstance(place, MemoryPlace) and place.bit_width is not None:
            if place.bit_width < 32 or (place.bit_width == 32 and scalar.signed):
                return I32
            if place.bit_width == 32:
                return U32
        return scalar

    def _same_type(self, first: Expr, second: Expr) -> tuple[Expr, Expr]:
        if Kind.POINTER in (first.type.kind, second.type.kind):
            return convert(self.pointer, first), convert(self.pointer, second)
        common = usual_arithmetic(first.type, second.type)
        return convert(common, first), convert(common, second)

    def _pointer_arithmetic(
        self, kind: int, first: Expr, second: Expr, left: CType, right: CType
    ) -> Expr:
        if left.is_pointer and right.is_pointer:
            offset_type = self.data_model.offset_type
            size = self.size_of(left.inner) if left.inner is not None else 1
            distance = binary(
                BinaryOp.SUB, convert(offset_type, first), convert(offset_type, second)
            )
            if size == 1:
                return distance
            divisor = constant(offset_type, size) if isinstance(size, int) else size
            return binary(BinaryOp.DIV, distance, convert(offset_type, divisor))
        if right.is_pointer:
            first, second, left = second, first, right
        offset = self._scaled_by(second, self.size_of(left.inner) if left.inner else 1)
        if kind == s.SUB:
            offset = unary(UnaryOp.NEG, offset)
        return pointer_add(first, offset)

    def arithmetic(self, op: BinaryOp, left: Expr, right: Expr) -> Expr:
        """A binary operator with the checks that make it a total function."""
        self.check_operand(op, left.type, right)
        if op in (BinaryOp.DIV, BinaryOp.REM) and left.type.kind is Kind.INT:
            self._check_quotient(left, right)
        self.check_overflow(op, left, right)
        return binary(op, left, right)

    def check_operand(self, op: BinaryOp, left: Scalar, right: Expr) -> None:
        """What must hold of the right operand alone."""
        if op in (BinaryOp.DIV, BinaryOp.REM) and left.kind is Kind.INT:
            if not isinstance(right, Const) or right.value == 0:
                condition = binary(BinaryOp.NE, right, zero(right.type))
                self.check(condition, CheckKind.UNDEFINED, "division by zero")
        elif op in (BinaryOp.SHL, BinaryOp.SHR):
            count = convert(Scalar(Kind.INT, right.type.bits), right)
            condition = binary(BinaryOp.LT, count, constant(count.type, left.bits))
            self.check(condition, CheckKind.UNDEFINED, "shift count out of range")

    def checked_conversion(self, target: Scalar, value: Expr) -> Expr:
        """A conversion; a floating value must fit an integer type (C17 6.3.1.4)."""
        source = value.type
        if source.kind is Kind.FLOAT and target.kind is Kind.INT and not target.is_bool:
            converted = convert(target, value)
            if isinstance(converted, Const):
                return converted
            below = float(target.minimum - 1)
            exact = int(below) == target.minimum - 1 and target.bits + 1 < source.bits
            if exact:
                lower = binary(BinaryOp.LT, Const(source, below), value)
            else:
                lower = binary(BinaryOp.LE, Const(source, float(target.minimum)), value)
            upper = binary(BinaryOp.LT, value, Const(source, float(target.maximum + 1)))
            self.check(
                binary(BinaryOp.AND, lower, upper),
                CheckKind.UNDEFINED,
                "a floating value that does not fit the integer type",
            )
        return convert(target, value)

    def check(self, condition: Expr, kind: CheckKind, message: str) -> None:
        if isinstance(condition, Const) and condition.value:
            return
        if kind in self.checks:
            self.emit(Check(self.origin, condition, kind, message))

    def _check_quotient(self, left: Expr, right: Expr) -> None:
        if not left.type.signed or (isinstance(right, Const) and right.value != -1):
            return
        overflow = binary(
            BinaryOp.AND,
            binary(BinaryOp.EQ, left, Const(left.type, left.type.minimum)),
            binary(BinaryOp.EQ, right, Const(right.type, -1)),
        )
        kind = CheckKind.OVERFLOW if CheckKind.OVERFLOW in self.checks else CheckKind.UNDEFINED
        self.check(negation(overflow), kind, "the quotient is not representable")

    def check_overflow(self, op: BinaryOp, left: Expr, right: Expr) -> None:
        """The exact result must be representable (only where the property asks for it)."""
        if CheckKind.OVERFLOW not in self.checks or left.type.kind is not Kind.INT:
            return
        overflowing = (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.SHL)
        if not left.type.signed or op not in overflowing:
            return
        if left.type.bits > 64:
            raise UnsupportedCode("the overflow check of a 128-bit operation")
        wide = I64 if left.type.bits <= 32 and op is not BinaryOp.SHL else I128
        narrow = convert(wide, binary(op, left, right))
        other = right if op is BinaryOp.SHL else convert(wide, right)
        exact = binary(op, convert(wide, left), other)
        message = f"signed overflow in '{op.value}'"
        self.check(binary(BinaryOp.EQ, exact, narrow), CheckKind.OVERFLOW, message)

    def temporary_object(self, ctype: CType, name: str = "") -> MemoryPlace:
        slot = self.slot(name, layout_of(ctype), ctype.spelling)
        return MemoryPlace(self.slot_address(slot), ctype)
