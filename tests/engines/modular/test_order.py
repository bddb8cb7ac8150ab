"""Weak topological orders of small graphs."""

from __future__ import annotations

import pytest

from plait.engines.modular.order import Order, order_of
from plait.model.actions import NOWHERE, Skip
from plait.model.program import Edge, Function


def order(successors: list[list[int]]) -> Order:
    edges = [
        [Edge(source, Skip(NOWHERE), target) for target in row]
        for source, row in enumerate(successors)
    ]
    return order_of(Function("f", "f", NOWHERE, [], 0, [], edges, None))


def cycles(successors: list[list[int]]) -> list[set[int]]:
    """All simple ones, each found from its smallest location."""
    found: list[set[int]] = []

    def walk(path: list[int]) -> None:
        for target in successors[path[-1]]:
            if target == path[0]:
                found.append(set(path))
            elif target > path[0] and target not in path:
                walk([*path, target])

    for start in range(len(successors)):
        walk([start])
    return found


GRAPHS = {
    "a loop": [[1], [2, 3], [1], []],
    "nested loops": [[1], [2, 5], [3], [2, 4], [1], []],
    "the function begins in a loop": [[1, 2], [0], []],
    "a loop with two entries": [[1, 2], [2], [1, 3], []],
    "two entries of the inner loop": [[1], [2, 3], [3], [2, 4], [1, 5], []],
    "a loop that a location without a way to it enters": [[1], [2], [0, 4], [1], []],
}


@pytest.mark.parametrize("successors", GRAPHS.values(), ids=GRAPHS.keys())
def test_every_cycle_has_a_head(successors: list[list[int]]) -> None:
    found = order(successors)
    assert cycles(successors)
    for cycle in cycles(successors):
        assert any(head in cycle for location in cycle for head in found.nest[location])
        assert cycle & found.heads


@pytest.mark.parametrize(
    ("name", "loops"),
    [
        ("a loop", {1}),
        ("nested loops", {1, 2}),
        ("the function begins in a loop", {0}),
        ("a loop with two entries", set()),
        ("two entries of the inner loop", {1}),
        ("a loop that a location without a way to it enters", set()),
    ],
)
def test_loops_are_entered_at_their_heads_alone(name: str, loops: set[int]) -> None:
    assert order(GRAPHS[name]).loops == loops
