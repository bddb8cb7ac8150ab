"""Memory of a symbolic state: what a step has written, over what it found.

Memory is a total function from addresses to bytes; which addresses may be accessed is a matter of
the objects that live. A byte is given as a term and the number of the byte in it, so that values
of several bytes stay whole as long as they are read as they were written.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

from plait.certificates.document import Cell
from plait.logic.terms import Terms

Byte = tuple[int, int]


class Bytes(Protocol):
    """Where the bytes come from that a step has not written."""

    def byte(self, address: int) -> Byte: ...


class Cells:
    """The cells that a certificate names: disjoint, and sorted by their addresses."""

    def __init__(self, cells: tuple[Cell, ...]) -> None:
        self._cells = cells
        self._addresses = [cell.address for cell in cells]
        self._owners: dict[int, Cell | None] = {}

    def owner(self, address: int) -> Cell | None:
        """The cell that has this byte."""
        if address not in self._owners:
            index = bisect_right(self._addresses, address) - 1
            cell = self._cells[index] if index >= 0 else None
            inside = cell is not None and address < cell.address + cell.size
            self._owners[address] = cell if inside else None
        return self._owners[address]

    def within(self, start: int, end: int) -> Iterator[Cell]:
        """The cells that share a byte with the addresses from `start` to before `end`."""
        index = max(bisect_right(self._addresses, start) - 1, 0)
        while index < len(self._cells) and self._addresses[index] < end:
            cell = self._cells[index]
            if cell.address + cell.size > start:
                yield cell
            index += 1


class KnownBytes:
    """Memory at a node: values that are known, variables for all others."""

    def __init__(
        self,
        terms: Terms,
        cells: Cells,
        initial: Mapping[Cell, int],
        changes: Mapping[Cell, int | None],
        known_value: Callable[[int, int], int],
    ) -> None:
        """`known_value` makes the term of a known value, given that and its width."""
        self._terms = terms
        self._cells = cells
        self._initial = initial
        self._changes = changes
        self._known_value = known_value
        self._values: dict[Cell, int] = {}

    def known(self, cell: Cell) -> int | None:
        if cell in self._changes:
            return self._changes[cell]
        return self._initial.get(cell)

    def cell(self, cell: Cell) -> int:
        found = self._values.get(cell)
        if found is None:
            width = 8 * cell.size
            value = self.known(cell)
            if value is None:
                found = self._terms.variable(f"m{cell.address}.{cell.size}", width)
            else:
                found = self._known_value(value, width)
            self._values[cell] = found
        return found

    def byte(self, address: int) -> Byte:
        cell = self._cells.owner(address)
        if cell is None:
            return self._terms.variable(f"byte {address}", 8), 0
        return self.cell(cell), address - cell.address


class Memory:
    """Changes of one path of a step. `regions` are the objects that came to life in it."""

    __slots__ = ("_below", "_regions", "_terms", "_written")

    def __init__(self, terms: Terms, below: Bytes) -> None:
        self._terms = terms
        self._below = below
        self._written: dict[int, Byte] = {}
        self._regions: list[tuple[int, int, bytes | None]] = []

    def copy(self) -> Memory:
        made = Memory(self._terms, self._below)
        made._written = self._written.copy()
        made._regions = self._regions.copy()
        return made

    def read(self, address: int, size: int) -> int:
        """The value of some bytes, little endian."""
        result: int | None = None
        run: list[Byte] = []
        for offset in range(size):
            byte = self._byte(address + offset)
            if run and (byte[0] != run[0][0] or byte[1] != run[-1][1] + 1):
                result = self._above(run, result)
                run = []
            run.append(byte)
        return self._above(run, result)

    def _above(self, run: list[Byte], low: int | None) -> int:
        """Consecutive bytes of one term, above what was read before."""
        term, first = run[0]
        part = self._terms.extract(term, 8 * first, 8 * len(run))
        return part if low is None else self._terms.concat(part, low)

    def _byte(self, address: int) -> Byte:
        found = self._written.get(address)
        if found is not None:
            return found
        for start, end, contents in reversed(self._regions):
            if start <= address < end:
                if contents is None:
                    made = self._terms.fresh(f"contents {address}", 8), 0
                    self._written[address] = made
                    return made
                offset = address - start
                value = contents[offset] if offset < len(contents) else 0
                return self._terms.constant(value, 8), 0
        return self._below.byte(address)

    def write(self, address: int, value: int) -> None:
        for index in range(self._terms.width[value] // 8):
            self._written[address + index] = value, index

    def create(self, address: int, size: int, contents: bytes | None) -> None:
        """An object comes to life: with these bytes and zeros behind them, or with any bytes."""
        for place in [place for place in self._written if address <= place < address + size]:
            del self._written[place]
        if size:
            self._regions.append((address, address + size, contents))

    def changed(self, cells: Cells) -> Iterable[Cell]:
        """The cells of which a byte may have changed."""
        found: set[Cell] = set()
        for address in self._written:
            cell = cells.owner(address)
            if cell is not None:
                found.add(cell)
        for start, end, _ in self._regions:
            found.update(cells.within(start, end))
        return found
