"""The tool-info module: BenchExec's own test, and what is made of outputs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("benchexec", reason="BenchExec is not installed: its module is not tested")

from plait.bench.tool_info import Tool


def run(*lines: str, code: int = 0) -> Any:
    return SimpleNamespace(output=list(lines), exit_code=SimpleNamespace(value=code))


@pytest.mark.parametrize(
    ("line", "result"),
    [
        ("VERDICT: true", "true"),
        ("VERDICT: false (unreach-call)", "false(unreach-call)"),
        ("VERDICT: false (no-data-race)", "false(no-data-race)"),
        ("VERDICT: false (valid-memtrack)", "false(valid-memtrack)"),
        ("VERDICT: unknown (no violation with up to 4 loop rounds)", "unknown"),
        ("VERDICT: unknown (time limit of 5 s; no loop bound was finished)", "TIMEOUT"),
        ("VERDICT: unknown (memory limit of 1 GiB; the program was not read yet)", "OUT OF MEMORY"),
    ],
)
def test_results(line: str, result: str) -> None:
    assert Tool().determine_result(run("VERDICT: true (no)", "something", line)) == result


def test_no_verdict() -> None:
    assert Tool().determine_result(run("plait: no such file", code=2)).startswith("ERROR")
    assert Tool().determine_result(run("a VERDICT: true", code=1)) == "ERROR"


def test_the_command_line() -> None:
    task = SimpleNamespace(
        property_file="unreach-call.prp",
        options={"data_model": "ILP32"},
        input_files_or_identifier=["a.c", "b.c"],
    )
    limits = SimpleNamespace(cputime=60, memory=4 * 2**30)
    found = Tool().cmdline("plait", ["--engine", "impact"], task, limits)
    assert (
        found
        == (
            "plait verify --no-cache --engine impact --prp unreach-call.prp --data-model ILP32"
            " --timeout 60 --memory-limit 3.800 a.c b.c"
        ).split()
    )


def test_what_benchexec_says() -> None:
    command = [sys.executable, "-m", "benchexec.test_tool_info", "plait.bench.tool_info"]
    command += ["--no-container"]
    beside = os.path.dirname(sys.executable)
    if shutil.which("plait", path=beside) is None:
        pytest.skip("plait is not installed beside this Python")
    environment = {**os.environ, "PATH": f"{beside}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env=environment
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    complaints = [line for line in said.splitlines() if line.startswith(("WARN", "CRIT", "ERR"))]
    # Here it is; whoever distributes runs to other machines has it in a folder of the benchmark.
    assert all("Path to executable is absolute" in line for line in complaints), said
