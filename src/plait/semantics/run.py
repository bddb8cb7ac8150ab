"""`run`: one execution, under a random schedule or a given one.

A random run chooses uniformly among the threads that can move. Inputs are chosen with a bias to
small values: 0 or 1 in half of the cases, otherwise of random magnitude and sign; an input with a
count is uniform. The same seed gives the same run.
"""

from __future__ import annotations

import random

from plait.data import dataclass, field
from plait.errors import InputError
from plait.model.program import Program
from plait.model.properties import Specification
from plait.model.types import Kind
from plait.semantics.actions import Limits
from plait.semantics.heap_names import name_heap_cells
from plait.semantics.machine import Machine
from plait.semantics.outcome import MOVED, Ending, InputRequest, StepOutcome
from plait.semantics.scalars import Number, to_single
from plait.semantics.schedule import Schedule, ScheduledStep, merged
from plait.semantics.trace import Event, TracingMachine
from plait.semantics.unset_names import UnsetNames
from plait.semantics.visibility import Visibility

MOST_STEPS = 10_000_000
_BATCH = 1_000_000


@dataclass(slots=True, eq=False)
class Execution:
    """One execution. `ending` says how it ended: "exit", "abort", "finished" (all threads have
    ended), "deadlock", "step limit", "end of schedule", or the value of an Ending."""

    ending: str
    outcome: StepOutcome
    status: int | None
    output: bytes
    steps: int
    schedule: Schedule
    blocked: dict[int, StepOutcome] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)

    @property
    def exit_code(self) -> int | None:
        """What a shell would see: abort is killed by signal 6."""
        if self.ending == "abort":
            return 134
        return None if self.status is None else self.status & 0xFF


def run(
    program: Program,
    specification: Specification,
    seed: int | None = None,
    schedule: Schedule | None = None,
    max_steps: int = MOST_STEPS,
    *,
    trace: bool = False,
    goes_on: bool = False,
    is_visible: Visibility | None = None,
    limits: Limits | None = None,
) -> Execution:
    """Execute one schedule; if it `goes_on`, at random behind its end and for inputs that it
    does not give. `trace` records every executed edge (slower)."""
    make = TracingMachine if trace else Machine
    machine = make(program, specification, is_visible, limits)
    if trace:
        machine.unset_names = UnsetNames(program)
    runner = _Runner(machine, random.Random(seed), max_steps)
    if schedule is None:
        return runner.random_run()
    return runner.replay(schedule, goes_on=goes_on)


