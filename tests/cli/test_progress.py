"""`plait verify --progress`: lines of JSON for tools, nothing where nobody watches; and signals."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from tests.cli.terminal import ROOT
from tests.cli.test_live import HARD, SHORT
from tests.work.processes import children, state

from plait.cli.interrupts import Interrupts
from plait.cli.main import main
from plait.cli.writer import Writer
from plait.portfolio.status import EngineStatus, Status

RACE = str(ROOT / "examples" / "counter_race.c")
needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")


@pytest.fixture
def hard(tmp_path: Path) -> str:
    path = tmp_path / "hard.c"
    path.write_text(HARD)
    return str(path)


def start(*arguments: str, **how: Any) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TERM": "xterm"}
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
    command = [sys.executable, "-m", "plait", "verify", *arguments]
    return subprocess.Popen(command, text=True, env=environment, **streams)


def wait_for_line(process: subprocess.Popen[str], pattern: str) -> None:
    """Of standard error."""
    assert process.stderr is not None
    for line in iter(process.stderr.readline, ""):
        if re.search(pattern, line):
            return
    raise AssertionError("it has ended")


def rows_until_interrupted(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    """Without the last one. Who has seen enough interrupts it."""
    assert process.stderr is not None
    try:
        for line in process.stderr:
            [row] = rows_of(line)
            if "done" not in row:
                yield row
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=40)


WORKING = r"loop bound \d+: (unrolling|encoding|solving)"


def rows_of(text: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in text.splitlines()]
    assert all(row["plait-progress"] == 1 for row in rows)
    return rows


class TestJson:
    def test_lines(self, hard: str) -> None:
        process = start("--progress", "json", "--timeout", "60", "--memory-limit", "2", hard)
        rows: list[dict[str, Any]] = []
        said: list[str] = []
        err = ""
        assert process.stderr is not None
        for line in process.stderr:  # however fast the machine is
            err += line
            rows += rows_of(line)
            said += [engine["doing"] for engine in rows[-1].get("engines", [])]
            is_working = any(re.match(WORKING, text) for text in said)
            if rows[-1].get("stage") == "side by side" and is_working and len(rows) >= 4:
                process.send_signal(signal.SIGINT)
        out = process.communicate(timeout=40)[0]
        last = rows.pop()
        assert last == {"plait-progress": 1, "done": True, "verdict": "unknown"}
        keys = {item.name for item in fields(Status)} | {"plait-progress"}
        engine_keys = {item.name for item in fields(EngineStatus)}
        for row in rows:
            assert row.keys() == keys
            assert all(engine.keys() == engine_keys for engine in row["engines"])
        times = [row["seconds"] for row in rows]
        assert times == sorted(times)
        left = [row["seconds_left"] for row in rows]
        assert left == sorted(left, reverse=True)
        stages = list(dict.fromkeys(row["stage"] for row in rows))
        assert stages[:3] == ["reading", "head start", "side by side"]
        assert stages[3:] in ([], ["all"])
        engines = [item["engine"] for item in rows[-1]["engines"]]
        assert engines == ["orders", "impact", "context", "explicit"][: len(engines)]
        seconds = rows[-1]["seconds"]
        assert 4 <= len(rows) <= 20 + 10 * seconds
        assert "\x1b" not in out + err

    def test_short(self, capfd: pytest.CaptureFixture[str]) -> None:
        assert main(["verify", "--progress", "json", RACE]) == 1
        first, *_, last = rows_of(capfd.readouterr().err)
        assert first["engines"][0]["doing"] == "reading the program"
        assert last == {"plait-progress": 1, "done": True, "verdict": "false"}

    def test_where_standard_error_is_an_object(self, capsys: pytest.CaptureFixture[str]) -> None:
        main(["verify", "--progress", "json", RACE])
        assert rows_of(capsys.readouterr().err)[-1]["done"]

    def test_unusable_input(self, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        source = tmp_path / "a.c"
        source.write_text("int main(void) { return x; }\n")
        assert main(["verify", "--progress", "json", str(source)]) == 2
        lines = capfd.readouterr().err.splitlines()
        rows = rows_of("\n".join(line for line in lines if line.startswith("{")))
        assert rows[-1] == {"plait-progress": 1, "done": True, "verdict": None}

    def test_one_core(self, hard: str) -> None:
        process = start("--progress", "json", "--jobs", "1", hard)
        missing = {(e, state) for e in ("orders", "impact") for state in ("waiting", "running")}
        for row in rows_until_interrupted(process):
            assert sum(engine["state"] == "running" for engine in row["engines"]) <= 1
            missing -= {(item["engine"], item["state"]) for item in row["engines"]}
            if not missing:
                break
        assert not missing

    def test_an_engine_that_gives_up(self, hard: str) -> None:
        arguments = ("--engine", "portfolio", "--max-nodes", "1")
        process = start("--progress", "json", *arguments, hard)
        rows = (row["engines"][1] for row in rows_until_interrupted(process))
        ended = list(islice((row for row in rows if row["state"] == "ended"), 4))
        assert ended[0]["doing"].startswith("gave up: more than 1 nodes")
        assert len({item["seconds"] for item in ended}) == 1


class TestQuiet:
    @pytest.mark.parametrize("form", ["auto", "none"])
    def test_no_terminal(self, form: str, hard: str) -> None:
        process = start(*SHORT[1:], "--progress", form, hard)
        out, err = process.communicate(timeout=40)
        assert err == ""
        assert "\x1b" not in out
        assert out.startswith("assumptions:")


class TestReaders:
    def test_closed_standard_error(self, hard: str) -> None:
        command = [sys.executable, "-m", "plait", *SHORT, "--progress", "json"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        process = subprocess.run(
            ["sh", "-c", 'exec "$@" 2>&-', "sh", *command, hard],
            stdout=subprocess.PIPE,
            env=environment,
            timeout=40,
        )
        assert process.returncode == 3
        assert b"VERDICT: unknown (time limit of 2 s; " in process.stdout

    def test_a_reader_that_goes_away(self, hard: str) -> None:
        read_end, write_end = os.pipe()
        process = start(*SHORT[1:], "--progress", "json", hard, stderr=write_end)
        os.close(write_end)
        assert os.read(read_end, 10)
        os.close(read_end)
        assert "VERDICT: unknown (time limit of 2 s; " in process.communicate(timeout=40)[0]

    def test_a_reader_that_sleeps(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The supervisor must not wait for it."""
        read_end, write_end = os.pipe()
        with open(write_end, "w") as stream:
            monkeypatch.setattr(sys, "stderr", stream)
            writer = Writer()
            line = "x" * 1000 + "\n"
            written = sum(writer.write(line) for _ in range(1000))
            assert 0 < written < 1000
            os.read(read_end, 10_000)
            assert writer.write(line)
            monkeypatch.undo()
            os.close(read_end)


