"""A conductor pauses works, lets them go on, tells them something, and stops them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.work.processes import children, state

from plait.work.child import Channel, Message
from plait.work.limits import Ending, Finish, Limits
from plait.work.supervise import Conductor, Team, conduct

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")


def wait_for(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def counting(channel: Channel) -> None:
    """Says who it is, and then that it goes on."""
    channel({"pid": os.getpid()})
    while True:
        time.sleep(0.02)
        channel({"goes on": True})


class Acting(Conductor):
    """Calls `act` once, when all works have said their names."""

    def __init__(self, act: Callable[[Team, Acting], bool], *names: str) -> None:
        self._act = act
        self._names = names
        self._has_acted = False
        self.pids: dict[str, int] = {}
        self.heard: list[str] = []
        self.endings: dict[str, Ending] = {}

    def begin(self, team: Team) -> None:
        for name in self._names:
            team.start(name, counting)

    def hear(self, team: Team, name: str, message: Message) -> bool:
        if "pid" in message:
            self.pids[name] = message["pid"]
        elif len(self.pids) == len(self._names):
            self.heard.append(name)
            if not self._has_acted:
                self._has_acted = True
                return self._act(team, self)
        return False

    def ended(self, team: Team, name: str, finish: Finish) -> None:
        self.endings[name] = finish.ending

    def look(self, team: Team) -> float:
        return 0.05


def test_pause_and_resume() -> None:
    def act(team: Team, conductor: Acting) -> bool:
        pid = conductor.pids["a"]
        team.pause("a")
        team.pause("a")
        wait_for(lambda: state(pid) == "T")
        assert state(conductor.pids["b"]) not in ("T", "")
        assert "a" in team.names
        assert team.memory("a") > 0
        team.resume("a")
        wait_for(lambda: state(pid) not in ("T", ""))
        team.pause("nobody")
        team.resume("nobody")
        assert team.memory("nobody") == 0
        return True

    finishes = conduct(Acting(act, "a", "b"), Limits(seconds=30))
    assert all(item.ending is Ending.STOPPED for item in finishes.values())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_ends_what_is_paused(number: signal.Signals) -> None:
    def act(team: Team, conductor: Acting) -> bool:
        team.pause("a")
        threading.Timer(0.1, os.kill, (os.getpid(), number)).start()
        return False

    conductor = Acting(act, "a", "b")
    finishes = conduct(conductor, Limits(seconds=30))
    assert all(item.ending is Ending.INTERRUPTED for item in finishes.values())
    assert not any(state(pid) for pid in conductor.pids.values())


def test_a_hangup_that_is_ignored() -> None:
    """As with nohup."""

    def act(team: Team, conductor: Acting) -> bool:
        os.kill(os.getpid(), signal.SIGHUP)
        time.sleep(0.05)
        team.stop("a")
        return False

    old = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        finishes = conduct(Acting(act, "a"), Limits(seconds=30))
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, old)
    assert finishes["a"].ending is Ending.STOPPED


def test_time_ends_what_is_paused() -> None:
    def act(team: Team, conductor: Acting) -> bool:
        team.pause("a")
        return False

    finishes = conduct(Acting(act, "a", "b"), Limits(seconds=0.5))
    assert all(item.ending is Ending.TIME for item in finishes.values())


def test_what_is_paused_can_be_stopped() -> None:
    def act(team: Team, conductor: Acting) -> bool:
        team.pause("a")
        team.stop("a")
        assert team.names == ["b"]
        team.stop("b")
        return False

    conductor = Acting(act, "a", "b")
    finishes = conduct(conductor, Limits(seconds=30))
    assert all(item.ending is Ending.STOPPED for item in finishes.values())
    assert not any(state(pid) for pid in conductor.pids.values())


def test_going_on_after_a_stop_wakes_nobody_who_waits() -> None:
    """`fg` sends SIGCONT to all processes of a job."""
    seen: list[str] = []

    def act(team: Team, conductor: Acting) -> bool:
        team.pause("a")
        pid = conductor.pids["a"]

        def continue_all() -> None:
            wait_for(lambda: state(pid) == "T")
            os.kill(pid, signal.SIGCONT)
            wait_for(lambda: state(pid) not in ("T", ""))
            os.kill(os.getpid(), signal.SIGCONT)
            wait_for(lambda: state(pid) == "T")
            seen.append(state(pid))
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=continue_all).start()
        return False

    conduct(Acting(act, "a", "b"), Limits(seconds=40))
    assert seen == ["T"]


def test_a_child_that_is_killed_while_it_is_paused() -> None:
    def act(team: Team, conductor: Acting) -> bool:
        team.pause("a")
        os.kill(conductor.pids["a"], signal.SIGKILL)
        threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
        return False

    conductor = Acting(act, "a", "b")
    finishes = conduct(conductor, Limits(seconds=30))
    assert conductor.endings == {"a": Ending.DIED}
    assert finishes["b"].ending is Ending.INTERRUPTED


def test_news() -> None:
    """What a child is told arrives, in order; what is too long is lost."""

    class ProofSender(Conductor):
        def __init__(self) -> None:
            self.heard: list[Message] = []

        def begin(self, team: Team) -> None:
            team.start("a", listen)

        def hear(self, team: Team, name: str, message: Message) -> bool:
            if "begins" in message:
                team.tell("a", {"fact": 1})
                team.tell("a", {"fact": "x" * 100_000})
                team.tell("nobody", {"fact": 3})
                team.tell("a", {"fact": "é"})
            else:
                self.heard.append(message)
            return False

    def listen(channel: Channel) -> None:
        channel({"begins": True})
        facts: list[Message] = []
        end = time.monotonic() + 20
        while len(facts) < 2 and time.monotonic() < end:
            facts += channel.news()
            time.sleep(0.01)
        channel({"facts": facts})
        assert channel.news() == []

    conductor = ProofSender()
    finishes = conduct(conductor, Limits(seconds=30))
    assert finishes["a"].ending is Ending.FINISHED
    assert conductor.heard == [{"facts": [{"fact": 1}, {"fact": "é"}]}]


def test_a_paused_child_that_does_not_listen_keeps_nobody_waiting() -> None:
    def act(team: Team, conductor: Acting) -> bool:
        team.pause("a")
        for number in range(5000):
            team.tell("a", {"fact": number, "text": "x" * 100})
        return True

    conduct(Acting(act, "a"), Limits(seconds=30))


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_paused_children_do_not_outlive_a_parent_that_is_killed() -> None:
    program = """
