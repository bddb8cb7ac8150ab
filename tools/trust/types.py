"""The C types that generated programs use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from trust.dice import Dice


@dataclass(slots=True, frozen=True)
class IntType:
    """`shift` masks a shift count that is valid after promotion in every data model; `signed`
    promises that negative values fit."""

    name: str
    shift: int = 31
    signed: bool = True


@dataclass(slots=True, frozen=True)
class FloatType:
    name: str


@dataclass(slots=True, frozen=True)
class ArrayType:
    element: CType
    count: int


@dataclass(slots=True, eq=False)
class Member:
    """`width` is that of a bit-field; a member without a name is padding."""

    name: str
    type: CType
    width: int | None = None


@dataclass(slots=True, eq=False)
class RecordType:
    """A struct or union; the first member of a union covers all its bytes."""

    name: str
    members: list[Member]
    is_union: bool = False
    named: list[Member] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.named = [member for member in self.members if member.name]


@dataclass(slots=True, frozen=True)
class PointerType:
    target: CType


CType = IntType | FloatType | ArrayType | RecordType | PointerType

BOOL = IntType("_Bool", signed=False)
CHAR = IntType("char")
UCHAR = IntType("unsigned char", signed=False)
INT = IntType("int")
UINT = IntType("unsigned", signed=False)
LLONG = IntType("long long", 63)
ULLONG = IntType("unsigned long long", 63, signed=False)
INT128 = IntType("__int128", 127)
UINT128 = IntType("unsigned __int128", 127, signed=False)
FLOAT = FloatType("float")
DOUBLE = FloatType("double")
PLAIN_INTS = (
    BOOL,
    CHAR,
    IntType("signed char"),
    UCHAR,
    IntType("short"),
    IntType("unsigned short", signed=False),
    INT,
    UINT,
    IntType("long"),
    IntType("unsigned long", signed=False),
    LLONG,
    ULLONG,
)


def declare(type_: CType, name: str) -> str:
    """The C declaration of `name` with this type."""
    match type_:
        case ArrayType():
            return declare(type_.element, f"{name}[{type_.count}]")
        case PointerType():
            inner = f"(*{name})" if isinstance(type_.target, ArrayType) else f"*{name}"
            return declare(type_.target, inner)
    return f"{type_.name} {name}"


def spell(type_: CType) -> str:
    """The type's name, as in a cast."""
    return declare(type_, "").strip()


def is_int(type_: CType) -> bool:
    return isinstance(type_, IntType)


def is_float(type_: CType) -> bool:
    return isinstance(type_, FloatType)


def is_scalar(type_: CType) -> bool:
    return isinstance(type_, IntType | FloatType)


def reaches(type_: CType, want: Callable[[CType], bool], through_pointers: bool = True) -> bool:
    """Does an object of this type contain (or lead to) a part of a wanted type?"""
    if want(type_):
        return True
    match type_:
        case ArrayType():
            return reaches(type_.element, want, through_pointers)
        case RecordType():
            return any(reaches(item.type, want, through_pointers) for item in type_.named)
        case PointerType():
            return through_pointers and reaches(type_.target, want)
    return False


def make_bit_fields(dice: Dice, prefix: str, enum: IntType | None) -> list[Member]:
    """A run of bit-fields of mixed types: straddling units, zero widths, padding."""
    members: list[Member] = []
    for index in range(dice.between(2, 6)):
        if dice.chance(12):
            members.append(Member("", dice.pick((INT, UINT, CHAR, LLONG)), 0))
        elif dice.chance(10):
            members.append(Member("", UINT, dice.between(1, 9)))
        base, limit = dice.pick(
            (
                (INT, 32),
                (UINT, 32),
                (IntType("signed char"), 8),
                (UCHAR, 8),
                (IntType("short"), 16),
                (IntType("unsigned short", signed=False), 16),
                (LLONG, 64),
                (ULLONG, 64),
                (BOOL, 1),
            )
        )
        if enum is not None and dice.chance(10):
            base, limit = enum, 32
        width = limit if dice.chance(5) else dice.between(4 if base is enum else 1, limit)
        members.append(Member(f"{prefix}{index}", base, width))
    return members


def is_wide(member: Member) -> bool:
    """gcc computes with a bit-field wider than int in a type of exactly its width, clang does not;
    the two agree where the value is first cast to the declared type."""
    return member.width is not None and member.width > 31 and member.type in (LLONG, ULLONG)


def define(record: RecordType) -> str:
    """The definition of a struct or union."""
    lines = [f"{record.name} {{"]
    for member in record.members:
        width = "" if member.width is None else f" : {member.width}"
        lines.append(f"    {declare(member.type, member.name)}{width};")
    return "\n".join([*lines, "};"])
