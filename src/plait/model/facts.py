"""Facts about a program that hold in all its executions, as one engine tells them to another.

A fact is proved for all schedules and all inputs, relative to the program model: up to where an
execution ends (in a violation, in undefined behaviour, or because it is pruned).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from plait.data import asdict, dataclass, fields
from plait.errors import InputError


@dataclass(slots=True, frozen=True)
class Range:
    """The scalar at `offset` of a static object, read as an integer of `size` bytes, is never
    below `low` nor above `high`. `object` is the name of a `StaticObject`."""

    object: str
    offset: int
    size: int
    signed: bool
    low: int
    high: int

    def __str__(self) -> str:
        place = self.object if self.offset == 0 else f"{self.object}+{self.offset}"
        return f"{self.low} <= {place} <= {self.high}"


@dataclass(slots=True, frozen=True)
class Unreachable:
    """No thread is ever at this location of the function's automaton."""

    function: str
    location: int

    def __str__(self) -> str:
        return f"{self.function} never gets to location {self.location}"


@dataclass(slots=True, frozen=True)
class Rounds:
    """After a loop is entered, control returns to its head at most `most` times before it leaves
    the loop."""

    function: str
    head: int
    most: int

    def __str__(self) -> str:
        return f"the loop at location {self.head} of {self.function}: at most {self.most} rounds"


Fact = Range | Unreachable | Rounds

_KINDS: dict[str, type[Range] | type[Unreachable] | type[Rounds]] = {
    "range": Range,
    "unreachable": Unreachable,
    "rounds": Rounds,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_TYPES: dict[str, type] = {"object": str, "function": str, "signed": bool}


def encode(facts: Iterable[Fact]) -> list[dict[str, Any]]:
    """Facts as rows that JSON can hold."""
    return [{"fact": _NAMES[type(fact)], **asdict(fact)} for fact in facts]


def decode(rows: Iterable[Mapping[str, Any]]) -> list[Fact]:
    """The facts of rows that `encode` made; anything else is an input error."""
    return [_decoded(row) for row in rows]


def _decoded(row: Mapping[str, Any]) -> Fact:
    values = dict(row)
    kind = _KINDS.get(str(values.pop("fact", "")))
    if kind is None or values.keys() != {item.name for item in fields(kind)}:
        raise InputError(f"not a fact: {row!r}")
    for name, value in values.items():
        if type(value) is not _TYPES.get(name, int):
            raise InputError(f"not a fact: {name} is {value!r}")
    return kind(**values)
