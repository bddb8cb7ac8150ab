"""Properties as data: what a verdict is about, from options or from SV-COMP .prp files."""

from __future__ import annotations

import re
from enum import Enum

from plait.data import dataclass
from plait.errors import Diagnostic, InputError
from plait.model.actions import CheckKind


class Property(Enum):
    ASSERTIONS = "assertions"
    UNREACH_CALL = "unreach-call"
    NO_DATA_RACE = "no-data-race"
    NO_DEADLOCK = "no-deadlock"
    NO_OVERFLOW = "no-overflow"
    VALID_MEMSAFETY = "valid-memsafety"
    LOCK_MISUSE = "lock-misuse"


_CHECKED_BY: dict[Property, frozenset[CheckKind]] = {
    Property.ASSERTIONS: frozenset({CheckKind.ASSERTION}),
    Property.UNREACH_CALL: frozenset({CheckKind.UNREACH_CALL}),
    Property.NO_OVERFLOW: frozenset({CheckKind.OVERFLOW}),
    Property.VALID_MEMSAFETY: frozenset({CheckKind.VALID_DEREF, CheckKind.VALID_FREE}),
    Property.LOCK_MISUSE: frozenset({CheckKind.LOCK_MISUSE}),
}


@dataclass(slots=True, frozen=True)
class Specification:
    """The properties to verify; `error_functions` are those of unreach-call."""

    properties: frozenset[Property] = frozenset({Property.ASSERTIONS})
    error_functions: frozenset[str] = frozenset()

    def __contains__(self, item: Property) -> bool:
        return item in self.properties

    @property
    def checks(self) -> frozenset[CheckKind]:
        """The kinds of Check that the model must contain."""
        kinds = {CheckKind.UNDEFINED}
        for item in self.properties:
            kinds |= _CHECKED_BY.get(item, frozenset())
        return frozenset(kinds)

    def __str__(self) -> str:
        return ", ".join(sorted(item.value for item in self.properties))


_CHECK_LINE = re.compile(r"CHECK\(init\((?P<entry>\w+)\(\)\),LTL\((?P<formula>.*)\)\)", re.ASCII)
_CALL = re.compile(r"G!call\((\w+)\(\)\)", re.ASCII)
_FORMULAS = {
    "G!data-race": Property.NO_DATA_RACE,
    "G!overflow": Property.NO_OVERFLOW,
    "G!deadlock": Property.NO_DEADLOCK,
    "Gvalid-free": Property.VALID_MEMSAFETY,
    "Gvalid-deref": Property.VALID_MEMSAFETY,
    "Gvalid-memtrack": Property.VALID_MEMSAFETY,
    "Gassert": Property.ASSERTIONS,
    "G!lock-misuse": Property.LOCK_MISUSE,
}


def from_names(names: list[str], error_functions: list[str] | None = None) -> Specification:
    """A specification from option values such as `assertions` or `unreach-call`."""
    known = {item.value: item for item in Property}
    for name in names:
        if name not in known:
            raise InputError(f"unknown property '{name}' (known: {', '.join(known)})")
    functions = frozenset(error_functions or ["reach_error", "__VERIFIER_error"])
    chosen = frozenset(known[name] for name in names) or frozenset({Property.ASSERTIONS})
    return Specification(chosen, functions if Property.UNREACH_CALL in chosen else frozenset())


def from_prp(text: str, path: str) -> tuple[Specification, str]:
    """The specification and the entry function that an SV-COMP .prp file names."""
    properties: set[Property] = set()
    functions: set[str] = set()
    entries: set[str] = set()
    for number, line in enumerate(text.splitlines(), 1):
        squeezed = re.sub(r"\s+", "", line)
        if not squeezed or squeezed.startswith(("//", "#")):
            continue
        match = _CHECK_LINE.fullmatch(squeezed)
        if match is None:
            message = "not of the form CHECK( init(main()), LTL(...) )"
            raise InputError(Diagnostic(message, path, number, 0, line))
        entries.add(match["entry"])
        formula = match["formula"]
        call = _CALL.fullmatch(formula)
        if call is not None:
            properties.add(Property.UNREACH_CALL)
            functions.add(call[1])
        elif formula in _FORMULAS:
            properties.add(_FORMULAS[formula])
        else:
            raise InputError(Diagnostic(f"unknown property '{formula}'", path, number, 0, line))
    if not properties:
        raise InputError(Diagnostic("no property in this file", path))
    if len(entries) > 1:
        raise InputError(Diagnostic("the properties name different entry functions", path))
    return Specification(frozenset(properties), frozenset(functions)), entries.pop()
