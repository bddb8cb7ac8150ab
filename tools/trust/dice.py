"""Random choices that are the same for a seed in every version of Python."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

Item = TypeVar("Item")


class Dice:
    """Uses only `getrandbits`, whose stream for a seed is fixed; `choice` and others may change."""

    def __init__(self, seed: int) -> None:
        self._bits = Random(seed).getrandbits

    def below(self, count: int) -> int:
        return self._bits(32) % count

    def between(self, low: int, high: int) -> int:
        return low + self.below(high - low + 1)

    def chance(self, percent: int) -> bool:
        return self.below(100) < percent

    def bits(self, count: int) -> int:
        return self._bits(count)

    def pick(self, items: Sequence[Item]) -> Item:
        return items[self.below(len(items))]

    def weighted(self, items: Sequence[tuple[int, Item]]) -> Item:
        point = self.below(sum(weight for weight, _ in items))
        for weight, item in items:
            point -= weight
            if point < 0:
                return item
        raise AssertionError("weights add up to their sum")

    def some(self, items: Sequence[Item], count: int) -> list[Item]:
        """`count` different items (or all) in random order."""
        left = list(items)
        chosen: list[Item] = []
        while left and len(chosen) < count:
            chosen.append(left.pop(self.below(len(left))))
        return chosen
