"""The engine's answer to a question of plait."""

from __future__ import annotations

from plait.engines.interface import Listener, Outcome, Progress, Question, counted
from plait.engines.traces import engine
from plait.engines.traces.settings import Claims, Commutativity, Explicit, Settings
from plait.engines.traces.statistics import Statistics


def settings_of(question: Question) -> Settings:
    chosen = question.settings
    return Settings(
        claims=Claims(chosen["claims"]),
        weakening=chosen["weakening"],
        commutativity=Commutativity(chosen["commutativity"]),
        explicit=Explicit(chosen["locations"]),
        whole_sections=chosen["whole_sections"],
        persistent=chosen["ahead"],
        most_states=chosen["most_states"],
    )


def answer(question: Question, listener: Listener) -> Outcome:
    def searched(statistics: Statistics, so_far: str) -> None:
        doing = (
            f"{counted(statistics.traces, 'trace')} proved, {counted(statistics.claims, 'claim')},"
            f" {counted(statistics.states, 'state')}"
        )
        listener.progress(Progress(doing, statistics.numbers(), so_far))

    return engine.verify(
        question.program,
        question.specification,
        settings_of(question),
        question.deadline,
        searched,
        listener.confirm,
        question.known,
    )
