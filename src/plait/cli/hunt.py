"""`plait hunt`: the real program under plait's scheduler, until it fails or nothing is left.

This executes the user's program, as `plait replay` and `plait cover --run` do.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plait.cli import exits
from plait.cli.interrupts import ended_by_signals
from plait.cli.live import LiveView, fitted
from plait.cli.output import Console, save
from plait.cli.writer import Writer
from plait.errors import InputError, PlaitError
from plait.files import read_regular
from plait.report.characters import one_line

if TYPE_CHECKING:
    from plait.hunt.build import Built
    from plait.hunt.confirm import Failure
    from plait.hunt.corpus import Corpus
    from plait.hunt.run import Program, Runner
    from plait.hunt.search import Engine, Found, Plan

_GIB = 1 << 30
# What each property is to the runtime.
PROPERTIES = {
    "assertions": ("assertions", "unreach-call", "abort", "crash"),
    "no-data-race": ("no-data-race",),
    "no-deadlock": ("no-deadlock",),
    "valid-access": ("valid-deref", "valid-free"),
    "lock-misuse": ("lock-misuse",),
}
DEFAULT = ("assertions", "no-data-race", "no-deadlock", "valid-access")
_MOST_MINIMIZING_RUNS = 400
_SHOWN_PARTS = 40


def hunt(options: argparse.Namespace, console: Console) -> int:
    return ended_by_signals(lambda: _hunt(options, console))


def _hunt(options: argparse.Namespace, console: Console) -> int:
    from plait.hunt.run import Runner, check_input

    check_input(options.input)
    with tempfile.TemporaryDirectory(prefix="plait-hunt-") as name:
        built, arguments = _build(options, Path(name))
        program = _program(options, built, arguments)
        with Runner(program) as runner:
            if options.schedule is not None:
                return _follow(options, console, runner)
            return _search(options, console, runner, arguments, built.unseen)


def _build(options: argparse.Namespace, folder: Path) -> tuple[Built, list[str]]:
    from plait.hunt.build import build_sources, build_with
    from plait.native.build import find_compiler

    compiler = find_compiler(options.cc)
    rest = list(options.program_arguments)
    if options.binary_from is not None:
        if not options.programs:
            raise InputError("--binary-from: name the program that the build makes")
        path, *arguments = options.programs
        return build_with(options.binary_from, path, compiler, folder), [*arguments, *rest]
    if not options.programs:
        raise InputError("no source file given: see `plait hunt --help`")
    for path in options.programs:
        if not os.path.isfile(path):
            raise InputError(f"{path}: there is no such file")
        if not path.endswith((".c", ".i")):
            raise InputError(
                f"{path}: not a .c or .i file (arguments of the program come after --)"
            )
    flags = [f"-I{item}" for item in options.include_dirs]
    flags += [f"-D{item}" for item in options.defines]
    given = (options.cflags or "").split()
    if options.engine == "fusion" and not any(flag.startswith("-O") for flag in given):
        flags.append("-O0")  # so that the program's accesses are those of its sources
    flags += given
    return build_sources(options.programs, compiler, flags, folder), rest


def _program(options: argparse.Namespace, built: Built, arguments: Sequence[str]) -> Program:
    from plait.hunt.run import Program

    chosen = options.property or DEFAULT
    properties = tuple(word for name in chosen for word in PROPERTIES[name])
    return Program(
        built.executable,
        tuple(arguments),
        properties,
        None if options.scratch else os.getcwd(),
        options.input,
        options.timeout,
        int(options.memory_limit * _GIB),
        options.max_operations,
    )


# --- looking for failures


def _search(
    options: argparse.Namespace,
    console: Console,
    runner: Runner,
    arguments: Sequence[str],
    unseen: Sequence[str],
) -> int:
    from plait.hunt.confirm import minimized
    from plait.hunt.corpus import Corpus, key_of
    from plait.hunt.search import Plan, Search

    plan = Plan(
        options.engine,
        options.time,
        options.runs,
        options.times,
        options.seed,
        options.depth,
        options.all,
        options.predict,
    )
    corpus = None
    if options.corpus is not None:
        words = [*arguments, *runner.program.properties, options.engine, options.input or ""]
        corpus = Corpus(Path(options.corpus), key_of(runner.program.executable, words))
    engines = _engines(options, plan, runner, unseen)
    if corpus is not None:
        _load(corpus, engines)
    progress = _Progress()
    search = Search(runner, plan, engines, progress.show)
    try:
        if corpus is not None:
            search.try_again([schedule for _, schedule in corpus.schedules()])
        found = search.go()
        if options.minimize:
            found.failures = [
                minimized(runner, item, _MOST_MINIMIZING_RUNS, lambda: progress.show(found))
                for item in found.failures
            ]
    finally:
        progress.close()
    return _report(options, console, runner, plan, found, engines, corpus)


def _engines(
    options: argparse.Namespace, plan: Plan, runner: Runner, unseen: Sequence[str]
) -> list[Engine]:
    from plait.hunt.search import engines_of

    if plan.engine != "fusion":
        return engines_of(plan, unseen)
    from plait.hunt.fusion.search import Fusion
    from plait.hunt.places import Places

    lines = Places(runner.program.executable.parent).line_numbers()
    return [Fusion(unseen, _source(options, runner.program), lines, plan.seconds)]


def _source(options: argparse.Namespace, program: Program) -> Any:
    """plait's model of the program, or why there is none."""
    from plait.hunt.fusion.source import load_source

    if options.binary_from is not None:
        return "plait has no model of a program with a build of its own"
    others = [
        flag
        for flag in (options.cflags or "").split()
        if not flag.startswith(("-O", "-g", "-W", "-w"))
    ]
    if others:
        return f"plait's model knows nothing of {' '.join(others)}"
    arguments = (str(program.executable), *program.arguments)
    try:
        return load_source(options.programs, options.include_dirs, options.defines, arguments)
    except PlaitError as error:
        return f"plait has no model of the program: {one_line(str(error))}"


