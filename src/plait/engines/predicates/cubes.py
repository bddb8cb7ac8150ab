"""Predicates and their conjunctions.

A predicate is a term; it and its negation are *literals*, numbered 2k and 2k + 1. A *cube* is a
conjunction of literals, as an integer with a bit for each; a *region* is a disjunction of cubes. A
cube with more literals has fewer states.
"""

from __future__ import annotations

from collections.abc import Iterable

from plait.engines.blocks.bitsets import numbers
from plait.logic.operators import NOT
from plait.logic.terms import Terms

Cube = int
Region = tuple[Cube, ...]

EVERYTHING: Region = (0,)
NOTHING: Region = ()


class Literals:
    """The predicates that were ever used at some location, by number."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._numbers: dict[int, int] = {}
        self.terms: list[int] = []

    def of(self, predicate: int) -> int:
        """The literal that is the predicate; its negation has the number behind it."""
        if self._terms.operator[predicate] == NOT:
            predicate = self._terms.operands[predicate][0]
        found = self._numbers.get(predicate)
        if found is None:
            found = self._numbers[predicate] = len(self.terms)
            self.terms += (predicate, self._terms.not_(predicate))
        return found

    def of_cube(self, cube: Cube) -> list[int]:
        """Its terms."""
        return [self.terms[number] for number in numbers(cube)]

    def conjuncts(self, region: Region) -> list[int]:
        """A region as a conjunction: what all its cubes have in common, and which of them it is."""
        common = region[0]
        for cube in region[1:]:
            common &= cube
        found = self.of_cube(common)
        if len(region) > 1:
            terms = self._terms
            parts = (terms.all_of(self.of_cube(cube & ~common)) for cube in region)
            found.append(terms.any_of(parts))
        return [term for term in found if term != self._terms.true]


def implies(region: Region, weaker: Region) -> bool:
    """Whether it can be seen that all states of a region are in another one."""
    return all(any(not other & ~cube for other in weaker) for cube in region)


def joined(cubes: Iterable[Cube]) -> Region:
    """Cubes, without those that are in others."""
    found: list[Cube] = []
    for cube in sorted(set(cubes), key=lambda item: (item.bit_count(), item)):
        if not any(not other & ~cube for other in found):
            found.append(cube)
    return tuple(sorted(found))


def merged(cubes: Iterable[Cube]) -> Region:
    """The same region with fewer cubes: two that differ in the sign of one literal are one."""
    left = set(cubes)
    changed = True
    while changed:
        changed = False
        for cube in sorted(left):
            if cube not in left:
                continue
            for number in numbers(cube):
                other = cube ^ (3 << (number & ~1))
                if other in left:
                    left -= {cube, other}
                    left.add(cube & ~(1 << number))
                    changed = True
                    break
    return joined(left)
