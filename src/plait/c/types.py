"""C types as the front end needs them: sizes, scalars, layouts, promotions."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from plait.data import dataclass
from plait.errors import UnsupportedCode
from plait.model.layout import (
    ArrayLayout,
    Field,
    Layout,
    OpaqueLayout,
    RecordLayout,
    ScalarLayout,
)
from plait.model.types import (
    BOOL,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    U32,
    U64,
    U128,
    DataModel,
    Kind,
    Scalar,
)

if TYPE_CHECKING:
    from plait.c.libclang import Cursor, Library, Type


class Shape(Enum):
    VOID = auto()
    SCALAR = auto()
    ARRAY = auto()
    VARIABLE_ARRAY = auto()
    RECORD = auto()
    FUNCTION = auto()
    UNSUPPORTED = auto()


@dataclass(slots=True, eq=False)
class CType:
    """A C type with its qualifiers. `inner` is a pointer's pointee or an array's element."""

    shape: Shape
    size: int
    spelling: str
    scalar: Scalar | None = None
    inner: CType | None = None
    count: int | None = None  # None: flexible or incomplete array
    fields: tuple[Member, ...] = ()
    is_union: bool = False
    result: CType | None = None
    parameters: tuple[CType, ...] = ()
    variadic: bool = False
    prototyped: bool = True
    volatile: bool = False
    const: bool = False
    atomic: bool = False
    align: int = 1

    @property
    def is_pointer(self) -> bool:
        return self.scalar is not None and self.scalar.kind is Kind.POINTER

    @property
    def points_to_function(self) -> bool:
        """Also of a function itself, which becomes a pointer to it."""
        pointee = self.inner if self.is_pointer else self
        return pointee is not None and pointee.shape is Shape.FUNCTION

    def require_scalar(self) -> Scalar:
        if self.scalar is None:
            raise UnsupportedCode(f"the type '{self.spelling}' is not supported here")
        return self.scalar


@dataclass(slots=True, eq=False)
class Member:
    name: str
    offset: int  # bytes
    type: CType
    bit_offset: int = 0
    bit_width: int | None = None
    # Adjacent bit-fields are one memory location (C17 3.14): its first byte and the one behind it.
    location: tuple[int, int] = (0, 0)


VOID = CType(Shape.VOID, 0, "void")


def find_member(record: CType, name: str) -> Member | None:
    """A member by name, looking into anonymous structs and unions; its offset is the record's."""
    for member in record.fields:
        if member.name == name:
            return member
        if not member.name and member.type.shape is Shape.RECORD:
            inner = find_member(member.type, name)
            if inner is not None:
                return Member(
                    name,
                    member.offset + inner.offset,
                    inner.type,
                    inner.bit_offset,
                    inner.bit_width,
                    (member.offset + inner.location[0], member.offset + inner.location[1]),
                )
    return None


def promote(scalar: Scalar) -> Scalar:
    """C's integer promotion."""
    if scalar.kind is Kind.INT and (scalar.bits < 32 or scalar.is_bool):
        return I32
    return scalar


def usual_arithmetic(left: Scalar, right: Scalar) -> Scalar:
    """The common type of two operands (C17 6.3.1.8); ranks coincide with widths here."""
    if left.kind is Kind.FLOAT or right.kind is Kind.FLOAT:
        floats = [item for item in (left, right) if item.kind is Kind.FLOAT]
        return max(floats, key=lambda item: item.bits)
    left, right = promote(left), promote(right)
    if left.bits != right.bits:
        return left if left.bits > right.bits else right
    return left if not left.signed else right


