"""`plait verify` of folders and of several task definitions."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import plait.api
from plait.api import Options, Result, Watch
from plait.cli.main import main
from plait.errors import InputError

ROOT = Path(__file__).parents[2]
FINE = "#include <assert.h>\nint main(void) { assert(1 + 1 == 2); }\n"
WRONG = "void reach_error(void);\nint main(void) { reach_error(); }\n"
HARD = """
void reach_error(void); _Bool __VERIFIER_nondet_bool(void);
int main(void) { unsigned x = 1, y = 1; while (__VERIFIER_nondet_bool()) { x = x * y + 7; y += x * x; }
                 if (x == 1000003) reach_error(); }
"""


UNREACH = "  - property_file: p.prp\n    expected_verdict: true\n"
RACE = "  - property_file: race.prp\n    expected_verdict: true\n"
TERMINATION = "  - property_file: ends.prp\n    expected_verdict: true\n"


def suite(folder: Path, **programs: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "p.prp").write_text("CHECK( init(main()), LTL(G ! call(reach_error())) )")
    (folder / "race.prp").write_text("CHECK( init(main()), LTL(G ! data-race) )")
    (folder / "ends.prp").write_text("CHECK( init(main()), LTL(F end) )")
    for name, text in programs.items():
        (folder / f"{name}.c").write_text(text)
        define(folder, name, UNREACH)
    return folder


def define(folder: Path, name: str, properties: str) -> Path:
    path = folder / f"{name}.yml"
    path.write_text(f"format_version: '2.0'\ninput_files: '{name}.c'\nproperties:\n{properties}")
    return path


def verify(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str], str]:
    code = main(["verify", *arguments])
    captured = capsys.readouterr()
    return code, captured.out.splitlines(), captured.err


def test_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = suite(tmp_path, a=FINE, b=FINE)
    code, lines, err = verify(capsys, str(folder))
    assert code == 0 and err == ""
    assert lines[0].startswith(f"[1/2] {folder}/a.yml unreach-call: true, ")
    assert lines[-2:] == ["2 true of 2 tasks", "VERDICT: true"]


def test_the_worst_verdict_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = suite(tmp_path, a=FINE, b=WRONG, c=HARD)
    bounded = ["--engine", "orders", "--unwind", "1"]
    code, lines, _ = verify(capsys, *bounded, str(folder))
    assert code == 1
    assert "b.yml unreach-call: false (unreach-call), " in lines[1]
    assert "c.yml unreach-call: unknown (" in lines[2]
    assert lines[-1] == "VERDICT: false (unreach-call)"
    code, lines, _ = verify(capsys, *bounded, str(folder / "a.yml"), str(folder / "c.yml"))
    assert (code, lines[-1]) == (3, "VERDICT: unknown (1 unknown of 2 tasks)")
    assert "a.yml unreach-call: true, " in lines[0] and "from the cache" in lines[0]


def test_what_cannot_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = suite(tmp_path, a=FINE, b="int main(void) {")
    (folder / "c.yml").write_text("input_files: [")
    code, lines, err = verify(capsys, str(folder))
    assert code == 2
    assert "c.yml" in err
    assert "b.yml unreach-call: error: " in lines[1]
    assert lines[-2:] == [
        "1 true, 2 unusable of 3 tasks",
        "VERDICT: unknown (2 unusable of 3 tasks)",
    ]
    (tmp_path / "empty").mkdir()
    assert main(["verify", str(tmp_path / "empty")]) == 2
    assert "no task definitions" in capsys.readouterr().err
    assert main(["verify", "--json", str(tmp_path / "r"), str(folder)]) == 2
    assert "--json is for one program" in capsys.readouterr().err


def test_sources_do_not_mix_with_tasks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = suite(tmp_path / "mix", a=FINE)
    assert main(["verify", str(folder), str(folder / "a.c")]) == 2
    assert "a.c: a source file; sources and tasks (.yml) do not mix" in capsys.readouterr().err


def test_no_expected_verdict_is_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = suite(tmp_path, a=FINE, b=WRONG)
    define(folder, "b", "  - property_file: p.prp\n")
    code, lines, err = verify(capsys, str(folder))
    assert (code, err, lines[-1]) == (1, "", "VERDICT: false (unreach-call)")
    (folder / "a.yml").unlink()
    code, lines, err = verify(capsys, str(folder))
    assert (code, err, lines[-2]) == (1, "", "1 false of 1 task")


def test_what_is_left_out_is_not_true(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = suite(tmp_path, a=FINE, b=FINE, c=FINE)
    define(folder, "b", UNREACH + TERMINATION)
    (folder / "c.yml").write_text("input_files: c.c\n")
    code, lines, err = verify(capsys, str(folder))
    assert f"left out: {folder}/b.yml: {folder}/ends.prp: no property that plait knows" in err
    assert f"left out: {folder}/c.yml: no property in it" in err
    assert lines[-2:] == [
        "2 true, 2 left out of 4 tasks",
        "VERDICT: unknown (2 left out of 4 tasks)",
    ]
    assert code == 3
    code, lines, err = verify(capsys, "--property", "unreach-call", str(folder))
    assert (code, err, lines[-2]) == (0, "", "3 true of 3 tasks")
    rows = "".join(f"  - property_file: x{number}.prp\n" for number in range(12))
    for number in range(12):
        (folder / f"x{number}.prp").write_text("CHECK( init(main()), LTL(F end) )")
    define(folder, "b", rows)
    (folder / "c.yml").unlink()
    err = verify(capsys, str(folder))[2]
    assert err.splitlines()[10:] == ["plait: and 2 more (-v: which)"]
    assert len(verify(capsys, "-v", str(folder))[2].splitlines()) == 12


def test_unknown_properties_of_named_tasks_are_unusable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = suite(tmp_path, a=FINE, b=FINE)
    define(folder, "b", TERMINATION)
    code, lines, err = verify(capsys, str(folder / "a.yml"), str(folder / "b.yml"))
    assert "ends.prp: no property that plait knows" in err
    assert (code, lines[-1]) == (2, "VERDICT: unknown (1 unusable of 2 tasks)")


def test_two_properties_of_the_same_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = suite(tmp_path, a=WRONG)
    (folder / "other.prp").write_text("CHECK( init(main()), LTL(G ! call(other())) )")
    path = define(folder, "a", "  - property_file: other.prp\n  - property_file: p.prp\n")
    code, lines, _ = verify(capsys, str(path))
    assert "a.yml unreach-call: true, " in lines[0]
    assert "a.yml unreach-call (p.prp): false (unreach-call), " in lines[1]
    assert code == 1


def test_a_pipe_is_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = suite(tmp_path, a=FINE)
    os.mkfifo(folder / "p.yml")
    code, lines, err = verify(capsys, str(folder))
    assert "p.yml: not a regular file" in err
    assert (code, lines[-1]) == (2, "VERDICT: unknown (1 unusable of 2 tasks)")
    (folder / "a.c").unlink()
    os.mkfifo(folder / "a.c")
    for path in ("a.yml", "p.yml"):
        assert main(["verify", str(folder / path)]) == 2
        assert "regular file" in capsys.readouterr().err


def test_the_property_can_be_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = suite(tmp_path, a=WRONG, b=FINE)
    define(folder, "a", UNREACH + RACE)
    code, lines, _ = verify(capsys, "--property", "no-data-race", str(folder))
    assert code == 0
    assert "a.yml no-data-race: true" in lines[0]
    assert lines[-2] == "2 true of 2 tasks"
    assert main(["verify", "--property", "nonsense", str(folder)]) == 2
    assert "nonsense" in capsys.readouterr().err


def test_the_data_model_can_be_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = "void reach_error(void);\nint main(void) { if (sizeof(long) == 4) reach_error(); }\n"
    folder = suite(tmp_path, a=small)
    assert verify(capsys, "--data-model", "ILP32", str(folder))[0] == 1


def test_progress_names_the_task(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = suite(tmp_path, a=FINE)
    err = verify(capsys, "--progress", "json", str(folder))[2]
    rows = [json.loads(line) for line in err.splitlines()]
    path = str(folder / "a.yml")
    assert rows[-1]["done"] is True
    assert {(row["task"], row["property"]) for row in rows} == {(path, "unreach-call")}


def test_internal_errors_have_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = suite(tmp_path / "suite", a=FINE, b=FINE)
    real = plait.api.verify_with

    def broken(options: Options, watch: Watch | None = None) -> Result:
        if options.programs[0].endswith("a.c"):
            raise AssertionError("a mistake")
        result = real(options, watch)
        result.failure = {"reason": "internal error: another", "traceback": ["here"]}
        return result

    monkeypatch.setattr("plait.api.verify_with", broken)
    monkeypatch.chdir(tmp_path)
    code, lines, err = verify(capsys, str(folder))
    assert "a.yml unreach-call: unknown (internal error: AssertionError" in lines[0]
    assert (code, lines[-2]) == (3, "1 true, 1 unknown of 2 tasks")
    reports = [json.loads(path.read_text()) for path in tmp_path.glob("plait-report-*.json")]
    assert err.count("please report this, with the program and plait-report-") == 2
    programs = [report["options"]["programs"] for report in reports]
    assert sorted(programs) == [[str(folder / "a.c")], [str(folder / "b.c")]]
    assert all(None not in report["files"].values() for report in reports)


@pytest.fixture(params=[signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def stopping(request: pytest.FixtureRequest) -> Iterator[int]:
    """A signal that nobody may leave to the rest of the process."""

    def unheard(number: int, frame: object) -> None:
        raise AssertionError("nobody has heard the signal")

    old = signal.signal(request.param, unheard)
    yield request.param
    signal.signal(request.param, old)


def test_a_signal_between_two_tasks(
    stopping: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = suite(tmp_path, a=WRONG, b=FINE, c=FINE)
    real = plait.api.verify_with

    def interrupted(options: Options, watch: Watch | None = None) -> Result:
        if options.programs[0].endswith("b.c"):
            signal.raise_signal(stopping)
        return real(options, watch)

    monkeypatch.setattr("plait.api.verify_with", interrupted)
    code, lines, err = verify(capsys, str(folder))
    assert lines[1:] == ["1 false, 2 not done of 3 tasks", "VERDICT: false (unreach-call)"]
    assert (code, err) == (1, "")
    (folder / "a.c").write_text(FINE)
    code, lines, err = verify(capsys, str(folder))
    last = "VERDICT: unknown (interrupted; 2 not done of 3 tasks)"
    assert (code, lines[1:], err) == (3, ["1 true, 2 not done of 3 tasks", last], "")


def test_an_interrupt_after_an_engine_has_given_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = suite(tmp_path, a=FINE, b=FINE)
    real = plait.api.verify_with

    def interrupted(options: Options, watch: Watch | None = None) -> Result:
        result = real(options, watch)
        result.verdict, result.is_interrupted = "unknown", True
        result.reason = "orders: memory limit of 1 GiB; interrupted; impact: 5 nodes"
        return result

    monkeypatch.setattr("plait.api.verify_with", interrupted)
    code, lines, _ = verify(capsys, str(folder))
    assert lines[-1] == "VERDICT: unknown (interrupted; 1 unknown, 1 not done of 2 tasks)"
    assert (code, len(lines)) == (3, 3)


def test_options_that_do_not_fit_are_told_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = suite(tmp_path, a=FINE, b=FINE)
    code, lines, err = verify(capsys, "--engine", "orders", "--max-nodes", "3", str(folder))
    assert (code, lines, err.count("max_nodes")) == (2, [], 1)


def test_a_signal_when_an_engine_has_ended(
    stopping: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The verdict that is there counts; the next task does not begin."""
    folder = suite(tmp_path, a=FINE, b=FINE)
    real = plait.api.verify_with

    def interrupted(options: Options, watch: Watch | None = None) -> Result:
        result = real(options, watch)
        signal.raise_signal(stopping)
        return result

    monkeypatch.setattr("plait.api.verify_with", interrupted)
    code, lines, _ = verify(capsys, "--no-cache", str(folder))
    assert "a.yml unreach-call: true" in lines[0]
    assert lines[1:] == [
        "1 true, 1 not done of 2 tasks",
        "VERDICT: unknown (interrupted; 1 not done of 2 tasks)",
    ]
    assert code == 3


