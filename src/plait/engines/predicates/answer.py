"""The engine's answer to a question of plait."""

from __future__ import annotations

from plait.engines.interface import Listener, Outcome, Progress, Question, counted
from plait.engines.predicates import engine
from plait.engines.predicates.settings import Abstraction, Explicit, Settings
from plait.engines.predicates.statistics import Statistics


def settings_of(question: Question) -> Settings:
    chosen = question.settings
    return Settings(
        abstraction=Abstraction(chosen["abstraction"]),
        monolithic=chosen["monolithic"],
        explicit=Explicit(chosen["by_location"]),
        reduced=chosen["reduced"],
        most_nodes=chosen["most_tree_nodes"],
    )


def answer(question: Question, listener: Listener) -> Outcome:
    def searched(statistics: Statistics, so_far: str) -> None:
        doing = (
            f"{counted(statistics.predicates, 'predicate')}, {counted(statistics.kept, 'node')},"
            f" {statistics.open_nodes:,} open, {counted(statistics.refinements, 'refinement')}"
        )
        listener.progress(Progress(doing, statistics.numbers(), so_far))

    return engine.verify(
        question.program,
        question.specification,
        settings_of(question),
        question.deadline,
        searched,
        listener.confirm,
        question.previous,
    )
