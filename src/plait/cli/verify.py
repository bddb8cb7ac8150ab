"""`plait verify`: a verdict from a verification engine, with evidence that was checked.

A worker does all that takes time or may crash (`plait.cli.worker`). This process imports next to
nothing, waits, and can therefore always answer.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import TYPE_CHECKING, Any

from plait.cli import exits
from plait.cli.forms import are_wanted, check_forms, save_forms
from plait.cli.internal_error import write_report
from plait.cli.messages import (
    Loaded,
    Mistake,
    OutOfTime,
    Progress,
    Question,
    Searched,
    decode,
)
from plait.cli.messages import Result as Message
from plait.cli.numbers import summary, table
from plait.cli.output import Console, check_can_write, save
from plait.cli.printing import print_conditions, print_trace
from plait.cli.progress import ProgressLine
from plait.cli.tasks import expand_task
from plait.errors import Diagnostic, InputError
from plait.work.child import Send
from plait.work.limits import Ending, Finish, Limits
from plait.work.supervise import supervise

if TYPE_CHECKING:
    from plait.evidence.result import Result

_GIB = 1 << 30
_LONGEST_HISTORY = 400
DEFAULT_ENGINE = "orders"  # what `--engine auto` means
_EXIT_CODES = {"true": exits.HOLDS, "false": exits.VIOLATED, "unknown": exits.UNKNOWN}


def verify(options: argparse.Namespace, console: Console) -> int:
    expand_task(options)
    _check_options(options)
    started = time.monotonic()
    deadline = None if options.timeout is None else started + options.timeout

    def work(send: Send) -> None:
        from plait.cli.worker import work as verify_in_worker

        verify_in_worker(options, deadline, send)

    heard = _Heard(started, is_search=options.engine == "impact")
    memory = None if options.memory_limit is None else int(options.memory_limit * _GIB)
    tick = heard.line.show if heard.line.is_wanted() else None
    try:
        finish = supervise(work, Limits(options.timeout, memory), heard.receive, tick)
    finally:
        heard.line.clear()
    if options.verbose or os.environ.get("PLAIT_TRACEBACK"):
        if finish.noise:
            console.error(f"the worker wrote:\n{finish.noise}")
    if heard.mistake is not None:
        raise InputError(*(Diagnostic(**row) for row in heard.mistake.diagnostics))
    message = heard.result or _unknown(options, heard, finish)
    usage = {
        "cpu_seconds": round(time.process_time() + finish.cpu_seconds, 6),
        "wall_seconds": round(time.monotonic() - started, 6),
        "peak_memory_bytes": finish.peak_memory or None,
    }
    return _report(options, console, heard, message, usage)


def _check_options(options: argparse.Namespace) -> None:
    check_forms(options)
    if options.certificate is not None:
        if options.engine != "impact":
            raise InputError("--certificate needs --engine impact: the other engine has none")
        check_can_write("--certificate", options.certificate)


class _Heard:
    """What the worker has said so far."""

    def __init__(self, started: float, *, is_search: bool) -> None:
        self._started = started
        self.history: list[dict[str, Any]] = []
        self.is_search = is_search  # for a proof without bounds
        self.line = ProgressLine()
        self.question: Question | None = None
        self.loaded: Loaded | None = None
        self.progress: Progress | None = None
        self.searched: Searched | None = None
        self.out_of_time: OutOfTime | None = None
        self.mistake: Mistake | None = None
        self.result: Message | None = None

    def receive(self, data: dict[str, Any]) -> None:
        match decode(data):
            case Question() as message:
                self.question = message
            case Loaded() as message:
                self.loaded = message
                self.line.say("growing the tree" if self.is_search else "loop bound 1")
            case Progress() as message:
                self.progress = message
                numbers = message.statistics
                self._remember(numbers)
                self.line.say(
                    f"loop bound {message.bound} done: {numbers['events']:,} events,"
                    f" {numbers['clauses']:,} clauses"
                )
            case Searched() as message:
                self.searched = message
                numbers = message.statistics
                self._remember(numbers)
                self.line.say(
                    f"{numbers['nodes']:,} nodes, {numbers['open_nodes']:,} of them open,"
                    f" {numbers['refinements']:,} refinements"
                )
            case OutOfTime() as message:
                self.out_of_time = message
            case Mistake() as message:
                self.mistake = message
            case Message() as message:
                self.result = message

    def _remember(self, numbers: dict[str, Any]) -> None:
        """Every other one of what was remembered is forgotten when it becomes too much."""
        if len(self.history) >= _LONGEST_HISTORY:
            del self.history[::2]
        seconds = round(time.monotonic() - self._started, 3)
        self.history.append({"seconds": seconds, **numbers})

    def so_far(self) -> str:
        if self.out_of_time is not None and self.out_of_time.so_far:
            return self.out_of_time.so_far
        if self.searched is not None:
            numbers = self.searched.statistics
            size = f"{numbers['nodes']:,} nodes, {numbers['open_nodes']:,} of them still open"
            return f"{size}, {self.searched.what_grew}"
        if self.progress is not None:
            return f"no violation with up to {self.progress.bound} loop rounds"
        if self.loaded is not None:
            return "the tree has no nodes yet" if self.is_search else "no loop bound was finished"
        return "the program was not read yet"


def _unknown(options: argparse.Namespace, heard: _Heard, finish: Finish) -> Message:
    """The result when the worker has none."""
    bound = None if heard.progress is None else heard.progress.bound
    last = heard.out_of_time or heard.searched or heard.progress
    statistics = {} if last is None else last.statistics
    cause = _cause(options, heard, finish)
    return Message("unknown", f"{cause}; {heard.so_far()}", bound=bound, statistics=statistics)


def _cause(options: argparse.Namespace, heard: _Heard, finish: Finish) -> str:
    if heard.out_of_time is not None or finish.ending is Ending.TIME:
        return f"time limit of {options.timeout:g} s"
    if finish.ending is Ending.INTERRUPTED:
        return "interrupted"
    if finish.ending is Ending.MEMORY:
        if options.memory_limit is None:
            return "out of memory"
        return f"memory limit of {options.memory_limit:g} GiB"
    last_words = finish.noise.split("\n")[-2:]
    said = " ".join(" ".join(last_words).split())[:200]
    how = finish.how or "without an answer"
    return f"the worker ended {how}" + (f": {said}" if said else "")


def _report(
    options: argparse.Namespace,
    console: Console,
    heard: _Heard,
    message: Message,
    usage: dict[str, Any],
) -> int:
    """Print and write everything; the verdict is the last line."""
    from plait.cli.document import add_sources, composed

    report = None
    if message.failure is not None:
        reason = " ".join(message.reason.split())
        report = write_report(options, reason, message.failure)
        what = "the program" if report is None else f"the program and {report}"
        console.error(f"{reason}\nplease report this, with {what}")
    question, loaded, history = heard.question, heard.loaded, heard.history
    engine = DEFAULT_ENGINE if options.engine == "auto" else options.engine
    result = composed(options, engine, question, loaded, message, usage, history, report)
    _print(options, console, result, has_numbers=bool(message.statistics))
    exit_code = _EXIT_CODES[result.verdict]
    if are_wanted(options):
        add_sources(result)
        if not save_forms(options, console, result):
            exit_code = exits.UNUSABLE_INPUT
    if options.certificate is not None and message.certificate is not None:
        if save(console, "--certificate", options.certificate, message.certificate + "\n"):
            console.line(f"certificate: {options.certificate}")
        else:
            exit_code = exits.UNUSABLE_INPUT
    console.verdict(result.verdict, result.violated, result.reason)
    return exit_code


def _print(
    options: argparse.Namespace, console: Console, result: Result, *, has_numbers: bool
) -> None:
    if result.trace:
        print_trace(console, result, verbose=options.verbose)
    print_conditions(console, result)
    if has_numbers:
        if options.verbose:
            console.lines(["statistics:", *table(result.statistics)])
        console.line(f"{result.words[-1]}: {summary(result.statistics)}")
