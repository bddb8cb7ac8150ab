"""Expressions on abstract values, and what a condition that holds says about registers."""

from __future__ import annotations

from plait.engines.modular import arithmetic
from plait.engines.modular.objects import Objects
from plait.engines.modular.values import (
    TRUTH,
    Value,
    constant,
    converted,
    is_empty,
    join,
    may_be_other_than_zero,
    may_be_zero,
    pointer,
    top,
)
from plait.model.expressions import (
    COMPARISONS,
    Binary,
    BinaryOp,
    Conditional,
    Const,
    Convert,
    CurrentThread,
    Expr,
    FrameAddress,
    FunctionAddress,
    PointerAdd,
    Register,
    StaticAddress,
    Unary,
)
from plait.model.types import Kind, Scalar

_FLIPPED = {BinaryOp.EQ: BinaryOp.NE, BinaryOp.NE: BinaryOp.EQ}


class Evaluator:
    """Of one frame: `slots` gives the objects of its locals. Pointer arithmetic that may leave its
    object is noted in `leaves_object`; what it yields then lies inside, because an execution in
    which it does not ends there."""

    def __init__(
        self, objects: Objects, registers: list[Value], slots: dict[int, int], thread: Value
    ) -> None:
        self._objects = objects
        self.registers = registers
        self.slots = slots
        self._thread = thread
        self.leaves_object = False

    def value(self, expr: Expr) -> Value:
        kind = type(expr)
        if kind is Register:
            assert isinstance(expr, Register)
            return self.registers[expr.index]
        if kind is Const:
            assert isinstance(expr, Const)
            return None if expr.type.kind is Kind.FLOAT else constant(int(expr.value))
        match expr:
            case Binary():
                return self._binary(expr)
            case Convert():
                return self._convert(expr)
            case StaticAddress():
                number = self._objects.static(expr.object)
                return self._moved(pointer(number), constant(expr.offset), 0, expr.type)
            case FrameAddress():
                number = self.slots[expr.slot.index]
                return self._moved(pointer(number), constant(expr.offset), 0, expr.type)
            case FunctionAddress():
                return pointer(self._objects.function(expr.function))
            case PointerAdd():
                base, offset = self.value(expr.base), self.value(expr.offset)
                return self._moved(base, offset, _step(expr.offset), expr.type)
            case Conditional():
                return self._conditional(expr)
            case Unary():
                return arithmetic.unary(expr.op, expr.type, self.value(expr.operand))
            case CurrentThread():
                return self._thread
        return None

    def _binary(self, expr: Binary) -> Value:
        left, right = self.value(expr.left), self.value(expr.right)
        if expr.op not in COMPARISONS:
            if left is not None and any(not self._objects.is_same(p[0]) for p in left[2]):
                return top(expr.type)  # the difference of addresses in two objects of one name
            return arithmetic.binary(expr.op, expr.type, expr.left.type, left, right)
        if expr.left.type.kind is Kind.FLOAT:
            return TRUTH
        left, right = _known(left, expr.left.type), _known(right, expr.right.type)
        objects = self._objects
        return arithmetic.compare(
            expr.op, left, right, objects.page, objects.may_meet, objects.is_same
        )

    def _convert(self, expr: Convert) -> Value:
        value = self.value(expr.operand)
        source, target = expr.operand.type, expr.type
        if source.kind is Kind.FLOAT or target.kind is Kind.FLOAT:
            return top(target)
        if target.is_bool:
            return arithmetic.truth_of(value)
        if value is not None and value[2] and target.bits < self._objects.pointer_bits:
            return top(target)
        return converted(_known(value, source), target)

    def _conditional(self, expr: Conditional) -> Value:
        condition = self.value(expr.condition)
        if not may_be_zero(condition):
            return self.value(expr.then)
        if not may_be_other_than_zero(condition):
            return self.value(expr.otherwise)
        return join(self.value(expr.then), self.value(expr.otherwise))

    def _moved(self, base: Value, offset: Value, step: int, scalar: Scalar) -> Value:
        moves = offset != (0, 0, ())
        if base is None:
            self.leaves_object |= moves
            return top(scalar)
        numbers: Value = (1, 0, ())
        if base[0] <= base[1]:
            # A number beyond the first page may be the address of an object.
            if moves and not 0 <= base[0] <= base[1] < self._objects.page:
                self.leaves_object = True
            numbers = arithmetic.binary(
                BinaryOp.ADD, scalar, scalar, (base[0], base[1], ()), _known(offset, scalar)
            )
        if not base[2]:
            return numbers
        places = arithmetic.moved(base[2], offset, step)
        if places is None:
            places = tuple((p[0], -(1 << 62), 1 << 62, 1) for p in base[2])
        kept = []
        for place in places:
            inside = self._objects.inside(place)
            if inside != place:
                self.leaves_object = True
            if inside is not None:
                kept.append(inside)
        return join(numbers, (1, 0, tuple(kept)))

    # --- conditions

    def assume(self, condition: Expr, holds: bool) -> dict[int, Value] | None:
        """What registers can be where the condition is (or is not) 0; None if it cannot be."""
        value = self.value(condition)
        if not (may_be_other_than_zero(value) if holds else may_be_zero(value)):
            return None
        found: dict[int, Value] = {}
        self._assume(condition, holds, found)
        return None if any(is_empty(item) for item in found.values()) else found

    def _assume(self, condition: Expr, holds: bool, found: dict[int, Value]) -> None:
        match condition:
            case Register() if condition.type.kind is not Kind.FLOAT:
                old = self.registers[condition.index]
                _meet(found, condition.index, _without_zero(old) if holds else _only_zero(old))
            case Convert():
                if _keeps_truth(condition.operand.type, condition.type):
                    self._assume(condition.operand, holds, found)
            case Binary() if condition.op in COMPARISONS:
                self._assume_comparison(condition, holds, found)
            case Binary(op=BinaryOp.AND) if holds and _is_truth(condition):
                self._assume(condition.left, True, found)
                self._assume(condition.right, True, found)
            case Binary(op=BinaryOp.OR) if not holds:
                self._assume(condition.left, False, found)
                self._assume(condition.right, False, found)

    def _assume_comparison(self, condition: Binary, holds: bool, found: dict[int, Value]) -> None:
        left, right, op = condition.left, condition.right, condition.op
        if left.type.kind is Kind.FLOAT:
            return
        if op in _FLIPPED:
            if not holds:
                op = _FLIPPED[op]
            for one, other in ((left, right), (right, left)):
                if isinstance(other, Const) and other.value == 0 and not isinstance(one, Register):
                    self._assume(one, op is BinaryOp.NE, found)
                self._bound(one, op, other, found)
            return
        if not holds:
            left, right = right, left
            op = BinaryOp.LE if op is BinaryOp.LT else BinaryOp.LT
        a, b = _known(self.value(left), left.type), _known(self.value(right), right.type)
        gap = 1 if op is BinaryOp.LT else 0
        if a is not None and b is not None and not a[2] and not b[2]:
            self._cut(left, a[0], b[1] - gap, found)
            self._cut(right, a[0] + gap, b[1], found)

    def _bound(self, expr: Expr, op: BinaryOp, other: Expr, found: dict[int, Value]) -> None:
        """`expr` is (not) equal to `other`."""
        value = self.value(other)
        if value is None:
            return
        if op is BinaryOp.EQ:
            if not value[2]:
                self._cut(expr, value[0], value[1], found, 0 <= value[0] <= value[1] < 4096)
            elif value[0] > value[1] and isinstance(expr, Register):
                own = self.registers[expr.index]
                if own is not None and own[0] > own[1]:
                    return
                if own is not None and own[1] < self._objects.page and own[0] >= 0:
                    _meet(found, expr.index, (1, 0, own[2]))
        elif value[0] == value[1] and not value[2]:
            register = _plain_register(expr)
            if register is None:
                return
            old = _known(self.registers[register.index], register.type)
            if old is None:
                return
            low, high = old[0], old[1]
            low += low == value[0]
            high -= high == value[0]
            _meet(found, register.index, (low, high, old[2]))

    def _cut(
        self, expr: Expr, low: int, high: int, found: dict[int, Value], drops: bool = False
    ) -> None:
        """The number that a register has is in an interval. `drops`: it is no address then."""
        register = _plain_register(expr)
        if register is None:
            return
        old = _known(self.registers[register.index], register.type)
        if old is None or (old[2] and not drops):
            return
        _meet(found, register.index, (max(old[0], low), min(old[1], high), ()))


