"""Which cells are locks, and what they protect.

A cell is a lock if it is 0 at first and all its accesses are of two forms. *Acquire*: an atomic
section that happens only if the cell is 0, and writes another constant. *Release*: a write of 0 by
a thread that holds the lock; a section that does this may require that the cell has the value that
was written when it was acquired. No thread acquires a lock that it holds. This is how mutexes are
modelled, and what programs do that build locks of their own.

Such a cell needs no reads and writes: from an acquire to the release of its thread, or to the end
of time if there is none, is a critical section, and those of one lock do not overlap. That is all
that its values could enforce: an acquire is possible exactly when every critical section before it
has ended. Writes of 0 that come before everything else initialise the lock.

A cell is *protected* by a lock if every access happens in a critical section of the lock, or
certainly outside of all those of its thread and in a fixed order with all those of other threads in
which the cell is accessed: it comes before the section begins, or after it was certainly released.
Then nobody sees what the owner does with the cell in between: one read at the beginning and one
write before the release will do.

Whether two events occur together is decided by their guards as sets of conjuncts (see `prune`),
so the answer may be "no lock" where better reasoning would say otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable

from plait.data import dataclass, field
from plait.engines.orders.prune import Conjuncts, StaticOrders
from plait.engines.orders.unrolling import Access, Occurrence, Unrolling
from plait.engines.orders.unrolling_facts import Cell, SectionKey, UnrollingFacts
from plait.logic.operators import EQ
from plait.logic.terms import Terms


@dataclass(slots=True, eq=False)
class Hold:
    """A lock from its acquisition to its releases; `first` and `releases` are events."""

    first: int
    thread: int
    sure: int
    value: int = 0
    releases: list[Release] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Release:
    event: int
    thread: int
    sure: int
    expected: int | None = None  # the value that the section requires the cell to have
    read: int | None = None  # the variable of the read that is for


@dataclass(slots=True, eq=False)
class Lock:
    cell: Cell
    holds: list[Hold]


class Discipline:
    """Matches releases with acquisitions."""

    def __init__(self, conjuncts: Conjuncts) -> None:
        self._conjuncts = conjuncts

    def match(self, operations: Iterable[Hold | Release]) -> bool:
        """Fill in the releases of the holds of one lock, given in the order of the events; False
        if some release may be one without a hold, or an acquisition one of a lock that is held."""
        threads: dict[int, list[Hold | Release]] = {}
        for operation in operations:
            threads.setdefault(operation.thread, []).append(operation)
        return all(self._match_thread(items) for items in threads.values())

    def _match_thread(self, operations: list[Hold | Release]) -> bool:
        # Holds that are not surely over, given that they began.
        open_holds: list[Hold] = []
        for operation in operations:
            if isinstance(operation, Hold):
                if not all(self.is_over(hold, operation.sure) for hold in open_holds):
                    return False
                open_holds.append(operation)
                continue
            held = self._held_at(open_holds, operation)
            if held is None or operation.expected not in (None, held.value):
                return False
            held.releases.append(operation)
            if not operation.sure & ~held.sure:
                open_holds.remove(held)
        return True

    def is_over(self, hold: Hold, sure: int, before: int | None = None) -> bool:
        """Whether an event that occurs only where `sure` holds finds the lock released: one that is
        the event `before`, or behind all releases known so far."""
        if self._conjuncts.exclude(hold.sure, sure):
            return True
        return any(
            not release.sure & ~(hold.sure | sure)
            for release in hold.releases
            if before is None or release.event < before
        )

    def _held_at(self, holds: list[Hold], release: Release) -> Hold | None:
        """The hold that surely lasts when the release happens; all others are excluded."""
        found: Hold | None = None
        for hold in holds:
            if self._conjuncts.exclude(hold.sure, release.sure):
                continue
            if self.lasts(hold, release.sure):
                if found is not None:
                    return None
                found = hold
            elif not self.is_over(hold, release.sure):
                return None
        return found

    def lasts(self, hold: Hold, sure: int) -> bool:
        """Whether the hold surely lasts where `sure` holds, behind all releases known so far."""
        return not hold.sure & ~sure and all(
            self._conjuncts.exclude(release.sure, sure) for release in hold.releases
        )


def used_operations(operations: list[Hold | Release], after: list[int]) -> list[Hold | Release]:
    """Without the writes at the beginning that initialise the lock: releases that come before
    everything else."""
    for number, item in enumerate(operations):
        if isinstance(item, Hold):
            return operations[number:]
        for other in operations[number + 1 :]:
            event = other.first if isinstance(other, Hold) else other.event
            if not after[item.event] >> event & 1:
                return operations[number:]
    return []


class LockSearch:
    """Looks for locks among the events of an unrolling."""

    def __init__(
        self, unrolling: Unrolling, orders: StaticOrders, terms: Terms, finds_races: bool
    ) -> None:
        self._unrolling = unrolling
        self._orders = orders
        self._terms = terms
        self._finds_races = finds_races
        self._discipline = Discipline(orders.conjuncts)
        self._of_cell: dict[Cell, list[Occurrence]] = {}
        for event in unrolling.events:
            if event.cell is None or event.cell in unrolling.regions:
                continue
            if event.kind in (Access.READ, Access.WRITE):
                self._of_cell.setdefault(event.cell, []).append(event)
        self._required: dict[int, list[tuple[int, int]]] = {}
        for where, condition, _ in unrolling.required:
            if terms.operator[condition] == EQ:
                variable, constant = terms.operands[condition]
                value = terms.value(constant)
                if value is not None:
                    mask = orders.conjuncts.of(where)
                    self._required.setdefault(variable, []).append((mask, value))
        self.locks: dict[Cell, Lock] = {}

    def run(self) -> None:
        for cell, events in self._of_cell.items():
            found = self._operations(events)
            if found is None:
                continue
            operations = used_operations(found, self._orders.after)
            is_initialised = self._terms.value(self._unrolling.initial[cell]) == 0 or any(
                isinstance(one, Release) and all(not one.sure & ~other.sure for other in found)
                for one in found[: len(found) - len(operations)]
            )
            if not is_initialised or not self._discipline.match(operations):
                continue
            holds = [item for item in operations if isinstance(item, Hold)]
            if holds:
                self.locks[cell] = Lock(cell, holds)

    def protected(self) -> dict[Cell, Cell]:
        """For each protected cell the lock that protects it."""
        found: dict[Cell, Cell] = {}
        for lock in self.locks.values():
            for cell, events in self._of_cell.items():
                if cell in self.locks or cell in found:
                    continue
                if self._protects(lock, events):
                    found[cell] = lock.cell
        return found

    def free_sections(self) -> frozenset[SectionKey]:
        """Sections that can always be run through: nothing is required in them, but what the
        owner of a lock finds when it releases the lock."""
        terms, unrolling = self._terms, self._unrolling
        expected = {
            release.read
            for lock in self.locks.values()
            for hold in lock.holds
            for release in hold.releases
        }
        blocked: set[SectionKey] = {
            unrolling.section_keys[name]
            for event in unrolling.events
            if event.kind is Access.ACQUIRE
            for name, _ in event.section
        }
        for _, condition, names in unrolling.required:
            if terms.operator[condition] != EQ or terms.operands[condition][0] not in expected:
                blocked.update(unrolling.section_keys[name] for name in names)
        return frozenset(unrolling.section_keys.values()) - blocked

    def _operations(self, events: list[Occurrence]) -> list[Hold | Release] | None:
        """The accesses of a cell as acquisitions and releases, if they are."""
        sections: dict[int, list[Occurrence]] = {}
        operations: list[tuple[int, Hold | Release]] = []
        for event in events:
            if not event.section:
                is_release = event.kind is Access.WRITE and self._terms.value(event.value) == 0
                if self._finds_races or not is_release:
                    return None
                operations.append((event.number, self._release(event, None)))
            elif len(event.section) > 1:
                return None
            else:
                sections.setdefault(event.section[0][0], []).append(event)
        for inside in sections.values():
            operation = self._operation(inside)
            if operation is None:
                return None
            operations.append((inside[0].number, operation))
        operations.sort(key=lambda item: item[0])
        return [operation for _, operation in operations]

    def _operation(self, inside: list[Occurrence]) -> Hold | Release | None:
        writes = [event for event in inside if event.kind is Access.WRITE]
        reads = [event for event in inside if event.kind is Access.READ]
        if len(writes) != 1 or len(reads) > 1:
            return None
        [write] = writes
        value = self._terms.value(write.value)
        if value is None:
            return None
        expected: int | None = None
        if reads:
            [read] = reads
            if read.number > write.number or read.guard != write.guard:
                return None
            sure = self._orders.sure[read.number]
            wanted = {
                constant
                for where, constant in self._required.get(read.value, ())
                if not where & ~sure
            }
            if len(wanted) != 1:
                return None
            [expected] = wanted
        if value == 0:
            release = self._release(write, expected)
            release.read = reads[0].value if reads else None
            return release
        if expected != 0:
            return None
        first = reads[0].number
        return Hold(first, write.thread, self._orders.conjuncts.of(write.guard), value)

    def _release(self, write: Occurrence, expected: int | None) -> Release:
        sure = self._orders.conjuncts.of(write.guard)
        return Release(write.number, write.thread, sure, expected)

    def _protects(self, lock: Lock, events: list[Occurrence]) -> bool:
        """Whether who makes these accesses of a cell holds the lock, or does it at quiet times."""
        used: list[Hold] = []
        quiet: list[Occurrence] = []
        for event in events:
            hold = self._hold_around(lock, event)
            if hold is None:
                if not self._is_outside(lock, event):
                    return False
                quiet.append(event)
            elif not used or used[-1] is not hold:
                used.append(hold)
        if len(used) < 2:
            return False
        return all(
            hold.thread == event.thread or self._is_apart(event.number, hold)
            for event in quiet
            for hold in used
        )

    def _hold_around(self, lock: Lock, event: Occurrence) -> Hold | None:
        sure = self._orders.sure[event.number]
        for hold in lock.holds:
            if hold.thread != event.thread or hold.first > event.number:
                continue
            if hold.sure & ~sure:
                continue
            earlier = [item for item in hold.releases if item.event < event.number]
            if all(self._orders.conjuncts.exclude(item.sure, sure) for item in earlier):
                return hold
        return None

    def _is_outside(self, lock: Lock, event: Occurrence) -> bool:
        """Whether the thread surely does not hold the lock: who finds that a thread holds it by
        other means than `_hold_around` must not take the access for a protected one."""
        sure = self._orders.sure[event.number]
        return all(
            self._discipline.is_over(hold, sure, event.number)
            for hold in lock.holds
            if hold.thread == event.thread and hold.first < event.number
        )

    def _is_apart(self, event: int, hold: Hold) -> bool:
        after, sure = self._orders.after, self._orders.sure
        if after[event] >> hold.first & 1:
            return True
        return any(
            after[item.event] >> event & 1 and not item.sure & ~sure[event]
            for item in hold.releases
        )


def learn(
    unrolling: Unrolling,
    orders: StaticOrders,
    terms: Terms,
    known: UnrollingFacts,
    finds_races: bool = False,
) -> UnrollingFacts:
    """What the events of an unrolling say about the next one. Where races are looked for, all
    accesses that can race keep their events."""
    search = LockSearch(unrolling, orders, terms, finds_races)
    search.run()
    # A cell keeps the lock that was found first: its writes are where that one is released, which
    # says nothing about other locks.
    return UnrollingFacts(
        {**known.constant, **_constants(unrolling, orders, terms, finds_races)},
        known.locks | search.locks.keys(),
        {} if finds_races else {**search.protected(), **known.protected},
        known.unblocked | search.free_sections(),
        known.awaited | _awaited(unrolling, orders),
        known.owned | (known.awaited - unrolling.unowned),
    )


def _awaited(unrolling: Unrolling, orders: StaticOrders) -> frozenset[Cell]:
    """As far as loops seem to wait for them."""
    if not unrolling.waited_for:
        return frozenset()
    awaited: dict[Cell, bool] = {}
    for event in unrolling.events:
        if event.kind is Access.READ and event.cell is not None:
            is_free = event.cell not in unrolling.regions and orders.requires(event, 0)
            awaited[event.cell] = awaited.get(event.cell, True) and is_free
    return frozenset(cell for cell in unrolling.waited_for if awaited.get(cell))


def learn_for_deadlocks(
    unrolling: Unrolling, orders: StaticOrders, terms: Terms, known: UnrollingFacts
) -> UnrollingFacts:
    """Who tries to lock at the end of all threads looks at the values of locks: they stay cells."""
    search = LockSearch(unrolling, orders, terms, finds_races=False)
    return UnrollingFacts(
        {**known.constant, **_constants(unrolling, orders, terms, finds_races=False)},
        unblocked=known.unblocked | search.free_sections(),
    )


def _constants(
    unrolling: Unrolling, orders: StaticOrders, terms: Terms, finds_races: bool
) -> dict[Cell, int]:
    """Cells that are never written; and those that get the same constant in all writes, one of
    which comes before each read in program order. That a read follows a write must not be what the
    program learns from the value: reading a constant says nothing of what has happened before."""
    events = unrolling.events
    reads: dict[Cell, list[Occurrence]] = {}
    writes: dict[Cell, list[Occurrence]] = {}
    for event in events:
        if event.cell in unrolling.regions:
            continue
        if event.kind is Access.READ and event.cell is not None:
            reads.setdefault(event.cell, []).append(event)
        elif event.kind is Access.WRITE and event.cell is not None:
            writes.setdefault(event.cell, []).append(event)
    constants: dict[Cell, int] = {}
    for cell, readers in reads.items():
        writers = writes.get(cell, [])
        if not writers:
            constants[cell] = unrolling.initial[cell]
            continue
        value = writers[0].value
        is_same = all(write.value == value for write in writers)
        if finds_races or not terms.is_constant(value) or not is_same:
            continue
        if all(
            any(
                orders.program_before[read.number] >> write.number & 1
                and not orders.conjuncts.of(write.guard) & ~orders.conjuncts.of(read.guard)
                for write in writers
            )
            for read in readers
        ):
            constants[cell] = value
    return constants


@dataclass(frozen=True, slots=True)
class LockedSection:
    """From `first` to `last` the lock is held where `when` (a term) is true."""

    cell: Cell
    first: int
    last: int
    when: int


def locked_sections(
    unrolling: Unrolling, orders: StaticOrders, terms: Terms
) -> list[LockedSection] | None:
    """The sections of an unrolling in which locks are acquired and released by events of their own;
    None if some release does not match."""
    conjuncts = orders.conjuncts
    discipline = Discipline(conjuncts)
    operations: dict[Cell, list[Hold | Release]] = {}
    for event in unrolling.events:
        if event.cell is None or event.kind not in (Access.ACQUIRE, Access.RELEASE):
            continue
        sure = conjuncts.of(event.guard)
        operation: Hold | Release = Release(event.number, event.thread, sure)
        if event.kind is Access.ACQUIRE:
            operation = Hold(event.number, event.thread, sure)
        operations.setdefault(event.cell, []).append(operation)
    sections: list[LockedSection] = []
    for cell, found in operations.items():
        items = used_operations(found, orders.after)
        if not discipline.match(items):
            return None
        for hold in items:
            if not isinstance(hold, Hold):
                continue
            guard = unrolling.events[hold.first].guard
            released = terms.false
            for release in hold.releases:
                when = unrolling.events[release.event].guard
                released = terms.or_(released, when)
                sections.append(LockedSection(cell, hold.first, release.event, when))
            never = terms.and_(guard, terms.not_(released))
            is_released = any(not release.sure & ~hold.sure for release in hold.releases)
            if not is_released and never != terms.false:
                sections.append(LockedSection(cell, hold.first, unrolling.end, never))
    return sections
