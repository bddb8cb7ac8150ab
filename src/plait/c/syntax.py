"""Syntax trees: libclang's cursors read once into small Python nodes."""

from __future__ import annotations

import re

from plait.c.libclang import Cursor, Library
from plait.c.types import CType, TypeTable
from plait.errors import UnsupportedCode

# Cursor kinds (clang-c/Index.h).
STRUCT, UNION, ENUM, FIELD, ENUM_CONSTANT, FUNCTION, VAR, PARAMETER, TYPEDEF = (
    2,
    3,
    5,
    6,
    7,
    8,
    9,
    10,
    20,
)
TYPE_REF, MEMBER_REF, LABEL_REF = 43, 47, 48
UNEXPOSED, DECL_REF, MEMBER, CALL = 100, 101, 102, 103
INTEGER, FLOATING, IMAGINARY, STRING, CHARACTER, PAREN = 106, 107, 108, 109, 110, 111
UNARY, SUBSCRIPT, BINARY, COMPOUND_ASSIGN, CONDITIONAL, CAST = 112, 113, 114, 115, 116, 117
COMPOUND_LITERAL, INIT_LIST, LABEL_ADDRESS, STATEMENT_EXPRESSION, GENERIC = 118, 119, 120, 121, 122
SIZEOF = 136
LABEL, COMPOUND, CASE, DEFAULT, IF, SWITCH, WHILE, DO, FOR = (
    201,
    202,
    203,
    204,
    205,
    206,
    207,
    208,
    209,
)
GOTO, INDIRECT_GOTO, CONTINUE, BREAK, RETURN, ASM, NULL, DECLARATION = (
    210,
    211,
    212,
    213,
    214,
    215,
    230,
    231,
)
UNEXPOSED_STATEMENT = 200
STATIC_ASSERT = 602
FIRST_EXPRESSION, LAST_EXPRESSION = 100, 199

# Operator kinds (CXUnaryOperatorKind, CXBinaryOperatorKind).
POST_INC, POST_DEC, PRE_INC, PRE_DEC, ADDRESS, DEREFERENCE, PLUS, MINUS, NOT, LOGICAL_NOT = range(
    1, 11
)
REAL, IMAG, EXTENSION = 11, 12, 13
(MUL, DIV, REM, ADD, SUB, SHL, SHR) = range(3, 10)
(LT, GT, LE, GE, EQ, NE, AND, XOR, OR, LOGICAL_AND, LOGICAL_OR, ASSIGN) = range(11, 23)
COMPOUND_OPERATORS = {23: MUL, 24: DIV, 25: REM, 26: ADD, 27: SUB, 28: SHL, 29: SHR, 30: AND}
COMPOUND_OPERATORS |= {31: XOR, 32: OR}
COMMA = 33


class Node:
    """A cursor with its children; the type is looked up on first use."""

    __slots__ = ("_type", "children", "cursor", "kind")

    def __init__(self, cursor: Cursor, children: list[Node]) -> None:
        self.cursor = cursor
        self.kind: int = cursor.kind
        self.children = children
        self._type: CType | None = None

    def expressions(self) -> list[Node]:
        """The children that are expressions (not type references and the like)."""
        return [c for c in self.children if FIRST_EXPRESSION <= c.kind <= LAST_EXPRESSION]


class Tree:
    """Reads nodes of one translation unit."""

    def __init__(self, library: Library, types: TypeTable) -> None:
        self.library = library
        self.types = types

    def read(self, cursor: Cursor) -> Node:
        children = self.library.children(cursor)
        return Node(cursor, [self.read(child) for child in children])

    def type_of(self, node: Node) -> CType:
        known = node._type
        if known is None:
            known = node._type = self.types.of(node.cursor)
        return known

    def name(self, node: Node) -> str:
        return self.library.spelling(node.cursor)

    def integer(self, node: Node) -> int | None:
        """The value of an integer constant expression, None if it is not one."""
        library = self.library
        result = library.Cursor_Evaluate(node.cursor)
        if not result:
            return None
        try:
            if library.EvalResult_getKind(result) != 1:
                return None
            if library.EvalResult_isUnsignedInt(result):
                return int(library.EvalResult_getAsUnsigned(result))
            return int(library.EvalResult_getAsLongLong(result))
        finally:
            library.EvalResult_dispose(result)

    def floating(self, node: Node) -> float:
        library = self.library
        result = library.Cursor_Evaluate(node.cursor)
        if not result:
            raise UnsupportedCode("a floating constant that libclang cannot evaluate")
        try:
            return float(library.EvalResult_getAsDouble(result))
        finally:
            library.EvalResult_dispose(result)


def strip(node: Node) -> Node:
    """A node without the parentheses and implicit casts around it."""
    while node.kind in (PAREN, UNEXPOSED) and len(node.children) == 1:
        node = node.children[0]
    return node


# Clang writes `""` between an escape and a digit that would otherwise be part of it.
_ESCAPE = re.compile(
    rb'""|\\(?:([0-7]{1,3})|x([0-9a-fA-F]+)|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))'
)
_SIMPLE = {b"n": 10, b"t": 9, b"r": 13, b"a": 7, b"b": 8, b"f": 12, b"v": 11, b"e": 27}


def decode_string(spelling: str, width: int) -> bytes:
    """The bytes of a string literal as libclang spells it (quoted, escaped), without a final 0."""
    start = spelling.index('"')
    raw = spelling[start + 1 : -1].encode("utf-8", "surrogateescape")
    if width == 1:
        return _ESCAPE.sub(_narrow_escape, raw)
    units: list[int] = []
    position = 0
    while position < len(raw):
        match = _ESCAPE.match(raw, position)
        if match is not None:
            if match.group() != b'""':
                units += _units(_escape_value(match), width)
            position = match.end()
            continue
        length = 1
        while position + length < len(raw) and raw[position + length] & 0xC0 == 0x80:
            length += 1
        character = raw[position : position + length].decode("utf-8", "replace")
        units += _units(ord(character), width)
        position += length
    mask = (1 << (8 * width)) - 1
    return b"".join((unit & mask).to_bytes(width, "little") for unit in units)


def _units(value: int, width: int) -> list[int]:
    """A character in code units: beyond 16 bits UTF-16 needs a surrogate pair."""
    if width == 2 and value > 0xFFFF:
        value -= 0x10000
        return [0xD800 | value >> 10, 0xDC00 | value & 0x3FF]
    return [value]


def _escape_value(match: re.Match[bytes]) -> int:
    octal, hexadecimal, short, long, simple = match.groups()
    if octal is not None:
        return int(octal, 8)
    for digits in (hexadecimal, short, long):
        if digits is not None:
            return int(digits, 16)
    return _SIMPLE.get(simple, simple[0])


def _narrow_escape(match: re.Match[bytes]) -> bytes:
    if match.group() == b'""':
        return b""
    value = _escape_value(match)
    if match.group(3) is not None or match.group(4) is not None:
        return chr(value).encode("utf-8")
    return bytes([value & 0xFF])
