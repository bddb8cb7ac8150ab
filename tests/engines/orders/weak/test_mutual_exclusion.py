"""Mutual exclusion and wake-ups with and without fences: verdicts by model, and what is suggested."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.asking import Replaying

from plait.engines import registry
from plait.engines.interface import Answer, Question
from plait.engines.orders.answer import answer
from plait.evidence.result import Result
from plait.portfolio.fences import suggested
from plait.portfolio.options import Options
from plait.portfolio.subject import Subject, load_program, specification

FOLDER = Path(__file__).parents[3] / "programs" / "weak_memory"
FULL = "atomic_thread_fence(memory_order_seq_cst)"
RELEASE = "atomic_thread_fence(memory_order_release)"
VERDICTS = {
    ("dekker", ""): {"sc": True, "tso": False, "pso": False, "c11": False},
    ("dekker", f"FENCE={FULL}"): {"sc": True, "tso": True, "pso": True, "c11": True},
    ("dekker", f"FENCE={RELEASE}"): {"tso": False, "pso": False, "c11": False},
    ("peterson", ""): {"sc": True, "tso": False, "pso": False, "c11": False},
    ("peterson", f"FENCE={FULL}"): {"tso": True, "pso": False},
    ("latch", ""): {"sc": True, "tso": True, "pso": False, "c11": False},
    ("latch", f"BEHIND_FLAG={FULL}"): {"pso": True, "c11": False},
    ("latch", f"BEHIND_LATCH={FULL}"): {"pso": False, "c11": False},
}
CASES = [(*about, model) for about, models in VERDICTS.items() for model in models]


def verdict_of(subject: Subject) -> Answer:
    chosen, entry = specification(subject)
    program = load_program(subject, chosen, entry)
    question = Question(program, chosen, settings=registry.engine("orders").settings({}))
    return answer(question, Replaying(question)).answer


@pytest.mark.parametrize(("name", "define", "model"), CASES)
def test_verdicts(name: str, define: str, model: str) -> None:
    subject = Subject(
        programs=(str(FOLDER / f"{name}.c"),),
        defines=(define,) if define else (),
        memory_model=model,
        property=("assertions", "no-data-race") if model == "c11" else ("assertions",),
    )
    expected = VERDICTS[name, define][model]
    assert verdict_of(subject) is (Answer.HOLDS if expected else Answer.VIOLATED)


SUGGESTIONS = {
    ("dekker", "tso"): {(14, True, "seq_cst"), (21, True, "seq_cst")},
    ("peterson", "tso"): {(20, True, "seq_cst"), (30, True, "seq_cst")},
    ("latch", "pso"): {(21, True, "release")},
    ("latch", "c11"): {(23, False, "release"), (30, False, "acquire")},
}


@pytest.mark.parametrize(("name", "model"), SUGGESTIONS)
def test_suggestions(name: str, model: str) -> None:
    options = Options(
        programs=(str(FOLDER / f"{name}.c"),), memory_model=model, property=("assertions",)
    )
    names = {Answer.HOLDS: "true", Answer.VIOLATED: "false", Answer.UNKNOWN: "unknown"}

    def result(verdict: str) -> Result:
        return Result("", [], "main", "LP64", [], "orders", verdict, "")

    found = suggested(options, result("false"), lambda one: result(names[verdict_of(one)]))
    assert not found.reason
    shown = {(item.line, item.is_fence, item.order) for item in found.suggestions}
    assert shown == SUGGESTIONS[name, model]
