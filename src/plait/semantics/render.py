"""Prints an interleaving in one column per thread, with source text and changed values."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field

from plait.model.actions import (
    AtomicBegin,
    AtomicEnd,
    EnterScope,
    Fence,
    LeaveScope,
    Origin,
    Skip,
)
from plait.model.program import Program
from plait.semantics.run import Execution
from plait.semantics.trace import Event

# Actions that stand for no text of their own, or for that of a whole block.
_SILENT = (Skip, EnterScope, LeaveScope, AtomicBegin, AtomicEnd, Fence)
_NARROWEST_COLUMN = 20
_MOST_CHANGES = 6


@dataclass(slots=True, eq=False)
class _Row:
    """What one thread does without a break in one line of the source."""

    thread: int
    first_step: int
    origin: Origin
    text: str
    changes: dict[str, str] = field(default_factory=dict)


def render(
    program: Program, execution: Execution, width: int = 100, *, verbose: bool = False
) -> str:
    """An execution that was run with `trace`. Unless `verbose`, what happens inside the library
    is shown as the library call. A single step may take several rows, and `step` counts them."""
    rows = _rows(program, execution.events, verbose)
    threads = sorted({row.thread for row in rows})
    lines = []
    if rows:
        numbers = max(len(str(rows[-1].first_step)), 4)
        column = max((width - numbers - 1) // len(threads) - 2, _NARROWEST_COLUMN)
        lines += _head(execution.events, threads, numbers, column)
        for row in rows:
            lines += _cells(row, threads, numbers, column)
    lines += _last_lines(program, execution)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _rows(program: Program, events: list[Event], verbose: bool) -> list[_Row]:
    rows: list[_Row] = []
    for event in events:
        origin = event.edge.action.origin
        if event.caller is not None and not verbose:
            origin = event.caller.action.origin
        elif event.function.library and not verbose:
            continue  # before main, and after it
        if isinstance(event.edge.action, _SILENT) and not verbose:
            continue
        text = program.text(_first_line(program, origin))
        if not text:
            continue
        last = rows[-1] if rows else None
        if (
            last is None
            or last.thread != event.thread
            or (last.origin.file, last.origin.line) != (origin.file, origin.line)
        ):
            last = _Row(event.thread, event.step, origin, text)
            rows.append(last)
        elif len(text) > len(last.text):
            last.origin, last.text = origin, text
        for change in event.changes:
            if verbose or not change.is_library:
                sign = "is" if change.is_read else "="
                if not (change.is_read and last.changes.get(change.name, "").startswith("=")):
                    last.changes[change.name] = f"{sign} {change.value}"
    return rows


def _first_line(program: Program, origin: Origin) -> Origin:
    if origin.file < 0 or origin.end_line == origin.line:
        return origin
    end = len(program.sources[origin.file].lines[origin.line - 1]) + 1
    return Origin(origin.file, origin.line, origin.column, origin.line, end)


def _head(events: list[Event], threads: list[int], numbers: int, column: int) -> list[str]:
    starts: dict[int, str] = {}
    for event in events:
        if event.thread not in starts or not event.function.library:
            if starts.get(event.thread, "_").startswith("_"):
                starts[event.thread] = event.function.display
    titles = [_fit(f"thread {thread}: {starts[thread]}", column) for thread in threads]
    head = "step".rjust(numbers) + " " + "| ".join(title.ljust(column) for title in titles)
    return [head, "-" * len(head.rstrip())]


def _cells(row: _Row, threads: list[int], numbers: int, column: int) -> list[str]:
    text = f"{row.origin.line}: {row.text}"
    parts = textwrap.wrap(text, column, subsequent_indent="   ")[:4]
    shown = [f"{name} {value}" for name, value in row.changes.items()]
    if len(shown) > _MOST_CHANGES:
        shown = [*shown[:_MOST_CHANGES], "..."]
    if shown:
        parts += textwrap.wrap(
            f"   [{', '.join(shown)}]", column, subsequent_indent="    ", drop_whitespace=True
        )
    lines = []
    for index, part in enumerate(parts):
        label = str(row.first_step) if index == 0 else ""
        cells = [part if thread == row.thread else "" for thread in threads]
        body = "| ".join(_fit(cell, column).ljust(column) for cell in cells)
        lines.append(f"{label.rjust(numbers)} {body}")
    return lines


def _fit(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def _last_lines(program: Program, execution: Execution) -> list[str]:
    ending = execution.ending
    outcome = execution.outcome
    if ending in ("exit", "abort"):
        return [f"{ending} with status {execution.status} after {execution.steps} steps"]
    if ending in ("deadlock", "blocked"):
        return [
            f"{ending} after {execution.steps} steps",
            *(
                f"  thread {thread} waits for {item.message} at {program.place(item.origin)}"
                for thread, item in sorted(execution.blocked.items())
            ),
        ]
    if not outcome.message:
        return [f"{ending} after {execution.steps} steps"]
    kind = f" of {outcome.kind}" if outcome.kind else ""
    place = program.place(outcome.origin)
    return [f"{ending}{kind} in thread {outcome.thread} at {place}: {outcome.message}"]
