"""The engine on the small programs of the unbounded engine, one for each trap: their names say what
is expected."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.impact.helpers import BENCHMARKS, PROGRAMS, loaded
from tests.engines.impact.test_critical_sections import UNSAFE
from tests.engines.impact.test_critical_sections import program_of as two_threads
from tests.engines.traces.helpers import checked, outcome_of

from plait.certificates.verdicts import Ruling
from plait.engines.blocks.persistent import PersistentSets
from plait.engines.interface import Answer
from plait.engines.traces.settings import Claims, Commutativity, Explicit, Settings

FILES = sorted(PROGRAMS.glob("*.c"))
LABELS_ONLY = Settings(commutativity=Commutativity.MONOTONIC, explicit=Explicit.POINTERS)
CONFIGURATIONS = [
    Settings(claims, weakening, commutativity, explicit, is_reduced, is_reduced)
    for claims in Claims
    for weakening in (True, False)
    for commutativity in Commutativity
    for explicit in Explicit
    for is_reduced in (True, False)
]
# It needs an invariant about two variables that interpolants do not come to in this order.
HARD = {"fig1_safe"}


def expected(path: Path) -> Answer:
    return Answer.VIOLATED if path.stem.endswith("unsafe") else Answer.HOLDS


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_default(path: Path) -> None:
    if path.stem in HARD:
        pytest.skip("open")
    outcome = outcome_of(loaded(path))
    assert outcome.answer is expected(path), outcome.reason


LABELLED = [
    path
    for path in FILES
    if path.stem.endswith("unsafe") and path.stem.startswith(("alias", "cover", "uncover", "label"))
]


@pytest.mark.parametrize("commutativity", [Commutativity.SLEEP, Commutativity.MONOTONIC])
@pytest.mark.parametrize("path", LABELLED, ids=lambda path: path.stem)
def test_labels_only(path: Path, commutativity: Commutativity) -> None:
    """Mistakes in covers and in the reduction show best where all is left to claims."""
    settings = Settings(commutativity=commutativity, explicit=Explicit.POINTERS, persistent=False)
    outcome = outcome_of(loaded(path), settings)
    assert outcome.answer is Answer.VIOLATED, outcome.reason


@pytest.mark.parametrize("number", range(len(CONFIGURATIONS)))
def test_other_configurations_are_never_wrong(number: int) -> None:
    for path in FILES[number % 40 :: 40]:
        outcome = outcome_of(loaded(path), CONFIGURATIONS[number], seconds=1)
        if outcome.answer is not Answer.UNKNOWN:
            assert outcome.answer is expected(path), f"{path.stem}: {outcome.reason}"


@pytest.mark.parametrize("settings", [Settings(), LABELS_ONLY], ids=["default", "labels only"])
@pytest.mark.parametrize("name", ["alias_pointer_safe", "cover_chain_safe", "section_waits_safe"])
def test_certificates(name: str, settings: Settings) -> None:
    program = loaded(PROGRAMS / f"{name}.c")
    verdict = checked(program, outcome_of(program, settings))
    assert verdict.answer is Ruling.ACCEPTED, verdict.reason


@pytest.mark.parametrize("name", UNSAFE)
def test_critical_sections(name: str, tmp_path: Path) -> None:
    for commutativity in Commutativity:
        outcome = outcome_of(
            two_threads(tmp_path, UNSAFE[name]), Settings(commutativity=commutativity)
        )
        assert outcome.answer is Answer.VIOLATED, outcome.reason


@pytest.mark.parametrize(
    "name", ["a conflict with what the other does at last", "a chain of steps ahead"]
)
def test_wrong_guesses_of_what_others_may_do(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without having seen what threads do, the first guess is always that nobody conflicts."""
    monkeypatch.setattr(PersistentSets, "rehearse", lambda self: None)
    for commutativity in Commutativity:
        outcome = outcome_of(
            two_threads(tmp_path, UNSAFE[name]), Settings(commutativity=commutativity)
        )
        assert outcome.answer is Answer.VIOLATED, outcome.reason
        assert outcome.statistics.numbers()["mistaken"] > 0


@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("*.c")), ids=lambda path: path.stem)
def test_programs_of_the_papers(path: Path) -> None:
    outcome = outcome_of(loaded(path))
    assert outcome.answer is expected(path), outcome.reason
