"""Whether the counterexample of an engine is one: the reference interpreter has the last word."""

from __future__ import annotations

from plait.engines.interface import AccessOrder, Counterexample
from plait.evidence.counterexample import Found, NotShown
from plait.evidence.replay import replay, replay_blocks, replay_deadlock, replay_race
from plait.model.program import Program
from plait.model.properties import Property, Specification
from plait.semantics.run import run
from plait.semantics.schedule import Schedule


def confirmed(
    program: Program, specification: Specification, found: Counterexample
) -> tuple[Schedule, Found]:
    """A schedule and what it shows; ReplayFailed or NotShown if it shows no violation."""
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
    if isinstance(found.order, AccessOrder):
        schedule = replay(program, specification, found)
    else:
        schedule = replay_blocks(program, specification, found)
    execution = run(program, specification, schedule=schedule)
    if execution.ending != "violation":
        raise NotShown(f"it ends in: {execution.ending}")
    end = execution.outcome
    return schedule, Found(end.kind, end.message, end.thread, end.origin)
