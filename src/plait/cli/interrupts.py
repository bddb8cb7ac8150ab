"""What Ctrl-C means while the engines do not work."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import NoReturn, Self

from plait.work.signals import STOPPING


class Handled:
    """While entered, the signals that stop plait go to `_came`, but for those that somebody has set
    to be ignored. Python has signals in the main thread only."""

    def __init__(self) -> None:
        self._old: dict[int, signal._HANDLER] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in STOPPING:
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._old[number] = signal.signal(number, self._came)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)

    def _came(self, number: int, frame: FrameType | None) -> None:
        raise NotImplementedError


class Ignored(Handled):
    """For the last words."""

    def _came(self, number: int, frame: FrameType | None) -> None:
        pass


class Interrupts(Handled):
    """Before the engines begin, a signal that stops plait raises KeyboardInterrupt. While they
    work, `plait.work` has the signals, and the first one leads to an answer. From then on the
    answer is being written: somebody who presses Ctrl-C twice wants to see it, so one more signal
    is passed over. The next one ends that too.
    """

    _has_begun = False
    _is_passed_over = False

    def begun(self) -> None:
        """The engines work, or what they have found is being written; may be called again and
        again."""
        self._has_begun = True

    def again(self) -> None:
        """Other engines are about to begin. A signal that was passed over counts now."""
        self._has_begun = False
        if self._is_passed_over:
            self._stop()

    def _came(self, number: int, frame: FrameType | None) -> None:
        if self._has_begun and not self._is_passed_over:
            self._is_passed_over = True
        else:
            self._stop()

    def _stop(self) -> NoReturn:
        """Whoever catches it may have an answer to write."""
        self._has_begun, self._is_passed_over = True, False
        raise KeyboardInterrupt


def ended_by_signals(work: Callable[[], int]) -> int:
    """For commands that execute the user's program: whoever ends plait ends the program too, which
    hears no signal of the terminal."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    old = {number: signal.signal(number, _interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        return work()
    finally:
        for number, handler in old.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
