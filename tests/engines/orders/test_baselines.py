"""The baselines: the exact constraint over clocks, by itself and in the engine."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from tests.engines.orders.brute_force import is_feasible, obeys, occurring
from tests.engines.orders.test_engine import EXAMPLES
from tests.engines.orders.test_random_orders import instances

from plait.c import FrontEndOptions, load
from plait.engines.interface import Answer, Outcome, OutOfTime
from plait.engines.orders.baselines.cores import CORE_SOLVER, Cores
from plait.engines.orders.baselines.monolithic import Monolithic
from plait.engines.orders.engine import check
from plait.engines.orders.events import Event, EventStructure, Kind, Link, bits
from plait.engines.orders.exact import Feasible
from plait.engines.orders.settings import OrderEncoding, Refinement, Settings
from plait.evidence.replay import replay
from plait.logic.solver import Solver
from plait.logic.terms import Terms
from plait.model.program import Program
from plait.model.properties import Specification
from plait.semantics.run import run
from trust.concurrent import generate

BASELINES = {
    "graph": Settings(refinement=Refinement.GRAPH),
    "kernel": Settings(refinement=Refinement.KERNEL),
    "cores": Settings(refinement=Refinement.CORES),
    "monolithic": Settings(encoding=OrderEncoding.MONOLITHIC),
}
SEEDS = [range(3005, 3009)]


def shifted(structure: EventStructure) -> EventStructure:
    """The same with other literals: to a solver, variable 1 is true."""
    edges = [(a, b) for a, after in enumerate(structure.after0) for b in bits(after)]
    return EventStructure(
        [replace(event, guard=shift(event.guard)) for event in structure.events],
        edges,
        [replace(link, literal=shift(link.literal)) for link in structure.links],
        [replace(order, literal=shift(order.literal)) for order in structure.orders],
        [replace(section, literal=shift(section.literal)) for section in structure.sections],
        [replace(alias, literal=shift(alias.literal)) for alias in structure.aliases],
        structure.regions,
    )


def shift(literal: int) -> int:
    return literal + 1 if literal > 0 else literal - 1 if literal < 0 else 0


def expect_schedule(structure: EventStructure, true: set[int], found: Feasible) -> None:
    assert sorted(found.schedule) == occurring(structure, true)
    place = {event: n for n, event in enumerate(found.schedule)}
    assert all(place[a] < place[b] for a in place for b in place if structure.after0[a] >> b & 1)
    assert obeys(structure, found.schedule, true)


@settings(max_examples=100, deadline=None)
@given(instances())
def test_cores_are_exact(instance: tuple[EventStructure, set[int]]) -> None:
    structure, true = instance
    with Solver(Terms(), CORE_SOLVER) as solver:
        cores = Cores(structure, solver)
        cores.decide(sorted(true)[::2])  # what was asked before does not matter
        found = cores.decide(sorted(true))
    assert isinstance(found, Feasible) == is_feasible(structure, true)
    if isinstance(found, Feasible):
        expect_schedule(structure, true, found)
    else:
        assert found.reason <= true
        assert not is_feasible(structure, found.reason)


@settings(max_examples=100, deadline=None)
@given(instances())
def test_the_formula_with_clocks_is_exact(instance: tuple[EventStructure, set[int]]) -> None:
    structure, true = instance
    with Solver(Terms()) as solver:
        while solver.gates.variables < 200:  # more than there are literals
            solver.new_literal()
        monolithic = Monolithic(shifted(structure), solver)
        wanted = [shift(literal) for literal in true]
        denied = [-shift(literal) for literal in structure.literals if literal not in true]
        is_satisfiable = solver.solve([*wanted, *denied])
        assert is_satisfiable == is_feasible(structure, true)
        if is_satisfiable:
            expect_schedule(structure, true, monolithic.decide(wanted))


def test_time_is_up_while_clauses_are_made() -> None:
    structure = EventStructure(
        [Event(Kind.WRITE, 0, 0), Event(Kind.READ, 1, 0)], [], [Link(0, 1, 2)]
    )
    with Solver(Terms()) as solver, pytest.raises(OutOfTime):
        Monolithic(structure, solver, time.monotonic() - 1)


def verified(program: Program, chosen: Settings) -> Outcome:
    """A violation must replay."""
    outcome = check(program, 4, time.monotonic() + 60, chosen)
    found = outcome.counterexample
    if found is not None:
        schedule = replay(program, Specification(), found)
        assert run(program, Specification(), schedule=schedule).ending == "violation"
    return outcome


@pytest.mark.parametrize("seeds", SEEDS, ids=lambda seeds: f"{seeds[0]}..{seeds[-1]}")
def test_baselines_agree_with_the_default(seeds: range, tmp_path: Path) -> None:
    answers = set()
    for seed in seeds:
        source = tmp_path / f"{seed}.c"
        source.write_text(generate(seed))
        program = load([str(source)], FrontEndOptions(), Specification())
        expected = verified(program, Settings())
        answers.add(expected.answer)
        for name, chosen in BASELINES.items():
            found = verified(program, chosen)
            assert (seed, name, found.answer) == (seed, name, expected.answer)
            assert found.is_bounded == expected.is_bounded
    assert {Answer.HOLDS, Answer.VIOLATED} <= answers


def test_what_the_baselines_count() -> None:
    program = load([str(EXAMPLES / "counter_race.c")], FrontEndOptions(), Specification())
    default = verified(program, Settings()).statistics
    monolithic = verified(program, BASELINES["monolithic"]).statistics
    assert monolithic.clauses > default.clauses
    assert monolithic.variables > default.variables
    assert not monolithic.refinements
    cores = verified(program, BASELINES["cores"]).statistics
    assert cores.clauses == default.clauses
    assert cores.reasons == cores.refinements
