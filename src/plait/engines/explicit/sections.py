"""Critical sections as single steps: what is accessed in them, whether threads keep to locks.

A *lock* is a cell that is 0 while nobody holds it, and whose takers are blocked while it is not. A
critical section begins with the step that takes a lock and ends when the thread holds none of those
that it has taken since then: it may take further locks, but none after it has given one back (two
phases: Eswaran, Gray, Lorie, Traiger, "The notions of consistency and predicate locks in a database
system", CACM 1976). Here it is one step of its thread. Its *commit* is the first of its parts that
gives a lock back, or that accesses a cell which is known to be accessed without a lock, too (a
condition variable is, by those who wait on it). In the second case the step ends there, with its
locks held, and what is left of the section are plain steps, of which no lock is known.

Soundness. Let P' be the program in which critical sections of some locks are such steps. Whoever
explores P' ensures the following, or gives up a lock (`BrokenLock`) or knows one more such cell
(`Unprotected`), and starts afresh:

1. If, in a state of P', the step of one thread is a critical section, and it conflicts with what
   another thread accesses in its next step (whether or not that is blocked), then both hold a
   common lock at these two accesses, which they have taken in these steps; or each is at the commit
   of its section, or in a plain step, and both are atomic.
2. Whoever takes a lock is blocked if it has a value that it has in the middle of a critical section
   of another thread, and looks at nothing but the lock to find that out.
3. A critical section is never blocked in the middle. It starts no thread, ends neither its thread
   nor the process, and fails no assumption.
4. Taking one lock while holding another is a relation without circles.
5. In a state of P' in which a thread stands right behind a critical section, what that has accessed
   behind its commit is not what another thread accesses in its next step (whether or not that is
   blocked) without a lock that is held in common at these two accesses (unless both only read).

Then P' has all violations of P. Follow an execution of P. A section that has begun is *growing*
until its commit, then *shrinking*; in P' it is made at its commit (Lipton, CACM 1975: what it has
done before commutes to the right till there, what it does behind to the left; the commit itself
need not commute with anything). So P' is in the state without growing sections, and with all that
shrinking ones will do: what they do when they are alone, which ends by 3. Two things could make
that wrong, take the first of them:

- An access conflicts with one that a growing section of another thread has made. Both threads
  have these accesses as, or in, their next steps in that state of P'. The growing section made its
  access before its commit, so that by 1 both hold a common lock, which they have taken in these
  steps. It was held from the access of the growing section on, as nothing was given back.
- An access conflicts with one that a shrinking section of another thread will make. In that state
  of P' the other thread stands right behind its section. By 5 they hold a common lock, and the
  shrinking section holds it already, as it takes none any more. (1 does not help, as the threads
  cannot be brought to both accesses in P': what was done by the access may depend on what the
  section has given back.)

A section that commits may not conflict with what growing ones have made, either: before its commit
and at it this is the first case, and behind it the second one. In each case one thread has taken a
lock while another one held it in the middle of a section; in P' it is free at that place, so that
both are known as its takers, and by 2 that is impossible. Hence growing and shrinking sections
conflict with nothing. A violation in a section is one that the attempt of the section in P' meets,
and one elsewhere happens in P' as well. Of a race one access is in the middle of a section only if
they conflict; then both are commits or plain steps, and atomic, which is no race. A thread that is
blocked for ever in the middle of a section is blocked by a lock that another thread holds in the
middle of one (by anything else it is blocked in P', too, against 3), and so on: a circle, against
4. So all sections can be brought to their ends, whatever else is blocked for ever stays so, and
P' comes to a state in which it is.

Whether the explored part of P' is enough to see conflicts against 1 is a matter of the reduction
(`futures`): two steps that conflict against 1 never go ahead of each other. For 5, a step from
where a thread stands right behind sections counts as if it accessed once more what these have
accessed behind their commits, so that it never goes ahead of an access that 5 forbids. If more of
that turns up when a state in which the thread stands there was looked at already, the search starts
afresh.
What a thread looks at while it is blocked counts for 5 at any time where others go ahead because
it is blocked.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from plait.analysis.critical_sections import BrokenLock
from plait.semantics.memo import StepTaker, Taken
from plait.semantics.outcome import AccessKind, Ending, Footprint
from plait.semantics.state import State, Thread

MOST_PARTS = 400  # of one critical section
_LARGEST_LOCK = 8  # bytes
_MOST_ACCESSES = 8  # of a step that takes a lock
_MOST_UNPROTECTED = 32  # cells; each of them costs what was explored before it was known

NO_LOCKS: frozenset[int] = frozenset()


class Bytes(NamedTuple):
    address: int
    size: int
    is_write: bool
    is_atomic: bool


class Phase(Enum):
    """Of a critical section: where a part of it is. A plain step is one commit."""

    GROWING = "before the commit"
    COMMIT = "at the commit"
    SHRINKING = "behind the commit"


class Afresh(Exception):
    """More has to be known from the start."""


class Part(NamedTuple):
    """One of the steps of a critical section, or all of another step, with the locks that are held
    meanwhile, from taking them to giving them back."""

    accesses: tuple[Bytes, ...]
    locks: frozenset[int]
    phase: Phase = Phase.COMMIT


class Unprotected(Exception):
    """A cell that a critical section accesses is accessed without a lock, too: from here to there.
    Both accesses are atomic."""

    def __init__(self, start: int, end: int) -> None:
        super().__init__("an atomic cell is accessed with and without a lock")
        self.start = start
        self.end = end


# Two accesses, and the part that the first one is in.
_Clash = tuple[Bytes, Bytes, Part]


class Profile:
    """What a step accesses where others can see it. All equal ones are one object."""

    __slots__ = ("is_section", "parts")

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts
        self.is_section = bool(parts[0].locks)

    @property
    def lock(self) -> int:
        """The first one that a critical section takes; 0 for other steps."""
        return min(self.parts[0].locks, default=0)


class Locks:
    """What is known of locks; `broken` are those that are given up. `unprotected` are cells that
    threads are known to access without a lock: where each begins and ends."""

    def __init__(self, steps: StepTaker, peeks: StepTaker) -> None:
        self.broken: set[int] = set()
        self.unprotected: dict[tuple[int, int], None] = {}
        self._steps = steps
        self._peeks = peeks
        self._page_bits = steps.machine.page_bits
        self._profiles: dict[tuple[Part, ...], Profile] = {}
        self._clashes: dict[tuple[Profile, Profile], _Clash | None] = {}
        self._indivisible: dict[tuple[Profile, Profile], bool] = {}
        self._takes: dict[tuple[int, Thread, int, bytes], bool] = {}
        self._sizes: dict[int, int] = {}
        self.forget()

    def forget(self, *, keeps_behind: bool = False) -> None:
        """What was seen of locks, because one was broken; or to see it again with more known of
        what is behind commits."""
        self._compared: set[tuple[Profile, Profile]] = set()
        # What sections that end in a local state access behind their commits, by threads; and what
        # threads look at that others go ahead of because they are blocked.
        if not keeps_behind:
            self._behind: dict[tuple[int, Thread], Profile] = {}
        self._stood: set[tuple[int, Thread]] = set()
        self._shrinking = {(number, found): None for (number, _), found in self._behind.items()}
        self._waiting: dict[tuple[int, Profile], None] = {}
        self._inner: dict[int, set[int]] = {}
        self._held: dict[int, dict[tuple[int, bytes], None]] = {}
        self._takers: dict[int, dict[tuple[int, Thread], State]] = {}

    # --- what a step accesses

    @staticmethod
    def part(footprint: Footprint, locks: frozenset[int] = NO_LOCKS) -> Part:
        found = dict.fromkeys(
            Bytes(item.address, item.size, item.kind is not AccessKind.READ, item.is_atomic)
            for item in footprint.accesses
        )
        return Part(tuple(found), locks)

    def profile(self, parts: Iterable[Part]) -> Profile:
        key = tuple(parts)
        found = self._profiles.get(key)
        if found is None:
            found = self._profiles[key] = Profile(key)
        return found

    def is_unprotected(self, accesses: Iterable[Bytes]) -> bool:
        """Whether one of them is of a cell that others access without a lock."""
        return any(
            start < item.address + item.size and item.address < end
            for start, end in self.unprotected
            for item in accesses
        )

    # --- taking locks

    def taken_by(self, state: State, taken: Taken, number: int) -> int:
        """The lock that a step takes; 0 if none."""
        after, footprint = taken.state, taken.footprint
        if after is None or footprint is None or taken.touched is None:
            return 0
        if len(footprint.accesses) > _MOST_ACCESSES:
            return 0
        for item in footprint.accesses:
            address, size = item.address, item.size
            if item.kind is not AccessKind.WRITE or not item.is_atomic or size > _LARGEST_LOCK:
                continue
            if not _is_read(footprint, address, size):
                continue
            if address in self.broken or self._sizes.get(address, size) != size:
                continue
            if any(self._bytes(state, address, size)):
                continue
            value = self._bytes(after, address, size)
            if any(value) and self._is_blocked(state, number, address, _another(value)):
                self._sizes[address] = size
                return address
        return 0

    def _bytes(self, state: State, address: int, size: int) -> bytes:
        page = address >> self._page_bits
        start = address - (page << self._page_bits)
        place = self._steps.places_of(state.pages)[page]
        return state.contents[place][start : start + size]

    def _is_blocked(self, state: State, number: int, lock: int, value: bytes) -> bool:
        """Whether a thread's step is blocked if the lock has this value, and the thread has looked
        at nothing else then. So it does not matter what the rest of the state is."""
        key = number, state.threads[number - 1], lock, value
        found = self._takes.get(key)
        if found is None:
            page = lock >> self._page_bits
            start = lock - (page << self._page_bits)
            place = self._steps.places_of(state.pages)[page]
            data = state.contents[place]
            data = data[:start] + value + data[start + len(value) :]
            contents = (*state.contents[:place], data, *state.contents[place + 1 :])
            taken = self._peeks.take(state._replace(contents=contents), number, ())
            footprint = taken.footprint
            found = self._takes[key] = (
                taken.outcome.ending is Ending.BLOCKED
                and taken.touched is not None
                and footprint is not None
                and self._reads_only(taken, lock, len(value))
                and all(
                    item.address == lock and item.size == len(value) for item in footprint.accesses
                )
            )
        return found

    def _reads_only(self, taken: Taken, lock: int, size: int) -> bool:
        """Also of memory that nobody else sees, which is in no footprint."""
        effect = taken.effect
        if effect is None:
            return False
        return all(
            ((span.page << self._page_bits) + span.start, span.end - span.start) == (lock, size)
            for span in effect.found
        )

    def size(self, lock: int) -> int:
        return self._sizes.get(lock, 0)

    def note_taker(self, state: State, number: int, lock: int) -> None:
        """A thread may take a lock as its next step."""
        takers = self._takers.setdefault(lock, {})
        key = number, state.threads[number - 1]
        if key not in takers:
            takers[key] = state
            for holder, value in self._held.get(lock, {}):
                self._check_blocked(state, number, lock, holder, value)

    def note_held(self, state: State, number: int, lock: int) -> bool:
        """In the middle of a critical section: whether the thread still holds a lock."""
        if lock >> self._page_bits not in self._steps.places_of(state.pages):
            raise BrokenLock(lock, "it is freed while it is held")
        value = self._bytes(state, lock, self._sizes[lock])
        if not any(value):
            return False
        held = self._held.setdefault(lock, {})
        if (number, value) not in held:
            held[number, value] = None
            for (taker, _), place in self._takers.get(lock, {}).items():
                self._check_blocked(place, taker, lock, number, value)
        return True

    def _check_blocked(
        self, state: State, taker: int, lock: int, holder: int, value: bytes
    ) -> None:
        if taker != holder and not self._is_blocked(state, taker, lock, value):
            raise BrokenLock(lock, "a thread goes on where another one holds it")

    def note_order(self, first: int, held: Iterable[int], lock: int) -> None:
        """A critical section that began with one lock takes another one while it holds some."""
        for item in held:
            self._inner.setdefault(item, set()).add(lock)
        seen = {lock}
        pending = [lock]
        while pending:
            new = self._inner.get(pending.pop(), set()) - seen
            seen |= new
            pending += new
        if not seen.isdisjoint(held):
            raise BrokenLock(first, "locks are taken in different orders")

    # --- keeping to them

    def compare(self, one: Profile, other: Profile) -> None:
        """Steps of two threads that both come next in a state; the one is a critical section."""
        key = one, other
        if key in self._compared:
            return
        self._compared.add(key)
        clash = self._clash(one, other)
        if clash is not None:
            mine, theirs, part = clash
            span = max(mine.address, theirs.address), min(_end(mine), _end(theirs))
            if (
                mine.is_atomic
                and theirs.is_atomic
                and part.phase is Phase.GROWING
                and span not in self.unprotected
                and len(self.unprotected) < _MOST_UNPROTECTED
                and mine.address not in part.locks
            ):
                raise Unprotected(*span)
            raise BrokenLock(one.lock, "what it protects is accessed without it")

    def behind(self, number: int, thread: Thread) -> Profile | None:
        """What sections that end in a local state of a thread access behind their commits."""
        return self._behind.get((number, thread))

    def standing(self, number: int, thread: Thread) -> Profile | None:
        """The same where the thread is there in a state that is looked at."""
        self._stood.add((number, thread))
        return self._behind.get((number, thread))

    def note_behind(self, number: int, thread: Thread, profile: Profile) -> bool:
        """A section ends in a local state; whether something new is behind its commit."""
        shrinking = [part for part in profile.parts if part.phase is Phase.SHRINKING]
        known = self._behind.get((number, thread))
        parts = dict.fromkeys((*(known.parts if known else ()), *shrinking))
        if not parts or (known is not None and len(parts) == len(known.parts)):
            return False
        found = self._behind[number, thread] = self.profile(parts)
        if (number, thread) in self._stood:
            raise Afresh
        self._shrinking[number, found] = None
        for other, waiting in self._waiting:
            if other != number:
                self.compare_behind(found, waiting)
        return True

    def note_waiting(self, number: int, profile: Profile) -> None:
        """Others may go ahead of a thread that is blocked when it tries this."""
        key = number, profile
        if key not in self._waiting:
            self._waiting[key] = None
            for other, found in self._shrinking:
                if other != number:
                    self.compare_behind(found, profile)

    def compare_behind(self, behind: Profile, other: Profile) -> None:
        """What sections access behind their commits, with what another thread does next."""
        if not self.agree(behind, other):
            what = "what comes behind the commit of its section is accessed without it"
            raise BrokenLock(behind.lock, what)

    def agree(self, one: Profile, other: Profile) -> bool:
        """Whether both hold a common lock wherever they conflict, or may do without."""
        return self._clash(one, other) is None

    def _clash(self, one: Profile, other: Profile) -> _Clash | None:
        """Where they do not."""
        key = one, other
        if key not in self._clashes:
            self._clashes[key] = _first_clash(one, other)
        return self._clashes[key]

    def are_indivisible(self, one: Profile, other: Profile) -> bool:
        """Whether neither can come in between the accesses of the other one, and none of them is a
        race: they keep to locks wherever they conflict, or both are single steps anyway."""
        key = one, other
        found = self._indivisible.get(key)
        if found is None:
            if len(one.parts) == len(other.parts) == 1:
                found = _conflict_of(one.parts[0], other.parts[0], but_atomic=True) is None
            else:
                found = self.agree(one, other)
            self._indivisible[key] = found
        return found


def _first_clash(one: Profile, other: Profile) -> _Clash | None:
    """Conflicting accesses without a common lock, unless both are atomic and at commits."""
    for mine in one.parts:
        for theirs in other.parts:
            if not mine.locks.isdisjoint(theirs.locks):
                continue
            are_commits = mine.phase is Phase.COMMIT and theirs.phase is Phase.COMMIT
            pair = _conflict_of(mine, theirs, but_atomic=are_commits)
            if pair is not None:
                return (*pair, mine)
    return None


def _conflict_of(one: Part, other: Part, *, but_atomic: bool) -> tuple[Bytes, Bytes] | None:
    """The first one; `but_atomic`: of which not both are atomic."""
    for mine in one.accesses:
        for theirs in other.accesses:
            if _conflict(mine, theirs) and not (but_atomic and mine.is_atomic and theirs.is_atomic):
                return mine, theirs
    return None


def _conflict(one: Bytes, other: Bytes) -> bool:
    return (
        (one.is_write or other.is_write) and one.address < _end(other) and other.address < _end(one)
    )


def _end(item: Bytes) -> int:
    return item.address + item.size


def _is_read(footprint: Footprint, address: int, size: int) -> bool:
    return any(
        item.address == address and item.size == size and item.kind is AccessKind.READ
        for item in footprint.accesses
    )


def _another(value: bytes) -> bytes:
    """A value that is neither this one nor 0."""
    return bytes([value[0] ^ 1 if value[0] > 1 else 2, *value[1:]])
