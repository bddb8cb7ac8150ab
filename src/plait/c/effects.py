"""What functions of the system do that plait knows no more about than POSIX says.

A row of `library/effects.txt` says what a call may return and which memory it accesses. What it
writes there are inputs. Arguments count from 1. Strings and single objects that a `const` pointer
leads to are read without being mentioned.
"""

from __future__ import annotations

import os
import re
from enum import Enum

from plait.c import toolchain
from plait.c.catalogue import read_list
from plait.data import dataclass


class Amount(Enum):
    """What tells how much memory is accessed."""

    FIXED = "a number"
    ARGUMENT = "#"  # the value of an argument
    POINTED = "*"  # the integer that an argument points to, before the call
    RESULT = "result"


class Access(Enum):
    WRITES = "writes"
    READS = "reads"
    TEXT = "text"  # writes a string that fits


@dataclass(slots=True, frozen=True)
class Effect:
    """An access to what argument `argument` points to, if that is not a null pointer."""

    access: Access
    argument: int
    amount: Amount
    number: int  # of elements or bytes, or of the argument that tells it
    in_bytes: bool
    times: int = 0  # an argument that the value of argument `number` is multiplied with


class ResultKind(Enum):
    ANY = "any"
    STATUS = "status"  # 0, or -1 and errno
    FROM_MINUS_ONE = "at least -1"
    NOT_NEGATIVE = "at least 0"
    COUNT = "count"  # from -1 to the value of an argument
    UP_TO = "up to"  # from 0 to the value of an argument
    BELOW = "below"  # from 0 to less than an argument's value; 0 if that is 0
    ARGUMENT = "argument"  # a pointer that was passed, or null
    STRING = "string"  # one of the library
    STRING_OR_NULL = "string or null"
    GIVEN_STRING = "given string"  # or null; it may be from malloc
    UNUSED = "unused"  # nobody looks at it


@dataclass(slots=True, frozen=True)
class Result:
    kind: ResultKind
    argument: int = 0


@dataclass(slots=True, frozen=True)
class SystemFunction:
    result: Result
    effects: tuple[Effect, ...]
    needs: tuple[int, ...] = ()  # arguments that must not be null pointers: else another function
    without: tuple[tuple[int, int], ...] = ()  # arguments, and bits that they must not have
    by_types: bool = False  # what it accesses is told by the types of the arguments

    def mentions(self, argument: int) -> bool:
        return any(effect.argument == argument for effect in self.effects)

    def arguments(self) -> list[int]:
        """All that are mentioned."""
        found = [effect.argument for effect in self.effects] + [*self.needs, self.result.argument]
        found += [argument for argument, _ in self.without]
        found += [effect.times for effect in self.effects]
        return found + [
            effect.number
            for effect in self.effects
            if effect.amount in (Amount.ARGUMENT, Amount.POINTED)
        ]

    @property
    def only_reads(self) -> bool:
        return not self.by_types and all(effect.access is Access.READS for effect in self.effects)

    @property
    def uses_result(self) -> bool:
        """Whether what it accesses depends on the result."""
        return any(
            effect.amount is Amount.RESULT or effect.access is not Access.READS
            for effect in self.effects
        )


_RESULT = re.compile(
    r"(any|status|at least -1|at least 0|count|up to|below|argument|string or null|string)"
    r"(?: (\d+))?"
)
_EFFECT = re.compile(
    r"(writes|reads|text) (\d+)(?: (times|bytes) (?:(\d+)|(#|\*)(\d+)(?: #(\d+))?|(result)))?"
)
_NEEDS = re.compile(r"needs (\d+)")
_WITHOUT = re.compile(r"without (\d+) (\d+)")


def read_effects() -> dict[str, SystemFunction]:
    found: dict[str, SystemFunction] = {}
    path = os.path.join(toolchain.LIBRARY_SOURCES, "effects.txt")
    with open(path, encoding="utf-8") as stream:
        for line in stream:
            if line.strip() and not line.startswith("#"):
                names, result, effects = (part.strip() for part in line.split(":"))
                for name in names.split():
                    found[name] = _function(result, effects)
    return found


def _function(result: str, effects: str) -> SystemFunction:
    match = _RESULT.fullmatch(result)
    assert match is not None, result
    known, needs, without = [], [], []
    if effects == "by types":
        return SystemFunction(Result(ResultKind(match[1])), (), by_types=True)
    for text in filter(None, (part.strip() for part in effects.split(","))):
        needed = _NEEDS.fullmatch(text)
        if needed is not None:
            needs.append(int(needed[1]))
        elif (bits := _WITHOUT.fullmatch(text)) is not None:
            without.append((int(bits[1]), int(bits[2])))
        else:
            known.append(_effect(text))
    kind = Result(ResultKind(match[1]), int(match[2] or 0))
    return SystemFunction(kind, tuple(known), tuple(needs), tuple(without))


def _effect(text: str) -> Effect:
    match = _EFFECT.fullmatch(text)
    assert match is not None, text
    access, argument, unit, fixed, sign, other, times, result = match.groups()
    if result:
        amount, number = Amount.RESULT, 0
    elif sign:
        amount, number = Amount(sign), int(other)
    else:
        amount, number = Amount.FIXED, int(fixed or 1)
    return Effect(Access(access), int(argument), amount, number, unit == "bytes", int(times or 0))


def read_plain_results() -> dict[str, Result]:
    """What functions return that access no memory but what their `const` pointers lead to."""
    found = {}
    for name, result in read_list("no_effect.txt").items():
        match = _RESULT.fullmatch(result or "any")
        assert match is not None, result
        found[name] = Result(ResultKind(match[1]), int(match[2] or 0))
    return found
