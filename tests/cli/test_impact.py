"""`plait verify --engine impact` and `plait check`, as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PETERSON = str(ROOT / "benchmarks" / "impact" / "peterson.c")
SLOW = str(ROOT / "benchmarks" / "impact" / "read_write_lock_safe.c")
UNSAFE = str(ROOT / "tests" / "engines" / "impact" / "programs" / "equal_counters_unsafe.c")


def plait(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "plait", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, cwd=ROOT)


def test_proof_and_check(tmp_path: Path) -> None:
    proof, result = str(tmp_path / "proof.json"), tmp_path / "result.json"
    done = plait(
        "verify", "--engine", "impact", "--certificate", proof, "--json", str(result), PETERSON
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "VERDICT: true"
    document = json.loads(result.read_text())
    assert document["engine"] == "impact"
    assert document["settings"]["por"] == "movers"
    assert document["statistics"]["nodes"] > 10
    checked = plait("check", proof, PETERSON)
    assert checked.returncode == 0, checked.stdout
    assert checked.stdout.splitlines()[-1] == "CERTIFICATE: accepted"
    other = plait("check", proof, UNSAFE)
    assert other.returncode == 1
    assert other.stdout.splitlines()[-1].startswith("CERTIFICATE: rejected (")


def test_violation() -> None:
    done = plait("verify", "--engine", "impact", UNSAFE)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "VERDICT: false (assertions)"
    assert " failed in thread " in done.stdout


def test_limits_say_what_grew() -> None:
    done = plait("verify", "--engine", "impact", "--max-nodes", "500", SLOW)
    assert done.returncode == 3
    last = done.stdout.splitlines()[-1]
    assert last.startswith("VERDICT: unknown (more than 500 nodes: ")
    assert "read_write_lock_safe.c:" in last
    late = plait("verify", "--engine", "impact", "--timeout", "0.1", SLOW)
    assert late.returncode == 3
    assert late.stdout.splitlines()[-1].startswith("VERDICT: unknown (time limit of 0.1 s")


def test_mistakes(tmp_path: Path) -> None:
    saved = str(tmp_path / "x")
    done = plait("verify", "--engine", "orders", "--certificate", saved, PETERSON)
    assert done.returncode == 2
    assert "--engine impact" in done.stderr
    missing = plait("check", str(tmp_path / "none.json"), PETERSON)
    assert missing.returncode == 2
    (tmp_path / "bad.json").write_text("{]")
    bad = plait("check", str(tmp_path / "bad.json"), PETERSON)
    assert bad.returncode == 2
    assert "Traceback" not in bad.stderr
