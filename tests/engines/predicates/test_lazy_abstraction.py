"""The thesis' worked examples: the locking example of 3.1 with the regions of its trees, Example 7,
and the program of Figure 3.1, whose predicates are each needed in one place only.

Blocks of plait go from loop head to loop head, so the locking example is taken edge by edge here, as
in Figure 2.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.engines.impact.helpers import loaded
from tests.engines.predicates.helpers import outcome_of

from plait.engines.interface import Answer
from plait.engines.predicates.cubes import EVERYTHING, NOTHING, Literals, Region, implies
from plait.engines.predicates.posts import Posts
from plait.engines.predicates.refinement import Analysis, Spurious
from plait.engines.predicates.settings import Abstraction, Explicit, Settings
from plait.engines.predicates.statistics import Statistics
from plait.logic.interpolation.interpolate import Feasible, Interpolator, Result
from plait.logic.interpolation.path import Step
from plait.logic.terms import Terms
from plait.model.program import Program


class Locking:
    """The automaton of Figure 2.3. `got_lock` is left out: what is below 3 is the left subtree."""

    def __init__(self, abstraction: Abstraction) -> None:
        terms = self.terms = Terms()
        self.literals = Literals(terms)
        self.posts = Posts(terms, self.literals, Statistics(), abstraction, None)
        self.analysis = Analysis(terms, self, None, lambda: None, abstraction)
        lock, new, old = (terms.variable(name, 32) for name in ("LOCK", "new", "old"))
        zero, one = terms.constant(0, 32), terms.constant(1, 32)
        self.free, self.held = terms.eq(lock, zero), terms.eq(lock, one)
        self.same = terms.eq(new, old)
        self.edges = {
            "1-2": Step((), {}),
            "2-3": Step((self.free,), {lock: one, old: new}),
            "3-4": Step((), {}),
            "3-5": Step((), {}),
            "4-5": Step((self.held,), {lock: zero, new: terms.add(new, one)}),
            "5-2": Step((terms.not_(self.same),), {}),
            "5-6": Step((self.same,), {}),
            "2-ERR": Step((terms.not_(self.free),), {}),
            "4-ERR": Step((terms.not_(self.held),), {}),
            "6-ERR": Step((terms.not_(self.held),), {}),
        }
        self._initially = Step((), {lock: zero})
        self._interpolator = Interpolator(terms)

    def interpolate(self, steps: Sequence[Step]) -> Result:
        return self._interpolator.interpolate(steps)

    def from_start(self, steps: Sequence[Step]) -> list[Step]:
        return [self._initially, *steps]

    def tracked(self, predicates: Sequence[int]) -> int:
        found = 0
        for predicate in predicates:
            found |= 3 << self.literals.of(predicate)
        return found

    def regions(self, path: Sequence[str], predicates: Sequence[int]) -> list[Region]:
        """Of the nodes on a path, from the initial one on."""
        tracked = self.tracked(predicates)
        found = [self.posts.behind(EVERYTHING, self._initially, tracked)]
        for name in path:
            found.append(self.posts.behind(found[-1], self.edges[name], tracked))
        return found

    def has(self, region: Region, fact: int) -> bool:
        return self.posts.excludes(region, self.terms.not_(fact))


FIRST = ("1-2", "2-3", "3-4", "4-5", "5-6")


@pytest.fixture(params=list(Abstraction), ids=lambda item: item.value)
def locking(request: pytest.FixtureRequest) -> Locking:
    return Locking(request.param)


def analysed(locking: Locking, regions: Sequence[Region], path: Sequence[str]) -> Spurious:
    conjunctions = [locking.literals.conjuncts(region) for region in regions]
    found = locking.analysis(conjunctions, [locking.edges[name] for name in path])
    assert isinstance(found, Spurious)
    return found


def test_forward_search(locking: Locking) -> None:
    """Figure 3.2."""
    regions = locking.regions(FIRST, (locking.free, locking.held))
    facts = [locking.free, locking.free, locking.held, locking.held, locking.free, locking.free]
    assert [locking.has(*pair) for pair in zip(regions, facts, strict=True)] == [True] * 6
    # The lock is not held at 6, as far as is known, so the error is reached.
    assert locking.posts.behind(regions[-1], locking.edges["6-ERR"], 0) != NOTHING
    # At 4 it is held.
    assert locking.posts.behind(regions[3], locking.edges["4-ERR"], 0) == NOTHING


def test_the_pivot_is_the_node_at_2(locking: Locking) -> None:
    """Figure 3.3; what is learnt is about `new` and `old` at 3, 4 and 5, and not at 1 or 2."""
    regions = locking.regions(FIRST, (locking.free, locking.held))
    found = analysed(locking, regions, (*FIRST, "6-ERR"))
    assert found.pivot == 1
    assert len(found.labels) == 4  # of the nodes at 3, 4, 5 and 6
    for label in found.labels[:3]:
        shown = " ".join(map(locking.terms.show, label))
        assert "new" in shown and "old" in shown and "LOCK" not in shown
    assert found.labels[3] == (locking.terms.false,)


def test_search_with_new_predicates(locking: Locking) -> None:
    """Figure 3.4: 6 is not reached any more, and the second node at 2 is covered by the first."""
    known = (locking.free, locking.held)
    found = analysed(locking, locking.regions(FIRST, known), (*FIRST, "6-ERR"))
    learnt = [term for label in found.labels for term in label if term != locking.terms.false]
    assert locking.regions(FIRST, (*known, *learnt))[-1] == NOTHING
    back = locking.regions((*FIRST[:-1], "5-2"), (*known, *learnt))
    assert back[-1] != NOTHING
    assert implies(back[-1], locking.regions(("1-2",), known)[-1])
    # The other way to 5: the lock is held, and `new` is `old`.
    other = (*FIRST[:2], "3-5", "5-6")
    behind = locking.regions(other, (*known, *learnt))[-1]
    assert locking.has(behind, locking.held)
    assert locking.posts.behind(behind, locking.edges["6-ERR"], 0) == NOTHING


def test_a_path_that_can_be_taken_has_no_pivot(locking: Locking) -> None:
    path = ("1-2", "2-3", "3-4", "4-5", "5-2")
    regions = [EVERYTHING] * len(path)
    conjunctions = [locking.literals.conjuncts(region) for region in regions]
    found = locking.analysis(conjunctions, [locking.edges[name] for name in path])
    assert isinstance(found, Feasible)


def test_the_initial_states_may_be_the_pivot(locking: Locking) -> None:
    conjunctions = [locking.literals.conjuncts(EVERYTHING)] * 2
    found = locking.analysis(conjunctions, [locking.edges[name] for name in ("1-2", "2-ERR")])
    assert isinstance(found, Spurious)
    assert found.pivot == -1
    assert found.labels == [(locking.free,), (locking.free,)]


# --- whole programs

EXAMPLE = """
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
int LOCK, new, old;
static void lock(void) { assert(LOCK == 0); LOCK = 1; }
static void unlock(void) { assert(LOCK == 1); LOCK = 0; }
int main(void) {
  new = __VERIFIER_nondet_int();
  do {
    lock();
    old = new;
    if (__VERIFIER_nondet_int()) {
      unlock();
      new = (int)(new + 1u);
    }
  } while (new != old);
  unlock();
}
"""

# Figure 3.6: the loop leaves `x` alone. Errors are looked at first, so there are places between the
# loop and the error.
LOOP = """
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
int x, y;
int main(void) {
  x = y = __VERIFIER_nondet_int();
  while (__VERIFIER_nondet_int()) { }
  for (int i = 0; i < 2; i++) { }
  assert(x == y);
}
"""


def program_of(text: str, folder: Path) -> Program:
    path = folder / "program.c"
    path.write_text(text)
    return loaded(path)


BY_PREDICATES = [
    Settings(abstraction=abstraction, monolithic=monolithic, explicit=Explicit.POINTERS)
    for abstraction in Abstraction
    for monolithic in (False, True)
]


@pytest.mark.parametrize("settings", BY_PREDICATES, ids=str)
def test_locking_example(settings: Settings, tmp_path: Path) -> None:
    outcome = outcome_of(program_of(EXAMPLE, tmp_path), settings)
    assert outcome.answer is Answer.HOLDS, outcome.reason
    assert 1 <= outcome.statistics.numbers()["predicates"] <= 3
    wrong = EXAMPLE.replace("new = (int)(new + 1u);", "")
    outcome = outcome_of(program_of(wrong, tmp_path), settings)
    assert outcome.answer is Answer.VIOLATED, outcome.reason


def test_keeping_the_subtree_may_loop_for_ever(tmp_path: Path) -> None:
    """Example 7."""
    program = program_of(LOOP, tmp_path)
    outcome = outcome_of(program, Settings(most_nodes=300))
    assert outcome.answer is Answer.HOLDS, outcome.reason
    assert outcome.statistics.numbers()["nodes"] < 20
    outcome = outcome_of(program, Settings(most_nodes=300, keep_subtree=True))
    assert outcome.answer is Answer.UNKNOWN
    assert "more than 300 nodes" in outcome.reason


def conditions(count: int) -> str:
    """Figure 3.1, with a loop between the two tests of a variable, so that there is a place."""
    declared = "".join(f"int p{index};" for index in range(count))
    tests = "".join(
        f"""
    p{index} = __VERIFIER_nondet_int();
    if (p{index}) lock();
    while (__VERIFIER_nondet_int()) {{ }}
    if (p{index}) unlock();"""
        for index in range(count)
    )
    return f"""
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
int LOCK;
static void lock(void) {{ assert(LOCK == 0); LOCK = 1; }}
static void unlock(void) {{ assert(LOCK == 1); LOCK = 0; }}
int main(void) {{
  {declared}
  while (__VERIFIER_nondet_int()) {{{tests}
  }}
}}
"""


def test_monolithic_and_parsimonious(tmp_path: Path) -> None:
    """Table 4.2: the same predicates, of which each place needs few."""
    program = program_of(conditions(3), tmp_path)
    most = {}
    average = {}
    for monolithic in (False, True):
        settings = Settings(monolithic=monolithic, explicit=Explicit.POINTERS)
        outcome = outcome_of(program, settings)
        assert outcome.answer is Answer.HOLDS, outcome.reason
        numbers = outcome.statistics.numbers()
        most[monolithic] = numbers["most_at_a_place"]
        average[monolithic] = numbers["at_all_places"] / numbers["places"]
    assert most[False] < most[True]
    assert average[False] < average[True]
