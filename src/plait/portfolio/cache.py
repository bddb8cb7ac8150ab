"""Answers of earlier runs: an unchanged question about an unchanged program is answered at once.

What is kept under the identity of all that an answer depends on (plait.portfolio.identity) is a
proof's verdict with its evidence, or a counterexample's schedule. Of a counterexample nothing else
is believed: the reference interpreter executes it again and says what it shows. Of a proof, reports
want more or less: an entry is used if it has at least what is wanted.

Under the names of the files alone there is what helps after an edit (plait.portfolio.previous).
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from plait.engines import registry
from plait.portfolio.evidence_rows import row_of
from plait.portfolio.identity import identity, subject_identity
from plait.portfolio.job import Job
from plait.portfolio.messages import Result
from plait.portfolio.options import Options
from plait.portfolio.previous import Previous, follow_previous, racing_threads
from plait.portfolio.store import Store, folder

if TYPE_CHECKING:
    from plait.model.program import Program
    from plait.model.properties import Specification

Question = tuple["Specification", "Program"]


class Cache:
    """Nothing that goes wrong here may cost an answer, so everything that does is a miss."""

    def __init__(
        self,
        store: Store | None,
        keys: tuple[str, str],
        questions: list[Question],
        wanted: frozenset[str],
    ) -> None:
        self._store = store
        self.key, self._subject = keys
        self._questions = questions
        self._wanted = wanted
        self.previous = Previous()

    @classmethod
    def of(cls, options: Options, questions: list[Question], entry: str) -> Cache:
        """The cache of the user, for one question; without a usable folder it is always empty."""
        store, keys = None, ("", "")
        if options.cache:
            try:
                store = Store.open(folder())
                if store is not None:
                    asked = {item.value for part, _ in questions for item in part.properties}
                    keys = (
                        identity(options, questions),
                        "edit-" + subject_identity(options, asked, entry),
                    )
            except Exception:
                _tell()
                store = None
        cache = cls(store, keys, questions, _wanted(options))
        cache._look_back()
        return cache

    def recall(self) -> Result | None:
        """What an earlier run has found."""
        if self._store is None:
            return None
        try:
            entry = self._store.get(self.key)
            if entry is None or not self._wanted <= _parts(entry):
                return None
            found = self._recalled(entry)
            if found is None:
                self._store.forget(self.key)
            return found
        except Exception:
            _tell()
            return None

    def follow_previous(self, deadline: float | None) -> tuple[int, Result] | None:
        """The number of a question and its answer, if the last counterexample is still one."""
        try:
            return follow_previous(self.previous, self._questions, deadline)
        except Exception:
            _tell()
            return None

    def keep(self, result: Result, question: int, settings: dict[str, Any], job: Job) -> None:
        """`question` is the number of the one that a violation is about. A result that an earlier
        run has helped to find says itself where it is from."""
        if self._store is None or result.verdict == "unknown" or result.failure is not None:
            return
        cached = _found(result.engine or job.engine, settings, job.started)
        if result.cached is not None:
            cached |= {key: result.cached[key] for key in cached}
        try:
            entry = _entry(result, question, cached, self._wanted)
            if not _shows_less(entry, self._store.get(self.key)):
                self._store.put(self.key, entry)
            self._keep_help(self._store, result, question, cached)
        except Exception:
            _tell()

    def keep_predicates(self, result: Result, question: int) -> None:
        """Those of a proof of only some properties, which is not the answer."""
        if self._store is None:
            return
        try:
            self._keep_help(self._store, result, question, {})
        except Exception:
            _tell()

    def _keep_help(
        self, store: Store, result: Result, question: int, cached: dict[str, Any]
    ) -> None:
        """For a run after an edit."""
        before = Previous.read(store.get(self._subject))
        after = before.with_answer(result, *self._questions[question], cached)
        if after != before:
            store.put(self._subject, after.written())

    def _look_back(self) -> None:
        if self._store is not None:
            try:
                self.previous = Previous.read(self._store.get(self._subject))
            except Exception:
                _tell()

    def _recalled(self, entry: dict[str, Any]) -> Result | None:
        verdict, cached, statistics = (entry[key] for key in ("verdict", "cached", "statistics"))
        if verdict == "true":
            return Result(
                "true",
                entry["reason"],
                bound=entry["bound"],
                statistics=statistics,
                evidence=entry["evidence"] if "proof" in self._wanted else {},
                certificate=entry["certificate"] if "certificate" in self._wanted else None,
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
        from plait.evidence.counterexample import NotShown
        from plait.evidence.reexecution import evidence_of_schedule
        from plait.semantics.schedule import from_data

        specification, program = self._questions[entry["question"]]
        schedule = from_data(entry["schedule"], "cache")
        racing = None if entry["racing"] is None else (entry["racing"][0], entry["racing"][1])
        try:
            evidence = evidence_of_schedule(program, specification, schedule, racing)
        except NotShown:
            return None
        violation = evidence.violation
        return Result("false", violation.message, violation.property, evidence=row_of(evidence))


def keep_together(options: Options, key: str, proof: Result, started: float) -> None:
    """A proof to which several workers have contributed, so that none of them could keep it."""
    try:
        store = Store.open(folder())
        if store is not None:
            cached = _found(proof.engine, {}, started)
            store.put(key, _entry(proof, 0, cached, _wanted(options)))
            store.close()
    except Exception:
        _tell()


def take_back(key: str) -> None:
    """Forget what a run has just found; only once nobody is left who may keep it again."""
    try:
        store = Store.open(folder())
        if store is not None:
            store.forget(key)
            store.close()
    except Exception:
        _tell()


def _found(engine: str, settings: dict[str, Any], started: float) -> dict[str, Any]:
    return {
        "found": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "seconds": round(time.monotonic() - started, 2),
        "engine": engine,
        "settings": settings,
    }


def _tell() -> None:
    """Whoever looks for mistakes of plait wants to see those that only cost time, too."""
    if os.environ.get("PLAIT_TRACEBACK"):
        import traceback

        traceback.print_exc()


_PARTS_OF_EVIDENCE = frozenset({"proof", "invariants"})


def _wanted(options: Options) -> frozenset[str]:
    """The parts of a proof that are asked for."""
    names = ("certificate", "proof", "invariants")
    found = frozenset(name for name in names if getattr(options, name))
    return found | {"proof"} if "invariants" in found else found


def _parts(entry: dict[str, Any]) -> frozenset[str]:
    """The parts of a proof that an entry has; a violation needs none."""
    if entry.get("verdict") == "false":
        return _PARTS_OF_EVIDENCE | {"certificate"}
    found = entry.get("parts")
    return frozenset(map(str, found)) if isinstance(found, list) else frozenset()


def _shows_less(entry: dict[str, Any], known: dict[str, Any] | None) -> bool:
    """Than what is known already. Another verdict is news in any case."""
    if known is None or known.get("verdict") != entry["verdict"]:
        return False
    return _parts(entry) < _parts(known)


def _parts_of(result: Result, engine: str, wanted: frozenset[str]) -> list[str]:
    """Trees and invariants come with certificates: proofs of others are as good without."""
    known = [name for name in engine.split(" and ") if registry.is_engine(name)]
    has_tree = any(registry.engine(name).gives_certificates for name in known)
    parts = wanted & _PARTS_OF_EVIDENCE if has_tree else _PARTS_OF_EVIDENCE
    return sorted(parts if result.certificate is None else parts | {"certificate"})


def _entry(
    result: Result, question: int, cached: dict[str, Any], wanted: frozenset[str]
) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "verdict": result.verdict,
        "reason": result.reason,
        "bound": result.bound,
        "statistics": result.statistics,
        "cached": cached,
    }
    if result.verdict == "true":
        return entry | {
            "evidence": result.evidence,
            "certificate": result.certificate,
            "parts": _parts_of(result, cached["engine"], wanted),
        }
    return entry | {
        "question": question,
        "schedule": result.evidence["schedule"],
        "racing": racing_threads(result),
    }
