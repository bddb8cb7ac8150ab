"""A pointer is moved by nothing that its distance does not stand for."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from plait.analysis.distances import ANYWHERE, Distance, added, distance_of, repeated
from plait.model.expressions import Binary, BinaryOp, Const, Convert, Expr, Register
from plait.model.fold import constant, substitute
from plait.model.types import BOOL, I8, I32, I64, U32, U64, Scalar

TYPES = st.sampled_from([I8, I32, U32, I64, U64, BOOL])
NUMBERS = st.sampled_from([0, 1, 2, 3, 8, 24, 40, -1, -24, 1 << 31, (1 << 61) + 5])


@st.composite
def offsets(draw: st.DrawFn, index: Register) -> Expr:
    found: Expr = index
    for _ in range(draw(st.integers(1, 5))):
        type_ = draw(TYPES)
        found = found if found.type == type_ else Convert(type_, found)
        if type_ is not BOOL:
            op = draw(st.sampled_from([BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL]))
            other: Expr = Const(type_, type_.wrap(draw(NUMBERS)))
            if draw(st.booleans()):
                other = Convert(type_, index) if index.type != type_ else index
            left, right = (found, other) if draw(st.booleans()) else (other, found)
            found = Binary(type_, op, left, right)
    return found


def stands_for(distance: Distance, value: int) -> bool:
    start, step = distance
    return value == start if step == 0 else (value - start) % step == 0


def at_index(offset: Expr, type_: Scalar, value: int) -> int:
    found = constant(substitute(offset, 0, Const(type_, type_.wrap(value))))
    assert found is not None
    return found


@given(st.data(), TYPES.filter(lambda item: item is not BOOL), st.integers(-(1 << 63), 1 << 64))
def test_values_of_offsets(data: st.DataObject, type_: Scalar, value: int) -> None:
    offset = data.draw(offsets(Register(type_, 0, "i")))
    assert stands_for(distance_of(offset), at_index(offset, type_, value))


def test_an_index_that_wraps_around_keeps_a_power_of_two() -> None:
    scaled = Binary(U64, BinaryOp.MUL, Register(U64, 0, "i"), Const(U64, 24))
    wrapping = (1 << 64) // 24 + 1
    assert at_index(scaled, U64, wrapping) == 8
    assert distance_of(scaled) == (0, 8)
    narrow = Binary(U64, BinaryOp.MUL, Convert(U64, Register(U32, 0, "i")), Const(U64, 24))
    assert distance_of(narrow) == (0, 24)
    too_narrow = Binary(I32, BinaryOp.MUL, Register(I32, 0, "i"), Const(I32, 24))
    assert distance_of(Convert(I64, too_narrow)) == (0, 8)


@given(*[st.tuples(st.integers(-100, 100), st.integers(0, 60))] * 2, *[st.integers(-9, 9)] * 2)
@example((3, 24), (5, 0), 1, 0)
def test_sums(one: Distance, other: Distance, first: int, second: int) -> None:
    value = one[0] + first * one[1] + other[0] + second * other[1]
    assert stands_for(added(one, other), value)


@given(st.tuples(st.integers(-100, 100), st.integers(0, 60)), st.lists(st.integers(-9, 9)))
def test_walks(one: Distance, steps: list[int]) -> None:
    assert stands_for(repeated(one), sum(one[0] + step * one[1] for step in steps))


def test_what_goes_far_may_have_wrapped_around() -> None:
    assert added((0, 24), ((1 << 64) - 16, 0)) == ANYWHERE
    assert repeated(((1 << 64) - 1, 0)) == ANYWHERE
