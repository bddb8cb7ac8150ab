"""Memory during a block: objects, the cells they divide into, and what is known of their values.

A cell is a variable of the state (`m{address}.{bytes}`) unless its value is part of the location.
Accesses that are not exactly one cell are put together from, or spread over, several.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping

from plait.data import dataclass
from plait.engines.impact.blocks import Access
from plait.engines.impact.knowledge import Knowledge, Maker, Shape
from plait.engines.impact.locations import Cell, Frame, HeapObject, Location, Status
from plait.logic.operators import ITE
from plait.logic.terms import Terms
from plait.model.actions import Origin
from plait.model.expressions import Expr
from plait.model.program import Edge, StaticObject

_MOST_PLACES = 64
_MOST_LEAVES = 12


class Trouble(Exception):
    """What the running thread does here has no verdict."""

    def __init__(self, message: str, origin: Origin) -> None:
        super().__init__(message)
        self.message = message
        self.origin = origin


@dataclass(slots=True, eq=False)
class Item:
    """A live object."""

    maker: Maker
    address: int
    size: int
    read_only: bool = False
    contents: bytes | None = None  # of a static object, initially


@dataclass(slots=True, eq=False)
class OpenFrame:
    """A frame whose values are at hand. `call` is the edge that it waits for."""

    shape: Shape
    base: int
    allocated: list[int]
    registers: dict[int, int]
    slots: dict[int, int]
    depth: int
    call: Edge | None = None

    def copy(self) -> OpenFrame:
        return OpenFrame(
            self.shape,
            self.base,
            self.allocated[:],
            dict(self.registers),
            dict(self.slots),
            self.depth,
            self.call,
        )

    def lookup(self, terms: Terms, run: Run) -> Mapping[int, int]:
        """Values by register; one that was never assigned is an input."""
        return _Registers(self, terms, run)


class _Registers(Mapping[int, int]):
    def __init__(self, frame: OpenFrame, terms: Terms, run: Run) -> None:
        self._frame, self._terms, self._run = frame, terms, run

    def __getitem__(self, index: int) -> int:
        found = self._frame.registers.get(index)
        if found is None:
            bits = self._frame.shape.function.registers[index].type.bits
            found = self._terms.fresh("input", bits)
            self._run.inputs.append(("uninitialised", found))
            self._frame.registers[index] = found
        return found

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(self._frame.registers)

    def __len__(self) -> int:
        return len(self._frame.registers)


class Run:
    """One way through a block, up to some point."""

    def __init__(self, source: Location, number: int) -> None:
        self.source = source
        self.number = number
        self.location = 0
        self.began = source.threads[number - 1].frames[-1].location
        self.depth = 0
        self.heap_page = self.stack_page = 0
        self.is_alone = False
        self.is_loop = False
        self.has_changed = False
        self.actions = 0
        self.stack: tuple[tuple[str, int], ...] = ()
        self.suspended: list[Frame] = []
        self.frames: list[OpenFrame] = []
        self.conditions: list[int] = []
        self.memory: dict[Cell, int] = {}
        self.ended: dict[int, int] = {}  # addresses and sizes of objects that died
        self.begun: dict[int, Item] = {}
        self.items: dict[int, Item] = {}  # at the beginning, without static ones
        self.known: dict[Cell, int | None] = dict(source.cells)  # at the beginning
        self.heap: dict[int, HeapObject] = {item.page: item for item in source.heap}
        self.spawned: list[tuple[int, int, OpenFrame]] = []
        self.accesses: list[Access] = []
        self.inputs: list[tuple[str, int]] = []
        self.visited: set[tuple[tuple[tuple[str, int], ...], str, int]] = set()
        self.is_lonely = sum(t.status is Status.RUNNING for t in source.threads) == 1

    def copy(self) -> Run:
        other = Run.__new__(Run)
        other.__dict__.update(self.__dict__)
        other.suspended = self.suspended[:]
        other.frames = [frame.copy() for frame in self.frames]
        other.conditions = self.conditions[:]
        other.memory = dict(self.memory)
        other.ended = dict(self.ended)
        other.begun = dict(self.begun)
        other.heap = dict(self.heap)
        other.spawned = [(heap, stack, frame.copy()) for heap, stack, frame in self.spawned]
        other.accesses = self.accesses[:]
        other.inputs = self.inputs[:]
        other.visited = set(self.visited)
        return other

    def assume(self, condition: int, terms: Terms) -> None:
        if condition != terms.true and condition not in self.conditions:
            self.conditions.append(condition)


class Memory:
    """Loads, stores and lifetimes in a run."""

    def __init__(self, knowledge: Knowledge, terms: Terms) -> None:
        self.knowledge = knowledge
        self.terms = terms
        self._starts: dict[tuple[Maker, int], list[int]] = {}
        self._statics = self._static_items()
        self._largest = max(
            [1, *(knowledge.pages_of(item.size) for item in knowledge.program.objects)]
        )
        self.initially_known: dict[Cell, int] = {}

    # --- variables

    def register_variable(self, thread: int, depth: int, index: int, bits: int) -> int:
        """Functions that take turns at one depth may have registers of different widths."""
        return self.terms.variable(f"t{thread}.{depth}.{index}:{bits}", bits)

    def cell_variable(self, cell: Cell) -> int:
        return self.terms.variable(f"m{cell[0]}.{cell[1]}", 8 * cell[1])

    def fresh_input(self, run: Run, name: str, bits: int) -> int:
        variable = self.terms.fresh("input", bits)
        run.inputs.append((name, variable))
        return variable

    # --- objects

    def _static_items(self) -> dict[int, Item]:
        program = self.knowledge.program
        found: dict[int, Item] = {}
        for item in program.objects:
            contents = None if item.indeterminate else item.initial.ljust(item.size, b"\0")
            address = item.page << self.knowledge.page_bits
            found[item.page] = Item(item, address, item.size, item.read_only, contents)
        return found

    def address_of_static(self, item: StaticObject, number: int) -> int:
        """Of a thread-local object: of this thread's."""
        knowledge = self.knowledge
        if not item.thread_local or number == 1:
            return item.page << knowledge.page_bits
        page = knowledge.program.first_free_page + (number - 1) * knowledge.arena_pages
        for other in knowledge.thread_locals:
            if other is item:
                break
            page += knowledge.pages_of(other.size)
        return page << knowledge.page_bits

    def items_of(self, location: Location) -> dict[int, Item]:
        """The objects that are not static and live when a block starts."""
        found: dict[int, Item] = {}
        bits = self.knowledge.page_bits
        for number, thread in enumerate(location.threads, 1):
            for frame in thread.frames:
                slots = self.knowledge.shape(frame.function).function.slots
                for index, address in frame.slots:
                    slot = slots[index]
                    found[address >> bits] = Item(slot, address, slot.size)
            if number > 1 and thread.status is not Status.ENDED:
                for item in self.knowledge.thread_locals:
                    address = self.address_of_static(item, number)
                    found[address >> bits] = Item(item, address, item.size)
        for made in location.heap:
            found[made.page] = Item(made.edge, made.page << bits, made.size)
        return found

    def _live(self, run: Run, page: int) -> Item | None:
        """The live object whose first page this is."""
        found = run.begun.get(page)
        if found is not None:
            return found
        found = run.items.get(page)
        if found is not None:
            return None if found.address in run.ended else found
        return self._statics.get(page)

    def object_at(self, run: Run, address: int) -> Item | None:
        page = address >> self.knowledge.page_bits
        for back in range(self._largest):
            found = self._live(run, page - back)
            if found is not None:
                return found if back < self.knowledge.pages_of(found.size) else None
        return None

    def is_in_pages(self, run: Run, base: int, result: int) -> int:
        """Whether a moved pointer is still in the pages of the object it pointed to."""
        terms, bits = self.terms, self.knowledge.page_bits
        width = terms.width[base]
        value = terms.value(base)
        high = terms.extract(result, bits, width - bits)
        if value is None:
            page = terms.extract(base, bits, width - bits)
            is_null = terms.eq(page, terms.constant(0, width - bits))
            return terms.or_(is_null, terms.eq(high, page))
        page_number = value >> bits
        if page_number == 0:
            return terms.true
        item = self.object_at(run, value)
        first, count = page_number, 1
        if item is not None:
            first, count = item.address >> bits, self.knowledge.pages_of(item.size)
        if count == 1:
            return terms.eq(high, terms.constant(first, width - bits))
        distance = terms.sub(high, terms.constant(first, width - bits))
        return terms.ult(distance, terms.constant(count, width - bits))

    # --- lives

    def begin_life(
        self,
        run: Run,
        address: int,
        size: int,
        maker: Maker,
        contents: bytes | None,
        origin: Origin,
    ) -> None:
        """A new object, with contents or with any."""
        divided = self.knowledge.cells_of(maker, size)
        if divided is None:
            raise Trouble("an object of too many parts", origin)
        run.begun[address >> self.knowledge.page_bits] = Item(maker, address, size)
        self._largest = max(self._largest, self.knowledge.pages_of(size))
        run.has_changed = True
        run.accesses.append(Access(address, max(size, 1), True, None))
        for offset, width in divided:
            if contents is None:
                value = self.fresh_input(run, "uninitialised memory", 8 * width)
            else:
                data = contents[offset : offset + width]
                value = self.terms.constant(int.from_bytes(data, "little"), 8 * width)
            run.memory[address + offset, width] = value

    def end_life(self, run: Run, address: int, size: int) -> None:
        run.begun.pop(address >> self.knowledge.page_bits, None)
        run.ended[address] = max(size, run.ended.get(address, 0))
        for cell in [cell for cell in run.memory if address <= cell[0] < address + max(size, 1)]:
            del run.memory[cell]
        run.has_changed = True
        run.accesses.append(Access(address, max(size, 1), True, None))

    def allocate(self, run: Run, size: int, zeroed: bool, storage: str, edge: Edge) -> int:
        bits = self.knowledge.page_bits
        pages = self.knowledge.pages_of(size)
        if storage == "stack":
            run.stack_page -= pages
            page = run.stack_page
            run.frames[-1].allocated.append(page)
        else:
            page = run.heap_page
            run.heap_page += pages
        if run.stack_page < run.heap_page:
            raise Trouble("the thread's address space is used up", edge.action.origin)
        run.heap[page] = HeapObject(page, size, storage, edge)
        contents = bytes(size) if zeroed else None
        self.begin_life(run, page << bits, size, edge, contents, edge.action.origin)
        return page << bits

    def end_heap_object(self, run: Run, page: int) -> None:
        item = run.heap.pop(page)
        self.end_life(run, page << self.knowledge.page_bits, item.size)

    # --- where an access goes

    def constants_in(self, term: int) -> list[int] | None:
        """The values that a choice between constants can have; None for other terms."""
        terms = self.terms
        found: dict[int, None] = {}
        pending = [term]
        seen = set(pending)
        while pending:
            item = pending.pop()
            value = terms.value(item)
            if value is not None:
                found[value] = None
            elif terms.operator[item] == ITE:
                for part in terms.operands[item][1:]:
                    if part not in seen:
                        seen.add(part)
                        pending.append(part)
            else:
                return None
            if len(found) > _MOST_LEAVES or len(seen) > 64:
                return None
        return list(found)

    def candidates(
        self, run: Run, function: str, expr: Expr, address: int, size: int
    ) -> list[tuple[int, int]] | None:
        """Conditions and addresses of where a symbolic address may lead; None: too many."""
        terms = self.terms
        found: dict[int, int] = {}
        for abstract, offset in self.knowledge.places(function, expr):
            maker = abstract.static or abstract.slot or abstract.edge
            if maker is None:
                continue
            for item in self._made_by(run, maker):
                if offset is not None:
                    places: list[int] = [offset]
                else:
                    divided = self.knowledge.cells_of(maker, item.size) or ()
                    places = [start for start, width in divided if width == size]
                    if not places:
                        places = list(range(0, item.size - size + 1, size))
                for place in places:
                    if 0 <= place <= item.size - size:
                        value = item.address + place
                        if value not in found:
                            constant = terms.constant(value, terms.width[address])
                            condition = terms.eq(address, constant)
                            if condition != terms.false:
                                found[value] = condition
                if len(found) > _MOST_PLACES:
                    return None
        return [(condition, value) for value, condition in found.items()]

    def _made_by(self, run: Run, maker: Maker) -> list[Item]:
        if isinstance(maker, StaticObject) and not maker.thread_local:
            return [self._statics[maker.page]]
        found = [item for item in run.begun.values() if item.maker is maker]
        found += [
            item
            for item in run.items.values()
            if item.maker is maker and item.address not in run.ended
        ]
        if isinstance(maker, StaticObject):
            found.append(self._statics[maker.page])
        return found

    # --- accesses: `places` are conditions and addresses, of which exactly one holds

    def load(self, run: Run, places: list[tuple[int, int]], size: int) -> int:
        result: int | None = None
        for condition, address in reversed(places):
            value = self._load(run, address, size)
            result = value if result is None else self.terms.ite(condition, value, result)
        assert result is not None
        return result

    def store(self, run: Run, places: list[tuple[int, int]], size: int, value: int) -> None:
        run.has_changed = True
        if len(places) == 1:
            self._store(run, places[0][1], size, value)
            return
        for condition, address in places:
            # One after the other: places may overlap.
            old = self._load(run, address, size)
            self._store(run, address, size, self.terms.ite(condition, value, old))

    def _load(self, run: Run, address: int, size: int) -> int:
        item = self.object_at(run, address)
        assert item is not None
        offset = address - item.address
        if item.read_only and item.contents is not None:
            data = item.contents[offset : offset + size]
            return self.terms.constant(int.from_bytes(data, "little"), 8 * size)
        parts = self._overlapping(item, offset, size)
        if len(parts) == 1 and parts[0] == (offset, size):
            return self._cell(run, item, offset, size)
        terms = self.terms
        result: int | None = None
        for start, width in parts:
            cell = self._cell(run, item, start, width)
            low, high = max(start, offset), min(start + width, offset + size)
            piece = terms.extract(cell, 8 * (low - start), 8 * (high - low))
            result = piece if result is None else terms.concat(piece, result)
        assert result is not None
        return result

    def _store(self, run: Run, address: int, size: int, value: int) -> None:
        item = self.object_at(run, address)
        assert item is not None
        offset = address - item.address
        terms = self.terms
        for start, width in self._overlapping(item, offset, size):
            low, high = max(start, offset), min(start + width, offset + size)
            piece = terms.extract(value, 8 * (low - offset), 8 * (high - low))
            if (low, high) != (start, start + width):
                cell = self._cell(run, item, start, width)
                if low > start:
                    piece = terms.concat(piece, terms.extract(cell, 0, 8 * (low - start)))
                if high < start + width:
                    rest = terms.extract(cell, 8 * (high - start), 8 * (start + width - high))
                    piece = terms.concat(rest, piece)
            run.memory[item.address + start, width] = piece

    def _overlapping(self, item: Item, offset: int, size: int) -> list[tuple[int, int]]:
        divided = self.knowledge.cells_of(item.maker, item.size)
        assert divided is not None
        key = item.maker, item.size
        starts = self._starts.get(key)
        if starts is None:
            starts = self._starts[key] = [start for start, _ in divided]
        place = bisect_right(starts, offset) - 1
        found = []
        while place < len(divided) and divided[place][0] < offset + size:
            found.append(divided[place])
            place += 1
        return found

    def _cell(self, run: Run, item: Item, offset: int, size: int) -> int:
        cell = item.address + offset, size
        found = run.memory.get(cell)
        if found is None:
            value = self._known_value(run, item, offset, size)
            if value is None:
                found = self.cell_variable(cell)
            else:
                found = self.terms.constant(value, 8 * size)
        return found

    # --- what is known

    def _known_value(self, run: Run, item: Item, offset: int, size: int) -> int | None:
        cell = item.address + offset, size
        if cell in run.known:
            return run.known[cell]
        return self._initially(item, offset, size)

    def _initially(self, item: Item, offset: int, size: int) -> int | None:
        """The initial value of a cell of a static object, if it is part of locations."""
        if item.contents is None:
            return None
        value = int.from_bytes(item.contents[offset : offset + size], "little")
        if self._is_known(item.maker, offset, size, value):
            self.initially_known[item.address + offset, size] = value
            return value
        return None

    def _is_known(self, maker: Maker, offset: int, size: int, value: int) -> bool:
        knowledge = self.knowledge
        return knowledge.is_explicit_cell(maker, offset, size) or knowledge.is_address(
            value, 8 * size
        )

    def initial_value(self, cell: Cell) -> int | None:
        """What a cell of a static object holds at first; None if that is not known."""
        item = self._statics.get(cell[0] >> self.knowledge.page_bits)
        if item is None:
            page = self.knowledge.first_page(cell[0] >> self.knowledge.page_bits)
            item = None if page is None else self._statics.get(page)
        if item is None or item.contents is None:
            return None
        offset = cell[0] - item.address
        return int.from_bytes(item.contents[offset : offset + cell[1]], "little")

    def closed_cells(
        self, run: Run, updates: dict[int, int]
    ) -> tuple[tuple[Cell, int | None], ...]:
        """The known cells behind a run; the values of the others go into the updates."""
        known = dict(run.known)
        for address, size in run.ended.items():
            for cell in [cell for cell in known if address <= cell[0] < address + max(size, 1)]:
                del known[cell]
        for cell, term in run.memory.items():
            item = self.object_at(run, cell[0])
            if item is None:
                continue
            offset = cell[0] - item.address
            value = self.terms.value(term)
            initially = self._initially(item, offset, cell[1])
            if value is not None and self._is_known(item.maker, offset, cell[1], value):
                if value == initially:
                    known.pop(cell, None)
                else:
                    known[cell] = value
                continue
            if initially is None:
                known.pop(cell, None)
            else:
                known[cell] = None
            variable = self.cell_variable(cell)
            if variable != term:
                updates[variable] = term
        return tuple(sorted(known.items()))