def layout_of(ctype: CType) -> Layout:
    match ctype.shape:
        case Shape.SCALAR:
            assert ctype.scalar is not None
            return ScalarLayout(ctype.size, ctype.scalar, ctype.spelling)
        case Shape.ARRAY:
            assert ctype.inner is not None
            return ArrayLayout(ctype.size, layout_of(ctype.inner), ctype.count or 0)
        case Shape.RECORD:
            fields = tuple(
                Field(m.name, m.offset, layout_of(m.type), m.bit_offset, m.bit_width)
                for m in ctype.fields
            )
            return RecordLayout(ctype.size, ctype.spelling, fields, ctype.is_union)
    return OpaqueLayout(ctype.size)


_SCALARS: dict[int, Scalar] = {
    3: BOOL,
    4: U8,  # char where it is unsigned
    5: U8,
    6: U16,  # char16_t
    7: U32,  # char32_t
    8: U16,
    9: U32,
    11: U64,
    12: U128,
    13: I8,  # char
    14: I8,
    15: I32,  # wchar_t
    16: I16,
    17: I32,
    19: I64,
    20: I128,
    21: F32,
    22: F64,
}
_FLOATS_BEYOND_DOUBLE = {23: "long double", 30: "__float128", 31: "half", 32: "_Float16"}
_UNSIGNED_LONG, _LONG = 10, 18
_VOID, _POINTER, _RECORD, _ENUM = 2, 101, 105, 106
_FUNCTION_NO_PROTOTYPE, _FUNCTION_PROTOTYPE = 110, 111
_CONSTANT_ARRAY, _INCOMPLETE_ARRAY, _VARIABLE_ARRAY, _ATOMIC = 112, 114, 115, 177


