"""The search: all states, breadth first, so that counterexamples are short.

What a step is, what it does and when two of them race is said by `plait.semantics`, whose plain
exploration is the reference for this one. States are kept without loss (see storage), so that an
exhausted search is a proof.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from plait.analysis.critical_sections import BrokenLock
from plait.analysis.sharing import sharing_of
from plait.data import dataclass, field
from plait.engines.explicit.attempts import Attempt, Attempts, Found, GivesUp, Step, Violation
from plait.engines.explicit.futures import Version, on_cycles
from plait.engines.explicit.room import Room
from plait.engines.explicit.sections import Afresh, Unprotected
from plait.engines.explicit.settings import Settings
from plait.engines.explicit.statistics import Statistics
from plait.engines.explicit.storage import StateStore
from plait.engines.interface import OutOfTime
from plait.model.program import Program
from plait.model.properties import Property, Specification
from plait.semantics.deadlock import StateGraph
from plait.semantics.outcome import Access, Footprint, StepOutcome
from plait.semantics.state import State, Status, runnable

_LOOK_AT_CLOCK_EVERY = 512
_TELL_EVERY = 0.2  # seconds


@dataclass(slots=True, eq=False)
class Result:
    """`troubles` are reasons for which it is no proof, if there is no violation; `undefined` leads
    to the first one, if that is undefined behaviour."""

    violation: Violation | None = None
    troubles: list[str] = field(default_factory=list)
    undefined: Violation | None = None


@dataclass(slots=True, eq=False)
class _Reduced:
    """`growth` is that of the futures for which it was found to be enough."""

    thread: int
    versions: list[Version]
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
        sharing = sharing_of(program)
        self._attempts = Attempts(program, specification, sharing, settings, self._count_step)
        self.machine = self._attempts.machine
        self._finds_races = Property.NO_DATA_RACE in specification
        self._finds_deadlocks = Property.NO_DEADLOCK in specification
        self._futures = self._attempts.futures
        self._result = Result()
        self._begin()

    def _begin(self) -> None:
        # States of which only one thread's steps were taken.
        self._reduced: dict[int, _Reduced] = {}
        self._store = StateStore()
        # How each state was first reached: from which state, and by which step.
        self._sources: list[int] = []
        self._last_steps: list[tuple[Step, ...]] = []
        self._queue: deque[int] = deque()
        self._graph = StateGraph()

    def run(self) -> Result:
        """OutOfTime and GivesUp if it does not come to an end."""
        result = self._result
        try:
            while not self._has_explored():
                self._begin()
        except Found as found:
            result.violation = found.violation
        result.troubles = list(self._attempts.troubles)
        self._count()
        return result

    def _has_explored(self) -> bool:
        """False if what was taken for a lock is none, or does not protect all: all was for
        nothing."""
        try:
            self._explore()
        except BrokenLock as lock:
            self._attempts.locks.broken.add(lock.address)
        except Unprotected as cell:
            self._attempts.locks.unprotected[cell.start, cell.end] = None
        except Afresh:
            self._attempts.forget(keeps_behind=True)
            return False
        else:
            return True
        self._attempts.forget()
        return False

    def _explore(self) -> None:
        self.machine.start()
        self.machine.commit()
        self._arrive(self.machine.state(), -1, ())
        while self._queue:
            while self._queue:
                self._expand(self._queue.popleft())
            self._make_up()
        if self._finds_deadlocks:
            self._find_partial_deadlock()

    def _count_step(self) -> None:
        self.statistics.steps += 1
        if self.statistics.steps % _LOOK_AT_CLOCK_EVERY == 0:
            self._look_around()

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

    def _arrive(self, state: State, source: int, steps: tuple[Step, ...]) -> int:
        number, is_new = self._store.add(state)
        if is_new:
            self._sources.append(source)
            self._last_steps.append(steps)
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
        self._compare_profiles(state, attempts)
        if self._finds_races:
            self._find_race(number, attempts)
        moving = {thread: item for thread, item in attempts.items() if item.moves}
        if self._finds_deadlocks:
            self._look_for_deadlock(number, state, attempts)
        ahead = None
        growth = self._futures.growth  # the look at the others may let it grow
        if len(moving) > 1 and self._settings.persistent_sets and not is_whole:
            ahead = self._going_ahead(state, attempts)
        if ahead is None:
            self._reduced.pop(number, None)
        else:
            moving = {ahead[0]: moving[ahead[0]]}
        targets = [
            self._arrive(move.state, number, tuple((thread, choices) for choices in move.inputs))
            for thread, attempt in moving.items()
            for move in attempt.moves
        ]
        if ahead is not None:
            self._reduced[number] = _Reduced(*ahead, tuple(targets), growth)

    def _look_for_deadlock(self, number: int, state: State, attempts: dict[int, Attempt]) -> None:
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
        self, state: State, attempts: dict[int, Attempt]
    ) -> tuple[int, list[Version]] | None:
        """A thread whose steps are enough, and what they come to."""
        find = self._futures.local_state
        locals_ = {thread: find(thread, state.threads[thread - 1]) for thread in attempts}
        for thread, attempt in attempts.items():
            is_plain = all(self._goes_on(move.state, thread) for move in attempt.moves)
            if not attempt.moves or not attempt.is_certain or not is_plain:
                continue
            mine, versions = attempt.accessed, attempt.versions
            others = [item for other, item in locals_.items() if other != thread]
            if any(
                item.moves and item.accessed.overlaps(mine) and self._conflict(item, versions)
                for other, item in attempts.items()
                if other != thread
            ):
                continue
            if self._futures.goes_ahead(state, mine, versions, others):
                return thread, versions
        return None

    def _conflict(self, attempt: Attempt, versions: list[Version]) -> bool:
        """Whether what a thread can do now conflicts with another one's steps."""
        return any(self._futures.conflict(theirs, versions) for theirs in attempt.versions)

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
        accessed = self._attempts.accessed_again(state, item.thread, item.versions)
        if not self._futures.goes_ahead(state, accessed, item.versions, others):
            return False
        item.growth = growth
        return True

    # --- steps

    def _attempt(self, number: int, state: State, thread: int) -> Attempt:
        try:
            attempt = self._attempts.attempt(state, thread)
        except Found as found:
            violation = found.violation
            violation.steps = [*self._path(number), *violation.steps]
            raise
        undefined = attempt.undefined
        if undefined is not None and self._result.undefined is None:
            undefined.steps = [*self._path(number), *undefined.steps]
            self._result.undefined = undefined
        return attempt

    def _compare_profiles(self, state: State, attempts: dict[int, Attempt]) -> None:
        """Whether critical sections conflict with what others do next."""
        locks = self._attempts.locks
        for thread, attempt in attempts.items():
            behind = locks.standing(thread, state.threads[thread - 1])
            if behind is not None:
                for other, item in attempts.items():
                    if other != thread:
                        for theirs in item.versions:
                            locks.compare_behind(behind, theirs.profile)
            for version in attempt.versions:
                if not version.profile.is_section:
                    continue
                for other, item in attempts.items():
                    if other != thread and item.accessed.overlaps(version.accessed):
                        for theirs in item.versions:
                            locks.compare(version.profile, theirs.profile)

    # --- what is found

    def _path(self, number: int) -> list[Step]:
        steps: list[Step] = []
        while self._sources[number] >= 0:
            steps += reversed(self._last_steps[number])
            number = self._sources[number]
        return steps[::-1]

    def _find_race(self, number: int, attempts: dict[int, Attempt]) -> None:
        page_bits = self.machine.page_bits
        steps = {
            thread: Footprint.joined(
                page_bits, item.footprints, [move.footprint for move in item.moves]
            )
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
                    raise Found(Violation("race", path, first, origin, racing, is_of_state=True))

    def _step_with(self, number: int, thread: int, access: Access) -> Step:
        """A thread's next step, with inputs with which it makes an access."""
        for move in self._attempt(number, self._store.state(number), thread).moves:
            if access in move.footprint.accesses:
                return thread, move.inputs[0]
        raise AssertionError("an access that no step makes")

    def _find_partial_deadlock(self) -> None:
        found = self._graph.deadlock()
        if found is None:
            if self._graph.doubtful:
                what = "a thread waits for ever in executions in which an assumption fails later"
                self._attempts.troubles[what] = None
            return
        number, thread = found
        outcome = self._attempt(number, self._store.state(number), thread).blocked
        assert outcome is not None
        self._report_deadlock(number, thread, {thread: outcome})

    def _report_deadlock(self, number: int, thread: int, blocked: dict[int, StepOutcome]) -> None:
        origin = blocked[thread].origin
        path = self._path(number)
        raise Found(Violation("deadlock", path, thread, origin, is_of_state=True))
