"""What parts of global variables are called, and their values, in C."""

from __future__ import annotations

from plait.data import dataclass
from plait.model.layout import path_at, scalar_at
from plait.model.program import Program, StaticObject
from plait.model.types import Kind, Scalar


def shown(value: int, scalar: Scalar) -> str:
    return str(scalar.wrap(value)) if scalar.wrap(value) >= 0 else f"({scalar.wrap(value)})"


@dataclass(slots=True, eq=False)
class Named:
    """A part of the global variable `object`."""

    text: str
    object: StaticObject
    scalar: Scalar

    @property
    def is_signed(self) -> bool:
        return self.scalar.signed

    def value(self, value: int) -> str:
        return shown(value, self.scalar)


class CellNames:
    """How cells of memory are called that the whole program knows: parts of global variables."""

    def __init__(self, program: Program) -> None:
        self._bits = program.data_model.page_bits
        self._objects = {
            item.page: item
            for item in program.objects
            if not item.thread_local and not item.library and item.name.isidentifier()
        }
        self._known: dict[str, Named | None] = {}

    def of(self, cell: str) -> Named | None:
        if cell not in self._known:
            self._known[cell] = self._find(cell)
        return self._known[cell]

    def object_of(self, cell: str) -> StaticObject | None:
        """The global variable that a cell is in."""
        return self._objects.get(int(cell.split(".")[0]) >> self._bits)

    def _find(self, cell: str) -> Named | None:
        address, size = (int(item) for item in cell.split("."))
        item = self.object_of(cell)
        if item is None:
            return None
        offset = address - (item.page << self._bits)
        declared = scalar_at(item.layout, offset, size)
        path = path_at(item.layout, offset, size)
        if declared is None or "+" in path or "__" in path or declared.scalar.kind is not Kind.INT:
            return None
        return Named(item.name + path, item, declared.scalar)
