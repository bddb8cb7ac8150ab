"""Abstract threads: quotients, and what simulates what."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from plait.engines.context.acfa.automata import (
    AbstractLocation,
    AbstractThread,
    Effect,
    Move,
    collapse,
    simulates,
)

ANYTHING = frozenset({0, 1})
ZERO, ONE = frozenset({0}), frozenset({1})
STATE = frozenset({7})  # a variable
SILENT = Effect(ANYTHING, frozenset(), None)
SETS = Effect(ZERO, STATE, None)


def thread(labels: list[frozenset[int]], *moves: tuple[int, Effect, int]) -> AbstractThread:
    locations = [AbstractLocation(label) for label in labels]
    return AbstractThread(locations, [Move(*move) for move in moves], frozenset({0}))


def test_silent_moves_are_collapsed() -> None:
    graph = thread([ANYTHING] * 3, (0, SILENT, 1), (1, SETS, 2), (2, SILENT, 0))
    found, class_of = collapse(graph)
    assert len(found.locations) == 1
    assert class_of == [0, 0, 0]
    assert found.moves == [Move(0, SETS, 0)]


def test_what_can_be_done_later_tells_locations_apart() -> None:
    """From the last location nothing more is done."""
    graph = thread([ANYTHING] * 3, (0, SILENT, 1), (1, SETS, 2))
    found, class_of = collapse(graph)
    assert class_of[0] == class_of[1] != class_of[2]
    assert found.moves == [Move(class_of[0], SETS, class_of[2])]


def test_a_condition_is_not_silent() -> None:
    """Behind it is where the condition held once, so that is not the same place."""
    waits = Effect(ONE, frozenset(), None)
    graph = thread([ANYTHING, ANYTHING], (0, waits, 1), (1, SETS, 1))
    assert len(collapse(graph)[0].locations) == 2


def test_labels_are_not_merged() -> None:
    graph = thread([ZERO, ONE], (0, SILENT, 1), (1, SILENT, 0))
    assert len(collapse(graph)[0].locations) == 2


@pytest.mark.parametrize(
    "labels",
    [[ANYTHING] * 3, [ZERO, ONE, ANYTHING], [ANYTHING, ONE, ONE]],
    ids=["no labels", "labels", "some"],
)
def test_a_quotient_simulates_what_it_is_of(labels: list[frozenset[int]]) -> None:
    graph = thread(labels, (0, SILENT, 1), (1, SETS, 2), (2, SETS, 0), (0, SETS, 2))
    found, _ = collapse(graph)
    assert simulates(found, graph)


@dataclass(frozen=True)
class Case:
    """What is done, and a context that does not do as much."""

    graph: AbstractThread
    context: AbstractThread


WEAKER = {
    "nothing at all": Case(thread([ANYTHING]), AbstractThread()),
    "a label that says more": Case(thread([ANYTHING]), thread([ZERO])),
    "no such move": Case(thread([ANYTHING], (0, SETS, 0)), thread([ANYTHING])),
    "a move from fewer states": Case(
        thread([ANYTHING], (0, Effect(ANYTHING, STATE, None), 0)),
        thread([ANYTHING], (0, Effect(ZERO, STATE, None), 0)),
    ),
    "a move that changes less": Case(
        thread([ANYTHING], (0, Effect(ZERO, STATE, None), 0)),
        thread([ANYTHING], (0, Effect(ZERO, frozenset(), None), 0)),
    ),
    "a label behind a move that says more": Case(
        thread([ANYTHING, ANYTHING], (0, SETS, 1)), thread([ANYTHING, ONE], (0, SETS, 1))
    ),
    "a move that is only possible once": Case(
        thread([ANYTHING], (0, SETS, 0)), thread([ANYTHING, ANYTHING], (0, SETS, 1))
    ),
}


@pytest.mark.parametrize("name", WEAKER)
def test_it_does_not_simulate(name: str) -> None:
    case = WEAKER[name]
    assert simulates(case.graph, case.graph)
    assert not simulates(case.context, case.graph)


def test_staying_matches_what_changes_nothing() -> None:
    graph = thread([ZERO, ZERO], (0, SILENT, 1))
    assert simulates(thread([ANYTHING]), graph)
    assert not simulates(thread([ANYTHING]), thread([ZERO, ZERO], (0, SETS, 1)))
