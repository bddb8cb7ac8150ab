"""`plait verify`: a verdict from a verification engine, with evidence that was checked."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

from plait.cli import exits
from plait.cli.assumptions import assumptions_of
from plait.cli.inputs import load_program, specification
from plait.cli.output import Console, width

if TYPE_CHECKING:
    from plait.engines.orders.outcome import Outcome
    from plait.model.program import Program
    from plait.model.properties import Specification
    from plait.semantics.run import Execution


def verify(options: argparse.Namespace, console: Console) -> int:
    from plait.engines.orders.engine import verify as verify_orders
    from plait.engines.orders.settings import Settings
    from plait.model.properties import Property

    whole, entry = specification(options)
    missing = whole.properties - {Property.ASSERTIONS, Property.UNREACH_CALL}
    if missing:
        names = ", ".join(sorted(item.value for item in missing))
        reason = f"the engine does not check {names}; see plait explore"
        return _conclude(console, "unknown", reason)
    program = load_program(options, whole, entry)
    started = time.monotonic()
    deadline = None if options.timeout is None else started + options.timeout
    try:
        outcome = verify_orders(program, Settings(options.unwind), deadline)
        verdict, reason, replay = _judge(program, whole, outcome)
    except KeyboardInterrupt:
        return _conclude(console, "unknown", "interrupted")
    if replay is not None:
        from plait.semantics.render import render

        text = render(program, replay, width(), verbose=options.verbose)
        console.lines(text.splitlines())
        console.line()
    console.block("unsupported constructs", (str(item) for item in program.unsupported))
    assumptions = assumptions_of(program, whole, spurious_wakeups=options.spurious_wakeups)
    console.block("assumptions", assumptions)
    _print_statistics(options, console, outcome, time.monotonic() - started)
    return _conclude(console, verdict, reason)


def _judge(
    program: Program, whole: Specification, outcome: Outcome
) -> tuple[str, str, Execution | None]:
    """The verdict; a violation counts only if the reference interpreter shows it."""
    from plait.engines.orders.outcome import Answer

    if outcome.answer is Answer.HOLDS:
        return "true", outcome.reason, None
    found = outcome.counterexample
    if found is None:
        return "unknown", outcome.reason, None
    from plait.evidence.replay import Plan, ReplayFailed, replay
    from plait.semantics.run import run

    plan = Plan(
        found.threads, found.children, found.inputs, found.claim.thread, found.objects.shares
    )
    try:
        schedule = replay(program, whole, plan)
    except ReplayFailed as error:
        return "unknown", f"internal error: the counterexample does not replay ({error})", None
    execution = run(program, whole, schedule=schedule, trace=True)
    if execution.ending != "violation":
        return "unknown", "internal error: the counterexample does not replay", None
    return "false", execution.outcome.kind, execution


def _print_statistics(
    options: argparse.Namespace, console: Console, outcome: Outcome, seconds: float
) -> None:
    numbers = outcome.statistics
    console.line(
        f"{numbers.events} events, {numbers.links} links, {numbers.refinements} refinements,"
        f" loop bound {numbers.bound}, {seconds:.2f} s"
    )
    if options.verbose:
        console.line(
            f"unrolling {numbers.unrolling:.2f} s, solving {numbers.solving:.2f} s,"
            f" order graph {numbers.graph:.2f} s, {numbers.exact_checks} exact checks"
        )


def _conclude(console: Console, verdict: str, reason: str) -> int:
    if verdict == "true":
        console.line("VERDICT: true")
        return exits.HOLDS
    console.line(f"VERDICT: {verdict} ({reason})")
    return exits.VIOLATED if verdict == "false" else exits.UNKNOWN
