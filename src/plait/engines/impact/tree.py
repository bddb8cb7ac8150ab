"""The abstract reachability tree (Definition 3.1), and which of its nodes count.

A node is live if neither it nor a node above it is covered or has the label false. `hidden` counts
the reasons against that, so that asking is cheap: when a cover is taken back, all that was below
it comes to life again. Live nodes that were not expanded yet are in the queue.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from plait.data import dataclass, field
from plait.engines.blocks.certificate import Row
from plait.engines.blocks.paths import Occurrence, own_step
from plait.engines.impact.implications import Implications, Label
from plait.engines.impact.races import PossibleRace
from plait.engines.impact.statistics import Statistics
from plait.logic.interpolation.path import Step
from plait.logic.terms import Terms
from plait.symbolic.blocks import Block, InputUse, Way
from plait.symbolic.locations import Location

_NO_STEP = Step((), {})


@dataclass(slots=True, eq=False)
class Place:
    """A location, the nodes that are there, and the next blocks of its threads."""

    number: int
    location: Location
    can_step: list[int]
    nodes: list[Node] = field(default_factory=list)
    blocks: dict[int, Block] = field(default_factory=dict)
    hints: tuple[tuple[int, ...], ...] | None = None  # candidates for labels
    races: list[PossibleRace] | None = None


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
    effort: int  # context switches, and threads that were started in loops
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
    # The only thread that is expanded, as nothing that others may do conflicts with its step; 0 if
    # that was not asked yet, -1 if all are.
    persistent: int = 0
    has_no_race: bool = False  # as far as its label says
    has_no_deadlock: bool = False

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

    def occurrences(self) -> list[Occurrence]:
        """What is taken from the root to here."""
        found = []
        node = self
        while node.parent is not None:
            assert node.way is not None and node.parent.place is not None
            before = node.parent.place.location
            found.append(Occurrence(before, node.thread, node.way, node.step, node.inputs))
            node = node.parent
        found.reverse()
        return found

    def subtree(self) -> Iterator[Node]:
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending += node.children


def reachable(root: Node) -> list[Node]:
    """The nodes that a proof needs: those that are not below a cover, parents first."""
    kept: list[Node] = []
    pending = [root]
    while pending:
        node = pending.pop()
        if node.place is None:
            continue
        kept.append(node)
        if node.cover is None and not node.is_false:
            pending += node.children
    kept.sort(key=lambda node: node.number)
    return kept


def labels(root: Node) -> list[tuple[Location, Label]]:
    """Of the nodes that a proof needs."""
    nodes = reachable(root)
    return [(node.place.location, node.label) for node in nodes if node.place is not None]


def rows(root: Node) -> list[Row]:
    """The nodes that a proof needs, for a certificate."""
    kept = reachable(root)
    index = {node: place for place, node in enumerate(kept)}
    found = []
    for node in kept:
        assert node.place is not None
        is_leaf = node.cover is not None or node.is_false
        found.append(
            Row(
                parent=None if node.parent is None else index[node.parent],
                thread=node.thread,
                location=node.place.location,
                label=node.label,
                cover=None if node.cover is None else index[node.cover],
                expanded=() if is_leaf else tuple(sorted(node.expanded)),
                persistent=0 if is_leaf else max(node.persistent, 0),
            )
        )
    return found


def common_ancestor(one: Node, other: Node) -> Node:
    while one is not other:
        if one.depth >= other.depth:
            assert one.parent is not None
            one = one.parent
        else:
            assert other.parent is not None
            other = other.parent
    return one


class Tree:
    """Nodes are taken from the queue in the order of how many context switches lead to them, then
    of their depth. A thread that is started in a loop counts as a switch: a loop that starts one in
    each round has no end, and what its threads do would never have its turn."""

    def __init__(self, terms: Terms, implications: Implications, statistics: Statistics) -> None:
        self.nodes: list[Node] = []
        self.places: dict[Location, Place] = {}
        self.queue: list[tuple[int, int, int]] = []
        self._terms = terms
        self._implications = implications
        self._statistics = statistics

    def add(
        self,
        parent: Node | None,
        thread: int,
        way: Way | None,
        to: Location | None,
        *,
        is_growth: bool = False,
    ) -> Node:
        """The node that a way of a thread leads to; `to` is None behind a violation. It
        `is_growth` if a thread is started in a loop."""
        place = None if to is None else self._place(to)
        step = _NO_STEP
        inputs: tuple[InputUse, ...] = ()
        depth = effort = 0
        if way is not None and parent is not None:
            step, inputs = own_step(self._terms, way)
            depth = parent.depth + 1
            effort = parent.effort + (parent.thread not in (0, thread)) + is_growth
        node = Node(len(self.nodes), parent, thread, way, step, inputs, place, depth, effort)
        self.nodes.append(node)
        self._statistics.longest_path = max(self._statistics.longest_path, depth)
        if parent is not None:
            parent.children.append(node)
            node.hidden = parent.hidden
        if place is not None:
            place.nodes.append(node)
            self._enqueue(node)
        return node

    def _place(self, location: Location) -> Place:
        place = self.places.get(location)
        if place is None:
            place = Place(len(self.places), location, location.can_step())
            self.places[location] = place
            threads = len(location.threads)
            self._statistics.threads = max(self._statistics.threads, threads)
        return place

    def _enqueue(self, node: Node) -> None:
        if not node.is_queued and node.is_open and node.place is not None:
            node.is_queued = True
            heapq.heappush(self.queue, (node.effort, node.depth, node.number))

    def reopen(self, node: Node) -> None:
        """There is more to expand at a node."""
        node.is_open = True
        if node.is_live:
            self._enqueue(node)

    def next(self) -> Node | None:
        """The first node of the queue, if it is still one to expand."""
        node = self.nodes[heapq.heappop(self.queue)[2]]
        node.is_queued = False
        return node if node.is_live and node.is_open else None

    def _hide(self, node: Node, *, by: int) -> None:
        """All below a node begins or ceases to count; covers by nodes that do not are void."""
        for item in node.subtree():
            was_live = item.is_live
            item.hidden += by
            if was_live and not item.is_live:
                for covered in list(item.covers):
                    self.uncover(covered)
            elif item.is_live:
                self._enqueue(item)

    def cover(self, node: Node, other: Node) -> None:
        self._statistics.covers += 1
        node.cover = other
        other.covers[node] = None
        self._hide(node, by=1)

    def uncover(self, node: Node) -> None:
        other = node.cover
        if other is None:
            return
        self._statistics.uncovered += 1
        node.cover = None
        other.covers.pop(node, None)
        self._hide(node, by=-1)

    def strengthen(self, node: Node, label: tuple[int, ...]) -> bool:
        """Add to the label of a node that stays possible; whether that is anything new."""
        new = frozenset(label) - node.label - {self._terms.true}
        if not new:
            return False
        if self._terms.false in new:
            self.make_false(node)
            return False
        node.label |= new
        for covered in list(node.covers):
            if not self._implications.holds(covered.label, new):
                self.uncover(covered)
        return True

    def make_false(self, node: Node) -> None:
        if not node.is_false:
            node.is_false = True
            node.label = frozenset((self._terms.false,))
            self._hide(node, by=1)
