"""`plait verify --engine impact`: the unbounded engine, the replay of errors, certificates."""

from __future__ import annotations

import time
from typing import Any

from plait.data import replace
from plait.engines.impact.engine import verify
from plait.engines.impact.outcome import Answer, Counterexample, Outcome, Statistics
from plait.engines.impact.settings import Explicit, Reduction, Settings
from plait.errors import InputError
from plait.portfolio.asked import Asked
from plait.portfolio.messages import OutOfTime, Result, Searched, encode
from plait.portfolio.numbers import numbers_of_impact
from plait.portfolio.options import Options

# How long the proof may be looked for once more, for the sake of its invariants.
_MORE_SECONDS = 2.0
_MORE_TIMES = 3.0


def settings_of(options: Options) -> Settings:
    chosen: dict[str, Any] = {"force_cover": options.force_cover}
    if options.por is not None:
        chosen["reduction"] = Reduction(options.por)
    if options.explicit is not None:
        chosen["explicit"] = Explicit(options.explicit)
    if options.max_nodes is not None:
        chosen["max_nodes"] = options.max_nodes
    return Settings(**chosen)


def shown_settings(options: Options) -> dict[str, Any]:
    settings = settings_of(options)
    return {
        "por": settings.reduction.value,
        "explicit": settings.explicit.value,
        "force_cover": settings.force_cover,
        "max_nodes": settings.max_nodes,
    }


class ByImpact(Asked):
    _replay: Result | None = None  # of the last counterexample
    _started = 0.0
    hints: dict[str, Any] | None = None  # of the proof before an edit

    def use(self, predicates: dict[str, Any]) -> None:
        self.hints = predicates

    def answer(self) -> Result | OutOfTime:
        self._started = time.monotonic()
        outcome = verify(
            self.program,
            self.specification,
            settings_of(self.options),
            self.deadline,
            self._progress,
            self._confirm,
            self.hints,
            self.known,
        )
        statistics = numbers_of_impact(outcome.statistics)
        if outcome.is_out_of_time:
            return OutOfTime(statistics, outcome.reason)
        result = self._result(outcome)
        result.statistics = statistics
        return result

    def _progress(self, statistics: Statistics, what_grew: str) -> None:
        self.send(encode(Searched(numbers_of_impact(statistics), what_grew)))

    def _result(self, outcome: Outcome) -> Result:
        if outcome.answer is Answer.VIOLATED and self._replay is not None:
            return self._replay
        if self._replay is not None and self._replay.failure is not None:
            return self._replay
        if outcome.answer is not Answer.HOLDS:
            return Result("unknown", outcome.reason)
        result = Result("true", outcome.reason)
        if self.options.cache and outcome.hints is not None:
            result.predicates = outcome.hints()
        if outcome.certificate is not None:
            document = outcome.certificate()
            if self.options.certificate:
                result.certificate = self._certificate(dict(document))
            if self.options.proof or self.options.invariants:
                result.evidence = self._proof(document)
        return result

    def _proof(self, document: dict[str, Any]) -> dict[str, Any]:
        from plait.evidence.proof import proof_of
        from plait.evidence.stored import plain

        is_reduced = settings_of(self.options).reduction is not Reduction.NONE
        proof = proof_of(self.program, document, is_reduced=is_reduced)
        if is_reduced and self.options.invariants:
            whole = self._in_all_interleavings()
            if whole is not None:
                proof.invariants = proof_of(self.program, whole, is_reduced=False).invariants
        return {"invariants": plain(proof.invariants), "tree": plain(proof.tree)}

    def _in_all_interleavings(self) -> dict[str, Any] | None:
        """The proof without partial-order reduction, if it does not take much longer: only that
        has invariants about shared variables."""
        self.is_doing("looking for invariants of shared variables")
        now = time.monotonic()
        end = now + max(_MORE_SECONDS, _MORE_TIMES * (now - self._started))
        settings = replace(settings_of(self.options), reduction=Reduction.NONE)
        outcome = verify(
            self.program,
            self.specification,
            settings,
            end if self.deadline is None else min(end, self.deadline),
        )
        is_proved = outcome.answer is Answer.HOLDS and outcome.certificate is not None
        return outcome.certificate() if is_proved and outcome.certificate else None

    def _certificate(self, document: dict[str, Any]) -> str:
        import json

        from plait.certificates.fingerprint import fingerprint
        from plait.portfolio.arguments import as_arguments

        document["options"] = as_arguments(self.options)
        document["fingerprint"] = fingerprint(self.program)
        return json.dumps(document, separators=(",", ":"))

    def _confirm(self, found: Counterexample) -> str:
        """A violation counts only if the reference interpreter shows it."""
        self.is_doing("executing a counterexample")
        self._replay = self._replayed(found)
        return "" if self._replay.verdict == "false" else self._replay.reason

    def _replayed(self, found: Counterexample) -> Result:
        from plait.evidence.counterexample import NotShown
        from plait.evidence.replay import ReplayFailed, replay_blocks

        try:
            schedule = replay_blocks(
                self.program, self.specification, found.blocks, found.inputs, found.violator
            )
            return self.violated(schedule)
        except (ReplayFailed, NotShown, InputError) as error:
            return self._not_replayed(found, str(error))

    def _not_replayed(self, found: Counterexample, why: str) -> Result:
        reason = f"internal error: the counterexample does not replay ({why})"
        failure = {
            "plan": {
                "blocks": [
                    [item.thread, item.function, item.location] for item in found.blocks
                ],
                "inputs": {str(thread): rows for thread, rows in found.inputs.items()},
                "violator": found.violator,
            }
        }
        return Result("unknown", reason, failure=failure)
