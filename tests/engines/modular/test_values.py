"""Abstract operators cover what the concrete ones give."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from plait.engines.modular import arithmetic
from plait.engines.modular.objects import cut
from plait.engines.modular.values import (
    Thresholds,
    Value,
    between,
    converted,
    covers,
    join,
    may_be_zero,
    top,
)
from plait.model import fold
from plait.model.expressions import COMPARISONS, BinaryOp, UnaryOp
from plait.model.types import BOOL, I8, I32, U8, U32, Scalar

SCALARS = st.sampled_from([I8, U8, I32, U32])
ARITHMETIC = st.sampled_from([op for op in BinaryOp if op not in COMPARISONS])


def _contains(value: Value, number: int) -> bool:
    return value is None or value[0] <= number <= value[1]


@st.composite
def intervals(draw: st.DrawFn, scalar: Scalar) -> tuple[Value, int]:
    """An interval of numbers of a type, and one of them."""
    near = st.integers(-20, 20).filter(lambda n: scalar.minimum <= n <= scalar.maximum)
    numbers = st.one_of(near, st.integers(scalar.minimum, scalar.maximum))
    low, number, high = sorted(draw(st.tuples(numbers, numbers, numbers)))
    return between(low, high), number


@given(st.data(), SCALARS, ARITHMETIC)
def test_arithmetic(data: st.DataObject, scalar: Scalar, op: BinaryOp) -> None:
    left, a = data.draw(intervals(scalar))
    right, b = data.draw(intervals(scalar))
    found = arithmetic.binary(op, scalar, scalar, left, right)
    assert _contains(found, fold.binary(op, scalar, scalar, a, b))
    assert covers(top(scalar), found)


@given(st.data(), SCALARS, st.sampled_from(sorted(COMPARISONS, key=str)))
def test_comparisons(data: st.DataObject, scalar: Scalar, op: BinaryOp) -> None:
    left, a = data.draw(intervals(scalar))
    right, b = data.draw(intervals(scalar))
    found = arithmetic.compare(op, left, right, 1 << 14, lambda *_: True, lambda _: False)
    assert _contains(found, fold.binary(op, I32, scalar, a, b))


@given(st.data(), SCALARS, st.sampled_from(list(UnaryOp)))
def test_unary(data: st.DataObject, scalar: Scalar, op: UnaryOp) -> None:
    value, a = data.draw(intervals(scalar))
    assert _contains(arithmetic.unary(op, scalar, value), fold.unary(op, scalar, a))


@given(st.data(), SCALARS, st.sampled_from([I8, U8, I32, U32, BOOL]))
def test_conversions(data: st.DataObject, source: Scalar, target: Scalar) -> None:
    value, a = data.draw(intervals(source))
    assert _contains(converted(value, target), fold.convert(target, a))


@given(st.lists(intervals(I32), min_size=1, max_size=12))
def test_widening_covers(found: list[tuple[Value, int]]) -> None:
    thresholds = Thresholds([5, 100])
    value = found[0][0]
    for other, number in found:
        new = thresholds.widened(value, other)
        assert covers(new, join(value, other))
        assert _contains(new, number)
        value = new


def test_widening_ends() -> None:
    thresholds = Thresholds([5, 100])
    value: Value = between(0, 0)
    grown = 0
    for number in range(2000):
        new = thresholds.widened(value, between(-number, number))
        grown += new != value
        value = new
    assert grown < 20


def test_an_address_is_not_null() -> None:
    assert not may_be_zero((1, 0, ((3, 0, 0, 0),)))
    assert may_be_zero((0, 0, ((3, 0, 0, 0),)))


@given(st.integers(-50, 50), st.integers(0, 60), st.sampled_from([0, 1, 4, 8]), st.integers(0, 40))
def test_cutting_a_place_keeps_what_is_inside(low: int, more: int, step: int, last: int) -> None:
    high = low + (more // step * step if step else 0)
    offsets = set(range(low, high + 1, step)) if step else {low}
    found = cut((7, low, high, step), last)
    kept = set() if found is None else set(range(found[1], found[2] + 1, found[3] or 1))
    assert kept == {offset for offset in offsets if 0 <= offset <= last}
