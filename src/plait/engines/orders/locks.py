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

There may be more in these sections. A section may go on only if conditions on what it has read are
true; they must be true of all that it can find: of 0 and the values of other threads where it
acquires, of its own value where it releases. It may only look at the cell, as who destroys a mutex
does, where the lock is surely free, and not because it waits for that: such a read goes with the
others. And what is written behind all reads does not matter.

That a release matches an acquisition is seen in their guards, which fails where paths meet that
have acquired the lock in different places. Then the cell is tracked in the next unrolling: along
each path it is known whether the thread holds the lock.

A cell is *protected* by a lock if every access happens in a critical section of the lock, or
certainly outside of all those of its thread and in a fixed order with all those of other threads in
which the cell is accessed: it comes before the section begins, or after it was certainly released.
Then nobody sees what the owner does with the cell in between: one read at the beginning and one
write before the release will do.

Whether two events occur together is decided by their guards as sets of conjuncts (see `prune`),
so the answer may be "no lock" where better reasoning would say otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from plait.data import dataclass, field
from plait.engines.orders.prune import Conjuncts, StaticOrders
from plait.engines.orders.tokens import find_semaphores
from plait.engines.orders.unrolling import Access, Occurrence, Unrolling
from plait.engines.orders.unrolling_facts import Cell, SectionKey, UnrollingFacts
from plait.logic.operators import EQ, ITE
from plait.logic.substitute import Substitution, substitute
from plait.logic.terms import Terms

# Conditions on the value that a section has read (a variable), without which it does not write.
Checks = tuple[tuple[int, int], ...]


@dataclass(slots=True, eq=False)
class Hold:
    """A lock from its acquisition to its releases; `first` and `releases` are events."""

    first: int
    thread: int
    sure: int
    value: int = 0
    releases: list[Release] = field(default_factory=list)
    checks: Checks = ()


@dataclass(slots=True, eq=False)
class Release:
    event: int
    thread: int
    sure: int
    expected: int | None = None  # the value that the section requires the cell to have
    read: int | None = None  # the variable of the read that is for
    checks: Checks = ()


@dataclass(slots=True, eq=False)
class Look:
    """A section that reads the cell and does not write it."""

    event: int
    thread: int
    sure: int


Operation = Hold | Release | Look


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


def used_operations(operations: list[Operation], after: list[int]) -> list[Operation]:
    """Without the writes at the beginning that initialise the lock: releases that come before
    everything else."""
    for number, item in enumerate(operations):
        if not isinstance(item, Release):
            return operations[number:]
        for other in operations[number + 1 :]:
            event = other.first if isinstance(other, Hold) else other.event
            if not after[item.event] >> event & 1:
                return operations[number:]
    return []


