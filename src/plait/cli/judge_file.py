"""What `plait check` and `plait validate` share: a worker judges a file that comes from anybody,
and this process keeps the limits, shows what was found and says the answer in the last line."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

from plait.cli import exits
from plait.cli.output import Console
from plait.cli.progress import ProgressLine
from plait.data import dataclass
from plait.errors import Diagnostic, InputError, PlaitError
from plait.report.characters import one_line
from plait.work.child import Send
from plait.work.limits import Ending, Finish, Limits
from plait.work.supervise import supervise

_GIB = 1 << 30
_EXIT_CODES = {
    "accepted": exits.HOLDS,
    "confirmed": exits.HOLDS,
    "rejected": exits.VIOLATED,
    "unknown": exits.UNKNOWN,
}


class Worker:
    """What the worker tells the process that the user has started."""

    def __init__(self, deadline: float | None, send: Send) -> None:
        self.deadline = deadline
        self._send = send
        self._said = time.monotonic()

    def loaded(self, about: list[str], assumptions: list[str]) -> None:
        self._send({"kind": "loaded", "about": about, "assumptions": assumptions})

    def progress(self, text: str) -> None:
        """A few times per second, however often it is called."""
        if time.monotonic() - self._said >= 0.2:
            self._said = time.monotonic()
            self._send({"kind": "progress", "text": text})

    def answer(self, answer: str, reason: str, lines: list[str] | None = None) -> None:
        """The last word; `lines` are shown before it."""
        self._send({"kind": "answer", "answer": answer, "reason": reason, "lines": lines or []})

    def mistake(self, error: InputError) -> None:
        from plait.portfolio.rows import diagnostic_row

        rows = [diagnostic_row(item) for item in error.diagnostics]
        self._send({"kind": "mistake", "diagnostics": rows})

    @property
    def is_late(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline


Judge = Callable[[Worker], None]


@dataclass(slots=True)
class _JudgeState:
    """What the worker has said so far."""

    line: ProgressLine
    about: list[str]
    assumptions: list[str]
    mistake: list[dict[str, Any]] | None = None
    answer: dict[str, Any] | None = None

    def receive(self, data: dict[str, Any]) -> None:
        match data["kind"]:
            case "progress":
                self.line.say(data["text"])
            case "loaded":
                self.about, self.assumptions = data["about"], data["assumptions"]
            case "mistake":
                self.mistake = data["diagnostics"]
            case "answer":
                self.answer = data


def judge_file(options: argparse.Namespace, console: Console, title: str, work: Judge) -> int:
    """The exit code; the last line is `TITLE: ANSWER (REASON)`."""
    started = time.monotonic()
    deadline = None if options.timeout is None else started + options.timeout
    memory = None if options.memory_limit is None else int(options.memory_limit * _GIB)
    state = _JudgeState(ProgressLine(), [], [])
    tick = state.line.show if state.line.is_wanted() else None
    limits = Limits(options.timeout, memory)
    try:
        finish = supervise(
            lambda send: _work(Worker(deadline, send), work), limits, state.receive, tick
        )
    finally:
        state.line.clear()
    if finish.ending is Ending.INTERRUPTED:
        console.wipe_interrupt()
    if options.verbose or os.environ.get("PLAIT_TRACEBACK"):
        if finish.noise:
            console.error(f"the worker wrote:\n{finish.noise}")
    if state.mistake is not None:
        raise InputError(*(Diagnostic(**row) for row in state.mistake))
    console.lines(state.about)
    console.block("assumptions", state.assumptions)
    if state.answer is None:
        answer, reason = "unknown", _cause(options, finish)
    else:
        answer, reason = state.answer["answer"], state.answer["reason"]
        console.lines(state.answer["lines"])
        console.line(f"{time.monotonic() - started:.2f} s")
    detail = f" ({one_line(reason)})" if reason else ""
    console.line(f"{title}: {answer}{detail}")
    return _EXIT_CODES[answer]


def _cause(options: argparse.Namespace, finish: Finish) -> str:
    """Why the worker has no answer."""
    if finish.ending is Ending.TIME:
        return f"time limit of {options.timeout:g} s"
    if finish.ending is Ending.INTERRUPTED:
        return "interrupted"
    if finish.ending is Ending.MEMORY:
        limit = options.memory_limit
        return "out of memory" if limit is None else f"memory limit of {limit:g} GiB"
    said = " ".join(" ".join(finish.noise.split("\n")[-2:]).split())[:200]
    how = finish.how or "without an answer"
    return f"the worker ended {how}" + (f": {said}" if said else "")


def _work(worker: Worker, work: Judge) -> None:
    """In the worker."""
    from plait.errors import describe

    try:
        work(worker)
    except InputError as error:
        worker.mistake(error)
    except PlaitError as error:
        worker.answer("unknown", str(error))
    except MemoryError:
        raise
    except Exception as error:
        if os.environ.get("PLAIT_TRACEBACK"):
            import traceback

            os.write(2, traceback.format_exc().encode(errors="backslashreplace"))
        worker.answer("unknown", f"internal error: {describe(error)}")
