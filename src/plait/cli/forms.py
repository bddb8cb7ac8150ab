"""The forms in which a result can be written to files, all made from the one result object."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from plait.cli.output import Console, save
from plait.errors import InputError

if TYPE_CHECKING:
    from plait.evidence.result import Result

_OPTIONS = ("json", "html", "sarif", "junit", "witness")


def forms_wanted(options: argparse.Namespace) -> list[str]:
    return [name for name in _OPTIONS if getattr(options, name) is not None]


def are_wanted(options: argparse.Namespace) -> bool:
    return bool(forms_wanted(options))


def save_forms(options: argparse.Namespace, console: Console, result: Result) -> bool:
    """Write the files that the options ask for; whether all could be written."""
    written = []
    for name in _OPTIONS:
        path = getattr(options, name)
        if path is not None:
            try:
                text = _text(name, options, result)
            except InputError as error:  # this result has no such form
                console.error(f"--{name} {path}: not written: {error}")
                continue
            written.append(save(console, f"--{name}", path, text))
            if name == "html" and written[-1]:
                console.line(f"a page to step through: {path}")
    return all(written)


def _text(name: str, options: argparse.Namespace, result: Result) -> str:
    match name:
        case "json":
            from plait.evidence.stored import to_text

            return to_text(result)
        case "html":
            from plait.report.html import to_html

            return to_html(result)
        case "sarif":
            from plait.report.sarif import to_sarif

            return to_sarif(result)
        case "junit":
            from plait.report.junit import to_junit

            return to_junit(result)
        case "witness":
            from plait.evidence.witness.write import to_witness

            return to_witness(result, options.witness_format)
    raise AssertionError(name)
