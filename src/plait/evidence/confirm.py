"""Whether the counterexample of an engine is one: the reference interpreter has the last word."""

from __future__ import annotations

from plait.engines.interface import AccessOrder, Counterexample, WeakOrder
from plait.evidence.counterexample import Found, NotShown
from plait.evidence.replay import (
    Undecided,
    deadlock_behind,
    replay,
    replay_blocks,
    replay_deadlock,
    replay_race,
)
from plait.model.program import Program
from plait.model.properties import Property, Specification
from plait.semantics.run import Execution, run
from plait.semantics.schedule import Schedule, ScheduledStep


def confirmed(
    program: Program, specification: Specification, found: Counterexample
) -> tuple[Schedule, Found]:
    """A schedule and what it shows; ReplayFailed or NotShown if it shows no violation."""
    if found.steps:
        return _followed(program, specification, found)
    if Property.NO_DEADLOCK in specification and not found.is_undefined:
        deadlock = replay_deadlock(program, specification, found)
        kind = Property.NO_DEADLOCK.value
        shown = Found(kind, deadlock.message, deadlock.thread, deadlock.origin)
        return deadlock.schedule, shown
    if found.race is not None:
        race = replay_race(program, specification, found)
        kind = Property.NO_DATA_RACE.value
        one, other = race.origins
        return race.schedule, Found(kind, race.message, race.threads[0], one, other, race.threads)
    if isinstance(found.order, WeakOrder):
        from plait.evidence.replay_weak import replay_in_weak_memory

        schedule = replay_in_weak_memory(program, specification, found)
    elif isinstance(found.order, AccessOrder):
        schedule = replay(program, specification, found)
    else:
        schedule = replay_blocks(program, specification, found)
    execution = run(program, specification, schedule=schedule)
    return schedule, _end(program, execution)


def _end(program: Program, execution: Execution) -> Found:
    end = execution.outcome
    if end.beyond:
        place = program.user_place(end.origin)
        raise Undecided(f"limit: {end.message} ({place})", end.beyond)
    if execution.ending != "violation":
        raise NotShown(f"it ends in: {execution.ending}")
    return Found(end.kind, end.message, end.thread, end.origin)


def _followed(
    program: Program, specification: Specification, found: Counterexample
) -> tuple[Schedule, Found]:
    """Of steps that the engine has taken with the reference interpreter: what they show once more.
    Whether two accesses race is looked at where the evidence is made."""
    schedule = Schedule([ScheduledStep(thread, inputs) for thread, inputs in found.steps])
    if Property.NO_DEADLOCK in specification:
        deadlock = deadlock_behind(program, specification, schedule)
        kind = Property.NO_DEADLOCK.value
        return schedule, Found(kind, deadlock.message, deadlock.thread, deadlock.origin)
    if found.race is not None:
        kind = Property.NO_DATA_RACE.value
        return schedule, Found(kind, found.message, found.race[0], found.origin, threads=found.race)
    execution = run(program, specification, schedule=schedule)
    return schedule, _end(program, execution)
