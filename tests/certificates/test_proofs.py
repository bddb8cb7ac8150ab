"""Certificates of the unbounded engine: accepted as they are, rejected when tampered with."""

from __future__ import annotations

import copy
import json
import time
from pathlib import Path
from typing import Any

import pytest

from plait.certificates.check import check
from plait.certificates.fingerprint import fingerprint
from plait.certificates.json_values import CertificateError
from plait.certificates.reading import read
from plait.certificates.verdicts import Ruling
from plait.engines.impact.settings import Explicit, Reduction, Settings
from plait.model.program import Program
from plait.model.properties import Property, Specification
from tests.engines.impact.helpers import BENCHMARKS, PROGRAMS, loaded, outcome_of

Document = dict[str, Any]
SLOW = {"fig1_safe", "rwlock_safe", "covered_leaf_safe"}  # tens of seconds
SAFE = [path for path in sorted(PROGRAMS.glob("*_safe.c")) if path.stem not in SLOW]
ASSERTIONS = Specification()
LABELS_ONLY = Settings(explicit=Explicit.POINTERS)


def certificate_of(path: Path, settings: Settings) -> tuple[Program, Document]:
    program = loaded(path)
    outcome = outcome_of(program, settings, seconds=10)
    if outcome.proof is None:
        pytest.skip(outcome.reason)
    document = outcome.proof.certificate() | {"options": [], "fingerprint": fingerprint(program)}
    return program, json.loads(json.dumps(document))


def verdict_on(
    program: Program, document: Document, specification: Specification = ASSERTIONS
) -> Ruling:
    certificate = json.dumps(document)
    try:
        return check(program, specification, read(certificate), time.monotonic() + 60).answer
    except CertificateError:
        return Ruling.REJECTED


@pytest.mark.parametrize("path", SAFE, ids=lambda path: path.stem)
def test_accepted(path: Path) -> None:
    program, document = certificate_of(path, Settings())
    assert verdict_on(program, document) is Ruling.ACCEPTED


@pytest.mark.parametrize(
    "settings",
    [
        LABELS_ONLY,
        Settings(Reduction.STATIC, Explicit.POINTERS),
        Settings(Reduction.NONE),
        Settings(force_cover=False),
    ],
    ids=["labels", "static", "none", "unforced"],
)
@pytest.mark.parametrize("name", ["equal_counters_safe", "cover_expansion_safe", "input_safe"])
def test_other_configurations(name: str, settings: Settings) -> None:
    program, document = certificate_of(PROGRAMS / f"{name}.c", settings)
    assert verdict_on(program, document) is Ruling.ACCEPTED


def test_protocol() -> None:
    program, document = certificate_of(BENCHMARKS / "peterson.c", Settings())
    assert verdict_on(program, document) is Ruling.ACCEPTED


# --- what breaks the proof is noticed


@pytest.fixture(scope="module")
def proof() -> tuple[Program, Document]:
    program, document = certificate_of(PROGRAMS / "equal_counters_safe.c", LABELS_ONLY)
    assert verdict_on(program, document) is Ruling.ACCEPTED
    return program, document


def test_conjuncts_are_needed(proof: tuple[Program, Document]) -> None:
    """Labels are interpolants: nearly every conjunct is there for a reason. One that is not may
    be dropped without harm; dropping all of a node's is noticed wherever the node needs them."""
    program, document = proof
    rejected = tried = 0
    for number, node in enumerate(document["nodes"]):
        if len(node["label"]) and node["cover"] is None and tried < 10:
            changed = copy.deepcopy(document)
            changed["nodes"][number]["label"] = []
            tried += 1
            rejected += verdict_on(program, changed) is Ruling.REJECTED
    assert tried > 3
    assert rejected > tried // 2


def test_no_label_may_be_made_stronger(proof: tuple[Program, Document]) -> None:
    """`false` in the label of a node that can be reached would prove anything."""
    program, document = proof
    assert verdict_on(program, _with_false(document, 0)) is Ruling.REJECTED
    numbers = [n for n in range(len(document["nodes"])) if not _is_false(document, n)][:12]
    rejected = sum(
        verdict_on(program, _with_false(document, number)) is Ruling.REJECTED for number in numbers
    )
    # Some nodes cannot be reached any more since the labels above them have grown.
    assert rejected > len(numbers) // 2


def _with_false(document: Document, number: int) -> Document:
    changed = copy.deepcopy(document)
    false = len(changed["terms"])
    changed["terms"].append(["constant", 1, [], 0, ""])
    changed["nodes"][number]["label"] = [false]
    return changed


