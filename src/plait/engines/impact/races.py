"""Data races as a property of nodes: two threads whose next steps make conflicting accesses.

Two accesses race if they are next in one reachable state (docs/properties.md). The states of nodes
are enough to see all such pairs, although the tree has few interleavings:

- Let E lead to a state in which T1 is before an access A and T2 before B, and A and B race.
  Following E through the tree (docs/certificates.md) one comes to a node n at which all steps of E
  were made, and others at most by threads that went ahead of what E has. If neither T1 nor T2 has,
  they stand before A and B at n. So at each node all threads are looked at, also those that are
  not expanded.
- If T2 went ahead with a step that makes B, it did so at a persistent node, and where the other
  one's access A is expanded behind that, it is compared with it (`PersistentSets.mistaken`).
- If T1 is in the middle of a critical section that is one step, or is about to take the lock, there
  is an execution in which somebody conflicts with the section. Either it does not keep to the lock,
  which `Discipline` notices, or it is in a section of the same lock, which it could not have taken.
- Accesses of one step behind its first are those of a section, which are atomic, those of a
  critical section, or local ones, which nobody else makes. A section that is not one block has
  nodes in the middle, at which nobody else steps; its later accesses would have to be compared with
  what the others are about to do before it. Such programs have no proof (`_look_for_races`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from plait.data import dataclass
from plait.logic.terms import Terms
from plait.symbolic.blocks import Access, Block, Kind, Manner, Way


@dataclass(frozen=True, slots=True, eq=False)
class PossibleRace:
    """`condition` is that of both ways and of both accesses, over the state before them."""

    threads: tuple[int, int]
    ways: tuple[Way, Way]
    condition: int

    @property
    def inputs(self) -> frozenset[int]:
        return frozenset(use.variable for way in self.ways for use in way.inputs)


class Races:
    """What a location's threads may do next to each other."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        # By the accesses of two blocks, which are kept so that no id is used again.
        self._meet: dict[tuple[int, int], bool] = {}
        self._kept: list[object] = []

    def at(self, threads: list[int], block_of: Callable[[int], Block]) -> list[PossibleRace]:
        blocks = {thread: block_of(thread) for thread in threads}
        return [
            PossibleRace((first, second), ways, condition)
            for position, first in enumerate(threads)
            for second in threads[position + 1 :]
            if self._may_race(blocks[first], blocks[second])
            for ways, condition in self._pairs(blocks[first], blocks[second])
        ]

    def _may_race(self, one: Block, other: Block) -> bool:
        key = id(one.accesses), id(other.accesses)
        found = self._meet.get(key)
        if found is None:
            self._kept += (one.accesses, other.accesses)
            found = self._meet[key] = any(_racing(one.accesses, other.accesses))
        return found

    def _pairs(self, one: Block, other: Block) -> Iterator[tuple[tuple[Way, Way], int]]:
        terms = self._terms
        for mine in _possible(one):
            for theirs in _possible(other):
                meeting = terms.any_of(
                    terms.all_of(item.when for item in pair if item.when is not None)
                    for pair in _racing(mine.accesses, theirs.accesses)
                )
                both = terms.all_of((*mine.step.assumes, *theirs.step.assumes, meeting))
                if both != terms.false:
                    yield (mine, theirs), both


def _possible(block: Block) -> list[Way]:
    """The ways of steps that are made. All others are shown to be impossible."""
    return [*(way for way in block.ways if way.kind is Kind.MOVE), *block.ends]


def _racing(one: Iterable[Access], other: Iterable[Access]) -> Iterator[tuple[Access, Access]]:
    for mine in one:
        if mine.manner is Manner.LIFE:
            continue
        for theirs in other:
            if (
                theirs.manner is not Manner.LIFE
                and Manner.PLAIN in (mine.manner, theirs.manner)
                and not (mine.lock or theirs.lock)
                and mine.conflicts_with(theirs)
            ):
                yield mine, theirs