import os, time
from plait.work.limits import Limits
from plait.work.supervise import Conductor, conduct
class Pausing(Conductor):
    def begin(self, team):
        team.start("a", work)
        team.start("b", work)
    def hear(self, team, name, message):
        team.pause(name)
        return False
def work(channel):
    channel({})
    time.sleep(60)
conduct(Pausing(), Limits())
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    parent = subprocess.Popen([sys.executable, "-c", program], env=environment)
    try:
        workers: list[int] = []

        def are_paused() -> bool:
            workers[:] = children(parent.pid)
            return len(workers) == 2 and all(state(pid) == "T" for pid in workers)

        wait_for(are_paused)
    finally:
        parent.kill()
        parent.wait()
    wait_for(lambda: not any(map(state, workers)))


def noisy(channel: Channel) -> None:
    os.write(1, b"second\n")


class Twice(Conductor):
    """Starts a work again under its name when it has ended."""

    def __init__(self) -> None:
        self.finishes: list[Finish] = []

    def begin(self, team: Team) -> None:
        team.start("a", lambda channel: os._exit(1))

    def ended(self, team: Team, name: str, finish: Finish) -> None:
        self.finishes.append(finish)
        if len(self.finishes) == 1:
            team.start("a", noisy)


def test_a_work_that_is_started_again() -> None:
    conductor = Twice()
    finish = conduct(conductor, Limits(seconds=30))["a"]
    assert [item.ending for item in conductor.finishes] == [Ending.DIED, Ending.FINISHED]
    assert (finish.ending, finish.noise) == (Ending.FINISHED, "second\n")
    assert finish.cpu_seconds >= conductor.finishes[0].cpu_seconds


def test_what_two_works_have_used() -> None:
    earlier = Finish(Ending.DIED, "by signal 9 (SIGKILL)", "a", 1.0, 300)
    both = Finish(Ending.FINISHED, "", "b", 2.0, 200).after(earlier)
    assert both == Finish(Ending.FINISHED, "", "ab", 3.0, 300)
