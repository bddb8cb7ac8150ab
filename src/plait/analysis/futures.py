"""What threads may still access, as far as their steps were seen: for persistent sets.

A thread alone is a *persistent set* at a state if nothing that the others can still do there, with
or without each other, conflicts with its next step: then it is enough to take that step first
(Godefroid). What others can still do is not known in advance. Whoever explores states notes here
the steps that were taken, by where the thread stood before and after, and asks what can be
reached from there by such steps. That is a good guess, and later it is checked: if a step is seen
that conflicts with one that was taken ahead of it, the other threads are made up for.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple

from plait.analysis.critical_sections import Touch

# A thread's number and where it stands.
Stand = tuple[int, Hashable]

_GRANULE = 4  # bytes that are told apart


class Footprint(NamedTuple):
    """Bit sets of granules of memory, as numbered by `Granules`. `locks` are those of locks that
    the step has taken and released: all but such steps may notice that."""

    reads: int
    writes: int
    locks: int = 0

    def conflicts_with(self, other: Footprint) -> bool:
        return bool(
            self.writes & (other.reads | other.writes | other.locks)
            or other.writes & (self.reads | self.locks)
            or self.locks & other.reads
            or other.locks & self.reads
        )

    def __or__(self, other: Footprint) -> Footprint:
        reads, writes, locks = other
        return Footprint(self.reads | reads, self.writes | writes, self.locks | locks)


NOTHING = Footprint(0, 0)


class Granules:
    """Numbers for pieces of memory. Accesses to a common byte have a common granule."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def footprint(self, touches: Iterable[Touch]) -> Footprint:
        reads = writes = locks = 0
        for address, size, is_write, lock in touches:
            mask = self._mask(address, size)
            if is_write:
                writes |= mask
            elif lock == address:
                locks |= mask
            else:
                reads |= mask
        return Footprint(reads, writes, locks)

    def _mask(self, address: int, size: int) -> int:
        mask = 0
        for granule in range(address // _GRANULE, (address + max(size, 1) - 1) // _GRANULE + 1):
            number = self._numbers.setdefault(granule, len(self._numbers))
            mask |= 1 << number
        return mask


class Futures:
    def __init__(self) -> None:
        self.granules = Granules()
        self._steps: dict[Stand, Footprint] = {}
        self._next: dict[Stand, set[Stand]] = {}
        self._known: dict[Stand, Footprint] = {}

    def note(self, stand: Stand, footprint: Footprint, behind: Iterable[Stand]) -> None:
        """A step of a thread, with where it stands then, and threads that it has started."""
        before = self._steps.get(stand, NOTHING)
        after = before | footprint
        following = self._next.setdefault(stand, set())
        size = len(following)
        following.update(behind)
        if after != before or len(following) != size:
            self._steps[stand] = after
            self._known.clear()

    def of(self, stand: Stand) -> Footprint:
        """All that the thread and those that it starts may access from here on."""
        found = self._known.get(stand)
        if found is None:
            found = NOTHING
            seen = {stand}
            pending = [stand]
            while pending:
                item = pending.pop()
                found |= self._steps.get(item, NOTHING)
                new = self._next.get(item, set()) - seen
                seen |= new
                pending += new
            self._known[stand] = found
        return found
