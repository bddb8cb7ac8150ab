"""The abstract memory of the points-to analysis: locations, and nodes for their contents.

A location is an object and an offset in it, with a number, so that sets of them are bit sets; each
object also has the location "anywhere inside". The contents of an object are one node per offset
that is accessed, plus two: all that is written at unknown offsets flows from `writers` into every
cell, and all cells flow into `readers`, which is what reading at an unknown offset sees.

In an array of structures a location may also be "this member of any element": offsets in steps. If
it is accessed, it has a pair of such nodes of its own, for the offsets that it stands for. That
is only done as long as accesses to the object that meet there are equally large and do not overlap
in part; if not, such an access is one at an unknown offset.

Where one pointer may point to very many places, telling their contents apart gains little and
costs the square of their number. Such objects go into the heap of `mixed` objects, which share one
node for all their contents.
"""

from __future__ import annotations

from collections import deque
from math import gcd

from plait.analysis.distances import STAYS, Distance, added
from plait.analysis.objects import AbstractObject, ObjectKind, members
from plait.data import dataclass
from plait.model.program import Edge, FrameSlot, StaticObject
from plait.model.types import DataModel

# More offsets than this in one object: forget the offsets. It bounds what `p += 8` in a loop costs.
_OFFSETS_KEPT = 64
_HEAP_OFFSETS = 4096
# How far beside an object offsets are kept: no access is there, but a pointer can come back.
_OFFSETS_OUTSIDE = 512


class Flow:
    """A growing graph of nodes with sets of locations; `pending` are those that have changed."""

    __slots__ = ("connected", "delta", "pending", "successors", "targets")

    def __init__(self) -> None:
        self.targets: list[int] = []
        self.delta: list[int] = []
        self.successors: list[list[int] | None] = []
        self.pending: deque[int] = deque()
        self.connected: set[tuple[int, int]] = set()

    def new_nodes(self, count: int) -> int:
        base = len(self.targets)
        zeros = [0] * count
        self.targets += zeros
        self.delta += zeros
        self.successors += [None] * count
        return base

    def add(self, node: int, locations: int) -> None:
        new = locations & ~self.targets[node]
        if new:
            self.targets[node] |= new
            if not self.delta[node]:
                self.pending.append(node)
            self.delta[node] |= new

    def connect_once(self, source: int, target: int) -> None:
        if (source, target) not in self.connected:
            self.connected.add((source, target))
            self.connect(source, target)

    def connect(self, source: int, target: int) -> None:
        if source == target:
            return
        successors = self.successors[source]
        if successors is None:
            self.successors[source] = [target]
        else:
            successors.append(target)
        locations = self.targets[source]
        if locations:
            self.add(target, locations)


@dataclass(slots=True, eq=False)
class _Elements:
    """What is written to and read from a member of any element of an array."""

    writers: int
    readers: int
    size: int  # of each access
    is_forgotten: bool = False


def _overlap(distance: int, step: int, size: int, other: int) -> bool:
    """Whether accesses of two sizes, of which the second is a distance and any number of steps
    behind the first, can have bytes in common without being the same."""
    ahead = distance % step
    if ahead == 0:
        return size != other
    return ahead < size or step - ahead < other


