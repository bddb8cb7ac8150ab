"""Memory during a run: the cells that objects divide into, and what is known of their values.

A cell is a variable of the state unless its value is part of the location. Accesses that are not
exactly one cell are put together from, or spread over, several.
"""

from __future__ import annotations

from bisect import bisect_right

from plait.logic.terms import Terms
from plait.model import unset
from plait.model.actions import Origin
from plait.symbolic.blocks import Manner
from plait.symbolic.knowledge import Knowledge
from plait.symbolic.locations import Cell
from plait.symbolic.objects import GuardedAddress, Objects
from plait.symbolic.precision import Maker
from plait.symbolic.run import Run, Trouble
from plait.symbolic.surroundings import INITIALLY, Initially, Item, Known
from plait.symbolic.variables import cell_variable


class Memory:
    """Loads, stores and lifetimes. `initially_known` grows: the initial values of static objects
    that some location relied on."""

    def __init__(self, knowledge: Knowledge, terms: Terms) -> None:
        self.knowledge = knowledge
        self.terms = terms
        self.objects = Objects(knowledge, terms)
        self.initially_known: dict[Cell, int] = {}
        self.locks: set[Cell] = set()  # that were taken somewhere
        self._starts: dict[tuple[Maker, int], list[int]] = {}

    # --- lives

    def begin_life(
        self,
        run: Run,
        address: int,
        size: int,
        maker: Maker,
        contents: bytes | unset.Maker,
        origin: Origin,
    ) -> None:
        """A new object. Without contents of its own it has any: then they are its maker's."""
        divided = self.knowledge.cells_of(maker, size)
        if divided is None:
            raise Trouble("an object of too many parts", origin)
        self.objects.begin(run, Item(maker, address, size))
        run.is_noticed = True
        run.note_access(address, max(size, 1), True, None, Manner.LIFE)
        for offset, width in divided:
            if isinstance(contents, unset.Maker):
                value = run.unset(self.terms, contents, 8 * width, offset)
            else:
                data = contents[offset : offset + width]
                value = self.terms.constant(int.from_bytes(data, "little"), 8 * width)
            run.memory[address + offset, width] = value

    def end_life(self, run: Run, address: int, size: int) -> None:
        self.objects.end(run, address, size)
        for cell in [cell for cell in run.memory if address <= cell[0] < address + max(size, 1)]:
            del run.memory[cell]
        run.is_noticed = True
        run.note_access(address, max(size, 1), True, None, Manner.LIFE)

    # --- accesses: exactly one of the places holds

    def load(self, run: Run, places: list[GuardedAddress], size: int) -> int:
        result: int | None = None
        for condition, address in reversed(places):
            value = self._load(run, address, size)
            result = value if result is None else self.terms.ite(condition, value, result)
        assert result is not None
        return result

    def store(self, run: Run, places: list[GuardedAddress], size: int, value: int) -> None:
        if len(places) == 1:
            self._store(run, places[0][1], size, value)
            return
        for condition, address in places:
            # One after the other: places may overlap.
            old = self._load(run, address, size)
            self._store(run, address, size, self.terms.ite(condition, value, old))

    def _load(self, run: Run, address: int, size: int) -> int:
        item = self.objects.at(run, address)
        assert item is not None
        offset = address - item.address
        if item.read_only and item.contents is not None:
            data = item.contents[offset : offset + size]
            return self.terms.constant(int.from_bytes(data, "little"), 8 * size)
        if self.knowledge.is_untracked(item.maker, item.size):
            return run.input(self.terms, "untracked memory", 8 * size)
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
        item = self.objects.at(run, address)
        assert item is not None
        offset = address - item.address
        terms = self.terms
        if self.knowledge.is_untracked(item.maker, item.size):
            return
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
                found = cell_variable(self.terms, cell)
            else:
                found = self.terms.constant(value, 8 * size)
        return found

    def value(self, run: Run, cell: Cell) -> int | None:
        """Of a cell of a live object."""
        item = self.objects.at(run, cell[0])
        return None if item is None else self._cell(run, item, cell[0] - item.address, cell[1])

    def known(self, run: Run, place: Cell) -> int | None:
        """The constant that some bytes of a live object hold, if they do."""
        if self.objects.at(run, place[0]) is None:
            return None
        return self.terms.value(self._load(run, *place))

    def known_before(self, run: Run, place: Cell) -> int | None:
        """The constant that they have held when the block began."""
        before = run.copy()
        before.memory = {}
        return self.known(before, place)

    def explicit_parts(self, item: Item, place: Cell, value: int) -> dict[Cell, int] | None:
        """The cells of an object that some bytes consist of, with their values; None if they are
        no whole explicit cells."""
        address, size = place
        found: dict[Cell, int] = {}
        for start, width in self._overlapping(item, address - item.address, size):
            first = item.address + start - address
            is_whole = 0 <= first and first + width <= size
            if not is_whole or not self.knowledge.is_explicit_cell(item.maker, start, width):
                return None
            found[item.address + start, width] = value >> 8 * first & (1 << 8 * width) - 1
        return found

    # --- what is known

    def is_explicit(self, run: Run, cell: Cell) -> bool:
        item = self.objects.at(run, cell[0])
        assert item is not None
        return self.knowledge.is_explicit_cell(item.maker, cell[0] - item.address, cell[1])

    def is_floating(self, run: Run, cell: Cell) -> bool:
        item = self.objects.at(run, cell[0])
        assert item is not None
        return self.knowledge.is_floating_cell(item.maker, cell[0] - item.address)

    def _known_value(self, run: Run, item: Item, offset: int, size: int) -> int | None:
        known: Known = INITIALLY
        if (
            self.knowledge.is_explicit_cell(item.maker, offset, size)
            or 8 * size == self.knowledge.pointer.bits
        ):
            known = run.surroundings.known_value((item.address + offset, size))
        if isinstance(known, Initially):
            return self._initially(item, offset, size)
        return known

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
        return knowledge.is_explicit_cell(maker, offset, size) or (
            knowledge.is_address(value, 8 * size) and not knowledge.is_floating_cell(maker, offset)
        )

    def initial_value(self, cell: Cell) -> int | None:
        """What a cell of a static object holds at first; None if that is not known."""
        item = self.objects.static_at(cell[0])
        if item is None or item.contents is None:
            return None
        offset = cell[0] - item.address
        return int.from_bytes(item.contents[offset : offset + cell[1]], "little")

    def changes(self, run: Run, updates: dict[int, int]) -> tuple[tuple[Cell, Known], ...]:
        """What is known of the cells that a run has written; the values of those of which nothing
        is go into the updates."""
        found: list[tuple[Cell, Known]] = []
        for cell, term in run.memory.items():
            item = self.objects.at(run, cell[0])
            if item is None:
                continue
            offset = cell[0] - item.address
            value = self.terms.value(term)
            initially = self._initially(item, offset, cell[1])
            if value is not None and self._is_known(item.maker, offset, cell[1], value):
                found.append((cell, INITIALLY if value == initially else value))
                continue
            found.append((cell, INITIALLY if initially is None else None))
            variable = cell_variable(self.terms, cell)
            if variable != term:
                updates[variable] = term
        return tuple(found)
