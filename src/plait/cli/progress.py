"""How far long work has come: on a terminal, as lines of JSON, or not at all."""

from __future__ import annotations

import sys
import time
from typing import Any

from plait.cli.writer import Writer
from plait.portfolio.status import Status
from plait.report.terminal_line import TerminalLine

_FIRST_AFTER_SECONDS = 0.5
_JSON_PERIOD = 0.5
_FORMAT = 1


class ProgressLine:
    """One line on a terminal; nothing anywhere else."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._text = "reading the program"
        self._line = TerminalLine(sys.stderr)

    @staticmethod
    def is_wanted() -> bool:
        return sys.stderr is not None and sys.stderr.isatty()

    def say(self, text: str) -> None:
        self._text = text

    def show(self) -> None:
        seconds = time.monotonic() - self._started
        if seconds >= _FIRST_AFTER_SECONDS:
            self._line.show(f"{self._text}, {seconds:.1f} s")

    def clear(self) -> None:
        self._line.clear()


class Progress:
    """Of one verification; this one shows nothing. While it is entered it may use the terminal."""

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, status: Status) -> None:
        pass

    def done(self, verdict: str) -> None:
        pass


class _OnTerminal(Progress):
    def __init__(self, title: str) -> None:
        self._title = title

    def __enter__(self) -> Progress:
        from plait.cli.live import LiveView

        self._view = LiveView(self._title)
        self._view.open()
        return self

    def __exit__(self, *_: object) -> None:
        self._view.close()

    def show(self, status: Status) -> None:
        self._view.show(status)


class _AsJson(Progress):
    """A line for each status: twice per second, and whenever a stage or an engine begins or ends.
    The last line has the verdict. `about` is in every line."""

    def __init__(self, about: dict[str, Any]) -> None:
        self._about = about
        self._writer = Writer()
        self._next = 0.0
        self._last: object = None
        self._verdict: str | None = None

    def __exit__(self, *_: object) -> None:
        self._say({"done": True, "verdict": self._verdict}, patience=1.0)

    def show(self, status: Status) -> None:
        from plait.data import asdict

        now = time.monotonic()
        where = (status.stage, [(item.engine, item.state) for item in status.engines])
        if now >= self._next or where != self._last:
            self._next, self._last = now + _JSON_PERIOD, where
            self._say(asdict(status))

    def done(self, verdict: str) -> None:
        self._verdict = verdict

    def _say(self, row: dict[str, Any], patience: float = 0.0) -> None:
        import json

        line = json.dumps({"plait-progress": _FORMAT, **self._about, **row}, separators=(",", ":"))
        self._writer.write(line + "\n", patience)


def progress(form: str, **about: str) -> Progress:
    """`form` is that of `--progress`; `about` tells which of several tasks it is."""
    if form == "json":
        return _AsJson(about)
    from plait.cli.live import LiveView

    if form == "auto" and LiveView.is_wanted():
        return _OnTerminal(" ".join(about.values()))
    return Progress()
