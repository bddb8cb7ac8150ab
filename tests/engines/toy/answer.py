"""The toy engine's answer to a question of plait."""

from __future__ import annotations

from plait.data import dataclass
from plait.engines import interface
from plait.engines.interface import (
    AccessOrder,
    Answer,
    Counterexample,
    Listener,
    Outcome,
    OutOfTime,
    Progress,
    Question,
)
from plait.model.actions import Check, CheckKind


@dataclass(slots=True, eq=False)
class Statistics(interface.Statistics):
    assertions: int = 0
    functions: int = 0


def answer(question: Question, listener: Listener) -> Outcome:
    statistics = Statistics()
    try:
        _count(question, listener, statistics)
    except OutOfTime:
        return Outcome(Answer.UNKNOWN, "time is up", statistics, is_out_of_time=True)
    if not statistics.assertions:
        return Outcome(Answer.HOLDS, "there is no assertion", statistics)
    if statistics.assertions > question.settings["toy_most"]:
        return Outcome(Answer.UNKNOWN, f"{statistics.assertions} assertions", statistics)
    if question.settings["toy_guess"]:
        guess = _the_initial_thread_fails()
        problem = listener.confirm(guess)
        if not problem:
            return Outcome(Answer.VIOLATED, guess.message, statistics, guess)
    return Outcome(Answer.UNKNOWN, "there are assertions", statistics)


def _count(question: Question, listener: Listener, statistics: Statistics) -> None:
    program = question.program
    for function in program.functions.values():
        OutOfTime.check(question.deadline)
        is_wanted = question.settings["toy_scope"] == "all" or function.name == program.entry
        if function.library or not is_wanted:
            continue
        statistics.functions += 1
        for edge in function.all_edges():
            if isinstance(edge.action, Check) and edge.action.kind is CheckKind.ASSERTION:
                statistics.assertions += 1
        so_far = f"{statistics.assertions} assertions in {statistics.functions} functions"
        listener.progress(Progress(so_far, statistics.numbers(), so_far))


def _the_initial_thread_fails() -> Counterexample:
    """Claims it; the reference interpreter finds out whether it is so."""
    order = AccessOrder([], {}, is_shared=lambda item: False)
    return Counterexample(
        order,
        inputs={},
        violator=1,
        message="the initial thread fails alone",
        excuse=lambda: "the initial thread does not fail alone",
    )
