"""Parts of the JSON result that are read off a program: places, steps, constructs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plait.errors import Diagnostic

Row = dict[str, Any]


def diagnostic_row(item: Diagnostic) -> Row:
    return {
        "message": item.message,
        "file": item.file,
        "line": item.line,
        "column": item.column,
        "source_line": item.source_line,
    }
