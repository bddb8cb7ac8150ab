"""The answer of `plait explore` as people and tools read it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import plait
from plait.cli import exits

if TYPE_CHECKING:
    from plait.model.actions import Origin
    from plait.model.program import Program
    from plait.model.properties import Specification
    from plait.semantics.explore import Exploration
    from plait.semantics.run import Execution
    from plait.semantics.trace import Event

RESULT_VERSION = 1
_EXIT_CODES = {"true": exits.HOLDS, "false": exits.VIOLATED, "unknown": exits.UNKNOWN}


@dataclass(slots=True, eq=False)
class Answer:
    """A verdict on one program and specification, with its evidence.

    `verdict` is "true", "false" or "unknown"; `replay` is the counterexample, executed again.
    """

    program: Program
    specification: Specification
    exploration: Exploration
    verdict: str
    reason: str
    assumptions: list[str]
    replay: Execution | None = None

    @property
    def exit_code(self) -> int:
        return _EXIT_CODES[self.verdict]

    @property
    def violated(self) -> str | None:
        violation = self.exploration.violation
        return None if self.verdict != "false" or violation is None else violation.kind

    def verdict_line(self) -> str:
        if self.verdict == "true":
            return "VERDICT: true"
        detail = self.violated or " ".join(self.reason.split())
        return f"VERDICT: {self.verdict} ({detail})"


@dataclass(slots=True, eq=False)
class Result:
    """What goes into the JSON file, beside the answer: how the question was asked."""

    answer: Answer
    files: list[str]
    entry: str
    properties: list[str]
    statistics: dict[str, float] = field(default_factory=dict)

    def to_json(self) -> str:
        answer, program = self.answer, self.answer.program
        violation = answer.exploration.violation if answer.violated else None
        data: dict[str, Any] = {
            "plait-result": RESULT_VERSION,
            "version": plait.__version__,
            "files": self.files,
            "entry": self.entry,
            "data_model": program.data_model.value,
            "properties": self.properties,
            "verdict": answer.verdict,
            "violated": answer.violated,
            "reason": answer.reason,
            "assumptions": answer.assumptions,
            "unsupported": [
                {"message": item.message, "file": item.file, "line": item.line}
                | {"column": item.column, "source_line": item.source_line}
                for item in program.unsupported
            ],
            "statistics": self.statistics,
            "violation": None,
            "schedule": None,
            "trace": [],
        }
        if violation is not None:
            data["violation"] = {
                "property": violation.kind,
                "message": violation.message,
                "thread": violation.thread,
                "place": _place(program, violation.origin),
                "other_place": _place(program, violation.other),
            }
        if violation is not None and answer.exploration.schedule is not None:
            from plait.semantics.schedule import to_text

            data["schedule"] = json.loads(to_text(answer.exploration.schedule))
        if answer.replay is not None:
            data["trace"] = _rows(program, answer.replay.events)
        return json.dumps(data, indent=1, ensure_ascii=True) + "\n"


def _place(program: Program, origin: Origin) -> dict[str, Any] | None:
    if origin.file < 0:
        return None
    return {
        "file": program.sources[origin.file].path,
        "line": origin.line,
        "column": origin.column,
        "text": program.text(origin),
    }


def _rows(program: Program, events: list[Event]) -> list[dict[str, Any]]:
    """The executed actions as the program's author sees them: what the library does inside a call
    belongs to the call, and what a step does at one place is one row."""
    rows: list[dict[str, Any]] = []
    for event in events:
        if event.function.library and event.caller is None:
            continue
        place = _place(program, (event.caller or event.edge).action.origin)
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
