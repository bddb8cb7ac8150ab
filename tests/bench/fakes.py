"""Tasks without programs, and ways to verify that go wrong."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from plait.bench.records import Job, JobResult, Record
from plait.bench.suite import Task

SLEEP_FOR_EVER = (
    "import signal,time\nfor n in (1,2,15): signal.signal(n, signal.SIG_IGN)\ntime.sleep(600)"
)


def task(name: str, expected: bool | None = True) -> Task:
    return Task(
        f"folder/{name}.yml",
        f"/suite/folder/{name}.yml",
        (),
        "unreach-call",
        "",
        "LP64",
        expected,
        "f",
    )


def job(name: str, engine: str = "orders", expected: bool | None = True) -> Job:
    return Job(task(name, expected), engine)


def record(
    name: str,
    verdict: str = "true",
    expected: bool | None = True,
    engine: str = "orders",
    cpu: float = 1.0,
    reason: str = "",
) -> Record:
    return Record(
        f"folder/{name}.yml", "unreach-call", engine, expected, verdict, reason, cpu_seconds=cpu
    )


def named(item: Job) -> str:
    return item.task.name.rpartition("/")[2].removesuffix(".yml")


def by_name(**behaviours: Callable[[], object]) -> Callable[[Job], JobResult]:
    """Verify by what the name of the task begins with; others are true at once."""

    def verify(item: Job) -> JobResult:
        behaviours.get(named(item).partition("-")[0], lambda: None)()
        return JobResult("true", winner=item.engine, cpu_seconds=0.25, statistics={"events": 7})

    return verify


def be_killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def segfault() -> None:
    faulthandler.disable()
    ctypes.string_at(0)


def ignore_everything() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(600)


def leave_children(marker: str) -> None:
    """One in the same group, one in a session of its own, one whose parent is gone at once."""
    command = [sys.executable, "-c", SLEEP_FOR_EVER, marker]
    subprocess.Popen(command)
    subprocess.Popen(command, start_new_session=True)
    orphan = f"import subprocess,sys; subprocess.Popen([sys.executable, '-c', {SLEEP_FOR_EVER!r}, {marker!r}], start_new_session=True)"
    subprocess.run([sys.executable, "-c", orphan], check=True)


def processes_with(marker: str) -> list[int]:
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                command = (path / "cmdline").read_bytes()
                state = (path / "stat").read_bytes().rpartition(b")")[2].split()[0]
            except (OSError, IndexError):
                continue
            if marker.encode() in command and state != b"Z":
                found.append(int(path.name))
    return found


def wait_until(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
