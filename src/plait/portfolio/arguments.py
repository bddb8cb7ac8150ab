"""The options that say what a verdict is about, as arguments that can be given again."""

from __future__ import annotations

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
    "monitor": "--monitor",
    "memory_model": "--memory-model",
}


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
            arguments += [option, value]
    if not subject.spurious_wakeups:
        arguments.append("--no-spurious-wakeups")
    if subject.assume_defined:
        arguments.append("--assume-defined")
    if subject.failing_calls:
        arguments.append("--failing-calls")
    return arguments
