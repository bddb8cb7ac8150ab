"""What threads may still do, as far as it was seen, and whether a step can go ahead of all that.

A *local state* is a thread with all that is its own: where it stands and the values of its
registers. All steps that the search tries are noted at the local state that they start from: what
they access, what they change, and which local states they lead to. The *future* of a local state is
what is noted at those that can be reached from it. It grows as the search goes on.

The step of a thread t *goes ahead* in a state if nothing in the futures of the other threads
conflicts with it. In these futures, threads do not get past a local state whose step is blocked in
this state, if nothing that the others can do without t changes what the step looks at before it is
blocked: whoever waits for a lock that t holds, or for the end of t, waits until t has moved.

Soundness. Suppose that the search has ended; that for each state of which not all steps were taken
(a *reduced* state) the step that was taken still goes ahead; and that no cycle consists of reduced
states only. A thread that is blocked has accesses as well: those of its *attempt*. Let s be a
reduced state, t the step taken there, and e1 ... en a sequence of steps of others from s, of which
en may also be an attempt. Then en does not conflict with t, unless it is an attempt that is noted.
So {t} is a persistent set (Godefroid, LNCS 1032, chapter 4).

Otherwise let n be the least length of such a sequence, and s the state with the least rank among
those that have one of length n (the rank is the length of the longest path of reduced states).
e1 ... en-1 can be taken behind t's step, too. Follow them in the explored graph: in a state that is
not reduced, take the next one of them; in a reduced one take what was taken there, w. By the choice
of n and s that is either one of them, which commutes with those before it, or it commutes with all
that are left; and it comes to a state of lower rank. Let e be what the thread of en does at the end
of those that are left: a step or an attempt, and if it changes behind t (en may be blocked there,
say) then only behind the first access that conflicts with t. By the choice of s, w does not
conflict with e, or e is an attempt that is noted. If the first always holds, there is a state in
which e is tried, and then it is noted, too. So the conflict with t was noted at the local state of
en, which is in the future of the thread in s, unless it is behind a local state that was taken for
blocked. But e1 ... en-1 are all that can have changed what a blocked step looks at, and they do
not. If en itself was taken for blocked, it is an attempt, and that was noted when it was looked at.
So t's step does not go ahead in s, a contradiction.

Where that is not enough for t to go ahead, only those noted steps count that are *possible*
(`possible`): what they need is there in s, or written by possible steps, cell by cell; all that t
writes may have any value. Then e1 ... en-1 are possible, and so is e, by induction: take a cell
that one of them needs and t does not write. What it has found there when it was noted is what it
finds behind those before it without t. For what was taken in between, a w, is a step that it
commutes with; either w does not write the cell, or the two commute by what they compute, and then
it does not need it. So the value is that of s, or the last one of e1 ... en-1 that wrote the cell
has left it there, and has done so too when it was noted, by the same argument. Objects that a step
has made, or of which it is not known what it has left there, may hold anything. What a step
finds in bytes that it has given a value itself is nothing that it needs. A step that is behind a
local state that was taken for blocked is none of them, as before.

That attempts are noted where others go ahead because of them (`blocked`) is necessary: the thread
may never be tried in that place, and yet its step go on in between two steps of t.

Persistent sets without cycles of reduced states preserve violations by steps, states in which
nobody can move, and threads that are blocked for ever. They preserve races as well: as long as one
of two racing steps is in the persistent set, so is the other one, because they conflict.
The end of the process comes ahead of nothing; as nothing happens behind it, it may come later,
unless memory leaks are looked for then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple, Protocol

from plait.engines.explicit.effects import Effect
from plait.engines.explicit.possible import Need, PossibleValues, Range
from plait.engines.explicit.sections import Profile
from plait.semantics.memo import Span, Values
from plait.semantics.outcome import AccessKind, Footprint
from plait.semantics.scalars import Number
from plait.semantics.state import State, Thread

_GRANULE_BITS = 2  # memory is told apart in pieces of 4 bytes
_MOST_LOCAL_STATES = 600  # of other threads that are looked at for one step
_MOST_VERSIONS = 16  # of one local state's step
_MOST_EDGES = 4000  # that are looked at for one step
_MOST_VAIN_TRIES = 12  # to let steps with some accesses go ahead because of values
_PAUSE = 16
ALL = -1
# Two steps that start threads number them: as if they wrote the same piece. Whether memory is lost
# at the end of the process depends on all steps before it: as if they all read one.
_SPAWN, _STEP, _FIRST_PIECE = 1, 2, 4


class Accessed(NamedTuple):
    """What a step accesses where others can see it, as bit sets of pieces of memory. `locks` are
    those that a critical section takes and gives back: other sections of them do not notice."""

    reads: int
    writes: int
    locks: int = 0

    def __or__(self, other: Accessed) -> Accessed:
        reads, writes, locks = other
        return Accessed(self.reads | reads, self.writes | writes, self.locks | locks)

    def overlaps(self, other: Accessed) -> bool:
        """Whether both access the same, and one of them writes."""
        reads, writes, locks = other
        return bool(
            self.writes & (reads | writes | locks)
            or writes & (self.reads | self.locks)
            or self.reads & locks
            or self.locks & reads
        )


NOTHING = Accessed(0, 0)


class LocalState:
    """A thread with all that is its own: what its step accesses, as far as that was seen, and all
    its future; of the pages that are changed there are bit sets, too."""

    __slots__ = (
        "accessed",
        "changes",
        "edges",
        "future",
        "future_changes",
        "may_block",
        "number",
        "sources",
        "targets",
        "thread",
        "versions",
    )

    def __init__(self, number: int, thread: Thread) -> None:
        self.number = number
        self.thread = thread
        self.accessed = self.future = NOTHING
        self.changes = self.future_changes = 0
        self.may_block = False
        self.targets: dict[LocalState, None] = {}
        self.edges: dict[object, Edge] = {}
        self.sources: list[LocalState] = []
        self.versions: list[Version] | None = []  # None: too many


class Version:
    """One of the things that a step may come to, depending on what it reads and on inputs: what it
    accesses. An example of it, a state, the thread and the inputs, is its `origin`. It counts as if
    it accessed what is `behind` (`sections`, 5); `own` is what it does access."""

    __slots__ = (
        "accessed",
        "behind",
        "effect",
        "is_opaque",
        "needs",
        "origin",
        "own",
        "profile",
        "values",
    )

    def __init__(self, profile: Profile, accessed: Accessed) -> None:
        self.profile = profile
        # What it has found and written, if that is known; what it needs of that, once somebody has
        # asked.
        self.values: Values | None = None
        self.needs: tuple[Need, ...] | None = None
        self.accessed = self.own = accessed
        self.behind: Profile | None = None
        self.origin: tuple[State, int, tuple[tuple[Number, ...], ...]] | None = None
        # What it computes is not known, or was not looked at yet.
        self.is_opaque = False
        self.effect: Effect | None = None


class Edge(NamedTuple):
    """A step that was seen at a local state: the pages that it changes, where it leads to."""

    version: Version
    changes: int
    targets: tuple[LocalState, ...]


# Whether a thread that is in a local state would be blocked in a state: None if not, or else the
# pieces and the pages that this depends on; its attempt is noted.
Blocked = Callable[[State, LocalState], tuple[int, int] | None]
# Whether two steps that access the same commute all the same.
Commute = Callable[[Version, Version], bool]
# What a step needs that was seen, of which all is known that it has read.
FindNeeds = Callable[[Version], tuple[Need, ...]]


class KnownLocks(Protocol):
    """What `sections` knows of locks."""

    def agree(self, one: Profile, other: Profile) -> bool: ...

    def size(self, lock: int) -> int: ...


class _Luck:
    """How often a look at values was of use for steps with some accesses. Where it rarely is, it is
    taken rarely."""

    def __init__(self) -> None:
        self._tries = self._uses = self._pause = 0

    @property
    def is_worth_a_try(self) -> bool:
        if self._tries < _MOST_VAIN_TRIES * (1 + self._uses):
            return True
        self._pause = (self._pause + 1) % _PAUSE
        return self._pause == 0

    def note(self, was_useful: bool) -> None:
        self._tries += 1
        self._uses += was_useful


class _Waiting:
    """Local states whose steps are blocked in a state in which another thread's step may go ahead;
    they are released where others may have changed what they look at."""

    def __init__(self, mine: Accessed, versions: list[Version]) -> None:
        self.mine = mine
        self.versions = versions
        self.may_break_a_lock = False
        self.released: set[LocalState] = set()
        self._waiting: list[tuple[LocalState, int, int]] = []

    def add(self, local: LocalState, cells: int, pages: int) -> None:
        self._waiting.append((local, cells, pages))

    def release(self, written: int, changed: int) -> list[LocalState]:
        items = self._waiting
        found = [item for item, cells, pages in items if cells & written or pages & changed]
        self.released.update(found)
        self._waiting = [item for item in items if item[0] not in self.released]
        return found


class Futures:
    def __init__(
        self,
        blocked: Blocked,
        commute: Commute,
        locks: KnownLocks,
        *,
        finds_leaks: bool,
        needs: FindNeeds | None,
    ) -> None:
        """Without `needs` all steps that were seen count as possible."""
        self._locks = locks
        self._needs = needs
        self._blocked = blocked
        self._commute = commute
        self._finds_leaks = finds_leaks
        self._luck: dict[Profile, _Luck] = {}
        self._local_states: dict[tuple[int, Thread], LocalState] = {}
        self._pieces: dict[int, int] = {}
        self._pages: dict[int, int] = {}
        self._objects: dict[tuple[int, int], int] = {}
        self.growth = 0  # counts what was not known before

    def forget(self) -> None:
        """All local states."""
        self._local_states.clear()
        self.growth += 1

    def local_state(self, number: int, thread: Thread) -> LocalState:
        key = (number, thread)
        found = self._local_states.get(key)
        if found is None:
            found = self._local_states[key] = LocalState(number, thread)
        return found

    # --- bit sets

    def accessed(self, footprint: Footprint) -> Accessed:
        reads = writes = 0
        for address, size, kind, _, _ in footprint.accesses:
            mask = self._mask(address, size)
            if kind is AccessKind.READ:
                reads |= mask
            else:
                writes |= mask
        if footprint.spawns:
            writes |= _SPAWN
        if self._finds_leaks:
            reads |= _STEP
            if footprint.ends_process:
                reads = writes = ALL
        return Accessed(reads, writes)

    def accessed_in_section(self, profile: Profile, held: frozenset[int]) -> Accessed:
        """In a critical section; `held` are the locks that its step does not give back."""
        reads = writes = locks = 0
        for part in profile.parts:
            for address, size, is_write, _ in part.accesses:
                mask = self._mask(address, size)
                is_lock = address in part.locks and size == self._locks.size(address)
                if is_lock and address not in held:
                    locks |= mask
                elif is_write:
                    writes |= mask
                else:
                    reads |= mask
        return Accessed(reads, writes, locks)

    def _mask(self, address: int, size: int) -> int:
        known = self._objects.get((address, size))
        if known is None:
            known = 0
            pieces = self._pieces
            last = (address + max(size, 1) - 1) >> _GRANULE_BITS
            for piece in range(address >> _GRANULE_BITS, last + 1):
                known |= _FIRST_PIECE << pieces.setdefault(piece, len(pieces))
            self._objects[address, size] = known
        return known

    def pages(self, pages: Iterable[int]) -> int:
        mask = 0
        for page in pages:
            mask |= 1 << self._pages.setdefault(page, len(self._pages))
        return mask

    # --- notes

    def note(
        self,
        local: LocalState,
        version: Version,
        changes: int,
        targets: Iterable[LocalState] = (),
    ) -> None:
        """A step from a local state: what it accesses, the pages it changes, where it leads."""
        accessed = version.accessed
        targets = tuple(targets)
        values: object = version.values
        if version.values is not None:
            found, written, unknown = version.values
            values = frozenset(found.items()), written, unknown
        # Those that nothing can tell from each other are taken for one.
        key = version.profile, version.own, changes, targets, values
        if key not in local.edges:
            local.edges[key] = Edge(version, changes, targets)
            self.growth += 1
        if local.versions is not None:
            local.versions.append(version)
            if version.is_opaque or len(local.versions) > _MOST_VERSIONS:
                local.versions = None
        local.changes |= changes
        local.accessed |= accessed
        for target in targets:
            if target is not local and target not in local.targets:
                local.targets[target] = None
                target.sources.append(local)
        self._spread(local)

    def note_behind(self, local: LocalState, behind: Profile) -> None:
        """Steps from a local state count as if they accessed that, too."""
        accessed = self.accessed_in_section(behind, frozenset())
        for version in (*(local.versions or ()), *(edge.version for edge in local.edges.values())):
            version.behind, version.accessed = behind, version.own | accessed
        # What has no steps yet that were seen is as it was.
        if local.accessed != NOTHING:
            local.accessed |= accessed
        self.growth += 1
        self._spread(local)

    def _spread(self, local: LocalState) -> None:
        """To the futures of all that may come to it."""
        grown = [local]
        while grown:
            item = grown.pop()
            future, changes = item.accessed, item.changes
            for target in item.targets:
                future |= target.future
                changes |= target.future_changes
            if future != item.future or changes != item.future_changes:
                item.future |= future
                item.future_changes |= changes
                self.growth += 1
                grown += item.sources

    # --- queries

    def conflicts(self, local: LocalState, mine: Accessed, versions: list[Version]) -> bool:
        """Whether the step of a local state conflicts with another thread's."""
        if not local.accessed.overlaps(mine):
            return False
        if local.versions is None:
            return True
        return any(self.conflict(theirs, versions) for theirs in local.versions)

    def conflict(self, theirs: Version, versions: list[Version]) -> bool:
        """Whether one of these steps conflicts with another thread's."""
        return any(
            theirs.accessed.overlaps(my.accessed) and not self._commute(my, theirs)
            for my in versions
        )

    def _may_break_a_lock(self, local: LocalState, mine: Accessed, versions: list[Version]) -> bool:
        """Whether a thread that is blocked now conflicts with a critical section without a common
        lock. Then the two have to come next in one state, so that this is noticed
        (`sections`, 1)."""
        if not any(my.profile.is_section for my in versions):
            return False
        if not local.accessed.overlaps(mine):
            return False
        if local.versions is None:
            return True
        return any(
            my.profile.is_section
            and their.accessed.overlaps(my.accessed)
            and not self._locks.agree(my.profile, their.profile)
            for their in local.versions
            for my in versions
        )

    def goes_ahead(
        self, state: State, mine: Accessed, versions: list[Version], others: list[LocalState]
    ) -> bool:
        """Whether a step with these accesses can be taken ahead of all that the others may do."""
        if not any(local.future.overlaps(mine) for local in others):
            return True
        # Most often a coarse look at who is blocked is enough, and much faster.
        found = self._goes_ahead_of_blocked(state, mine, versions, others, True)
        if found is None:
            found = self._goes_ahead_of_blocked(state, mine, versions, others, False)
        if not found and self._needs is not None:
            luck = self._luck.setdefault(versions[0].profile, _Luck())
            if luck.is_worth_a_try:
                found = self._goes_ahead_of_possible(state, mine, versions, others)
                luck.note(found)
        return bool(found)

    def _goes_ahead_of_blocked(
        self,
        state: State,
        mine: Accessed,
        versions: list[Version],
        others: list[LocalState],
        is_coarse: bool,
    ) -> bool | None:
        """`is_coarse`: what comes behind a local state is taken for possible as a whole, if none of
        it conflicts. None if that may have been too coarse."""
        seen: set[LocalState] = set(others)
        pending = list(others)  # that may take their steps, the nearest first
        waiting = _Waiting(mine, versions)
        written = changed = 0
        while pending:
            for local in pending:
                if is_coarse and not local.future.overlaps(mine):
                    written |= local.future.writes | local.future.locks
                    changed |= local.future_changes
                    continue
                if self._waits(state, local, waiting):
                    continue
                if self.conflicts(local, mine, versions):
                    return None if waiting.released else False
                written |= local.accessed.writes | local.accessed.locks
                changed |= local.changes
                if len(seen) > _MOST_LOCAL_STATES:
                    return False
                for target in local.targets:
                    if target not in seen:
                        seen.add(target)
                        pending.append(target)
            pending = waiting.release(written, changed)
        return not waiting.may_break_a_lock

    def _waits(self, state: State, local: LocalState, waiting: _Waiting) -> bool:
        """Whether a thread in a local state waits, as far as it was not released."""
        if not local.may_block or local in waiting.released:
            return False
        depends = self._blocked(state, local)
        if depends is None:
            return False
        waiting.add(local, *depends)
        if self._may_break_a_lock(local, waiting.mine, waiting.versions):
            waiting.may_break_a_lock = True
        return True

    def _goes_ahead_of_possible(
        self, state: State, mine: Accessed, versions: list[Version], others: list[LocalState]
    ) -> bool:
        """Steps of others count only if they find the values that they need."""
        values = self._values(state, versions)
        seen = set(others)
        pending = list(others)
        waiting = _Waiting(mine, versions)
        edges: list[Edge] = []  # to be looked at
        stalled: dict[int, list[Edge]] = {}  # by the pages of values that are not there so far
        written = changed = looked = 0
        while pending:
            for local in pending:
                if self._waits(state, local, waiting):
                    continue
                edges += local.edges.values()
            pending = []
            while edges:
                edge = edges.pop()
                version, changes, targets = edge
                looked += 1
                missing = self._missing(version, values)
                if missing is not None:
                    stalled.setdefault(missing.span.page, []).append(edge)
                    continue
                if looked > _MOST_EDGES or self._stops(version, mine, versions):
                    return False
                written |= version.accessed.writes | version.accessed.locks
                changed |= changes
                if version.values is None:
                    unknown: Collection[int] = self._listed(changes)
                    kept: tuple[tuple[Span, bytes], ...] = ()
                else:
                    _, kept, unknown = version.values
                values.write(kept)
                values.change(unknown)
                for page in (*unknown, *(span.page for span, _ in kept)):
                    edges += stalled.pop(page, ())
                new = [item for item in targets if item not in seen]
                seen.update(new)
                pending += new
            pending += waiting.release(written, changed)
        return not waiting.may_break_a_lock

    def _stops(self, theirs: Version, mine: Accessed, versions: list[Version]) -> bool:
        """Whether a step conflicts with another thread's. Those of which nothing is known may
        have been taken for one."""
        if not theirs.accessed.overlaps(mine):
            return False
        return theirs.values is None or self.conflict(theirs, versions)

    def _values(self, state: State, versions: list[Version]) -> PossibleValues:
        places = {page: place for place, page in enumerate(state.pages)}
        unknown = dict.fromkeys(
            Range(item.address, item.address + item.size)
            for version in versions
            for part in version.profile.parts
            for item in part.accesses
            if item.is_write
        )
        return PossibleValues(state, places, unknown)

    def _missing(self, version: Version, values: PossibleValues) -> Need | None:
        """Something that a step needs and that cannot be there."""
        if version.values is None or self._needs is None:
            return None
        if version.needs is None:
            version.needs = self._needs(version)
        return values.missing(version.needs)

    def _listed(self, mask: int) -> list[int]:
        """The pages of a bit set."""
        return [page for page, bit in self._pages.items() if mask >> bit & 1]


def on_cycles(edges: Mapping[int, Iterable[int]]) -> list[int]:
    """At least one of the numbers on each cycle of the graph that these edges make."""
    found: list[int] = []
    done: set[int] = set()
    for start in edges:
        if start in done:
            continue
        path = {start}
        pending = [(start, iter(edges[start]))]
        while pending:
            number, targets = pending[-1]
            for target in targets:
                if target in path:
                    found.append(number)  # its edge closes a cycle
                elif target in edges and target not in done:
                    path.add(target)
                    pending.append((target, iter(edges[target])))
                    break
            else:
                pending.pop()
                path.discard(number)
                done.add(number)
    return list(dict.fromkeys(found))
