"""Signals as something to wait for, instead of exceptions out of nowhere."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType

from plait.data import dataclass

# The interrupt, the polite kill, and the terminal that is closed. Not all systems have the third.
STOPPING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


@dataclass(frozen=True, slots=True)
class Came:
    """`is_going_on`: after Ctrl-Z, somebody has said `fg` or `bg`."""

    is_stop: bool
    is_going_on: bool


class Signals:
    """While entered, these signals only make `pipe` readable. Python delivers signals to the main
    thread; in another one nothing is ever readable.

    SIGCHLD must not be ignored either, or the system keeps a child's exit code for itself.
    SIGINT is heard even where a shell has set it to be ignored, as for `plait ... &` in a script:
    whoever sends it to us means us. SIGHUP that is ignored (`nohup`) stays so.
    """

    def __init__(self) -> None:
        self.pipe, self._write_end = os.pipe()
        self._is_main_thread = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Signals:
        if self._is_main_thread:
            os.set_blocking(self._write_end, False)
            self._old_pipe = signal.set_wakeup_fd(self._write_end, warn_on_full_buffer=False)
            self._old = {
                number: signal.signal(number, _only_wake_up)
                for number in (*STOPPING, signal.SIGCONT)
                if not _is_ignored_hangup(number)
            }
            if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
                self._old[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_main_thread:
            for number, handler in self._old.items():
                signal.signal(number, signal.SIG_DFL if handler is None else handler)
            signal.set_wakeup_fd(self._old_pipe)
        os.close(self.pipe)
        os.close(self._write_end)

    def read(self) -> Came:
        """Of the readable pipe: what the signals that came mean."""
        numbers = os.read(self.pipe, 64)
        return Came(
            is_stop=any(number in STOPPING for number in numbers),
            is_going_on=signal.SIGCONT in numbers,
        )


def _is_ignored_hangup(number: int) -> bool:
    return number == signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN


def _only_wake_up(number: int, frame: FrameType | None) -> None:
    pass
