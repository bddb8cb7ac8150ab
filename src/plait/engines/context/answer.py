"""The answer of the engine for any number of threads to a question of plait."""

from __future__ import annotations

from plait.engines.context import engine
from plait.engines.context.description import CONTEXT
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

    def searched(statistics: engine.Statistics, so_far: str) -> None:
        doing = (
            f"{counted(statistics.candidates, 'candidate')} for invariants at"
            f" {counted(statistics.places, 'place')}, {counted(statistics.facts, 'fact')}"
        )
        listener.progress(Progress(doing, statistics.numbers(), so_far))

    return engine.verify(question.program, question.specification, question.deadline, searched)
