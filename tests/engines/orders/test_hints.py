"""Facts of other engines as hints about loops and places: they are checked like bounds."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.engines.interface import Answer, Outcome
from plait.engines.modular.engine import verify as modular
from plait.engines.orders import engine
from plait.engines.orders.bounds import Bounds, Hints
from plait.engines.orders.settings import Settings
from plait.model.facts import Fact, Rounds, Unreachable
from plait.model.program import Program
from plait.model.properties import Specification

ROOT = Path(__file__).parents[3]
LOOP = """
#include <assert.h>
int sum, limit = 6, __VERIFIER_nondet_int(void);
int main(void) {
  int n = 0;
  while (n < limit) { sum = sum + 1; n = n + 1; }
  if (sum == 7) sum = 0;
  assert(sum == EXPECTED);
}
"""


def loop(tmp_path: Path, expected: int) -> Program:
    path = tmp_path / "loop.c"
    path.write_text(LOOP.replace("EXPECTED", str(expected)))
    return load([str(path)], FrontEndOptions(), Specification())


def verify(program: Program, facts: tuple[Fact, ...]) -> Outcome:
    end = time.monotonic() + 60
    return engine.verify(program, Settings(), end, known=lambda: facts)


def head_of_loop(program: Program) -> int:
    from plait.analysis.loops import find_loops

    (found,) = find_loops(program, program.functions["main"])
    return found.head


def test_a_known_number_of_rounds_is_unrolled_at_once(tmp_path: Path) -> None:
    program = loop(tmp_path, 6)
    hint = Rounds("main", head_of_loop(program), 6)
    without, with_hint = verify(program, ()), verify(program, (hint,))
    assert without.answer is with_hint.answer is Answer.HOLDS
    assert (without.statistics.bound, with_hint.statistics.bound) == (8, 1)


@pytest.mark.parametrize("expected", [6, 5])
@pytest.mark.parametrize("most", [0, 1, 3, 7, 1000])
def test_a_wrong_number_changes_nothing(tmp_path: Path, expected: int, most: int) -> None:
    program = loop(tmp_path, expected)
    outcome = verify(program, (Rounds("main", head_of_loop(program), most),))
    assert outcome.answer is (Answer.HOLDS if expected == 6 else Answer.VIOLATED)


@pytest.mark.parametrize("expected", [6, 5])
def test_places_that_are_reached_all_the_same(tmp_path: Path, expected: int) -> None:
    program = loop(tmp_path, expected)
    count = len(program.functions["main"].edges)
    for location in range(count):
        outcome = verify(program, (Unreachable("main", location),))
        assert outcome.answer is (Answer.HOLDS if expected == 6 else Answer.VIOLATED)
    everything = tuple(Unreachable("main", location) for location in range(count))
    outcome = verify(program, everything)
    assert outcome.answer is (Answer.HOLDS if expected == 6 else Answer.VIOLATED)


def test_hints_are_kept_when_bounds_grow() -> None:
    hints = Hints.of([Rounds("f", 3, 9), Unreachable("f", 4)])
    bounds = Bounds.same(1, hints).raise_(frozenset({("f", 3)}))
    assert bounds.hints.rounds == {("f", 3): 9}
    assert bounds.is_closed("f", 4) and not bounds.is_closed("f", 3)
    assert not bounds.raise_(hints.unreachable).is_closed("f", 4)


@pytest.mark.parametrize("name", ["peterson", "spin_lock", "counter_race", "locked_counter"])
def test_true_facts_change_no_answer(name: str) -> None:
    program = load([str(ROOT / f"examples/{name}.c")], FrontEndOptions(), Specification())
    facts = modular(program, Specification()).facts
    assert verify(program, facts).answer is verify(program, ()).answer
