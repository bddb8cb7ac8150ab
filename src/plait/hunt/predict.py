"""What a recorded run says about runs that were not made: races and deadlocks of reorderings.

A reordering keeps a part of each thread's operations, from its beginning, in the order of the run.
It is possible if everything that an operation of the part needs is in it: what its thread did
before, the write whose value it reads, what has started its thread, the earlier operations on the
same semaphore, condition variable and so on, and, where two critical sections of a lock are in it,
the end of the first one. These are the sync-preserving races of Mathur, Pavlogiannis and
Viswanathan (POPL 2021) and the deadlocks of Tunc and others (PLDI 2023). Whatever is predicted is
only a schedule to try: it counts when the program has failed under it.

The order in which critical sections are entered is that of the run. More is possible when that
changes too; then another run has to show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plait.data import dataclass, field
from plait.hunt.dependence import accesses, granules
from plait.hunt.schedule import Decision, Pick, Schedule, Step
from plait.hunt.trace import CHOICE, PENDING, READ, SYNC, UPDATE, WRITE, Operation, Trace

LONGEST = 30_000  # records of a run that is looked at
_MOST_PAIRS = 24  # of accesses that are examined for one run
_LONGEST_CYCLE = 4
_ACQUIRES = frozenset(
    ("pthread_mutex_lock", "mtx_lock", "pthread_spin_lock")
    + tuple(
        f"{name}/lock"
        for name in (
            "pthread_cond_wait",
            "pthread_cond_timedwait",
            "pthread_cond_clockwait",
            "cnd_wait",
            "cnd_timedwait",
        )
    )
)
_RELEASES = frozenset(("pthread_mutex_unlock", "mtx_unlock", "pthread_spin_unlock"))
_WAITS = frozenset(
    ("pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait", "cnd_wait")
    + ("cnd_timedwait",)
)


@dataclass(slots=True, frozen=True)
class Prediction:
    """`key` says what it is about, so that nothing is tried too often."""

    key: tuple[object, ...]
    violated: str
    schedule: Schedule


@dataclass(slots=True, eq=False)
class _Event:
    """A step of the run, with what has to come before it in any reordering."""

    thread: int
    index: int  # among its thread's
    decisions: list[Decision]
    needs: list[int] = field(default_factory=list)
    acquires: int = 0  # a lock
    release: int = -1  # the number of the event that ends this critical section


@dataclass(slots=True, frozen=True)
class _Access:
    event: int
    thread: int
    pc: int
    is_write: bool
    is_atomic: bool
    held: frozenset[int]


@dataclass(slots=True, frozen=True)
class _Acquire:
    event: int
    thread: int
    lock: int
    held: frozenset[int]
    pc: int


class Reorderings:
    """The events of a run, and which of their reorderings are possible."""

    def __init__(self, trace: Trace) -> None:
        self._events: list[_Event] = []
        self._of_thread: dict[int, list[int]] = {}
        self._accesses: dict[int, dict[tuple[object, ...], _Access]] = {}  # by granule
        self._acquires: dict[tuple[object, ...], _Acquire] = {}
        self._locks: dict[int, list[int]] = {}  # the events that acquire each
        self._held: dict[int, dict[int, int]] = {}  # thread, lock: the event that has acquired it
        self._last_write: dict[int, int] = {}
        self._last_of: dict[int, int] = {}  # the last event on each other object
        self._event_of: list[int] = []  # of each record
        for operation in trace:
            self._add(operation)

    def predictions(self) -> Iterator[Prediction]:
        yield from self._deadlocks()
        yield from self._races()

    # --- the run as events

    def _add(self, operation: Operation) -> None:
        if operation.kind == PENDING:
            return
        mine = self._of_thread.setdefault(operation.thread, [])
        if operation.kind == CHOICE:
            if mine:
                self._events[mine[-1]].decisions.append(Pick(operation.value or 0))
        elif operation.is_step or not mine:
            mine.append(len(self._events))
            step = Step(operation.thread)
            self._events.append(_Event(operation.thread, len(mine) - 1, [step]))
            self._look_at(operation, mine[-1])
        else:
            self._look_at(operation, mine[-1])
        self._event_of.append(mine[-1] if mine else -1)

    def _look_at(self, operation: Operation, number: int) -> None:
        event = self._events[number]
        if operation.name == "start" and operation.value:
            event.needs.append(self._event_of[operation.value - 1])
        if operation.kind == SYNC:
            self._synchronise(operation, number)
            return
        if operation.is_step:
            self._remember(operation, number)
        for access in accesses(operation):
            for granule in granules(access):
                last = self._last_write.get(granule, -1)
                if last >= 0 and operation.kind != WRITE:
                    event.needs.append(last)
                if operation.kind in (WRITE, UPDATE):
                    if last >= 0 and (access.end - access.first < 8 or operation.name):
                        event.needs.append(last)  # the rest of the granule stays what it was
                    self._last_write[granule] = number

    def _remember(self, operation: Operation, number: int) -> None:
        if not operation.pc:
            return
        held = frozenset(self._held.get(operation.thread, ()))
        is_write = operation.kind != READ
        row = _Access(number, operation.thread, operation.pc, is_write, operation.is_atomic, held)
        key = (operation.thread, operation.pc, is_write, held)
        for access in accesses(operation):
            for granule in granules(access):
                self._accesses.setdefault(granule, {}).setdefault(key, row)

    def _synchronise(self, operation: Operation, number: int) -> None:
        event, held = self._events[number], self._held.setdefault(operation.thread, {})
        lock = operation.address
        if operation.name in _ACQUIRES and lock:
            if lock not in held:
                row = _Acquire(number, operation.thread, lock, frozenset(held), operation.pc)
                self._acquires.setdefault((operation.thread, lock, row.held), row)
                held[lock] = number
                event.acquires = lock
                self._locks.setdefault(lock, []).append(number)
            return
        if operation.name in _RELEASES and lock in held:
            self._events[held.pop(lock)].release = number
            return
        if operation.name in _WAITS and operation.other in held:
            self._events[held.pop(operation.other)].release = number
        objects = [operation.address, -1 if operation.is_outside else 0]
        if operation.name not in _WAITS:
            objects.append(operation.other)
        for item in objects:
            if item:
                if item in self._last_of:
                    event.needs.append(self._last_of[item])
                self._last_of[item] = number

    # --- parts of it

    def _closed(self, targets: Iterable[int]) -> dict[int, int] | None:
        """How many events of each thread have to come before the targets; None if one of these is
        among them, or a critical section would have to end that never does."""
        count: dict[int, int] = {}
        rows = [self._events[number] for number in targets]
        limits = {row.thread: row.index for row in rows}
        pending: list[tuple[int, int]] = [(row.thread, row.index) for row in rows]
        last_acquire: dict[int, int] = {}
        while pending:
            thread, wanted = pending.pop()
            if wanted > limits.get(thread, wanted):
                return None
            for index in range(count.get(thread, 0), wanted):
                number = self._of_thread[thread][index]
                event = self._events[number]
                for needed in event.needs:
                    other = self._events[needed]
                    pending.append((other.thread, other.index + 1))
                if event.acquires:
                    # All but the last critical section have to be over.
                    known = last_acquire.get(event.acquires, number)
                    first, last = min(known, number), max(known, number)
                    last_acquire[event.acquires] = last
                    if first != last:
                        end = self._events[first].release
                        if end < 0:
                            return None
                        pending.append((self._events[end].thread, self._events[end].index + 1))
            count[thread] = max(count.get(thread, 0), wanted)
        return count

    def _schedule(self, count: dict[int, int], racers: tuple[int, int] | None) -> Schedule:
        decisions: list[Decision] = []
        for event in self._events:
            if event.index < count.get(event.thread, 0):
                decisions += event.decisions
        return Schedule(tuple(decisions), (), racers)

    def _races(self) -> Iterator[Prediction]:
        seen: set[tuple[int, int]] = set()
        for rows in self._accesses.values():
            every = list(rows.values())
            for at, one in enumerate(every):
                for other in every[at + 1 :]:
                    pair = min(one.pc, other.pc), max(one.pc, other.pc)
                    if one.thread == other.thread or pair in seen or not _may_race(one, other):
                        continue
                    if len(seen) >= _MOST_PAIRS:
                        return
                    seen.add(pair)
                    count = self._closed((one.event, other.event))
                    if count is not None:
                        racers = one.thread, other.thread
                        schedule = self._schedule(count, racers)
                        yield Prediction(pair, "no-data-race", schedule)

    def _deadlocks(self) -> Iterator[Prediction]:
        rows = [row for row in self._acquires.values() if row.held]
        seen: set[tuple[object, ...]] = set()
        for cycle in _cycles(rows):
            key = tuple(sorted(row.pc for row in cycle))
            if key in seen:
                continue
            count = self._closed([row.event for row in cycle])
            if count is not None:
                seen.add(key)
                yield Prediction(("deadlock", *key), "no-deadlock", self._schedule(count, None))


def _may_race(one: _Access, other: _Access) -> bool:
    if not one.is_write and not other.is_write:
        return False
    return not (one.is_atomic and other.is_atomic) and not one.held & other.held


def _cycles(rows: list[_Acquire]) -> Iterator[list[_Acquire]]:
    """Acquires of different threads, each of a lock that the next one's thread holds then, without
    a lock that two of them hold."""

    def extend(path: list[_Acquire]) -> Iterator[list[_Acquire]]:
        last = path[-1]
        if len(path) > 1 and last.lock in path[0].held:
            yield path
            return
        if len(path) == _LONGEST_CYCLE:
            return
        for row in rows:
            if row.thread <= path[0].thread or any(row.thread == item.thread for item in path):
                continue
            if last.lock in row.held and not any(row.held & item.held for item in path):
                yield from extend([*path, row])

    for row in rows:
        yield from extend([row])
