"""How far a run has come: one line that changes on a terminal, else one line for each job."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import TextIO

from plait.bench.records import Job, Key, Record, label
from plait.report.characters import one_line
from plait.report.terminal_line import TerminalLine

Say = Callable[[str], None]
_PERIOD = 0.25


class Progress:
    """`say` prints a line; None: nothing is shown. Wrong verdicts are always told in full."""

    def __init__(self, total: int, done: int, say: Say | None, stream: TextIO = sys.stderr) -> None:
        self._total = total
        self._done = done
        self._done_before = done
        self._say = say
        self._started = time.monotonic()
        self._counts: Counter[str] = Counter()
        self._running: dict[Key, str] = {}
        self._is_live = say is not None and _is_terminal(stream)
        self._terminal = TerminalLine(stream)
        self._next = 0.0

    def started(self, job: Job) -> None:
        self._running[job.key] = label(job.key)

    def finished(self, record: Record) -> None:
        self._done += 1
        self._running.pop(record.key, None)
        self._counts[record.verdict] += 1
        self._counts["wrong"] += record.status == "wrong"
        if self._say is None:
            return
        if not self._is_live or record.status == "wrong":
            self.clear()
            self._say(self._line(record))
        self.tick()

    def note(self, text: str) -> None:
        """A line about something else than a job."""
        if self._say is not None:
            self.clear()
            self._say(one_line(text))

    def tick(self) -> None:
        now = time.monotonic()
        if self._is_live and now >= self._next:
            self._next = now + _PERIOD
            self._terminal.show(self.status(now))

    def clear(self) -> None:
        self._terminal.clear()

    def status(self, now: float) -> str:
        verdicts = ", ".join(f"{count} {name}" for name, count in self._counts.items() if count)
        running = ", ".join(self._running.values())
        parts = [f"{self._done}/{self._total}", verdicts, self._time_left(now), running]
        return " | ".join(part for part in parts if part)

    def _time_left(self, now: float) -> str:
        """As if the rest took as long as what this run has done."""
        done = self._done - self._done_before
        if not done or self._done >= self._total:
            return ""
        seconds = (now - self._started) / done * (self._total - self._done)
        minutes, rest = divmod(int(seconds), 60)
        hours, minutes = divmod(minutes, 60)
        return f"about {hours}:{minutes:02}:{rest:02} left"

    def _line(self, record: Record) -> str:
        detail = " (wrong)" if record.status == "wrong" else ""
        if record.verdict in ("unknown", "error") and record.reason:
            detail = f" ({one_line(record.reason)[:120]})"
        return (
            f"[{self._done}/{self._total}] {label(record.key)} {record.verdict}"
            f" {record.cpu_seconds:.2f} s{detail}"
        )


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False
