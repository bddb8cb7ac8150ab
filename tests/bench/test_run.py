"""A whole run: resumed, interrupted, killed, with a full disk; the command around it."""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from plait.api import Result
from plait.bench.compare import compare, lines
from plait.bench.files import to_csv, to_json
from plait.bench.journal import NAME, JournalFailed, open_journal
from plait.bench.progress import Progress
from plait.bench.records import (
    ExecutorFailed,
    Interrupted,
    Job,
    JobResult,
    Record,
    page_name,
    record_from_plain,
    record_of,
    to_plain,
)
from plait.bench.run import End, Run, Settings, local_pool, run_suite
from plait.bench.suite import Task
from plait.bench.verifying import HEAVY, verify_by_plait, warm_up
from plait.cli.bench import bench, bench_options
from plait.cli.main import main
from plait.cli.output import Console
from plait.errors import InputError
from tests.bench.fakes import by_name, job, processes_with, record, wait_until

ROOT = Path(__file__).parents[2]
SETTINGS = Settings(10.0)
JOBS = [job(name) for name in ("a", "b", "c", "d")]


class Here:
    """An executor without processes, which stops after some jobs."""

    def __init__(self, most: int = 100, then: BaseException | None = None) -> None:
        self._most = most
        self._then = then
        self.ran: list[str] = []

    def run(self, jobs: Sequence[Job]) -> Generator[Record]:
        for number, item in enumerate(jobs):
            if number == self._most and self._then is not None:
                raise self._then
            self.ran.append(item.task.name)
            yield record_of(item, JobResult("true", cpu_seconds=1.0))


def run(out: Path, executor: Here, jobs: list[Job] = JOBS, **more: bool) -> tuple[Run, list[str]]:
    said: list[str] = []
    return run_suite(jobs, SETTINGS, lambda progress: executor, out, said.append, **more), said


def test_all_files(tmp_path: Path) -> None:
    done, said = run(tmp_path / "out", Here())
    assert (done.end, len(done.records), done.trouble, done.wrong) == (End.COMPLETE, 4, [], [])
    assert said[0] == "[1/4] folder/a.yml unreach-call orders true 1.00 s"
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


def test_a_signal_before_the_executor_hears_it(tmp_path: Path) -> None:
    done, _ = run(tmp_path, Here(0, KeyboardInterrupt()))
    assert (done.end, done.records, len(done.written)) == (End.INTERRUPTED, [], 4)


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


def test_files_that_cannot_be_written_are_told(
    tmp_path: Path, suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    (out / "summary.html").mkdir(parents=True)
    done, _ = run(out, Here())
    assert done.end is End.COMPLETE
    assert done.written == ["results.csv", "results.json", "summary.md"]
    (trouble,) = done.trouble
    assert trouble == f"cannot write {out}/summary.html: Is a directory"
    assert command(str(suite), "--fresh", "--engines", "modular", "--out", str(out)) == 3
    captured = capsys.readouterr()
    assert trouble in captured.err
    assert captured.out.splitlines()[-1] == f"written: {out}/results.csv"


def test_a_mistake_in_one_file_does_not_cost_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*facts: object) -> str:
        raise ValueError("a mistake")

    monkeypatch.delenv("PLAIT_TRACEBACK", raising=False)
    monkeypatch.setattr("plait.bench.run.to_json", broken)
    done, _ = run(tmp_path, Here())
    assert done.written == ["results.csv", "summary.html", "summary.md"]
    (trouble,) = done.trouble
    assert "results.json: internal error: ValueError" in trouble
    monkeypatch.setenv("PLAIT_TRACEBACK", "1")
    assert "Traceback" in run(tmp_path, Here())[0].trouble[1]


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
    assert "[1/4] small/bad.yml unreach-call orders false" in text
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
    assert "small/bad.yml unreach-call auto: false, expected true" in capsys.readouterr().out


