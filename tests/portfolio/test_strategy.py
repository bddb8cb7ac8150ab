"""Which engines run when."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.portfolio.strategy import ALONE, AUTO, PORTFOLIO, Event, Machine, State, machine_for


def chosen(
    engine: str,
    *,
    has_bound: bool = False,
    needs_certificate: bool = False,
    suits_impact: bool = True,
) -> Machine:
    return machine_for(
        engine,
        has_bound=has_bound,
        needs_certificate=needs_certificate,
        suits_impact=suits_impact,
    )


def engines(machine: Machine) -> set[str]:
    return {engine for state in machine.states.values() for engine in state.starts}


@pytest.mark.parametrize("engine", ["orders", "impact"])
def test_one_engine(engine: str) -> None:
    machine = chosen(engine)
    assert engines(machine) == {engine}
    assert machine.start == ALONE


def test_both() -> None:
    assert chosen("auto") is AUTO
    assert chosen("portfolio") is PORTFOLIO
    assert engines(AUTO) == engines(PORTFOLIO) == {"orders", "impact"}


def test_what_only_one_engine_can_do() -> None:
    assert engines(chosen("auto", has_bound=True)) == {"orders"}
    assert engines(chosen("auto", needs_certificate=True)) == {"impact"}
    assert engines(chosen("auto", suits_impact=False)) == {"orders"}
    assert engines(chosen("portfolio", suits_impact=False)) == {"orders"}


@pytest.mark.parametrize("machine", [AUTO, PORTFOLIO, chosen("orders")])
def test_machines_are_whole(machine: Machine) -> None:
    assert machine.first in machine.states[machine.start].starts
    reached, waiting = {machine.start}, [machine.start]
    while waiting:
        state = machine.states[waiting.pop()]
        assert (state.seconds is None) == (Event.PATIENCE not in state.next)
        for name in state.next.values():
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    assert reached == machine.states.keys()


def test_patience() -> None:
    assert State().patience(60.0) is None
    assert State(seconds=10.0, share=0.5).patience(None) == 10.0
    assert State(seconds=10.0, share=0.5).patience(60.0) == 30.0
    assert State(seconds=10.0, share=0.5).patience(5.0) == 10.0


def test_the_document_names_all_states() -> None:
    text = (Path(__file__).parents[2] / "docs" / "portfolio.md").read_text("utf-8")
    assert [name for name in AUTO.states if f"**{name}**" not in text] == []