class Memory:
    __slots__ = (
        "_cells",
        "_elements",
        "_functions",
        "_heap",
        "_is_mixed",
        "_location_mask",
        "_locations",
        "_mask",
        "_merged",
        "_moves",
        "_readers",
        "_slots",
        "_statics",
        "_stepping",
        "_two_sizes",
        "_whole",
        "_whole_locations",
        "_writers",
        "flow",
        "location_object",
        "location_offset",
        "mixed_contents",
        "mixed_locations",
        "objects",
        "pointer_bits",
        "widened",
    )

    def __init__(self, flow: Flow, model: DataModel) -> None:
        self.flow = flow
        self.pointer_bits = model.pointer.bits
        self._mask = (1 << self.pointer_bits) - 1
        self.objects: list[AbstractObject] = []
        self.location_object: list[int] = []
        self.location_offset: list[int | None] = []
        self.widened: list[tuple[int, int]] = []
        self._locations: list[dict[Distance, int]] = []
        self._whole: list[int] = []
        self._stepping: dict[int, Distance] = {}  # the offsets of locations in steps
        self._elements: list[dict[Distance, _Elements]] = []
        self._cells: list[dict[int, tuple[int, int]]] = []
        self._readers: list[int] = []
        self._writers: list[int] = []
        self._merged: list[bool] = []
        self._two_sizes: set[int] = set()
        self._statics: dict[StaticObject, int] = {}
        self._slots: dict[tuple[FrameSlot, Edge | None], int] = {}
        self.mixed_contents = -1
        self.mixed_locations = 0
        self._is_mixed: list[bool] = []
        self._location_mask: list[int] = []
        self._whole_locations = 0
        self._moves: dict[tuple[int, Distance], int] = {}
        self._heap: dict[tuple[Edge, Edge | None], int] = {}
        self._functions: dict[str, int] = {}

    def _new(self, item: AbstractObject) -> int:
        base = self.flow.new_nodes(2)
        self.flow.connect(base, base + 1)
        self.objects.append(item)
        self._locations.append({})
        self._cells.append({})
        self._elements.append({})
        self._writers.append(base)
        self._readers.append(base + 1)
        self._merged.append(False)
        self._is_mixed.append(False)
        self._location_mask.append(0)
        whole = self._new_location(item.index, None)
        self._whole.append(whole)
        self._whole_locations |= 1 << whole
        return item.index

    def _new_location(self, index: int, offset: int | None) -> int:
        self.location_object.append(index)
        self.location_offset.append(offset)
        number = len(self.location_object) - 1
        self._location_mask[index] |= 1 << number
        return number

    def static(self, item: StaticObject) -> int:
        known = self._statics.get(item)
        if known is not None:
            return known
        kind = ObjectKind.THREAD_LOCAL if item.thread_local else ObjectKind.STATIC
        index = self._new(AbstractObject(len(self.objects), kind, item.size, static=item))
        self._statics[item] = index
        for relocation in item.relocations:
            target = relocation.target
            if isinstance(target, str):
                location = self.location(self.function(target), STAYS)
            else:
                location = self.location(self.static(target), (relocation.addend, 0))
            cell = self._cell(index, relocation.offset, self.pointer_bits // 8)
            self.flow.add(self._writers[index] if cell is None else cell, 1 << location)
        return index

    def slot(self, item: FrameSlot, function: str, context: Edge | None) -> int:
        known = self._slots.get((item, context))
        if known is None:
            known = self._new(
                AbstractObject(
                    len(self.objects),
                    ObjectKind.SLOT,
                    item.size,
                    function=function,
                    slot=item,
                    context=context,
                )
            )
            self._slots[item, context] = known
        return known

    def heap(self, edge: Edge, function: str, context: Edge | None, size: int | None) -> int:
        known = self._heap.get((edge, context))
        if known is None:
            known = self._new(
                AbstractObject(
                    len(self.objects),
                    ObjectKind.HEAP,
                    size,
                    function=function,
                    edge=edge,
                    context=context,
                )
            )
            self._heap[edge, context] = known
        return known

    def function(self, name: str) -> int:
        known = self._functions.get(name)
        if known is None:
            item = AbstractObject(len(self.objects), ObjectKind.FUNCTION, 0, function=name)
            known = self._functions[name] = self._new(item)
        return known

    def find(self, item: StaticObject | FrameSlot | Edge | str, context: Edge | None) -> int | None:
        """The number of a known object, without making one."""
        if isinstance(item, StaticObject):
            return self._statics.get(item)
        if isinstance(item, FrameSlot):
            return self._slots.get((item, context))
        if isinstance(item, Edge):
            return self._heap.get((item, context))
        return self._functions.get(item)

    def location(self, index: int, place: Distance) -> int:
        """The number of a location; offsets far outside of the object count as unknown."""
        offset, step = place
        known = self._locations[index]
        found = known.get(place)
        if found is not None:
            return found
        if step:
            # Parts of pointers are not told apart, so smaller steps gain nothing.
            is_kept = step * 8 >= self.pointer_bits
        else:
            if offset < 0 or offset > self._mask >> 1:
                # Constants of unsigned type subtract by wrapping around.
                offset &= self._mask
                if offset > self._mask >> 1:
                    offset -= self._mask + 1
                found = known.get((offset, 0))
                if found is not None:
                    return found
            size = self.objects[index].size
            end = _HEAP_OFFSETS if size is None else size + _OFFSETS_OUTSIDE
            is_kept = -_OFFSETS_OUTSIDE <= offset <= end
        if not is_kept or len(known) >= _OFFSETS_KEPT or self._is_mixed[index]:
            return self._whole[index]
        found = known[offset, step] = self._new_location(index, None if step else offset)
        if step:
            self._stepping[found] = offset, step
        return found

    def moved(self, locations: int, distance: Distance) -> int:
        """The locations so far on."""
        result = locations & self._whole_locations
        locations ^= result
        if not locations:
            return result
        # An older answer may know offsets that are no longer kept: it is as right as a new one.
        known = self._moves.get((locations, distance))
        if known is None:
            known = self._moves[locations, distance] = self._moved(locations, distance)
        return result | known

    def _moved(self, locations: int, distance: Distance) -> int:
        result = 0
        owners, offsets = self.location_object, self.location_offset
        for number in members(locations):
            offset = offsets[number]
            place = self._stepping[number] if offset is None else (offset, 0)
            result |= 1 << self.location(owners[number], added(place, distance))
        return result

    def is_outside(self, location: int, size: int) -> bool:
        """Whether no access of `size` bytes at a location is valid."""
        offset = self.location_offset[location]
        bound = self.objects[self.location_object[location]].size
        return offset is not None and (offset < 0 or (bound is not None and offset + size > bound))

    def read(self, location: int, size: int) -> int:
        """The node whose targets a load of `size` bytes at a location can see."""
        index = self.location_object[location]
        if self._is_mixed[index]:
            return self.mixed_contents
        elements = self._elements_at(location, size)
        if elements is not None:
            return elements.readers
        cell = self._cell(index, self.location_offset[location], size)
        return self._readers[index] if cell is None else cell

    def written(self, location: int, size: int) -> int:
        """The node that receives the targets of what is stored there."""
        index = self.location_object[location]
        if self._is_mixed[index]:
            return self.mixed_contents
        elements = self._elements_at(location, size)
        if elements is not None:
            return elements.writers
        cell = self._cell(index, self.location_offset[location], size)
        return self._writers[index] if cell is None else cell

    def contents(self, index: int) -> int:
        """All that an object may hold, as a set of locations."""
        return self.flow.targets[self._readers[index]]

    def _cell(self, index: int, offset: int | None, size: int) -> int | None:
        if offset is None or self._merged[index]:
            return None
        cells = self._cells[index]
        known = cells.get(offset)
        if known is not None and known[1] == size:
            return known[0]
        bound = self.objects[index].size
        if bound is not None and offset + size > bound:
            return None
        end = offset + max(size, known[1] if known is not None else 0)
        for start, (_, extent) in cells.items():
            if start != offset and start < end and offset < start + extent:
                self._merge(index)
                return None
        self._meet_elements(index, offset, end - offset)
        if known is None:
            node = self.flow.new_nodes(1)
            self.flow.connect(self._writers[index], node)
            self.flow.connect(node, self._readers[index])
            for (start, step), elements in self._elements[index].items():
                if (offset - start) % step == 0:
                    self.flow.connect(elements.writers, node)
                    self.flow.connect(node, elements.readers)
            cells[offset] = (node, size)
            return node
        cells[offset] = (known[0], end - offset)
        if known[0] not in self._two_sizes:
            # Accesses of two sizes: a part of a pointer may be replaced, which moves it.
            self._two_sizes.add(known[0])
            self.widened.append((known[0], known[0]))
        return known[0]

    def _elements_at(self, location: int, size: int) -> _Elements | None:
        """Of a location in steps, if its contents are kept apart."""
        place = self._stepping.get(location)
        index = self.location_object[location]
        if place is None or self._merged[index]:
            return None
        known = self._elements[index].get(place)
        if known is None:
            known = self._elements[index][place] = self._new_elements(index, place, size)
        if known.size != size:
            self._forget_steps(index, known)
        return None if known.is_forgotten else known

    def _new_elements(self, index: int, place: Distance, size: int) -> _Elements:
        flow = self.flow
        base = flow.new_nodes(2)
        made = _Elements(base, base + 1, size)
        flow.connect(made.writers, made.readers)
        flow.connect(made.writers, self._readers[index])
        flow.connect(self._writers[index], made.readers)
        start, step = place
        if size > step:
            self._forget_steps(index, made)
        for offset, (node, extent) in self._cells[index].items():
            if _overlap(offset - start, step, size, extent):
                self._forget_steps(index, made)
            elif (offset - start) % step == 0:
                flow.connect(made.writers, node)
                flow.connect(node, made.readers)
        for (other_start, other_step), other in self._elements[index].items():
            common = gcd(step, other_step)
            if _overlap(other_start - start, common, size, other.size):
                self._forget_steps(index, made)
            elif (other_start - start) % common == 0:
                flow.connect(made.writers, other.readers)
                flow.connect(other.writers, made.readers)
        return made

    def _meet_elements(self, index: int, offset: int, extent: int) -> None:
        """A cell is as large as never before."""
        for (start, step), elements in self._elements[index].items():
            if _overlap(offset - start, step, elements.size, extent):
                self._forget_steps(index, elements)

    def _forget_steps(self, index: int, elements: _Elements) -> None:
        """From here on accesses in these steps are at unknown offsets."""
        if not elements.is_forgotten:
            elements.is_forgotten = True
            self.flow.connect(elements.writers, self._writers[index])
            self.flow.connect(self._readers[index], elements.readers)

    def _merge(self, index: int) -> None:
        """Forget the offsets in an object: accesses to it overlap in part."""
        self._merged[index] = True
        self.widened.append((self._readers[index], self._writers[index]))
        self.flow.connect(self._readers[index], self._writers[index])

    def mix(self, locations: int) -> None:
        """Let all objects of these locations share one node for their contents."""
        if self.mixed_contents < 0:
            self.mixed_contents = self.flow.new_nodes(1)
            self.widened.append((self.mixed_contents, self.mixed_contents))
        locations &= ~self.mixed_locations
        while locations:
            index = self.location_object[(locations & -locations).bit_length() - 1]
            self._is_mixed[index] = True
            self.mixed_locations |= self._location_mask[index]
            locations &= ~self._location_mask[index]
            self.flow.connect(self._readers[index], self.mixed_contents)
            self.flow.connect(self.mixed_contents, self._writers[index])
