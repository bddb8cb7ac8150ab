"""Abstract values: an interval of numbers, and places in objects that the value may point to.

A value is `None` (nothing is known: any number, or no value yet) or a triple of the least and the
greatest number, and the places. It stands for the numbers in between and for the addresses of the
places; there are no numbers where the least exceeds the greatest. A place is an object's number and
the offsets `low`, `low + step`, ... up to `high` in it.

An address is not among the numbers: what arithmetic makes of one is any number, of which nobody
knows the provenance (see `memory` for what an access through it means).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from math import gcd

from plait.model.types import Kind, Scalar

Place = tuple[int, int, int, int]
Number = tuple[int, int, tuple[()]]
Value = tuple[int, int, tuple[Place, ...]] | None

ZERO: Value = (0, 0, ())
ONE: Value = (1, 1, ())
TRUTH: Value = (0, 1, ())


def constant(number: int) -> Value:
    return (number, number, ())


def between(low: int, high: int) -> Value:
    return (low, high, ())


def pointer(number: int, offset: int = 0) -> Value:
    return (1, 0, ((number, offset, offset, 0),))


def top(scalar: Scalar) -> Value:
    """Any number of a type."""
    return None if scalar.kind is Kind.FLOAT else (scalar.minimum, scalar.maximum, ())


def is_empty(value: Value) -> bool:
    return value is not None and value[0] > value[1] and not value[2]


def may_be_zero(value: Value) -> bool:
    """An address is never 0: the null page belongs to no object."""
    return value is None or value[0] <= 0 <= value[1]


def may_be_other_than_zero(value: Value) -> bool:
    return value is None or value[0] < 0 or value[1] > 0 or bool(value[2])


def join(one: Value, other: Value) -> Value:
    if one == other:
        return one
    if one is None or other is None:
        return None
    if one[0] > one[1]:
        low, high = other[0], other[1]
    elif other[0] > other[1]:
        low, high = one[0], one[1]
    else:
        low, high = min(one[0], other[0]), max(one[1], other[1])
    return low, high, _joined_places(one[2], other[2])


def _joined_places(one: tuple[Place, ...], other: tuple[Place, ...]) -> tuple[Place, ...]:
    if not one or one == other:
        return other
    if not other:
        return one
    found = {place[0]: place for place in one}
    for place in other:
        known = found.get(place[0])
        found[place[0]] = place if known is None else _spanned(known, place)
    return tuple(sorted(found.values()))


def _spanned(one: Place, other: Place) -> Place:
    if one == other:
        return one
    step = gcd(one[3], other[3], one[1] - other[1])
    return one[0], min(one[1], other[1]), max(one[2], other[2]), step


def covers(larger: Value, smaller: Value) -> bool:
    return join(larger, smaller) == larger


class Thresholds:
    """Where bounds that keep growing stop: constants of the program and ends of types."""

    def __init__(self, constants: Iterable[int]) -> None:
        numbers = {0, 1, -1}
        for item in constants:
            numbers.update((item - 1, item, item + 1))
        for bits in (8, 16, 32, 64, 128):
            numbers.update((-(1 << bits - 1), (1 << bits - 1) - 1, (1 << bits) - 1))
        self._numbers = sorted(numbers)

    def widened(self, old: Value, new: Value) -> Value:
        """At least both, and after finitely many times the same."""
        value = join(old, new)
        if value == old or old is None or value is None:
            return value
        low, high, places = value
        if low < old[0] <= old[1]:
            index = bisect_right(self._numbers, low) - 1
            if index < 0:
                return None
            low = self._numbers[index]
        if high > old[1] >= old[0]:
            index = bisect_left(self._numbers, high)
            if index == len(self._numbers):
                return None
            high = self._numbers[index]
        before = {place[0]: place for place in old[2]}
        return low, high, tuple(_widened_place(before.get(p[0]), p) for p in places)


_FAR = 1 << 62


def _widened_place(old: Place | None, new: Place) -> Place:
    """Offsets that grow are any: the access or the arithmetic that uses them cuts them."""
    if old is None or old == new:
        return new
    low = new[1] if new[1] >= old[1] else -_FAR
    high = new[2] if new[2] <= old[2] else _FAR
    if low == -_FAR or high == _FAR:
        # Congruence is kept relative to the end that stayed, else forgotten.
        step = new[3] if low != -_FAR else 1
        return new[0], low, high, step
    return new


def converted(value: Value, scalar: Scalar) -> Value:
    """The bits of a value, taken as an integer or pointer type of at least its width."""
    if value is None:
        return top(scalar)
    if scalar.kind is Kind.FLOAT:
        return None
    low, high, places = value
    if scalar.is_bool:
        if places or not (0 <= low and high <= 1):
            return join(_truth(low, high), ONE if places else _truth(low, high))
        return value
    if low <= high and not (scalar.minimum <= low and high <= scalar.maximum):
        wrapped = scalar.wrap(low)
        if high - low < 1 << scalar.bits and wrapped + (high - low) <= scalar.maximum:
            return wrapped, wrapped + (high - low), places
        return scalar.minimum, scalar.maximum, places
    return value


def _truth(low: int, high: int) -> Value:
    if low > high:
        return (1, 0, ())
    return int(not low <= 0 <= high), int(low != 0 or high != 0), ()
