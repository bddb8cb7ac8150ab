"""A result on the console: the trace, why it fails, and what the verdict relies on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plait.cli.output import Console, has_colour, width
from plait.errors import Diagnostic
from plait.model.memory_model import ORDERS_IGNORED
from plait.report.characters import one_line

if TYPE_CHECKING:
    from plait.evidence.result import Fences, Result


def print_warning(console: Console, result: Result) -> None:
    """Before everything else: that the verdict is not about all that the program says."""
    for text in result.assumptions[:1]:
        if text.startswith(ORDERS_IGNORED):
            console.line(f"note: {one_line(text)}")


def print_trace(console: Console, result: Result, *, verbose: bool) -> None:
    from plait.report.text import explanation_lines, trace_lines

    colour = has_colour()
    console.raw_lines(trace_lines(result, width(), verbose=verbose, colour=colour))
    console.lines(explanation_lines(result))
    console.line()


def print_fences(console: Console, found: Fences) -> None:
    model = found.memory_model
    for pair in found.reordered:
        first = f"{one_line(pair.first_text)} ({one_line(pair.first)})"
        second = f"{one_line(pair.second_text)} ({one_line(pair.second)})"
        console.line(f"out of order in thread {pair.thread}: {first} and {second}")
    if found.reason:
        console.line(f"no suggestion: {found.reason}")
        return
    console.line(
        f"with these the properties hold under {model}, with fewer they do not (verified):"
    )
    for item in found.suggestions:
        place = one_line(f"{item.file}:{item.line}:{item.column}")
        what = f"a {item.order} fence behind" if item.is_fence else f"memory_order_{item.order} for"
        console.line(f"  - {what} {place}: {one_line(item.text)}")


def print_conditions(console: Console, result: Result) -> None:
    from plait.data import asdict

    console.block(
        "unsupported constructs",
        (str(Diagnostic(**asdict(row))) for row in result.unsupported),
    )
    console.block("assumptions", map(one_line, result.assumptions))
    console.lines(map(one_line, result.words[:-1]))
