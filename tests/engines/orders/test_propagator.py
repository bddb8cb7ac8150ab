"""The order graph as a propagator: it follows the solver's trail, and gives whole reasons."""

from __future__ import annotations

from tests.engines.orders.figures import Builder

from plait.engines.orders.graph import EventOrderGraph
from plait.engines.orders.propagator import OrderPropagator


def test_a_search() -> None:
    """x3 cannot read from x1 if x2 is between them, as it is where y2 reads from y1."""
    built = Builder()
    built.thread("w x1", "w x2", "w y1")
    built.thread("r y2", "r x3")
    built.link("x1", "x3")
    built.link("y1", "y2")
    link, between = built.sel["x3", "x1"], built.sel["y2", "y1"]
    propagator = OrderPropagator(EventOrderGraph(built.structure()))
    assert set(propagator.observed()) == {between, link}

    propagator.on_new_level()
    propagator.on_assignment(between)
    assert propagator.propagate() == [-link]
    assert propagator.provide_reason(-link) == [-link, -between]

    # What is taken back is forgotten.
    propagator.on_backtrack(0)
    propagator.on_new_level()
    propagator.on_assignment(link)
    assert propagator.propagate() == [-between]
    assert propagator.add_clause() == []
    assert propagator.check_model([link])

    # What is true for good stays, although it was told at a higher level.
    propagator.on_assignment(between, fixed=True)
    assert sorted(propagator.add_clause()) == sorted([-link, -between])
    assert not propagator.check_model([link, between])
    propagator.on_backtrack(0)
    assert propagator.check_model([between])
    assert propagator.propagate() == []  # at level 0 it is a clause
    assert propagator.add_clause() == [-link, -between]


def test_between_searches_the_solver_tells_of_literals_that_it_only_tries() -> None:
    built = Builder()
    built.thread("w x1", "w x2", "r x3")
    built.link("x1", "x3")
    propagator = OrderPropagator(EventOrderGraph(built.structure()))
    propagator.on_assignment(built.sel["x3", "x1"])
    assert propagator.add_clause() == []
