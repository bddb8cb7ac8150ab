"""`plait verify` of folders and of several task definitions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from plait.cli.main import main

ROOT = Path(__file__).parents[2]
FINE = "#include <assert.h>\nint main(void) { assert(1 + 1 == 2); }\n"
WRONG = "void reach_error(void);\nint main(void) { reach_error(); }\n"
HARD = """
void reach_error(void); _Bool __VERIFIER_nondet_bool(void);
int main(void) { unsigned x = 1, y = 1; while (__VERIFIER_nondet_bool()) { x = x * y + 7; y += x * x; }
                 if (x == 1000003) reach_error(); }
"""


def suite(folder: Path, **programs: str) -> Path:
    (folder / "p.prp").write_text("CHECK( init(main()), LTL(G ! call(reach_error())) )")
    for name, text in programs.items():
        (folder / f"{name}.c").write_text(text)
        (folder / f"{name}.yml").write_text(
            f"format_version: '2.0'\ninput_files: '{name}.c'\nproperties:\n"
            "  - property_file: p.prp\n    expected_verdict: true\n"
        )
    return folder


def verify(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str], str]:
    code = main(["verify", *arguments])
    captured = capsys.readouterr()
    return code, captured.out.splitlines(), captured.err


def test_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = suite(tmp_path, a=FINE, b=FINE)
    code, lines, err = verify(capsys, str(folder))
    assert code == 0 and err == ""
    assert lines[0].startswith(f"[1/2] {folder}/a.yml: true, ")
    assert lines[-2:] == ["2 true of 2 tasks", "VERDICT: true"]


def test_the_worst_verdict_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = suite(tmp_path, a=FINE, b=WRONG, c=HARD)
    code, lines, _ = verify(capsys, "--timeout", "1", str(folder))
    assert code == 1
    assert "b.yml: false (unreach-call), " in lines[1]
    assert "c.yml: unknown (time limit of 1 s; " in lines[2]
    assert lines[-1] == "VERDICT: false (unreach-call)"
    code, lines, _ = verify(
        capsys, "--timeout", "1", str(folder / "a.yml"), str(folder / "c.yml")
    )
    assert (code, lines[-1]) == (3, "VERDICT: unknown (1 of 2 tasks)")


def test_what_cannot_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = suite(tmp_path, a=FINE, b="int main(void) {")
    (folder / "c.yml").write_text("input_files: [")
    code, lines, err = verify(capsys, str(folder))
    assert code == 2
    assert "c.yml" in err
    assert "b.yml: error: " in lines[1]
    assert lines[-2:] == [
        "2 error, 1 true of 2 tasks",
        "VERDICT: unknown (2 tasks cannot be used)",
    ]
    (tmp_path / "empty").mkdir()
    assert main(["verify", str(tmp_path / "empty")]) == 2
    assert "no task definitions" in capsys.readouterr().err
    assert main(["verify", "--json", str(tmp_path / "r"), str(folder)]) == 2
    assert "--json is for one program" in capsys.readouterr().err


def test_the_property_can_be_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = suite(tmp_path, a=WRONG, b=FINE)
    assert verify(capsys, "--property", "no-data-race", str(folder))[0] == 0


def test_interrupt(tmp_path: Path) -> None:
    folder = suite(tmp_path, a=FINE, b=HARD, c=HARD)
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "plait", "verify", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert process.stdout is not None
    assert "a.yml: true" in process.stdout.readline()
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3 and err == ""
    assert "b.yml: unknown (interrupted; " in out
    assert "c.yml" not in out
    assert out.splitlines()[-1] == "VERDICT: unknown (interrupted)"
