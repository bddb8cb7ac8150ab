"""Places: what the left side of an assignment denotes, and how it is read and written."""

from __future__ import annotations

from collections.abc import Callable

from plait.c.builder import Builder
from plait.c.terms import binary, constant, convert, pointer_add, scaled
from plait.c.types import CType, Shape
from plait.data import dataclass
from plait.errors import UnsupportedCode
from plait.model.actions import Assign, Load, Order, ReadModifyWrite, Store
from plait.model.expressions import BinaryOp, Const, Expr, Register
from plait.model.types import (
    U8,
    U16,
    U32,
    U64,
    U128,
    DataModel,
    Kind,
    Scalar,
)

_CHUNKS = {8: U64, 4: U32, 2: U16, 1: U8}
_UNROLLED_ELEMENTS = 16


@dataclass(slots=True, eq=False)
class RegisterPlace:
    register: Register
    type: CType


@dataclass(slots=True, eq=False)
class MemoryPlace:
    """An object in memory. A bit-field starts `bit_offset` bits above `address`; an access to it
    touches at least `least_size` bytes there. `spelled`: what the source calls it."""

    address: Expr
    type: CType
    bit_offset: int = 0
    bit_width: int | None = None
    least_size: int = 0
    spelled: str = ""


Place = RegisterPlace | MemoryPlace


def access_order(ctype: CType) -> Order:
    if ctype.atomic:
        return Order.SEQ_CST
    return Order.VOLATILE if ctype.volatile else Order.PLAIN


