"""One question of `plait verify`, and how its answer is shown; each engine has a subclass."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Protocol

from plait.portfolio.facts import Known
from plait.portfolio.messages import Doing, OutOfTime, Result, encode
from plait.portfolio.options import Options
from plait.work.child import Channel

if TYPE_CHECKING:
    from plait.evidence.counterexample import Evidence, Found
    from plait.model.program import Program
    from plait.model.properties import Specification
    from plait.semantics.schedule import Schedule

_LEAST_REDUCTION = 0.2


class Answering(Protocol):
    """Answers one question: whether a program has some properties."""

    def use(self, predicates: dict[str, Any]) -> None:
        """Those of an earlier proof, which may help."""

    def answer(self) -> Result | OutOfTime: ...


class Asked:
    """The question, and the options that it comes with."""

    def __init__(
        self,
        options: Options,
        specification: Specification,
        program: Program,
        deadline: float | None,
        send: Channel,
        known: Known,
    ) -> None:
        self.options = options
        self.specification = specification
        self.program = program
        self.deadline = deadline
        self.send = send
        self.known = known
        self._began = time.monotonic()

    def use(self, predicates: dict[str, Any]) -> None:
        pass

    def is_doing(self, what: str, statistics: dict[str, Any] | None = None) -> None:
        self.send(encode(Doing(what, statistics or {})))

    def violated(self, schedule: Schedule) -> Result:
        """A violation that the last step of the schedule is."""
        from plait.evidence.counterexample import Found, NotShown
        from plait.semantics.run import run

        execution = run(self.program, self.specification, schedule=schedule)
        if execution.ending != "violation":
            raise NotShown(f"it ends in: {execution.ending}")
        end = execution.outcome
        return self.shown(schedule, Found(end.kind, end.message, end.thread, end.origin))

    def shown(self, schedule: Schedule, found: Found) -> Result:
        """Raises NotShown for a schedule that does not show it."""
        from plait.evidence.counterexample import evidence_of

        evidence = evidence_of(
            self.program, self.specification, schedule, found, self._end_of_reduction()
        )
        reason = evidence.violation.message
        return Result("false", reason, found.kind, evidence=row_of(evidence))


    def _end_of_reduction(self) -> float:
        """A smaller counterexample is worth a tenth of the time that it took to find one."""
        now = time.monotonic()
        end = now + max(_LEAST_REDUCTION, (now - self._began) / 10)
        return end if self.deadline is None else min(end, self.deadline)


def row_of(evidence: Evidence) -> dict[str, Any]:
    import json

    from plait.evidence.stored import plain
    from plait.semantics.schedule import to_text

    return {
        "violation": plain(evidence.violation),
        "schedule": json.loads(to_text(evidence.schedule)),
        "threads": plain(evidence.threads),
        "inputs": plain(evidence.inputs),
        "trace": plain(evidence.trace),
    }
