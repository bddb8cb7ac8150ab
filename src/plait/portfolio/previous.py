"""What helps after an edit: where the last counterexample went, and what the last proof said.

Neither is an answer. The counterexample is followed as far as it still fits, and the reference
interpreter says what that shows; the predicates are candidates that an engine has to prove.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from plait.data import dataclass, replace
from plait.portfolio.evidence_rows import row_of
from plait.portfolio.messages import Result

if TYPE_CHECKING:
    from plait.model.program import Program
    from plait.model.properties import Specification

MOST_SECONDS = 0.3
MOST_SHARE = 0.1  # of the time that is left


@dataclass(frozen=True, slots=True)
class Previous:
    """`counterexample` and `proof` are JSON, as `remembered` makes them."""

    counterexample: dict[str, Any] | None = None
    proof: dict[str, Any] | None = None

    @classmethod
    def read(cls, data: dict[str, Any] | None) -> Previous:
        rows = data or {}
        parts = (rows.get(name) for name in ("counterexample", "proof"))
        return cls(*(part if isinstance(part, dict) else None for part in parts))

    @property
    def predicates(self) -> dict[str, Any] | None:
        """What the last proof that has left any was made of (plait.engines.interface.Proof)."""
        found = None if self.proof is None else self.proof.get("labels")
        return found if isinstance(found, dict) else None

    def written(self) -> dict[str, Any]:
        return {"counterexample": self.counterexample, "proof": self.proof}

    def with_answer(
        self, result: Result, specification: Specification, program: Program, cached: dict[str, Any]
    ) -> Previous:
        """`cached` says when and how the result was found."""
        from plait.evidence.portable_schedule import portable_schedule_of, to_data
        from plait.semantics.schedule import from_data

        if result.verdict == "true" and result.predicates:
            return replace(self, proof={"labels": result.predicates})
        if result.verdict != "false":
            return self
        schedule = from_data(result.evidence["schedule"], "cache")
        racing = racing_threads(result)
        found = portable_schedule_of(program, specification, schedule, racing)
        if found is None:
            return self
        return replace(self, counterexample={"portable schedule": to_data(found), "cached": cached})


def racing_threads(result: Result) -> tuple[int, int] | None:
    accesses = result.evidence["violation"]["accesses"]
    if len(accesses) != 2:
        return None
    return accesses[0]["thread"], accesses[1]["thread"]


def follow_previous(
    previous: Previous,
    questions: list[tuple[Specification, Program]],
    deadline: float | None,
) -> tuple[int, Result] | None:
    """The number of a question and its answer `false`, if the counterexample of the run before
    leads there again."""
    if previous.counterexample is None:
        return None
    from plait.evidence.counterexample import NotShown
    from plait.evidence.portable_schedule import follow, from_data
    from plait.evidence.reexecution import evidence_of_schedule

    portable = from_data(previous.counterexample.get("portable schedule"))
    if portable is None:
        return None
    now = time.monotonic()
    seconds = MOST_SECONDS
    if deadline is not None:
        seconds = min(seconds, (deadline - now) * MOST_SHARE)
    for number, (specification, program) in enumerate(questions):
        schedule = follow(program, specification, portable, now + seconds)
        if schedule is None:
            continue
        try:
            evidence = evidence_of_schedule(
                program,
                specification,
                schedule,
                portable.racing,
                deadline=time.monotonic() + seconds,
            )
        except NotShown:
            continue
        violation = evidence.violation
        found = Result("false", violation.message, violation.property, evidence=row_of(evidence))
        found.cached = _origin(previous.counterexample.get("cached"))
        return number, found
    return None


def _origin(cached: Any) -> dict[str, Any] | None:
    """When the counterexample was first found; only for people, and only if it is as expected."""
    if not isinstance(cached, dict):
        return None
    found, seconds, engine, settings = (
        cached.get(key) for key in ("found", "seconds", "engine", "settings")
    )
    is_known = isinstance(found, str) and isinstance(seconds, int | float)
    if not (is_known and isinstance(engine, str) and isinstance(settings, dict)):
        return None
    return {
        "found": found,
        "seconds": seconds,
        "edited": True,
        "engine": engine,
        "settings": settings,
    }
