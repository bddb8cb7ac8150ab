"""`plait run`: one schedule, interpreted and shown."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from plait.cli import exits
from plait.cli.chosen import subject_of
from plait.cli.output import Console, has_colour, save, width
from plait.portfolio.subject import load_program, specification

if TYPE_CHECKING:
    from plait.model.program import Program
    from plait.model.properties import Specification
    from plait.semantics.run import Execution


def run(options: argparse.Namespace, console: Console) -> int:
    from plait.semantics.run import run as execute
    from plait.semantics.schedule import read, to_text

    schedule = None if options.schedule is None else read(options.schedule)
    subject = subject_of(options)
    chosen, entry = specification(subject)
    program = load_program(subject, chosen, entry)
    execution = execute(
        program,
        chosen,
        seed=options.seed or 0,
        schedule=schedule,
        max_steps=options.max_steps,
        trace=not options.quiet,
    )
    _print(program, execution, console, verbose=options.verbose)
    output = execution.output.decode("utf-8", "backslashreplace")
    if output:
        console.line("output:")
        lines = ["  " + line for line in output.removesuffix("\n").split("\n")]
        if options.raw_output:
            console.raw_lines(lines)
        else:
            console.lines(lines)
    if options.save_schedule is not None:
        text = to_text(execution.schedule)
        if not save(console, "--save-schedule", options.save_schedule, text):
            return exits.UNUSABLE_INPUT
    return exit_code(execution, chosen)


def _print(program: Program, execution: Execution, console: Console, *, verbose: bool) -> None:
    from plait.evidence.result import Result
    from plait.evidence.trace_rows import trace_rows
    from plait.report.text import trace_lines

    traced = trace_rows(program, execution.events)
    result = Result("", [], "", "", [], "", "", "", threads=traced.threads, trace=traced.rows)
    result.inputs = traced.inputs
    console.raw_lines(trace_lines(result, width(), verbose=verbose, colour=has_colour()))
    console.lines(_ending(program, execution))


def _ending(program: Program, execution: Execution) -> list[str]:
    ending, outcome = execution.ending, execution.outcome
    if ending in ("exit", "abort"):
        return [f"{ending} with status {execution.status} after {execution.steps} steps"]
    if ending in ("deadlock", "blocked"):
        return [
            f"{ending} after {execution.steps} steps",
            *(
                f"  thread {thread} waits for {item.message} at {program.user_place(item.origin)}"
                for thread, item in sorted(execution.blocked.items())
            ),
        ]
    if not outcome.message:
        return [f"{ending} after {execution.steps} steps"]
    kind = f" of {outcome.kind}" if outcome.kind else ""
    place = program.user_place(outcome.origin)
    return [f"{ending}{kind} in thread {outcome.thread} at {place}: {outcome.message}"]


def exit_code(execution: Execution, chosen: Specification) -> int:
    from plait.model.properties import Property

    match execution.ending:
        case "exit" | "abort" | "finished" | "pruned" | "end of schedule":
            return exits.HOLDS
        case "violation":
            return exits.VIOLATED
        case "deadlock":
            return exits.VIOLATED if Property.NO_DEADLOCK in chosen else exits.HOLDS
    return exits.UNKNOWN
