"""Writing: to standard output, whose reader may go away, and to files, whose disk may be full."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from plait.cli.targets import is_device
from plait.files import write_at_once
from plait.report.characters import clean, clean_line, one_line

_MOST_ERRORS = 10


class Console:
    """Standard output and standard error of one command.

    All that a command says goes through here, and with it what sources and file names hold: no text
    moves the cursor, and none can look like a line of plait's own.

    A reader that goes away (`plait show ... | head`) or a full disk must change neither the exit
    code nor hide the verdict, so that later output is dropped instead of raising an error.

    `found` is the verdict, the violated property and the reason, as soon as they are known.
    """

    def __init__(self) -> None:
        self.found: tuple[str, str | None, str] | None = None
        self._broken = False
        for stream in (sys.stdout, sys.stderr):
            # Sources may hold bytes that are no UTF-8, and terminals may know less than UTF-8.
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:
                reconfigure(errors="backslashreplace")

    def line(self, text: str = "") -> None:
        self._write(clean_line(text) + "\n")

    def lines(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.line(text)

    def raw_lines(self, texts: Iterable[str]) -> None:
        """Of what was cleaned before it was painted, or what somebody wants as it is."""
        for text in texts:
            self._write(text + "\n")

    def block(self, title: str, items: Iterable[str]) -> None:
        """A titled list, one bullet for each item; nothing when there are no items."""
        texts = list(items)
        if texts:
            self.line(f"{title}:")
            for text in texts:
                first, *others = text.split("\n")
                self.lines([f"  - {first}", *(f"    {line}" for line in others)])

    def verdict(self, verdict: str, violated: str | None, reason: str) -> None:
        """The last line of a command that verifies."""
        self.found = None
        detail = "" if verdict == "true" else f" ({one_line(violated or reason)})"
        self.line(f"VERDICT: {verdict}{detail}")

    def error(self, message: str) -> None:
        try:
            sys.stdout.flush()
        except OSError:
            self._give_up()
        try:
            print(f"plait: {clean(message)}", file=sys.stderr, flush=True)
        except OSError:
            pass

    def errors(self, messages: Sequence[str], *, in_full: bool) -> None:
        """A line for each of the first ones, or of all."""
        shown = messages if in_full else messages[:_MOST_ERRORS]
        for message in shown:
            self.error(one_line(message.split("\n")[0]))
        if len(messages) > len(shown):
            self.error(f"and {len(messages) - len(shown)} more (-v: which)")

    def wipe_interrupt(self) -> None:
        """A terminal shows Ctrl-C as ^C, where the next line would begin."""
        if os.environ.get("TERM", "") in ("", "dumb"):
            return
        for stream in (sys.stdout, sys.stderr):
            try:
                if stream.isatty():
                    stream.write("\r\x1b[K")
                    stream.flush()
                    return
            except (OSError, ValueError):
                continue

    def close(self) -> None:
        """Flush while errors can still be handled, before the interpreter does it at exit."""
        self.flush()

    def flush(self) -> None:
        try:
            sys.stdout.flush()
        except OSError as error:
            self._lost(error)
        except KeyboardInterrupt:  # of somebody who does not want to wait for a slow reader
            self._give_up()

    def _write(self, text: str) -> None:
        if self._broken:
            return
        try:
            sys.stdout.write(text)
        except OSError as error:
            self._lost(error)

    def _lost(self, error: OSError) -> None:
        if self._broken:
            return
        self._give_up()
        if not isinstance(error, BrokenPipeError):
            self.error(f"cannot write to standard output: {error.strerror or error}")

    def _give_up(self) -> None:
        self._broken = True
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, sys.stdout.fileno())
            os.close(null)
        except (OSError, ValueError):
            pass


def width() -> int:
    """Columns to use: those of the terminal, a fixed number when piped."""
    try:
        return max(60, os.get_terminal_size(sys.stdout.fileno()).columns)
    except (OSError, ValueError):
        return 100


def has_colour() -> bool:
    """Whether standard output is a terminal whose user has not asked for plain text."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    try:
        return sys.stdout.isatty()
    except (OSError, ValueError):
        return False


def save(console: Console, option: str, path: str, text: str) -> bool:
    """Write a file that a command was asked for; '-' is standard output."""
    if path == "-":
        console.lines(text.splitlines())
        return True
    try:
        _write(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        console.error(f"{option} {path}: cannot write: {error.strerror or error}")
        return False
    return True


def _write(path: str, data: bytes) -> None:
    """Devices and pipes cannot be replaced, nor can files in folders that we may not change. Behind
    /dev/stdout may be a file that has more in it."""
    if is_device(path):
        with open(path, "ab", buffering=0) as device:
            device.write(data)
        return
    real, mode = Path(path).resolve(), None
    if real.exists():
        mode = real.stat().st_mode & 0o777
        if not os.access(real.parent, os.W_OK):
            real.write_bytes(data)
            return
        if not os.access(real, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    write_at_once(real, data, mode)
