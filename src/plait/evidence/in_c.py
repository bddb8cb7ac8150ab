"""Terms as C expressions with exactly the same value, where C has one for them.

Arithmetic in C is undefined where it overflows, that of terms is modulo 2**width: sums and products
are written with casts to unsigned types and back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

# A row of a certificate: operator, width, operands, parameter, name of a variable.
TermRow = Sequence[Any]

_TYPES = {8: "char", 16: "short", 32: "int", 64: "long long"}
_WRAPPING = {"add": "+", "sub": "-", "mul": "*"}
_BITWISE = {"and": "&", "or": "|", "xor": "^"}
_CONNECTIVES = {"and": "&&", "or": "||", "xor": "!="}


class Name(NamedTuple):
    """What a variable of a term is called, and whether C takes its value as signed."""

    text: str
    is_signed: bool


class _Text(NamedTuple):
    """`is_signed` is None for a constant, which can be written in both ways."""

    text: str
    is_signed: bool | None
    is_atom: bool
    value: int = 0


class InC:
    """Translates the terms of a table. `name` says how a variable is called, None if the reader of
    the expression cannot know it."""

    def __init__(self, table: Sequence[TermRow], name: Callable[[str], Name | None]) -> None:
        self._table = table
        self._name = name
        self._known: dict[int, _Text | None] = {}

    def condition(self, term: int) -> str | None:
        """A term of width 1 as a condition; None if it cannot be said."""
        found = self._text(term)
        return None if found is None else found.text

    def _text(self, term: int) -> _Text | None:
        if term not in self._known:
            self._known[term] = None  # terms have no cycles
            self._known[term] = self._translated(term)
        return self._known[term]

    def _translated(self, term: int) -> _Text | None:
        operator, width, operands, parameter, name = self._table[term]
        if operator == "constant":
            if width == 1:
                return _Text(str(parameter), None, True, parameter)
            return _Text("", None, True, parameter)
        if operator == "variable":
            known = self._name(name)
            return None if known is None else _Text(known.text, known.is_signed, True)
        if operator in ("eq", "ult", "slt"):
            return self._comparison(operator, operands, is_negated=False)
        if operator == "not" and width == 1:
            return self._negation(operands[0])
        if self._is_sign(term):
            return self._sign(operands[0], is_negated=False)
        if width == 1 and operator in _CONNECTIVES:
            return self._connected(_CONNECTIVES[operator], operands)
        if operator == "ite":
            return self._choice(operands, width)
        if width not in _TYPES:
            return None
        if operator in _WRAPPING or operator in _BITWISE:
            symbol = _WRAPPING.get(operator) or _BITWISE[operator]
            parts = [self._as(item, is_signed=False) for item in operands]
            if None in parts:
                return None
            return _Text(f" {symbol} ".join(map(str, parts)), False, False)
        if operator == "neg":
            inner = self._as(operands[0], is_signed=False)
            return None if inner is None else _Text(f"-{inner}", False, False)
        if operator in ("zero_extend", "sign_extend"):
            return self._extended(operands[0], width, is_signed=operator == "sign_extend")
        if operator == "extract" and parameter == 0:
            inner_text = self._text(operands[0])
            if inner_text is None or inner_text.is_signed is None:
                return None
            return _Text(f"({_type(width, False)}){_atom(inner_text)}", False, True)
        return None

    def _width(self, term: int) -> int:
        return int(self._table[term][1])

    def _as(self, term: int, *, is_signed: bool) -> str | None:
        """The value of a term as that of an atom of the signed or unsigned type of its width."""
        found, width = self._text(term), self._width(term)
        if found is None:
            return None
        if found.is_signed is None:
            return _constant(found.value, width, is_signed)
        if width == 1:
            return _atom(found)
        if width not in _TYPES:
            return None
        # Types narrower than int are promoted to int, whatever they were.
        if found.is_signed == is_signed and (found.is_atom or width >= 32):
            return _atom(found)
        return f"({_type(width, is_signed)}){_atom(found)}"

    def _comparison(self, operator: str, operands: list[int], *, is_negated: bool) -> _Text | None:
        left, right = (self._text(item) for item in operands)
        if left is None or right is None:
            return None
        if operator == "eq":
            known = [item.is_signed for item in (left, right) if item.is_signed is not None]
            is_signed = bool(known) and all(known)
        else:
            is_signed = operator == "slt"
        one = self._as(operands[0], is_signed=is_signed)
        other = self._as(operands[1], is_signed=is_signed)
        if one is None or other is None:
            return None
        symbols = ("!=", ">=") if is_negated else ("==", "<")
        symbol = symbols[0] if operator == "eq" else symbols[1]
        return _Text(f"{one} {symbol} {other}", True, False)

    def _negation(self, term: int) -> _Text | None:
        operator, _, operands, _, _ = self._table[term]
        if operator in ("eq", "ult", "slt"):
            return self._comparison(operator, operands, is_negated=True)
        if self._is_sign(term):
            return self._sign(operands[0], is_negated=True)
        found = self._text(term)
        return None if found is None else _Text(f"!{_atom(found)}", True, True)

    def _is_sign(self, term: int) -> bool:
        """The highest bit of a value: that it is negative."""
        operator, width, operands, parameter, _ = self._table[term]
        if operator != "extract" or width != 1:
            return False
        return bool(parameter == self._width(operands[0]) - 1)

    def _sign(self, term: int, *, is_negated: bool) -> _Text | None:
        value = self._as(term, is_signed=True)
        return (
            None
            if value is None
            else _Text(f"{value} {'>=' if is_negated else '<'} 0", True, False)
        )

    def _connected(self, symbol: str, operands: list[int]) -> _Text | None:
        parts = [self._text(item) for item in operands]
        if None in parts:
            return None
        return _Text(f" {symbol} ".join(_atom(item) for item in parts if item), True, False)

    def _choice(self, operands: list[int], width: int) -> _Text | None:
        condition = self._text(operands[0])
        yes, no = (self._as(item, is_signed=False) for item in operands[1:])
        if condition is None or yes is None or no is None:
            return None
        return _Text(f"{_atom(condition)} ? {yes} : {no}", False, False)

    def _extended(self, term: int, width: int, *, is_signed: bool) -> _Text | None:
        inner = self._as(term, is_signed=is_signed)
        if inner is None:
            return None
        return _Text(f"({_type(width, is_signed)}){inner}", is_signed, True)


def _type(width: int, is_signed: bool) -> str:
    prefix = ("signed " if width == 8 else "") if is_signed else "unsigned "
    return prefix + _TYPES[width]


def _constant(value: int, width: int, is_signed: bool) -> str:
    if is_signed and width > 1 and value >> (width - 1):
        value -= 1 << width
        if value == -(1 << (width - 1)) and width >= 32:
            return f"({value + 1}{'LL' if width > 32 else ''} - 1)"
    suffix = "" if is_signed or width < 32 else "U"
    if width > 32 and abs(value) >> 31:
        suffix += "LL"
    return f"{value}{suffix}" if value >= 0 else f"({value}{suffix})"


def _atom(text: _Text) -> str:
    return text.text if text.is_atom else f"({text.text})"
