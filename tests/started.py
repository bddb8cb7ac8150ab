"""A plugin of pytest: what tests start hears signals, and ends with them.

Somebody may run the tests in the background (`nohup make test &`): then SIGINT and SIGHUP are
ignored, and whatever is started inherits that. And a test that fails, or is killed, leaves behind
what it has started, which may have no time limit. Neither is for a test to think of.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.work.processes import children

_HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_PR_SET_PDEATHSIG = 1
_TESTS = os.getpid()
_LIBRARY = ctypes.CDLL(None) if sys.platform == "linux" else None
_started: list[subprocess.Popen[Any]] = []


class _Started(subprocess.Popen[Any]):
    """What the process of the tests starts. (What that starts in turn is left alone: some tests are
    about processes that nobody ends.)"""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        if os.getpid() == _TESTS:
            own = options.get("preexec_fn")
            # A process that a thread has started would end with the thread.
            is_main = threading.current_thread() is threading.main_thread()
            options["preexec_fn"] = lambda: _prepare(own, dies_with_us=is_main)
            _started.append(self)
        super().__init__(*arguments, **options)


def _prepare(own: Callable[[], None] | None, *, dies_with_us: bool) -> None:
    """In the new process, before it executes anything. A killed process cannot end what it has
    started; Linux can."""
    if dies_with_us and _LIBRARY is not None:
        _LIBRARY.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != _TESTS:
            os._exit(1)
    for number in _HEARD:
        signal.signal(number, signal.SIG_DFL)
    if own is not None:
        own()


def pytest_configure() -> None:
    subprocess.Popen = _Started  # type: ignore[misc]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """What a test itself has started ends with it; what fixtures have started, with them."""
    known = len(_started)
    try:
        return (yield)
    finally:
        end_all(known)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    end_all(0)


def end_all(first: int) -> None:
    """Those that were started since then, and all below them."""
    for process in _started[first:]:
        if getattr(process, "returncode", 0) is None and process.poll() is None:
            for pid in [*_below(process.pid), process.pid]:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            process.wait()
    del _started[first:]


def _below(pid: int) -> list[int]:
    found = children(pid)
    return [*found, *(deeper for child in found for deeper in _below(child))]


@pytest.fixture(autouse=True)
def _signals_are_heard(request: pytest.FixtureRequest) -> Iterator[None]:
    """In tests that deal with signals, which import the module of that name."""
    if getattr(request.module, "signal", None) is not signal:
        yield
        return
    before = {number: signal.signal(number, signal.SIG_DFL) for number in _HEARD}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, signal.SIG_DFL if handler is None else handler)
