"""`plait report`: the forms of a result that `plait verify --json` or `plait explore --json` has
saved, long after the work was done."""

from __future__ import annotations

import argparse

from plait.cli import exits
from plait.cli.forms import save_forms
from plait.cli.output import Console
from plait.cli.printing import print_conditions, print_trace
from plait.portfolio.subject import read_text
from plait.report.characters import one_line


def report(options: argparse.Namespace, console: Console) -> int:
    """Without any form to write, the result is printed."""
    from plait.evidence.stored import from_text

    result = from_text(read_text(options.result), options.result)
    if result.trace:
        print_trace(console, result, verbose=options.verbose)
    print_conditions(console, result)
    console.line(one_line(result.words[-1]) if result.words else f"engine {result.engine}")
    is_written = save_forms(options, console, result)
    console.verdict(result.verdict, result.violated, result.reason)
    return exits.HOLDS if is_written else exits.UNUSABLE_INPUT
