"""From the options of a command line to what the API is asked for."""

from __future__ import annotations

import argparse
from typing import Any

from plait.data import fields
from plait.engines import registry
from plait.errors import InputError
from plait.portfolio.options import Options
from plait.portfolio.subject import Subject


def subject_of(options: argparse.Namespace) -> Subject:
    return Subject(**_values(options, Subject))


def options_of(options: argparse.Namespace, **others: Any) -> Options:
    given = vars(options)
    of_engines = {
        option.name: given[option.name]
        for _, option in registry.options()
        if given.get(option.name) is not None
    }
    return Options(**{**_values(options, Options), "engine_options": of_engines, **others})


def _values(options: argparse.Namespace, kind: type[Subject]) -> dict[str, Any]:
    given = vars(options)
    if given.get("memory_model") not in (None, "sc") and given.get("witness") is not None:
        raise InputError("--witness: no witness can say what happens under a weak memory model")
    values = {item.name: given[item.name] for item in fields(kind) if item.name in given}
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
