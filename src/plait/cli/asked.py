"""One question of `plait verify`, and how its answer is shown; each engine has a subclass."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any, Protocol

from plait.cli.messages import OutOfTime, Result
from plait.cli.rows import event_rows, place_row
from plait.work.child import Send

if TYPE_CHECKING:
    from plait.model.program import Program
    from plait.model.properties import Specification
    from plait.semantics.run import Execution


class Answering(Protocol):
    """Answers one question: whether a program has some properties."""

    def answer(self) -> Result | OutOfTime: ...


class Asked:
    """The question, and the options that it comes with."""

    def __init__(
        self,
        options: argparse.Namespace,
        specification: Specification,
        program: Program,
        width: int,
        deadline: float | None,
        send: Send,
    ) -> None:
        self.options = options
        self.specification = specification
        self.program = program
        self.width = width
        self.deadline = deadline
        self.send = send

    def violated(self, program: Program, execution: Execution) -> Result:
        end = execution.outcome
        violation = {
            "property": end.kind,
            "message": end.message,
            "thread": end.thread,
            "place": place_row(program, end.origin),
            "other_place": None,
        }
        return self.shown(program, execution, violation)

    def shown(self, program: Program, execution: Execution, violation: dict[str, Any]) -> Result:
        from plait.semantics.render import render

        text = render(program, execution, self.width, verbose=self.options.verbose)
        message, kind = str(violation["message"]), str(violation["property"])
        result = Result("false", message, kind, lines=text.splitlines())
        if self.options.json is not None:
            result.violation = violation
            result.schedule = _schedule_row(execution)
            result.trace = event_rows(program, execution.events)
        return result


def _schedule_row(execution: Execution) -> dict[str, Any]:
    from plait.semantics.schedule import to_text

    row: dict[str, Any] = json.loads(to_text(execution.schedule))
    return row
