"""Whatever verifying does, every job gets its record and no process is left."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from plait.bench.pool import Pool
from plait.bench.processes import resident_memory
from plait.bench.records import ExecutorFailed, Interrupted, Job, JobResult, Record
from plait.errors import Diagnostic, InputError
from tests.bench import fakes
from tests.bench.fakes import by_name, job, processes_with, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def run(pool: Pool, jobs: Sequence[Job]) -> dict[str, Record]:
    records = list(pool.run(jobs))
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    assert len(records) == len(jobs)
    return {item.task.removeprefix("folder/").removesuffix(".yml"): item for item in records}


@pytest.fixture
def marker(request: pytest.FixtureRequest) -> str:
    return f"plait-bench-test-{os.getpid()}-{time.monotonic_ns()}"


def test_every_job_has_a_record() -> None:
    jobs = [job(f"t{number}", engine) for number in range(5) for engine in ("orders", "impact")]
    records = list(Pool(by_name(), workers=2).run(jobs))
    assert {item.key for item in records} == {item.key for item in jobs}
    first = records[0]
    assert (first.verdict, first.status, first.cpu_seconds) == ("true", "correct", 0.25)
    assert first.statistics == {"events": 7}
    assert first.wall_seconds > 0
    assert list(Pool(by_name()).run([])) == []


def test_jobs_of_one_worker_keep_their_order() -> None:
    jobs = [job(f"t{number}") for number in range(20)]
    assert [item.task for item in Pool(by_name()).run(jobs)] == [item.task.name for item in jobs]


def test_errors_are_answers() -> None:
    def fail() -> None:
        raise ValueError("bad\nthing")

    def refuse() -> None:
        raise InputError(Diagnostic("expected ';'", "a.c", 3, 1, "int x"))

    def leave() -> None:
        sys.exit(5)

    def exhaust() -> None:
        raise MemoryError

    verify = by_name(fail=fail, refuse=refuse, leave=leave, exhaust=exhaust)
    records = run(
        Pool(verify, workers=2), [job(n) for n in ("fail", "refuse", "leave", "exhaust", "x")]
    )
    assert re.fullmatch("internal error: ValueError at .*: bad thing", records["fail"].reason)
    failure = records["fail"].failure
    assert failure is not None and failure["traceback"][0].startswith("Traceback")
    assert records["refuse"].reason == "a.c:3:1: expected ';'"
    assert "SystemExit: 5" in records["leave"].reason
    assert (records["exhaust"].verdict, records["exhaust"].reason) == ("unknown", "out of memory")
    assert {name: item.verdict for name, item in records.items() if name != "exhaust"} == {
        "fail": "error",
        "refuse": "error",
        "leave": "error",
        "x": "true",
    }


def test_workers_that_die_are_replaced(tmp_path: Path) -> None:
    def count(name: str) -> None:
        with open(tmp_path / name, "a") as file:
            file.write("x")

    def die_once() -> None:
        count("once")
        if (tmp_path / "once").stat().st_size == 1:
            fakes.be_killed()

    def die() -> None:
        count("die")
        fakes.be_killed()

    verify = by_name(once=die_once, die=die, crash=fakes.segfault)
    names = ["a", "die", "b", "once", "c", "crash", "d"]
    records = run(Pool(verify, workers=2), [job(name) for name in names])
    assert records["die"].reason == "the worker ended by signal 9 (SIGKILL)"
    assert records["crash"].reason.startswith("the worker ended by signal 11 (SIGSEGV)")
    assert (tmp_path / "die").stat().st_size == 2
    assert [records[name].verdict for name in ("die", "crash")] == ["error", "error"]
    assert {records[name].verdict for name in ("a", "b", "once", "c", "d")} == {"true"}


def test_what_ignores_everything_is_ended() -> None:
    verify = by_name(stuck=fakes.ignore_everything)
    records = run(Pool(verify, workers=2, seconds=0.4), [job(n) for n in ("stuck", "a", "b")])
    assert records["stuck"].verdict == "error"
    assert "no answer after 0.4 s" in records["stuck"].reason
    assert records["stuck"].wall_seconds >= 0.4
    assert records["a"].verdict == records["b"].verdict == "true"


def test_memory() -> None:
    def grow() -> None:
        kept = []
        while True:
            kept.append(bytearray(16 << 20))
            time.sleep(0.005)

    def leap() -> None:
        bytearray(1 << 40)

    verify = by_name(grow=grow, leap=leap)
    records = run(Pool(verify, memory=400 << 20), [job(n) for n in ("grow", "leap", "a")])
    assert (records["grow"].verdict, records["grow"].reason) == (
        "unknown",
        "memory limit of 0.390625 GiB",
    )
    assert (records["leap"].verdict, records["leap"].reason) == ("unknown", "out of memory")
    assert records["a"].verdict == "true"


def test_a_worker_that_has_grown_is_not_kept() -> None:
    kept: list[bytearray] = []

    def verify(item: Job) -> JobResult:
        if fakes.named(item).startswith("leak"):
            kept.append(bytearray(300 << 20))
        return JobResult("true", str(resident_memory(os.getpid())))

    records = run(Pool(verify), [job("leak"), job("after")])
    assert int(records["leak"].reason) - int(records["after"].reason) > 200 << 20


def test_descendants_of_a_job_end_with_it(marker: str) -> None:
    def leave() -> None:
        fakes.leave_children(marker)

    def leave_and_die() -> None:
        fakes.leave_children(marker)
        fakes.be_killed()

    def leave_and_hang() -> None:
        fakes.leave_children(marker)
        fakes.ignore_everything()

    verify = by_name(leave=leave, die=leave_and_die, hang=leave_and_hang)
    records = run(Pool(verify, workers=2, seconds=1.5), [job(n) for n in ("leave", "die", "hang")])
    assert processes_with(marker) == []
    assert records["leave"].verdict == "true"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run(marker: str, number: signal.Signals) -> None:
    def hang() -> None:
        fakes.leave_children(marker)
        fakes.ignore_everything()

    seen = []
    with pytest.raises(Interrupted):
        for item in Pool(by_name(hang=hang)).run([job("a"), job("hang"), job("b")]):
            seen.append(item.task)
            wait_until(lambda: len(processes_with(marker)) >= 3)
            os.kill(os.getpid(), number)
    assert seen == ["folder/a.yml"]
    assert processes_with(marker) == []
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_who_stops_listening_ends_the_work(marker: str) -> None:
    def hang() -> None:
        fakes.leave_children(marker)
        fakes.ignore_everything()

    records = Pool(by_name(hang=hang)).run([job("a"), job("hang")])
    assert next(records).verdict == "true"
    assert wait_until(lambda: len(processes_with(marker)) >= 3)
    records.close()  # type: ignore[attr-defined]
    assert processes_with(marker) == []


PARENT = """
import sys
from plait.bench.pool import Pool
from tests.bench import fakes
marker = sys.argv[1]
def hang():
    fakes.leave_children(marker)
    fakes.ignore_everything()