def _load(corpus: Corpus, engines: Sequence[Engine]) -> None:
    state = corpus.state()
    for engine in engines:
        if isinstance(state.get(engine.name), dict):
            engine.load(state[engine.name])


class _Progress:
    """One line on a terminal that is drawn again and again."""

    def __init__(self) -> None:
        self._writer = Writer()
        self._is_wanted = LiveView.is_wanted()
        self._next = time.monotonic() + 0.5
        self._is_shown = False

    def show(self, found: Found) -> None:
        if not self._is_wanted or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + 0.2
        self._is_shown = True
        self._writer.write("\r" + fitted(summary(found), 100) + "\x1b[K\r")

    def close(self) -> None:
        if self._is_shown:
            self._writer.write("\r\x1b[K", patience=1.0)


def summary(found: Found) -> str:
    coverage = found.coverage
    return (
        f"{found.runs} runs, {len(coverage.schedules)} distinct, {found.operations:,} operations,"
        f" {found.seconds:.1f} s; {len(coverage.places)} places, {coverage.pairs} conflicting pairs"
        f" ({coverage.pairs_in_both_orders} in both orders); {len(found.suspects)} suspected races,"
        f" {found.predicted} predictions,"
        f" {len(found.failures)} failures shown"
    )


def _report(
    options: argparse.Namespace,
    console: Console,
    runner: Runner,
    plan: Plan,
    found: Found,
    engines: Sequence[Engine],
    corpus: Corpus | None,
) -> int:
    is_written = True
    for failure in found.failures:
        is_written &= _show_failure(options, console, runner, failure, corpus)
    if corpus is not None:
        try:
            corpus.save({engine.name: engine.save() for engine in engines})
        except OSError as error:
            console.error(f"--corpus {corpus.folder}: cannot write: {error.strerror or error}")
            is_written = False
    console.block("seen, but not shown again", found.unshown)
    console.block(
        "runs that ended early", (f"{how}: {what}" for how, what in found.endings.items())
    )
    if options.verbose and not found.failures:
        _show_output(console, runner)
    console.line(summary(found))
    if found.bound:
        console.line(f"pct: {found.bound}")
    for note in found.coverage_notes:
        console.line(one_line(note))
    if not is_written:
        return exits.UNUSABLE_INPUT
    if found.failures:
        count = len(found.failures)
        console.line(
            f"HUNT: {count} failure{'s' if count > 1 else ''}, each shown in {plan.times} of"
            f" {plan.times} runs of the program"
        )
        return exits.VIOLATED
    if found.is_complete:
        console.line("HUNT: no failure in any schedule of the program with this input")
        return exits.HOLDS
    console.line(f"HUNT: nothing found, {_left(found)}")
    return exits.UNKNOWN


