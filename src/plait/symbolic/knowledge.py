"""What execution knows of a program before it starts: control flow, cells, what is explicit."""

from __future__ import annotations

from functools import reduce
from math import gcd
from operator import or_
from typing import TypeGuard

from plait.analysis.objects import AbstractObject, members
from plait.analysis.sharing import Sharing
from plait.data import dataclass, field
from plait.model.actions import (
    Allocate,
    AtomicEnd,
    Call,
)
from plait.model.dataflow import live_registers, postorder
from plait.model.expressions import (
    Expr,
    FrameAddress,
    PointerAdd,
    StaticAddress,
    children,
)
from plait.model.layout import Layout, cells
from plait.model.machine import ALWAYS_VISIBLE, AddressSpace
from plait.model.program import Edge, FrameSlot, Function, Program, StaticObject
from plait.model.types import Kind, Scalar
from plait.symbolic.precision import Maker, Precision

Move = PointerAdd | StaticAddress | FrameAddress

_MOST_CELLS = 4096  # of one object
_WIDEST_SCALAR = 8  # bytes
_MOST_DIVIDED = 256  # bytes of an object whose unused parts are divided, too


@dataclass(slots=True, eq=False)
class Shape:
    """Of a function: `is_met` marks locations that several edges lead to, `frame_pages` and
    `slot_pages` are as in the reference interpreter."""

    function: Function
    live: list[int]
    is_met: bytes
    is_switch: bytes
    rank: list[int]
    slot_pages: tuple[int, ...]
    frame_pages: int
    _ahead: list[int] = field(default_factory=list)

    def ahead(self, location: int) -> int:
        """The locations that can be reached from one, a bit for each."""
        if not self._ahead:
            self._ahead = _reachable(self.function, self.rank)
        return self._ahead[location]

    def is_in_loop(self, location: int) -> bool:
        return bool(self.ahead(location) >> location & 1)

    def live_while_waiting(self, call: Edge) -> int:
        """The registers that matter behind a call that a frame waits for."""
        assert isinstance(call.action, Call)
        live, target = self.live[call.target], call.action.target
        return live if target is None else live & ~(1 << target.index)


