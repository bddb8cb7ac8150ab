"""The unbounded engine on small programs, one for each trap: their names say what is expected."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.impact.helpers import BENCHMARKS, PROGRAMS, loaded, outcome_of

from plait.data import replace
from plait.engines.impact.settings import Explicit, Reduction, Settings
from plait.engines.interface import Answer

FILES = sorted(PROGRAMS.glob("*.c"))
CONFIGURATIONS = [
    Settings(reduction, explicit, force)
    for reduction in Reduction
    for explicit in Explicit
    for force in (True, False)
]
# Solved only with variables that have few values in the locations, or by force.
HARD = {"bounded_counter_unsafe"}


def expected(path: Path) -> Answer:
    return Answer.VIOLATED if path.stem.endswith("unsafe") else Answer.HOLDS


def test_there_are_programs() -> None:
    assert len(FILES) > 70


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_default(path: Path) -> None:
    outcome = outcome_of(loaded(path))
    if path.stem in HARD and outcome.answer is Answer.UNKNOWN:
        pytest.skip(outcome.reason)
    assert outcome.answer is expected(path), outcome.reason


UNSAFE = [path for path in FILES if expected(path) is Answer.VIOLATED]


@pytest.mark.parametrize("path", UNSAFE, ids=lambda path: path.stem)
def test_with_skipped_steps_only(path: Path) -> None:
    """Steps that go ahead of others hide what would be wrong with those that are skipped."""
    outcome = outcome_of(loaded(path), Settings(Reduction.DYNAMIC))
    assert outcome.answer is Answer.VIOLATED, outcome.reason


LABELLED = [path for path in UNSAFE if path.stem.startswith(("alias", "cover", "uncover", "label"))]


@pytest.mark.parametrize("reduction", [Reduction.DYNAMIC, Reduction.MOVERS])
@pytest.mark.parametrize("path", LABELLED, ids=lambda path: path.stem)
def test_with_labels_only(path: Path, reduction: Reduction) -> None:
    """Mistakes in covers and in the reduction show best where all is left to labels."""
    outcome = outcome_of(loaded(path), Settings(reduction, Explicit.POINTERS))
    assert outcome.answer is Answer.VIOLATED, outcome.reason


@pytest.mark.parametrize("number", range(len(CONFIGURATIONS)))
def test_other_configurations_are_never_wrong(number: int) -> None:
    """Each configuration on a part of the programs; all of them are `make compare-verdicts`."""
    settings = CONFIGURATIONS[number]
    easy = outcome_of(loaded(PROGRAMS / "overlapping_bytes_unsafe.c"), settings)
    assert easy.answer is Answer.VIOLATED
    for path in FILES[number % 24 :: 24]:
        outcome = outcome_of(loaded(path), replace(settings, max_nodes=400))
        assert outcome.answer in (expected(path), Answer.UNKNOWN), f"{path.stem} {settings}"


@pytest.mark.parametrize(
    "name", ["dekker", "lamport", "peterson", "szymanski", "time_varying_mutex"]
)
def test_protocols(name: str) -> None:
    program = loaded(BENCHMARKS / f"{name}.c")
    full = outcome_of(program, Settings(Reduction.STATIC))
    reduced = outcome_of(program)
    assert full.answer is reduced.answer is Answer.HOLDS
    assert reduced.statistics.nodes < full.statistics.nodes


# --- section IV-C: what is missed without cover expansions


@pytest.mark.parametrize("name", ["cover_expansion", "covered_leaf", "covered_in_loop"])
def test_cover_expansions_are_needed(name: str) -> None:
    program = loaded(PROGRAMS / f"{name}_unsafe.c")
    labels_only = Settings(Reduction.DYNAMIC, Explicit.POINTERS)
    found = outcome_of(program, labels_only)
    assert found.answer is Answer.VIOLATED
    assert found.statistics.cover_expansions > 0
    missed = outcome_of(
        program, Settings(Reduction.DYNAMIC, Explicit.POINTERS, cover_expansions=False)
    )
    assert missed.answer is Answer.HOLDS  # wrong: that is what the expansions are for


# --- section IV-D: conditional dependence


def test_figure_1() -> None:
    outcome = outcome_of(loaded(PROGRAMS / "fig1_safe.c"), Settings(Reduction.DYNAMIC))
    assert outcome.answer is Answer.HOLDS
    assert outcome.statistics.conditional > 0
