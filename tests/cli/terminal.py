"""A terminal for tests: plait runs on a pseudo terminal, and what it writes moves a cursor."""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

from tests.work.processes import children

ROOT = Path(__file__).parents[2]
# Like a shell with job control: only a group that has a parent in its session can be stopped.
SHELL = """
import os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
pid = os.fork()
if pid == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.executable, [sys.executable, "-m", "plait", *sys.argv[1:]])
signal.signal(signal.SIGHUP, lambda number, _: os.killpg(pid, number))
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.exit(code if code >= 0 else 100 - code)
"""
_CONTROL = re.compile(r"\x1b\[(\d*)([A-Za-z])")


class Screen:
    """Knows what the live view uses, and nothing else. `history` has the rows that were scrolled
    out of sight."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.height = columns, rows
        self.history: list[str] = []
        self.rows = [""] * rows
        self.row = self.column = 0
        self.has_wrapped = False
        self._rest = ""

    @property
    def text(self) -> list[str]:
        """All rows up to the last one that is not empty."""
        rows = [row.rstrip() for row in [*self.history, *self.rows]]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    def feed(self, text: str) -> None:
        text = self._rest + text
        place, self._rest = 0, ""
        while place < len(text):
            if text[place] == "\x1b":
                found = _CONTROL.match(text, place)
                if found is None:
                    self._rest = text[place:]
                    assert len(self._rest) < 8, repr(self._rest)
                    return
                self._control(found[2], int(found[1] or 1))
                place = found.end()
            else:
                self._character(text[place])
                place += 1

    def _control(self, what: str, number: int) -> None:
        match what:
            case "A":
                self.row = max(0, self.row - number)
            case "K":
                self.rows[self.row] = self.rows[self.row][: self.column]
            case "J":
                self.rows[self.row] = self.rows[self.row][: self.column]
                self.rows[self.row + 1 :] = [""] * (self.height - self.row - 1)
            case "m":
                pass  # the colours of a trace
            case _:
                raise AssertionError(what)

    def _character(self, character: str) -> None:
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self._down()
        else:
            assert character.isprintable(), repr(character)
            if self.column == self.columns:
                self.has_wrapped = True
                self.column = 0
                self._down()
            row = self.rows[self.row].ljust(self.column)
            self.rows[self.row] = row[: self.column] + character + row[self.column + 1 :]
            self.column += 1

    def _down(self) -> None:
        self.row += 1
        if self.row == self.height:
            self.row -= 1
            self.history.append(self.rows.pop(0))
            self.rows.append("")


class Terminal:
    """A command on a terminal of its own, with job control."""

    def __init__(
        self, *arguments: str, columns: int = 80, rows: int = 24, **environment: str
    ) -> None:
        self.screen = Screen(columns, rows)
        self.raw = ""
        self._mine, theirs = os.openpty()
        self.resize(columns, rows)
        known = {"TERM": "xterm", "PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", SHELL, *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, **known, **environment},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)

    def resize(self, columns: int, rows: int) -> None:
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self._mine, termios.TIOCSWINSZ, size)

    @property
    def plait(self) -> int:
        """The process that the shell has started."""
        (pid,) = children(self.process.pid)
        return pid

    def type(self, keys: bytes) -> None:
        os.write(self._mine, keys)

    def read(self, seconds: float = 0.1) -> bool:
        """Feed the screen with what comes; False at the end."""
        if not select.select([self._mine], [], [], seconds)[0]:
            return True
        try:
            chunk = os.read(self._mine, 1 << 16)
        except OSError:
            return False
        text = chunk.decode()
        self.raw += text
        self.screen.feed(text)
        return bool(chunk)

    def read_until(self, holds: Callable[[Screen], bool], seconds: float = 40.0) -> None:
        end = time.monotonic() + seconds
        while not holds(self.screen):
            assert time.monotonic() < end, "\n".join(self.screen.text)
            assert self.read(), "\n".join(self.screen.text)

    def finish(self, seconds: float = 40.0) -> int:
        """Read to the end; the exit code."""
        end = time.monotonic() + seconds
        while self.read():
            assert time.monotonic() < end, "\n".join(self.screen.text)
        return self.process.wait(timeout=20)

    def hang_up(self) -> None:
        os.close(self._mine)
        self._mine = -1

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            for pid in children(self.process.pid):
                os.kill(pid, signal.SIGKILL)
            self.process.kill()
            self.process.wait()
        if self._mine >= 0:
            self.hang_up()