class TypeTable:
    """Converts libclang's types, each once per translation unit."""

    def __init__(self, library: Library, data_model: DataModel) -> None:
        self._library = library
        self._data_model = data_model
        self._known: dict[int, CType] = {}

    def of(self, cursor: Cursor) -> CType:
        return self.convert(self._library.getCursorType(cursor))

    def convert(self, raw: Type) -> CType:
        key = raw.data[0] or 0
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._convert(raw)
        return known

    def _convert(self, raw: Type) -> CType:
        library = self._library
        canonical = library.getCanonicalType(raw)
        kind = canonical.kind
        if kind == _RECORD:
            known = self._known.get(canonical.data[0] or 0)
            if known is not None:
                return known
        spelling = library.type_spelling(raw)
        result = self._shape(canonical, kind, spelling)
        if library.isVolatileQualifiedType(canonical):
            result.volatile = True
        if library.isConstQualifiedType(canonical):
            result.const = True
        return result

    def _shape(self, canonical: Type, kind: int, spelling: str) -> CType:
        library = self._library
        if kind in _SCALARS:
            return self._scalar(_SCALARS[kind], spelling)
        if kind in (_LONG, _UNSIGNED_LONG):
            wide = self._data_model is DataModel.LP64
            signed = kind == _LONG
            scalar = (I64 if signed else U64) if wide else (I32 if signed else U32)
            return self._scalar(scalar, spelling)
        if kind == _VOID:
            return CType(Shape.VOID, 0, spelling)
        if kind == _POINTER:
            pointer = self._scalar(self._data_model.pointer, spelling)
            pointer.inner = self._pointee(library.getPointeeType(canonical))
            return pointer
        if kind == _ENUM:
            declaration = library.getTypeDeclaration(canonical)
            underlying = self.convert(library.getEnumDeclIntegerType(declaration))
            return self._scalar(underlying.scalar or U32, spelling)
        if kind == _RECORD:
            return self._record(canonical, spelling)
        if kind in (_CONSTANT_ARRAY, _INCOMPLETE_ARRAY):
            element = self.convert(library.getArrayElementType(canonical))
            count = library.getArraySize(canonical) if kind == _CONSTANT_ARRAY else None
            array = CType(Shape.ARRAY, element.size * (count or 0), spelling)
            array.inner, array.count, array.align = element, count, element.align
            array.volatile, array.const = element.volatile, element.const
            return array
        if kind == _VARIABLE_ARRAY:
            array = CType(Shape.VARIABLE_ARRAY, 0, spelling)
            array.inner = self.convert(library.getArrayElementType(canonical))
            return array
        if kind in (_FUNCTION_PROTOTYPE, _FUNCTION_NO_PROTOTYPE):
            return self._function(canonical, kind, spelling)
        if kind == _ATOMIC:
            value = self.convert(library.Type_getValueType(canonical))
            atomic = CType(
                value.shape,
                library.Type_getSizeOf(canonical),
                spelling,
                value.scalar,
                value.inner,
                value.count,
                value.fields,
                value.is_union,
                align=library.Type_getAlignOf(canonical),
            )
            atomic.atomic = True
            return atomic
        size = max(library.Type_getSizeOf(canonical), 0)
        name = _FLOATS_BEYOND_DOUBLE.get(kind, spelling)
        return CType(
            Shape.UNSUPPORTED, size, name, align=max(library.Type_getAlignOf(canonical), 1)
        )

    def _scalar(self, scalar: Scalar, spelling: str) -> CType:
        size = scalar.size
        # i386 aligns 8-byte scalars in structs to 4; layouts come from libclang, so only
        # _Alignof of such a type would notice, and that is libclang's to evaluate as well.
        return CType(Shape.SCALAR, size, spelling, scalar, align=size)

    def _pointee(self, raw: Type) -> CType:
        """The pointee; records are filled in on first use, so that they may be recursive."""
        canonical = self._library.getCanonicalType(raw)
        if canonical.kind != _RECORD:
            return self.convert(raw)
        key = raw.data[0] or 0
        known = self._known.get(key)
        if known is None:
            known = CType(Shape.RECORD, 0, self._library.type_spelling(raw))
            known.volatile = bool(self._library.isVolatileQualifiedType(canonical))
            known.const = bool(self._library.isConstQualifiedType(canonical))
            self._known[key] = known
            self._fill(known, canonical)
        return known

    def _record(self, canonical: Type, spelling: str) -> CType:
        record = CType(Shape.RECORD, 0, spelling)
        self._known[canonical.data[0] or 0] = record
        self._fill(record, canonical)
        return record

    def _fill(self, record: CType, canonical: Type) -> None:
        library = self._library
        declaration = library.getTypeDeclaration(canonical)
        record.size = max(library.Type_getSizeOf(canonical), 0)
        record.align = max(library.Type_getAlignOf(canonical), 1)
        record.is_union = declaration.kind == 3
        members = []
        adjacent: list[Member] = []
        for field in library.fields(canonical):
            bits = library.Cursor_getOffsetOfField(field)
            type_ = self.of(field)
            name = library.spelling(field)
            if "(" in name:  # how libclang names an anonymous struct or union
                name = ""
            if library.Cursor_isBitField(field):
                width = library.getFieldDeclBitWidth(field)
                if width == 0:
                    adjacent = []
                    continue
                member = Member(name, bits // 8, type_, bits % 8, width)
                adjacent = [*adjacent, member] if not record.is_union else [member]
                end = max(
                    (m.offset * 8 + m.bit_offset + (m.bit_width or 0) + 7) // 8 for m in adjacent
                )
                for one in adjacent:
                    one.location = (adjacent[0].offset, end)
            else:
                member = Member(name, bits // 8, type_)
                adjacent = []
            members.append(member)
        record.fields = tuple(members)

    def _function(self, canonical: Type, kind: int, spelling: str) -> CType:
        library = self._library
        function = CType(Shape.FUNCTION, 1, spelling)
        function.result = self.convert(library.getResultType(canonical))
        function.prototyped = kind == _FUNCTION_PROTOTYPE
        if function.prototyped:
            count = library.getNumArgTypes(canonical)
            function.parameters = tuple(
                self.convert(library.getArgType(canonical, index)) for index in range(count)
            )
            function.variadic = bool(library.isFunctionTypeVariadic(canonical))
        return function
