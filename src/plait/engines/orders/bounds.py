"""How often loops, recursive functions and threads that start threads are unrolled.

Not all to the same bound: what no execution exceeds stays where it is while the others go on. At
`level` K the search is complete when only what is unrolled K times can be exceeded. Then all
executions with up to K rounds have been looked at: in one that exceeds a smaller bound, the first
to do so would do it while all others are within theirs, and that was found to be impossible.
"""

from __future__ import annotations

from dataclasses import dataclass

Key = tuple[str, int]  # a function and the head of a loop; the other two have no head

THREADS: Key = ("", -1)


def recursion_of(function: str) -> Key:
    return function, -1


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is in `raised` is unrolled `level` times, everything else `least` times."""

    level: int
    least: int
    raised: frozenset[Key] = frozenset()

    @staticmethod
    def same(level: int) -> Bounds:
        return Bounds(level, level)

    def of(self, key: Key) -> int:
        return self.level if key in self.raised else self.least

    def is_complete(self, exceeded: frozenset[Key]) -> bool:
        return self.least == self.level or exceeded <= self.raised

    def raise_(self, exceeded: frozenset[Key]) -> Bounds:
        """The bounds to go on with when these can be exceeded."""
        raised = self.raised | exceeded
        if self.is_complete(exceeded):
            return Bounds(2 * self.level, self.least, raised)
        return Bounds(self.level, self.least, raised)
