"""Persistent sets of one thread: nodes at which it is enough that one thread takes its step.

A node whose `persistent` is T is expanded by T alone, if nothing that the others may still do
conflicts with T's step, and that step cannot come to nothing. What others may still do is a guess
(`plait.analysis.futures`). When the tree is complete, each step in it is compared with those that
were taken ahead of it: `pending` at a node are the accesses of steps of T at persistent nodes since
T was last expanded together with the others. Where they conflict, the guess was wrong. That no
thread goes round in circles ahead of the others is ensured by the standing of T: it is in no loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from plait.analysis.critical_sections import BrokenLock, Touch
from plait.analysis.futures import NOTHING, Footprint, Futures
from plait.data import replace
from plait.engines.blocks.certificate import Row
from plait.engines.blocks.standings import Standing, Standings
from plait.errors import UnsupportedCode
from plait.symbolic.blocks import Block, Kind
from plait.symbolic.execute import Executor
from plait.symbolic.knowledge import Knowledge
from plait.symbolic.locations import Location, Status, Thread

_MOST_REHEARSED = 1000  # places of threads

BlockAt = Callable[[Location, int], Block]


class PersistentSets:
    def __init__(self, knowledge: Knowledge, executor: Executor, standings: Standings) -> None:
        self._knowledge = knowledge
        self._executor = executor
        self._standings = standings
        self._futures = Futures()
        self._footprints: dict[int, tuple[object, Footprint]] = {}
        self._loops: dict[Thread, bool] = {}
        # Where threads may be stopped in the middle of a step, which then has not happened.
        self._stops: set[tuple[int, Standing]] = set()

    # --- what was seen

    def rehearse(self) -> None:
        """See what threads do one by one, without caring for what they depend on: where they come
        to some place first, with the values that are known there, and again without."""
        start = self._executor.start()
        pending = [(start, 1)]
        seen = {(1, self._standings.of(start.threads[0]))}
        count = 0
        while pending and count < _MOST_REHEARSED:
            location, number = pending.pop()
            count += 1
            for values_of in (_as_it_is, self._without_values):
                at = values_of(location, number)
                try:
                    block = self._executor.block(at, number)
                except (UnsupportedCode, BrokenLock):
                    continue  # perhaps nobody ever comes here
                self.note(at, number, block)
                for way in block.ways:
                    if way.target is None:
                        continue
                    threads = way.target.threads
                    for moved in (number, *range(len(at.threads) + 1, len(threads) + 1)):
                        stand = moved, self._standings.of(threads[moved - 1])
                        if stand not in seen and threads[moved - 1].status is Status.RUNNING:
                            seen.add(stand)
                            pending.append((way.target, moved))

    def _without_values(self, location: Location, number: int) -> Location:
        """Without known values that are no addresses: a thread may go any way that they decide."""
        least = 1 << self._knowledge.page_bits
        known = self._executor.memory.initially_known | dict(location.cells)
        cells = dict(location.cells)
        cells |= {
            cell: None for cell, value in known.items() if value is not None and value < least
        }
        thread = location.threads[number - 1]
        frames = tuple(
            replace(frame, registers=tuple(item for item in frame.registers if item[1] >= least))
            for frame in thread.frames
        )
        threads = list(location.threads)
        threads[number - 1] = replace(thread, frames=frames)
        return Location(tuple(threads), location.heap, tuple(sorted(cells.items())))

    def note(self, location: Location, number: int, block: Block) -> None:
        behind = set()
        for way in block.ways:
            if way.target is not None:
                threads = way.target.threads
                behind.add((number, self._standings.of(threads[number - 1])))
                for new in range(len(location.threads), len(threads)):
                    behind.add((new + 1, self._standings.of(threads[new])))
        stand = number, self._standings.of(location.threads[number - 1])
        self._futures.note(stand, self._footprint(block), behind)
        if block.may_stop:
            self._stops.add(stand)

    def _footprint(self, block: Block) -> Footprint:
        known = self._footprints.get(id(block.accesses))
        if known is None:
            rows = (
                Touch(item.address, item.size, item.is_write, item.lock) for item in block.accesses
            )
            known = block.accesses, self._futures.granules.footprint(rows)
            self._footprints[id(block.accesses)] = known
        return known[1]

    # --- the choice

    def choose(
        self, location: Location, threads: list[int], block_of: Callable[[int], Block]
    ) -> int:
        """A thread that is a persistent set; 0 if none seems to be one."""
        if len(threads) < 2:
            return 0
        others = self._futures_of_others(location)
        for number in threads:
            thread = location.threads[number - 1]
            stand = number, self._standings.of(thread)
            if self.is_in_loop(thread) or stand in self._stops:
                continue
            block = block_of(number)
            if block.may_block or block.spawns or block.ends_process or block.pauses_in_section:
                continue
            if not block.ways or any(way.kind is not Kind.MOVE for way in block.ways):
                continue
            if not self._footprint(block).conflicts_with(others[number]):
                return number
        return 0

    def _futures_of_others(self, location: Location) -> dict[int, Footprint]:
        """What all running threads but one may still do, for each of them."""
        running = [
            (number, self._futures.of((number, self._standings.of(item))))
            for number, item in enumerate(location.threads, 1)
            if item.status is Status.RUNNING
        ]
        found: dict[int, Footprint] = {}
        before = behind = NOTHING
        for number, future in running:
            found[number] = before
            before |= future
        for number, future in reversed(running):
            found[number] |= behind
            behind |= future
        return found

    def is_in_loop(self, thread: Thread) -> bool:
        found = self._loops.get(thread)
        if found is None:
            shape = self._knowledge.shape
            found = self._loops[thread] = any(
                shape(frame.function).is_in_loop(frame.location) for frame in thread.frames
            )
        return found

    # --- the check

    def mistaken(self, rows: list[Row], block_at: BlockAt) -> list[int]:
        """The nodes of a complete tree at which one thread alone is not enough."""
        found: dict[int, None] = {}
        ahead = [(place, row) for place, row in enumerate(rows) if row.persistent]
        for place, row in ahead:
            stands = self._standings.of(row.location.threads[row.persistent - 1])
            if (row.persistent, stands) in self._stops:
                found[place] = None
        for location, thread, against in self._conflicts(rows, block_at) if ahead else ():
            made = self._footprint(block_at(location, thread))  # by the step that comes too late
            for place, row in ahead:
                if row.persistent == against:
                    step = self._footprint(block_at(row.location, against))
                    if step.conflicts_with(made):
                        found[place] = None
        return list(found)

    def _conflicts(self, rows: list[Row], block_at: BlockAt) -> Iterable[tuple[Location, int, int]]:
        """Steps that conflict with what a thread has done ahead of them."""
        children: list[list[int]] = [[] for _ in rows]
        for place, row in enumerate(rows):
            if row.parent is not None:
                children[row.parent].append(place)
        pending: dict[int, dict[int, Footprint]] = {0: {}}
        queue = [0]
        found: dict[tuple[Location, int, int], None] = {}
        while queue:
            place = queue.pop()
            row, at = rows[place], pending[place]
            if row.cover is not None:
                _flow(pending, queue, row.cover, at)
                continue
            for thread in row.expanded:
                step = self._footprint(block_at(row.location, thread))
                for other, done in at.items():
                    if other != thread and step.conflicts_with(done):
                        found[row.location, thread, other] = None
            for child in children[place]:
                thread = rows[child].thread
                flow = dict(at)
                if row.persistent == thread:
                    step = self._footprint(block_at(row.location, thread))
                    flow[thread] = at.get(thread, NOTHING) | step
                else:
                    flow.pop(thread, None)
                _flow(pending, queue, child, flow)
        return found


def _as_it_is(location: Location, number: int) -> Location:
    return location


def _flow(
    pending: dict[int, dict[int, Footprint]],
    queue: list[int],
    place: int,
    flow: dict[int, Footprint],
) -> None:
    before = pending.get(place)
    if before is None:
        pending[place] = dict(flow)
        queue.append(place)
        return
    grows = False
    for thread, done in flow.items():
        old = before.get(thread, NOTHING)
        new = old | done
        if new != old:
            before[thread] = new
            grows = True
    if grows:
        queue.append(place)
