"""Names for values that nobody has set, which engines and the interpreter give alike.

Uninitialised locals and memory hold unknown values. An engine chooses them, and so it has to tell
the interpreter which value belongs to what: not by the order in which the values are used, which
the two need not share, but by what has made the bytes, and how often that had happened before.
"""

from __future__ import annotations

from typing import NamedTuple

from plait.model.program import StaticObject


class Maker(NamedTuple):
    """What begins without a value, see the functions below."""

    kind: str
    name: str
    place: int


def local(function: str, slot: int) -> Maker:
    """An object of a frame."""
    return Maker("local", function, slot)


def made_at(function: str, location: int) -> Maker:
    """What the action at a location makes: an allocated object, the value of a variable that was
    never assigned, the result of a call that returns none."""
    return Maker("made", function, location)


def missing_argument(function: str, index: int) -> Maker:
    """A parameter that a call has no argument for."""
    return Maker("argument", function, index)


class Unset(NamedTuple):
    """What a maker has made, in the thread that it ran in; `number` counts from 0 how often it had
    done so there before. Objects without bytes do not count. Static objects belong to thread 0."""

    thread: int
    maker: Maker
    number: int


def of_static(item: StaticObject) -> Unset:
    """A static object that is defined nowhere."""
    return Unset(0, Maker("static", item.name, 0), 0)