def test_a_signal_while_a_line_is_written(
    stopping: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also if no engine has worked before."""
    folder = suite(tmp_path, a=FINE, b=FINE)
    real, signals = sys.stdout.flush, [stopping]

    def interrupted() -> None:
        if signals:
            signal.raise_signal(signals.pop())
        real()

    def unusable(options: Options, watch: Watch | None = None) -> Result:
        monkeypatch.setattr(sys.stdout, "flush", interrupted)
        raise InputError("no program")

    monkeypatch.setattr("plait.api.verify_with", unusable)
    code, lines, _ = verify(capsys, str(folder))
    assert lines == [
        f"[1/2] {folder}/a.yml unreach-call: error: no program",
        "1 unusable, 1 not done of 2 tasks",
        "VERDICT: unknown (interrupted; 1 unusable, 1 not done of 2 tasks)",
    ]
    assert code == 3


def test_a_signal_before_the_first_task(
    stopping: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = suite(tmp_path, a=FINE)
    monkeypatch.setattr("plait.bench.verifying.warm_up", lambda: signal.raise_signal(stopping))
    assert verify(capsys, str(folder)) == (3, ["VERDICT: unknown (interrupted)"], "")


def test_interrupt(tmp_path: Path) -> None:
    folder = suite(tmp_path, a=FINE, b=HARD, c=HARD)
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "plait", "verify", "--progress", "json", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert process.stderr is not None
    while "b.yml" not in process.stderr.readline() and process.poll() is None:
        pass
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert "a.yml unreach-call: true" in line
    assert process.returncode == 3 and '"verdict":"unknown"' in err
    assert "b.yml unreach-call: unknown (interrupted; " in out
    assert "c.yml" not in out
    assert out.splitlines()[-2:] == [
        "1 true, 1 unknown, 1 not done of 3 tasks",
        "VERDICT: unknown (interrupted; 1 unknown, 1 not done of 3 tasks)",
    ]
