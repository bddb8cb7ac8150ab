"""`plait verify` always answers: limits, interrupts, crashes of the worker, mistakes of plait."""

from __future__ import annotations

import faulthandler
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NoReturn

import pytest

import plait.engines.orders.engine as engine
import plait.evidence.confirm as evidence
from plait.cli.main import main
from plait.evidence.replay import ReplayFailed

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
RACE = str(EXAMPLES / "counter_race.c")
needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")

HARD = """
#include <pthread.h>
#include <assert.h>
extern _Bool __VERIFIER_nondet_bool(void);
int x = 1, y = 1;
void *f(void *a) { while (__VERIFIER_nondet_bool()) { x = x + y; y = y + x; } return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); f(0); assert(x != 1000003); }
"""

# The engine of a process whose solver does not listen to anybody.
DEAF = """
import sys, plait.engines.orders.engine as engine
engine.verify = lambda *arguments: sum(range(10**13))
from plait.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def hard(tmp_path: Path) -> str:
    path = tmp_path / "hard.c"
    path.write_text(HARD)
    return str(path)


def verify(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, last line, standard error."""
    code = main(["verify", "--engine", "orders", *arguments])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return code, captured.out.rstrip().splitlines()[-1], captured.err


def start(*arguments: str, deaf: bool = False) -> subprocess.Popen[str]:
    """A process of its own, as soon as it has its worker."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, *(["-c", DEAF] if deaf else ["-m", "plait"]), "verify"]
    command += ["--engine", "orders", *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    worker_of(process)
    return process


def worker_of(process: subprocess.Popen[str]) -> int:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            except OSError:
                continue
            if int(parent) == process.pid:
                return int(folder.name)
        time.sleep(0.01)
    raise AssertionError("no worker")


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def answer(process: subprocess.Popen[str]) -> tuple[int, str]:
    out, err = process.communicate(timeout=20)
    assert err == ""
    return process.returncode, out.splitlines()[-1]


def engine_does(monkeypatch: pytest.MonkeyPatch, action: Any) -> None:
    """The worker is forked, so it inherits what is done here."""
    monkeypatch.setattr(engine, "verify", lambda *arguments: action())


def die_by(number: signal.Signals) -> None:
    faulthandler.disable()  # pytest's
    os.kill(os.getpid(), number)


class TestTime:
    def test_hard_program(self, hard: str, capsys: pytest.CaptureFixture[str]) -> None:
        started = time.monotonic()
        code, last, _ = verify(capsys, "--timeout", "1.5", hard)
        assert time.monotonic() - started < 3.5
        assert code == 3
        assert re.fullmatch(
            r"VERDICT: unknown \(time limit of 1\.5 s; (no violation with up to \d+ loop rounds"
            r"|no loop bound was finished|the program was not read yet)\)",
            last,
        )

    def test_solver_that_does_not_listen(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        engine_does(monkeypatch, lambda: sum(range(10**13)))
        started = time.monotonic()
        code, last, _ = verify(capsys, "--timeout", "1", RACE)
        assert time.monotonic() - started < 3.0
        assert code == 3
        assert last == "VERDICT: unknown (time limit of 1 s; no loop bound was finished)"

    def test_without_fork(
        self, hard: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delattr(os, "fork")
        code, last, _ = verify(capsys, "--timeout", "0.5", hard)
        assert code == 3
        assert last.startswith("VERDICT: unknown (time limit of 0.5 s; ")
        assert verify(capsys, RACE)[:2] == (1, "VERDICT: false (assertions)")


@needs_proc
class TestSignals:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    @pytest.mark.parametrize("deaf", [False, True])
    def test_interrupt(self, number: signal.Signals, deaf: bool, hard: str) -> None:
        process = start(hard, deaf=deaf)
        worker = worker_of(process)
        time.sleep(0.3)
        sent = time.monotonic()
        process.send_signal(number)
        code, last = answer(process)
        assert time.monotonic() - sent < 2.0
        assert code == 3
        assert last.startswith("VERDICT: unknown (interrupted; ")
        assert not is_alive(worker)

    def test_the_worker_is_killed(self, hard: str) -> None:
        process = start(hard)
        os.kill(worker_of(process), signal.SIGKILL)
        code, last = answer(process)
        assert code == 3
        assert last.startswith("VERDICT: unknown (the worker ended by signal 9 (SIGKILL); ")

    @pytest.mark.parametrize("deaf", [False, True])
    def test_the_worker_does_not_outlive_its_parent(self, deaf: bool, hard: str) -> None:
        process = start(hard, deaf=deaf)
        worker = worker_of(process)
        process.kill()
        process.communicate(timeout=20)
        end = time.monotonic() + 10
        while is_alive(worker) and time.monotonic() < end:
            time.sleep(0.01)
        assert not is_alive(worker)


class TestMemory:
    @needs_proc
    def test_limit(self, hard: str, capsys: pytest.CaptureFixture[str]) -> None:
        code, last, _ = verify(capsys, "--memory-limit", "0.02", hard)
        assert code == 3
        assert last.startswith("VERDICT: unknown (memory limit of 0.02 GiB; ")

    def test_enough(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert verify(capsys, "--memory-limit", "2", RACE)[0] == 1

    def test_without_limit(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def run_out() -> NoReturn:
            raise MemoryError

        engine_does(monkeypatch, run_out)
        code, last, _ = verify(capsys, RACE)
        assert (code, last) == (
            3,
            "VERDICT: unknown (out of memory; no loop bound was finished)",
        )


class TestFailures:
    def test_crash(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        engine_does(monkeypatch, lambda: die_by(signal.SIGSEGV))
        code, last, _ = verify(capsys, RACE)
        assert code == 3
        assert last == (
            "VERDICT: unknown (the worker ended by signal 11 (SIGSEGV); no loop bound was finished)"
        )

    def test_exception(
        self,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
    ) -> None:
        monkeypatch.chdir(tmp_path)
        engine_does(monkeypatch, lambda: {}["lost"])
        code, last, err = verify(capsys, "--json", "result.json", RACE)
        assert code == 3
        assert last.startswith("VERDICT: unknown (internal error: KeyError")
        (path,) = tmp_path.glob("plait-report-*.json")
        assert path.name in err
        report = json.loads(path.read_text())
        assert report["traceback"][0].startswith("Traceback")
        assert json.loads(Path("result.json").read_text())["report"] == path.name

    def test_counterexample_that_does_not_replay(
        self,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
    ) -> None:
        def replay(*arguments: object) -> NoReturn:
            raise ReplayFailed("thread 7 is never started")

        monkeypatch.setattr(evidence, "replay", replay)
        monkeypatch.chdir(tmp_path)
        code, last, err = verify(capsys, RACE)
        assert code == 3
        assert last == (
            "VERDICT: unknown (internal error: the counterexample does not replay"
            " (thread 7 is never started))"
        )
        (path,) = tmp_path.iterdir()
        assert re.fullmatch(r"plait-report-[0-9a-f]{12}\.json", path.name)
        assert path.name in err
        report = json.loads(path.read_text())
        assert "thread 7" in report["message"]
        assert report["options"]["programs"] == [RACE]
        assert report["plan"].keys() == {"order", "children", "inputs", "unset", "violator"}
        assert len(report["files"][RACE]) == 64

    @needs_proc
    def test_report_where_nothing_can_be_written(
        self,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
    ) -> None:
        monkeypatch.chdir("/proc")
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        engine_does(monkeypatch, lambda: {}["lost"])
        code, _, err = verify(capsys, RACE)
        assert code == 3
        (path,) = tmp_path.iterdir()
        assert str(path) in err