class Places(Builder):
    """Reading, writing and copying places."""

    data_model: DataModel
    # For data races a bit-field's accesses touch its whole memory location, as C defines it; for
    # everything else only the bytes that compilers touch.
    accesses_whole_locations: bool

    def load_scalar(
        self, address: Expr, scalar: Scalar, order: Order = Order.PLAIN, spelled: str = ""
    ) -> Register:
        target = self.register(scalar)
        self.emit(Load(self.origin, target, address, order, spelled=spelled))
        return target

    def read(self, place: Place) -> Expr:
        """The value of a scalar place; arrays and functions decay to their address."""
        if isinstance(place, RegisterPlace):
            return place.register
        if place.type.shape in (Shape.ARRAY, Shape.FUNCTION):
            return place.address
        scalar = place.type.require_scalar()
        if place.bit_width is not None:
            return self._read_bits(place, place.bit_width, scalar)
        return self.load_scalar(place.address, scalar, access_order(place.type), place.spelled)

    def write(self, place: Place, value: Expr) -> Expr:
        """Store a converted value; the result is what reading the place would give."""
        if isinstance(place, RegisterPlace):
            self.emit(Assign(self.origin, place.register, value))
            return place.register
        if place.bit_width is not None:
            return self._write_bits(place, place.bit_width, value)
        order = access_order(place.type)
        self.emit(Store(self.origin, place.address, value, order, spelled=place.spelled))
        return value

    def read_modify_write(self, address: Expr, old: Register, new: Expr, order: Order) -> None:
        self.emit(ReadModifyWrite(self.origin, old, address, new, None, order))

    # Bit-fields

    def _chunks(self, place: MemoryPlace, width: int) -> list[tuple[int, Scalar]]:
        """Byte offsets and types of the accesses to a bit-field."""
        count = max((place.bit_offset + width + 7) // 8, place.least_size)
        if count > 16:
            raise UnsupportedCode("more than 16 bytes of adjacent bit-fields")
        found = []
        offset = 0
        while offset < count:
            size = next(size for size in _CHUNKS if size <= count - offset)
            found.append((offset, _CHUNKS[size]))
            offset += size
        return found

    def _chunk_address(self, place: MemoryPlace, offset: int) -> Expr:
        return pointer_add(place.address, Const(self.data_model.offset_type, offset))

    def _read_bits(self, place: MemoryPlace, width: int, scalar: Scalar) -> Expr:
        order = access_order(place.type)
        chunks = self._chunks(place, width)
        whole = U64 if max(place.bit_offset + width, 8 * place.least_size) <= 64 else U128
        raw: Expr = constant(whole, 0)
        for offset, chunk in chunks:
            part = convert(
                whole, self.load_scalar(self._chunk_address(place, offset), chunk, order)
            )
            raw = binary(BinaryOp.OR, binary(BinaryOp.SHL, part, Const(whole, 8 * offset)), raw)
        return self._extract(raw, place.bit_offset, width, scalar)

    def _extract(self, raw: Expr, low: int, width: int, scalar: Scalar) -> Expr:
        whole = raw.type
        top = Const(whole, whole.bits - low - width)
        shifted = binary(BinaryOp.SHL, raw, top)
        if scalar.signed:
            shifted = convert(Scalar(Kind.INT, whole.bits, signed=True), shifted)
        return convert(scalar, binary(BinaryOp.SHR, shifted, Const(whole, whole.bits - width)))

    def _write_bits(self, place: MemoryPlace, width: int, value: Expr) -> Expr:
        order = access_order(place.type)
        whole = U64 if max(place.bit_offset + width, 8 * place.least_size) <= 64 else U128
        if value.type.is_bool:
            value = convert(U8, value)
        bits = convert(whole, convert(Scalar(Kind.INT, value.type.bits), value))
        bits = binary(BinaryOp.AND, bits, Const(whole, (1 << width) - 1))
        moved = binary(BinaryOp.SHL, bits, Const(whole, place.bit_offset))
        mask = ((1 << width) - 1) << place.bit_offset
        if not isinstance(moved, Const):
            moved = self.temporary(moved)
        for offset, chunk in self._chunks(place, width):
            address = self._chunk_address(place, offset)
            part = convert(chunk, binary(BinaryOp.SHR, moved, Const(whole, 8 * offset)))
            covered = (mask >> (8 * offset)) & chunk.maximum
            if covered != chunk.maximum:
                old = self.load_scalar(address, chunk, order)
                kept = binary(BinaryOp.AND, old, Const(chunk, chunk.maximum & ~covered))
                part = binary(BinaryOp.OR, kept, part)
            self.emit(Store(self.origin, address, part, order))
        scalar = place.type.require_scalar()
        return self._extract(bits, 0, width, scalar)

    # Records and arrays as a whole

    def _copy_scalar(self, target: Expr, source: Expr, scalar: Scalar, order: Order) -> None:
        value = self.register(scalar)
        self.emit(Load(self.origin, value, source, order, copies=True))
        self.emit(Store(self.origin, target, value, order, copies=True))

    def copy(self, target: Expr, source: Expr, ctype: CType) -> None:
        """Copy an object of any type, cell by cell."""
        match ctype.shape:
            case Shape.SCALAR:
                # A member is copied plainly, even if it is atomic.
                order = Order.VOLATILE if ctype.volatile else Order.PLAIN
                self._copy_scalar(target, source, ctype.require_scalar(), order)
            case Shape.ARRAY:
                self._copy_array(target, source, ctype)
            case Shape.RECORD if ctype.is_union:
                self._copy_bytes(target, source, _union_chunks(ctype))
            case Shape.RECORD:
                self._copy_fields(target, source, ctype)
            case _:
                self._copy_bytes(target, source, _byte_chunks(0, ctype.size))

    def _copy_fields(self, target: Expr, source: Expr, ctype: CType) -> None:
        copied = 0  # bit-fields share bytes: copy each byte once
        for member in ctype.fields:
            if member.bit_width is None:
                start = Const(self.data_model.offset_type, member.offset)
                self.copy(pointer_add(target, start), pointer_add(source, start), member.type)
                continue
            first = max(member.offset, copied)
            copied = member.offset + (member.bit_offset + member.bit_width + 7) // 8
            self._copy_bytes(target, source, _byte_chunks(first, copied))

    def _copy_bytes(self, target: Expr, source: Expr, chunks: list[tuple[int, Scalar]]) -> None:
        for offset, chunk in chunks:
            start = Const(self.data_model.offset_type, offset)
            places = pointer_add(target, start), pointer_add(source, start)
            self._copy_scalar(*places, chunk, Order.PLAIN)

    def _copy_array(self, target: Expr, source: Expr, ctype: CType) -> None:
        element, count = ctype.inner, ctype.count or 0
        assert element is not None

        def copy_element(offset: Expr) -> None:
            self.copy(pointer_add(target, offset), pointer_add(source, offset), element)

        self.for_each_element(element, count, copy_element)

    def for_each_element(
        self, element: CType, count: int, body: Callable[[Expr], None], first: int = 0
    ) -> None:
        """Run `body` with the byte offset of each element: unrolled if few, else as a loop."""
        offset_type = self.data_model.offset_type
        if count - first <= _UNROLLED_ELEMENTS:
            for index in range(first, count):
                body(Const(offset_type, index * element.size))
            return
        counter = self.register(offset_type)
        self.emit(Assign(self.origin, counter, Const(offset_type, first)))
        head, inside, after = self.location(), self.location(), self.location()
        self.start(head)
        self.branch(binary(BinaryOp.LT, counter, Const(offset_type, count)), inside, after)
        self.at = inside
        body(scaled(counter, element.size, offset_type))
        self.emit(
            Assign(self.origin, counter, binary(BinaryOp.ADD, counter, Const(offset_type, 1)))
        )
        self.connect(head)
        self.at = after

    def clear(self, target: Expr, ctype: CType) -> None:
        """Zero an object of any type."""
        match ctype.shape:
            case Shape.SCALAR:
                scalar = ctype.require_scalar()
                zero = Const(scalar, 0.0 if scalar.kind is Kind.FLOAT else 0)
                self.emit(Store(self.origin, target, zero, access_order(ctype)))
            case Shape.ARRAY:
                element = ctype.inner
                assert element is not None

                def clear_element(offset: Expr) -> None:
                    self.clear(pointer_add(target, offset), element)

                self.for_each_element(element, ctype.count or 0, clear_element)
            case Shape.RECORD if not ctype.is_union and not _has_bit_fields(ctype):
                for member in ctype.fields:
                    start = Const(self.data_model.offset_type, member.offset)
                    self.clear(pointer_add(target, start), member.type)
            case _:
                chunks = _union_chunks(ctype) if ctype.is_union else _byte_chunks(0, ctype.size)
                for offset, chunk in chunks:
                    start = Const(self.data_model.offset_type, offset)
                    self.emit(Store(self.origin, pointer_add(target, start), Const(chunk, 0)))


def _has_bit_fields(ctype: CType) -> bool:
    return any(member.bit_width is not None for member in ctype.fields)


def _union_chunks(ctype: CType) -> list[tuple[int, Scalar]]:
    """One access if some scalar member fills the union, bytes in the largest units otherwise."""
    for member in ctype.fields:
        scalar = member.type.scalar
        if member.bit_width is None and scalar is not None and scalar.size == ctype.size:
            if scalar.kind is not Kind.FLOAT and not scalar.is_bool:
                return [(0, scalar)]
    return _byte_chunks(0, ctype.size)


def _byte_chunks(start: int, end: int) -> list[tuple[int, Scalar]]:
    found = []
    while start < end:
        size = next(n for n in _CHUNKS if n <= end - start and start % n == 0)
        found.append((start, _CHUNKS[size]))
        start += size
    return found
