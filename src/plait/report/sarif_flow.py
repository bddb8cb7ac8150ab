"""A trace as a SARIF code flow: one thread flow for each thread, and the order of execution."""

from __future__ import annotations

from typing import Any

from plait.evidence.result import Operation, Result, Row
from plait.report import one_line_texts
from plait.report.characters import clean, one_line
from plait.report.phrases import input_phrases, thread_name
from plait.report.sarif_places import Places
from plait.report.sarif_text import text_of

# GitHub rejects results with more, and shows a tenth of that, the important ones first.
MAX_LOCATIONS = 10_000

# In the words that SARIF defines for kinds (3.38.8).
_KINDS = {
    "lock": ["acquire", "lock"],
    "read-lock": ["acquire", "lock"],
    "write-lock": ["acquire", "lock"],
    "unlock": ["release", "lock"],
    "wait": ["release", "lock"],
    "wake": ["acquire", "lock"],
    "join": ["acquire", "resource"],
    "signal": ["release", "resource"],
    "broadcast": ["release", "resource"],
    "post": ["release", "resource"],
    "create": ["call", "function"],
    "once": ["call", "function"],
    "begin": ["enter", "scope"],
    "end": ["exit", "scope"],
    "exit": ["exit", "function"],
}


def code_flow(result: Result, places: Places) -> dict[str, Any] | None:
    """Nothing if there is no trace."""
    failing = _failing_rows(result)
    importance = _importance(result, failing)
    kept = _most_important(importance)
    if not kept:
        return None
    flows: dict[int, list[dict[str, Any]]] = {}
    inputs = input_phrases(result)
    for index in kept:
        row = result.trace[index]
        step: dict[str, Any] = {
            "location": places.location(row.place, text_of(one_line_texts.row(row, inputs[index]))),
            "executionOrder": index + 1,
            "nestingLevel": max(row.depth, 0),
            "importance": importance[index],
        }
        kinds = _kinds(row) + (["danger"] if index in failing else [])
        if kinds:
            step["kinds"] = kinds
        state = {clean(item.name): {"text": clean(item.value)} for item in row.changes if item.name}
        if state:
            step["state"] = state
        flows.setdefault(row.thread, []).append(step)
    initial = _initial_state(result)
    return {
        "message": {"text": text_of(_summary(result, len(kept)))},
        "threadFlows": [
            {
                "id": one_line(thread_name(result, number)),
                "message": {"text": text_of(_origin(result, number))},
                **({"initialState": initial} if initial else {}),
                "locations": flows[number],
            }
            for number in sorted(flows)
        ],
    }


def _failing_rows(result: Result) -> set[int]:
    """Where it happens: the two accesses of a race, where each thread of a deadlock stops,
    otherwise the last row."""
    last = {row.thread: index for index, row in enumerate(result.trace)}
    if result.violation is None or not result.trace:
        return set()
    accesses = [(item.thread, item.place) for item in result.violation.accesses]
    found = {
        index
        for index, row in enumerate(result.trace)
        if (row.thread, row.place) in accesses and row.step >= result.trace[last[row.thread]].step
    }
    found |= {last[item.thread] for item in result.violation.waiting if item.thread in last}
    return found or {len(result.trace) - 1}


def _importance(result: Result, failing: set[int]) -> list[str]:
    """The failure and the rows around context switches tell what happens; after them come those
    that other threads can notice, or that the failure depends on."""
    trace = result.trace
    causes = set()
    if result.violation is not None:
        causes = {(item.step, item.thread) for item in result.violation.causes}
    found = []
    for index, row in enumerate(trace):
        neighbours = trace[max(index - 1, 0) : index + 2]
        if index in failing or any(other.thread != row.thread for other in neighbours):
            found.append("essential")
        elif (
            row.operation is not None
            or any(item.shared for item in row.changes)
            or (row.step, row.thread) in causes
        ):
            found.append("important")
        else:
            found.append("unimportant")
    return found


def _most_important(importance: list[str]) -> list[int]:
    """The rows to keep; of equally important ones the last, which are nearest to the failure."""
    indices = list(range(len(importance)))
    if len(indices) <= MAX_LOCATIONS:
        return indices
    ranks = {"essential": 0, "important": 1, "unimportant": 2}
    indices.sort(key=lambda index: (ranks[importance[index]], -index))
    return sorted(indices[:MAX_LOCATIONS])


def _kinds(row: Row) -> list[str]:
    if row.operation is not None:
        return _operation_kinds(row.operation)
    if row.branch is not None:
        return ["branch", "true" if row.branch else "false"]
    if row.entered:
        return ["call", "function"]
    if row.returned:
        return ["return", "function"]
    return []


def _operation_kinds(operation: Operation) -> list[str]:
    if operation.kind == "trylock":
        return ["acquire", "lock"] if operation.succeeded else ["lock", "false"]
    return list(_KINDS.get(operation.kind, []))


def _initial_state(result: Result) -> dict[str, Any]:
    causes = [] if result.violation is None else result.violation.causes
    return {
        clean(item.name): {"text": clean(item.value)}
        for item in causes
        if item.step is None and item.name
    }


def _summary(result: Result, kept: int) -> str:
    switches = result.switches
    often = "one context switch" if switches == 1 else f"{switches} context switches"
    told = f"an execution that shows it, with {often}"
    if kept < len(result.trace):
        told += f"; {len(result.trace) - kept} of its {len(result.trace)} rows are left out"
    return told


def _origin(result: Result, number: int) -> str:
    name = thread_name(result, number)
    for thread in result.threads:
        if thread.number == number and thread.creator is not None:
            where = f" at {one_line_texts.where(thread.place)}" if thread.place is not None else ""
            return f"{name}, created by {thread_name(result, thread.creator)}{where}"
    return name
