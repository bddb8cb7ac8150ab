"""What the page's script reads: the result with everything that repeats (places, operations, names
of variables) listed once and named by its index, so that long traces stay small and fast.
`trace.js` is the other half of this format.
"""

from __future__ import annotations

import math
from typing import Any

from plait.data import fields, is_dataclass
from plait.evidence.result import Operation, Place, Result, Row, TreeNode
from plait.report.characters import clean
from plait.report.phrases import input_phrases, operation_phrase
from plait.report.races import happened

_SEPARATELY = ("trace", "tree", "sources", "schedule", "findings")


def page_data(result: Result) -> dict[str, Any]:
    """Without a counterexample, the execution is that of what was found beside it."""
    if not result.trace and result.findings:
        result = result.with_execution_of(result.findings[0])
    tables = _Tables()
    inputs = input_phrases(result)
    # Rows of what has not happened yet are at the end.
    rows = [_row(row, named, tables) for row, named in zip(happened(result), inputs, strict=False)]
    data = {
        item.name: _plain(getattr(result, item.name))
        for item in fields(result)
        if item.name not in _SEPARATELY
    }
    data["places"] = tables.places
    data["names"] = tables.names
    data["operations"] = tables.operations
    data["trace"] = rows
    data["tree"] = [_node(node) for node in result.tree]
    data["sources"] = [{"path": file.path, "lines": file.lines} for file in result.sources]
    cleaned: dict[str, Any] = _cleaned(data)
    return cleaned


def _cleaned(value: Any) -> Any:
    """Control characters are invisible on a page, and others make a text look like another one."""
    if isinstance(value, str):
        return value if value.isascii() and value.isprintable() else clean(value)
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    return value


class _Tables:
    def __init__(self) -> None:
        self.places: list[list[Any]] = []
        self.names: list[str] = []
        self.operations: list[dict[str, Any]] = []
        self._place_index: dict[tuple[str, int, int, str, str], int] = {}
        self._name_index: dict[str, int] = {}
        self._operation_index: dict[tuple[str, str, str, int | None, bool], int] = {}

    def place(self, place: Place) -> int:
        key = (place.file, place.line, place.column, place.text, place.function)
        index = self._place_index.get(key)
        if index is None:
            index = self._place_index[key] = len(self.places)
            self.places.append([*key])
        return index

    def name(self, name: str) -> int:
        index = self._name_index.get(name)
        if index is None:
            index = self._name_index[name] = len(self.names)
            self.names.append(name)
        return index

    def operation(self, operation: Operation | None) -> int | None:
        if operation is None:
            return None
        key = (
            *(operation.kind, operation.object, operation.lock),
            *(operation.thread, operation.succeeded),
        )
        index = self._operation_index.get(key)
        if index is None:
            index = self._operation_index[key] = len(self.operations)
            self.operations.append(_operation(operation))
        return index


def _row(row: Row, inputs: list[str], tables: _Tables) -> list[Any]:
    return [
        row.step,
        row.thread,
        tables.place(row.place),
        [
            [tables.name(change.name), change.value, change.read + 2 * change.shared]
            for change in row.changes
        ],
        tables.operation(row.operation),
        row.depth,
        row.branch,
        inputs,
        row.entered,
        row.returned,
    ]


def _operation(operation: Operation) -> dict[str, Any]:
    return {
        "kind": operation.kind,
        "object": operation.object,
        "lock": operation.lock,
        "thread": operation.thread,
        "succeeded": operation.succeeded,
        "phrase": operation_phrase(operation),
    }


def _node(node: TreeNode) -> list[Any]:
    return [node.number, node.parent, node.thread, node.where, node.label, node.cover]


def _plain(value: Any) -> Any:
    if isinstance(value, Operation):
        return _operation(value)
    if is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no word for it
    return value
