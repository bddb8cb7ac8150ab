"""`plait run`: one schedule, interpreted and shown."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from plait.cli import exits
from plait.cli.inputs import load_program, specification
from plait.cli.output import Console, check_can_write, save, width

if TYPE_CHECKING:
    from plait.model.properties import Specification
    from plait.semantics.run import Execution


def run(options: argparse.Namespace, console: Console) -> int:
    from plait.semantics.render import render
    from plait.semantics.run import run as execute
    from plait.semantics.schedule import read, to_text

    if options.save_schedule is not None:
        check_can_write("--save-schedule", options.save_schedule)
    schedule = None if options.schedule is None else read(options.schedule)
    chosen, entry = specification(options)
    program = load_program(options, chosen, entry)
    execution = execute(
        program,
        chosen,
        seed=options.seed or 0,
        schedule=schedule,
        max_steps=options.max_steps,
        trace=not options.quiet,
    )
    console.lines(render(program, execution, width(), verbose=options.verbose).splitlines())
    output = execution.output.decode("utf-8", "backslashreplace")
    if output:
        console.line("output:")
        console.lines("  " + line for line in output.splitlines())
    if options.save_schedule is not None:
        text = to_text(execution.schedule)
        if not save(console, "--save-schedule", options.save_schedule, text):
            return exits.UNUSABLE_INPUT
    return exit_code(execution, chosen)


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