def test_unusable_tasks(suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (suite / "small" / "broken.yml").write_text("input_files: [")
    (suite / "small" / "bad.c").write_text("int main( {")
    (suite / "small" / "good.c").unlink()
    os.mkfifo(suite / "small" / "pipe.yml")
    out = tmp_path / "out"
    assert command(str(suite), "--out", str(out)) == 2
    captured = capsys.readouterr()
    assert "broken.yml" in captured.err
    assert captured.out.count(" error ") == 2
    unusable = json.loads((out / "results.json").read_text())["unusable"]
    assert [Path(row["file"]).name for row in unusable] == ["broken.yml", "pipe.yml"]
    page = (out / "summary.html").read_text()
    assert "Task definitions that cannot be used: 2" in page and "pipe.yml" in page
    with pytest.raises(InputError, match=r"about no-data-race in .*, but about unreach-call"):
        command(str(suite), "--property", "no-data-race")


def test_what_is_left_out_is_counted(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = suite / "small"
    (folder / "ends.prp").write_text("CHECK( init(main()), LTL(F end) )")
    text = (folder / "bad.yml").read_text()
    (folder / "open.yml").write_text(text.replace("    expected_verdict: false\n", ""))
    (folder / "ends.yml").write_text(text.replace("p.prp", "ends.prp"))
    arguments = [str(suite), "--engines", "modular", "--out", str(tmp_path / "out")]
    assert command(*arguments) == 0
    counts = "1 without an expected verdict, 1 without a property that plait knows"
    assert capsys.readouterr().err == f"plait: left out: {counts} (-v: which)\n"
    assert command(*arguments, "-v") == 0
    err = capsys.readouterr().err
    assert f"left out: {folder}/open.yml unreach-call: no expected verdict" in err
    assert f"left out: {folder}/ends.yml: {folder}/ends.prp: no property that plait knows" in err
    (folder / "good.yml").unlink()
    (folder / "bad.yml").unlink()
    with pytest.raises(InputError, match="no task with an expected verdict in"):
        command(*arguments)
    (folder / "open.yml").unlink()
    with pytest.raises(InputError, match="no task about a property that plait knows in"):
        command(*arguments)


def test_the_folder_is_a_file(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "afile").write_text("")
    for place in ("afile", "afile/below"):
        with pytest.raises(InputError, match=f"{place}: not a folder"):
            command(str(suite), "--out", str(tmp_path / place))


def test_names_stay_in_their_line(tmp_path: Path) -> None:
    odd = job("new\nline\x1b[2J")
    done, said = run(tmp_path, Here(), [odd])
    assert said == ["[1/1] folder/new line\\x1b[2J.yml unreach-call orders true 1.00 s"]
    progress = Progress(1, 0, said.append, Terminal())
    progress.started(odd)
    assert progress.status(0.0).endswith("folder/new line\\x1b[2J.yml unreach-call orders")
    before = [replace(item, verdict="unknown") for item in done.records]
    (comparison,) = compare(before, done.records)
    assert all("\n" not in line and "\x1b" not in line for line in lines(comparison))


def test_wrong_verdicts_of_odd_names_stay_in_their_line(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = suite / "small"
    text = (folder / "bad.yml").read_text().replace("verdict: false", "verdict: true")
    (folder / "x\n\x1b[2J.yml").write_text(text)
    (folder / "bad.yml").unlink()
    assert command(str(suite), "--quiet", "--out", str(tmp_path / "out")) == 1
    assert "  - small/x \\x1b[2J.yml unreach-call auto: false" in capsys.readouterr().out


def test_rows_link_to_pages(suite: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = [str(suite), "--timeout", "20", "--engines", "orders", "--out", str(out)]
    assert command(*arguments) == 0
    text = (out / "summary.html").read_text()
    links = re.findall(r'<td class="task"><a href="(tasks/[^"]+)">([^<]+)</a>', text)
    assert [name for _, name in links] == ["small/bad.yml", "small/good.yml"]
    verdicts = [re.findall("<title>(.*?): ", (out / link).read_text()) for link, _ in links]
    assert verdicts == [["false"], ["true"]]
    assert command(*arguments, "--fresh", "--no-pages") == 0
    assert not list((out / "tasks").iterdir()), "of the earlier run"
    assert "href" not in (out / "summary.html").read_text()


def test_names_of_pages() -> None:
    one, other = ("a/b.yml", "p", "auto"), ("a-b.yml", "p", "auto")
    assert page_name(one) != page_name(other)
    strange = page_name(("../\x1b[2J<\udc80>" + "x" * 500, "p", "auto"))
    assert re.fullmatch(r"[\w.-]+\.html", strange, re.ASCII) and len(strange) < 130


def test_interrupted_it_says_how_to_go_on(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, user = tmp_path / "out", os.getpid()

    def interrupt_and_hang() -> None:
        wait_until(lambda: (out / NAME).read_bytes().count(b"\n") == 2)
        os.kill(user, signal.SIGINT)
        time.sleep(600)

    monkeypatch.setattr(
        "plait.bench.verifying.verify_by_plait", lambda *_: by_name(bad=interrupt_and_hang)
    )
    assert command(str(suite), "--jobs", "2", "--out", str(out)) == 3
    captured = capsys.readouterr()
    assert "interrupted: 1 of 2 done and kept" in captured.err
    assert "the same command goes on" in captured.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("where", ["plait.bench.suite.find_tasks", "plait.bench.run.open_journal"])
def test_a_signal_before_the_jobs(
    number: int,
    where: str,
    suite: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unheard(number: int, frame: object) -> None:
        raise AssertionError("nobody has heard the signal")

    old = signal.signal(number, unheard)
    monkeypatch.setattr(where, lambda *_, **__: signal.raise_signal(number))
    try:
        assert main(["bench", str(suite), "--out", str(tmp_path / "out")]) == 3
    finally:
        signal.signal(number, old)
    assert capsys.readouterr().err == "plait: interrupted\n"


def test_a_signal_while_the_files_are_written(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(records: Sequence[Record]) -> str:
        signal.raise_signal(signal.SIGINT)
        return to_csv(records)

    monkeypatch.setattr("plait.bench.run.to_csv", interrupted)
    monkeypatch.setattr("plait.bench.verifying.verify_by_plait", lambda *_: by_name())
    out = tmp_path / "out"
    assert main(["bench", str(suite / "small" / "good.yml"), "--out", str(out)]) == 0
    assert (out / "results.csv").exists() and (out / "summary.md").exists()
    assert "written: " in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "magic", "orders,magic"])
def test_unknown_engines(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command("x", "--engines", text)
    assert "known are auto, modular, orders" in capsys.readouterr().err


def test_no_tasks(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["bench"])
    assert ended.value.code == 2
    assert "no task given: see `plait bench --help`" in capsys.readouterr().err


def test_warming_up_starts_no_thread() -> None:
    script = "from plait.bench.verifying import *; import os, sys; warm_up(); print(len(os.listdir('/proc/self/task')), *[n for n in HEAVY if n not in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        text=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.stdout.split() == ["1"]


def test_cpu_time_is_that_of_one_job(suite: Path) -> None:
    warm_up()
    assert HEAVY
    files = (str(suite / "small" / "good.c"),)
    task = Task("t", "t", files, "unreach-call", str(suite / "small" / "p.prp"), "LP64", True, "")
    verify = verify_by_plait({"timeout": 20.0})
    sum(range(30_000_000))
    result = verify(Job(task, "orders"))
    assert result.verdict == "true"
    assert result.cpu_seconds <= result.wall_seconds * 4


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
    assert status.endswith("left | folder/b.yml unreach-call orders")
    assert said == []
    progress.finished(record("b", "true", False))
    assert said == ["[3/4] folder/b.yml unreach-call orders true 1.00 s (wrong)"]


def test_progress_elsewhere() -> None:
    said: list[str] = []
    stream = io.StringIO()
    progress = Progress(2, 0, said.append, stream)
    progress.finished(record("a", "unknown", reason="time\nlimit"))
    progress.tick()
    progress.clear()
    assert said == ["[1/2] folder/a.yml unreach-call orders unknown 1.00 s (time limit)"]
    assert stream.getvalue() == ""


def test_what_has_failed_is_recorded(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failure = {"reason": "internal error: a mistake", "traceback": ["here"]}

    def failing(*programs: object, **choices: object) -> Result:
        return Result("0", [], "main", "LP64", [], "orders", "unknown", "x", failure=failure)

    monkeypatch.setattr("plait.bench.verifying.verify", failing)
    item = Job(job("a").task, "orders")
    done = record_of(item, verify_by_plait({})(item))
    assert (done.verdict, done.failure) == ("error", failure)
    assert json.loads(to_json([done], {}, {}, 1))["results"][0]["failure"] == failure
    assert record_from_plain(to_plain(done)) == done


ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
LIMITED = """
import resource, sys
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
from plait.cli.main import main
sys.exit(main())
"""


def test_the_disk_of_the_command_becomes_full(suite: Path, tmp_path: Path) -> None:
    """The limit of the size of files is as good as a full disk: it fails in the same calls."""
    out = tmp_path / "out"
    arguments = ["bench", str(suite), "--engines", "modular", "--out", str(out)]
    whole = ["-m", "plait", *arguments]
    subprocess.run([sys.executable, *whole], env=ENVIRONMENT, check=True)
    head, first, second = (out / NAME).read_bytes().splitlines(keepends=True)
    limit = len(head) + len(first) + len(second) // 2
    full = ["-c", LIMITED, str(limit), *arguments, "--fresh"]
    done = subprocess.run(
        [sys.executable, *full], env=ENVIRONMENT, text=True, capture_output=True, check=False
    )
    assert done.returncode == 3
    assert f"cannot write {out / NAME}: File too large; what was finished before is" in done.stderr
    assert "failed: 1 of 2 done and kept" in done.stderr
    assert "internal error" not in done.stderr and "written:" not in done.stdout
    assert len((out / NAME).read_bytes().splitlines()) == 2
    resumed = subprocess.run(
        [sys.executable, *whole], env=ENVIRONMENT, text=True, capture_output=True, check=True
    )
    assert "resuming: 1 of 2 done" in resumed.stdout


HARD = """
void reach_error(void); _Bool __VERIFIER_nondet_bool(void);
int main(void) { unsigned x = 1, y = 1; while (__VERIFIER_nondet_bool()) { x = x * y + 7; y += x * x; }
                 if (x == 1000003) reach_error(); }
"""


def test_two_commands_at_once(suite: Path, tmp_path: Path) -> None:
    (suite / "small" / "good.c").write_text(HARD)
    out = tmp_path / "out"
    arguments = [sys.executable, "-m", "plait", "bench", str(suite), "--out", str(out)]
    with subprocess.Popen(
        arguments, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as first:
        assert first.stdout is not None
        line = first.stdout.readline()
        second = subprocess.run(
            arguments, env=ENVIRONMENT, text=True, capture_output=True, check=False
        )
        first.send_signal(signal.SIGINT)
        err = first.communicate()[1]
    assert "[1/2] small/bad.yml unreach-call auto false" in line
    assert second.returncode == 2
    assert f"{out / NAME}: another run is writing to it" in second.stderr
    assert first.returncode == 3
    assert "interrupted: 1 of 2 done and kept" in err


def test_two_runs_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plait.bench.journal._PATIENCE_SECONDS", 0.1)
    with open_journal(tmp_path, SETTINGS.plain()), pytest.raises(InputError, match="another run"):
        run(tmp_path, Here())
