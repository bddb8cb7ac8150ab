"""The abstract reachability tree (Definition 3.1), and which of its nodes count.

A node is live if neither it nor a node above it is covered or has the label false. `hidden` counts
the reasons against that, so that asking is cheap: when a cover is taken back, all that was below
it comes to life again.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.data import dataclass, field
from plait.engines.impact.implications import Label
from plait.logic.interpolation.path import Step
from plait.symbolic.blocks import Block, InputUse, Way
from plait.symbolic.locations import Location


@dataclass(slots=True, eq=False)
class Place:
    """A location, the nodes that are there, and the next blocks of its threads."""

    number: int
    location: Location
    can_step: list[int]
    nodes: list[Node] = field(default_factory=list)
    blocks: dict[int, Block] = field(default_factory=dict)
    hints: tuple[tuple[int, ...], ...] | None = None  # candidates for labels


@dataclass(slots=True, eq=False)
class Node:
    number: int
    parent: Node | None
    thread: int  # whose step led here; 0 for the root
    way: Way | None
    step: Step
    inputs: tuple[InputUse, ...]
    place: Place | None  # None: a violation, or what has no verdict
    depth: int
    switches: int
    label: Label = frozenset()
    children: list[Node] = field(default_factory=list)
    expanded: dict[int, None] = field(default_factory=dict)
    wanted: list[int] | None = None  # threads that the reduction does not skip
    extra: dict[int, None] = field(default_factory=dict)  # threads wanted by covered nodes
    cover: Node | None = None
    covers: dict[Node, None] = field(default_factory=dict)
    hidden: int = 0
    is_queued: bool = False
    is_open: bool = True  # not expanded yet
    is_false: bool = False

    @property
    def is_live(self) -> bool:
        return self.hidden == 0

    def path(self) -> list[Node]:
        """From the root to here."""
        found = []
        node: Node | None = self
        while node is not None:
            found.append(node)
            node = node.parent
        found.reverse()
        return found

    def subtree(self) -> Iterator[Node]:
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending += node.children


def common_ancestor(one: Node, other: Node) -> Node:
    while one is not other:
        if one.depth >= other.depth:
            assert one.parent is not None
            one = one.parent
        else:
            assert other.parent is not None
            other = other.parent
    return one
