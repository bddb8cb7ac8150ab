"""The search: what states need, and what is left open."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from tests.engines.impact.helpers import PROGRAMS, loaded
from tests.engines.traces.helpers import checked, outcome_of, program_of

from plait.certificates.check import check
from plait.certificates.fingerprint import fingerprint
from plait.certificates.reading import read
from plait.certificates.verdicts import Ruling
from plait.engines.interface import Answer
from plait.engines.traces.settings import Claims, Commutativity, Explicit, Settings
from plait.model.properties import Specification

LABELS = Settings(commutativity=Commutativity.MONOTONIC, explicit=Explicit.POINTERS)

UNDEFINED = """
int x;
int main(void) { int *p = 0; if (x == 1) return *p; x = 1; if (x == 1) return *p; return 0; }
"""
COUNTER = """
#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void);
int x, y;
void *t(void *unused) {
  while (1) {
    __VERIFIER_atomic_begin(); x++; y++; __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin(); assert(x == y); __VERIFIER_atomic_end();
  }
}
int main(void) { pthread_t a, b; pthread_create(&a, 0, t, 0); pthread_create(&b, 0, t, 0); }
"""


def test_undefined_behaviour_is_no_proof(tmp_path: Path) -> None:
    outcome = outcome_of(program_of(UNDEFINED, tmp_path))
    assert outcome.answer is not Answer.HOLDS
    assert outcome.answer is not Answer.UNKNOWN or "access" in outcome.reason


@pytest.mark.parametrize("claims", [Claims.INTERPOLANTS, Claims.CORES])
def test_one_trace_proves_unbounded_loops(claims: Claims, tmp_path: Path) -> None:
    """All that there is to know is `x == y`."""
    outcome = outcome_of(program_of(COUNTER, tmp_path), Settings(claims))
    assert outcome.answer is Answer.HOLDS, outcome.reason
    numbers = outcome.statistics.numbers()
    assert 1 <= numbers["traces"] <= 3


@pytest.mark.parametrize("commutativity", Commutativity)
def test_claims_are_needed_all_around_a_loop(commutativity: Commutativity, tmp_path: Path) -> None:
    """What a state of a loop needs is known when the loop is: not before the oldest state that it
    leads back to has been explored."""
    program = program_of(COUNTER, tmp_path)
    outcome = outcome_of(program, Settings(commutativity=commutativity))
    verdict = checked(program, outcome)
    assert verdict.answer is Ruling.ACCEPTED, verdict.reason


@pytest.mark.parametrize("explicit", Explicit)
@pytest.mark.parametrize(
    "name", ["uncovered_subtree_safe", "input_safe", "barrier_safe", "callee_by_index_safe"]
)
def test_errors_that_known_claims_exclude_are_excluded(name: str, explicit: Explicit) -> None:
    """Without Transformation II a trace may add triples about claims that there were already: the
    states of its word then need them."""
    program = loaded(PROGRAMS / f"{name}.c")
    for commutativity in Commutativity:
        settings = Settings(
            weakening=False,
            commutativity=commutativity,
            explicit=explicit,
            whole_sections=False,
            persistent=False,
        )
        outcome = outcome_of(program, settings, seconds=1)
        if outcome.answer is Answer.HOLDS:
            verdict = checked(program, outcome)
            assert verdict.answer is Ruling.ACCEPTED, verdict.reason
        else:
            assert outcome.answer is Answer.UNKNOWN


@pytest.mark.parametrize("name", ["alias_pointer_safe", "cover_chain_safe"])
def test_damaged_certificates_are_rejected(name: str) -> None:
    program = loaded(PROGRAMS / f"{name}.c")
    outcome = outcome_of(program, LABELS)
    assert outcome.proof is not None
    document = outcome.proof.certificate()
    assert document is not None
    document |= {"options": [], "fingerprint": fingerprint(program)}
    generator = random.Random(name)
    for damage in ("label", "label", "label", "cover", "cover"):
        damaged = json.loads(json.dumps(document))
        node = generator.choice([node for node in damaged["nodes"] if node[damage]])
        node[damage] = [] if damage == "label" else None
        verdict = check(program, Specification(), read(json.dumps(damaged)))
        assert verdict.answer is Ruling.REJECTED, damage
