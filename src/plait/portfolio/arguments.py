"""The options that say what a verdict is about, as arguments that can be given again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from plait.data import replace
from plait.model.main_arguments import LARGEST
from plait.portfolio.subject import Subject

_LISTS = {
    "property": "--property",
    "error_function": "--error-function",
    "include_dirs": "-I",
    "defines": "-D",
    "undefines": "-U",
    "force_includes": "-include",
    "reach": "--reach",
}
_VALUES = {
    "prp": "--prp",
    "std": "--std",
    "data_model": "--data-model",
    "entry": "--entry",
    "compile_commands": "--compile-commands",
    "args": "--args",
    "argument_count": "--argument-count",
    "argument_bytes": "--argument-bytes",
    "monitor": "--monitor",
    "memory_model": "--memory-model",
}


_SIZES = {"argument_count": LARGEST.count, "argument_bytes": LARGEST.bytes}


def with_sizes_of(subject: Subject, arguments: Sequence[str]) -> Subject:
    """The same with as much of main's arguments as a verification came to need, unless it says
    itself how much. This weakens no claim: whatever the sizes are, a proof has to show that nobody
    looks at more."""
    defaults = Subject()
    given = dict(pairwise(arguments))
    found: dict[str, Any] = {}
    for name, most in _SIZES.items():
        value = given.get(_VALUES[name], "")
        is_size = value.isascii() and value.isdigit() and len(value) < 6 and 0 < int(value) <= most
        if is_size and getattr(subject, name) == getattr(defaults, name):
            found[name] = int(value)
    return replace(subject, **found)


def as_arguments(subject: Subject) -> list[str]:
    """The options of properties and of the front end that differ from the defaults. A command
    that has no such option does what is the default elsewhere."""
    arguments: list[str] = []
    for name, option in _LISTS.items():
        for value in getattr(subject, name, ()):
            arguments += [option, value]
    defaults = Subject()
    for name, option in _VALUES.items():
        value = getattr(subject, name, getattr(defaults, name))
        if value != getattr(defaults, name):
            arguments += [option, str(value)]
    if not subject.spurious_wakeups:
        arguments.append("--no-spurious-wakeups")
    if subject.assume_defined:
        arguments.append("--assume-defined")
    if subject.failing_calls:
        arguments.append("--failing-calls")
    if not subject.signals:
        arguments.append("--no-signals")
    return arguments
