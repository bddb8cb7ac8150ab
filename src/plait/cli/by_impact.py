"""`plait verify --engine impact`: the unbounded engine, the replay of errors, certificates."""

from __future__ import annotations

import argparse
from typing import Any

from plait.cli.asked import Asked
from plait.cli.messages import OutOfTime, Result, Searched, encode
from plait.cli.numbers import numbers_of_impact
from plait.engines.impact.engine import verify
from plait.engines.impact.outcome import Answer, Counterexample, Outcome, Statistics
from plait.engines.impact.settings import Explicit, Reduction, Settings
from plait.errors import InputError


def settings_of(options: argparse.Namespace) -> Settings:
    chosen: dict[str, Any] = {"force_cover": options.force_cover}
    if options.por is not None:
        chosen["reduction"] = Reduction(options.por)
    if options.explicit is not None:
        chosen["explicit"] = Explicit(options.explicit)
    if options.max_nodes is not None:
        chosen["max_nodes"] = options.max_nodes
    return Settings(**chosen)


def shown_settings(options: argparse.Namespace) -> dict[str, Any]:
    settings = settings_of(options)
    return {
        "por": settings.reduction.value,
        "explicit": settings.explicit.value,
        "force_cover": settings.force_cover,
        "max_nodes": settings.max_nodes,
    }


class ByImpact(Asked):
    _replay: Result | None = None  # of the last counterexample

    def answer(self) -> Result | OutOfTime:
        outcome = verify(
            self.program,
            self.specification,
            settings_of(self.options),
            self.deadline,
            self._progress,
            self._confirm,
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
        if self.options.certificate is not None and outcome.certificate is not None:
            result.certificate = self._certificate(outcome.certificate())
        return result

    def _certificate(self, document: dict[str, Any]) -> str:
        import json

        from plait.certificates.fingerprint import fingerprint
        from plait.cli.arguments import as_arguments

        document["options"] = as_arguments(self.options)
        document["fingerprint"] = fingerprint(self.program)
        return json.dumps(document, separators=(",", ":"))

    def _confirm(self, found: Counterexample) -> str:
        """A violation counts only if the reference interpreter shows it."""
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