def _is_false(document: Document, number: int) -> bool:
    terms = document["terms"]
    return any(
        terms[index][0] == "constant" and terms[index][3] == 0
        for index in document["nodes"][number]["label"]
    )


def test_changed_constants(proof: tuple[Program, Document]) -> None:
    program, document = proof
    places = [
        index
        for index, term in enumerate(document["terms"])
        if term[0] == "constant" and term[1] > 1
    ]
    assert places
    for index in places:
        changed = copy.deepcopy(document)
        changed["terms"][index][3] ^= 1
        assert verdict_on(program, changed) is Ruling.REJECTED


def test_removed_nodes(proof: tuple[Program, Document]) -> None:
    """Without a leaf a step leads nowhere, unless no state of the node above leads there."""
    program, document = proof
    parents = {node["parent"] for node in document["nodes"]}
    covers = {node["cover"] for node in document["nodes"]}
    leaves = [
        number
        for number in range(len(document["nodes"]))
        if number not in parents | covers and not _is_false(document, number)
    ]
    assert len(leaves) > 3
    rejected = 0
    for leaf in leaves[:8]:
        is_reachable = verdict_on(program, _with_false(document, leaf)) is Ruling.REJECTED
        is_rejected = verdict_on(program, _without(document, leaf)) is Ruling.REJECTED
        assert is_rejected == is_reachable
        rejected += is_rejected
    assert rejected


def _without(document: Document, gone: int) -> Document:
    changed = copy.deepcopy(document)
    del changed["nodes"][gone]
    for node in changed["nodes"]:
        for name in ("parent", "cover"):
            if node[name] is not None and node[name] > gone:
                node[name] -= 1
    return changed


def test_removed_covers_and_expansions(proof: tuple[Program, Document]) -> None:
    program, document = proof
    for number, node in list(enumerate(document["nodes"]))[:16]:
        if node["cover"] is not None:
            changed = copy.deepcopy(document)
            changed["nodes"][number]["cover"] = None
            assert verdict_on(program, changed) is Ruling.REJECTED
        for thread in node["expanded"]:
            changed = copy.deepcopy(document)
            changed["nodes"][number]["expanded"].remove(thread)
            children = [
                item
                for item in changed["nodes"]
                if item["parent"] == number and item["thread"] == thread
            ]
            if children:
                assert verdict_on(program, changed) is Ruling.REJECTED


def test_switch_points_are_needed(proof: tuple[Program, Document]) -> None:
    program, document = proof
    changed = copy.deepcopy(document)
    changed["switch_points"] = {}
    assert verdict_on(program, changed) is not Ruling.ACCEPTED


def test_another_program(proof: tuple[Program, Document]) -> None:
    _, document = proof
    other = loaded(PROGRAMS / "equal_counters_unsafe.c")
    assert verdict_on(other, document) is Ruling.REJECTED
    claimed = document | {"fingerprint": fingerprint(other)}
    assert verdict_on(other, claimed) is Ruling.REJECTED


def test_the_fingerprint_is_compared(proof: tuple[Program, Document]) -> None:
    """Also where the proof would be one of the program all the same."""
    program, document = proof
    assert verdict_on(program, document) is Ruling.ACCEPTED
    assert verdict_on(program, document | {"fingerprint": "0" * 64}) is Ruling.REJECTED


def test_wrong_proofs_of_unsafe_programs() -> None:
    """Without cover expansions the engine takes an unsafe program for safe: not so the checker."""
    settings = Settings(explicit=Explicit.POINTERS, cover_expansions=False)
    for name in ("cover_expansion", "covered_leaf", "covered_in_loop"):
        program, document = certificate_of(PROGRAMS / f"{name}_unsafe.c", settings)
        assert verdict_on(program, document) is Ruling.REJECTED


def test_unreach_call_names_functions(tmp_path: Path) -> None:
    """A claim about no function at all would hold for every program."""
    path = tmp_path / "program.c"
    path.write_text("extern void reach_error(void); int main(void) { reach_error(); }")
    nothing = Specification(frozenset({Property.UNREACH_CALL}), frozenset())
    program = loaded(path, nothing)
    outcome = outcome_of(program, specification=nothing)
    assert outcome.proof is not None
    document = outcome.proof.certificate() | {"options": [], "fingerprint": fingerprint(program)}
    assert verdict_on(program, document, nothing) is Ruling.REJECTED
