"""The unbounded engine's answer to a question of plait."""

from __future__ import annotations

from plait.engines.impact import engine
from plait.engines.impact.settings import Explicit, Reduction, Settings
from plait.engines.impact.statistics import Statistics
from plait.engines.interface import Listener, Outcome, Progress, Question, counted


def settings_of(question: Question) -> Settings:
    chosen = question.settings
    return Settings(
        reduction=Reduction(chosen["por"]),
        explicit=Explicit(chosen["explicit"]),
        force_cover=chosen["force_cover"],
        max_nodes=chosen["max_nodes"],
    )


def answer(question: Question, listener: Listener) -> Outcome:
    def searched(statistics: Statistics, so_far: str) -> None:
        covered = statistics.covers - statistics.uncovered
        doing = (
            f"{counted(statistics.nodes, 'node')}, {covered:,} covered,"
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
        question.known,
    )