class Knowledge:
    def __init__(self, program: Program, sharing: Sharing, precision: Precision) -> None:
        self.program = program
        self.page_bits = program.data_model.page_bits
        self.pages_of = program.data_model.pages_of
        self.pages_taken = program.data_model.pages_taken
        self.last_page = program.data_model.last_page
        self.page_mask = (1 << self.page_bits) - 1
        self.pointer = program.data_model.pointer
        self.points_to = sharing.points_to
        self.sharing = sharing
        self._precision = precision
        self.most_paths = precision.most_paths
        self._escaping = {
            id(item.edge)
            for item in self.points_to.objects
            if item.edge is not None and self.sharing.has_escaped(item)
        }
        self.shapes: dict[str, Shape] = {}
        self._cells: dict[tuple[Maker, int], tuple[tuple[int, int], ...] | None] = {}
        self._explicit: dict[tuple[Maker, int, int], bool] = {}
        self._explicit_register: dict[tuple[str, int], bool] = {}
        # Objects of different sizes may have the same address. What nobody accesses is then divided
        # in the same way in all of them: cells that a proof names must not overlap.
        self.has_open_sizes = False
        self._floating: dict[StaticObject | FrameSlot, frozenset[int]] = {}
        self._moves: dict[int, tuple[Move, ...]] = {}
        self._kept: list[Expr] = []  # so that no id in a table is used again
        self._expected: dict[tuple[int, int | None], frozenset[Maker | str]] = {}
        self._callees: dict[int, frozenset[str]] = {}
        self._sizes = self._access_sizes()
        self.functions = program.functions_by_address()
        self.statics = {
            item.page: item for item in program.objects if not item.thread_local or item.page
        }
        self.space = AddressSpace(program)

    # --- control flow

    def shape(self, name: str) -> Shape:
        found = self.shapes.get(name)
        if found is None:
            found = self.shapes[name] = self._shape(self.program.functions[name])
        return found

    def _shape(self, function: Function) -> Shape:
        count = len(function.edges)
        arrivals = [0] * count
        if count:
            arrivals[0] = 1
        switches = bytearray(count)
        for edge in function.all_edges():
            if edge.target >= 0:
                arrivals[edge.target] += 1
            if self._is_visible(edge):
                switches[edge.source] = 1
        rank = [0] * count
        for number, location in enumerate(postorder(function)):
            rank[location] = number
        frame = self.space.frame_layout(function)
        return Shape(
            function,
            live_registers(function),
            bytes(number > 1 for number in arrivals),
            bytes(switches),
            rank,
            frame.slots,
            frame.pages,
        )

    def is_noticed(self, edge: Edge) -> bool:
        """Whether another thread may notice what an access to memory does."""
        return self.sharing.is_visible(edge) or self._precision.is_switch(edge)

    def _is_visible(self, edge: Edge) -> bool:
        action = edge.action
        if isinstance(action, ALWAYS_VISIBLE):
            return True
        if isinstance(action, AtomicEnd):
            return False
        if isinstance(action, Allocate):
            # Where it was before, an access would have been invalid.
            return id(edge) in self._escaping
        return self.is_noticed(edge)

    def is_lock(self, address: int) -> bool:
        return self._precision.is_lock(address)

    # --- objects

    def cells_of(self, maker: Maker, size: int) -> tuple[tuple[int, int], ...] | None:
        """How an object's bytes divide into variables: offsets and sizes, without gaps. None if
        there are too many."""
        key = maker, size
        if key not in self._cells:
            self._cells[key] = self._divide(maker, size)
        return self._cells[key]

    def _divide(self, maker: Maker, size: int) -> tuple[tuple[int, int], ...] | None:
        cuts = {0, size}
        if isinstance(maker, Edge):
            unit = 0
            accessed: set[int] = set()  # bytes, without the first of each access
            for item, (offset, width) in self._sizes.get(maker, {}):
                del item
                starts = range(0, size, width) if offset is None else (offset,)
                if len(starts) > _MOST_CELLS:
                    return None
                unit = gcd(unit, width, offset or 0)
                for start in starts:
                    cuts.update(cut for cut in (start, start + width) if cut <= size)
                    accessed.update(range(start + 1, start + width))
            if self.has_open_sizes and size <= _MOST_DIVIDED:
                cuts.update(cut for cut in range(0, size, unit or 1) if cut not in accessed)
        else:
            if size > _MOST_CELLS * 8:
                return None
            for cell in cells(_layout(maker)):
                cuts.update((cell.offset, cell.offset + cell.scalar.size))
                if len(cuts) > _MOST_CELLS:
                    return None
            if self._precision.joins_bytes:
                cuts -= self._inside_accesses(maker)
        places = sorted(cut for cut in cuts if 0 <= cut <= size)
        return tuple((start, end - start) for start, end in zip(places, places[1:], strict=False))

    def _inside_accesses(self, maker: Maker) -> set[int]:
        """Places of an object at which no access begins or ends, though some go across."""
        inside: set[int] = set()
        ends: set[int] = set()
        for _, (offset, width) in self._sizes.get(maker, ()):
            if offset is None:
                return set()
            ends.update((offset, offset + width))
            if width <= _WIDEST_SCALAR:
                inside.update(range(offset + 1, offset + width))
        return inside - ends

    def _access_sizes(self) -> dict[Maker, list[tuple[AbstractObject, tuple[int | None, int]]]]:
        """The places in objects that accesses use."""
        memory = self.points_to.memory
        found: dict[Maker, dict[tuple[int | None, int], AbstractObject]] = {}
        for row in self.sharing.accesses:
            for access in row:
                mask = access.locations if access.size else 0
                while mask:
                    low = mask & -mask
                    mask ^= low
                    place = low.bit_length() - 1
                    item = memory.objects[memory.location_object[place]]
                    maker = item.edge or item.static or item.slot
                    if maker is not None and not memory.is_outside(place, access.size):
                        where = memory.location_offset[place], access.size
                        found.setdefault(maker, {})[where] = item
        return {
            maker: [(item, where) for where, item in rows.items()] for maker, rows in found.items()
        }

    def is_explicit_cell(self, maker: Maker, offset: int, size: int) -> bool:
        """Whether a constant value of a cell is part of the location."""
        key = maker, offset, size
        found = self._explicit.get(key)
        if found is None:
            found = self._explicit[key] = self._precision.is_explicit_place(maker, offset)
        return found

    def is_untracked(self, maker: Maker, size: int) -> bool:
        return self._precision.is_untracked(maker, size)

    def is_floating_cell(self, maker: Maker, offset: int) -> bool:
        """Whether a cell holds floating-point values, as far as it is declared: then a number that
        looks like an address is none."""
        if isinstance(maker, Edge):
            return False
        found = self._floating.get(maker)
        if found is None:
            declared = list(cells(_layout(maker)))
            found = frozenset(
                cell.offset for cell in declared if cell.scalar.kind is Kind.FLOAT
            ).difference(cell.offset for cell in declared if cell.scalar.kind is not Kind.FLOAT)
            self._floating[maker] = found
        return offset in found

    def is_explicit_register(self, function: str, index: int, type_: Scalar) -> bool:
        key = function, index
        found = self._explicit_register.get(key)
        if found is None:
            is_pointer = type_.kind is Kind.POINTER
            found = is_pointer or self._precision.is_explicit_register(function, index)
            self._explicit_register[key] = found
        return found

    def is_address(self, value: int, bits: int) -> bool:
        """Whether a constant looks like a pointer to something."""
        if bits != self.pointer.bits:
            return False
        page = value >> self.page_bits
        if page == 0:
            return False
        return page >= self.program.first_free_page or self.first_page(page) is not None

    def first_page(self, page: int) -> int | None:
        """The first page of the static object or function that has this page."""
        if page in self.statics or (page << self.page_bits) in self.functions:
            return page
        for start, item in self.statics.items():
            if start < page < start + self.pages_of(item.size):
                return start
        return None

    # --- expressions

    def moves(self, exprs: tuple[Expr, ...], key: int) -> tuple[Move, ...]:
        """The pointer arithmetic in the expressions of an edge that may leave an object, inner
        before outer. `key` stands for the expressions, and lives as long as the program."""
        found = self._moves.get(key)
        if found is None:
            rows: list[Move] = []
            pending = list(exprs)
            while pending:
                item = pending.pop()
                if isinstance(item, PointerAdd) or _is_beyond(item):
                    rows.append(item)
                pending += children(item)
            self._kept += exprs
            found = self._moves[key] = tuple(reversed(rows))
        return found

    def expected(
        self, function: str, edge: Edge, address: Expr, context: Edge | None
    ) -> frozenset[Maker | str]:
        """The objects that the analyses expect an access to go to. Library code is analysed for
        each call from the user's code, unless that would be too much; where no such call is known
        (a thread begins in the library) any of them may have led there. None where the address of
        one that may be it is of unknown origin: what it accesses was not counted. (Null is of
        unknown origin too, which is why the calls are told apart.)"""
        key = id(edge), None if context is None else id(context)
        found = self._expected.get(key)
        if found is None:
            instances = self.points_to.instances_of.get(function, [])
            fitting = [
                item for item in instances if context is None or item.context in (context, None)
            ]
            masks = [self.points_to.mask(item, address) for item in fitting]
            mask = reduce(or_, masks, 0) if all(masks) else 0
            objects = self.points_to.objects
            found = self._expected[key] = frozenset(
                item.static or item.slot or item.edge or item.function
                for item in (objects[n] for n in members(self.points_to.object_mask(mask)))
            )
        return found

    def callees(self, function: str, edge: Edge) -> frozenset[str]:
        found = self._callees.get(id(edge))
        if found is None:
            found = self._callees[id(edge)] = self.points_to.callees(function, edge)
        return found

    def places(self, function: str, address: Expr) -> list[tuple[AbstractObject, int | None]]:
        found = self.points_to.locations(function, address)
        return sorted(found, key=lambda row: (row[0].index, -1 if row[1] is None else row[1]))


def _reachable(function: Function, rank: list[int]) -> list[int]:
    found = [0] * len(function.edges)
    order = sorted(range(len(found)), key=rank.__getitem__)
    grows = True
    while grows:
        grows = False
        for location in order:
            new = found[location]
            for edge in function.edges[location]:
                if edge.target >= 0:
                    new |= found[edge.target] | 1 << edge.target
            grows = grows or new != found[location]
            found[location] = new
    return found


def _is_beyond(expr: Expr) -> TypeGuard[StaticAddress | FrameAddress]:
    """Whether it is the address of a place outside of an object."""
    match expr:
        case StaticAddress():
            return not 0 <= expr.offset <= expr.object.size
        case FrameAddress():
            return not 0 <= expr.offset <= expr.slot.size
    return False


def _layout(maker: StaticObject | FrameSlot) -> Layout:
    return maker.layout
