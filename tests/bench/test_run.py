"""A whole run: resumed, interrupted, killed, with a full disk; the command around it."""

from __future__ import annotations

import argparse
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from plait.bench.journal import NAME, JournalFailed, open_journal
from plait.bench.progress import Progress
from plait.bench.records import ExecutorFailed, Interrupted, Job, Outcome, Record, record_of
from plait.bench.run import End, Run, Settings, local_pool, run_suite
from plait.bench.suite import Task
from plait.bench.verifying import HEAVY, verify_by_plait, warm_up
from plait.cli.bench import bench, bench_options
from plait.cli.output import Console
from plait.errors import InputError
from tests.bench.fakes import by_name, job, processes_with, record, wait_until

ROOT = Path(__file__).parents[2]
SETTINGS = Settings(10.0)
JOBS = [job(name) for name in ("a", "b", "c", "d")]


class Here:
    """An executor without processes, which stops after some jobs."""

    def __init__(self, most: int = 100, then: Exception | None = None) -> None:
        self._most = most
        self._then = then
        self.ran: list[str] = []

    def run(self, jobs: Sequence[Job]) -> Generator[Record]:
        for number, item in enumerate(jobs):
            if number == self._most and self._then is not None:
                raise self._then
            self.ran.append(item.task.name)
            yield record_of(item, Outcome("true", cpu_seconds=1.0))


def run(out: Path, executor: Here, jobs: list[Job] = JOBS, **more: bool) -> tuple[Run, list[str]]:
    said: list[str] = []
    return run_suite(jobs, SETTINGS, lambda progress: executor, out, said.append, **more), said


def test_all_files(tmp_path: Path) -> None:
    done, said = run(tmp_path / "out", Here())
    assert (done.end, len(done.records), done.trouble, done.wrong) == (End.COMPLETE, 4, [], [])
    assert said[0] == "[1/4] folder/a.yml orders true 1.00 s"
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == [NAME, "results.csv", "results.json", "summary.html", "summary.md"]
    assert json.loads((tmp_path / "out" / "results.json").read_text())["finished"] == 4


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    first, _ = run(tmp_path, Here(2, Interrupted()))
    assert (first.end, len(first.records)) == (End.INTERRUPTED, 2)
    assert len((tmp_path / "results.csv").read_text().splitlines()) == 3
    rest = Here()
    second, said = run(tmp_path, rest)
    assert said[0] == "resuming: 2 of 4 done; --fresh to start over"
    assert rest.ran == ["folder/c.yml", "folder/d.yml"]
    assert len(second.records) == 4
    again = Here()
    run(tmp_path, again, fresh=True)
    assert len(again.ran) == 4


def test_a_task_that_has_changed_is_done_again(tmp_path: Path) -> None:
    run(tmp_path, Here())
    old = JOBS[1].task
    changed = Task(old.name, old.path, old.files, old.property_name, "", "LP64", True, "other")
    rest = Here()
    done, _ = run(tmp_path, rest, [JOBS[0], Job(changed, "orders")])
    assert rest.ran == [changed.name]
    assert len(done.records) == 2


def test_quiet(tmp_path: Path) -> None:
    assert run(tmp_path, Here(), quiet=True)[1] == []


def test_nobody_is_left_to_work(tmp_path: Path) -> None:
    done, _ = run(tmp_path, Here(1, ExecutorFailed("gone")))
    assert (done.end, done.trouble, len(done.records)) == (End.FAILED, ["gone"], 1)


def test_the_disk_becomes_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from plait.bench.journal import Journal

    real = Journal.append

    def append(self: Journal, item: Record) -> None:
        if len(self.records) == 2:
            raise JournalFailed("journal.jsonl: No space left on device")
        real(self, item)

    monkeypatch.setattr(Journal, "append", append)
    executor = Here()
    done, _ = run(tmp_path, executor)
    assert (done.end, len(done.records)) == (End.FAILED, 2)
    assert "No space left" in done.trouble[0]
    assert len(executor.ran) == 3
    monkeypatch.undo()
    assert len(run(tmp_path, Here())[0].records) == 4


