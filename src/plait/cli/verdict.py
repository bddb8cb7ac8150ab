"""The answer of `plait explore` as people and tools read it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import plait
from plait.cli import exits
from plait.cli.document import RESULT_VERSION
from plait.cli.rows import diagnostic_row, event_rows, place_row

if TYPE_CHECKING:
    from plait.model.program import Program
    from plait.model.properties import Specification
    from plait.semantics.explore import Exploration
    from plait.semantics.run import Execution

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
    arguments: list[str] = field(default_factory=list)

    def to_json(self) -> str:
        answer, program = self.answer, self.answer.program
        violation = answer.exploration.violation if answer.violated else None
        data: dict[str, Any] = {
            "plait-result": RESULT_VERSION,
            "version": plait.__version__,
            "files": self.files,
            "arguments": self.arguments,
            "entry": self.entry,
            "data_model": program.data_model.value,
            "properties": self.properties,
            "engine": "explore",
            "verdict": answer.verdict,
            "violated": answer.violated,
            "reason": answer.reason,
            "assumptions": answer.assumptions,
            "unsupported": [diagnostic_row(item) for item in program.unsupported],
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
                "place": place_row(program, violation.origin),
                "other_place": place_row(program, violation.other),
            }
        if violation is not None and answer.exploration.schedule is not None:
            from plait.semantics.schedule import to_text

            data["schedule"] = json.loads(to_text(answer.exploration.schedule))
        if answer.replay is not None:
            data["trace"] = event_rows(program, answer.replay.events)
        return json.dumps(data, indent=1, ensure_ascii=True) + "\n"