for record in Pool(fakes.by_name(hang=hang), workers=2).run([fakes.job(n) for n in ("hang-1", "hang-2")]):
    pass
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP])
def test_nothing_outlives_the_user_s_process(marker: str, number: signal.Signals) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, marker], cwd=Path(__file__).parents[2])
    assert wait_until(lambda: len(processes_with(marker)) >= 10)
    parent.send_signal(number)
    parent.wait()
    assert wait_until(lambda: processes_with(marker) == [])


def test_a_keeper_that_is_killed() -> None:
    def kill_keeper() -> None:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(600)

    with pytest.raises(ExecutorFailed):
        list(Pool(by_name(kill=kill_keeper)).run([job("a"), job("kill")]))


def test_outside_the_main_thread() -> None:
    records: list[Record] = []
    thread = threading.Thread(target=lambda: records.extend(Pool(by_name()).run([job("a")])))
    thread.start()
    thread.join()
    assert [item.verdict for item in records] == ["true"]


def test_a_thousand_jobs_leave_no_trace() -> None:
    def state(item: Job) -> JobResult:
        files = len(os.listdir("/proc/self/fd"))
        return JobResult(
            "true", statistics={"files": files, "memory": resident_memory(os.getpid())}
        )

    files = len(os.listdir("/proc/self/fd"))
    memory = resident_memory(os.getpid())
    records = list(Pool(state, workers=2).run([job(f"t{number}") for number in range(1000)]))
    assert len(records) == 1000
    assert len(os.listdir("/proc/self/fd")) == files
    assert resident_memory(os.getpid()) - memory < 30 << 20
    assert len({item.statistics["files"] for item in records}) == 1
    early, late = records[100].statistics["memory"], records[-1].statistics["memory"]
    assert late - early < 10 << 20


def test_noise_does_not_reach_the_user(capfd: pytest.CaptureFixture[str]) -> None:
    def shout() -> None:
        os.write(1, b"x" * 1_000_000)
        os.write(2, b"y" * 1_000_000)

    assert run(Pool(by_name(shout=shout)), [job("shout"), job("a")])["shout"].verdict == "true"
    assert capfd.readouterr() == ("", "")


def test_what_starts_is_told() -> None:
    started: list[str] = []
    pool = Pool(by_name(), started=lambda item: started.append(item.task.name))
    list(pool.run([job("a"), job("b")]))
    assert started == ["folder/a.yml", "folder/b.yml"]
