"""Rounds of a loop that change nothing, which every execution can do without.

A thread that comes back to the head of a loop as it was there before, having written to shared
memory only what it found there in the same atomic section, might as well have waited: from both
states it goes on in the same way, and the others see the same values with and without the round.
This is how loops that try to take a lock until they succeed need no bound. (Loops of which *no*
round changes anything are known beforehand, see `plait.analysis.loops`.)

What a round does before it is over is not left out: it may be the last thing that a thread does.

A round that releases a lock and takes it again lets others in, as a wait for a condition variable
does, so it cannot be left out. But a second one in a row can be part of the first: where the first
ends in taking the lock, and the second comes back to the head with nothing changed and without a
write of anything new, the thread may stay away from the lock all the time. Nobody sees the
difference if nobody sees the lock but by waiting for it, and nobody but the owner resets it: it is
recognised as a lock (see `locks`) or `owned` (see `unrolling_facts`). Both must be about the same
lock, and the first must take it by itself, later being as good: with nothing else in that step or
behind it.

For the same reason the first such round needs no round either if the thread has done nothing but to
take the lock before it came to the head. It might as well have taken it when it took it again: what
it has read in between it reads anew, it has written nothing, and it has the lock at the head as it
had it then. Of all executions that others cannot tell apart, the shortest has no such round. So a
wait for a condition in a loop that looks again needs no bound.
"""

from __future__ import annotations

from collections.abc import Sequence

from plait.analysis.bounds import Loop
from plait.data import dataclass
from plait.engines.orders.event_log import EventLog
from plait.engines.orders.paths import Held, Path
from plait.engines.orders.private import Memory
from plait.engines.orders.unrolling import Access, Holds, Occurrence
from plait.engines.orders.unrolling_facts import Cell, UnrollingFacts
from plait.logic.terms import Terms

_WRITING = (Access.WRITE, Access.ACQUIRE, Access.RELEASE, Access.TAKE, Access.GIVE)


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """A thread at the head of a loop. `events` and `made` count what there was before."""

    registers: list[int | None]
    slots: list[int | None]
    memory: Memory
    held: dict[Cell, Held]
    locks: dict[Cell, int | None]
    events: int
    made: int
    waited: dict[Cell, int]  # locks that the round before released and took again, and when
    holds: dict[Cell, Holds]

    @staticmethod
    def of(path: Path, events: int, made: int, waited: dict[Cell, int]) -> Head:
        return Head(
            path.registers[:],
            path.slots[:],
            path.memory.copy(),
            path.held.copy(),
            path.locks.copy(),
            events,
            made,
            waited,
            path.holds.copy(),
        )


class IdleRounds:
    """Of the thread that is being unrolled: in each frame where rounds of a loop began, and when
    rounds have ended in a wait."""

    def __init__(self, log: EventLog, known: UnrollingFacts) -> None:
        self._log = log
        self._objects = log.knowledge.objects
        self._known = known
        self._heads: dict[tuple[int, int], Head] = {}
        self._waited: dict[tuple[int, int], dict[Cell, int]] = {}

    def begin(self, frame: int, loop: Loop, is_first: bool, path: Path) -> None:
        """A round begins; `is_first` of this loop, which is the innermost one here."""
        place = frame, loop.head
        if loop.bound is None and not loop.is_spin and path.section is None:
            waited = {} if is_first else self._waited[place]
            events = len(self._log.result.events)
            self._heads[place] = Head.of(path, events, self._objects.made, waited)
        else:
            self._heads.pop(place, None)
        self._waited[place] = {}

    def if_changed(self, frame: int, loop: Loop, live: int, path: Path) -> Path | None:
        """The path back to the head, as far as its round has changed anything."""
        terms, result = self._log.terms, self._log.result
        head = self._heads.get((frame, loop.head))
        if head is None:
            return path
        events = result.events[head.events :]
        made = self._objects.made
        # Threads that the round has started would have to wait with it.
        taken = wait_in(terms, events) if made == head.made else None
        lock = None if taken is None else taken.cell
        if taken is not None and taken.kind is Access.WRITE and lock is not None:
            if lock not in self._known.owned:
                result.waited_for.add(lock)
                taken = None
        if taken is None or lock is None:
            return self._log.under(path, change(terms, head, path, live, events, made))
        others = [event for event in events if event.cell != lock]
        has_changed = change(terms, head, path, live, others, made)
        has_waited = head.waited.get(lock, terms.false)
        writes_others = any(event.kind in _WRITING for event in others)
        if not writes_others and self._could_be_taken_later(lock, head):
            has_waited = terms.true
        following = self._log.under(path, terms.or_(has_changed, terms.not_(has_waited)))
        if following is not None:
            waits = self._waited[frame, loop.head]
            now = terms.and_(following.condition.term, taken.guard)
            waits[lock] = terms.or_(waits.get(lock, terms.false), now)
        return following

    def _could_be_taken_later(self, lock: Cell, head: Head) -> bool:
        """Whether a thread that came to the head has done nothing since it took the lock, and took
        it in a step for this alone."""
        events = self._log.result.events
        holds = head.holds.get(lock, ())
        for acquire, _ in holds:
            names = {name for name, _ in acquire.section}
            first = min(names, default=acquire.number)
            for event in events[first : head.events]:
                is_of_step = event is acquire or event.number in names
                if not is_of_step and not event.is_silent and not _ends(event, acquire):
                    return False
        return bool(holds)


