"""How much the runs have seen: places in the program, and pairs of conflicting accesses."""

from __future__ import annotations

from plait.hunt.dependence import Access, accesses, conflict, granules
from plait.hunt.trace import CHOICE, PENDING, Trace

_LONGEST = 3000  # records of a run whose pairs are counted


class Coverage:
    def __init__(self) -> None:
        self.schedules: set[int] = set()
        self.places: set[int] = set()
        self.ends = 0  # runs that came to an end
        self._pairs: set[tuple[int, int]] = set()

    def add(self, trace: Trace) -> None:
        self.schedules.add(trace.fingerprint())
        if trace.count > _LONGEST:
            return
        last: dict[int, tuple[int, int, Access]] = {}
        for operation in trace:
            if operation.kind in (CHOICE, PENDING) or not operation.pc:
                continue
            self.places.add(operation.pc)
            for access in accesses(operation):
                for granule in granules(access):
                    earlier = last.get(granule)
                    if earlier is not None and earlier[0] != operation.thread:
                        if conflict(earlier[2], access):
                            self._pairs.add((earlier[1], operation.pc))
                    last[granule] = operation.thread, operation.pc, access

    @property
    def pairs(self) -> int:
        return len({(min(pair), max(pair)) for pair in self._pairs})

    @property
    def pairs_in_both_orders(self) -> int:
        both = [pair for pair in self._pairs if (pair[1], pair[0]) in self._pairs]
        return len({(min(pair), max(pair)) for pair in both})
