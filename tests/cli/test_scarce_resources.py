"""Little memory, few files, mistakes of plait itself: one line for each, and what was found stays
found."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import plait
from plait.cli.main import main
from plait.errors import InputError
from plait.portfolio import compose

ROOT = Path(__file__).parents[2]
RACE = str(ROOT / "examples" / "counter_race.c")
LOCKED = str(ROOT / "examples" / "locked_counter.c")


def limited(limit: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", f'ulimit {limit}; exec "$@"', "sh", sys.executable, "-m", "plait", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        timeout=60,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="counts files")
@pytest.mark.parametrize(("program", "code"), [(RACE, 1), (LOCKED, 0)])
def test_few_files(program: str, code: int) -> None:
    """There is no room for the pipes to a worker, so there is none."""
    done = limited("-n 8", "verify", program)
    assert done.returncode == code, done
    assert done.stderr == ""


@pytest.mark.skipif(sys.platform != "linux", reason="counts files")
def test_no_file_to_read_the_program_with(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("plait.cli.verify.verify", fail)
    assert main(["verify", RACE]) == 3
    printed = capsys.readouterr()
    assert printed.out == "VERDICT: unknown (too many open files)\n" and not printed.err


@pytest.mark.skipif(sys.platform != "linux", reason="limits address space")
@pytest.mark.parametrize("kibibytes", ["200000", "600000"])
@pytest.mark.parametrize("command", ["verify", "explore", "run"])
def test_little_memory(command: str, kibibytes: str) -> None:
    """Too little for the stack of the parser, or for libclang."""
    done = limited(f"-v {kibibytes}", command, RACE)
    assert done.returncode == 3, done
    assert "out of memory" in (done.stdout + done.stderr).splitlines()[-1]
    assert "internal error" not in done.stdout + done.stderr
    assert len(done.stderr.splitlines()) <= 1


@pytest.mark.parametrize("option", ["--unwind", "--jobs", "--max-nodes"])
def test_numbers_that_are_a_slip(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["verify", option, "9" * 20, RACE])
    assert stop.value.code == 2
    assert f"argument {option}: '{'9' * 20}' is more than 1000000000" in capsys.readouterr().err


def test_numbers_that_are_a_slip_in_python() -> None:
    for choice in ({"unwind": 10**20}, {"jobs": 10**20}, {"max_nodes": 10**20}):
        with pytest.raises(InputError, match=r"1e.09|1000000000"):
            plait.verify(RACE, **choice)  # type: ignore[arg-type]


@pytest.mark.parametrize("command", ["verify", "explore"])
@pytest.mark.parametrize("error", [KeyError("lost"), MemoryError(), KeyboardInterrupt()])
@pytest.mark.parametrize("place", ["plait.report.text.trace_lines", "plait.report.html.to_html"])
def test_what_was_found_stays_found(
    command: str,
    error: BaseException,
    place: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(place, fail)
    assert main([command, "--html", str(tmp_path / "page.html"), RACE]) == 1
    said = capsys.readouterr()
    assert said.out.splitlines()[-1] == "VERDICT: false (assertions)"
    assert said.out.count("VERDICT: ") == 1
    assert 1 <= len(said.err.splitlines()) <= 2


def test_evidence_that_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # where the report of the error goes
    whole = compose.from_plain

    def only_without_evidence(data: dict[str, Any]) -> Any:
        if "trace" in data:
            raise ValueError("too much")
        return whole(data)

    monkeypatch.setattr(compose, "from_plain", only_without_evidence)
    assert main(["verify", RACE]) == 1
    said = capsys.readouterr()
    assert said.out.splitlines()[-1] == "VERDICT: false (assertions)"
    assert "internal error: ValueError" in said.err
