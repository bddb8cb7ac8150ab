"""The modular engine's answer to a question of plait."""

from __future__ import annotations

from plait.engines.interface import Answer, Listener, Outcome, Question
from plait.engines.modular import engine
from plait.engines.modular.outcome import CheckOutcome


def answer(question: Question, listener: Listener) -> Outcome:
    outcome = engine.verify(
        question.program,
        question.specification,
        question.deadline,
        needs_facts=question.wants_facts,
    )
    listener.facts(outcome.facts)
    objection = _objection(outcome) if outcome.answer is Answer.HOLDS else ""
    if objection:
        return Outcome(Answer.UNKNOWN, objection, outcome.statistics)
    return outcome


def _objection(outcome: CheckOutcome) -> str:
    """Why a proof is not relied on; empty if it is. Heap objects, locals and thread-locals that
    several threads reach are where a static analysis goes wrong most easily: one name stands for
    many objects, whose lives end. Until more experience speaks for it, other engines decide."""
    sharing = outcome.sharing
    if sharing is None:
        return "it is not known what threads share"
    for item in sharing.points_to.objects:
        is_own = item.edge is None or getattr(item.edge.action, "storage", "") != "library"
        if item.is_per_instance and is_own and sharing.has_escaped(item):
            return f"a static proof is not relied on where threads share {item!r}"
    return ""
