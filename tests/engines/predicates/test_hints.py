"""Predicates of an earlier proof, of this engine or of `impact`: fewer refinements, never another
answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.engines.impact.helpers import PROGRAMS, loaded
from tests.engines.impact.helpers import outcome_of as outcome_of_impact
from tests.engines.predicates.helpers import outcome_of
from tests.engines.traces.helpers import checked

from plait.certificates.verdicts import Ruling
from plait.engines.impact.settings import Explicit as ImpactExplicit
from plait.engines.impact.settings import Settings as ImpactSettings
from plait.engines.interface import Answer, Outcome
from plait.engines.predicates.settings import Explicit, Settings

SETTINGS = Settings(explicit=Explicit.POINTERS)
SAFE = PROGRAMS / "equal_counters_safe.c"
UNSAFE = PROGRAMS / "equal_counters_unsafe.c"


def hints_of(outcome: Outcome) -> Any:
    assert outcome.proof is not None
    return json.loads(json.dumps(outcome.proof.predicates()))


def test_refinements_are_saved() -> None:
    program = loaded(SAFE)
    first = outcome_of(program, SETTINGS)
    second = outcome_of(program, SETTINGS, hints=hints_of(first))
    assert second.answer is Answer.HOLDS
    few, many = (item.statistics.numbers()["refinements"] for item in (second, first))
    assert few < many
    assert checked(program, second).answer is Ruling.ACCEPTED


def test_labels_of_the_other_engine_are_predicates() -> None:
    program = loaded(SAFE)
    proof = outcome_of_impact(program, ImpactSettings(explicit=ImpactExplicit.POINTERS))
    alone = outcome_of(program, SETTINGS)
    helped = outcome_of(program, SETTINGS, hints=hints_of(proof))
    assert helped.answer is Answer.HOLDS
    few, many = (item.statistics.numbers()["refinements"] for item in (helped, alone))
    assert few < many


@pytest.mark.parametrize("of_impact", [False, True])
def test_the_proof_of_a_safe_program_does_not_hide_an_error(of_impact: bool) -> None:
    program = loaded(SAFE)
    proof = outcome_of_impact(program) if of_impact else outcome_of(program, SETTINGS)
    found = outcome_of(loaded(UNSAFE), SETTINGS, hints=hints_of(proof))
    assert found.answer is Answer.VIOLATED, found.reason
