"""Which engines run when."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.portfolio.machines import AUTO, PORTFOLIO, machine

from plait.portfolio.strategy import ALONE, Event, Machine, State


def engines(found: Machine) -> set[str]:
    return {engine for state in found.states.values() for engine in state.starts}


@pytest.mark.parametrize("engine", ["orders", "impact", "context", "explicit"])
def test_one_engine(engine: str) -> None:
    alone = machine(engine)
    assert engines(alone) == {engine}
    assert alone.start == ALONE


def test_both() -> None:
    assert engines(AUTO) == engines(PORTFOLIO) == {"orders", "impact", "context", "explicit"}


def test_what_only_some_engines_can_do() -> None:
    assert engines(machine("auto", has_bound=True)) == {"orders"}
    assert engines(machine("auto", needs_certificate=True)) == {"impact", "context"}
    assert engines(machine("auto", suits_impact=False)) == {"orders", "context", "explicit"}
    assert engines(machine("portfolio", suits_impact=False)) == {"orders", "context", "explicit"}


@pytest.mark.parametrize("found", [AUTO, PORTFOLIO, machine("orders")])
def test_machines_are_whole(found: Machine) -> None:
    assert found.states[found.start].starts
    reached, waiting = {found.start}, [found.start]
    while waiting:
        state = found.states[waiting.pop()]
        assert (state.seconds is None) == (Event.PATIENCE not in state.next)
        for name in state.next.values():
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    assert reached == found.states.keys()


def test_patience() -> None:
    assert State().patience(60.0) is None
    assert State(seconds=10.0, share=0.5).patience(None) == 10.0
    assert State(seconds=10.0, share=0.5).patience(60.0) == 30.0
    assert State(seconds=10.0, share=0.5).patience(5.0) == 10.0


def test_the_document_names_all_states() -> None:
    text = (Path(__file__).parents[2] / "docs" / "portfolio.md").read_text("utf-8")
    assert [name for name in AUTO.states if f"**{name}**" not in text] == []
