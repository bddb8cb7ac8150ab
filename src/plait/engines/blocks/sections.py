"""Whether the critical sections that are single steps of blocks may be that."""

from __future__ import annotations

from plait.analysis.critical_sections import BrokenLock, Discipline, Touch
from plait.engines.blocks.standings import Standing, Standings
from plait.symbolic.blocks import Block
from plait.symbolic.execute import Executor
from plait.symbolic.locations import Cell, Location, Status, Thread


class Sections:
    def __init__(self, executor: Executor, page_bits: int, standings: Standings) -> None:
        self._executor = executor
        self._discipline = Discipline(page_bits)
        self._standings = standings
        self._noted: set[tuple[int, int, Standing | None, int, Standing]] = set()
        self._kept: list[object] = []  # so that no id in `_noted` is used again
        # Values of locks in the middle of sections by who holds them, and who takes the lock where.
        self._held: dict[Cell, dict[tuple[int, int], None]] = {}
        self._takers: dict[Cell, dict[tuple[int, Thread], Location]] = {}
        self._before_locks: list[tuple[Location, int, Block]] = []
        self.used: dict[Cell, None] = {}

    def note(self, location: Location, number: int, block: Block) -> None:
        """The block of a thread at a location. Raises BrokenLock."""
        # Nothing is compared as long as nobody has taken a lock.
        self._before_locks.append((location, number, block))
        if self._executor.locks:
            waiting, self._before_locks = self._before_locks, []
            for item in waiting:
                self._note(*item)

    def _note(self, location: Location, number: int, block: Block) -> None:
        thread = location.threads[number - 1]
        standing = Discipline.ANYWHERE if thread.lock else self._standings.of(thread)
        others = []
        for other, item in enumerate(location.threads, 1):
            if other == number or item.status is not Status.RUNNING:
                continue
            stands = self._standings.of(item)
            key = id(block.accesses), number, standing, other, stands
            if key not in self._noted:
                self._noted.add(key)
                others.append((other, stands))
        if others:
            self._kept.append(block.accesses)
            # A lock that is free as before counts as read in a step; in the middle it is not free.
            touches = {
                Touch(
                    item.address,
                    item.size,
                    item.is_write or item.address == item.lock,
                    item.lock,
                )
                for item in block.accesses
            }
            self._discipline.note(number, standing, touches, others)
        for lock, value in block.held:
            self._note_lock(location, number, lock, value)

    # --- whoever finds a lock held is blocked

    def _note_lock(self, location: Location, number: int, lock: Cell, value: int) -> None:
        self.used[lock] = None
        held = self._held.setdefault(lock, {})
        takers = self._takers.setdefault(lock, {})
        if (number, value) not in held:
            held[number, value] = None
            for (taker, _), place in takers.items():
                self._check_blocked(place, taker, lock, number, value)
        thread = location.threads[number - 1]
        if not thread.lock and (number, thread) not in takers:
            takers[number, thread] = location
            for holder, seen in held:
                self._check_blocked(location, number, lock, holder, seen)

    def _check_blocked(
        self, location: Location, taker: int, lock: Cell, holder: int, value: int
    ) -> None:
        if taker == holder:
            return
        if not self._executor.is_blocked_by(location, taker, lock, value):
            raise BrokenLock(lock[0], "a thread goes on where another one holds it")