def _left(found: Found) -> str:
    reasons = [found.reason, *found.gaps]
    if found.left:
        reasons.append(f"at least {found.left} schedules are left")
    return "but not every schedule was tried: " + one_line(
        "; ".join(item for item in reasons if item)
    )


def _show_failure(
    options: argparse.Namespace,
    console: Console,
    runner: Runner,
    failure: Failure,
    corpus: Corpus | None,
) -> bool:
    console.line(f"failure: {one_line(failure.text)}")
    run = runner.run(failure.schedule)
    if run.trace is not None:
        console.lines(trace_lines(run.trace, runner.program.executable.parent, options.verbose))
    if options.verbose:
        _show_output(console, runner)
    try:
        if corpus is not None:
            console.line(f"schedule: {corpus.keep(failure)}")
    except OSError as error:
        console.error(f"--corpus {options.corpus}: cannot write: {error.strerror or error}")
        return False
    if options.save_schedule is None:
        return True
    text = failure.schedule.text([one_line(failure.text)])
    return save(console, "--save-schedule", options.save_schedule, text)


def _show_output(console: Console, runner: Runner) -> None:
    console.line("the program printed in its last run:")
    console.lines(f"  {line}" for line in runner.output().splitlines())


def trace_lines(trace: Any, folder: Path, is_whole: bool) -> list[str]:
    """The parts of a run between context switches: where each begins and ends."""
    from plait.hunt.places import Places
    from plait.hunt.trace import CHOICE, PENDING

    places = Places(folder)
    parts: list[list[Any]] = []
    for operation in trace:
        if operation.kind in (CHOICE, PENDING):
            continue
        if not parts or parts[-1][0].thread != operation.thread or is_whole:
            parts.append([])
        parts[-1].append(operation)
    shown = parts if is_whole else parts[-_SHOWN_PARTS:]
    lines = [f"  ... {len(parts) - len(shown)} parts before"] if len(parts) > len(shown) else []
    for part in shown:
        first, last = part[0], part[-1]
        text = f"  thread {first.thread}: {_place(places, first)}{places.describe(first)}"
        if len(part) > 2:
            text += f" ... ({len(part) - 2} more)"
        if len(part) > 1:
            text += f" ... {_place(places, last)}{places.describe(last)}"
        lines.append(text)
    return lines


def _place(places: Any, operation: Any) -> str:
    line = places.line(operation.pc)
    return f"{line} " if line else ""


# --- following a schedule


def _follow(options: argparse.Namespace, console: Console, runner: Runner) -> int:
    """Run a schedule of an earlier hunt: does it still fail?"""
    from plait.hunt.schedule import parse

    try:
        text = read_regular(options.schedule).decode("utf-8", "replace")
    except OSError as error:
        raise InputError(f"--schedule {options.schedule}: {error.strerror or error}") from None
    schedule = parse(text, options.schedule)
    runs = [runner.run(schedule) for _ in range(options.times)]
    last = runs[-1]
    good = sum(run.is_failure for run in runs)
    head = "" if last.is_failure else f"({last.how}) "
    console.line(f"{head}{one_line(last.detail)}")
    if last.trace is not None:
        console.lines(trace_lines(last.trace, runner.program.executable.parent, options.verbose))
    console.line(f"HUNT: {good} of {len(runs)} runs of the schedule fail")
    return exits.VIOLATED if good == len(runs) else exits.UNKNOWN
