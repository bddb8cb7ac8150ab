"""`plait verify --engine orders`: the bounded engine, and the replay of what it finds."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from plait.analysis.points_to import PointsTo
from plait.data import replace
from plait.engines.orders.objects import other_addresses
from plait.engines.orders.outcome import (
    Answer,
    Counterexample,
    Outcome,
    Phase,
    Statistics,
)
from plait.engines.orders.settings import OrderEncoding, Refinement, Settings
from plait.errors import InputError
from plait.model.properties import Property
from plait.portfolio.asked import Asked
from plait.portfolio.messages import OutOfTime, Progress, Result, encode
from plait.portfolio.numbers import count, numbers_of
from plait.portfolio.options import Options
from plait.portfolio.partial_proofs import names_of

if TYPE_CHECKING:
    from plait.evidence.replay import Plan
    from plait.model.program import Program


def settings_of(options: Options) -> Settings:
    chosen: dict[str, Any] = {"unwind": options.unwind}
    if options.refinement is not None:
        chosen["refinement"] = Refinement(options.refinement)
    if options.order_encoding is not None:
        chosen["encoding"] = OrderEncoding(options.order_encoding)
    return Settings(**chosen)


def shown_settings(options: Options) -> dict[str, Any]:
    settings = settings_of(options)
    return {
        "unwind": settings.unwind,
        "refinement": settings.refinement.value,
        "order_encoding": settings.encoding.value,
    }


class ByOrders(Asked):
    _bound: int | None = None
    _replay: Result | None = None  # of the last counterexample

    def answer(self) -> Result | OutOfTime:
        from plait.engines.orders.engine import verify

        settings = replace(
            settings_of(self.options),
            finds_races=Property.NO_DATA_RACE in self.specification,
            checks_memory=Property.VALID_MEMSAFETY in self.specification,
            finds_deadlocks=Property.NO_DEADLOCK in self.specification,
        )

        def confirm(found: Counterexample) -> str:
            self.is_doing("executing a counterexample")
            self._replay = self._replayed(self.program, found)
            return "" if self._replay.verdict == "false" else self._replay.reason

        outcome = verify(
            self.program,
            settings,
            self.deadline,
            self._progress,
            confirm,
            self._phase,
            self.known,
        )
        return self._conclusion(outcome)

    def _progress(self, outcome: Outcome) -> None:
        self._bound = outcome.statistics.bound
        names = sorted(names_of(self.specification))
        self.send(encode(Progress(self._bound, numbers_of(outcome.statistics), names)))

    def _phase(self, phase: Phase, statistics: Statistics) -> None:
        parts = [f"loop bound {statistics.bound}: {phase.value}"]
        if phase is Phase.SOLVING:
            parts += [count(statistics.events, "event"), count(statistics.clauses, "clause")]
            if statistics.refinements:
                parts.append(count(statistics.refinements, "refinement"))
        self.is_doing(", ".join(parts), numbers_of(statistics))

    def _conclusion(self, outcome: Outcome) -> Result | OutOfTime:
        statistics = numbers_of(outcome.statistics)
        if outcome.is_out_of_time or (outcome.is_bounded and self._is_late()):
            return OutOfTime(statistics)
        is_replayed = outcome.counterexample is not None or outcome.reason.startswith("internal")
        if self._replay is not None and is_replayed:
            result = self._replay
        elif outcome.answer is Answer.HOLDS:
            result = Result("true", outcome.reason)
        else:
            result = Result("unknown", outcome.reason)
        has_bound = result.verdict != "unknown" or outcome.is_bounded
        result.bound = outcome.statistics.bound if has_bound else self._bound
        result.statistics = statistics
        return result

    def _is_late(self) -> bool:
        """When the time is up, the engine answers with the last bound that it has finished."""
        is_deepening = self.options.unwind is None
        return is_deepening and self.deadline is not None and time.monotonic() >= self.deadline

    def _replayed(self, program: Program, found: Counterexample) -> Result:
        """A violation counts only if the reference interpreter shows it."""
        from plait.evidence.counterexample import Found, NotShown
        from plait.evidence.replay import (
            Plan,
            ReplayFailed,
            Undecided,
            replay,
            replay_deadlock,
            replay_race,
        )

        plan = Plan(
            found.threads, found.children, found.inputs, found.claim.thread, found.objects.shares
        )
        try:
            if Property.NO_DEADLOCK in self.specification:
                deadlock = replay_deadlock(program, self.specification, plan)
                kind = Property.NO_DEADLOCK.value
                shown = Found(kind, deadlock.message, deadlock.thread, deadlock.origin)
                return self.shown(deadlock.schedule, shown)
            if found.race is not None:
                race = replay_race(program, self.specification, plan, found.race)
                kind = Property.NO_DATA_RACE.value
                one, other = race.origins
                shown = Found(kind, race.message, race.threads[0], one, other, race.threads)
                return self.shown(race.schedule, shown)
            return self.violated(replay(program, self.specification, plan))
        except Undecided as error:
            return Result("unknown", str(error))
        except (ReplayFailed, NotShown, InputError) as error:
            return self._not_replayed(plan, str(error))

    def _not_replayed(self, plan: Plan, why: str) -> Result:
        doubt = other_addresses(PointsTo(self.program))
        if doubt:
            return Result("unknown", doubt)
        reason = f"internal error: the counterexample does not replay ({why})"
        failure = {
            "plan": {
                "order": plan.order,
                "children": plan.children,
                "inputs": plan.inputs,
                "violator": plan.violator,
            }
        }
        return Result("unknown", reason, failure=failure)
