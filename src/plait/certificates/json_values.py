"""Typed access to parsed JSON. Every complaint says where in the document the mistake is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, NoReturn

from plait.errors import InputError

# Pages, addresses, locations, indices: whatever is larger is no number of a real certificate.
LARGEST = (1 << 64) - 1
_DEEPEST = 64
_NESTING = {"[": 1, "{": 1, "]": -1, "}": -1}
_NO_BRACKETS = re.compile(r"[^\[\]{}]+")
_DECIMAL = re.compile(r"(?:0|[1-9][0-9]{0,19})", re.ASCII)


class CertificateError(InputError):
    """The file is no well-formed certificate."""


def parse(text: str) -> Value:
    """The document as a value. A name that occurs twice in an object would leave it to the reader
    which of the two counts, so that is a mistake too."""
    # The parser recurses on the stack of the process, which a limit for Python's own frames does
    # not protect. Brackets inside strings count too: there are none in a real certificate.
    brackets = map(_NESTING.__getitem__, _NO_BRACKETS.sub("", text))
    if max(accumulate(brackets), default=0) > _DEEPEST:
        raise CertificateError("certificate: nested too deeply")
    try:
        data = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except ValueError as error:
        raise CertificateError(f"certificate: not JSON: {error}") from None
    return Value(data, None, "certificate")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise CertificateError(f"certificate: the name {_shown(twice)} occurs twice in an object")
    return found


def _no_constant(name: str) -> NoReturn:
    raise CertificateError(f"certificate: {name} is no number of JSON")


def _shown(data: object) -> str:
    text = repr(data) if not isinstance(data, int) or abs(data) <= LARGEST else "a huge number"
    return text if len(text) <= 40 else text[:37] + "..."


class Value:
    """A JSON value and the place where it stands, which is put into words only to complain."""

    __slots__ = ("_key", "_outer", "data")

    def __init__(self, data: Any, outer: Value | None, key: str | int) -> None:
        self.data = data
        self._outer = outer
        self._key = key

    @property
    def where(self) -> str:
        keys: list[str] = []
        value: Value | None = self
        while value is not None:
            key = value._key
            keys.append(f"[{key}]" if isinstance(key, int) else f".{key[:40]}")
            value = value._outer
        return "".join(reversed(keys)).removeprefix(".")

    def fail(self, what: str) -> NoReturn:
        raise CertificateError(f"{self.where}: {what}")

    def _expected(self, what: str) -> NoReturn:
        self.fail(f"{what} expected, not {_shown(self.data)}")

    @property
    def is_null(self) -> bool:
        return self.data is None

    @property
    def is_number(self) -> bool:
        return type(self.data) is int

    def number(self, highest: int = LARGEST) -> int:
        if type(self.data) is not int:
            self._expected("a number")
        if not 0 <= self.data <= highest:
            self.fail(f"{_shown(self.data)} is out of range")
        return int(self.data)

    def text(self) -> str:
        if type(self.data) is not str:
            self._expected("a string")
        return str(self.data)

    def truth(self) -> bool:
        if type(self.data) is not bool:
            self._expected("true or false")
        return bool(self.data)

    def items(self) -> list[Value]:
        if type(self.data) is not list:
            self._expected("a list")
        return [Value(item, self, index) for index, item in enumerate(self.data)]

    def exactly(self, count: int) -> list[Value]:
        found = self.items()
        if len(found) != count:
            self.fail(f"a list of {count} items expected, not of {len(found)}")
        return found

    def entries(self) -> Iterator[tuple[str, Value]]:
        if type(self.data) is not dict:
            self._expected("an object")
        for name, item in self.data.items():
            yield name, Value(item, self, name)

    def field(self, name: str) -> Value:
        if type(self.data) is not dict:
            self._expected("an object")
        if name not in self.data:
            self.fail(f"'{name}' is missing")
        return Value(self.data[name], self, name)

    def has(self, name: str) -> bool:
        """Whether there is a field that may be missing, and is not null."""
        return type(self.data) is dict and self.data.get(name) is not None

    def optional(self, name: str) -> list[Value]:
        """The items of a list that may be missing."""
        if type(self.data) is dict and name not in self.data:
            return []
        return self.field(name).items()

    def only(self, *names: str) -> None:
        """A name that the reader does not know might be meant to change what the rest says."""
        for name, item in self.entries():
            if name not in names:
                item.fail("nothing of that name is known here")

    def numbered(self) -> Iterator[tuple[int, Value]]:
        """The entries of an object whose names are numbers."""
        for name, item in self.entries():
            yield decimal(name, item), item


def decimal(text: str, at: Value) -> int:
    if not _DECIMAL.fullmatch(text) or int(text) > LARGEST:
        at.fail(f"{_shown(text)} is no number")
    return int(text)
