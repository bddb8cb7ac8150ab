"""The search: what states need, and what is left open."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from tests.engines.impact.helpers import PROGRAMS, loaded
from tests.engines.impact.test_facts import lies
from tests.engines.traces.helpers import checked, outcome_of, program_of

from plait.certificates.check import check
from plait.certificates.fingerprint import fingerprint
from plait.certificates.json_values import CertificateError
from plait.certificates.reading import read
from plait.certificates.verdicts import Ruling
from plait.engines.interface import Answer
from plait.engines.modular.engine import verify as modular
from plait.engines.traces.settings import Claims, Commutativity, Explicit, Settings
from plait.model.program import Program
from plait.model.properties import Specification

Document = dict[str, Any]
MANY = int(os.environ.get("PLAIT_MANY", "1"))  # `make compare-verdicts` tries more
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
            most_states=1500,
        )
        outcome = outcome_of(program, settings)
        if outcome.answer is Answer.HOLDS:
            verdict = checked(program, outcome)
            assert verdict.answer is Ruling.ACCEPTED, verdict.reason
        else:
            assert outcome.answer is Answer.UNKNOWN


# --- what is known is assumed, and derived again


INDICES = """
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
int n, a[4];
void *t(void *unused) { int i = n; a[i] = 1; int j = n; a[j] = 2; return 0; }
int main(void) {
  pthread_t one, two;
  n = __VERIFIER_nondet_int();
  __VERIFIER_assume(0 <= n && n < 4);
  pthread_create(&one, 0, t, 0);
  pthread_create(&two, 0, t, 0);
}
"""


def test_the_next_word_is_proved_with_what_is_known(tmp_path: Path) -> None:
    """That `n` is in range is shown once; the other indices are equal to `n`, or in range because
    it is, and need one claim for each kind of error (there are four indices, and two kinds)."""
    program = program_of(INDICES, tmp_path)
    outcome = outcome_of(program)
    assert outcome.answer is Answer.HOLDS, outcome.reason
    numbers = outcome.statistics.numbers()
    about_n, about_first = 3, 3
    assert numbers["claims"] <= about_n + about_first + 3 * 2
    assert checked(program, outcome).answer is Ruling.ACCEPTED


def test_what_others_have_proved_needs_no_trace() -> None:
    program = loaded(PROGRAMS / "uncovered_subtree_safe.c")
    facts = modular(program, Specification()).facts
    without, with_facts = outcome_of(program), outcome_of(program, known=facts)
    assert with_facts.answer is Answer.HOLDS
    assert with_facts.statistics.numbers()["suggested"] > 0
    assert with_facts.statistics.numbers()["traces"] < without.statistics.numbers()["traces"]
    assert checked(program, with_facts).answer is Ruling.ACCEPTED


@pytest.mark.parametrize("name", ["uncovered_subtree", "alias_pointer", "cover_expansion"])
def test_lies_of_others_change_no_answer(name: str) -> None:
    for path in sorted(PROGRAMS.glob(f"{name}_*safe.c")):
        program = loaded(path)
        outcome = outcome_of(program, LABELS, known=lies(program))
        is_safe = path.stem.endswith("_safe")
        assert outcome.answer is (Answer.HOLDS if is_safe else Answer.VIOLATED), outcome.reason


# --- what breaks a proof is noticed


def _without_label(node: Document, document: Document) -> bool:
    is_possible = bool(node["label"])
    node["label"] = []
    return is_possible


def _without_cover(node: Document, document: Document) -> bool:
    is_possible = node["cover"] is not None and not _is_false(node, document)
    node["cover"] = None
    return is_possible


def _without_steps(node: Document, document: Document) -> bool:
    is_possible = bool(node["expanded"]) and not node["label"]
    node["expanded"] = []
    return is_possible


def _somewhere_else(node: Document, document: Document) -> bool:
    """No step leads from its parent to where the root is."""
    is_possible = node["parent"] is not None and node["location"] != 0
    node["location"] = document["nodes"][0]["location"]
    return is_possible


def _impossible(node: Document, document: Document) -> bool:
    """The root is where the program begins, so that it is not impossible to be there."""
    if node["parent"] is not None:
        return False
    document["terms"].append(["constant", 1, [], 0, ""])
    node["label"] = [len(document["terms"]) - 1]
    return True


def _covered_by_another(node: Document, document: Document) -> bool:
    cover = node["cover"]
    if cover is None or _is_false(node, document):
        return False
    here = document["nodes"][cover]["location"]
    others = [place for place, item in enumerate(document["nodes"]) if item["location"] != here]
    node["cover"] = others[cover % len(others)]
    return True


def _is_false(node: Document, document: Document) -> bool:
    return any(document["terms"][term][:4] == ["constant", 1, [], 0] for term in node["label"])


DAMAGES = [
    _without_label,
    _without_cover,
    _without_steps,
    _somewhere_else,
    _impossible,
    _covered_by_another,
]


@pytest.mark.parametrize("name", ["alias_pointer_safe", "cover_chain_safe", "double_counter_safe"])
def test_damaged_certificates_are_rejected(name: str) -> None:
    program = loaded(PROGRAMS / f"{name}.c")
    outcome = outcome_of(program, LABELS)
    assert outcome.proof is not None
    document = outcome.proof.certificate()
    assert document is not None
    document |= {"options": [], "fingerprint": fingerprint(program)}
    text = json.dumps(document)
    generator = random.Random(name)
    tried = 0
    while tried < 7 * MANY:
        damaged = json.loads(text)
        node = generator.choice(damaged["nodes"])
        damage = generator.choice(DAMAGES)
        if damage(node, damaged):
            tried += 1
            assert rejected(program, damaged), f"{damage.__name__} of {node}"


def rejected(program: Program, document: Document) -> bool:
    try:
        verdict = check(program, Specification(), read(json.dumps(document)))
    except CertificateError:
        return True
    return verdict.answer is Ruling.REJECTED