def _known(value: Value, scalar: Scalar) -> Value:
    return top(scalar) if value is None else value


def _step(offset: Expr) -> int:
    """A number that divides the offset."""
    while isinstance(offset, Convert) and _is_extension(offset.operand.type, offset.type):
        offset = offset.operand
    if isinstance(offset, Const):
        return 0
    if isinstance(offset, Binary) and offset.op is BinaryOp.MUL and offset.type.kind is Kind.INT:
        factors = (offset.left, offset.right)
        for item in factors:
            if isinstance(item, Const) and item.value > 0:
                # A product that wraps stays a multiple of a power of two only.
                factor = int(item.value)
                return factor & -factor
    return 1


def _is_extension(source: Scalar, target: Scalar) -> bool:
    """Whether a conversion keeps the lower bits of an integer."""
    return (
        source.kind is Kind.INT is target.kind and not target.is_bool and target.bits >= source.bits
    )


def _plain_register(expr: Expr) -> Register | None:
    """The register whose number the expression has."""
    while isinstance(expr, Convert):
        inner, outer = expr.operand.type, expr.type
        if inner.kind is Kind.FLOAT or outer.kind is Kind.FLOAT or outer.is_bool:
            return None
        if not (outer.minimum <= inner.minimum and inner.maximum <= outer.maximum):
            return None
        expr = expr.operand
    return expr if isinstance(expr, Register) and expr.type.kind is not Kind.FLOAT else None


def _keeps_truth(source: Scalar, target: Scalar) -> bool:
    if source.kind is Kind.FLOAT or target.kind is Kind.FLOAT:
        return False
    return target.is_bool or target.bits >= source.bits


def _is_truth(expr: Binary) -> bool:
    """`&` of two truth values: not 0 only where both are not."""
    return all(
        isinstance(item, Binary) and item.op in COMPARISONS for item in (expr.left, expr.right)
    )


def _without_zero(value: Value) -> Value:
    if value is None:
        return None
    low, high, places = value
    return low + (low == 0), high - (high == 0), places


def _only_zero(value: Value) -> Value:
    return (0, 0, ())


def _meet(found: dict[int, Value], index: int, value: Value) -> None:
    known = found.get(index)
    if index not in found or known is None:
        found[index] = value
    elif value is not None and value[2] == known[2]:
        found[index] = max(known[0], value[0]), min(known[1], value[1]), value[2]
    elif value is not None and not value[2]:
        found[index] = value
