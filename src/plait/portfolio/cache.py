"""Answers of earlier runs: an unchanged question about an unchanged program is answered at once.

What is kept under the identity of all that an answer depends on (plait.portfolio.identity) is a
proof's verdict with its evidence, or a counterexample's schedule. Of a counterexample nothing else
is believed: the reference interpreter executes it again and says what it shows.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from plait.portfolio.asked import row_of
from plait.portfolio.identity import identity
from plait.portfolio.job import Job
from plait.portfolio.messages import Result
from plait.portfolio.options import Options
from plait.portfolio.store import Store, folder

if TYPE_CHECKING:
    from plait.model.program import Program
    from plait.model.properties import Specification

Question = tuple["Specification", "Program"]


class Cache:
    """Nothing that goes wrong here may cost an answer, so everything that does is a miss."""

    def __init__(self, store: Store | None, key: str, questions: list[Question]) -> None:
        self._store = store
        self._key = key
        self._questions = questions

    @classmethod
    def of(cls, options: Options, questions: list[Question]) -> Cache:
        """The cache of the user, for one question; without a usable folder it is always empty."""
        store, key = None, ""
        if options.cache:
            try:
                store = Store.open(folder())
                key = "" if store is None else identity(options, questions)
            except Exception:
                store = None
        return cls(store, key, questions)

    def recall(self) -> Result | None:
        """What an earlier run has found."""
        if self._store is None:
            return None
        try:
            entry = self._store.get(self._key)
            if entry is None:
                return None
            found = self._recalled(entry)
            if found is None:
                self._store.forget(self._key)
            return found
        except Exception:
            return None

    def keep(self, result: Result, question: int, settings: dict[str, Any], job: Job) -> None:
        """`question` is the number of the one that a violation is about."""
        if self._store is None or result.failure is not None:
            return
        entry: dict[str, Any] = {
            "verdict": result.verdict,
            "reason": result.reason,
            "bound": result.bound,
            "statistics": result.statistics,
            "cached": {
                "found": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "seconds": round(time.monotonic() - job.started, 2),
                "engine": job.engine,
                "settings": settings,
            },
        }
        match result.verdict:
            case "true":
                entry |= {"evidence": result.evidence, "certificate": result.certificate}
            case "false":
                accesses = result.evidence["violation"]["accesses"]
                entry |= {
                    "question": question,
                    "schedule": result.evidence["schedule"],
                    "racing": [access["thread"] for access in accesses] or None,
                }
            case _:
                return
        try:
            self._store.put(self._key, entry)
        except Exception:
            pass

    def _recalled(self, entry: dict[str, Any]) -> Result | None:
        verdict, cached, statistics = (entry[key] for key in ("verdict", "cached", "statistics"))
        if verdict == "true":
            return Result(
                "true",
                entry["reason"],
                bound=entry["bound"],
                statistics=statistics,
                evidence=entry["evidence"],
                certificate=entry["certificate"],
                cached=cached,
            )
        if verdict != "false":
            return None
        result = self._shown_again(entry)
        if result is not None:
            result.bound = entry["bound"]
            result.statistics = statistics
            result.cached = cached
        return result

    def _shown_again(self, entry: dict[str, Any]) -> Result | None:
        from plait.evidence.again import shown_again
        from plait.evidence.counterexample import NotShown
        from plait.semantics.schedule import from_text

        specification, program = self._questions[entry["question"]]
        schedule = from_text(json.dumps(entry["schedule"]), "cache")
        racing = None if entry["racing"] is None else (entry["racing"][0], entry["racing"][1])
        try:
            evidence = shown_again(program, specification, schedule, racing)
        except NotShown:
            return None
        violation = evidence.violation
        return Result("false", violation.message, violation.property, evidence=row_of(evidence))
