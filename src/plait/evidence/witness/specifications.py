"""Properties as the formulas that witnesses and SV-COMP write, and back."""

from __future__ import annotations

import re

from plait.errors import Diagnostic, InputError
from plait.model.properties import Specification, from_prp
from plait.model.property_names import MONITOR_NAME

_FORMULAS = {
    "assertions": ("G assert",),
    "no-data-race": ("G ! data-race",),
    "no-deadlock": ("G ! deadlock",),
    "no-overflow": ("G ! overflow",),
    "valid-memsafety": ("G valid-free", "G valid-deref", "G valid-memtrack"),
    "valid-access": ("G valid-access",),
    "lock-misuse": ("G ! lock-misuse",),
    "no-undefined": ("G ! undefined",),
}
_MEMORY_SAFETY = ("valid-free", "valid-deref", "valid-memtrack")
_CHECK = re.compile(r"CHECK\(init\((\w+)\(\)\),LTL\((.*?)\)\)(?=CHECK|$)", re.ASCII)


def formulas(entry: str, properties: list[str], error_functions: list[str]) -> str:
    """The specification as a text: one CHECK for each formula."""
    found: list[str] = []
    for name in properties:
        if name == "unreach-call":
            found += [f"G ! call({function}())" for function in error_functions or ["reach_error"]]
        else:
            known = _FORMULAS.get("valid-memsafety" if name in _MEMORY_SAFETY else name)
            if name == MONITOR_NAME:
                raise InputError("there is no formula for a monitor in a witness")
            if known is None:
                raise InputError(f"there is no property {name[:100]!r}")
            found += known
    return " ".join(f"CHECK( init({entry}()), LTL({item}) )" for item in dict.fromkeys(found))


def parsed(text: str, path: str) -> tuple[Specification, str]:
    """The specification and the entry function that a text names. A formula without its CHECK
    counts as one: `G ! data-race`."""
    squeezed = "".join(text.split())
    checks = [match[0] for match in _CHECK.finditer(squeezed)]
    if not checks:
        checks = [f"CHECK(init(main()),LTL({squeezed}))"]
    elif sum(map(len, checks)) != len(squeezed):
        raise InputError(Diagnostic(f"the specification '{text[:200]}' cannot be read", path))
    return from_prp("\n".join(checks), path)
