"""Counterexamples with fewer threads, fewer context switches and fewer steps.

A schedule is a list of turns: so many steps of one thread. Four things are tried, as long as one
of them helps: a thread that was started earlier and does nothing takes the turns of one that was
started later, so that fewer have to be started; the last turn of a thread is left out or made
shorter; two turns of a thread that follow each other are made one, at the place of the first or of
the second; and inputs that are not 0 are made 0 or left out, with the round of a loop that they
have caused. Each attempt is
executed by the reference interpreter and counts only if it fails as the given counterexample does.
The result is minimal in the sense that no single change of these kinds makes it smaller.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from plait.data import dataclass, field
from plait.errors import InputError
from plait.model.actions import Origin
from plait.model.memory_model import MemoryModel
from plait.model.program import Program
from plait.model.properties import Property, Specification
from plait.semantics.machine import Machine
from plait.semantics.outcome import Ending, Footprint, InputRequest, StepOutcome
from plait.semantics.scalars import Number
from plait.semantics.schedule import Schedule, ScheduledStep, merged

Turn = tuple[int, int]  # a thread, and how many steps it takes
Inputs = Mapping[int, tuple[Number, ...]]  # of threads

_MOST_SECONDS = 1.0
_MOST_STEPS = 100_000
_ROUND = 16  # steps of a loop's round that an input may have caused


@dataclass(slots=True, frozen=True)
class Goal:
    """How a counterexample fails. `threads` are the two that race, `inputs` those of the
    steps that make their accesses."""

    kind: str
    origin: Origin
    threads: tuple[int, int] | None = None
    inputs: Inputs = field(default_factory=dict)


def reduced(
    program: Program,
    specification: Specification,
    schedule: Schedule,
    goal: Goal,
    deadline: float | None = None,
) -> Schedule:
    """A schedule that fails in the same way with no more switches and steps. For a race it leads to
    the state in which both accesses are next."""
    if specification.memory_model is not MemoryModel.SC:
        return schedule  # its choices are not those of each thread alone
    end = time.monotonic() + _MOST_SECONDS
    return _Reduction(program, specification, goal, min(end, deadline or end)).run(schedule)


class _Failed(Exception):
    """An attempt does not fail as it should."""


class _Reduction:
    def __init__(
        self, program: Program, specification: Specification, goal: Goal, deadline: float
    ) -> None:
        self._machine = Machine(program, specification)
        self._machine.supply = self._supply
        self._goal = goal
        self._deadline = deadline
        self._recorded: dict[int, list[Number]] = {}  # inputs of each thread
        self._queues: dict[int, list[Number]] = {}
        self._given: list[Number] = []

    def run(self, schedule: Schedule) -> Schedule:
        if len(schedule) > _MOST_STEPS:
            return schedule
        try:
            self._record(schedule)
            turns = _joined([(step.thread, step.count) for step in schedule])
            best = self._attempt(turns)
        except _Failed:
            return schedule
        while time.monotonic() < self._deadline:
            before = best
            best = self._with_earlier_threads(best)
            best = self._with_fewer_switches(self._without_ends(best))
            if best is before:
                simpler = self._with_simpler_inputs(_turns(best))
                if simpler is None:
                    break
                best = simpler
        return self._settled(best)

    def _with_earlier_threads(self, best: Schedule) -> Schedule:
        """Threads that do nothing in the place of those that were started last. The two threads of
        a race keep their numbers, which the caller knows."""
        used = {step.thread for step in best.steps}
        for late in sorted(used.difference(self._goal.threads or ()), reverse=True):
            for early in [number for number in range(2, late) if number not in used]:
                turns = [
                    (early if number == late else number, count) for number, count in _turns(best)
                ]
                recorded = self._recorded
                self._recorded = recorded | {early: recorded.get(late, [])}
                found = self._first_failing([turns])
                if found is not None:
                    best = found
                    used = used - {late} | {early}
                    break
                self._recorded = recorded
        return best

    def _without_ends(self, best: Schedule) -> Schedule:
        """Threads one after the other, those that are the last ones to move first."""
        threads = dict.fromkeys(step.thread for step in reversed(best.steps))
        for thread in threads:
            found: Schedule | None = best
            while found is not None:
                best = found
                found = self._first_failing(_with_shorter_end(_turns(best), thread))
        return best

    def _with_fewer_switches(self, best: Schedule) -> Schedule:
        """Turns from the last one to the first one: late ones are where a failure is at home."""
        position = len(best.steps) - 1
        while position >= 0:
            found = self._first_failing(_with_joined_turn(_turns(best), position))
            if found is None:
                position -= 1
            else:
                best = found
                position = min(position, len(best.steps) - 1)
        return best

    def _with_simpler_inputs(self, turns: list[Turn]) -> Schedule | None:
        """An input left out, or 0 instead; its thread may need fewer steps then."""
        recorded = self._recorded
        for thread, values in recorded.items():
            for index in (index for index, value in enumerate(values) if value):
                for simpler in ([], [0]):
                    own = [*values[:index], *simpler, *values[index + 1 :]]
                    self._recorded = recorded | {thread: own}
                    found = self._first_failing(_shortened(turns, thread))
                    if found is not None:
                        return found
        self._recorded = recorded
        return None

    def _settled(self, best: Schedule) -> Schedule:
        """Threads go as far as they can before others are needed: calls are split less often."""
        first = 0
        while first < len(best.steps):
            thread, count = _turns(best)[first]
            turns = _turns(best)
            later = next(
                (i for i in range(first + 1, len(turns)) if turns[i][0] == thread), len(turns)
            )
            first += 1
            if later == len(turns) or turns[later][1] == 1 or time.monotonic() >= self._deadline:
                continue
            turns[first - 1] = thread, count + 1
            turns[later] = thread, turns[later][1] - 1
            try:
                best = self._attempt(turns)
            except _Failed:
                continue
            first -= 1
        return best

    def _first_failing(self, candidates: Iterable[list[Turn]]) -> Schedule | None:
        """Fails as it should, of course."""
        for candidate in candidates:
            if time.monotonic() >= self._deadline:
                return None
            try:
                return self._attempt(candidate)
            except _Failed:
                continue
        return None

    def _record(self, schedule: Schedule) -> None:
        """Which thread gets which inputs; the first step of a new thread is part of another one."""
        machine = self._machine
        machine.start()
        for item in schedule:
            pending = list(item.inputs)

            def given(request: InputRequest, pending: list[Number] = pending) -> Number:
                if not pending:
                    raise _Failed
                value = pending.pop(0)
                self._recorded.setdefault(machine.number, []).append(value)
                return value

            machine.supply = given
            left = item.count
            while left:
                if item.thread not in machine.runnable():
                    raise _Failed
                outcome = machine.step(item.thread, (), left)
                left -= max(machine.steps, 1)
                if outcome.ending is not Ending.MOVED:
                    break
        machine.supply = self._supply

    def _supply(self, request: InputRequest) -> Number:
        queue = self._queues.get(self._machine.number)
        value = queue.pop(0) if queue else 0
        self._given.append(value)
        return value

    def _attempt(self, turns: list[Turn]) -> Schedule:
        """What was executed of these turns until it failed as it should."""
        machine = self._machine
        self._queues = {thread: values[:] for thread, values in self._recorded.items()}
        machine.accesses = None
        machine.start()
        taken: list[ScheduledStep] = []
        for thread, count in turns:
            left = count
            while left:
                if thread not in machine.runnable():
                    raise _Failed
                self._given = []
                try:
                    outcome = machine.step(thread, (), left)
                except InputError:  # a recorded value that this input cannot have
                    raise _Failed from None
                steps = max(machine.steps, 1)
                left -= steps
                taken.append(ScheduledStep(thread, tuple(self._given), steps))
                if outcome.ending is Ending.VIOLATION:
                    if not self._is_goal(outcome):
                        raise _Failed
                    return merged(taken)
                if outcome.ending is not Ending.MOVED:
                    raise _Failed
        self._check_last_state()
        return merged(taken)

    def _is_goal(self, outcome: StepOutcome) -> bool:
        return (outcome.kind, outcome.origin) == (self._goal.kind, self._goal.origin)

    def _check_last_state(self) -> None:
        if self._goal.kind == Property.NO_DEADLOCK.value:
            threads: Sequence[int] = self._machine.runnable()
            if threads and all(self._is_blocked(thread) for thread in threads):
                return
        elif self._goal.threads is not None:
            first, second = (self._footprint(thread) for thread in self._goal.threads)
            if first.race_with(second) is not None:
                return
        raise _Failed

    def _is_blocked(self, thread: int) -> bool:
        machine = self._machine
        machine.commit()
        outcome = machine.step(thread)
        machine.take_back()
        return outcome.ending is Ending.BLOCKED

    def _footprint(self, thread: int) -> Footprint:
        machine = self._machine
        if thread not in machine.runnable():
            raise _Failed
        machine.commit()
        machine.accesses = []
        self._queues[thread] = list(self._goal.inputs.get(thread, ()))
        try:
            outcome = machine.step(thread)
        except InputError:  # an input of another place
            raise _Failed from None
        accesses = machine.accesses
        machine.accesses = None
        machine.take_back()
        if outcome.in_section or outcome.ending is Ending.BLOCKED:
            raise _Failed  # the section does not begin
        return Footprint(machine.page_bits, accesses or [], (False, False))


def _joined(turns: list[Turn]) -> list[Turn]:
    result: list[Turn] = []
    for thread, count in turns:
        if result and result[-1][0] == thread:
            result[-1] = thread, result[-1][1] + count
        elif count:
            result.append((thread, count))
    return result


def _turns(schedule: Schedule) -> list[Turn]:
    return [(step.thread, step.count) for step in schedule]


def _with_shorter_end(turns: list[Turn], thread: int) -> list[list[Turn]]:
    """The last turn of a thread left out, halved, or one step shorter."""
    places = [index for index, (number, _) in enumerate(turns) if number == thread]
    if not places:
        return []
    index = places[-1]
    count = turns[index][1]
    return [
        _joined([*turns[:index], (thread, kept), *turns[index + 1 :]])
        for kept in sorted({0, count // 2, count - 1})
    ]


def _shortened(turns: list[Turn], thread: int) -> Iterator[list[Turn]]:
    """The turns as they are, and with one of a thread's turns a few steps shorter."""
    yield turns
    for index, (number, count) in enumerate(turns):
        if number == thread:
            for less in range(1, min(count, _ROUND)):
                yield [*turns[:index], (thread, count - less), *turns[index + 1 :]]


def _with_joined_turn(turns: list[Turn], index: int) -> list[list[Turn]]:
    """A turn and the next one of the same thread made one, at the place of the one or the other."""
    thread, count = turns[index]
    later = next((i for i in range(index + 1, len(turns)) if turns[i][0] == thread), None)
    if later is None:
        return []
    both = (thread, count + turns[later][1])
    between, behind = turns[index + 1 : later], turns[later + 1 :]
    return [
        _joined([*turns[:index], both, *between, *behind]),
        _joined([*turns[:index], *between, both, *behind]),
    ]
