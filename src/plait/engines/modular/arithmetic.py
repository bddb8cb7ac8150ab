"""Operators on abstract values; exact on constants, intervals otherwise."""

from __future__ import annotations

from collections.abc import Callable

from plait.engines.modular.values import (
    ONE,
    TRUTH,
    ZERO,
    Place,
    Value,
    constant,
    may_be_other_than_zero,
    may_be_zero,
    top,
)
from plait.model import fold
from plait.model.expressions import BinaryOp, UnaryOp
from plait.model.types import Kind, Scalar

# Whether two objects, by their numbers, may have a common address; whether all pointers to an
# object are to the same one.
MayMeet = Callable[[int, int], bool]
IsSame = Callable[[int], bool]


def within(scalar: Scalar, low: int, high: int) -> Value:
    """Exact results, as what a type that wraps makes of them."""
    if scalar.minimum <= low and high <= scalar.maximum:
        return low, high, ()
    wrapped = scalar.wrap(low)
    if high - low < 1 << scalar.bits and wrapped + (high - low) <= scalar.maximum:
        return wrapped, wrapped + (high - low), ()
    return top(scalar)


def unary(op: UnaryOp, scalar: Scalar, value: Value) -> Value:
    if value is None or value[2] or scalar.kind is Kind.FLOAT:
        return top(scalar)
    low, high, _ = value
    return within(scalar, -high, -low) if op is UnaryOp.NEG else within(scalar, ~high, ~low)


def binary(op: BinaryOp, scalar: Scalar, operands: Scalar, left: Value, right: Value) -> Value:
    """An operator other than a comparison; `operands` is the type of the left operand."""
    if left is None or right is None or scalar.kind is Kind.FLOAT:
        return top(scalar)
    if left[2] or right[2]:
        return _difference(op, scalar, left, right)
    a, b, _ = left
    c, d, _ = right
    if a == b and c == d:
        return constant(fold.binary(op, scalar, operands, a, c))
    match op:
        case BinaryOp.ADD:
            return within(scalar, a + c, b + d)
        case BinaryOp.SUB:
            return within(scalar, a - d, b - c)
        case BinaryOp.MUL:
            products = (a * c, a * d, b * c, b * d)
            return within(scalar, min(products), max(products))
        case BinaryOp.DIV if c > 0:
            return within(scalar, min(_quotient(a, c), _quotient(a, d)), _most(b, c, d))
        case BinaryOp.REM if c > 0:
            low = 0 if a >= 0 else max(a, 1 - d)
            return low, max(0, min(b, d - 1)), ()
        case BinaryOp.AND if a >= 0 and c >= 0:
            return 0, min(b, d), ()
        case BinaryOp.AND if c >= 0:
            return 0, d, ()
        case BinaryOp.AND if a >= 0:
            return 0, b, ()
        case BinaryOp.OR | BinaryOp.XOR if a >= 0 and c >= 0:
            low = max(a, c) if op is BinaryOp.OR else 0
            return within(scalar, low, (1 << max(b.bit_length(), d.bit_length())) - 1)
        case BinaryOp.SHL if c >= 0 and d < operands.bits and a >= 0:
            return within(scalar, a << c, b << d)
        case BinaryOp.SHR if c >= 0 and d < operands.bits:
            return min(a >> c, a >> d), max(b >> c, b >> d), ()
    return top(scalar)


def _quotient(left: int, right: int) -> int:
    return abs(left) // right * (1 if left >= 0 else -1)


def _most(b: int, c: int, d: int) -> int:
    return max(_quotient(b, c), _quotient(b, d))


def _difference(op: BinaryOp, scalar: Scalar, left: Value, right: Value) -> Value:
    """Of two addresses in one object; all other arithmetic on addresses gives any number."""
    if left is None or right is None or op is not BinaryOp.SUB:
        return top(scalar)
    if left[0] > left[1] and right[0] > right[1] and len(left[2]) == len(right[2]) == 1:
        [one], [other] = left[2], right[2]
        if one[0] == other[0]:
            return within(scalar, one[1] - other[2], one[2] - other[1])
    return top(scalar)


def compare(
    op: BinaryOp, left: Value, right: Value, page: int, may_meet: MayMeet, is_same: IsSame
) -> Value:
    """A comparison of integers or pointers; `page` is the size of the null page."""
    if left is None or right is None:
        return TRUTH
    if not left[2] and not right[2]:
        return _compare_numbers(op, left[0], left[1], right[0], right[1])
    if op not in (BinaryOp.EQ, BinaryOp.NE):
        return TRUTH
    equal = _may_be_equal(left, right, page, may_meet, is_same)
    if equal is None:
        return TRUTH
    return ONE if equal is (op is BinaryOp.EQ) else ZERO


def _compare_numbers(op: BinaryOp, a: int, b: int, c: int, d: int) -> Value:
    match op:
        case BinaryOp.LT:
            return ONE if b < c else ZERO if a >= d else TRUTH
        case BinaryOp.LE:
            return ONE if b <= c else ZERO if a > d else TRUTH
    is_equal = ONE if a == b == c == d else ZERO if b < c or d < a else TRUTH
    if op is BinaryOp.EQ or is_equal is TRUTH:
        return is_equal
    return ZERO if is_equal is ONE else ONE


def _may_be_equal(
    left: Value, right: Value, page: int, may_meet: MayMeet, is_same: IsSame
) -> bool | None:
    """Whether two values, one of them with places, are equal; None if that is not known."""
    assert left is not None and right is not None
    has_numbers = left[0] <= left[1], right[0] <= right[1]
    if all(has_numbers):
        return None
    if any(has_numbers):
        low, high, _ = left if has_numbers[0] else right
        if not (0 <= low and high < page):
            return None  # a number beyond the null page may be somebody's address
    sure: bool | None = False
    for one in left[2]:
        for other in right[2]:
            if one[0] == other[0]:
                if not is_same(one[0]):
                    return None
                if one[1] == one[2] == other[1] == other[2]:
                    sure = True
                elif one[1] <= other[2] and other[1] <= one[2]:
                    return None
            elif may_meet(one[0], other[0]):
                return None
    if sure and (any(has_numbers) or len(left[2]) > 1 or len(right[2]) > 1):
        return None
    return sure


def moved(places: tuple[Place, ...], offset: Value, step: int) -> tuple[Place, ...] | None:
    """Places moved by an offset of which it is known that `step` divides it."""
    if offset is None or offset[2]:
        return None
    low, high, _ = offset
    found = []
    for number, first, last, own in places:
        together = own if low == high else _gcd(own, step)
        found.append((number, first + low, last + high, together))
    return tuple(found)


def _gcd(one: int, other: int) -> int:
    while other:
        one, other = other, one % other
    return one


def truth_of(value: Value) -> Value:
    if not may_be_zero(value):
        return ONE
    return TRUTH if may_be_other_than_zero(value) else ZERO
