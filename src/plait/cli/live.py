"""The live view of `plait verify`: a few lines on a terminal that are redrawn in place.

The cursor rests at the beginning of the first line. Whatever a terminal does to the lines below
when it is resized, the next frame begins at the right place and erases what is left of the last.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import unicodedata
from types import FrameType

from plait.cli.writer import Writer
from plait.portfolio.status import EngineStatus, Status
from plait.portfolio.strategy import ALONE
from plait.report.characters import clean_line

_FIRST_AFTER_SECONDS = 0.5
_MIB, _GIB = 1 << 20, 1 << 30
_ERASE_LINE = "\x1b[K"
_ERASE_BELOW = "\x1b[J"


class LiveView:
    def __init__(self, title: str = "") -> None:
        self._title = title
        self._writer = Writer()
        self._is_shown = False
        self._old_stop: signal._HANDLER = None

    @staticmethod
    def is_wanted() -> bool:
        """On a terminal that can move its cursor."""
        has_cursor = os.name == "posix" and os.environ.get("TERM", "") not in ("", "dumb")
        try:
            return has_cursor and sys.stderr is not None and sys.stderr.isatty()
        except ValueError:  # closed
            return False

    def open(self) -> None:
        """From now on Ctrl-Z leaves no half-drawn frame to the shell."""
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL:
            self._old_stop = signal.signal(signal.SIGTSTP, self._stop)

    def show(self, status: Status) -> None:
        if status.seconds < _FIRST_AFTER_SECONDS or not self._is_in_foreground():
            return
        columns, rows = self._size()
        lines = frame(status, columns - 1, self._title)[: max(1, rows - 1)]
        up = f"\x1b[{len(lines) - 1}A" if len(lines) > 1 else ""
        text = f"{_ERASE_LINE}\r\n".join(lines)
        self._is_shown = True  # before it is: Ctrl-Z may come in between
        self._writer.write(f"\r{text}{_ERASE_BELOW}{up}\r")

    def close(self) -> None:
        self._clear()
        if self._old_stop is not None:
            signal.signal(signal.SIGTSTP, self._old_stop)
            self._old_stop = None

    def _clear(self) -> None:
        if self._is_shown and self._is_in_foreground():
            self._writer.write(f"\r{_ERASE_BELOW}", patience=1.0)
        self._is_shown = False

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._clear()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # returns when somebody says SIGCONT
        signal.signal(signal.SIGTSTP, self._stop)

    def _is_in_foreground(self) -> bool:
        """In the background the terminal belongs to the shell."""
        try:
            return os.tcgetpgrp(sys.stderr.fileno()) == os.getpgrp()
        except (OSError, ValueError):
            return True  # it is not the terminal that we were started from

    @staticmethod
    def _size() -> tuple[int, int]:
        try:
            columns, rows = os.get_terminal_size(sys.stderr.fileno())
        except (OSError, ValueError):
            columns = rows = 0
        return columns or 80, rows or 24


def frame(status: Status, width: int, title: str = "") -> list[str]:
    """The title, a header and a line for each engine, none of them wider than `width`."""
    longest = max((len(item.engine) for item in status.engines), default=0)
    lines = [title] if title else []
    lines.append(_header(status, width))
    lines += [f"  {item.engine:<{longest}}  {_doing(item)}" for item in status.engines]
    return [fitted(line, width) for line in lines]


def _header(status: Status, width: int) -> str:
    """What is most important comes first; what does not fit is left out."""
    parts = [seconds(status.seconds)]
    if status.seconds_left is not None:
        parts.append(f"{seconds(status.seconds_left)} left")
    if status.memory_bytes:
        memory = size(status.memory_bytes)
        if status.memory_bytes_left is not None:
            memory += f" (of {size(status.memory_bytes + status.memory_bytes_left)})"
        parts.append(memory)
    if status.stage != ALONE:
        parts.append(status.stage)
    while len(parts) > 1 and len("plait: " + ", ".join(parts)) > width:
        parts.pop()
    return "plait: " + ", ".join(parts)


def _doing(engine: EngineStatus) -> str:
    if engine.state == "waiting":
        return f"waiting for its turn; {engine.doing}"
    return engine.doing


def seconds(number: float) -> str:
    if number < 100:
        return f"{number:.1f} s"
    minutes, rest = divmod(round(number), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def size(number: int) -> str:
    return f"{number / _GIB:.3g} GiB" if number >= _GIB else f"{number / _MIB:.0f} MiB"


def fitted(text: str, width: int) -> str:
    """In so many columns, and without anything that moves the cursor: reasons quote the program."""
    text = "".join(item if item.isprintable() else "?" for item in clean_line(text))
    if sum(map(_columns, text)) <= width:
        return text
    dots = "..." if width > 6 else ""
    left, kept = width - len(dots), ""
    for item in text:
        left -= _columns(item)
        if left < 0:
            break
        kept += item
    return kept + dots


def _columns(character: str) -> int:
    if character < "\x7f":
        return 1
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
