"""How often loops, recursive functions and threads that start threads are unrolled, and how large
an object can be whose size is not known.

Not all to the same bound: what no execution exceeds stays where it is while the others go on. At
`level` K the search is complete when only what is unrolled K times can be exceeded. Then all
executions with up to K rounds have been looked at: in one that exceeds a smaller bound, the first
to do so would do it while all others are within theirs, and that was found to be impossible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from plait.data import dataclass, field, replace
from plait.model.facts import Fact, Rounds, Unreachable

Key = tuple[str, int]  # a function and the head of a loop; the others are made by what follows

THREADS: Key = ("", -1)


def recursion_of(function: str) -> Key:
    return function, -1


def entry_of(function: str, location: int) -> Key:
    """Stands for getting to a location."""
    return function, -2 - location


def sizes_of(function: str, location: int) -> Key:
    """Stands for the sizes of what is allocated at a location."""
    return f"sizes in {function}", location


def arrays_of(function: str) -> Key:
    """Stands for what is reached by an index outside of an array."""
    return f"arrays in {function}", 0


def places_of(function: str) -> Key:
    """Stands for the places far behind the first ones of a large object."""
    return f"places in {function}", 0


def is_array(key: Key) -> bool:
    return key[0].startswith("arrays in ")


@dataclass(frozen=True, slots=True)
class Hints:
    """What others have proved: how many rounds loops take at most, and where no thread ever gets
    to. It is checked like any other bound, so that a hint that is wrong costs time only."""

    rounds: Mapping[Key, int] = field(default_factory=dict)
    unreachable: frozenset[Key] = frozenset()

    @staticmethod
    def of(facts: Iterable[Fact]) -> Hints:
        rounds: dict[Key, int] = {}
        unreachable: set[Key] = set()
        for fact in facts:
            match fact:
                case Rounds(function, head, most):
                    rounds[function, head] = most
                case Unreachable(function, location):
                    unreachable.add(entry_of(function, location))
        return Hints(rounds, frozenset(unreachable))


NO_HINTS = Hints()


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is in `raised` is unrolled `level` times, everything else `least` times. First of all an
    index stays in its array: an execution in which it does not exceeds the bound, too."""

    level: int
    least: int
    raised: frozenset[Key] = frozenset()
    hints: Hints = NO_HINTS
    open_arrays: frozenset[Key] = frozenset()  # an index may lead out of these

    @staticmethod
    def same(level: int, hints: Hints = NO_HINTS) -> Bounds:
        return Bounds(level, level, hints=hints)

    def is_closed(self, function: str, location: int) -> bool:
        """Whether the location is not entered, because nobody gets there."""
        if not self.hints.unreachable:
            return False
        key = entry_of(function, location)
        return key in self.hints.unreachable and key not in self.raised

    def of(self, key: Key) -> int:
        return self.level if key in self.raised else self.least

    def is_complete(self, exceeded: frozenset[Key]) -> bool:
        return self.least == self.level or exceeded <= self.raised

    def raise_(self, exceeded: frozenset[Key]) -> Bounds:
        """The bounds to go on with when these can be exceeded."""
        left = frozenset(key for key in exceeded if is_array(key))
        if left:
            return replace(self, open_arrays=self.open_arrays | left)
        raised = self.raised | exceeded
        if self.is_complete(exceeded):
            return replace(self, level=2 * self.level, raised=raised)
        return replace(self, raised=raised)
