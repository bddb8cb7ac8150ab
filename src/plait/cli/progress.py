"""One line on a terminal that says how far long work has come; nothing anywhere else."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from plait.portfolio.status import Status, Watch

_FIRST_AFTER_SECONDS = 0.5


class ProgressLine:
    def __init__(self) -> None:
        self._started = time.monotonic()
        self._text = "reading the program"
        self._shown = 0

    @staticmethod
    def is_wanted() -> bool:
        return sys.stderr is not None and sys.stderr.isatty()

    def say(self, text: str) -> None:
        self._text = text

    def show(self) -> None:
        seconds = time.monotonic() - self._started
        if seconds >= _FIRST_AFTER_SECONDS:
            self._rewrite(f"{self._text}, {seconds:.1f} s")

    def clear(self) -> None:
        if self._shown:
            self._rewrite("")

    def _rewrite(self, text: str) -> None:
        try:
            columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80
            text = text[: columns - 1]
            blanks = " " * max(self._shown - len(text), 0)
            sys.stderr.write(f"\r{text}{blanks}" + ("" if text else "\r"))
            sys.stderr.flush()
        except (OSError, ValueError):
            pass
        self._shown = len(text)


@contextmanager
def watcher(form: str | None) -> Iterator[Watch | None]:
    """What shows the progress of a verification."""
    line = ProgressLine()
    if not line.is_wanted():
        yield None
        return

    def show(status: Status) -> None:
        line.say("; ".join(f"{item.engine}: {item.doing}" for item in status.engines))
        line.show()

    try:
        yield show
    finally:
        line.clear()