def _ends(event: Occurrence, acquire: Occurrence) -> bool:
    """Whether an event is the mark at the end of the step that takes a lock."""
    return event.kind is Access.MARK and event.number == acquire.number + 1


def wait_in(terms: Terms, events: Sequence[Occurrence]) -> Occurrence | None:
    """If all that a round does is to read, and to release a lock and take it again at its end, in
    an atomic section for this alone: the event that takes it. Whether it is a lock at all is
    another question if that is a write, and so is whether writes to other cells before that change
    anything."""
    accesses = [event for event in events if not _accesses_nothing(event)]
    if len(accesses) < 2:
        return None
    *earlier, last = accesses
    if last.kind is Access.WRITE:
        look = earlier.pop()
        if look.kind is not Access.READ or look.cell != last.cell:
            return None
        if not last.section or look.section != last.section:
            return None
    elif last.kind is not Access.ACQUIRE:
        return None
    names = {name for name, _ in last.section}
    if any(name in names for event in earlier for name, _ in event.section):
        return None
    writing = [
        event
        for event in earlier
        if event.kind is not Access.READ
        and (event.kind is not Access.WRITE or event.cell == last.cell)
    ]
    if len(writing) != 1 or writing[0].cell != last.cell:
        return None
    [release] = writing
    if last.kind is Access.WRITE:
        is_release = release.kind is Access.WRITE and terms.value(release.value) == 0
    else:
        is_release = release.kind is Access.RELEASE
    return last if is_release else None


def _accesses_nothing(event: Occurrence) -> bool:
    """Whether an event accesses nothing: a mark, or a fence in a section of the library, which says
    what the section synchronises."""
    return event.kind is Access.MARK or (event.kind is Access.FENCE and bool(event.section))


def change(
    terms: Terms, head: Head, path: Path, live: int, events: Sequence[Occurrence], made: int
) -> int:
    """When a round has changed anything: true where that is not known. `events` are those of the
    round, `live` the registers that matter at the head."""
    if made != head.made or path.section is not None:
        return terms.true
    if path.held != head.held or path.locks != head.locks or path.slots != head.slots:
        return terms.true
    changes = [
        *_changed_registers(terms, head.registers, path.registers, live),
        *_changed_memory(terms, head.memory, path.memory),
    ]
    if terms.true in changes:
        return terms.true
    for event in events:
        if event.kind in _WRITING:
            changes.append(_changed_by(terms, event, events))
            if changes[-1] == terms.true:
                break
    return terms.any_of(changes)


def _changed_registers(
    terms: Terms, before: list[int | None], after: list[int | None], live: int
) -> list[int]:
    changes = []
    for index, (old, new) in enumerate(zip(before, after, strict=True)):
        if old != new and live >> index & 1:
            if old is None or new is None:
                return [terms.true]
            changes.append(terms.not_(terms.eq(old, new)))
    return changes


def _changed_memory(terms: Terms, before: Memory, after: Memory) -> list[int]:
    changes = []
    for address in dict.fromkeys([*before, *after]):
        old, new = before.get(address), after.get(address)
        if old != new:
            if old is None or new is None or old[0] != new[0]:
                return [terms.true]
            changes.append(terms.not_(terms.eq(old[1], new[1])))
    return changes


def _changed_by(terms: Terms, write: Occurrence, events: Sequence[Occurrence]) -> int:
    """When a write is not of the value that its section found before it wrote there."""
    if write.kind is not Access.WRITE or not write.section:
        return terms.true
    for event in events:
        if event.cell != write.cell or event.section != write.section:
            continue
        if event.kind is not Access.READ or event.address != write.address:
            return terms.true
        found = terms.and_(event.guard, terms.eq(event.value, write.value))
        return terms.and_(write.guard, terms.not_(found))
    return terms.true
