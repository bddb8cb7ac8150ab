"""Covers and removal in the tree: whatever loses its cover is looked at again."""

from __future__ import annotations

from plait.engines.predicates.statistics import Statistics
from plait.engines.predicates.tree import Node, Tree
from plait.logic.interpolation.path import Step
from plait.symbolic.blocks import Kind, Way
from plait.symbolic.locations import Location

HERE = Location((), (), ())
WAY = Way(Kind.MOVE, Step((), {}), HERE, ())


class Grown:
    """A tree whose nodes are all at one location; a region is a number of literals."""

    def __init__(self) -> None:
        self.tree = Tree(Statistics())
        self.root = self.tree.root(HERE, (0b1111,), 0)

    def add(self, parent: Node, cube: int) -> Node:
        return self.tree.add(parent, 1, WAY, (cube,), 0, is_growth=False)

    def waiting(self) -> list[Node]:
        found = []
        while self.tree.queue:
            node = self.tree.next()
            if node is not None:
                found.append(node)
        return found


def test_an_older_node_with_all_states_covers() -> None:
    grown = Grown()
    weak = grown.add(grown.root, 0b01)
    strong = grown.add(grown.root, 0b11)
    assert grown.tree.weaker(strong) is weak
    assert grown.tree.weaker(weak) is None
    assert grown.tree.weaker(grown.root) is None


def test_what_a_node_covers_is_looked_at_again_when_it_is_covered() -> None:
    grown = Grown()
    first, second, third = (grown.add(grown.root, 0) for _ in range(3))
    grown.tree.cover(third, second)
    grown.waiting()
    grown.tree.cover(second, first)
    assert third.cover is None and third.is_open
    assert grown.waiting() == [third]
    assert grown.tree.weaker(third) is first


def test_what_is_below_a_pivot_covers_nobody() -> None:
    grown = Grown()
    pivot, other = grown.add(grown.root, 0), grown.add(grown.root, 0)
    below = grown.add(pivot, 0)
    deeper = grown.add(below, 0)
    grown.tree.cover(other, below)
    grown.tree.cover(deeper, below)
    grown.waiting()
    pivot.is_open = False
    grown.tree.remove_below(pivot)
    assert below.is_removed and deeper.is_removed
    assert other.cover is None
    assert grown.waiting() == [pivot, other]
    assert list(grown.tree.nodes) == [grown.root, pivot, other]
    assert grown.tree.weaker(other) is pivot


def test_a_removed_node_is_covered_by_nobody() -> None:
    grown = Grown()
    first, second = grown.add(grown.root, 0), grown.add(grown.root, 0)
    grown.tree.cover(second, first)
    grown.tree.remove([second])
    assert first.covers == {}
