"""Whether a label implies another one; what nobody knows is not implied."""

from __future__ import annotations

import pytest

from plait.engines.impact.implications import Implications
from plait.engines.impact.statistics import Statistics
from plait.logic.solver import Solver
from plait.logic.terms import Terms


def below(terms: Terms, name: str, limit: int) -> int:
    return terms.ult(terms.variable(name, 8), terms.constant(limit, 8))


def test_each_conjunct_has_to_follow() -> None:
    terms = Terms()
    implications = Implications(terms, Statistics(), None)
    label = frozenset({below(terms, "x", 3), below(terms, "y", 5)})
    weaker = below(terms, "x", 4)
    other = below(terms, "z", 4)
    assert implications.holds(label, frozenset({weaker}))
    assert not implications.holds(label, frozenset({weaker, other}))
    assert not implications.holds(frozenset(), frozenset({weaker}))
    assert implications.holds(frozenset({terms.false}), frozenset({other}))


def test_answers_are_remembered_for_the_label_that_they_are_about() -> None:
    terms = Terms()
    implications = Implications(terms, Statistics(), None)
    claim = below(terms, "x", 4)
    for limit, expected in ((3, True), (5, False), (3, True), (5, False)):
        assert implications.implies(frozenset({below(terms, "x", limit)}), claim) is expected


def test_a_way_is_excluded_by_what_contradicts_it() -> None:
    terms = Terms()
    implications = Implications(terms, Statistics(), None)
    small, large = below(terms, "x", 3), terms.not_(below(terms, "x", 4))
    assert implications.excludes(frozenset({small}), [large])
    assert not implications.excludes(frozenset({small}), [below(terms, "x", 2)])
    assert not implications.excludes(frozenset(), [large])


def test_what_the_solver_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    terms = Terms()
    implications = Implications(terms, Statistics(), None)
    monkeypatch.setattr(Solver, "solve", lambda *arguments, **options: None)
    assert not implications.implies(frozenset({below(terms, "x", 3)}), below(terms, "x", 4))
    assert not implications.excludes(frozenset({below(terms, "x", 3)}), [below(terms, "x", 2)])