class LockSearch:
    """Looks for locks among the events of an unrolling. `locks` are those whose releases match the
    acquisitions by their guards, `owned` those of the tracked cells of which unrolling has seen
    that nobody acquires what it holds, or releases what it does not hold. The `candidates` are
    worth tracking."""

    def __init__(
        self,
        unrolling: Unrolling,
        orders: StaticOrders,
        terms: Terms,
        finds_races: bool,
        drops_writes: bool = False,
        tracked: frozenset[Cell] = frozenset(),
    ) -> None:
        self._unrolling = unrolling
        self._orders = orders
        self._terms = terms
        self._finds_races = finds_races
        self._tracked = tracked
        self._discipline = Discipline(orders.conjuncts)
        self.unseen: frozenset[tuple[Cell, SectionKey]] = frozenset()
        if drops_writes:
            self.unseen = unseen_writes(unrolling, orders, terms)
        self._of_cell: dict[Cell, list[Occurrence]] = {}
        for event in unrolling.events:
            if event.cell is None or event.cell in unrolling.regions:
                continue
            if event.kind in (Access.READ, Access.WRITE) and not self._is_unseen(event):
                self._of_cell.setdefault(event.cell, []).append(event)
        self._requiring = _requiring(unrolling)
        self._required: dict[int, list[tuple[int, int]]] = {}
        for where, condition, _ in unrolling.required:
            if terms.operator[condition] == EQ:
                variable, constant = terms.operands[condition]
                value = terms.value(constant)
                if value is not None:
                    mask = orders.conjuncts.of(where)
                    self._required.setdefault(variable, []).append((mask, value))
        self.locks: dict[Cell, Lock] = {}
        self.owned: dict[Cell, list[Hold]] = {}
        self.candidates: set[Cell] = set()

    def _is_unseen(self, event: Occurrence) -> bool:
        keys = self._unrolling.section_keys
        return event.kind is Access.WRITE and any(
            (event.cell, keys.get(name)) in self.unseen for name, _ in event.section
        )

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
            holds = [item for item in operations if isinstance(item, Hold)]
            releases = [item for item in operations if isinstance(item, Release)]
            if not holds or not is_initialised or not self._pass_checks(holds, releases):
                continue
            looks = [item for item in operations if isinstance(item, Look)]
            changes = [item for item in operations if not isinstance(item, Look)]
            if self._discipline.match(changes) and all(
                self._finds_free(look, hold) for look in looks for hold in holds
            ):
                self.locks[cell] = Lock(cell, holds)
            elif cell not in self._tracked:
                self.candidates.add(cell)
            elif cell not in self._unrolling.unowned and self._match_values(holds, releases):
                others = [self._unrolling.events[look.event] for look in looks]
                if all(self._is_apart_from_owners(cell, event, events) for event in others):
                    self.owned[cell] = holds

    def _pass_checks(self, holds: list[Hold], releases: list[Release]) -> bool:
        """Whether all that sections ask beside what they wait for is true: of 0 and of what other
        threads write when a lock is acquired, and of what the thread has written when it is
        released. Then nobody does anything else there than to acquire, to release or to wait."""
        for hold in holds:
            others = {item.value for item in holds if item.thread != hold.thread}
            if not self._are_true(hold.checks, {0, *others}):
                return False
        for release in releases:
            own = {item.value for item in holds if item.thread == release.thread}
            if release.checks and not own:
                return False
            if not self._are_true(release.checks, own):
                return False
        return True

    def _are_true(self, checks: Checks, values: set[int]) -> bool:
        terms = self._terms
        return all(
            substitute(terms, check, {read: terms.constant(value, terms.width[read])}) == terms.true
            for read, check in checks
            for value in values
        )

    def _match_values(self, holds: list[Hold], releases: list[Release]) -> bool:
        """Whether a release requires no other value than its thread can have written."""
        return all(
            release.expected in (None, hold.value)
            for release in releases
            for hold in holds
            if hold.thread == release.thread
        )

    def _finds_free(self, look: Look, hold: Hold) -> bool:
        """Whether who looks at a lock surely does not see this hold."""
        if hold.thread == look.thread:
            if hold.first > look.event:
                return True
            return self._discipline.is_over(hold, look.sure, look.event)
        after = self._orders.after
        if self._discipline.is_over(hold, look.sure, -1) or after[look.event] >> hold.first & 1:
            return True
        return any(
            after[release.event] >> look.event & 1 and not release.sure & ~(hold.sure | look.sure)
            for release in hold.releases
        )

    def _is_apart_from_owners(
        self, lock: Cell, event: Occurrence, concerned: list[Occurrence]
    ) -> bool:
        """Whether an event happens while its thread does not hold a tracked lock, and comes before
        or behind all times in which other threads hold it to do what is `concerned`."""
        if lock in event.locks:
            return False
        of_threads: dict[int, list[int]] = {}
        for other in [*self._of_cell[lock], *concerned]:
            of_threads.setdefault(other.thread, []).append(other.number)
        of_threads.pop(event.thread, None)
        return all(
            all(self._orders.after[event.number] >> number & 1 for number in numbers)
            or self._is_behind(lock, event.number, thread, max(numbers))
            for thread, numbers in of_threads.items()
        )

    def _is_behind(self, lock: Cell, event: int, thread: int, last: int) -> bool:
        """Whether a thread has surely done all up to `last` when an event happens, and no longer
        holds the lock."""
        orders = self._orders
        for number in reversed(self._events_of(thread)):
            if number < last:
                return False
            other = self._unrolling.events[number]
            is_before = orders.after[number] >> event & 1
            if is_before and not orders.conjuncts.of(other.guard) & ~orders.sure[event]:
                return lock not in other.locks
        return False

    def _events_of(self, thread: int) -> list[int]:
        return next(run.events for run in self._unrolling.threads if run.number == thread)

    def protected(self) -> dict[Cell, Cell]:
        """For each protected cell the lock that protects it."""
        found: dict[Cell, Cell] = {}
        for lock in self.locks.values():
            for cell, events in self._of_cell.items():
                if cell in self.locks or cell in found:
                    continue
                if self._protects(lock, events):
                    found[cell] = lock.cell
        for owned in self.owned:
            for cell, events in self._of_cell.items():
                if cell in self.locks or cell in self.owned or cell in found:
                    continue
                if self._is_protected_by_owners(owned, events):
                    found[cell] = owned
        return found

    def _is_protected_by_owners(self, lock: Cell, events: list[Occurrence]) -> bool:
        inside = [event for event in events if event.locks.get(lock) is not None]
        if len(inside) < 2:
            return False
        return all(
            event.locks.get(lock) is not None or self._is_apart_from_owners(lock, event, inside)
            for event in events
        )

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
            if event.kind in (Access.ACQUIRE, Access.TAKE)
            for name, _ in event.section
        }
        for _, condition, names in unrolling.required:
            if terms.operator[condition] != EQ or terms.operands[condition][0] not in expected:
                blocked.update(unrolling.section_keys[name] for name in names)
        return frozenset(unrolling.section_keys.values()) - blocked

    def _operations(self, events: list[Occurrence]) -> list[Operation] | None:
        """The accesses of a cell as acquisitions and releases, if they are."""
        sections: dict[int, list[Occurrence]] = {}
        operations: list[tuple[int, Operation]] = []
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

    def _operation(self, inside: list[Occurrence]) -> Operation | None:
        writes = [event for event in inside if event.kind is Access.WRITE]
        reads = [event for event in inside if event.kind is Access.READ]
        if not writes and len(reads) == 1:
            [read] = reads
            if read.section[0][0] in self._requiring:
                return None  # it may be behind a release only because it waits for that
            return Look(read.number, read.thread, self._orders.sure[read.number])
        if len(writes) != 1 or len(reads) > 1:
            return None
        [write] = writes
        value = self._terms.value(write.value)
        if value is None:
            return None
        expected: int | None = None
        checks: Checks = ()
        if reads:
            [read] = reads
            if read.number > write.number:
                return None
            found = self._checks(read, write)
            if found is None:
                return None
            checks = found
            sure = self._orders.sure[write.number]
            wanted = {
                constant
                for where, constant in self._required.get(read.value, ())
                if not where & ~sure
            }
            if len(wanted) > 1 or not (wanted or checks):
                return None
            expected = min(wanted, default=None)
        if value == 0:
            release = self._release(write, expected)
            release.read = reads[0].value if reads else None
            release.checks = checks
            return release
        if expected != 0:
            return None
        first, sure = reads[0].number, self._orders.conjuncts.of(write.guard)
        return Hold(first, write.thread, sure, value, checks=checks)

    def _checks(self, read: Occurrence, write: Occurrence) -> Checks | None:
        """What must hold of the value that is read for the write to happen; None if it is not known
        that nothing else must."""
        conjuncts = self._orders.conjuncts
        here, there = conjuncts.of(read.guard), conjuncts.of(write.guard)
        if here & ~there:
            return None
        return tuple((read.value, atom) for atom in conjuncts.atoms(there & ~here))

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
    checks_memory: bool = False,
) -> UnrollingFacts:
    """What the events of an unrolling say about the next one. Where races are looked for, all
    accesses that can race keep their events; where leaks are, all writes: the replay follows those
    of a thread that loses memory."""
    drops_writes = not (finds_races or checks_memory)
    search = LockSearch(unrolling, orders, terms, finds_races, drops_writes, known.tracked)
    search.run()
    awaited = known.awaited | _awaited(unrolling, orders)
    unread: set[Cell] = set()
    constants = _constants(unrolling, orders, terms, finds_races, unread if drops_writes else None)
    if drops_writes:
        same = indifferent(unrolling, terms)
        unread.update(same)
        constants.update(same)
    found = find_semaphores(unrolling, orders, terms)
    semaphores = {cell: first for cell, first in found.semaphores.items() if cell not in unread}
    # A cell keeps the lock that was found first: its writes are where that one is released, which
    # says nothing about other locks.
    return UnrollingFacts(
        {**known.constant, **constants},
        known.locks | search.locks.keys() | search.owned.keys(),
        {} if finds_races else {**search.protected(), **known.protected},
        known.unblocked | search.free_sections(),
        awaited,
        known.owned | (known.awaited - unrolling.unowned),
        known.tracked | awaited | search.candidates,
        known.unseen | search.unseen | found.initialising,
        known.unread | unread,
        {**known.semaphores, **semaphores},
    )


