"""What tests start, of tests that run in the background, fail, or are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from tests.bench.fakes import processes_with, wait_until

ROOT = Path(__file__).parents[1]
SLEEPER = """
    command = [sys.executable, "-c", "import time; time.sleep(600)", {marker!r}]
    nested = "import subprocess, sys; subprocess.run(sys.argv[1:])"
    subprocess.Popen([sys.executable, "-c", nested, *command])
    subprocess.Popen(command, start_new_session=True)
"""
INNER = """
import os, signal, subprocess, sys, time
import pytest
REPORT = "import signal; print(*(signal.getsignal(n).name for n in (signal.SIGHUP, signal.SIGTERM)), signal.getsignal(2))"

def test_dispositions():
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
    said = subprocess.run([sys.executable, "-c", REPORT], capture_output=True, text=True).stdout
    assert said.startswith("SIG_DFL SIG_DFL <built-in function default_int_handler>"), said
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)

def test_failure():
    {sleeper}
    assert False

def test_hanging():
    {sleeper}
    open({ready!r}, "w").close()
    time.sleep(600)
"""


@pytest.fixture
def marker() -> str:
    return f"marker-{uuid.uuid4().hex}"


def inner(folder: Path, marker: str, *chosen: str) -> list[str]:
    """A run of tests that is started as in the background of a shell."""
    path = folder / "test_inner.py"
    path.write_text(
        INNER.format(sleeper=SLEEPER.strip().format(marker=marker), ready=str(folder / "ready"))
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tests.started",
        f"--rootdir={folder}",
        str(path),
    ]
    ignoring = 'trap "" INT HUP; exec "$@"'
    return ["sh", "-c", ignoring, "sh", *command, "-c", "/dev/null", "-q", "-k", *chosen]


def test_signals_are_heard_in_the_background(tmp_path: Path, marker: str) -> None:
    command = inner(tmp_path, marker, "dispositions")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_failing_test_leaves_nothing(tmp_path: Path, marker: str) -> None:
    command = inner(tmp_path, marker, "failure")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert "1 failed" in done.stdout
    assert processes_with(marker) == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs prctl")
def test_tests_that_are_killed_leave_little(tmp_path: Path, marker: str) -> None:
    """What they have started themselves."""
    tests = subprocess.Popen(inner(tmp_path, marker, "hanging"), cwd=ROOT)
    assert wait_until(lambda: (tmp_path / "ready").exists(), 60)
    assert len(processes_with(marker)) >= 2
    tests.send_signal(signal.SIGKILL)
    tests.wait()
    time.sleep(0.2)
    left = processes_with(marker)
    assert len(left) <= 1, "all but what a process that was killed has started"
    for pid in left:
        os.kill(pid, signal.SIGKILL)
