"""The search: all states, breadth first, so that counterexamples are short.

What a step is, what it does and when two of them race is said by `plait.semantics`, whose plain
exploration is the reference for this one. States are kept without loss (see storage), so that an
exhausted search is a proof.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from plait.analysis.sharing import sharing_of
from plait.data import dataclass, field
from plait.engines.explicit.futures import Accessed, Futures, LocalState, on_cycles
from plait.engines.explicit.machine import PeekingMachine, WaryMachine
from plait.engines.explicit.room import Room
from plait.engines.explicit.settings import Settings
from plait.engines.explicit.statistics import Statistics
from plait.engines.explicit.storage import StateStore
from plait.engines.interface import OutOfTime
from plait.model.actions import NOWHERE, Origin
from plait.model.program import Program
from plait.model.properties import Property, Specification
from plait.semantics.deadlock import StateGraph
from plait.semantics.inputs import InputDomains
from plait.semantics.memo import StepTaker, Taken
from plait.semantics.outcome import (
    HAS_NO_VERDICT,
    Access,
    AccessKind,
    Ending,
    Footprint,
    StepOutcome,
)
from plait.semantics.scalars import Number
from plait.semantics.state import State, Status, runnable

_LOOK_AT_CLOCK_EVERY = 512
_TELL_EVERY = 0.2  # seconds

Choices = tuple[Number, ...]
Step = tuple[int, Choices]  # whose, and with which inputs
Move = tuple[Choices, State, Footprint | None]


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


class _Found(Exception):
    def __init__(self, violation: Violation) -> None:
        self.violation = violation
        super().__init__(violation.message)


@dataclass(slots=True, eq=False)
class Result:
    """`troubles` are reasons for which it is no proof, if there is no violation; `undefined` leads
    to the first one, if that is undefined behaviour."""

    violation: Violation | None = None
    troubles: list[str] = field(default_factory=list)
    undefined: Violation | None = None


@dataclass(slots=True, eq=False)
class _Attempt:
    """What a thread can do in a state, one row for each combination of inputs. It `is_certain` if
    none of them led out of what is explored."""

    moves: list[Move] = field(default_factory=list)
    footprints: list[Footprint] = field(default_factory=list)
    blocked: StepOutcome | None = None
    is_certain: bool = True


@dataclass(slots=True, eq=False)
class _Reduced:
    """`growth` is that of the futures for which it was found to be enough."""

    thread: int
    accessed: Accessed
    targets: tuple[int, ...]
    growth: int


class Search:
    def __init__(
        self,
        program: Program,
        specification: Specification,
        settings: Settings,
        deadline: float | None,
        tell: Callable[[Statistics], None],
    ) -> None:
        self._began = time.monotonic()
        self.statistics = Statistics()
        self._program = program
        self._settings = settings
        self._deadline = deadline
        self._tell = tell
        self._next_telling = self._began + _TELL_EVERY
        self._room = Room()
        self.sharing = sharing_of(program)
        self.machine = WaryMachine(program, specification, self.sharing)
        self._domains = InputDomains()
        self._finds_races = Property.NO_DATA_RACE in specification
        self._finds_deadlocks = Property.NO_DEADLOCK in specification
        self._steps = StepTaker(self.machine, records=True, remembers=True)
        peeking = PeekingMachine(program, specification, self.sharing)
        peeking.compiler = self.machine.compiler
        self._peeks = StepTaker(peeking, records=True, remembers=True)
        finds_leaks = self.machine.finds_leaks
        self._futures = Futures(self._blocked_at, finds_leaks=finds_leaks)
        # States of which only one thread's steps were taken.
        self._reduced: dict[int, _Reduced] = {}
        self._store = StateStore()
        # How each state was first reached: from which state, and by which step.
        self._sources: list[int] = []
        self._last_steps: list[Step] = []
        self._queue: deque[int] = deque()
        self._graph = StateGraph()
        self._result = Result()
        self._troubles: dict[str, None] = {}

    def run(self) -> Result:
        """OutOfTime and GivesUp if it does not come to an end."""
        result = self._result
        try:
            self._explore()
        except _Found as found:
            result.violation = found.violation
        result.troubles = list(self._troubles)
        self._count()
        return result

    def _explore(self) -> None:
        self.machine.start()
        self.machine.commit()
        self._arrive(self.machine.state(), -1, (0, ()))
        while self._queue:
            while self._queue:
                self._expand(self._queue.popleft())
            self._make_up()
        if self._finds_deadlocks:
            self._find_partial_deadlock()

    def _look_around(self) -> None:
        """Whether time and memory are left; and tell how far it is."""
        OutOfTime.check(self._deadline)
        if self._room.is_used_up:
            raise GivesUp(f"the memory for states is used up after {len(self._store):,} states")
        if len(self._store) > self._settings.max_states:
            raise GivesUp(f"more than {self._settings.max_states:,} states")
        now = time.monotonic()
        if now >= self._next_telling:
            self._next_telling = now + _TELL_EVERY
            self._count()
            self._tell(self.statistics)

    def _count(self) -> None:
        statistics = self.statistics
        statistics.states = len(self._store)
        statistics.memories = self._store.memories
        statistics.open_states = len(self._queue)
        statistics.exploring_seconds = time.monotonic() - self._began

    # --- states

    def _arrive(self, state: State, source: int, step: Step) -> int:
        number, is_new = self._store.add(state)
        if is_new:
            self._sources.append(source)
            self._last_steps.append(step)
            self._queue.append(number)
            if len(state.threads) > self.statistics.threads:
                self.statistics.threads = len(state.threads)
            if self._finds_deadlocks:
                self._graph.add_state()
        if self._finds_deadlocks and source >= 0:
            self._graph.sources[number].append(source)
        return number

    def _expand(self, number: int, *, is_whole: bool = False) -> None:
        """Try all threads, and go on with all that can move; or, unless it `is_whole`, with one of
        them whose step goes ahead of all that the others may do."""
        state = self._store.state(number)
        attempts = {thread: self._attempt(number, state, thread) for thread in runnable(state)}
        if self._finds_races:
            self._find_race(number, attempts)
        moving = {thread: item for thread, item in attempts.items() if item.moves}
        if self._finds_deadlocks:
            self._look_for_deadlock(number, state, attempts)
        ahead = None
        if len(moving) > 1 and self._settings.persistent_sets and not is_whole:
            ahead = self._going_ahead(state, attempts)
        if ahead is None:
            self._reduced.pop(number, None)
        else:
            moving = {ahead[0]: moving[ahead[0]]}
        targets = [
            self._arrive(following, number, (thread, choices))
            for thread, attempt in moving.items()
            for choices, following, _ in attempt.moves
        ]
        if ahead is not None:
            self._reduced[number] = _Reduced(*ahead, tuple(targets), self._futures.growth)

    def _look_for_deadlock(self, number: int, state: State, attempts: dict[int, _Attempt]) -> None:
        blocked = {
            thread: item.blocked
            for thread, item in attempts.items()
            if item.blocked is not None and not item.moves
        }
        stopped = {item.status for item in state.threads}
        if Status.PRUNED in stopped and state.exit is None:
            self._graph.pruned[number] = True
        elif Status.HALTED not in stopped and all(item.is_certain for item in attempts.values()):
            self._graph.blocked[number] = frozenset(blocked)
            if blocked and not any(item.moves for item in attempts.values()):
                self._report_deadlock(number, next(iter(blocked)), blocked)

    # --- steps that go ahead

    def _going_ahead(
        self, state: State, attempts: dict[int, _Attempt]
    ) -> tuple[int, Accessed] | None:
        """A thread whose steps are enough, and what they access."""
        find = self._futures.local_state
        locals_ = {thread: find(thread, state.threads[thread - 1]) for thread in attempts}
        for thread, attempt in attempts.items():
            is_plain = all(self._goes_on(following, thread) for _, following, _ in attempt.moves)
            if not attempt.moves or not attempt.is_certain or not is_plain:
                continue
            mine = self._futures.joined(attempt.footprints)
            others = [item for other, item in locals_.items() if other != thread]
            if any(attempts[item.number].moves and item.conflicts_with(mine) for item in others):
                continue
            if self._futures.goes_ahead(state, mine, others):
                return thread, mine
        return None

    def _goes_on(self, state: State, thread: int) -> bool:
        """Whether a step has neither ended the process nor stopped the thread for good before its
        end. With the end of the last thread memory may be lost: then that goes ahead of nothing."""
        status = state.threads[thread - 1].status
        ends_well = status is Status.ENDED and not self.machine.finds_leaks
        return state.exit is None and (status is Status.RUNNING or ends_well)

    def _make_up(self) -> None:
        """When there is nothing left to do: take the steps that were left out in states where the
        one that was taken conflicts with something that was seen since then, and in one state of
        each cycle of reduced states."""
        closing = [-1]
        growth = -1
        while not self._queue and (closing or growth != self._futures.growth):
            growth = self._futures.growth
            for number, item in list(self._reduced.items()):
                if item.growth != self._futures.growth and not self._still_goes_ahead(number, item):
                    self._expand(number)
            closing = on_cycles({number: item.targets for number, item in self._reduced.items()})
            for number in closing:
                self._expand(number, is_whole=True)

    def _still_goes_ahead(self, number: int, item: _Reduced) -> bool:
        growth, state = self._futures.growth, self._store.state(number)
        others = [
            self._futures.local_state(thread, state.threads[thread - 1])
            for thread in runnable(state)
            if thread != item.thread
        ]
        if not self._futures.goes_ahead(state, item.accessed, others):
            return False
        item.growth = growth
        return True

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
        assert taken.footprint is not None
        reads = self._futures.accessed(taken.footprint).reads
        return reads, self._futures.pages(taken.touched)

    def _note(self, state: State, thread: int, taken: Taken) -> None:
        footprint = taken.footprint
        assert footprint is not None
        if footprint.is_noted or not self._settings.persistent_sets:
            return
        footprint.is_noted = True
        futures = self._futures
        local = futures.local_state(thread, state.threads[thread - 1])
        following = taken.state
        if following is None:
            if taken.outcome.ending is Ending.BLOCKED:
                local.may_block = True
            futures.note(local, futures.accessed(footprint), 0)
            return
        targets = [futures.local_state(thread, following.threads[thread - 1])]
        for born in range(len(state.threads), len(following.threads)):
            targets.append(futures.local_state(born + 1, following.threads[born]))
        seen = {
            access.address >> self.machine.page_bits
            for access in footprint.accesses
            if access.kind is AccessKind.WRITE
        }
        unseen = futures.pages(page for page in _changed(state, following) if page not in seen)
        futures.note(local, futures.accessed(footprint), unseen, targets)

    def _attempt(self, number: int, state: State, thread: int) -> _Attempt:
        """Try a thread's next step with all inputs."""
        result = _Attempt()
        pending: list[Choices] = [()]
        while pending:
            self.statistics.steps += 1
            if self.statistics.steps % _LOOK_AT_CLOCK_EVERY == 0:
                self._look_around()
            choices = pending.pop()
            taken = self._steps.take(state, thread, choices)
            outcome = taken.outcome
            ending = outcome.ending
            if ending is Ending.NEEDS_INPUT:
                assert outcome.input is not None
                values, is_complete = self._domains.values(outcome.input)
                if not is_complete:
                    place = self._program.place(outcome.origin)
                    raise GivesUp(f"an input with too many values: {outcome.message} ({place})")
                pending += [(*choices, value) for value in reversed(values)]
                continue
            assert taken.footprint is not None
            result.footprints.append(taken.footprint)
            self._note(state, thread, taken)
            if taken.state is not None:
                result.moves.append((choices, taken.state, taken.footprint))
            if ending is Ending.BLOCKED:
                result.blocked = outcome
            elif ending is Ending.VIOLATION:
                raise _Found(self._violation(number, outcome, thread, choices))
            elif ending in HAS_NO_VERDICT:
                result.is_certain = False
                place = self._program.place(outcome.origin)
                self._troubles[f"{ending.value}: {outcome.message} ({place})"] = None
                if ending is Ending.UNDEFINED and self._result.undefined is None:
                    self._result.undefined = self._violation(number, outcome, thread, choices)
        return result

    # --- what is found

    def _path(self, number: int) -> list[Step]:
        steps: list[Step] = []
        while self._sources[number] >= 0:
            steps.append(self._last_steps[number])
            number = self._sources[number]
        return steps[::-1]

    def _violation(
        self, number: int, outcome: StepOutcome, thread: int, choices: Choices
    ) -> Violation:
        steps = [*self._path(number), (thread, choices)]
        return Violation(outcome.message, steps, outcome.thread or thread, outcome.origin)

    def _find_race(self, number: int, attempts: dict[int, _Attempt]) -> None:
        page_bits = self.machine.page_bits
        steps = {
            thread: Footprint.joined(page_bits, item.footprints, [move[2] for move in item.moves])
            for thread, item in attempts.items()
            if item.moves
        }
        threads = list(steps)
        for position, first in enumerate(threads):
            for second in threads[position + 1 :]:
                pair = steps[first].race_with(steps[second])
                if pair is not None:
                    racing = (
                        self._step_with(number, first, pair[0]),
                        self._step_with(number, second, pair[1]),
                    )
                    path, origin = self._path(number), pair[0].origin
                    raise _Found(Violation("race", path, first, origin, racing, is_of_state=True))

    def _step_with(self, number: int, thread: int, access: Access) -> Step:
        """A thread's next step, with inputs with which it makes an access."""
        for choices, _, footprint in self._attempt(number, self._store.state(number), thread).moves:
            if footprint is not None and access in footprint.accesses:
                return thread, choices
        raise AssertionError("an access that no step makes")

    def _find_partial_deadlock(self) -> None:
        found = self._graph.deadlock()
        if found is None:
            if self._graph.doubtful:
                what = "a thread waits for ever in executions in which an assumption fails later"
                self._troubles[what] = None
            return
        number, thread = found
        outcome = self._attempt(number, self._store.state(number), thread).blocked
        assert outcome is not None
        self._report_deadlock(number, thread, {thread: outcome})

    def _report_deadlock(self, number: int, thread: int, blocked: dict[int, StepOutcome]) -> None:
        origin = blocked[thread].origin
        path = self._path(number)
        raise _Found(Violation("deadlock", path, thread, origin, is_of_state=True))


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
