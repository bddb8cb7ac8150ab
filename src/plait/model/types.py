"""Scalar types of the model: what a register or a memory cell can hold.

Values are plain Python numbers in canonical form: an integer lies in the range of its type
(negative values for signed types), a pointer is its unsigned address, a float is a Python float
that has been rounded to its format.
"""

from __future__ import annotations

from enum import Enum

from plait.data import dataclass


class Kind(Enum):
    INT = "int"
    POINTER = "pointer"
    FLOAT = "float"


@dataclass(slots=True, frozen=True)
class Scalar:
    """A machine type. `is_bool` marks `_Bool`: 8 bits in memory, values 0 and 1."""

    kind: Kind
    bits: int
    signed: bool = False
    is_bool: bool = False

    @property
    def size(self) -> int:
        return self.bits // 8

    @property
    def minimum(self) -> int:
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def maximum(self) -> int:
        if self.is_bool:
            return 1
        return (1 << (self.bits - 1)) - 1 if self.signed else (1 << self.bits) - 1

    def wrap(self, value: int) -> int:
        """The value of this integer or pointer type congruent to `value` modulo 2**bits."""
        value &= (1 << self.bits) - 1
        if self.signed and value >> (self.bits - 1):
            value -= 1 << self.bits
        return value

    def __str__(self) -> str:
        if self.kind is Kind.POINTER:
            return "ptr"
        if self.kind is Kind.FLOAT:
            return f"f{self.bits}"
        if self.is_bool:
            return "bool"
        return f"{'i' if self.signed else 'u'}{self.bits}"


I8, I16, I32, I64, I128 = (Scalar(Kind.INT, bits, signed=True) for bits in (8, 16, 32, 64, 128))
U8, U16, U32, U64, U128 = (Scalar(Kind.INT, bits) for bits in (8, 16, 32, 64, 128))
BOOL = Scalar(Kind.INT, 8, is_bool=True)
F32, F64 = (Scalar(Kind.FLOAT, bits, signed=True) for bits in (32, 64))
POINTER_32, POINTER_64 = (Scalar(Kind.POINTER, bits) for bits in (32, 64))


class DataModel(Enum):
    """C data models. A pointer's upper bits name a page, its lower `page_bits` an offset.

    Objects begin at odd pages. The even page in front of one belongs to it too, though it has no
    bytes: a pointer that is moved there (`container_of` of the head of a list) can be compared and
    moved back, and looks like a pointer to nothing else. So whether a move stays at its object is
    told by the number of the pair of pages, but for objects that have more of them."""

    ILP32 = "ILP32"
    LP64 = "LP64"

    @property
    def pointer(self) -> Scalar:
        return POINTER_32 if self is DataModel.ILP32 else POINTER_64

    @property
    def page_bits(self) -> int:
        return 13 if self is DataModel.ILP32 else 32

    def pages_of(self, size: int) -> int:
        """How many pages an object has, from the one where it begins: the address behind its last
        byte is on them too."""
        return ((size >> self.page_bits) + 1) | 1

    def pages_taken(self, size: int) -> int:
        """How many pages lie between the beginnings of an object and of the next one."""
        return self.pages_of(size) + 1

    @property
    def last_page(self) -> int:
        """The page of small negative numbers, as page 0 is that of positive ones: no object's."""
        return (1 << self.pointer.bits - self.page_bits) - 1

    @property
    def offset_type(self) -> Scalar:
        """The signed integer type as wide as a pointer (ptrdiff_t)."""
        return I32 if self is DataModel.ILP32 else I64
