"""Facts of other engines: they explain paths where they are true, and change no answer."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.engines.impact.helpers import PROGRAMS, loaded
from tests.engines.impact.test_hints import is_accepted

from plait.engines.impact.engine import verify
from plait.engines.impact.settings import Settings
from plait.engines.interface import Answer, Outcome
from plait.engines.modular.engine import verify as modular
from plait.model.facts import Fact, Range
from plait.model.program import Program
from plait.model.properties import Specification

ASSERTIONS = Specification()
SLOW = {"rwlock_safe", "covered_leaf_safe", "fig1_safe"}


def found(program: Program, facts: tuple[Fact, ...]) -> Outcome:
    end = time.monotonic() + 60
    return verify(program, ASSERTIONS, Settings(), end, known=lambda: facts)


def test_ranges_explain_paths() -> None:
    program = loaded(PROGRAMS / "uncovered_subtree_safe.c")
    facts = modular(program, ASSERTIONS).facts
    assert any(isinstance(fact, Range) for fact in facts)
    without, with_facts = found(program, ()), found(program, facts)
    assert with_facts.answer is Answer.HOLDS
    assert with_facts.statistics.refinements < without.statistics.refinements
    assert with_facts.statistics.suggested > 0
    assert is_accepted(program, with_facts)


def lies(program: Program) -> tuple[Fact, ...]:
    """Nearly everything is claimed to be 5, or to be something that no object is."""
    claims: list[Fact] = [Range("nothing", 0, 4, True, 5, 5)]
    for item in program.objects:
        if not item.library:
            claims += [Range(item.name, offset, 4, True, 5, 5) for offset in range(0, item.size, 4)]
            claims.append(Range(item.name, 2, 3, False, 1, 0))
    return tuple(claims)


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(PROGRAMS.glob("*.c")) if path.stem not in SLOW],
    ids=lambda path: path.stem,
)
def test_lies_change_no_answer(path: Path) -> None:
    program = loaded(path)
    is_safe = path.stem.endswith("_safe")
    outcome = found(program, (*lies(program), *modular(program, ASSERTIONS).facts))
    assert outcome.answer is (Answer.HOLDS if is_safe else Answer.VIOLATED)
    if is_safe:
        assert is_accepted(program, outcome)
