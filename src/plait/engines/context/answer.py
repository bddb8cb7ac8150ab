"""The answer of the engine for any number of threads to a question of plait."""

from __future__ import annotations

from plait.engines.context import engine
from plait.engines.context.acfa import search
from plait.engines.context.description import CONTEXT, Method
from plait.engines.interface import (
    Answer,
    Listener,
    Outcome,
    Progress,
    Question,
    counted,
)


def answer(question: Question, listener: Listener) -> Outcome:
    beyond = sorted({item.value for item in question.specification.properties} - CONTEXT.proves)
    if beyond:
        reason = f"the engine {CONTEXT.name} does not check {', '.join(beyond)}"
        return Outcome(Answer.UNKNOWN, reason)
    if Method(question.settings["context"]) is Method.ACFA:
        return _by_abstract_threads(question, listener)

    def searched(statistics: engine.Statistics, so_far: str) -> None:
        doing = (
            f"{counted(statistics.candidates, 'candidate')} for invariants at"
            f" {counted(statistics.places, 'place')}, {counted(statistics.facts, 'fact')}"
        )
        listener.progress(Progress(doing, statistics.numbers(), so_far))

    return engine.verify(question.program, question.specification, question.deadline, searched)


def _by_abstract_threads(question: Question, listener: Listener) -> Outcome:
    def searched(statistics: search.Statistics, so_far: str) -> None:
        doing = (
            f"{counted(statistics.predicates, 'predicate')},"
            f" {counted(statistics.states, 'abstract state')},"
            f" {counted(statistics.refinements, 'refinement')}"
        )
        listener.progress(Progress(doing, statistics.numbers(), so_far))

    return search.verify(
        question.program, question.specification, question.deadline, searched, listener.confirm
    )
