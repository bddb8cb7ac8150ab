"""A counterexample that was found before, executed again: what it shows is what the reference
interpreter does now, whatever was said about it then."""

from __future__ import annotations

import time

from plait.errors import InputError
from plait.evidence.counterexample import Evidence, Found, NotShown, evidence_of
from plait.evidence.replay import ReplayFailed, deadlock_behind
from plait.model.actions import NOWHERE
from plait.model.program import Program
from plait.model.properties import Property, Specification
from plait.semantics.machine import Machine
from plait.semantics.outcome import Ending
from plait.semantics.run import run
from plait.semantics.schedule import Schedule, ScheduledStep


def evidence_of_schedule(
    program: Program,
    specification: Specification,
    schedule: Schedule,
    racing: tuple[int, int] | None = None,
    deadline: float | None = None,
) -> Evidence:
    """The evidence of a violation that the schedule leads to; NotShown if there is none. `racing`:
    the two threads whose accesses at the end of the schedule race. The schedule is made smaller
    until the `deadline`; without one it stays as it is."""
    if deadline is None:
        deadline = time.monotonic()
    try:
        if Property.NO_DEADLOCK in specification:
            schedule, found = _deadlock(program, specification, schedule)
        elif racing is not None:
            if Property.NO_DATA_RACE not in specification:
                raise NotShown("races are not asked for")
            kind = Property.NO_DATA_RACE.value
            found = Found(kind, "", racing[0], NOWHERE, NOWHERE, racing)
        else:
            found = _failure(program, specification, schedule)
        return evidence_of(program, specification, schedule, found, deadline)
    except (ReplayFailed, InputError, ValueError) as error:
        raise NotShown(str(error)) from error


def _failure(program: Program, specification: Specification, schedule: Schedule) -> Found:
    execution = run(program, specification, schedule=schedule)
    if execution.ending != "violation":
        raise NotShown(f"it ends in: {execution.ending}")
    end = execution.outcome
    return Found(end.kind, end.message, end.thread, end.origin)


def _deadlock(
    program: Program, specification: Specification, schedule: Schedule
) -> tuple[Schedule, Found]:
    start = single_steps(program, specification, schedule)
    deadlock = deadlock_behind(program, specification, start)
    kind = Property.NO_DEADLOCK.value
    found = Found(kind, deadlock.message, deadlock.thread, deadlock.origin)
    return deadlock.schedule, found


def single_steps(program: Program, specification: Specification, schedule: Schedule) -> Schedule:
    """The same schedule, in which no step counts for several."""
    machine = Machine(program, specification)
    machine.start()
    steps: list[ScheduledStep] = []
    for item in schedule:
        inputs = item.inputs
        for _ in range(item.count):
            if item.thread not in machine.runnable():
                raise NotShown(f"thread {item.thread} has ended too early")
            machine.commit()
            outcome = machine.step(item.thread, inputs)
            if outcome.ending is not Ending.MOVED:
                raise NotShown(f"it ends in: {outcome.ending.value}")
            used = machine.used_choices()
            steps.append(ScheduledStep(item.thread, tuple(inputs[:used])))
            inputs = inputs[used:]
    return Schedule(steps)
