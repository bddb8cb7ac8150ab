"""Properties as data: what a verdict is about, from options or from SV-COMP .prp files."""

from __future__ import annotations

import re
from enum import Enum

from plait.data import dataclass
from plait.errors import Diagnostic, InputError
from plait.model.actions import CheckKind
from plait.model.memory_model import MemoryModel


class Property(Enum):
    ASSERTIONS = "assertions"
    UNREACH_CALL = "unreach-call"
    NO_DATA_RACE = "no-data-race"
    NO_DEADLOCK = "no-deadlock"
    NO_OVERFLOW = "no-overflow"
    VALID_MEMSAFETY = "valid-memsafety"
    VALID_ACCESS = "valid-access"
    LOCK_MISUSE = "lock-misuse"
    NO_UNDEFINED = "no-undefined"
    MONITOR = "monitor"  # a file says what is watched, so it is no part of everything


# What is wrong in any program, and checked where no property is named.
DEFAULT = frozenset(
    {
        Property.ASSERTIONS,
        Property.VALID_ACCESS,
        Property.LOCK_MISUSE,
        Property.NO_UNDEFINED,
    }
)
# Memory safety is valid accesses, and no leaks.
EVERYTHING = frozenset(Property) - {Property.VALID_ACCESS, Property.MONITOR}
ALL = "all"
LEAK = "valid-memtrack"


_CHECKED_BY: dict[Property, frozenset[CheckKind]] = {
    Property.ASSERTIONS: frozenset({CheckKind.ASSERTION}),
    Property.UNREACH_CALL: frozenset({CheckKind.UNREACH_CALL}),
    Property.NO_OVERFLOW: frozenset({CheckKind.OVERFLOW}),
    Property.VALID_MEMSAFETY: frozenset({CheckKind.VALID_DEREF, CheckKind.VALID_FREE}),
    Property.LOCK_MISUSE: frozenset({CheckKind.LOCK_MISUSE}),
    Property.MONITOR: frozenset({CheckKind.MONITOR}),
}


@dataclass(slots=True, frozen=True)
class Specification:
    """The properties to verify; `error_functions` are those of unreach-call. `assumes_defined`:
    executions that do something undefined do not exist. `reuses_locals`: it is known of the program
    that no pointer to a local outlives it, so that its memory can be used again unnoticed.
    `memory_model`: whose executions are meant."""

    properties: frozenset[Property] = frozenset({Property.ASSERTIONS})
    error_functions: frozenset[str] = frozenset()
    assumes_defined: bool = False
    reuses_locals: bool = False
    memory_model: MemoryModel = MemoryModel.SC

    def __contains__(self, item: Property) -> bool:
        return item in self.properties

    @property
    def checks(self) -> frozenset[CheckKind]:
        """The kinds of Check that the model must contain."""
        kinds = {CheckKind.UNDEFINED}
        for item in self.properties:
            kinds |= _CHECKED_BY.get(item, frozenset())
        return frozenset(kinds)

    @property
    def checks_accesses(self) -> bool:
        """Whether an invalid access or free is a violation, and not only undefined."""
        return not self.properties.isdisjoint((Property.VALID_MEMSAFETY, Property.VALID_ACCESS))

    @property
    def finds_leaks(self) -> bool:
        return Property.VALID_MEMSAFETY in self

    def violated_by(self, kind: CheckKind) -> str | None:
        """What a Check of this kind violates when it fails; None if that is not asked for."""
        if kind is CheckKind.UNDEFINED:
            return Property.NO_UNDEFINED.value if Property.NO_UNDEFINED in self else None
        if kind in (CheckKind.VALID_DEREF, CheckKind.VALID_FREE):
            return kind.value if self.checks_accesses else None
        return kind.value if kind in self.checks else None

    def has_part(self, violated: str) -> bool:
        """Whether it is about what a violation names: a property, or a part of one."""
        if violated in (CheckKind.VALID_DEREF.value, CheckKind.VALID_FREE.value):
            return self.checks_accesses
        if violated == LEAK:
            return self.finds_leaks
        return any(item.value == violated for item in self.properties)

    def with_undefined(self) -> Specification:
        """The same, and that nothing undefined is done."""
        more = {Property.VALID_ACCESS, Property.NO_UNDEFINED}
        return Specification(
            self.properties | more, self.error_functions, memory_model=self.memory_model
        )

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
    "Gvalid-access": Property.VALID_ACCESS,
    "G!undefined": Property.NO_UNDEFINED,
}


def from_names(names: list[str], error_functions: list[str] | None = None) -> Specification:
    """A specification from option values such as `assertions` or `unreach-call`; without any of
    them, of what is wrong in any program."""
    named = [item for item in Property if item is not Property.MONITOR]
    known = {item.value: frozenset({item}) for item in named} | {ALL: EVERYTHING}
    for name in names:
        if name not in known:
            raise InputError(f"unknown property '{name}' (known: {', '.join(known)})")
    functions = frozenset(error_functions or ["reach_error", "__VERIFIER_error"])
    chosen = frozenset[Property]().union(*(known[name] for name in names)) or DEFAULT
    return Specification(chosen, functions if Property.UNREACH_CALL in chosen else frozenset())


def assuming_defined(specification: Specification, *, is_default: bool) -> Specification:
    """The same about executions that do nothing undefined; what is no question then is left out of
    the default, and a mistake otherwise."""
    empty = frozenset({Property.VALID_ACCESS, Property.VALID_MEMSAFETY, Property.NO_UNDEFINED})
    asked = specification.properties & empty
    if asked and not is_default:
        names = ", ".join(sorted(item.value for item in asked))
        raise InputError(f"--assume-defined leaves nothing to check of {names}")
    rest = specification.properties - empty
    return Specification(
        rest,
        specification.error_functions,
        assumes_defined=True,
        memory_model=specification.memory_model,
    )


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
