"""`explore`: all schedules and inputs, breadth first, so that counterexamples are shortest.

States are hashed, so a finite state space is explored completely. The sleep-set reduction
(Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems", LNCS 1032, 1996,
chapter 5) leaves out transitions but no states. Here a state's sleep set is a function of the path
that led to it: after step t it has those of the sleeping threads and of the threads with a smaller
number than t's whose steps commute with t.

A state that is reached again needs no second look, whatever was asleep when it was reached first
(in a search that is not breadth first it would: Godefroid, Holzmann, Pirottin, "State-space caching
revisited", CAV 1992). Compare paths by their lengths, and those of the same length
lexicographically by thread numbers and inputs: in this order states are reached and expanded. The
least of all paths to a state, explored or not, is never cut. For if it were cut at a step of a
sleeping thread, that step could be exchanged with the steps since the thread fell asleep, which
commute with it, the first of them of a thread with a larger number: that is a smaller path to the
same state. The beginnings of a least path are least paths, too, so that the sleep sets along it are
those that were stored. The same holds for a path to a violation, whose last step is tried; so
counterexamples are shortest.

A data race is a reachable state in which two threads can both take their next step, and these
contain conflicting accesses that are not both atomic. We take this definition and not
happens-before since it needs no history in the state, and under sequential consistency the two
agree for programs that synchronise by locks and atomics (Boehm and Adve, "Foundations of the C++
concurrency memory model", PLDI 2008): from an execution with two unordered conflicting accesses,
the steps that are ordered after neither can be moved away until the two are neighbours. All
atomic accesses count as synchronising, also relaxed ones. Freeing an object counts as a write.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from enum import Enum

from plait.data import dataclass, field
from plait.model.actions import NOWHERE, Origin
from plait.model.memory_model import MemoryModel
from plait.model.program import Program
from plait.model.properties import Property, Specification
from plait.semantics.actions import Limits
from plait.semantics.deadlock import StateGraph
from plait.semantics.inputs import InputDomains
from plait.semantics.memo import NotingMachine, StepTaker
from plait.semantics.outcome import HAS_NO_VERDICT, Access, Ending, Footprint, StepOutcome
from plait.semantics.scalars import Number
from plait.semantics.schedule import Schedule, ScheduledStep
from plait.semantics.state import State, Status, runnable
from plait.semantics.visibility import Visibility

MOST_STATES = 10_000_000
_LOOK_AT_CLOCK_EVERY = 256

Progress = Callable[[int, int, float], None]  # states, states to be expanded, seconds


class Verdict(Enum):
    TRUE = "true"
    FALSE = "false"
    UNKNOWN = "unknown"


@dataclass(slots=True, eq=False)
class Violation:
    """`kind` is a property or the part of valid-memsafety that is violated; `other` is the second
    access of a race, by `other_thread`."""

    kind: str
    message: str
    thread: int
    origin: Origin
    other: Origin = NOWHERE
    other_thread: int = 0


@dataclass(slots=True, eq=False)
class Exploration:
    """`states` and `transitions` that were found, `expansions` of states. The schedule leads to the
    violation."""

    verdict: Verdict
    reason: str
    states: int
    transitions: int
    expansions: int
    seconds: float
    violation: Violation | None = None
    schedule: Schedule | None = None
    reached: list[State] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ExploreOptions:
    """How to explore. `inputs` stand for those of large types (see inputs). `reduction`: leave out
    transitions by sleep sets; `remembers`: do not execute the same step twice (see memo).
    `keep_states`: give back the reachable states too."""

    max_states: int | None = None
    max_seconds: float | None = None
    inputs: tuple[int, int] | None = None
    reduction: bool = True
    remembers: bool = True
    is_visible: Visibility | None = None
    limits: Limits | None = None
    keep_states: bool = False


def explore(
    program: Program,
    specification: Specification,
    options: ExploreOptions = ExploreOptions(),  # noqa: B008 (frozen)
    *,
    progress: Progress | None = None,
    start: Schedule | None = None,
) -> Exploration:
    """The verdict on a program; with `start`, only on what can happen after these steps, each of
    one thread."""
    return _Search(program, specification, options, progress, list(start or ())).run()


class _Stop(Exception):
    """The search is over."""


_Move = tuple[tuple[Number, ...], State, Footprint | None]  # with which inputs, and where to


@dataclass(slots=True, eq=False)
class _Attempt:
    """What a thread can do in a state: one row per combination of inputs."""

    moves: list[_Move] = field(default_factory=list)
    footprints: list[Footprint] = field(default_factory=list)
    blocked: StepOutcome | None = None
    # All inputs were tried, and none led out of what is explored (a failed assumption does not:
    # what would come after it does not exist).
    is_certain: bool = True


class _Search:
    def __init__(
        self,
        program: Program,
        specification: Specification,
        options: ExploreOptions,
        progress: Progress | None,
        start: list[ScheduledStep],
    ) -> None:
        machine = NotingMachine(program, specification, options.is_visible, options.limits)
        self.start = start
        self.machine = machine
        self.program = program
        self.specification = specification
        self.domains = InputDomains(options.inputs)
        self.max_states = options.max_states or MOST_STATES
        self.keep_states = options.keep_states
        self.progress = progress
        self.started = time.monotonic()
        seconds = options.max_seconds
        self.deadline = None if seconds is None else self.started + seconds
        # Under C11 the machine finds races itself: they are not accesses next to each other.
        model = specification.memory_model
        self.finds_races = Property.NO_DATA_RACE in specification and model is not MemoryModel.C11
        self.finds_deadlocks = Property.NO_DEADLOCK in specification
        # Deadlocks need the whole graph. What commutes is known for accesses to memory alone.
        is_weak = model is not MemoryModel.SC
        self.reduction = options.reduction and not self.finds_deadlocks and not is_weak
        self.page_bits = machine.page_bits
        self.records = self.reduction or self.finds_races
        self.steps = StepTaker(machine, records=self.records, remembers=options.remembers)
        self.numbers: dict[State, int] = {}
        self.states: list[State] = []
        # How each state was first reached: from which state, by whose step, with which inputs.
        self.arrivals: list[tuple[int, int, tuple[Number, ...]]] = []
        self.sleeping: deque[dict[int, Footprint]] = deque()  # of states that are to be expanded
        self.graph = StateGraph()
        self.transitions = 0
        self.expansions = 0
        self.attempts = 0
        self.troubles: dict[str, None] = {}
        self.interruption = ""
        self.violation: Violation | None = None
        self.schedule: Schedule | None = None

    def run(self) -> Exploration:
        try:
            self._go_to_start()
            self._arrive(self.machine.state(), -1, 0, (), {})
            while self.sleeping:
                self.expansions += 1
                self._expand(self.expansions - 1, self.sleeping.popleft())
            if self.finds_deadlocks:
                self._find_partial_deadlock()
        except _Stop:
            pass
        except KeyboardInterrupt:
            self.interruption = "interrupted"
        verdict, reason = self._verdict()
        return Exploration(
            verdict,
            reason,
            len(self.states),
            self.transitions,
            self.expansions,
            time.monotonic() - self.started,
            self.violation,
            self.schedule,
            self.states if self.keep_states else [],
        )

    def _go_to_start(self) -> None:
        machine = self.machine
        machine.start()
        for item in self.start:
            machine.commit()
            outcome = machine.step(item.thread, item.inputs, item.count)
            if outcome.ending is not Ending.MOVED:
                raise ValueError(f"the first steps end in: {outcome.ending.value}")
        machine.commit()

    def _verdict(self) -> tuple[Verdict, str]:
        if self.violation is not None:
            return Verdict.FALSE, f"{self.violation.kind}: {self.violation.message}"
        for reason in (self.interruption, *self.troubles, *self.domains.gaps):
            if reason:
                return Verdict.UNKNOWN, reason
        return Verdict.TRUE, "all schedules and inputs have been explored"

    def _look_at_clock(self) -> None:
        now = time.monotonic()
        if self.progress is not None:
            self.progress(len(self.states), len(self.sleeping), now - self.started)
        if self.deadline is not None and now > self.deadline:
            self.interruption = f"time is up after {len(self.states)} states"
            raise _Stop

    # --- the search

    def _arrive(
        self,
        state: State,
        source: int,
        thread: int,
        choices: tuple[Number, ...],
        sleep: dict[int, Footprint],
    ) -> None:
        number = self.numbers.get(state, -1)
        if number < 0:
            number = len(self.states)
            if number >= self.max_states:
                self.interruption = f"more than {self.max_states} states"
                raise _Stop
            self.numbers[state] = number
            self.states.append(state)
            self.arrivals.append((source, thread, choices))
            self.sleeping.append(sleep)
            if self.finds_deadlocks:
                self.graph.add_state()
        if self.finds_deadlocks and source >= 0:
            self.graph.sources[number].append(source)

    def _expand(self, number: int, sleep: dict[int, Footprint]) -> None:
        state = self.states[number]
        steps = dict(sleep)  # of the threads that can move
        blocked: dict[int, StepOutcome] = {}
        is_certain = True
        for thread, attempt in self._attempts(number, state, sleep):
            is_certain = is_certain and attempt.is_certain
            if not attempt.moves:
                if attempt.blocked is not None:
                    blocked[thread] = attempt.blocked
                continue
            for choices, following, footprint in attempt.moves:
                remaining: dict[int, Footprint] = {}
                if self.reduction and footprint is not None:
                    for other, theirs in steps.items():
                        if theirs.commutes_with(footprint):
                            remaining[other] = theirs
                self._arrive(following, number, thread, choices, remaining)
            steps[thread] = _UNRECORDED
            if self.records:
                taken = [footprint for _, _, footprint in attempt.moves]
                steps[thread] = Footprint.joined(self.page_bits, attempt.footprints, taken)
        if self.finds_races:
            self._find_race(number, steps)
        if self.finds_deadlocks:
            stopped = {item.status for item in state.threads}
            if Status.PRUNED in stopped and state.exit is None:
                self.graph.pruned[number] = True
            elif is_certain and Status.HALTED not in stopped:
                self.graph.blocked[number] = frozenset(blocked)
                if blocked and not steps:
                    self._report_deadlock(number, next(iter(blocked)), blocked)

    def _attempts(
        self, number: int, state: State, sleep: dict[int, Footprint]
    ) -> Iterator[tuple[int, _Attempt]]:
        """What the threads that are not asleep can do; of one alone where that is enough."""
        threads = [thread for thread in runnable(state) if thread not in sleep]
        known: dict[int, _Attempt] = {}
        if self.machine.weak is not None:
            for thread in threads:
                weak = self.steps.restore(state).weak
                assert weak is not None
                # Left out, it would look as if it could not move.
                if not self.finds_deadlocks and weak.has_come_back(thread):
                    known[thread] = _Attempt()
                elif weak.goes_first(thread):
                    known[thread] = self._attempt(number, state, thread)
                    if known[thread].moves:
                        yield thread, known[thread]
                        return
        for thread in threads:
            yield thread, known.get(thread) or self._attempt(number, state, thread)

    def _attempt(self, number: int, state: State, thread: int) -> _Attempt:
        """Try a thread's next step with all inputs."""
        result = _Attempt()
        pending: list[tuple[Number, ...]] = [()]
        while pending:
            if self.attempts % _LOOK_AT_CLOCK_EVERY == 0:
                self._look_at_clock()
            self.attempts += 1
            choices = pending.pop()
            taken = self.steps.take(state, thread, choices)
            outcome = taken.outcome
            ending = outcome.ending
            if ending is Ending.NEEDS_INPUT:
                assert outcome.input is not None
                values, is_complete = self.domains.values(outcome.input)
                result.is_certain = result.is_certain and is_complete
                pending += [(*choices, value) for value in reversed(values)]
                continue
            if taken.footprint is not None:
                result.footprints.append(taken.footprint)
            if taken.state is not None:
                self.transitions += 1
                result.moves.append((choices, taken.state, taken.footprint))
            if ending is Ending.BLOCKED:
                result.blocked = outcome
            elif ending is Ending.VIOLATION:
                self.transitions += 1
                self.schedule = self._schedule(number, ScheduledStep(thread, choices))
                self.violation = Violation(
                    outcome.kind, outcome.message, outcome.thread, outcome.origin
                )
                raise _Stop
            elif ending in HAS_NO_VERDICT:
                result.is_certain = False
                self._note_trouble(outcome)
        return result

    def _note_trouble(self, outcome: StepOutcome) -> None:
        place = self.program.user_place(outcome.origin)
        self.troubles[f"{outcome.ending.value}: {outcome.message} ({place})"] = None

    # --- what is found

    def _schedule(self, number: int, *further: ScheduledStep) -> Schedule:
        steps = list(reversed(further))
        while number > 0:
            source, thread, choices = self.arrivals[number]
            steps.append(ScheduledStep(thread, choices))
            number = source
        return Schedule([*self.start, *steps[::-1]])

    def _find_race(self, number: int, steps: dict[int, Footprint]) -> None:
        threads = sorted(steps)
        for position, first in enumerate(threads):
            for second in threads[position + 1 :]:
                pair = steps[first].race_with(steps[second])
                if pair is not None:
                    self._report_race(number, first, second, pair)

    def _report_race(
        self, number: int, first: int, second: int, pair: tuple[Access, Access]
    ) -> None:
        mine, theirs = pair
        name = self.steps.restore(self.states[number]).name_of(mine.address, mine.size)
        message = (
            f"{mine.kind.value} of {name} by thread {first} at {self.program.place(mine.origin)}"
            f" and {theirs.kind.value} by thread {second}"
            f" at {self.program.place(theirs.origin)} at the same time"
        )
        self.violation = Violation(
            "no-data-race", message, first, mine.origin, theirs.origin, second
        )
        racing = (first, mine), (second, theirs)
        violation, schedule = self.violation, self._both_steps(number, racing)
        self.violation, self.schedule = violation, self._schedule(number, *schedule)
        raise _Stop

    def _both_steps(
        self, number: int, racing: tuple[tuple[int, Access], tuple[int, Access]]
    ) -> list[ScheduledStep]:
        """The racing steps one after the other, as far as they can be taken, with inputs with which
        they make their accesses."""
        taken: list[ScheduledStep] = []
        state = self.states[number]
        for thread, access in racing:
            if thread not in runnable(state):
                break
            try:
                moves = self._attempt(number, state, thread).moves
            except _Stop:
                break
            if not moves:
                break
            choices, state, _ = next((move for move in moves if _makes(move, access)), moves[0])
            taken.append(ScheduledStep(thread, choices))
        return taken

    def _find_partial_deadlock(self) -> None:
        found = self.graph.deadlock()
        if found is None:
            if self.graph.doubtful:
                what = "a thread waits for ever in executions in which an assumption fails later"
                self.troubles[what] = None
            return
        number, thread = found
        outcome = self._attempt(number, self.states[number], thread).blocked
        assert outcome is not None
        self._report_deadlock(number, thread, {thread: outcome})

    def _report_deadlock(self, number: int, thread: int, blocked: dict[int, StepOutcome]) -> None:
        waits = ", ".join(
            f"thread {other} waits for {self._waited_for(number, outcome)}"
            for other, outcome in blocked.items()
        )
        origin = blocked[thread].origin
        self.violation = Violation("no-deadlock", waits + " for ever", thread, origin)
        self.schedule = self._schedule(number)
        raise _Stop

    def _waited_for(self, number: int, outcome: StepOutcome) -> str:
        place = self.program.user_place(outcome.origin)
        if outcome.on is None:
            return f"{outcome.message} ({place})"
        machine = self.steps.restore(self.states[number])
        return f"{outcome.message} {machine.name_of(outcome.on)} ({place})"


_UNRECORDED = Footprint(1, [], (False, False))


def _makes(move: _Move, access: Access) -> bool:
    footprint = move[2]
    return footprint is not None and access in footprint.accesses
