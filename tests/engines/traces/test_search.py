"""The search: what states need, and what is left open."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from tests.engines.impact.helpers import PROGRAMS, loaded
from tests.engines.traces.helpers import outcome_of, program_of

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
