"""Parts of the JSON result that are read off a program: places, steps, constructs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plait.errors import Diagnostic
    from plait.model.actions import Origin
    from plait.model.program import Program
    from plait.semantics.trace import Event

Row = dict[str, Any]


def diagnostic_row(item: Diagnostic) -> Row:
    return {
        "message": item.message,
        "file": item.file,
        "line": item.line,
        "column": item.column,
        "source_line": item.source_line,
    }


def place_row(program: Program, origin: Origin) -> Row | None:
    if origin.file < 0:
        return None
    return {
        "file": program.sources[origin.file].path,
        "line": origin.line,
        "column": origin.column,
        "text": program.text(origin),
    }


def event_rows(program: Program, events: list[Event]) -> list[Row]:
    """The executed actions as the program's author sees them: what the library does inside a call
    belongs to the call, and what a step does at one place is one row."""
    rows: list[Row] = []
    for event in events:
        if event.function.library and event.caller is None:
            continue
        place = place_row(program, (event.caller or event.edge).action.origin)
        if place is None:
            continue
        row = {"step": event.step, "thread": event.thread, **place}
        if not rows or any(rows[-1][key] != row[key] for key in row):
            rows.append({**row, "changes": []})
        rows[-1]["changes"] += [
            {"name": item.name, "value": item.value, "read": item.is_read}
            for item in event.changes
            if not item.is_library
        ]
    return rows
