"""SIGINT and SIGTERM as something to wait for, instead of exceptions out of nowhere."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType, TracebackType

_STOPPING = (signal.SIGINT, signal.SIGTERM)


class Signals:
    """While entered, the two signals only make `pipe` readable. Python delivers signals to the main
    thread; in another one nothing is ever readable.

    SIGCHLD must not be ignored either, or the system keeps a child's exit code for itself.
    SIGINT is heard even where a shell has set it to be ignored, as for `plait ... &` in a script:
    whoever sends it to us means us.
    """

    def __init__(self) -> None:
        self.pipe, self._write_end = os.pipe()
        self._is_main_thread = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Signals:
        if self._is_main_thread:
            os.set_blocking(self._write_end, False)
            self._old_pipe = signal.set_wakeup_fd(self._write_end, warn_on_full_buffer=False)
            self._old = {number: signal.signal(number, _only_wake_up) for number in _STOPPING}
            if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
                self._old[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_main_thread:
            for number, handler in self._old.items():
                signal.signal(number, signal.SIG_DFL if handler is None else handler)
            signal.set_wakeup_fd(self._old_pipe)
        os.close(self.pipe)
        os.close(self._write_end)

    def is_stop(self) -> bool:
        """Read the readable pipe: whether one of the two is among the signals that came."""
        return any(number in _STOPPING for number in os.read(self.pipe, 64))


def _only_wake_up(number: int, frame: FrameType | None) -> None:
    pass
