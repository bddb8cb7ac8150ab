"""`plait verify`: a verdict from a verification engine, with evidence that was checked.

A worker does all that takes time or may crash (`plait.cli.worker`). This process imports next to
nothing, waits, and can therefore always answer.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace
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
from plait.work.child import Send, Work
from plait.work.limits import Ending, Finish, Limits
from plait.work.supervise import supervise_all

if TYPE_CHECKING:
    from plait.evidence.result import Result

_GIB = 1 << 30
_LONGEST_HISTORY = 400
DEFAULT_ENGINE = "orders"  # what `--engine auto` means
PORTFOLIO = "portfolio"
_EXIT_CODES = {"true": exits.HOLDS, "false": exits.VIOLATED, "unknown": exits.UNKNOWN}


def verify(options: argparse.Namespace, console: Console) -> int:
    expand_task(options)
    _check_options(options)
    started = time.monotonic()
    deadline = None if options.timeout is None else started + options.timeout

    line = ProgressLine()
    heard = {engine: _Heard(started, line, engine) for engine in _engines(options)}
    works = {engine: _work(options, engine, deadline) for engine in heard}
    memory = None if options.memory_limit is None else int(options.memory_limit * _GIB)
    tick = line.show if line.is_wanted() else None

    def decide(engine: str, data: dict[str, Any]) -> bool:
        heard[engine].receive(data)
        return len(heard) > 1 and heard[engine].is_decided

    try:
        finishes = supervise_all(works, Limits(options.timeout, memory), decide, tick)
    finally:
        line.clear()
    if options.verbose or os.environ.get("PLAIT_TRACEBACK"):
        for finish in finishes.values():
            if finish.noise:
                console.error(f"the worker wrote:\n{finish.noise}")
    for item in heard.values():
        if item.mistake is not None:
            raise InputError(*(Diagnostic(**row) for row in item.mistake.diagnostics))
    usage = {
        "cpu_seconds": round(
            time.process_time() + sum(item.cpu_seconds for item in finishes.values()), 6
        ),
        "wall_seconds": round(time.monotonic() - started, 6),
        "peak_memory_bytes": sum(item.peak_memory for item in finishes.values()) or None,
    }
    return _report(options, console, *_answer(options, heard, finishes), usage)


def _engines(options: argparse.Namespace) -> list[str]:
    """Those that run; the first one has the say where nobody decides."""
    if options.engine == "auto":
        return [DEFAULT_ENGINE]
    if options.engine != PORTFOLIO:
        return [options.engine]
    from plait.cli.inputs import specification
    from plait.engines.impact.settings import SUPPORTED

    is_for_impact = specification(options)[0].properties <= SUPPORTED
    return [DEFAULT_ENGINE, "impact"] if is_for_impact else [DEFAULT_ENGINE]


def _work(options: argparse.Namespace, engine: str, deadline: float | None) -> Work:
    def work(send: Send) -> None:
        from plait.cli.worker import work as verify_in_worker

        chosen = argparse.Namespace(**{**vars(options), "engine": engine})
        verify_in_worker(chosen, deadline, send)

    return work


def _answer(
    options: argparse.Namespace, heard: dict[str, _Heard], finishes: dict[str, Finish]
) -> tuple[str, _Heard, Message]:
    """The engine that has decided and what it says; or what all of them say together."""
    for engine, item in heard.items():
        if item.is_decided and item.result is not None:
            return engine, item, item.result
    messages = {
        engine: item.result or _unknown(options, item, finishes[engine])
        for engine, item in heard.items()
    }
    first = next(iter(messages))
    if len(messages) == 1:
        return first, heard[first], messages[first]
    together = "; ".join(f"{engine}: {message.reason}" for engine, message in messages.items())
    failure = next((item.failure for item in messages.values() if item.failure), None)
    message = replace(messages[first], reason=together, failure=failure)
    return PORTFOLIO, heard[first], message


def _check_options(options: argparse.Namespace) -> None:
    check_forms(options)
    if options.certificate is not None:
        if options.engine != "impact":
            raise InputError("--certificate needs --engine impact: the other engine has none")
        check_can_write("--certificate", options.certificate)


class _Heard:
    """What the worker has said so far."""

    def __init__(self, started: float, line: ProgressLine, engine: str) -> None:
        self._started = started
        self.history: list[dict[str, Any]] = []
        self.is_search = engine == "impact"  # for a proof without bounds
        self.line = line
        self.question: Question | None = None
        self.loaded: Loaded | None = None
        self.progress: Progress | None = None
        self.searched: Searched | None = None
        self.out_of_time: OutOfTime | None = None
        self.mistake: Mistake | None = None
        self.result: Message | None = None

    @property
    def is_decided(self) -> bool:
        has_verdict = self.result is not None and self.result.verdict != "unknown"
        return has_verdict or self.mistake is not None

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
    engine: str,
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