def learn_in_weak_memory(
    unrolling: Unrolling,
    orders: StaticOrders,
    terms: Terms,
    known: UnrollingFacts,
    is_static: Callable[[Cell], bool],
) -> UnrollingFacts:
    """What does not rely on memory that everybody sees alike: which cells are owned, as that is
    about what threads do in their own sections; and cells of which all that is ever written is
    what they have at the beginning, or of sections alone, whose memory is in one order, those that
    are indifferent. Objects that begin and end need their accesses for that."""
    of_cells: dict[Cell, list[Occurrence]] = {}
    for event in unrolling.events:
        if event.cell is not None and event.cell not in unrolling.regions:
            of_cells.setdefault(event.cell, []).append(event)
    waited = unrolling.waited_for & of_cells.keys()
    awaited = {cell for cell in waited if _is_only_awaited(cell, of_cells[cell], orders, terms)}
    same = indifferent(unrolling, terms)
    constants: dict[Cell, int] = {}
    unread: set[Cell] = set()
    for cell, events in of_cells.items():
        if not is_static(cell):
            continue
        initial = unrolling.initial[cell]
        written = {event.value for event in events if event.kind is Access.WRITE}
        if not written:
            constants[cell] = initial
        elif all(event.section and not event.in_update for event in events):
            if written == {initial} and terms.is_constant(initial):
                constants[cell] = initial
            elif cell in same:
                constants[cell] = same[cell]
                unread.add(cell)
    return UnrollingFacts(
        {**known.constant, **constants},
        awaited=known.awaited | awaited,
        owned=known.owned | (known.awaited - unrolling.unowned),
        tracked=known.tracked | waited,
        unread=known.unread | unread,
    )


