"""Which threads a node of a tree expands: one, where that is enough, or all but those that are
skipped (docs/impact.md). The same for all engines that build trees of blocks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeVar

from plait.engines.blocks.certificate import Row
from plait.engines.blocks.conflicts import dependence
from plait.engines.blocks.shell import Tools
from plait.symbolic.blocks import Block, Way
from plait.symbolic.locations import Location


class Place(Protocol):
    """A location, and the next blocks of its threads."""

    @property
    def location(self) -> Location: ...

    @property
    def can_step(self) -> list[int]: ...

    @property
    def blocks(self) -> dict[int, Block]: ...


class Node(Protocol):
    """`thread` took `way` from `parent` to here. `wanted`: the threads that are not skipped, None
    if that was not asked yet; `extra`: those wanted by the nodes that it `covers`. `persistent` is
    the only thread that is expanded, 0 if that was not asked yet, -1 if there is none."""

    wanted: list[int] | None
    persistent: int

    @property
    def parent(self) -> Node | None: ...

    @property
    def place(self) -> Place | None: ...

    @property
    def thread(self) -> int: ...

    @property
    def way(self) -> Way | None: ...

    @property
    def extra(self) -> dict[int, None]: ...

    @property
    def covers(self) -> Iterable[Node]: ...


class Counts(Protocol):
    executing: float
    persistent: int
    mistaken: int
    skipped: int


AnyNode = TypeVar("AnyNode", bound=Node)


class Expansion:
    """`execute` gives the next block of a thread, `excludes` says whether something cannot hold in
    the states of a node. Threads are skipped only if it `skips` some, and one is expanded alone
    only if `one_may_do`."""

    def __init__(
        self,
        tools: Tools,
        counts: Counts,
        execute: Callable[[Location, int], Block],
        excludes: Callable[[Any, int], bool],
        *,
        skips: bool,
        one_may_do: bool,
    ) -> None:
        self._terms = tools.terms
        self._sections = tools.sections
        self._persistent_sets = tools.persistent_sets
        self._counts = counts
        self._execute = execute
        self._excludes = excludes
        self._skips_some = skips
        self._one_may_do = one_may_do

    def rehearse(self) -> None:
        if self._one_may_do:
            self._persistent_sets.rehearse()

    def block(self, place: Place, thread: int) -> Block:
        found = place.blocks.get(thread)
        if found is None:
            began = time.perf_counter()
            found = place.blocks[thread] = self._execute(place.location, thread)
            self._counts.executing += time.perf_counter() - began
        return found

    def taken(self, place: Place, thread: int) -> Block:
        """The next block of a thread that is expanded."""
        block = self.block(place, thread)
        self._sections.note(place.location, thread, block)
        if self._one_may_do:
            self._persistent_sets.note(place.location, thread, block)
        return block

    def threads(self, node: Node) -> list[int]:
        """Those to expand."""
        place = node.place
        assert place is not None
        if not node.persistent:
            node.persistent = -1
            if self._one_may_do:
                chosen = self._persistent_sets.choose(
                    place.location, place.can_step, lambda thread: self.block(place, thread)
                )
                node.persistent = chosen or -1
                self._counts.persistent += chosen > 0
        if node.persistent > 0:
            return [node.persistent]
        return list(dict.fromkeys((*self.wanted(node), *node.extra)))

    def wanted(self, node: Node) -> list[int]:
        """All threads but those whose next step is independent of the one that led here, so that
        the other order is explored elsewhere."""
        if node.wanted is None:
            assert node.place is not None
            steps = node.place.can_step
            node.wanted = [thread for thread in steps if not self._skips(node, thread)]
        return node.wanted

    def _skips(self, node: Node, thread: int) -> bool:
        """SKIP, of threads with smaller numbers than that which led here."""
        parent, way = node.parent, node.way
        if (
            not self._skips_some
            or parent is None
            or way is None
            or thread >= node.thread
            or parent.persistent > 0  # the other order is nowhere else
        ):
            return False
        assert node.place is not None and parent.place is not None
        before, after = parent.place.location, node.place.location
        if thread > len(before.threads):
            return False
        block = self.block(parent.place, thread)
        if not self._excludes(parent, dependence(self._terms, before, after, way, block)):
            return False
        # It is not taken from here, but it could be: the others must not be in the middle of a
        # critical section then.
        self._sections.note(after, thread, block)
        self._counts.skipped += 1
        return True

    def is_growth(self, place: Place, thread: int, way: Way) -> bool:
        """Whether a thread is started in a loop."""
        moved = place.location.threads[thread - 1]
        return way.spawns and self._persistent_sets.is_in_loop(moved)

    def mistaken(
        self, nodes: list[AnyNode], rows: list[Row], places: Mapping[Location, Place]
    ) -> list[AnyNode]:
        """The nodes of a tree, with their rows, at which one thread turns out not to be enough:
        they have to be expanded again."""

        def block_at(location: Location, thread: int) -> Block:
            return self.block(places[location], thread)

        found = [nodes[index] for index in self._persistent_sets.mistaken(rows, block_at)]
        for node in found:
            node.persistent = -1
            self._counts.mistaken += 1
            for covered in node.covers:
                node.extra.update(dict.fromkeys(self.wanted(covered)))
        return found
