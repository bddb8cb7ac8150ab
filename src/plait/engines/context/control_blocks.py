"""Control blocks of threads: what the library passes to a new thread, and what it is joined by.

The address of its control block is the identity of a thread (`pthread_t`). A thread reads in it
what it is handed, its function and its argument; all of that belongs to the new thread, because
nobody else touches it once the thread may run (`handed`). The rest, whether the thread has ended
and with which result, whether it has been joined, is shared with whoever knows its identity.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.analysis.objects import members
from plait.analysis.sharing import Sharing
from plait.engines.context.giving_up import GaveUp
from plait.model.actions import Spawn
from plait.model.program import Edge, Function
from plait.symbolic.knowledge import Knowledge
from plait.symbolic.locations import Cell, Frame, HeapObject, Location


class ControlBlocks:
    """`edges` allocate control blocks. `handed` are the places (offsets and sizes) in a control
    block that the first function of a thread reads."""

    def __init__(self, sharing: Sharing) -> None:
        self._sharing = sharing
        self.edges = self._find_edges()
        self.handed = self._find_handed()

    def is_one(self, item: HeapObject) -> bool:
        return item.edge in self.edges

    def base(self, block: HeapObject) -> int:
        return block.page << self._sharing.points_to.program.data_model.page_bits

    def cells(self, block: HeapObject, knowledge: Knowledge) -> list[Cell]:
        divided = knowledge.cells_of(block.edge, block.size)
        if divided is None:
            raise GaveUp("a control block has too many parts")
        base = self.base(block)
        return [(base + offset, size) for offset, size in divided]

    def is_handed(self, cell: Cell, block: HeapObject) -> bool:
        return (cell[0] - self.base(block), cell[1]) in self.handed

    def passed(self, location: Location, frame: Frame) -> HeapObject:
        """The one that a new thread gets."""
        values = {value for _, value in frame.registers}
        for item in location.heap:
            if self.is_one(item) and self.base(item) in values:
                return item
        raise GaveUp("a thread begins without a control block of its own")

    def functions(self) -> set[str]:
        """Those that access control blocks, or start threads."""
        return {function.name for function, *_ in self._accesses()} | {
            name
            for name in self._sharing.points_to.reachable_functions
            if any(
                isinstance(edge.action, Spawn)
                for edge in self._sharing.points_to.instances_of[name][0].function.all_edges()
            )
        }

    def _find_edges(self) -> frozenset[Edge]:
        """What a spawn passes on in the library."""
        points_to = self._sharing.points_to
        found: set[Edge] = set()
        for arc in points_to.arcs:
            action = arc.edge.action
            if not arc.is_spawn or not isinstance(action, Spawn):
                continue
            caller = points_to.instances[arc.caller]
            for number in members(points_to.object_mask(points_to.mask(caller, action.argument))):
                item = points_to.objects[number]
                if item.edge is not None and item.function == caller.function.name:
                    if caller.function.library:
                        found.add(item.edge)
        return frozenset(found)

    def _find_handed(self) -> frozenset[tuple[int, int]]:
        """Nobody else writes these places but the function that creates the thread, before it does,
        and nobody else reads them."""
        roots = {thread.function for thread in self._sharing.threads[1:]}
        accesses = list(self._accesses())
        handed = {
            (offset, size) for function, offset, size, _ in accesses if function.name in roots
        }
        for function, offset, size, is_write in accesses:
            is_creator = any(isinstance(edge.action, Spawn) for edge in function.all_edges())
            if function.library and (function.name in roots or (is_creator and is_write)):
                continue
            for start, width in handed:
                if offset is None or start is None:
                    raise GaveUp("control blocks of threads are accessed at unknown places")
                if offset < start + width and start < offset + size:
                    raise GaveUp("what a thread is handed may change before it begins")
        return frozenset((offset, size) for offset, size in handed if offset is not None)

    def _accesses(self) -> Iterator[tuple[Function, int | None, int, bool]]:
        points_to = self._sharing.points_to
        memory = points_to.memory
        for instance, row in zip(points_to.instances, self._sharing.accesses, strict=True):
            for access in row:
                for place in members(access.locations):
                    item = memory.objects[memory.location_object[place]]
                    if item.edge in self.edges:
                        offset = memory.location_offset[place]
                        yield instance.function, offset, access.size, bool(access.writes)
