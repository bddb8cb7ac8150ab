"""The reachability tree (3.2): locations with regions, which are never changed.

When an abstraction was too coarse, what is below the pivot is removed and made anew. Nodes that
were covered by removed ones go back into the queue.
"""

from __future__ import annotations

import heapq

from plait.data import dataclass, field
from plait.engines.blocks.certificate import Row
from plait.engines.blocks.paths import Occurrence, own_step
from plait.engines.predicates.cubes import Literals, Region, implies
from plait.engines.predicates.statistics import Statistics
from plait.logic.terms import Terms
from plait.symbolic.blocks import Block, Way
from plait.symbolic.locations import Location


@dataclass(slots=True, eq=False)
class Place:
    """A location, the nodes that are there, and the next blocks of its threads."""

    location: Location
    can_step: list[int]
    nodes: dict[Node, None] = field(default_factory=dict)
    blocks: dict[int, Block] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Node:
    number: int
    parent: Node | None
    thread: int  # whose step led here; 0 for the root
    way: Way | None
    place: Place
    region: Region
    tracked: int  # the literals in terms of which the region is
    depth: int
    effort: int  # context switches, and threads that were started in loops
    children: list[Node] = field(default_factory=list)
    expanded: dict[int, None] = field(default_factory=dict)
    wanted: list[int] | None = None  # threads that the reduction does not skip
    extra: dict[int, None] = field(default_factory=dict)  # threads wanted by covered nodes
    cover: Node | None = None
    covers: dict[Node, None] = field(default_factory=dict)
    is_open: bool = True  # neither covered nor expanded yet
    is_queued: bool = False
    is_removed: bool = False
    # The only thread that is expanded, as nothing that others may do conflicts with its step; 0 if
    # that was not asked yet, -1 if all are.
    persistent: int = 0
    left_out: dict[Way, None] = field(default_factory=dict)  # errors that have no verdict
    _occurrence: Occurrence | None = None

    def path(self) -> list[Node]:
        """From the root to here."""
        found = []
        node: Node | None = self
        while node is not None:
            found.append(node)
            node = node.parent
        found.reverse()
        return found

    def occurrence(self, terms: Terms) -> Occurrence:
        """How its parent's states come here, with inputs of its own."""
        if self._occurrence is None:
            assert self.parent is not None and self.way is not None
            before = self.parent.place.location
            taken = own_step(terms, self.way)
            self._occurrence = Occurrence(before, self.thread, self.way, *taken)
        return self._occurrence


class Tree:
    """Nodes are taken from the queue in the order of how many context switches lead to them, then
    of their depth. A thread that is started in a loop counts as a switch: a loop that starts one in
    each round has no end, and what its threads do would never have its turn."""

    def __init__(self, statistics: Statistics) -> None:
        self.places: dict[Location, Place] = {}
        self.nodes: dict[Node, None] = {}
        self.queue: list[tuple[int, int, int, Node]] = []
        self._statistics = statistics

    def place(self, location: Location) -> Place:
        found = self.places.get(location)
        if found is None:
            found = self.places[location] = Place(location, location.can_step())
            threads = len(location.threads)
            self._statistics.threads = max(self._statistics.threads, threads)
        return found

    def root(self, location: Location, region: Region, tracked: int) -> Node:
        return self._put(None, 0, None, self.place(location), region, tracked, 0, 0)

    def add(
        self, parent: Node, thread: int, way: Way, region: Region, tracked: int, *, is_growth: bool
    ) -> Node:
        """The node that a way of a thread leads to. It `is_growth` if a thread is started in a
        loop."""
        assert way.target is not None
        effort = parent.effort + (parent.thread not in (0, thread)) + is_growth
        place = self.place(way.target)
        node = self._put(parent, thread, way, place, region, tracked, parent.depth + 1, effort)
        parent.children.append(node)
        return node

    def _put(
        self,
        parent: Node | None,
        thread: int,
        way: Way | None,
        place: Place,
        region: Region,
        tracked: int,
        depth: int,
        effort: int,
    ) -> Node:
        statistics = self._statistics
        number = statistics.nodes
        node = Node(number, parent, thread, way, place, region, tracked, depth, effort)
        statistics.nodes += 1
        statistics.longest_path = max(statistics.longest_path, depth)
        self.nodes[node] = None
        place.nodes[node] = None
        self._enqueue(node)
        return node

    def _enqueue(self, node: Node) -> None:
        if not node.is_queued:
            node.is_queued = True
            heapq.heappush(self.queue, (node.effort, node.depth, node.number, node))

    def next(self) -> Node | None:
        """The first node of the queue, if it is still one to expand."""
        node = heapq.heappop(self.queue)[3]
        node.is_queued = False
        return node if node.is_open and not node.is_removed else None

    def reopen(self, node: Node) -> None:
        """There is more to expand at a node."""
        node.is_open = True
        self._enqueue(node)

    # --- covers

    def weaker(self, node: Node) -> Node | None:
        """An older node with all states of a node."""
        for other in node.place.nodes:
            if other.number >= node.number:
                return None
            if other.cover is None and implies(node.region, other.region):
                return other
        return None

    def cover(self, node: Node, other: Node) -> None:
        """What a node has covered until now will find the other one, too."""
        self._statistics.covers += 1
        self._uncover(node)
        node.is_open = False
        node.cover = other
        other.covers[node] = None

    def _uncover(self, other: Node) -> None:
        for node in other.covers:
            node.cover = None
            self.reopen(node)
        other.covers.clear()

    def relabel(self, node: Node, region: Region, tracked: int) -> None:
        node.region, node.tracked = region, tracked
        self._uncover(node)

    # --- removal

    def remove_below(self, pivot: Node) -> None:
        """Make what is behind a node anew."""
        self.remove(pivot.children)
        pivot.children = []
        pivot.expanded.clear()
        pivot.persistent = 0
        self.reopen(pivot)

    def remove(self, nodes: list[Node]) -> None:
        """Nodes with all that is below them."""
        pending = list(nodes)
        removed = []
        while pending:
            node = pending.pop()
            pending += node.children
            node.is_removed = True
            removed.append(node)
            del self.nodes[node]
            del node.place.nodes[node]
            if node.cover is not None:
                del node.cover.covers[node]
        self._statistics.removed += len(removed)
        for node in removed:
            for covered in node.covers:
                covered.cover = None
                if not covered.is_removed:
                    self.reopen(covered)


def rows(nodes: list[Node], literals: Literals) -> list[Row]:
    """The nodes of a complete tree, in the order of their numbers, for a certificate."""
    index = {node: place for place, node in enumerate(nodes)}
    return [
        Row(
            parent=None if node.parent is None else index[node.parent],
            thread=node.thread,
            location=node.place.location,
            label=literals.conjuncts(node.region),
            cover=None if node.cover is None else index[node.cover],
            expanded=() if node.cover is not None else tuple(sorted(node.expanded)),
            persistent=0 if node.cover is not None else max(node.persistent, 0),
        )
        for node in nodes
    ]
