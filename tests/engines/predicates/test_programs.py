"""The engine on the small programs of the unbounded engine, one for each trap: their names say what
is expected."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.impact.helpers import BENCHMARKS, PROGRAMS, loaded
from tests.engines.impact.test_critical_sections import UNSAFE
from tests.engines.impact.test_critical_sections import program_of as two_threads
from tests.engines.predicates.helpers import outcome_of
from tests.engines.traces.helpers import checked

from plait.certificates.verdicts import Ruling
from plait.engines.blocks.persistent import PersistentSets
from plait.engines.interface import Answer
from plait.engines.predicates.settings import Abstraction, Explicit, Settings

FILES = sorted(PROGRAMS.glob("*.c"))
SLOW = {"fig1_safe", "recursion_unsafe"}  # seconds
CONFIGURATIONS = [
    Settings(abstraction, monolithic, explicit, reduced)
    for abstraction in Abstraction
    for monolithic in (False, True)
    for explicit in Explicit
    for reduced in (True, False)
]


def expected(path: Path) -> Answer:
    return Answer.VIOLATED if path.stem.endswith("unsafe") else Answer.HOLDS


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_default(path: Path) -> None:
    if path.stem in SLOW:
        pytest.skip("seconds")
    outcome = outcome_of(loaded(path))
    assert outcome.answer is expected(path), outcome.reason


LABELLED = [
    path
    for path in FILES
    if path.stem.endswith("unsafe") and path.stem.startswith(("alias", "cover", "uncover", "label"))
]


@pytest.mark.parametrize("path", LABELLED, ids=lambda path: path.stem)
def test_predicates_only(path: Path) -> None:
    """Mistakes in covers and in the reduction show best where little is explicit."""
    outcome = outcome_of(loaded(path), Settings(explicit=Explicit.POINTERS))
    assert outcome.answer is Answer.VIOLATED, outcome.reason


@pytest.mark.parametrize("number", range(len(CONFIGURATIONS)))
def test_other_configurations_are_never_wrong(number: int) -> None:
    for path in FILES[number :: 3 * len(CONFIGURATIONS)]:
        outcome = outcome_of(loaded(path), CONFIGURATIONS[number], seconds=1)
        if outcome.answer is not Answer.UNKNOWN:
            assert outcome.answer is expected(path), f"{path.stem}: {outcome.reason}"


@pytest.mark.parametrize(
    "settings",
    [Settings(), Settings(explicit=Explicit.POINTERS), Settings(Abstraction.BOOLEAN)],
    ids=["default", "predicates only", "boolean"],
)
@pytest.mark.parametrize("name", ["alias_pointer_safe", "cover_chain_safe", "section_waits_safe"])
def test_certificates(name: str, settings: Settings) -> None:
    program = loaded(PROGRAMS / f"{name}.c")
    verdict = checked(program, outcome_of(program, settings))
    assert verdict.answer is Ruling.ACCEPTED, verdict.reason


@pytest.mark.parametrize("name", UNSAFE)
def test_critical_sections(name: str, tmp_path: Path) -> None:
    outcome = outcome_of(two_threads(tmp_path, UNSAFE[name]))
    assert outcome.answer is Answer.VIOLATED, outcome.reason


@pytest.mark.parametrize(
    "name", ["a conflict with what the other does at last", "a chain of steps ahead"]
)
def test_wrong_guesses_of_what_others_may_do(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without having seen what threads do, the first guess is always that nobody conflicts."""
    monkeypatch.setattr(PersistentSets, "rehearse", lambda self: None)
    outcome = outcome_of(two_threads(tmp_path, UNSAFE[name]))
    assert outcome.answer is Answer.VIOLATED, outcome.reason
    assert outcome.statistics.numbers()["mistaken"] > 0


@pytest.mark.parametrize("name", ["peterson", "time_varying_mutex", "stack_safe", "stack_unsafe"])
def test_programs_of_the_papers(name: str) -> None:
    path = BENCHMARKS / f"{name}.c"
    outcome = outcome_of(loaded(path))
    assert outcome.answer is expected(path), outcome.reason
