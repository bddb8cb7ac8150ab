"""What threads can do in a state: their next steps with all inputs, where critical sections are
single steps (`sections`). What was seen is noted at the local states (`futures`)."""

from __future__ import annotations

from collections.abc import Callable

from plait.analysis.critical_sections import BrokenLock
from plait.analysis.sharing import Sharing
from plait.data import dataclass, field
from plait.engines.explicit.effects import Commuting, Effect, SymbolMachine
from plait.engines.explicit.futures import NOTHING, Accessed, Futures, LocalState, Version
from plait.engines.explicit.machine import PeekingMachine, WaryMachine
from plait.engines.explicit.possible import Need, Range
from plait.engines.explicit.sections import MOST_PARTS, Locks, Part, Phase, Profile
from plait.engines.explicit.settings import Settings
from plait.model.actions import NOWHERE, Origin
from plait.model.program import Program
from plait.model.properties import Specification
from plait.semantics.inputs import InputDomains
from plait.semantics.memo import StepTaker, Taken, values_of
from plait.semantics.outcome import HAS_NO_VERDICT, Ending, Footprint, StepOutcome
from plait.semantics.scalars import Number
from plait.semantics.state import State, Status

_MOST_RUNS = 64  # through one critical section

Choices = tuple[Number, ...]
Step = tuple[int, Choices]  # whose, and with which inputs


class GivesUp(Exception):
    """Nothing that is left to explore could make it a proof."""


@dataclass(slots=True, eq=False)
class Violation:
    """The steps lead to it; of a race or a deadlock, to the state that has it (`is_of_state`).
    `racing` are the two next steps that race."""

    message: str
    steps: list[Step]
    thread: int
    origin: Origin = NOWHERE
    racing: tuple[Step, ...] = ()
    is_of_state: bool = False


class Found(Exception):
    """A violation whose steps begin in the state of the attempt."""

    def __init__(self, violation: Violation) -> None:
        self.violation = violation
        super().__init__(violation.message)


@dataclass(slots=True, eq=False)
class Move:
    """A step that leads to a state: the inputs of each of its parts, and what its first part
    accesses, which is all that others can race with."""

    inputs: tuple[Choices, ...]
    state: State
    footprint: Footprint


@dataclass(slots=True, eq=False)
class Attempt:
    """What a thread can do in a state, one row for each combination of inputs. It `is_certain` if
    none of them led out of what is explored. `footprints` are those of first parts, `seen` all that
    was accessed."""

    moves: list[Move] = field(default_factory=list)
    footprints: list[Footprint] = field(default_factory=list)
    versions: list[Version] = field(default_factory=list)
    accessed: Accessed = NOTHING
    blocked: StepOutcome | None = None
    is_certain: bool = True
    undefined: Violation | None = None


@dataclass(slots=True, eq=False)
class _Noted:
    """What is known of a footprint."""

    part: Part
    accessed: Accessed
    lock: int
    version: Version | None = None  # of the step, if it is all of it


@dataclass(slots=True, eq=False)
class _Section:
    """A critical section so far; it `is_plain` if it only loads and stores, and `has_committed`
    if one of its parts was its commit."""

    is_plain: bool
    state: State
    inputs: tuple[Choices, ...]
    footprints: tuple[Footprint, ...]
    taken: tuple[Taken, ...]
    parts: tuple[Part, ...]
    held: frozenset[int]
    has_committed: bool = False


@dataclass(slots=True, eq=False)
class _KnownSection:
    """A critical section that need not be followed again."""

    inputs: tuple[Choices, ...]
    footprint: Footprint  # of its first part
    version: Version


