"""Instances of objects in the unrolled program, and which of them several threads share."""

from __future__ import annotations

from dataclasses import dataclass

from plait.analysis.points_to import PointsTo
from plait.analysis.sharing import Sharing
from plait.model.expressions import Expr
from plait.model.program import Edge, FrameSlot, Function, Program, StaticObject


@dataclass(slots=True, eq=False)
class Instance:
    """An object with its address. `contents` is None where they are indeterminate."""

    address: int
    size: int
    name: str
    is_shared: bool
    contents: bytes | None
    read_only: bool = False


class Objects:
    """Numbers pages for objects as they are made; addresses are never used twice."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._bits = program.data_model.page_bits
        self._next = program.first_free_page
        points_to = PointsTo(program)
        self._points_to = points_to
        self._sharing = Sharing(points_to)
        self._by_page: dict[int, Instance] = {}
        self._made: dict[object, list[Instance]] = {}  # by declaration or allocating edge
        self._functions = {
            program.address_of(function): function for function in program.functions.values()
        }
        for item in program.objects:
            if not item.thread_local:
                made = self._add(
                    item.page, item.size, item.name, self.shares(item), _contents(item),
                    item.read_only,
                )  # fmt: skip
                self._made[item] = [made]

    def shares(self, item: StaticObject | FrameSlot) -> bool:
        """Whether accesses to an object are events."""
        found = self._points_to.object_of(item)
        return found is not None and self._sharing.is_shared(found)

    def _add(
        self,
        page: int,
        size: int,
        name: str,
        is_shared: bool,
        contents: bytes | None,
        read_only: bool = False,
    ) -> Instance:
        made = Instance(page << self._bits, size, name, is_shared, contents, read_only)
        for number in range((size >> self._bits) + 1):
            self._by_page[page + number] = made
        return made

    def _take(self, size: int) -> int:
        page = self._next
        self._next += (size >> self._bits) + 1
        return page

    def heap(self, size: int, zeroed: bool, edge: Edge) -> Instance:
        contents = bytes(size) if zeroed else None
        made = self._add(self._take(size), size, "heap", True, contents)
        self._made.setdefault(edge, []).append(made)
        return made

    def local(self, slot: FrameSlot) -> Instance:
        made = self._add(self._take(slot.size), slot.size, slot.name, self.shares(slot), None)
        self._made.setdefault(slot, []).append(made)
        return made

    def addresses(self, function: str, expr: Expr, size: int, most: int) -> list[int] | None:
        """Where a pointer may point by the points-to analysis, in the objects made so far; None if
        there are more places than `most`."""
        found: dict[int, None] = {}
        for item, offset in self._points_to.locations(function, expr):
            for instance in self._made.get(item.static or item.slot or item.edge, ()):
                offsets = range(0, instance.size - size + 1, size) if offset is None else (offset,)
                for place in offsets:
                    found[instance.address + place] = None
                if len(found) > most:
                    return None
        return list(found)

    def block(self, size: int) -> Instance:
        """An object of a frame whose address does not leave it by the analysis' account: alloca."""
        return self._add(self._take(size), size, "alloca", True, None)

    def thread_local(self, item: StaticObject) -> Instance:
        page = self._take(item.size)
        return self._add(page, item.size, item.name, False, _contents(item), item.read_only)

    def at(self, address: int, size: int) -> Instance | None:
        """The object that an access of `size` bytes at `address` lies in."""
        found = self._by_page.get(address >> self._bits)
        if found is None or not 0 <= address - found.address <= found.size - size:
            return None
        return found

    def function_at(self, address: int) -> Function | None:
        return self._functions.get(address)


def _contents(item: StaticObject) -> bytes | None:
    return None if item.indeterminate else item.initial.ljust(item.size, b"\0")
