"""The bounded engine's answer to a question of plait."""

from __future__ import annotations

import time

from plait.engines.interface import Answer, Listener, Outcome, Progress, Question, counted
from plait.engines.orders import engine
from plait.engines.orders.outcome import BoundOutcome, Phase, Statistics
from plait.engines.orders.settings import OrderEncoding, Refinement, Settings
from plait.model.memory_model import TABLE, MemoryModel
from plait.model.properties import Property

# Those that are about order graphs; the others have the orders of SC in them.
_WEAK_REFINEMENTS = (Refinement.PROPAGATOR.value, Refinement.GRAPH.value)


def settings_of(question: Question) -> Settings:
    specification = question.specification
    has_axioms = TABLE[specification.memory_model].has_axioms
    undefined = (Property.NO_DATA_RACE, Property.NO_UNDEFINED)
    race_is = next((item.value for item in undefined if item in specification), None)
    return Settings(
        memory_model=specification.memory_model,
        unwind=question.unwind,
        finds_races=Property.NO_DATA_RACE in specification and not has_axioms,
        race_is=race_is,
        checks_memory=Property.VALID_MEMSAFETY in specification,
        # Under C11 what does not happen before the end of a local is a data race.
        checks_lives=Property.VALID_ACCESS in specification or has_axioms,
        assumes_defined=specification.assumes_defined,
        finds_deadlocks=Property.NO_DEADLOCK in specification,
        refinement=Refinement(question.settings["refinement"]),
        encoding=OrderEncoding(question.settings["order_encoding"]),
    )


def answer(question: Question, listener: Listener) -> Outcome:
    beyond = _beyond(question)
    if beyond:
        return Outcome(Answer.UNKNOWN, beyond)
    last_bound: int | None = None

    def finished(outcome: BoundOutcome) -> None:
        nonlocal last_bound
        numbers = outcome.statistics.numbers()
        last_bound = numbers["last_bound"]
        sizes = f"{counted(numbers['events'], 'event')}, {counted(numbers['clauses'], 'clause')}"
        doing = f"loop bound {last_bound} done: {sizes}"
        listener.progress(Progress(doing, numbers, bound=last_bound))

    def begins(phase: Phase, statistics: Statistics) -> None:
        parts = [f"loop bound {statistics.bound}: {phase.value}"]
        if phase is Phase.SOLVING:
            parts += [counted(statistics.events, "event"), counted(statistics.clauses, "clause")]
            if statistics.refinements:
                parts.append(counted(statistics.refinements, "refinement"))
        listener.progress(Progress(", ".join(parts), statistics.numbers()))

    outcome = engine.verify(
        question.program,
        settings_of(question),
        question.deadline,
        finished,
        listener.confirm,
        begins,
        question.known,
    )
    if outcome.is_bounded and _is_late(question):
        # When the time is up, the engine answers with the last bound that it has finished.
        outcome.is_out_of_time = True
    has_verdict = outcome.answer is not Answer.UNKNOWN
    outcome.bound = outcome.level if has_verdict or outcome.is_bounded else last_bound
    return outcome


def _beyond(question: Question) -> str:
    """Why the engine has no answer under this memory model; empty if it may have one."""
    model, specification = question.specification.memory_model, question.specification
    if model is MemoryModel.SC:
        return ""
    beyond = {Property.NO_DEADLOCK, Property.VALID_MEMSAFETY}
    if model is not MemoryModel.C11:
        beyond.add(Property.NO_DATA_RACE)
    names = sorted(item.value for item in beyond & specification.properties)
    if names:
        return f"orders does not check {', '.join(names)} under the memory model {model.value}"
    settings = question.settings
    if settings["order_encoding"] != "abstract" or settings["refinement"] not in _WEAK_REFINEMENTS:
        return "this way to refine knows only sequentially consistent memory"
    return ""


def _is_late(question: Question) -> bool:
    is_deepening = question.unwind is None
    deadline = question.deadline
    return is_deepening and deadline is not None and time.monotonic() >= deadline
