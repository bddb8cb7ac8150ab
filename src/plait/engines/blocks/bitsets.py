"""Sets of small numbers as integers with a bit for each."""

from __future__ import annotations

from collections.abc import Iterable


def numbers(items: int) -> list[int]:
    found = []
    while items:
        low = items & -items
        found.append(low.bit_length() - 1)
        items ^= low
    return found


def as_set(found: Iterable[int]) -> int:
    result = 0
    for number in found:
        result |= 1 << number
    return result
