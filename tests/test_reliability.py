"""Whole commands under attack: nothing hangs, nothing finished is lost, no process is left behind.

`make reliability` is the same with 1,000 verifications in a row.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import plait
from plait.api import verify
from plait.bench.verifying import warm_up

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
RACE = EXAMPLES / "counter_race.c"
MANY = int(os.environ.get("PLAIT_MANY", "40"))

needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")

# Neither engine comes to an end.
HARD = """
#include <pthread.h>
#include <assert.h>
extern _Bool __VERIFIER_nondet_bool(void);
int x = 1, y = 1;
void *f(void *a) { while (__VERIFIER_nondet_bool()) { x = x + y; y = y + x; } return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); f(0); assert(x != 1000003); }
"""


@pytest.fixture
def hard(tmp_path: Path) -> str:
    path = tmp_path / "hard.c"
    path.write_text(HARD)
    return str(path)


class Command:
    """A plait of its own, whose descendants can be told by a mark in their environment."""

    def __init__(self, *arguments: str) -> None:
        self.mark = uuid.uuid4().hex
        self.process = subprocess.Popen(
            [sys.executable, "-m", "plait", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PLAIT_TEST_MARK": self.mark},
        )

    def descendants(self) -> list[int]:
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                is_ours = self.mark.encode() in (folder / "environ").read_bytes()
                state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if is_ours and state != "Z" and int(folder.name) != self.process.pid:
                found.append(int(folder.name))
        return found

    def wait_for(self, count: int) -> list[int]:
        """Until there are so many descendants."""
        return _until(lambda: self.descendants(), lambda found: len(found) >= count)

    def wait_for_end(self) -> None:
        _until(lambda: self.descendants(), lambda found: not found)

    def answer(self) -> tuple[int, list[str]]:
        out, err = self.process.communicate(timeout=120)
        assert "Traceback" not in err
        return self.process.returncode, out.splitlines()


def _until(look: Callable[[], list[int]], is_enough: Callable[[list[int]], bool]) -> list[int]:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = look()
        if is_enough(found):
            return found
        time.sleep(0.05)
    raise AssertionError(f"still {look()}")


@pytest.fixture
def started() -> Iterator[Callable[..., Command]]:
    commands: list[Command] = []

    def start(*arguments: str) -> Command:
        commands.append(Command(*arguments))
        return commands[-1]

    yield start
    for command in commands:
        if command.process.poll() is None:
            command.process.kill()
            command.process.communicate()


@needs_proc
class TestKilled:
    def test_an_engine_is_killed_and_the_other_goes_on(
        self, started: Callable[..., Command], hard: str
    ) -> None:
        command = started("verify", "--engine", "portfolio", "--timeout", "4", hard)
        os.kill(command.wait_for(2)[0], signal.SIGKILL)
        code, lines = command.answer()
        assert code == 3
        assert "the worker ended by signal 9 (SIGKILL)" in lines[-1]
        assert "time limit of 4 s" in lines[-1]
        command.wait_for_end()

    def test_every_engine_is_killed(self, started: Callable[..., Command], hard: str) -> None:
        command = started("verify", "--engine", "portfolio", hard)
        for pid in command.wait_for(4):
            os.kill(pid, signal.SIGKILL)
        code, lines = command.answer()
        assert (code, lines[-1].count("SIGKILL")) == (3, 1)
        assert lines[-1].startswith("VERDICT: unknown (the worker ended by signal 9 (SIGKILL); ")

    @pytest.mark.parametrize("jobs", ["1", "2"])
    def test_the_supervisor_is_killed(
        self, started: Callable[..., Command], hard: str, jobs: str
    ) -> None:
        command = started("verify", "--engine", "portfolio", "--jobs", jobs, hard)
        command.wait_for(2)
        command.process.kill()
        command.process.communicate(timeout=60)
        command.wait_for_end()

    @pytest.mark.parametrize("jobs", ["1", "2"])
    def test_an_interrupt_ends_all(
        self, started: Callable[..., Command], hard: str, jobs: str
    ) -> None:
        command = started("verify", "--engine", "portfolio", "--jobs", jobs, hard)
        command.wait_for(2)
        command.process.send_signal(signal.SIGINT)
        code, lines = command.answer()
        assert code == 3
        assert lines[-1].startswith("VERDICT: unknown (interrupted; orders: ")
        assert "; impact: " in lines[-1]
        command.wait_for_end()


@needs_proc
class TestMemory:
    def test_a_solver_that_needs_too_much(self, hard: str) -> None:
        """More than three times what a worker needs before it has read anything; in a process of
        its own, for a worker begins with all that its parent has loaded."""
        options = ["--engine", "orders", "--unwind", "16", "--memory-limit", "0.2"]
        found = subprocess.run(
            [sys.executable, "-m", "plait", "verify", *options, "--progress", "json", hard],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        )
        assert found.returncode == 3
        last = found.stdout.splitlines()[-1]
        assert last.startswith("VERDICT: unknown (memory limit of 0.2 GiB; ")
        *_, status, _ = map(json.loads, found.stderr.splitlines())
        (engine,) = status["engines"]
        assert (engine["state"], engine["doing"]) == ("ended", "memory limit of 0.2 GiB")
        assert engine["numbers"]["last_bound"] == 16
        assert engine["numbers"]["clauses"] > 100_000  # they are counted when the solver begins

    def test_workers_that_need_too_much_together(self, hard: str) -> None:
        result = plait.verify(hard, engine="portfolio", memory_limit=0.1, timeout=60)
        assert result.verdict == "unknown"
        assert "memory limit of 0.1 GiB" in result.reason


class TestDisk:
    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
    def test_a_full_disk_changes_no_verdict(self, started: Callable[..., Command]) -> None:
        code, lines = started("verify", "--json", "/dev/full", str(RACE)).answer()
        assert (code, lines[-1]) == (2, "VERDICT: false (assertions)")

    def test_no_file_may_grow(self, tmp_path: Path) -> None:
        """As on a disk with a quota: the old result is still there, and nothing beside it."""
        saved = tmp_path / "r.json"
        saved.write_text("old")

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        done = subprocess.run(
            [sys.executable, "-m", "plait", "verify", "--force", "--json", str(saved), str(RACE)],
            capture_output=True,
            text=True,
            preexec_fn=limit,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            timeout=120,
            check=False,
        )
        assert done.returncode == 2
        assert "cannot write" in done.stderr and "Traceback" not in done.stderr
        assert done.stdout.splitlines()[-1] == "VERDICT: false (assertions)"
        assert saved.read_text() == "old"
        assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


def test_two_at_the_same_time_in_the_same_folder(
    started: Callable[..., Command], tmp_path: Path
) -> None:
    saved = tmp_path / "r.json"
    commands = [started("verify", "--json", str(saved), str(RACE)) for _ in range(2)]
    assert [command.answer()[0] for command in commands] == [1, 1]
    assert json.loads(saved.read_text())["verdict"] == "false"
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


def _file_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def _resident() -> int:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


@needs_proc
def test_many_in_a_row_leave_nothing(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text("#include <assert.h>\nint x;\nint main(void) { assert(x == 1); }\n")
    engines = ("auto", "orders", "impact", "portfolio", "modular")

    def once(number: int) -> None:
        result = verify(source, engine=engines[number % len(engines)], cache=False)
        assert result.verdict == ("unknown" if number % len(engines) == 4 else "false")

    warm_up()  # as the workers of `plait bench` are
    for number in range(10):
        once(number)
    files, memory = _file_descriptors(), _resident()
    for number in range(MANY):
        once(number)
    assert _file_descriptors() <= files
    assert _resident() - memory < (8 << 20) + MANY * 4096
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