def _is_only_awaited(
    cell: Cell, events: list[Occurrence], orders: StaticOrders, terms: Terms
) -> bool:
    """Whether nobody sees who else holds a lock, but by waiting until it is free: whoever reads it
    either holds it himself, or requires it to be 0 if it is anything that others write."""
    for event in events:
        if event.kind is Access.READ and event.locks.get(cell) is None:
            written = (
                terms.value(other.value)
                for other in events
                if other.kind is Access.WRITE and other.thread != event.thread
            )
            others = frozenset(-1 if value is None else value for value in written) - {0}
            if -1 in others or not orders.requires(event, 0, others):
                return False
    return True


def indifferent(unrolling: Unrolling, terms: Terms) -> dict[Cell, int]:
    """Cells that are 0 or one other constant without a difference to anybody: whoever finds 0
    writes the constant, and does the same as all others then. So it may be the constant for all."""
    values: dict[Cell, set[int]] = {}  # terms
    reads: dict[Cell, list[Occurrence]] = {}
    completed: set[Cell] = set()  # what a section reads it may also write
    begun: dict[tuple[Cell, int], None] = {}
    for event in unrolling.events:
        if event.cell is None or event.cell in unrolling.regions:
            continue
        if event.kind is Access.READ:
            reads.setdefault(event.cell, []).append(event)
            begun.update(dict.fromkeys((event.cell, name) for name, _ in event.section))
        elif event.kind is Access.WRITE:
            values.setdefault(event.cell, set()).update(_choices(terms, event.value))
            if any((event.cell, name) in begun for name, _ in event.section):
                completed.add(event.cell)
    found: dict[Cell, int] = {}
    for cell in completed:
        # What was read there is one of the values, too.
        written = {*values[cell], unrolling.initial[cell]} - {read.value for read in reads[cell]}
        zero = terms.constant(0, 8 * cell[1])
        if len(written) != 2 or zero not in written or not all(map(terms.is_constant, written)):
            continue
        [full] = written - {zero}
        choices = {read.value: terms.fresh("either", 1) for read in reads[cell]}
        replaced = Substitution(
            terms,
            {read: terms.ite(bit, full, zero) for read, bit in choices.items()}.get,
        )
        results = {replaced(root) for root in _roots(unrolling, cell)}
        if set(choices.values()).isdisjoint(terms.parts(results)):
            found[cell] = full
    return found


def _choices(terms: Terms, term: int) -> set[int]:
    """The terms of which the value of a term is one."""
    found: set[int] = set()
    pending = [term]
    while pending:
        item = pending.pop()
        if terms.operator[item] == ITE:
            pending += terms.operands[item][1:]
        else:
            found.add(item)
    return found


