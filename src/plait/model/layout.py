"""How an object's bytes divide into typed cells, and how its parts are called in the source."""

from __future__ import annotations

from collections.abc import Iterator

from plait.data import dataclass
from plait.model.types import Scalar


@dataclass(slots=True, eq=False)
class ScalarLayout:
    size: int
    scalar: Scalar
    spelling: str


@dataclass(slots=True, eq=False)
class ArrayLayout:
    size: int
    element: Layout
    count: int


@dataclass(slots=True, eq=False)
class Field:
    """A member of a record. A bit-field has `bit_width` bits from bit `bit_offset` of `offset`."""

    name: str
    offset: int
    layout: Layout
    bit_offset: int = 0
    bit_width: int | None = None


@dataclass(slots=True, eq=False)
class RecordLayout:
    size: int
    name: str
    fields: tuple[Field, ...]
    is_union: bool


@dataclass(slots=True, eq=False)
class OpaqueLayout:
    """Bytes of no declared type, as malloc returns them."""

    size: int


Layout = ScalarLayout | ArrayLayout | RecordLayout | OpaqueLayout


@dataclass(slots=True, frozen=True)
class Cell:
    """A scalar leaf of an object; the members of a union give overlapping cells."""

    offset: int
    scalar: Scalar
    path: str


def cells(layout: Layout, offset: int = 0, path: str = "") -> Iterator[Cell]:
    """All scalar leaves in memory order; a bit-field appears as the bytes that hold it."""
    match layout:
        case ScalarLayout():
            yield Cell(offset, layout.scalar, path)
        case ArrayLayout():
            for index in range(layout.count):
                place = offset + index * layout.element.size
                yield from cells(layout.element, place, f"{path}[{index}]")
        case RecordLayout():
            for field in layout.fields:
                inner = f"{path}.{field.name}" if field.name else path
                yield from cells(field.layout, offset + field.offset, inner)
        case OpaqueLayout():
            return


def path_at(layout: Layout, offset: int, size: int = 1) -> str:
    """The source-level name of the part at `offset` ('.items[3].next'), '+offset' when unnamed.

    Bytes that hold bit-fields have the name of their record. Of the members of a union one that is
    exactly there is meant.
    """
    match layout:
        case ScalarLayout() if offset == 0:
            return ""
        case ArrayLayout() if layout.element.size and 0 <= offset < layout.size:
            index, rest = divmod(offset, layout.element.size)
            return f"[{index}]" + path_at(layout.element, rest, size)
        case RecordLayout():
            fitting = [
                field
                for field in layout.fields
                if field.offset <= offset
                and offset - field.offset + size <= max(field.layout.size, 1)
            ]
            exact = (
                field
                for field in fitting
                if layout.is_union and scalar_at(field.layout, offset - field.offset, size)
            )
            field = next(exact, fitting[0] if fitting else None)
            if field is not None and field.bit_width is None:
                prefix = f".{field.name}" if field.name else ""
                return prefix + path_at(field.layout, offset - field.offset, size)
    return "" if offset == 0 else f"+{offset}"


def pointed_at(layout: Layout, offset: int) -> str:
    """The name of the largest part that begins at `offset`, but of an array its first element."""
    match layout:
        case ArrayLayout() if layout.element.size and 0 <= offset < layout.size:
            index, rest = divmod(offset, layout.element.size)
            return f"[{index}]" + (pointed_at(layout.element, rest) if rest else "")
        case RecordLayout() if offset:
            for field in layout.fields:
                inside = offset - field.offset
                if 0 <= inside < max(field.layout.size, 1):
                    prefix = f".{field.name}" if field.name else ""
                    is_array = isinstance(field.layout, ArrayLayout)
                    return prefix + (pointed_at(field.layout, inside) if inside or is_array else "")
    return "" if offset == 0 else f"+{offset}"


def scalar_at(layout: Layout, offset: int, size: int) -> ScalarLayout | None:
    """The declared scalar of exactly that place and size; the first member of a union wins."""
    match layout:
        case ScalarLayout():
            return layout if offset == 0 and size == layout.size else None
        case ArrayLayout() if layout.element.size and 0 <= offset < layout.size:
            return scalar_at(layout.element, offset % layout.element.size, size)
        case RecordLayout():
            for field in layout.fields:
                inside = offset - field.offset
                if 0 <= inside and inside + size <= field.layout.size and field.bit_width is None:
                    found = scalar_at(field.layout, inside, size)
                    if found is not None:
                        return found
    return None
