"""`plait verify`: a verdict from a verification engine, with evidence that was checked."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from plait.cli import exits
from plait.cli.batch import is_batch, verify_batch
from plait.cli.chosen import options_of
from plait.cli.forms import are_wanted, save_forms
from plait.cli.internal_error import tell_failure
from plait.cli.interrupts import Interrupts
from plait.cli.numbers import summary, table
from plait.cli.output import Console, save
from plait.cli.printing import print_conditions, print_fences, print_trace, print_warning
from plait.cli.progress import progress
from plait.engines import registry
from plait.evidence.protection import protected_by

if TYPE_CHECKING:
    from plait.api import Result, Status

_USAGE = frozenset({"cpu_seconds", "wall_seconds", "peak_memory_bytes"})


def verify(options: argparse.Namespace, console: Console) -> int:
    with Interrupts() as interrupts:
        return _verify(options, console, interrupts)


def _verify(options: argparse.Namespace, console: Console, interrupts: Interrupts) -> int:
    from plait.api import verify_with

    chosen = options_of(
        options,
        certificate=options.certificate is not None,
        proof=are_wanted(options) or options.verbose,
        invariants=options.html is not None or options.witness is not None,
    )
    if is_batch(chosen):
        return verify_batch(options, chosen, console, interrupts)
    with progress(options.progress) as shown:

        def watch(status: Status) -> None:
            interrupts.begun()
            shown.show(status)

        result = verify_with(chosen, watch)
        shown.done(result.verdict)
    return _report(options, console, result)


def _report(options: argparse.Namespace, console: Console, result: Result) -> int:
    """Print and write everything; the verdict is the last line."""
    console.found = result.verdict, result.violated, result.reason
    if result.is_interrupted:
        console.wipe_interrupt()
    if options.verbose or os.environ.get("PLAIT_TRACEBACK"):
        for noise in result.noise.values():
            console.error(f"the worker wrote:\n{noise}")
    if result.failure is not None:
        result.report = tell_failure(options, console, result.failure)
    _print(options, console, result)
    exit_code = exits.OF_VERDICTS[result.verdict]
    if not save_forms(options, console, result):
        exit_code = exits.UNUSABLE_INPUT
    if options.certificate is not None and result.verdict == "true" and result.certificate is None:
        console.line(f"certificate: none, {_why_uncertified(result)}")
    if options.certificate is not None and result.certificate is not None:
        if save(console, "--certificate", options.certificate, result.certificate + "\n"):
            console.line(f"certificate: {options.certificate}")
        else:
            exit_code = exits.UNUSABLE_INPUT
    console.verdict(result.verdict, result.violated, result.reason)
    return exit_code


def _why_uncertified(result: Result) -> str:
    if registry.is_engine(result.engine):
        without = registry.engine(result.engine).uncertified.intersection(result.properties)
        if without:
            return f"there are none for {', '.join(sorted(without))}"
    return "there was no time to make one"


def _print_roles(console: Console, result: Result) -> None:
    """What the threads of each role rely on, where a proof says that."""
    role = ""
    for item in result.invariants:
        if not item.role:
            continue
        if item.role != role:
            role = item.role
            console.line(f"what threads that begin with {role} rely on:")
        where = f"  line {item.place.line}"
        if item.holding:
            where += f", holding {item.holding}"
        console.line(f"{where}: {item.text}" if item.text else where)
    for line in protected_by(result.invariants):
        console.line(line)


def _print(options: argparse.Namespace, console: Console, result: Result) -> None:
    print_warning(console, result)
    for finding in result.findings:
        console.line("an execution that does something undefined, which was not asked for:")
        print_trace(console, result.with_execution_of(finding), verbose=options.verbose)
    if result.trace:
        print_trace(console, result, verbose=options.verbose)
    if result.fences is not None:
        print_fences(console, result.fences)
    print_conditions(console, result)
    if options.verbose:
        _print_roles(console, result)
    if result.statistics.keys() > _USAGE:
        if options.verbose:
            console.lines(["statistics:", *table(result.statistics)])
        console.line(f"{result.words[-1]}: {summary(result)}")
