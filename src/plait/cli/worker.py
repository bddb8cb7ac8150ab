"""The part of `plait verify` that takes time, in a process of its own: load, verify, replay."""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plait.cli.assumptions import assumptions_of
from plait.cli.inputs import load_program, specification
from plait.cli.internal_error import describe
from plait.cli.messages import Loaded, Mistake, OutOfTime, Progress, Question, Result, encode
from plait.cli.numbers import numbers_of
from plait.cli.rows import diagnostic_row, event_rows, place_row
from plait.engines.orders.outcome import Answer, Counterexample, Outcome
from plait.engines.orders.settings import OrderEncoding, Refinement, Settings
from plait.errors import InputError, PlaitError
from plait.model.properties import Property
from plait.work.child import Send

if TYPE_CHECKING:
    from plait.evidence.replay import Plan, Race
    from plait.model.program import Program
    from plait.semantics.run import Execution


def work(options: argparse.Namespace, width: int, deadline: float | None, send: Send) -> None:
    """Send messages; the last one is a Result, OutOfTime or Mistake."""
    try:
        _Worker(options, width, deadline, send).run()
    except InputError as error:
        send(encode(Mistake([diagnostic_row(item) for item in error.diagnostics])))
    except PlaitError as error:
        send(encode(Result("unknown", str(error))))
    except MemoryError:
        raise
    except Exception as error:
        import traceback

        trace = traceback.format_exc()
        if os.environ.get("PLAIT_TRACEBACK"):
            os.write(2, trace.encode(errors="backslashreplace"))
        reason = f"internal error: {describe(error)}"
        send(encode(Result("unknown", reason, failure={"traceback": trace.splitlines()})))


def settings_of(options: argparse.Namespace) -> Settings:
    chosen: dict[str, Any] = {"unwind": options.unwind}
    if options.refinement is not None:
        chosen["refinement"] = Refinement(options.refinement)
    if options.order_encoding is not None:
        chosen["encoding"] = OrderEncoding(options.order_encoding)
    return Settings(**chosen)


class _Worker:
    def __init__(
        self, options: argparse.Namespace, width: int, deadline: float | None, send: Send
    ) -> None:
        self._options = options
        self._width = width
        self._deadline = deadline
        self._send = send
        self._bound: int | None = None
        self._replay: Result | None = None  # of the last counterexample
        self._specification, self._entry = specification(options)

    def run(self) -> None:
        from plait.engines.orders.engine import verify

        races = Property.NO_DATA_RACE in self._specification
        settings = replace(settings_of(self._options), finds_races=races)
        self._send(encode(self._question(settings)))
        missing = self._specification.properties & {
            Property.NO_DEADLOCK,
            Property.VALID_MEMSAFETY,
        }
        if missing:
            names = ", ".join(sorted(item.value for item in missing))
            reason = f"the engine does not check {names}; see plait explore"
            self._send(encode(Result("unknown", reason)))
            return
        program = load_program(self._options, self._specification, self._entry)
        self._send(encode(self._loaded(program)))

        def confirm(found: Counterexample) -> str:
            self._replay = self._replayed(program, found)
            return "" if self._replay.verdict == "false" else self._replay.reason

        outcome = verify(program, settings, self._deadline, self._progress, confirm)
        self._send(encode(self._conclusion(outcome)))

    def _question(self, settings: Settings) -> Question:
        return Question(
            self._entry,
            sorted(item.value for item in self._specification.properties),
            {
                "unwind": settings.unwind,
                "refinement": settings.refinement.value,
                "order_encoding": settings.encoding.value,
            },
        )

    def _loaded(self, program: Program) -> Loaded:
        wake_ups = self._options.spurious_wakeups
        return Loaded(
            assumptions_of(program, self._specification, spurious_wakeups=wake_ups),
            [diagnostic_row(item) for item in program.unsupported],
        )

    def _progress(self, outcome: Outcome) -> None:
        self._bound = outcome.statistics.bound
        self._send(encode(Progress(self._bound, numbers_of(outcome.statistics))))

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
        is_deepening = self._options.unwind is None
        return is_deepening and self._deadline is not None and time.monotonic() >= self._deadline

    def _replayed(self, program: Program, found: Counterexample) -> Result:
        """A violation counts only if the reference interpreter shows it."""
        from plait.evidence.replay import Plan, ReplayFailed, replay, replay_race
        from plait.semantics.run import run

        plan = Plan(
            found.threads, found.children, found.inputs, found.claim.thread, found.objects.shares
        )
        race: Race | None = None
        try:
            if found.race is None:
                schedule = replay(program, self._specification, plan)
            else:
                race = replay_race(program, self._specification, plan, found.race)
                schedule = race.schedule
            execution = run(program, self._specification, schedule=schedule, trace=True)
        except (ReplayFailed, InputError) as error:
            return self._not_replayed(plan, str(error))
        if race is not None:
            return self._raced(program, execution, race)
        if execution.ending != "violation":
            return self._not_replayed(plan, f"it ends in: {execution.ending}")
        return self._violated(program, execution)

    def _not_replayed(self, plan: Plan, why: str) -> Result:
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

    def _violated(self, program: Program, execution: Execution) -> Result:
        end = execution.outcome
        violation = {
            "property": end.kind,
            "message": end.message,
            "thread": end.thread,
            "place": place_row(program, end.origin),
            "other_place": None,
        }
        return self._shown(program, execution, violation)

    def _raced(self, program: Program, execution: Execution, race: Race) -> Result:
        """A race is not how an execution ends: it is said behind the trace."""
        kind = Property.NO_DATA_RACE.value
        violation = {
            "property": kind,
            "message": race.message,
            "thread": race.threads[0],
            "place": place_row(program, race.origins[0]),
            "other_place": place_row(program, race.origins[1]),
        }
        result = self._shown(program, execution, violation)
        message = f"{kind} violated: {race.message}"
        result.lines += str(program.diagnostic(race.origins[0], message)).splitlines()
        return result

    def _shown(self, program: Program, execution: Execution, violation: dict[str, Any]) -> Result:
        from plait.semantics.render import render

        text = render(program, execution, self._width, verbose=self._options.verbose)
        message, kind = str(violation["message"]), str(violation["property"])
        result = Result("false", message, kind, lines=text.splitlines())
        if self._options.json is not None:
            result.violation = violation
            result.schedule = _schedule_row(execution)
            result.trace = event_rows(program, execution.events)
        return result


def _schedule_row(execution: Execution) -> dict[str, Any]:
    import json

    from plait.semantics.schedule import to_text

    row: dict[str, Any] = json.loads(to_text(execution.schedule))
    return row