class _Runner:
    def __init__(self, machine: Machine, dice: random.Random, max_steps: int) -> None:
        self.machine = machine
        self.dice = dice
        self.max_steps = max_steps
        self.steps = 0
        self.halt: StepOutcome | None = None
        self.taken: list[ScheduledStep] = []
        self.output: list[bytes] = []
        machine.output = self.output
        machine.start()

    def random_run(self) -> Execution:
        machine = self.machine
        machine.supply = self._random_input
        blocked: dict[int, StepOutcome] = {}
        while True:
            runnable = machine.runnable()
            candidates = [number for number in runnable if number not in blocked]
            if not candidates:
                return self._over(blocked)
            if self.steps >= self.max_steps:
                return self._execution("step limit", MOVED, blocked)
            number = candidates[0] if len(candidates) == 1 else self.dice.choice(candidates)
            outcome = self._step(number, min(_BATCH, self.max_steps - self.steps), runnable)
            if outcome.ending is Ending.BLOCKED:
                blocked[number] = outcome
            elif outcome.ending is Ending.MOVED:
                blocked.clear()
            else:
                return self._execution(outcome.ending.value, outcome, blocked)

    def replay(self, schedule: Schedule, *, goes_on: bool) -> Execution:
        machine = self.machine
        for position, item in enumerate(schedule, 1):
            machine.supply = self._random_input if goes_on else None
            left, inputs = item.count, item.inputs
            while left:
                runnable = machine.runnable()
                if item.thread not in runnable:
                    raise InputError(
                        f"step {position} of the schedule: thread {item.thread} cannot move:"
                        f" it has not started or has ended"
                    )
                outcome = self._step(item.thread, left, runnable, inputs)
                inputs = inputs[machine.used_choices() :]
                left -= max(machine.steps, 1)
                if outcome.ending is Ending.NEEDS_INPUT:
                    raise InputError(
                        f"step {position} of the schedule: no value for the input"
                        f" '{outcome.message}'"
                    )
                if outcome.ending is Ending.BLOCKED:
                    return self._execution("blocked", outcome, {item.thread: outcome})
                if outcome.ending is Ending.VIOLATION or outcome.in_section:
                    return self._execution(outcome.ending.value, outcome, {})
                if outcome.ending is not Ending.MOVED:
                    # That thread goes no further; a counterexample may be about the others.
                    self.halt = outcome
                    break
                if machine.exit is not None:
                    return self._over({})
        if goes_on and self.halt is None:
            return self.random_run()
        return self._at_end_of_schedule()

    def _at_end_of_schedule(self) -> Execution:
        """A schedule may end in a deadlock: say so, by trying each thread once more."""
        if self.halt is not None:
            return self._execution(self.halt.ending.value, self.halt, {})
        machine = self.machine
        machine.supply = self._random_input
        machine.output = None
        blocked: dict[int, StepOutcome] = {}
        for number in machine.runnable():
            machine.commit()
            events = len(machine.events) if isinstance(machine, TracingMachine) else 0
            trial = machine.step(number)
            machine.take_back()
            if isinstance(machine, TracingMachine):
                del machine.events[events:]
            if trial.ending is not Ending.BLOCKED:
                return self._execution("end of schedule", MOVED, {})
            blocked[number] = trial
        return self._over(blocked)

    def _step(
        self, number: int, most: int, runnable: list[int], inputs: tuple[Number, ...] = ()
    ) -> StepOutcome:
        """One step, or several while the thread is alone: then nothing can come between them,
        and a step in which it is blocked is the last one and need not be taken back."""
        machine = self.machine
        alone = len(runnable) == 1
        events = 0
        if isinstance(machine, TracingMachine):
            events = len(machine.events)
            machine.step_number = self.steps + 1
        if not alone:
            machine.commit()
        if not alone or isinstance(machine, TracingMachine):
            most = 1
        outcome = machine.step(number, inputs, most)
        if outcome.ending is Ending.BLOCKED:
            machine.steps -= 1
            if isinstance(machine, TracingMachine):
                del machine.events[events:]
            if not alone:
                machine.take_back()
        self.steps += machine.steps
        if machine.steps:
            used = tuple(machine.choices[: machine.used_choices()])
            self.taken.append(ScheduledStep(number, used, machine.steps))
        return outcome

    def _over(self, blocked: dict[int, StepOutcome]) -> Execution:
        if self.machine.exit is not None:
            return self._execution(self.machine.exit[1], MOVED, {})
        if blocked:
            return self._execution("deadlock", next(iter(blocked.values())), blocked)
        return self._execution("finished", MOVED, {})

    def _execution(
        self, ending: str, outcome: StepOutcome, blocked: dict[int, StepOutcome]
    ) -> Execution:
        machine = self.machine
        events = machine.events if isinstance(machine, TracingMachine) else []
        name_heap_cells(events)
        return Execution(
            ending,
            outcome,
            None if machine.exit is None else machine.exit[0],
            b"".join(self.output),
            self.steps,
            merged(self.taken),
            blocked,
            events,
        )

    def _random_input(self, request: InputRequest) -> Number:
        dice, scalar = self.dice, request.type
        if request.count is not None:
            return dice.randrange(request.count)
        if scalar.kind is Kind.FLOAT:
            value = float(dice.choice([0, 1, -1, dice.randint(-100, 100), dice.gauss(0, 1e6)]))
            return to_single(value) if scalar.bits == 32 else value
        if dice.random() < 0.5:
            return dice.randint(0, 1)
        value = dice.getrandbits(dice.randint(1, scalar.bits))
        return int(value != 0) if scalar.is_bool else scalar.wrap(value * dice.choice([1, -1]))
