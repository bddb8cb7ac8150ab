"""What every command reads: the property options, the front end's options, and the program."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from plait.errors import Diagnostic, InputError

if TYPE_CHECKING:
    from plait.c.options import FrontEndOptions
    from plait.model.program import Program
    from plait.model.properties import Specification


def specification(options: argparse.Namespace) -> tuple[Specification, str]:
    """The properties that the options name, and the entry function that goes with them."""
    from plait.model.properties import from_names, from_prp

    names = [name for value in options.property for name in value.split(",") if name]
    if options.prp is not None:
        if names or options.error_function:
            raise InputError("--prp excludes --property and --error-function: it names them itself")
        chosen, entry = from_prp(read_text(options.prp), options.prp)
        return chosen, options.entry or entry
    if options.error_function and "unreach-call" not in names:
        names.append("unreach-call")
    return from_names(names, options.error_function), options.entry or "main"


def parts(whole: Specification) -> list[Specification]:
    """What is checked separately. A thread that may wake up at any moment never waits for ever, so
    deadlocks are looked for without spurious wake-ups, all else with them."""
    from plait.model.properties import Property, Specification

    deadlock = frozenset({Property.NO_DEADLOCK})
    others = whole.properties - deadlock
    if Property.NO_DEADLOCK not in whole or not others:
        return [whole]
    return [Specification(others, whole.error_functions), Specification(deadlock)]


def read_text(path: str) -> str:
    """A small text file that an option names."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise InputError(Diagnostic(error.strerror or str(error), path)) from error


def load_program(options: argparse.Namespace, chosen: Specification, entry: str) -> Program:
    from plait.c import load

    return load(options.programs, front_end_options(options, entry), chosen)


def front_end_options(options: argparse.Namespace, entry: str) -> FrontEndOptions:
    from plait.c.options import FrontEndOptions
    from plait.model.types import DataModel

    return FrontEndOptions(
        include_dirs=tuple(options.include_dirs),
        defines=tuple(options.defines),
        undefines=tuple(options.undefines),
        force_includes=tuple(options.force_includes),
        std=options.std,
        data_model=DataModel(options.data_model),
        entry=entry,
        compile_commands=options.compile_commands,
        spurious_wakeups=options.spurious_wakeups,
    )
