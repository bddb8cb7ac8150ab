"""Every counterexample of the test suite becomes a witness in each format, is checked against the
format's schema, read back, and confirmed by a search that knows nothing but the witness."""

from __future__ import annotations

import re
import time
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
import yaml
from tests.evidence.witness.schemas import violation
from tests.evidence.witness.support import REPOSITORY, Violated, violated

from plait.evidence.validation.search import Confirmation
from plait.evidence.validation.validate import validate
from plait.evidence.witness.content import ViolationWitness
from plait.evidence.witness.read import from_text
from plait.evidence.witness.write import to_witness
from trust.concurrent import generate

_EXPECTATION = re.compile(r"^// expect ([a-z-]+): false$", re.MULTILINE)
_LITMUS = [
    (path, name)
    for folder in ("litmus", "library")
    for path in sorted((REPOSITORY / "tests" / "programs" / folder).glob("*.c"))
    for name in _EXPECTATION.findall(path.read_text())
]
# Exploration finds no violation of these, or takes long; other tests have them.
_LONG = ("fig1", "input_unsafe", "section_unbounded", "uninitialised", "iriw", "double_counter")
_IMPACT = REPOSITORY / "tests" / "engines" / "impact" / "programs"
_UNSAFE = [(path, "assertions") for path in sorted(_IMPACT.glob("*_unsafe.c"))]
_EXAMPLES = [
    # A race is looked for among accesses of a section that cannot begin yet.
    (_IMPACT / "section_waits_unsafe.c", "no-data-race"),
    (REPOSITORY / "examples" / "counter_race.c", "assertions"),
    (REPOSITORY / "examples" / "counter_race.c", "no-data-race"),
    (REPOSITORY / "examples" / "deadlock.c", "no-deadlock"),
]
_CASES = [
    pytest.param(path, name, id=f"{path.stem}-{name}")
    for path, name in (*_LITMUS, *_UNSAFE, *_EXAMPLES)
    if not path.stem.startswith(_LONG)
]


@pytest.mark.parametrize(("path", "name"), _CASES)
def test_counterexample_is_confirmed(path: Path, name: str) -> None:
    found = violated(path, name)
    assert found is not None
    _check(found, forms=("2.2", "graphml"))


@pytest.mark.parametrize(("path", "name"), _CASES[::4])
def test_without_threads_it_is_not_rejected(path: Path, name: str) -> None:
    found = violated(path, name)
    assert found is not None
    for form in ("2.0", "2.1"):
        text = to_witness(found.result, form)
        jsonschema.validate(yaml.safe_load(text), violation(form))
        answer = _validated(found, text, seconds=0.5)
        assert answer is not Confirmation.REJECTED


@pytest.mark.parametrize("seed", [1, 4, 7, 11, 17, 23, 37, 42])
def test_generated(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "generated.c"
    path.write_text(generate(seed))
    for name in ("assertions", "no-data-race"):
        found = violated(path, name, seconds=3)
        if found is not None:
            _check(found, forms=("2.2", "graphml"))


def _check(found: Violated, forms: tuple[str, ...]) -> None:
    for form in forms:
        text = to_witness(found.result, form)
        if form == "graphml":
            ElementTree.fromstring(text)
        else:
            jsonschema.validate(yaml.safe_load(text), violation(form))
        assert _validated(found, text, seconds=20) is Confirmation.CONFIRMED


def _validated(found: Violated, text: str, seconds: float) -> Confirmation:
    witness = from_text(text, "witness")
    assert isinstance(witness, ViolationWitness)
    return validate(
        found.program, found.specification, witness, deadline=time.monotonic() + seconds
    ).answer
