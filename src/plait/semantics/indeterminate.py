"""Indeterminate values: what an uninitialised variable or memory holds until it matters.

A value is chosen (as an input) when an indeterminate one is used: in arithmetic, a comparison, a
branch, an address. Moving it does not use it where a value is only passed on: between registers of
a frame, as a result, in copies of whole structs, and anywhere inside the library (memcpy, the value
that a thread returns). Elsewhere a store, a load and an argument are uses, so that all that the
program can compare afterwards agrees on the value: what is loaded is then also fixed in memory.

Masks say which bytes have a value: 0, one that is known; 1, none yet; 2, none yet, and a load that
only passed it on has copied it, or it is such a copy. What is chosen for a byte with a 2 would have
to be the value of all its copies, which nobody keeps track of: to use it is a limit.

Within a frame, registers with equal tags hold the same unknown value; a tag is new in its frame
when it is made. Values passed to another frame get a tag of that frame.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from plait.model.unset import Unset

Tag = tuple[str, int]

UNKNOWN, COPIED = b"\1", b"\2"


class UsedIndeterminate(Exception):
    """An indeterminate value was used: it must be chosen, and the action executed again."""


def _used(*operands: object) -> NoReturn:
    raise UsedIndeterminate


class Indeterminate:
    """Bytes of which those with a 0 in the mask are determined. `name` is for people and `unset`
    for a replay; neither is part of the state."""

    __slots__ = ("data", "mask", "name", "tag", "unset")

    def __init__(self, data: bytes, mask: bytes, tag: Tag, name: str, unset: Unset | None) -> None:
        self.data = data
        self.mask = mask
        self.tag = tag
        self.name = name
        self.unset = unset

    def __eq__(self, other: object) -> bool:
        # Of states only: generated code compares with a sign before its operands.
        return isinstance(other, Indeterminate) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[bytes, bytes, Tag]:
        return self.data, self.mask, self.tag

    __pos__ = __neg__ = __invert__ = __abs__ = __bool__ = __int__ = __float__ = __index__ = _used
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _used
    __truediv__ = __rtruediv__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _used
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __lt__ = __le__ = __gt__ = __ge__ = _used


def fresh(
    values: Iterable[Any],
    data: bytes,
    mask: bytes,
    base: str,
    name: str = "",
    unset: Unset | None = None,
) -> Indeterminate:
    """A new unknown value for a frame with these registers; `base` is the first part of its tag."""
    taken = {
        value.tag[1]
        for value in values
        if value.__class__ is Indeterminate and value.tag[0] == base
    }
    number = 0
    while number in taken:
        number += 1
    hidden = bytes(0 if unknown else byte for byte, unknown in zip(data, mask, strict=True))
    return Indeterminate(hidden, mask, (base, number), name or base, unset)