def _roots(unrolling: Unrolling, cell: Cell) -> Iterator[int]:
    """All that anybody does, but to read and write a cell."""
    for event in unrolling.events:
        if event.cell != cell:
            yield event.guard
            if event.kind is not Access.MARK:
                yield event.value
            if event.address is not None:
                yield event.address
        elif event.kind is Access.READ:
            yield event.guard
    yield from unrolling.facts
    for claims in (
        unrolling.violations,
        unrolling.suspicions,
        unrolling.troubles,
        unrolling.leaks,
        unrolling.cuts,
    ):
        yield from (claim.condition for claim in claims)
    yield from (use.guard for use in unrolling.inputs)
    yield from (when for _, _, when in unrolling.sections)
    yield from (thread.guard for thread in unrolling.threads)


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


def _requiring(unrolling: Unrolling) -> set[int]:
    """The sections that happen only if something holds."""
    return {name for _, _, names in unrolling.required for name in names}


def unseen_writes(
    unrolling: Unrolling, orders: StaticOrders, terms: Terms
) -> frozenset[tuple[Cell, SectionKey]]:
    """The sections whose writes to a cell come behind all reads of it: what is done when a lock is
    destroyed. Only constants: pointers keep objects reachable. Not those that require something:
    without its write, who takes a lock last would only wait for it."""
    requiring = _requiring(unrolling)
    readers: dict[Cell, list[int]] = {}
    for event in unrolling.events:
        if event.kind is Access.READ and event.cell is not None:
            readers.setdefault(event.cell, []).append(event.number)
    unseen: dict[tuple[Cell, SectionKey], bool] = {}
    for event in unrolling.events:
        if event.kind is not Access.WRITE or event.cell is None:
            continue
        is_last = (
            event.cell not in unrolling.regions
            and terms.is_constant(event.value)
            and len(event.section) == 1
            and event.section[0][0] not in requiring
            and all(orders.after[n] >> event.number & 1 for n in readers.get(event.cell, ()))
        )
        for name, _ in event.section:
            key = unrolling.section_keys.get(name)
            if key is not None:
                unseen[event.cell, key] = unseen.get((event.cell, key), True) and is_last
    return frozenset(place for place, is_last in unseen.items() if is_last)


def _constants(
    unrolling: Unrolling,
    orders: StaticOrders,
    terms: Terms,
    finds_races: bool,
    unread: set[Cell] | None = None,
) -> dict[Cell, int]:
    """Cells that are never written, or not before the last read; and those that get the same
    constant in all writes, one of which comes before each read in program order. Where others are
    written behind all reads, the cell gets into `unread`. That a read follows a write must not be
    what the program learns from the value: reading a constant says nothing of what has happened
    before."""
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
        all_writers = writers = writes.get(cell, [])
        if unread is not None:
            writers = [
                write
                for write in all_writers
                if not all(orders.after[read.number] >> write.number & 1 for read in readers)
            ]
        if not writers:
            constants[cell] = unrolling.initial[cell]
            if unread is not None and all_writers:
                unread.add(cell)
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
            if unread is not None and len(writers) < len(all_writers):
                unread.add(cell)
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
    required = {
        terms.operands[condition][0]
        for _, condition, _ in unrolling.required
        if terms.operator[condition] == EQ
    }
    if not required.issuperset(unrolling.open_locks):
        return None
    acquired = [event for event in unrolling.events if event.kind is Access.ACQUIRE]
    released: dict[int, list[int]] = {event.number: [] for event in acquired}
    sections: list[LockedSection] = []
    for event in unrolling.events:
        if event.kind is not Access.RELEASE:
            continue
        assert event.cell is not None
        if not event.holds and any(  # it can only initialise the lock
            other.cell == event.cell and not orders.after[event.number] >> other.number & 1
            for other in acquired
        ):
            return None
        for acquire, when in event.holds:
            here = terms.and_(when, event.guard)
            if here != terms.false:
                released[acquire.number].append(here)
                sections.append(LockedSection(event.cell, acquire.number, event.number, here))
    for event in acquired:
        assert event.cell is not None
        never = terms.and_(event.guard, terms.not_(terms.any_of(released[event.number])))
        if never != terms.false:
            sections.append(LockedSection(event.cell, event.number, unrolling.end, never))
    return sections
