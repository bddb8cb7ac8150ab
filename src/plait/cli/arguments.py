"""The options that say what a verdict is about, as arguments that can be given again."""

from __future__ import annotations

import argparse

_LISTS = {
    "property": "--property",
    "error_function": "--error-function",
    "include_dirs": "-I",
    "defines": "-D",
    "undefines": "-U",
    "force_includes": "-include",
}
_VALUES = {
    "prp": ("--prp", None),
    "std": ("--std", "gnu17"),
    "data_model": ("--data-model", "LP64"),
    "entry": ("--entry", None),
    "compile_commands": ("--compile-commands", None),
}


def as_arguments(options: argparse.Namespace) -> list[str]:
    """The options of properties and of the front end that differ from the defaults."""
    arguments: list[str] = []
    for name, option in _LISTS.items():
        for value in getattr(options, name):
            arguments += [option, value]
    for name, (option, default) in _VALUES.items():
        value = getattr(options, name)
        if value != default:
            arguments += [option, value]
    if not options.spurious_wakeups:
        arguments.append("--no-spurious-wakeups")
    return arguments
