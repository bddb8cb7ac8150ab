"""Standard streams that are closed, cannot be written, or have no reader: exit codes say what was
found, files are written, and nothing is said twice or in the wrong place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RACE = str(ROOT / "examples" / "counter_race.c")
CLOSED = [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", "1</dev/null", ">/dev/full"]


def plait(redirections: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """In a shell, with streams that are closed after ours were opened."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirections}', "sh", sys.executable, "-m", "plait", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        timeout=60,
    )


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A certificate and its program."""
    folder = tmp_path_factory.mktemp("proof")
    (folder / "a.c").write_text("int x; int main(void) { while (x) { } return 0; }\n")
    saved = folder / "proof.json"
    source = str(folder / "a.c")
    found = plait("", "verify", "--engine", "impact", "--certificate", str(saved), source)
    assert found.returncode == 0 and saved.exists(), found
    return str(saved), source


def commands(proof: tuple[str, str], folder: Path) -> list[tuple[list[str], int]]:
    task = folder / "t.yml"
    task.write_text(
        "format_version: '2.0'\ninput_files: t.c\nproperties:\n"
        "- property_file: p.prp\n  expected_verdict: false\n"
    )
    (folder / "t.c").write_text(
        "void reach_error(void) {}\nint main(void) { reach_error(); return 0; }\n"
    )
    (folder / "p.prp").write_text("CHECK( init(main()), LTL(G ! call(reach_error())) )\n")
    bench = ["bench", "--engines", "orders", "--out", str(folder / "out"), str(task)]
    return [
        (["explore", RACE], 1),
        (["run", RACE], 0),
        (["show", RACE], 0),
        (["check", *proof], 0),
        (bench, 0),
        (["--help"], 0),
        (["verify"], 2),
        (["verify", "missing.c"], 2),
    ]


@pytest.mark.parametrize("redirections", CLOSED)
def test_verify(redirections: str, tmp_path: Path) -> None:
    saved = tmp_path / "result.json"
    found = plait(redirections, "verify", "--json", str(saved), RACE)
    assert found.returncode == 1
    assert json.loads(saved.read_text())["verdict"] == "false"
    assert "Traceback" not in found.stdout + found.stderr
    assert ("VERDICT: false" in found.stdout) == (redirections == "2>&-")


@pytest.mark.parametrize("redirections", [">&-", "<&- >&- 2>&-"])
def test_a_proof_has_its_exit_code(redirections: str) -> None:
    """1 would say that something is violated."""
    program = str(ROOT / "examples" / "locked_counter.c")
    assert plait(redirections, "verify", program).returncode == 0


@pytest.mark.parametrize("redirections", CLOSED)
def test_other_commands(redirections: str, proof: tuple[str, str], tmp_path: Path) -> None:
    for arguments, code in commands(proof, tmp_path):
        found = plait(redirections, *arguments)
        assert found.returncode == code, (arguments, found)
        assert "Traceback" not in found.stdout + found.stderr
        assert "plait: " not in found.stdout  # which is not where mistakes are said


def test_each_file_as_a_program_of_its_own() -> None:
    command = [sys.executable, "-m", "plait.cli.verify_files", RACE]
    found = subprocess.run(
        ["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *command],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        timeout=60,
    )
    assert found.returncode == 1
