"""`plait verify --json` and `-v`: what tools and people learn beside the verdict."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from plait.cli.chosen import options_of
from plait.cli.main import main
from plait.cli.output import Console, save
from plait.cli.parser import parse
from plait.cli.progress import ProgressLine
from plait.engines.orders.settings import OrderEncoding, Refinement, Settings
from plait.model.properties import Specification

ROOT = Path(__file__).parents[2]
RACE = str(ROOT / "examples" / "counter_race.c")
LOCKED = str(ROOT / "examples" / "locked_counter.c")

KEYS = """plait-result version files entry data_model properties error_functions arguments engine
    settings verdict violated reason bound words assumptions unsupported unchecked statistics history violation
    schedule threads inputs trace invariants tree sources report cached answers findings
    fences""".split()
NUMBERS = """last_bound threads events reads writes read_from_candidates variables clauses
    refinements reasons propagations exact_checks unrolling_seconds encoding_seconds
    solving_seconds graph_seconds reasons_per_refinement mean_reason_length cpu_seconds
    wall_seconds peak_memory_bytes""".split()


def result_of(path: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    code = main(["verify", "--json", str(path), *arguments])
    data: dict[str, Any] = json.loads(path.read_text("ascii"))
    assert set(KEYS) == data.keys()
    assert [item.name for item in path.parent.iterdir()] == [path.name]
    return code, data


def test_false(tmp_path: Path) -> None:
    code, data = result_of(tmp_path / "result.json", RACE)
    assert code == 1
    assert (data["plait-result"], data["verdict"], data["violated"]) == (1, "false", "assertions")
    assert (data["engine"], data["entry"], data["bound"]) == ("orders", "main", 1)
    assert data["files"] == [RACE]
    assert data["properties"] == ["assertions", "lock-misuse", "no-undefined", "valid-access"]
    assert data["settings"].keys() == {"unwind", "refinement", "order_encoding"}
    assert set(NUMBERS) <= data["statistics"].keys()
    assert data["statistics"]["threads"] == 3
    assert data["statistics"]["cpu_seconds"] > 0
    assert data["violation"]["place"]["text"].startswith("assert(counter == 2)")
    assert data["trace"][-1]["text"].startswith("assert(counter == 2)")
    schedule = tmp_path / "schedule.json"
    schedule.write_text(json.dumps(data["schedule"]))
    assert main(["run", "--schedule", str(schedule), RACE]) == 1


def test_true(tmp_path: Path) -> None:
    code, data = result_of(tmp_path / "result.json", "--data-model", "ILP32", LOCKED)
    assert (code, data["verdict"], data["violated"], data["bound"]) == (0, "true", None, 1)
    assert (data["violation"], data["schedule"], data["trace"]) == (None, None, [])
    assert data["data_model"] == "ILP32"
    assert any("sequentially consistent" in text for text in data["assumptions"])


def test_unknown(tmp_path: Path) -> None:
    source = tmp_path / "program" / "a.c"
    source.parent.mkdir()
    source.write_text(
        "#include <assert.h>\nextern _Bool __VERIFIER_nondet_bool(void); int n;\n"
        "int main(void) { while (__VERIFIER_nondet_bool()) n++; assert(n < 100); }"
    )
    folder = tmp_path / "result"
    folder.mkdir()
    code, data = result_of(folder / "result.json", "--unwind", "3", str(source))
    assert (code, data["verdict"], data["bound"]) == (3, "unknown", 3)
    assert data["reason"] == "no violation with up to 3 loop rounds"
    assert data["settings"]["unwind"] == 3


def test_out_of_time(tmp_path: Path) -> None:
    code, data = result_of(tmp_path / "result.json", "--timeout", "0.001", RACE)
    assert (code, data["verdict"], data["bound"]) == (3, "unknown", None)
    assert data["reason"].startswith("time limit of 0.001 s; ")


def test_another_property(tmp_path: Path) -> None:
    code, data = result_of(tmp_path / "result.json", "--property", "no-deadlock", RACE)
    assert (code, data["verdict"], data["properties"]) == (0, "true", ["no-deadlock"])


def test_a_deadlock(tmp_path: Path) -> None:
    source = str(ROOT / "examples" / "deadlock.c")
    code, data = result_of(tmp_path / "result.json", "--property", "no-deadlock", source)
    assert (code, data["verdict"], data["violated"]) == (1, "false", "no-deadlock")
    assert data["violation"]["message"] == "threads 2 and 3 wait for each other for ever"
    assert [row["thread"] for row in data["violation"]["waiting"]] == [2, 3, 1]
    assert data["schedule"]["steps"] and data["trace"]


def test_unsupported_code(tmp_path: Path) -> None:
    folder = tmp_path / "result"
    folder.mkdir()
    source = tmp_path / "a.c"
    source.write_text('int main(void) { int x; __asm__("movl $1, %0" : "=r"(x)); return x; }\n')
    code, data = result_of(folder / "result.json", str(source))
    assert (code, data["verdict"]) == (3, "unknown")
    assert data["unsupported"][0].keys() == {"message", "file", "line", "column", "source_line"}
    assert data["unsupported"][0]["line"] == 1


def test_unusable_input_leaves_no_result(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    assert main(["verify", "--json", str(path), str(tmp_path / "missing.c")]) == 2
    assert not path.exists()


@pytest.mark.parametrize("path", ["/dev/full", "/proc/plait.json"])
def test_what_cannot_be_written_does_not_hide_the_verdict(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if not os.path.isdir("/proc/self") or not os.path.exists("/dev/full"):
        pytest.skip("needs Linux")
    assert main(["verify", "--json", path, RACE]) == 2
    captured = capsys.readouterr()
    assert captured.out.splitlines()[-1] == "VERDICT: false (assertions)"
    assert f"--json {path}: cannot write: " in captured.err
    assert Path("/dev/full").is_char_device()


def test_two_runs_at_once(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "plait", "verify", "--json", str(path), name],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        )
        for name in (RACE, LOCKED)
    ]
    ends = [process.communicate(timeout=60)[0].splitlines()[-1] for process in processes]
    assert ends == ["VERDICT: false (assertions)", "VERDICT: true"]
    assert [process.returncode for process in processes] == [1, 0]
    assert json.loads(path.read_text())["verdict"] in ("true", "false")
    assert list(tmp_path.iterdir()) == [path]


def test_files_are_replaced_as_a_whole(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    with open(target) as reader:
        assert save(Console(), "--json", str(link), "new")
        assert reader.read() == "old"
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640
    assert {item.name for item in tmp_path.iterdir()} == {"target", "link"}


def test_verbose(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "-v", LOCKED]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = {line[2:].split("  ")[0].strip() for line in lines[lines.index("statistics:") + 1 :]}
    assert {"events", "clauses", "mean reason length", "cpu", "peak memory"} <= names


def test_nothing_moves_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    assert not ProgressLine.is_wanted()
    assert main(["verify", LOCKED]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a terminal")
def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    mine, theirs = os.openpty()
    with open(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        line = ProgressLine()
        assert line.is_wanted()
        line.say("loop bound 4 done")
        line.show()
        line.clear()
        monkeypatch.setattr(line, "_started", line._started - 10)
        line.show()
        line.clear()
        shown = ""
        while not shown.endswith(" \r"):
            shown += os.read(mine, 1000).decode()
    os.close(mine)
    assert shown.startswith("\rloop bound 4 done, 10.")


def test_settings(tmp_path: Path) -> None:
    from plait.engines.interface import Question
    from plait.engines.orders.answer import settings_of
    from plait.engines.orders.description import ORDERS

    def settings_for(*arguments: str) -> Settings:
        options = options_of(parse(["verify", *arguments, "a.c"]), certificate=False)
        chosen = ORDERS.settings(options.engine_options)
        program: Any = None
        return settings_of(
            Question(program, Specification(), unwind=options.unwind, settings=chosen)
        )

    settings = settings_for("--order-encoding", "monolithic", "--refinement", "cores")
    assert settings.encoding is OrderEncoding.MONOLITHIC
    assert settings.refinement is Refinement.CORES
    default = settings_for("--unwind", "5")
    assert default.unwind == 5
