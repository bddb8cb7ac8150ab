"""Work in a child process: messages arrive, limits hold, nothing is left behind."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from plait.work.child import Send, Work
from plait.work.limits import Ending, Finish, Limits
from plait.work.supervise import supervise

needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
NO_LIMITS = Limits()


def watch(work: Work, limits: Limits = NO_LIMITS) -> tuple[Finish, list[dict[str, Any]]]:
    heard: list[dict[str, Any]] = []
    finish = supervise(work, limits, heard.append)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    return finish, heard


def solve_for_ever(send: Send) -> None:
    """Like a solver: neither signal handlers nor other threads of Python get their turn."""
    sum(range(10**13))


def die_by(number: signal.Signals) -> None:
    faulthandler.disable()  # pytest's
    os.kill(os.getpid(), number)


def after(seconds: float, action: Callable[[], object]) -> None:
    threading.Timer(seconds, action).start()


def test_messages_arrive_in_order() -> None:
    def work(send: Send) -> None:
        for number in range(100):
            send({"number": number, "text": "é\udcff\n" * number})
        send({"large": "x" * 3_000_000})

    finish, heard = watch(work)
    assert finish.ending is Ending.FINISHED
    assert [message["number"] for message in heard[:-1]] == list(range(100))
    assert heard[99]["text"] == "é\udcff\n" * 99
    assert len(heard[-1]["large"]) == 3_000_000
    assert finish.cpu_seconds > 0.0
    assert finish.peak_memory > 1_000_000


def test_the_child_has_nothing_to_say_to_the_user(capfd: pytest.CaptureFixture[str]) -> None:
    def work(send: Send) -> None:
        os.write(1, b"to standard output\n")
        os.write(2, b"x" * 100_000 + b"to standard error\n")

    finish, _ = watch(work)
    assert finish.noise.endswith("to standard error\n")
    assert len(finish.noise) < 10_000
    assert capfd.readouterr() == ("", "")


def test_time_limit() -> None:
    def work(send: Send) -> None:
        send({"first": 1})
        solve_for_ever(send)

    started = time.monotonic()
    finish, heard = watch(work, Limits(seconds=0.3))
    assert finish.ending is Ending.TIME
    assert heard == [{"first": 1}]
    assert 0.3 <= time.monotonic() - started < 2.3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    after(0.2, lambda: os.kill(os.getpid(), number))
    started = time.monotonic()
    finish, _ = watch(solve_for_ever)
    assert finish.ending is Ending.INTERRUPTED
    assert time.monotonic() - started < 2.2
    assert signal.getsignal(number) is before


def test_an_interrupt_counts_even_where_it_was_ignored() -> None:
    old = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        after(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
        assert watch(solve_for_ever)[0].ending is Ending.INTERRUPTED
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, old)


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT])
def test_death_by_a_signal(number: signal.Signals) -> None:
    def work(send: Send) -> None:
        send({"first": 1})
        os.write(2, b"last words\n")
        die_by(number)

    finish, heard = watch(work)
    assert finish.ending is Ending.DIED
    assert finish.how == f"by signal {number.value} ({number.name})"
    assert finish.noise == "last words\n"
    assert heard == [{"first": 1}]


def test_exception() -> None:
    def work(send: Send) -> None:
        raise KeyError("lost")

    finish, _ = watch(work)
    assert finish.ending is Ending.DIED
    assert finish.how.startswith("with exit code")
    assert finish.noise == "KeyError: 'lost'\n"


def test_an_exception_of_the_receiver_leaves_no_child() -> None:
    def receive(message: dict[str, Any]) -> None:
        raise ZeroDivisionError

    def work(send: Send) -> None:
        send({})
        solve_for_ever(send)

    with pytest.raises(ZeroDivisionError):
        supervise(work, Limits(), receive)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_out_of_memory() -> None:
    def work(send: Send) -> None:
        raise MemoryError

    assert watch(work)[0].ending is Ending.MEMORY


def test_a_solver_without_memory() -> None:
    def work(send: Send) -> None:
        os.write(2, b"terminate called after throwing an instance of 'std::bad_alloc'\n")
        die_by(signal.SIGABRT)

    assert watch(work)[0].ending is Ending.MEMORY


@pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_AS")
def test_address_space_limit() -> None:
    def work(send: Send) -> None:
        send({"size": len(bytearray(4 << 30))})

    finish, heard = watch(work, Limits(memory=1 << 30))
    assert finish.ending is Ending.MEMORY
    assert heard == []


@needs_proc
def test_resident_memory_limit() -> None:
    def work(send: Send) -> None:
        kept = []
        while len(kept) < 40:
            kept.append(b"x" * (8 << 20))
            time.sleep(0.02)
        solve_for_ever(send)

    finish, _ = watch(work, Limits(memory=200 << 20, seconds=20))
    assert finish.ending is Ending.MEMORY
    assert finish.peak_memory > 200 << 20


def test_a_year_is_not_too_long() -> None:
    assert watch(lambda send: None, Limits(seconds=3e7))[0].ending is Ending.FINISHED


def test_ticks() -> None:
    ticks: list[float] = []
    supervise(lambda send: time.sleep(0.7), Limits(), lambda _: None, lambda: ticks.append(0.0))
    assert len(ticks) >= 2


def test_in_another_thread() -> None:
    found: list[Finish] = []
    thread = threading.Thread(
        target=lambda: found.append(supervise(lambda send: send({}), Limits(), lambda _: None))
    )
    thread.start()
    thread.join(20)
    assert [finish.ending for finish in found] == [Ending.FINISHED]


def test_no_file_descriptor_is_lost() -> None:
    def lowest() -> int:
        descriptor = os.dup(0)
        os.close(descriptor)
        return descriptor

    before = lowest()
    watch(lambda send: None)
    watch(solve_for_ever, Limits(seconds=0.01))
    assert lowest() == before


class TestWithoutFork:
    @pytest.fixture(autouse=True)
    def no_fork(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr(os, "fork")

    def test_messages(self) -> None:
        heard: list[dict[str, Any]] = []
        assert supervise(lambda send: send({"a": 1}), Limits(), heard.append) == Finish(
            Ending.FINISHED
        )
        assert heard == [{"a": 1}]

    @pytest.mark.parametrize(
        ("error", "ending"),
        [(KeyboardInterrupt, Ending.INTERRUPTED), (MemoryError, Ending.MEMORY)],
    )
    def test_endings(self, error: type[BaseException], ending: Ending) -> None:
        def work(send: Send) -> None:
            raise error

        assert supervise(work, Limits(), lambda _: None).ending is ending


def test_without_a_free_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def fork() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", fork)
    finish, heard = watch(lambda send: send({"a": 1}))
    assert (finish.ending, heard) == (Ending.FINISHED, [{"a": 1}])