def test_files_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    (tmp_path / "results.csv").mkdir()
    done, _ = run(tmp_path, Here())
    assert done.end is End.COMPLETE
    assert len(done.trouble) == 1
    assert "results.csv" in done.trouble[0]
    assert (tmp_path / "results.json").exists()


def test_with_real_processes(tmp_path: Path) -> None:
    said: list[str] = []
    verify = by_name(b=lambda: os.kill(os.getpid(), signal.SIGKILL))
    done = run_suite(JOBS, SETTINGS, local_pool(verify, SETTINGS, 2), tmp_path, said.append)
    assert sorted(item.verdict for item in done.records) == ["error", "true", "true", "true"]


PARENT = """
import sys, time
from pathlib import Path
from plait.bench.run import Settings, local_pool, run_suite
from tests.bench import fakes
verify = fakes.by_name(slow=lambda: time.sleep(0.05))
settings = Settings(10.0)
jobs = [fakes.job(f"slow-{number}") for number in range(int(sys.argv[2]))]
run_suite(jobs, settings, local_pool(verify, settings, 2), Path(sys.argv[1]), print)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_killed_and_resumed_nothing_is_lost(tmp_path: Path) -> None:
    def start(count: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", PARENT, str(tmp_path), str(count)]
        return subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE)

    parent = start(60)
    assert parent.stdout is not None
    for _ in range(8):
        parent.stdout.readline()
    parent.kill()
    parent.communicate()
    assert wait_until(lambda: processes_with(str(tmp_path)) == [])
    lines = (tmp_path / NAME).read_bytes().count(b"\n") - 1
    assert lines >= 8
    resumed = start(lines + 3)
    said = resumed.communicate(timeout=30)[0].splitlines()
    assert said[0].startswith(f"resuming: {lines} of {lines + 3} done")
    assert len(said) == 4
    assert len((tmp_path / "results.csv").read_text().splitlines()) == lines + 4


def command(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    bench_options(parser)
    return bench(parser.parse_args(arguments), Console())


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "suite" / "small"
    folder.mkdir(parents=True)
    (folder / "p.prp").write_text("CHECK( init(main()), LTL(G ! call(reach_error())) )")
    for name, condition, expected in (("good", "x != 1", "true"), ("bad", "x == 1", "false")):
        (folder / f"{name}.c").write_text(
            "void reach_error(void) {}\n"
            f"int main(void) {{ int x = 1; if (!({condition})) return 0; reach_error(); }}\n"
        )
        (folder / f"{name}.yml").write_text(
            f"format_version: '2.0'\ninput_files: {name}.c\nproperties:\n"
            f"  - property_file: p.prp\n    expected_verdict: {expected}\n"
        )
    return folder.parent


def test_the_command(suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    arguments = [str(suite), "--timeout", "20", "--engines", "orders,impact", "--out", str(out)]
    assert command(*arguments) == 0
    text = capsys.readouterr().out
    assert "[1/4] small/bad.yml orders false" in text
    assert "| small  | impact |" in text
    assert command(*arguments, "--compare", str(out / "results.csv")) == 0
    text = capsys.readouterr().out
    assert "resuming: 4 of 4 done" in text
    assert "orders: 2 tasks in common, score 3 -> 3; CPU time x1.00 (median)" in text
    rows = json.loads((out / "results.json").read_text())["results"]
    assert all(row["winner"] == row["engine"] and row["memory_bytes"] > 0 for row in rows)
    assert all(0 < row["cpu_seconds"] < 20 for row in rows)


def test_a_wrong_verdict_is_told(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = suite / "small" / "bad.yml"
    path.write_text(path.read_text().replace("verdict: false", "verdict: true"))
    assert command(str(path), "--quiet", "--out", str(tmp_path / "out")) == 1
    assert "small/bad.yml auto: false, expected true" in capsys.readouterr().out


def test_unusable_tasks(suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (suite / "small" / "broken.yml").write_text("input_files: [")
    (suite / "small" / "bad.c").write_text("int main( {")
    (suite / "small" / "good.c").unlink()
    assert command(str(suite), "--out", str(tmp_path / "out")) == 0
    captured = capsys.readouterr()
    assert "broken.yml" in captured.err
    assert captured.out.count(" error ") == 2
    with pytest.raises(InputError, match="no tasks"):
        command(str(suite), "--property", "no-data-race")


def test_interrupted_it_says_how_to_go_on(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, user = tmp_path / "out", os.getpid()

    def interrupt_and_hang() -> None:
        wait_until(lambda: (out / NAME).read_bytes().count(b"\n") == 2)
        os.kill(user, signal.SIGINT)
        time.sleep(600)

    monkeypatch.setattr(
        "plait.bench.verifying.verify_by_plait", lambda choices: by_name(bad=interrupt_and_hang)
    )
    assert command(str(suite), "--jobs", "2", "--out", str(out)) == 3
    captured = capsys.readouterr()
    assert "interrupted: 1 of 2 done and kept" in captured.err
    assert "the same command goes on" in captured.err


@pytest.mark.parametrize("text", ["", "magic", "orders,magic"])
def test_unknown_engines(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command("x", "--engines", text)
    assert "known are auto, modular, orders" in capsys.readouterr().err


def test_no_tasks(capsys: pytest.CaptureFixture[str]) -> None:
    from plait.cli.main import main

    with pytest.raises(SystemExit) as ended:
        main(["bench"])
    assert ended.value.code == 2
    assert "no task given: see `plait bench --help`" in capsys.readouterr().err


def test_warming_up_starts_no_thread() -> None:
    script = "from plait.bench.verifying import *; import os, sys; warm_up(); print(len(os.listdir('/proc/self/task')), *[n for n in HEAVY if n not in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, text=True, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT / "src")})
    assert done.stdout.split() == ["1"]


def test_cpu_time_is_that_of_one_job(suite: Path) -> None:
    warm_up()
    assert HEAVY
    files = (str(suite / "small" / "good.c"),)
    task = Task("t", "t", files, "unreach-call", str(suite / "small" / "p.prp"), "LP64", True, "")
    verify = verify_by_plait({"timeout": 20.0})
    sum(range(30_000_000))
    outcome = verify(Job(task, "orders"))
    assert outcome.verdict == "true"
    assert outcome.cpu_seconds <= outcome.wall_seconds * 4


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_on_a_terminal() -> None:
    said: list[str] = []
    stream = Terminal()
    progress = Progress(4, 1, said.append, stream)
    progress.started(job("a"))
    progress.started(job("b"))
    progress.finished(record("a"))
    status = progress.status(1e9)
    assert status.startswith("2/4 | 1 true | about ")
    assert status.endswith("left | folder/b.yml orders")
    assert said == []
    progress.finished(record("b", "true", False))
    assert said == ["[3/4] folder/b.yml orders true 1.00 s (wrong)"]


def test_progress_elsewhere() -> None:
    said: list[str] = []
    stream = io.StringIO()
    progress = Progress(2, 0, said.append, stream)
    progress.finished(record("a", "unknown", reason="time\nlimit"))
    progress.tick()
    progress.clear()
    assert said == ["[1/2] folder/a.yml orders unknown 1.00 s (time limit)"]
    assert stream.getvalue() == ""


def test_two_runs_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plait.bench.journal._PATIENCE_SECONDS", 0.1)
    with open_journal(tmp_path, SETTINGS.plain()), pytest.raises(InputError, match="another run"):
        run(tmp_path, Here())
