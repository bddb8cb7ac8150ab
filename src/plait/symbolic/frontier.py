"""The runs of a block that are still to be followed: one after the other, or such that meet as one.

For runs to meet, the one that is furthest behind goes first: by the order of the control flow, in
the outermost function first, and behind all others once it has gone back to the head of a loop. So
all ways into a place have come there before anybody goes on.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable
from typing import Protocol

from plait.data import dataclass
from plait.symbolic.knowledge import Knowledge
from plait.symbolic.merging import Merger, shape_of
from plait.symbolic.run import Run, Standing

# If there are more runs than this, merging them becomes more important than explicit values.
MANY_RUNS = 32


class Frontier(Protocol):
    def __len__(self) -> int: ...

    def add(self, run: Run) -> None: ...

    def next(self) -> Run: ...

    def keeps(self, run: Run) -> bool:
        """Whether a run stays here, at a place where others may come to."""
        ...


class Paths:
    """Every run on its own, the newest first."""

    def __init__(self) -> None:
        self._runs: list[Run] = []

    def __len__(self) -> int:
        return len(self._runs)

    def add(self, run: Run) -> None:
        self._runs.append(run)

    def next(self) -> Run:
        return self._runs.pop()

    def keeps(self, run: Run) -> bool:
        return False


@dataclass(slots=True, eq=False)
class _Entry:
    run: Run
    key: Hashable = None  # of a run that waits for others to be merged with


class Meetings:
    """Runs that wait for each other where paths meet."""

    def __init__(self, knowledge: Knowledge, merger: Merger) -> None:
        self._knowledge = knowledge
        self._merger = merger
        self._heap: list[tuple[tuple[tuple[int, int], ...], int, _Entry]] = []
        self._waiting: dict[Hashable, list[_Entry]] = {}
        self._count = 0

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, run: Run) -> None:
        self._push(_Entry(run))

    def next(self) -> Run:
        entry = heapq.heappop(self._heap)[2]
        if entry.key is not None:
            self._waiting[entry.key].remove(entry)
        return entry.run

    def keeps(self, run: Run) -> bool:
        if not self._heap:
            return False
        ahead = visited_ahead(self._knowledge, run)
        key = shape_of(run), ahead
        waiting = self._waiting.setdefault(key, [])
        for entry in waiting:
            by_force = len(self._heap) > MANY_RUNS
            merged = self._merger.merged(entry.run, run, by_force=by_force)
            if merged is not None:
                merged.visited = set(ahead)
                entry.run = merged
                return True
        entry = _Entry(run, key)
        waiting.append(entry)
        self._push(entry)
        return True

    def _push(self, entry: _Entry) -> None:
        self._count += 1
        heapq.heappush(self._heap, (self._progress(entry.run), self._count, entry))

    def _progress(self, run: Run) -> tuple[tuple[int, int], ...]:
        """How far a run has come. (Ranks are those of a postorder: they fall.)"""
        around = [
            (0, -self._knowledge.shape(frame.function).rank[frame.location])
            for frame in run.suspended
        ]
        for frame in run.frames:
            is_inner = frame is run.frame or frame.call is None
            location = run.location if is_inner or frame.call is None else frame.call.source
            around.append((frame.laps, -frame.shape.rank[location]))
        return tuple(around)


def visited_ahead(knowledge: Knowledge, run: Run) -> frozenset[Standing]:
    """Where a run has been and can come to again, before it comes to any other such place. A block
    ends there, so that of all that a run has visited only this says what becomes of it."""
    found: set[Standing] = set()
    name = run.frame.shape.function.name
    for level, (function, position) in enumerate((*run.stack, (name, run.location))):
        shape = knowledge.shape(function)
        ahead = shape.ahead(position)
        stack = run.stack[:level]
        here: dict[int, Standing] = {}
        inside: dict[int, list[Standing]] = {}  # in functions called from here
        for standing in run.visited:
            if standing[0] == stack and standing[1] == function:
                if ahead >> standing[2] & 1:
                    here[standing[2]] = standing
            elif standing[0][:level] == stack and len(standing[0]) > level:
                caller, source = standing[0][level]
                if caller == function and ahead >> source & 1:
                    inside.setdefault(source, []).append(standing)
        if not here and not inside:
            continue
        pending = [position]
        seen: set[int] = set()
        while pending:
            for edge in shape.function.edges[pending.pop()]:
                place = edge.target
                if place < 0 or place in seen:
                    continue
                seen.add(place)
                if place in here:
                    found.add(here[place])
                    continue
                found.update(inside.get(place, ()))
                pending.append(place)
    return frozenset(found)