@needs_proc
class TestSignals:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    @pytest.mark.parametrize("jobs", ["1", "2"])
    def test_two_engines(
        self, number: signal.Signals, jobs: str, hard: str, tmp_path: Path
    ) -> None:
        saved = tmp_path / "result.json"
        process = start("--jobs", jobs, "--json", str(saved), "--progress", "json", hard)
        wait_for_line(process, '"impact"')
        workers = children(process.pid)
        assert len(workers) >= 2
        process.send_signal(number)
        out, err = process.communicate(timeout=40)
        assert process.returncode == 3
        assert "VERDICT: unknown (interrupted; orders: " in out and "; impact: " in out
        assert rows_of(err)[-1]["verdict"] == "unknown"
        assert not any(map(state, workers))
        assert json.loads(saved.read_text())["reason"].startswith("interrupted; orders: ")

    def test_a_finished_bound_is_kept(self, hard: str, tmp_path: Path) -> None:
        saved = tmp_path / "result.json"
        process = start("--engine", "orders", "--json", str(saved), "--progress", "json", hard)
        wait_for_line(process, r'"last_bound":[2-9]')
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=40)
        assert re.search(r"VERDICT: unknown \(interrupted; no violation with up to \d+ loop", out)
        assert json.loads(saved.read_text())["bound"] >= 1

    def test_many_interrupts(self, hard: str) -> None:
        """However many there are, and whenever they come: there is a verdict, and no traceback."""
        process = start(hard)
        time.sleep(1.0)
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(0.01)
        out, err = process.communicate(timeout=40)
        assert "Traceback" not in err
        assert process.returncode in (3, -signal.SIGINT)
        assert "VERDICT: unknown (interrupted" in out

    def test_one_more_interrupt_is_passed_over(self) -> None:
        with Interrupts() as interrupts:
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(5)
            interrupts.begun()
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(5)
