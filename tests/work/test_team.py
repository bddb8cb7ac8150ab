"""Several works side by side: the first one that decides ends the others."""

from __future__ import annotations

import faulthandler
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from plait.work.child import Send, Work
from plait.work.limits import Ending, Finish, Limits
from plait.work.supervise import supervise_all

ROOT = Path(__file__).parents[2]


def say(text: str, after: float = 0.0) -> Work:
    def work(send: Send) -> None:
        time.sleep(after)
        send({"says": text})

    return work


def for_ever(send: Send) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(60)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def run(
    works: dict[str, Work], limits: Limits | None = None, decides: str = ""
) -> tuple[dict[str, Finish], list[tuple[str, str]]]:
    heard: list[tuple[str, str]] = []

    def decide(name: str, message: dict[str, Any]) -> bool:
        heard.append((name, message["says"]))
        return bool(decides) and message["says"] == decides

    return supervise_all(works, limits or Limits(), decide), heard


def test_all_can_finish() -> None:
    finishes, heard = run({"a": say("one"), "b": say("two", 0.05)})
    assert sorted(heard) == [("a", "one"), ("b", "two")]
    assert {name: item.ending for name, item in finishes.items()} == {
        "a": Ending.FINISHED,
        "b": Ending.FINISHED,
    }


def test_the_first_who_decides_ends_the_others() -> None:
    began = time.monotonic()
    works: dict[str, Work] = {"slow": for_ever, "quick": say("yes", 0.05), "other": for_ever}
    finishes, heard = run(works, decides="yes")
    assert heard == [("quick", "yes")]
    assert finishes["slow"].ending is finishes["other"].ending is Ending.STOPPED
    assert finishes["quick"].ending in (Ending.FINISHED, Ending.STOPPED)
    assert time.monotonic() - began < 30
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_one_that_dies_takes_nobody_with_it() -> None:
    def crash(send: Send) -> None:
        faulthandler.disable()
        os.kill(os.getpid(), signal.SIGSEGV)

    finishes, heard = run({"crash": crash, "fine": say("yes", 0.1)})
    assert finishes["crash"].ending is Ending.DIED and "SIGSEGV" in finishes["crash"].how
    assert finishes["fine"].ending is Ending.FINISHED
    assert heard == [("fine", "yes")]


def test_the_largest_one_makes_room(tmp_path: Path) -> None:
    if not os.path.exists("/proc/self/statm"):
        pytest.skip("needs /proc")
    name = tmp_path / "large"

    def large(send: Send) -> None:
        name.write_text(str(os.getpid()))
        block = bytearray(400 << 20)
        for place in range(0, len(block), 4096):
            block[place] = 1
        time.sleep(60)

    def small(send: Send) -> None:
        """Is there as long as the other one, however slow that is."""
        while not (name.exists() and name.read_text()) or is_alive(int(name.read_text())):
            time.sleep(0.05)
        send({"says": "yes"})

    with open("/proc/self/statm") as file:
        own = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    memory = 2 * own + (200 << 20)  # each child begins with what this process has
    finishes, heard = run({"large": large, "small": small}, Limits(seconds=50, memory=memory))
    assert finishes["large"].ending is Ending.MEMORY
    assert finishes["small"].ending is Ending.FINISHED
    assert heard == [("small", "yes")]


def test_time_ends_all() -> None:
    finishes, _ = run({"a": for_ever, "b": for_ever}, Limits(seconds=0.1))
    assert all(item.ending is Ending.TIME for item in finishes.values())


def test_an_interrupt_ends_all() -> None:
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    finishes, _ = run({"a": for_ever, "b": for_ever}, Limits(seconds=30))
    assert all(item.ending is Ending.INTERRUPTED for item in finishes.values())


def test_an_exception_of_the_receiver_leaves_no_child() -> None:
    def decide(name: str, message: dict[str, Any]) -> bool:
        raise KeyError(name)

    with pytest.raises(KeyError):
        supervise_all({"a": for_ever, "b": say("x")}, Limits(), decide)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_no_file_descriptor_is_lost() -> None:
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(5):
        run({"a": say("x"), "b": say("yes"), "c": for_ever}, decides="yes")
    after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert after == before


def test_children_do_not_outlive_a_parent_that_is_killed(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("needs Linux")
    program = (
        "import os, sys, time\n"
        "from plait.work.limits import Limits\n"
        "from plait.work.supervise import supervise_all\n"
        "def work(send):\n"
        f"    open({str(tmp_path)!r} + '/' + str(os.getpid()), 'w').close()\n"
        "    time.sleep(60)\n"
        "supervise_all({'a': work, 'b': work}, Limits(), lambda name, message: False)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    parent = subprocess.Popen([sys.executable, "-c", program], env=environment)
    end = time.monotonic() + 20
    while len(os.listdir(tmp_path)) < 2 and time.monotonic() < end:
        time.sleep(0.02)
    children = [int(name) for name in os.listdir(tmp_path)]
    parent.kill()
    parent.wait()
    assert len(children) == 2
    while any(_is_alive(pid) for pid in children) and time.monotonic() < end:
        time.sleep(0.02)
    assert not any(_is_alive(pid) for pid in children)


def _is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_without_a_free_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_process() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", no_process)
    finishes, heard = run({"a": say("yes"), "b": say("no")}, decides="yes")
    assert heard == [("a", "yes")]
    assert (finishes["a"].ending, finishes["b"].ending) == (Ending.FINISHED, Ending.STOPPED)


def test_with_one_free_process(monkeypatch: pytest.MonkeyPatch) -> None:
    fork, forked = os.fork, []

    def only_one() -> int:
        if forked:
            raise BlockingIOError
        forked.append(True)
        return fork()

    monkeypatch.setattr(os, "fork", only_one)
    finishes, heard = run({"a": say("yes"), "b": say("no")})
    assert heard == [("a", "yes")]
    assert (finishes["a"].ending, finishes["b"].ending) == (Ending.FINISHED, Ending.DIED)
    assert "no process" in finishes["b"].how
