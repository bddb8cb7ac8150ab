"""Values of options: those of a command line are checked when it is read, those of a Python program
here, in words that name the option."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from plait.data import fields
from plait.errors import InputError

if TYPE_CHECKING:
    from plait.portfolio.subject import Subject

_EXPECTED = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "True or False",
    "tuple[str, ...]": "texts",
    "Mapping[str, Any]": "options by their names",
}
_YEARS = frozenset({"89", "90", "99", "9x", "11", "1x", "17", "18", "2x", "23", "2y"})
_STANDARDS = frozenset({"1990", "199409", "1999", "199x", "2011", "201x", "2017", "2018", "2024"})


def check_kinds(options: Subject) -> None:
    """InputError for a field whose value is not of the kind that it is declared with."""
    for item in fields(options):
        value = getattr(options, item.name)
        kind = str(item.type).removesuffix(" | None")
        if value is None and kind != item.type:
            continue
        if not _is_of_kind(value, kind):
            raise InputError(f"{item.name} {value!r}: {_EXPECTED[kind]} expected")


def _is_of_kind(value: Any, kind: str) -> bool:
    match kind:
        case "str":
            return isinstance(value, str)
        case "bool":
            return isinstance(value, bool)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "float":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "Mapping[str, Any]":
            return isinstance(value, Mapping)
    return isinstance(value, tuple) and all(isinstance(item, str) for item in value)


def check_choice(name: str, value: str | None, known: Collection[str]) -> None:
    if value is not None and value not in known:
        raise InputError(f"{name} '{value}': known are {', '.join(known)}")


def check_positive(name: str, value: float | None, limit: float = float("inf")) -> None:
    if value is not None and not 0 < value < limit:
        too_much = "" if limit == float("inf") else f", less than {limit:g}"
        raise InputError(f"{name} {value}: must be positive{too_much}")


def is_dialect(text: str) -> bool:
    """Whether it names a C standard in the words of compilers, such as c11 or gnu17."""
    if text.startswith("iso9899:"):
        return text.removeprefix("iso9899:") in _STANDARDS
    year = text.removeprefix("gnu" if text.startswith("gnu") else "c")
    return year != text and year in _YEARS