class Attempts:
    def __init__(
        self,
        program: Program,
        specification: Specification,
        sharing: Sharing,
        settings: Settings,
        count: Callable[[], None],
    ) -> None:
        self._program = program
        self._count = count
        self._domains = InputDomains()
        self.machine = WaryMachine(program, specification, sharing)
        self._steps = StepTaker(
            self.machine, records=True, remembers=True, notes_values=settings.values
        )
        peeking = PeekingMachine(program, specification, sharing)
        peeking.compiler = self.machine.compiler
        self._peeks = StepTaker(peeking, records=True, remembers=True)
        self.locks = Locks(self._steps, self._peeks)
        # What is lost when the process ends depends on what threads have in the middle of sections.
        self._finds_sections = settings.sections and not self.machine.finds_leaks
        self._notes = settings.persistent_sets
        self._compares_effects = settings.commuting
        self.troubles: dict[str, None] = {}
        finds_leaks = self.machine.finds_leaks
        self.futures = Futures(
            self._blocked_at,
            self._commute,
            self.locks,
            finds_leaks=finds_leaks,
            needs=self._needs if settings.values else None,
        )
        self._tracing: SymbolMachine | None = None
        self._commuting: Commuting | None = None
        self._subject = program, specification, sharing
        self._versions: dict[tuple[Footprint, ...], Version] = {}
        # With the objects that the step was seen to change.
        self._noted: dict[tuple[LocalState, Version], set[int]] = {}

    def forget(self, *, keeps_behind: bool = False) -> None:
        """All that was seen with locks that are broken."""
        self.locks.forget(keeps_behind=keeps_behind)
        self.futures.forget()
        self._versions.clear()
        self._noted.clear()
        self._steps.forget_sequences()

    def attempt(self, state: State, thread: int) -> Attempt:
        """Try a thread's next step with all inputs. Raises Found and BrokenLock."""
        result = Attempt()
        known = self._steps.take_sequence(state, thread)
        if known is not None:
            self._count()
            following, section = known
            assert isinstance(section, _KnownSection)
            inputs = section.inputs
            result.moves.append(Move(inputs, following, section.footprint))
            result.footprints.append(section.footprint)
            self._note(result, section.version, (state, thread, inputs), following)
            return result
        pending: list[Choices] = [()]
        while pending:
            choices = pending.pop()
            taken = self._take(result, state, thread, (choices,))
            if taken.outcome.ending is Ending.NEEDS_INPUT:
                pending += self._with_inputs(taken, choices)
                continue
            footprint = taken.footprint
            assert footprint is not None
            result.footprints.append(footprint)
            if taken.outcome.ending is Ending.BLOCKED:
                result.blocked = taken.outcome
            noted = self._known(state, thread, taken)
            if noted.lock:
                self.locks.note_taker(state, thread, noted.lock)
                self._take_section(result, state, thread, choices, taken, noted)
                continue
            if taken.state is not None:
                result.moves.append(Move((choices,), taken.state, footprint))
            version = noted.version
            if version is None:
                version = Version(self.locks.profile((noted.part,)), noted.accessed)
                version.is_opaque = taken.state is None or taken.touched is None
                version.values = values_of((taken,))
                noted.version = version
            self._note(result, version, (state, thread, (choices,)), taken.state)
        return result

    def _take(
        self, result: Attempt, state: State, thread: int, inputs: tuple[Choices, ...]
    ) -> Taken:
        self._count()
        taken = self._steps.take(state, thread, inputs[-1])
        outcome = taken.outcome
        ending = outcome.ending
        if ending is Ending.VIOLATION or ending in HAS_NO_VERDICT:
            steps = [(thread, choices) for choices in inputs]
            found = Violation(outcome.message, steps, outcome.thread or thread, outcome.origin)
            if ending is Ending.VIOLATION:
                raise Found(found)
            result.is_certain = False
            place = self._program.user_place(outcome.origin)
            self.troubles[f"{ending.value}: {outcome.message} ({place})"] = None
            if ending is Ending.UNDEFINED and result.undefined is None:
                result.undefined = found
        return taken

    def _with_inputs(self, taken: Taken, choices: Choices) -> list[Choices]:
        outcome = taken.outcome
        assert outcome.input is not None
        values, is_complete = self._domains.values(outcome.input)
        if not is_complete:
            place = self._program.user_place(outcome.origin)
            raise GivesUp(f"an input with too many values: {outcome.message} ({place})")
        return [(*choices, value) for value in reversed(values)]

    def _known(self, state: State, thread: int, taken: Taken) -> _Noted:
        footprint = taken.footprint
        assert footprint is not None
        noted = footprint.note
        if noted is None:
            lock = self.locks.taken_by(state, taken, thread) if self._finds_sections else 0
            part = self.locks.part(footprint)
            noted = footprint.note = _Noted(part, self.futures.accessed(footprint), lock)
        assert isinstance(noted, _Noted)
        if noted.lock in self.locks.broken:
            noted.lock = 0
        return noted

    # --- critical sections

    def _take_section(
        self,
        result: Attempt,
        state: State,
        thread: int,
        choices: Choices,
        taken: Taken,
        noted: _Noted,
    ) -> None:
        """From the step that takes a lock on to where the thread holds none."""
        following, footprint = taken.state, taken.footprint
        assert following is not None and footprint is not None
        first, held = noted.lock, frozenset((noted.lock,))
        parts = (Part(noted.part.accesses, held, self._phase(noted, has_committed=False)),)
        start = (choices,), (footprint,), (taken,)
        pending = [_Section(True, following, *start, parts, held)]
        runs = 0
        while pending:
            section = pending.pop()
            still = frozenset(lock for lock in section.held if self._holds(section, thread, lock))
            if still != section.held and not section.has_committed:
                *before, last = section.parts
                section.parts = (*before, last._replace(phase=Phase.COMMIT))
                section.has_committed = True
            section.held = still
            if not still:
                runs += 1
                self._end_section(result, state, thread, section)
                continue
            thread_now = section.state.threads[thread - 1]
            if len(section.parts) > MOST_PARTS or runs + len(pending) > _MOST_RUNS:
                raise BrokenLock(first, "its critical section is too long")
            if thread_now.status is Status.HALTED:
                continue  # there is no verdict then
            if thread_now.status is not Status.RUNNING or section.state.exit is not None:
                raise BrokenLock(first, "its critical section does not end")
            if section.parts[-1].phase is Phase.COMMIT and not section.has_committed:
                runs += 1
                self._end_section(result, state, thread, section)
                continue
            pending += self._go_on(result, thread, section, first)

    def _phase(self, noted: _Noted, *, has_committed: bool) -> Phase:
        """Of a part of a critical section, as far as its accesses tell."""
        if has_committed:
            return Phase.SHRINKING
        if self.locks.is_unprotected(noted.part.accesses):
            return Phase.COMMIT
        return Phase.GROWING

    def _holds(self, section: _Section, thread: int, lock: int) -> bool:
        return self.locks.note_held(section.state, thread, lock)

    def _go_on(self, result: Attempt, thread: int, section: _Section, first: int) -> list[_Section]:
        """All next parts."""
        found = []
        pending: list[Choices] = [()]
        while pending:
            choices = pending.pop()
            inputs = (*section.inputs, choices)
            taken = self._take(result, section.state, thread, inputs)
            if taken.outcome.ending is Ending.NEEDS_INPUT:
                pending += self._with_inputs(taken, choices)
                continue
            if taken.outcome.ending in HAS_NO_VERDICT:
                continue
            footprint = taken.footprint
            assert footprint is not None
            if taken.outcome.ending is not Ending.MOVED or taken.state is None:
                raise BrokenLock(first, "its critical section may be blocked")
            if footprint.spawns or footprint.ends_process:
                raise BrokenLock(first, "a thread is started, or the process ended, in its section")
            noted = self._known(section.state, thread, taken)
            held = section.held
            if noted.lock and noted.lock not in held:
                if section.has_committed:
                    raise BrokenLock(first, "locks are taken after one was given back")
                self.locks.note_taker(section.state, thread, noted.lock)
                self.locks.note_order(first, held, noted.lock)
                held |= {noted.lock}
            phase = self._phase(noted, has_committed=section.has_committed)
            found.append(
                _Section(
                    section.is_plain and taken.touched is not None,
                    taken.state,
                    inputs,
                    (*section.footprints, footprint),
                    (*section.taken, taken),
                    (*section.parts, Part(noted.part.accesses, held, phase)),
                    held,
                    section.has_committed,
                )
            )
        return found

    def _end_section(self, result: Attempt, state: State, thread: int, section: _Section) -> None:
        """The end of the step that it is; locks may be held still."""
        result.moves.append(Move(section.inputs, section.state, section.footprints[0]))
        version = self._versions.get(section.footprints)
        if version is None:
            profile = self.locks.profile(section.parts)
            accessed = self.futures.accessed_in_section(profile, section.held)
            version = self._versions[section.footprints] = Version(profile, accessed)
            version.is_opaque = not section.is_plain
            version.values = values_of(section.taken)
        following = section.state.threads[thread - 1]
        if self.locks.note_behind(thread, following, version.profile) and self._notes:
            found = self.locks.behind(thread, following)
            assert found is not None
            self.futures.note_behind(self.futures.local_state(thread, following), found)
        if section.is_plain and not any(section.inputs):
            known = _KnownSection(section.inputs, section.footprints[0], version)
            self._steps.remember_sequence(state, thread, section.taken, known)
        self._note(result, version, (state, thread, section.inputs), section.state)

    # --- what is noted

    def _note(
        self,
        result: Attempt,
        version: Version,
        origin: tuple[State, int, tuple[Choices, ...]],
        following: State | None,
    ) -> None:
        state, thread, _ = origin
        if self._finds_sections:
            self._set_behind(version, self.locks.behind(thread, state.threads[thread - 1]))
        result.versions.append(version)
        result.accessed |= version.accessed
        if version.origin is None:
            version.origin = origin
        if not self._notes:
            return
        futures = self.futures
        local = futures.local_state(thread, state.threads[thread - 1])
        known = self._noted.get((local, version))
        if following is None:
            if known is None:
                self._noted[local, version] = set()
                if result.blocked is not None:
                    local.may_block = True
                futures.note(local, version, 0)
            return
        # What it writes may be what was there before, in some states and not in others.
        changed = _changed(state, following)
        if known is not None and changed <= known:
            return
        self._noted[local, version] = changed | (known or set())
        targets = [futures.local_state(thread, following.threads[thread - 1])]
        for born in range(len(state.threads), len(following.threads)):
            targets.append(futures.local_state(born + 1, following.threads[born]))
        # An object may be changed where others can see it and where they cannot, in one step.
        futures.note(local, version, futures.pages(changed), targets)

    def accessed_again(self, state: State, thread: int, versions: list[Version]) -> Accessed:
        """What the step of a thread accesses; it may count as if it accessed more by now."""
        found = NOTHING
        for version in versions:
            if self._finds_sections:
                self._set_behind(version, self.locks.behind(thread, state.threads[thread - 1]))
            found |= version.accessed
        return found

    def _set_behind(self, version: Version, behind: Profile | None) -> None:
        if version.behind is not behind:
            version.behind, version.accessed = behind, version.own
            if behind is not None:
                version.accessed |= self.futures.accessed_in_section(behind, frozenset())

    def _commute(self, one: Version, other: Version) -> bool:
        """Whether two steps of different threads that access the same commute: by what they
        compute, and because nothing can come in between."""
        for first, second in ((one, other), (other, one)):
            if first.behind is not None and not self.locks.agree(first.behind, second.profile):
                return False
        if not one.own.overlaps(other.own):
            return True
        if not self._compares_effects or not self.locks.are_indivisible(one.profile, other.profile):
            return False
        self._prepare_tracing()
        assert self._commuting is not None
        mine, theirs = self._effect(one), self._effect(other)
        return mine is not None and theirs is not None and self._commuting.commute(mine, theirs)

    def _needs(self, version: Version) -> tuple[Need, ...]:
        """What a step needs that was seen. It commutes with others by what it computes whatever it
        finds in some cells: it does not need these."""
        assert version.values is not None
        found, written, _ = version.values
        needed = set(found)
        if self._compares_effects and any(span in needed for span, _ in written):
            self._prepare_tracing()
            effect = self._effect(version)
            if effect is not None:
                needed &= effect.conditions.keys()
        bits = self.machine.page_bits
        return tuple(
            Need(
                span, data, Range((span.page << bits) + span.start, (span.page << bits) + span.end)
            )
            for span, data in found.items()
            if span in needed
        )

    def _prepare_tracing(self) -> None:
        if self._commuting is None:
            self._tracing = SymbolMachine(*self._subject)
            self._tracing.compiler = self.machine.compiler
            self._commuting = Commuting(self._tracing.terms)

    def _effect(self, version: Version) -> Effect | None:
        if version.effect is None and not version.is_opaque:
            assert version.origin is not None
            assert self._tracing is not None and self._commuting is not None
            found = self._tracing.effect(*version.origin)
            if found is None:
                version.is_opaque = True
            else:
                version.effect = self._commuting.interned(found)
        return version.effect

    def _blocked_at(self, state: State, local: LocalState) -> tuple[int, int] | None:
        place = local.number - 1
        if place >= len(state.threads) or state.threads[place].status is not Status.RUNNING:
            return None
        if state.threads[place] is not local.thread:
            threads = (*state.threads[:place], local.thread, *state.threads[place + 1 :])
            state = state._replace(threads=threads)
        taken = self._peeks.take(state, local.number, ())
        if taken.outcome.ending is not Ending.BLOCKED or taken.touched is None:
            return None
        version = self._blocked_version(taken)
        if (local, version) not in self._noted:
            # Others may go ahead now until it would look at something else when it is tried.
            self._noted[local, version] = set()
            if self._finds_sections:
                self._set_behind(version, self.locks.behind(local.number, local.thread))
                self.locks.note_waiting(local.number, version.profile)
            self.futures.note(local, version, 0)
        return version.accessed.reads, self.futures.pages(taken.touched)

    def _blocked_version(self, taken: Taken) -> Version:
        footprint = taken.footprint
        assert footprint is not None
        version = footprint.note
        if version is None:
            profile = self.locks.profile((Locks.part(footprint),))
            version = footprint.note = Version(profile, self.futures.accessed(footprint))
            version.is_opaque = True
            version.values = values_of((taken,))
        assert isinstance(version, Version)
        return version


def _changed(before: State, after: State) -> set[int]:
    """The pages of objects that a step has changed, made or destroyed."""
    if before.pages is after.pages:
        rows = zip(before.pages, before.contents, after.contents, strict=True)
        found = {page for page, old, new in rows if old is not new}
    else:
        old = dict(zip(before.pages, before.contents, strict=True))
        new = dict(zip(after.pages, after.contents, strict=True))
        found = {page for page in old.keys() | new.keys() if old.get(page) is not new.get(page)}
    if before.undefined is not after.undefined:
        found.update(page for page, _ in {*before.undefined} ^ {*after.undefined})
    return found
