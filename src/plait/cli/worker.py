"""The part of `plait verify` that takes time, in a process of its own: load, verify, replay."""

from __future__ import annotations

import argparse
import os
import time
from typing import TYPE_CHECKING, Any

from plait.cli.asked import Answering
from plait.cli.assumptions import assumptions_of
from plait.cli.inputs import load_program, parts, specification
from plait.cli.internal_error import describe
from plait.cli.messages import Loaded, Mistake, OutOfTime, Question, Result, encode
from plait.cli.rows import Row, diagnostic_row
from plait.errors import InputError, PlaitError
from plait.work.child import Send

if TYPE_CHECKING:
    from plait.model.program import Program
    from plait.model.properties import Specification


def work(options: argparse.Namespace, deadline: float | None, send: Send) -> None:
    """Send messages; the last one is a Result, OutOfTime or Mistake."""
    try:
        _run(options, deadline, send)
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


def _run(options: argparse.Namespace, deadline: float | None, send: Send) -> None:
    whole, entry = specification(options)
    properties = sorted(item.value for item in whole.properties)
    functions = sorted(whole.error_functions)
    send(encode(Question(entry, properties, functions, _shown_settings(options))))
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
        answers.append(_answering(options, part, program, end, send).answer())
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


def _shown_settings(options: argparse.Namespace) -> dict[str, Any]:
    if options.engine == "impact":
        from plait.cli import by_impact

        return by_impact.shown_settings(options)
    from plait.cli import by_orders

    return by_orders.shown_settings(options)


def _answering(
    options: argparse.Namespace,
    specification: Specification,
    program: Program,
    deadline: float | None,
    send: Send,
) -> Answering:
    if options.engine == "impact":
        from plait.cli.by_impact import ByImpact

        return ByImpact(options, specification, program, deadline, send)
    from plait.cli.by_orders import ByOrders

    return ByOrders(options, specification, program, deadline, send)
