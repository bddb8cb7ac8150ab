"""Under a weak memory model the engine is the reference exploration: all that makes the engine
faster relies on memory that everybody sees alike."""

from __future__ import annotations

import time

from plait.analysis.lifetimes import with_lifetimes
from plait.analysis.sharing import sharing_of
from plait.engines.explicit.statistics import Statistics
from plait.engines.interface import (
    Answer,
    Counterexample,
    Listener,
    Outcome,
    Progress,
    Question,
    counted,
)
from plait.semantics.explore import Exploration, ExploreOptions, Verdict, explore


def answer(question: Question, listener: Listener) -> Outcome:
    statistics = Statistics()

    def tell(states: int, open_states: int, seconds: float) -> None:
        statistics.states, statistics.open_states = states, open_states
        statistics.exploring_seconds = seconds
        so_far = _so_far(statistics)
        doing = f"{so_far}, {open_states:,} to be expanded"
        listener.progress(Progress(doing, statistics.numbers(), so_far))

    left = None if question.deadline is None else question.deadline - time.monotonic()
    options = ExploreOptions(max_states=question.settings["max_states"], max_seconds=left)
    specification = with_lifetimes(sharing_of(question.program), question.specification)
    found = explore(question.program, specification, options, progress=tell)
    statistics.states, statistics.steps = found.states, found.transitions
    statistics.exploring_seconds = found.seconds
    if found.verdict is Verdict.FALSE:
        claimed = _counterexample(found)
        problem = listener.confirm(claimed)
        if problem:
            return Outcome(Answer.UNKNOWN, problem, statistics)
        return Outcome(Answer.VIOLATED, claimed.message, statistics, claimed)
    if found.verdict is Verdict.TRUE:
        return Outcome(Answer.HOLDS, found.reason, statistics)
    is_late = question.deadline is not None and time.monotonic() >= question.deadline
    return Outcome(
        Answer.UNKNOWN,
        found.reason,
        statistics,
        is_out_of_time=is_late and found.reason.startswith("time is up"),
        so_far=_so_far(statistics),
    )


def _counterexample(found: Exploration) -> Counterexample:
    violation, schedule = found.violation, found.schedule
    assert violation is not None and schedule is not None
    race = (violation.thread, violation.other_thread) if violation.other_thread else None
    steps = tuple((step.thread, step.inputs) for step in schedule for _ in range(step.count))
    return Counterexample(
        (), {}, violation.thread, violation.message, violation.origin, race, steps=steps
    )


def _so_far(statistics: Statistics) -> str:
    return f"no violation in {counted(statistics.states, 'state')}"
