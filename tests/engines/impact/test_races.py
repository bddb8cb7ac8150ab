"""Data races: in `f` and `g`, two threads, accesses race or do not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.engines.impact.helpers import loaded, outcome_of
from tests.engines.impact.test_critical_sections import LOCK, UNLOCK, program_of

from plait.certificates.check import check
from plait.certificates.fingerprint import fingerprint
from plait.certificates.reading import read
from plait.certificates.verdicts import Ruling, Verdict
from plait.engines.blocks.persistent import PersistentSets
from plait.engines.impact.settings import Reduction, Settings
from plait.engines.interface import Answer, Outcome
from plait.model.program import Program
from plait.model.properties import from_names
from plait.semantics.explore import explore

RACES = from_names(["no-data-race"])
SECTION = ("__VERIFIER_atomic_begin();", "__VERIFIER_atomic_end();")

RACY = {
    "two writes": ("x = 1;", "x = 1;"),
    "a plain access and an atomic one": ("x = 1;", "__atomic_load_n(&x, __ATOMIC_SEQ_CST);"),
    "a plain access and an atomic section": ("int a = x;", f"{SECTION[0]} x = 1; {SECTION[1]}"),
    "neighbouring parts": ("*(short *)&x = 1;", "((char *)&x)[1] = 1;"),
    "an access without the lock": (f"{LOCK} x = 1; {UNLOCK}", "x = 2;"),
    "another lock": (
        f"{LOCK} x = 1; {UNLOCK}",
        "pthread_mutex_lock(&n); x = 2; pthread_mutex_unlock(&n);",
    ),
    "a plain look at a lock": ("take(0); x = 1; drop();", "int a = flag;"),
    "a write before it turns out that it may not be there": (
        "int a = x; __VERIFIER_assume(a == 5);",
        "x = 1;",
    ),
    "a section in which the process ends": (
        f"{SECTION[0]} if (x == 0) __builtin_trap(); {SECTION[1]}",
        "x = 1;",
    ),
    "behind others": ("z = 1; y = 1;", "int a = z; int b = y;"),
    "a thread that seems to be ahead": ("x = 1;", "z = 1; if (z == 1) x = 2;"),
    "in a loop": (
        "for (int i = 0; i < 9; i++) { take(0); y++; drop(); } x = 1;",
        "take(0); int a = y; drop(); if (a == 9) x = 2;",
    ),
}
SAFE = {
    "two reads": ("int a = x;", "int a = x;"),
    "a lock": (f"{LOCK} x = 1; {UNLOCK}", f"{LOCK} x = 2; {UNLOCK}"),
    "a flag as a lock": ("take(0); x = 1; drop();", "take(0); x = 2; drop();"),
    "atomic accesses": (f"{SECTION[0]} x++; {SECTION[1]}", "__atomic_store_n(&x, 1, 5);"),
    "neighbours": ("((char *)&x)[0] = 1;", "((char *)&x)[1] = 1;"),
    "an order by a flag": (
        "x = 1; __atomic_store_n(&flag, 1, __ATOMIC_SEQ_CST);",
        "if (__atomic_load_n(&flag, __ATOMIC_SEQ_CST)) x = 2;",
    ),
    "a section that can begin only behind the other access": (
        f"{SECTION[0]} __VERIFIER_assume(x); {SECTION[1]}",
        "extern _Bool __VERIFIER_nondet_bool(void); x = __VERIFIER_nondet_bool();",
    ),
    "an order by a value that has no bound": (
        f"x = 1; {SECTION[0]} y = 70; {SECTION[1]}",
        f"int a; {SECTION[0]} a = y; y = a + 1; {SECTION[1]} if (a > 60) x = 2;",
    ),
}


def certified(program: Program, document: dict[str, Any]) -> Verdict:
    document.update(options=[], fingerprint=fingerprint(program))
    return check(program, RACES, read(json.dumps(document)))


def outcome(folder: Path, threads: tuple[str, str], settings: Settings) -> tuple[Program, Outcome]:
    program = loaded(program_of_path(folder, threads), RACES)
    return program, outcome_of(program, settings, specification=RACES)


def program_of_path(folder: Path, threads: tuple[str, str]) -> Path:
    program_of(folder, threads)
    return folder / "program.c"


@pytest.mark.parametrize("reduction", [Reduction.MOVERS, Reduction.DYNAMIC])
@pytest.mark.parametrize("name", RACY)
def test_racy(name: str, reduction: Reduction, tmp_path: Path) -> None:
    _, found = outcome(tmp_path, RACY[name], Settings(reduction))
    assert found.answer is Answer.VIOLATED, found.reason
    assert found.counterexample is not None and found.counterexample.race is not None


@pytest.mark.parametrize("name", SAFE)
def test_safe(name: str, tmp_path: Path) -> None:
    program, found = outcome(tmp_path, SAFE[name], Settings())
    assert found.answer is Answer.HOLDS, found.reason
    assert explore(program, RACES).verdict.value == "true"
    assert found.proof is not None
    verdict = certified(program, found.proof.certificate())
    assert verdict.answer is Ruling.ACCEPTED, verdict.reason


@pytest.mark.parametrize("reduction", [Reduction.MOVERS, Reduction.DYNAMIC])
@pytest.mark.parametrize("name", RACY)
def test_no_certificate_for_races(name: str, reduction: Reduction, tmp_path: Path) -> None:
    """The tree of a proof of something else does not show that nothing races."""
    program = loaded(program_of_path(tmp_path, RACY[name]), RACES)
    whole = outcome_of(program, Settings(reduction))
    assert whole.proof is not None, whole.reason
    document = whole.proof.certificate()
    document.update(properties=["no-data-race"])
    verdict = certified(program, document)
    assert verdict.answer is Ruling.REJECTED
    assert "race" in verdict.reason or "ahead" in verdict.reason or "elsewhere" in verdict.reason


# Sections that are not executed as one block: what is accessed late in one would race.
OF_SEVERAL_STEPS = {
    "a loop": (
        f"int h[4]; {SECTION[0]} for (int i = 0; i < 4; i++) h[i] = i; x = 1; {SECTION[1]}",
        "x = 2;",
    ),
    "shared cells in a loop": (
        f"static int h[4]; {SECTION[0]} for (int i = 0; i < 4; i++) h[i] = i; x = 1; {SECTION[1]}",
        "x = 2;",
    ),
    "threads that are started": (
        f"{SECTION[0]} pthread_t t; for (int i = 0; i < 2; i++) pthread_create(&t, 0, fails, 0);"
        f" x = 2; {SECTION[1]}",
        "x = 1;",
    ),
}


@pytest.mark.parametrize("reduction", [Reduction.MOVERS, Reduction.DYNAMIC])
@pytest.mark.parametrize("name", OF_SEVERAL_STEPS)
def test_sections_of_several_steps(name: str, reduction: Reduction, tmp_path: Path) -> None:
    program = loaded(program_of_path(tmp_path, OF_SEVERAL_STEPS[name]), RACES)
    assert explore(program, RACES).verdict.value == "false"
    found = outcome_of(program, Settings(reduction), specification=RACES)
    assert found.answer is not Answer.HOLDS
    whole = outcome_of(program, Settings(reduction))
    if whole.proof is not None:
        document = whole.proof.certificate()
        document.update(properties=["no-data-race"])
        assert certified(program, document).answer is Ruling.REJECTED


@pytest.mark.parametrize("name", RACY)
def test_racy_without_a_guess(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What threads may still do is not known in advance: it is made up for."""
    monkeypatch.setattr(PersistentSets, "rehearse", lambda self: None)
    _, found = outcome(tmp_path, RACY[name], Settings())
    assert found.answer is Answer.VIOLATED, found.reason
