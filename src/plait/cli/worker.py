"""The part of `plait verify` that takes time, in a process of its own: load, verify, replay."""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plait.cli.assumptions import assumptions_of
from plait.cli.inputs import load_program, parts, specification
from plait.cli.internal_error import describe
from plait.cli.messages import Loaded, Mistake, OutOfTime, Progress, Question, Result, encode
from plait.cli.numbers import numbers_of
from plait.cli.rows import Row, diagnostic_row, event_rows, place_row
from plait.engines.orders.outcome import Answer, Counterexample, Outcome
from plait.engines.orders.settings import OrderEncoding, Refinement, Settings
from plait.errors import InputError, PlaitError
from plait.model.properties import Property
from plait.work.child import Send

if TYPE_CHECKING:
    from plait.evidence.replay import Deadlock, Plan, Race
    from plait.model.program import Program
    from plait.model.properties import Specification
    from plait.semantics.run import Execution


def work(options: argparse.Namespace, width: int, deadline: float | None, send: Send) -> None:
    """Send messages; the last one is a Result, OutOfTime or Mistake."""
    try:
        _run(options, width, deadline, send)
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


def _run(options: argparse.Namespace, width: int, deadline: float | None, send: Send) -> None:
    whole, entry = specification(options)
    settings = settings_of(options)
    properties = sorted(item.value for item in whole.properties)
    shown = {
        "unwind": settings.unwind,
        "refinement": settings.refinement.value,
        "order_encoding": settings.encoding.value,
    }
    send(encode(Question(entry, properties, shown)))
    # Deadlocks first: without spurious wake-ups fewer loops exceed every bound.
    questions = [(part, load_program(options, part, entry)) for part in reversed(parts(whole))]
    send(encode(_loaded(options, questions)))
    answers: list[Result | OutOfTime] = []
    for number, (part, program) in enumerate(questions):
        # Each of several questions gets its share of the time that is left.
        end = deadline
        if deadline is not None:
            now = time.monotonic()
            end = now + (deadline - now) / (len(questions) - number)
        answers.append(_Worker(options, part, program, width, end, send).answer())
        if _rank(answers[-1]) == 0:
            break
    send(encode(min(answers, key=_rank)))


def _rank(answer: Result | OutOfTime) -> int:
    """The worst answer to one of several questions is the answer to all."""
    if isinstance(answer, OutOfTime):
        return 1
    return {"false": 0, "unknown": 1, "true": 2}[answer.verdict]


def _loaded(
    options: argparse.Namespace, questions: list[tuple[Specification, Program]]
) -> Loaded:
    assumptions: dict[str, None] = {}
    unsupported: list[Row] = []
    for part, program in questions:
        found = assumptions_of(program, part, spurious_wakeups=options.spurious_wakeups)
        assumptions.update(dict.fromkeys(found))
        rows = [diagnostic_row(item) for item in program.unsupported]
        unsupported += [row for row in rows if row not in unsupported]
    return Loaded(list(assumptions), unsupported)


class _Worker:
    """Answers one question: whether a program has some properties."""

    def __init__(
        self,
        options: argparse.Namespace,
        specification: Specification,
        program: Program,
        width: int,
        deadline: float | None,
        send: Send,
    ) -> None:
        self._options = options
        self._specification = specification
        self._program = program
        self._width = width
        self._deadline = deadline
        self._send = send
        self._bound: int | None = None
        self._replay: Result | None = None  # of the last counterexample

    def answer(self) -> Result | OutOfTime:
        from plait.engines.orders.engine import verify

        settings = replace(
            settings_of(self._options),
            finds_races=Property.NO_DATA_RACE in self._specification,
            checks_memory=Property.VALID_MEMSAFETY in self._specification,
            finds_deadlocks=Property.NO_DEADLOCK in self._specification,
        )

        def confirm(found: Counterexample) -> str:
            self._replay = self._replayed(self._program, found)
            return "" if self._replay.verdict == "false" else self._replay.reason

        outcome = verify(self._program, settings, self._deadline, self._progress, confirm)
        return self._conclusion(outcome)

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
        from plait.evidence.replay import (
            Plan,
            ReplayFailed,
            Undecided,
            replay,
            replay_deadlock,
            replay_race,
        )
        from plait.semantics.run import run

        plan = Plan(
            found.threads, found.children, found.inputs, found.claim.thread, found.objects.shares
        )
        race: Race | None = None
        deadlock: Deadlock | None = None
        try:
            if Property.NO_DEADLOCK in self._specification:
                deadlock = replay_deadlock(program, self._specification, plan)
                schedule = deadlock.schedule
            elif found.race is not None:
                race = replay_race(program, self._specification, plan, found.race)
                schedule = race.schedule
            else:
                schedule = replay(program, self._specification, plan)
            execution = run(program, self._specification, schedule=schedule, trace=True)
        except Undecided as error:
            return Result("unknown", str(error))
        except (ReplayFailed, InputError) as error:
            return self._not_replayed(plan, str(error))
        if deadlock is not None:
            return self._deadlocked(program, execution, deadlock)
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

    def _deadlocked(self, program: Program, execution: Execution, found: Deadlock) -> Result:
        kind = Property.NO_DEADLOCK.value
        violation = {
            "property": kind,
            "message": found.message,
            "thread": found.thread,
            "place": place_row(program, found.origin),
            "other_place": None,
        }
        result = self._shown(program, execution, violation)
        if execution.ending != "deadlock":  # some threads can still move
            message = f"{kind} violated: {found.message}"
            result.lines += str(program.diagnostic(found.origin, message)).splitlines()
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
