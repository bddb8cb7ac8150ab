"""`plait verify --engine portfolio`: whoever decides first has the say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plait.cli.main import main
from plait.engines import registry

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"

# Every round changes something, so that no bound is enough; `impact` sees that it does not matter.
UNBOUNDED = """
#include <assert.h>
#include <pthread.h>
unsigned turns; int flag;
_Bool __VERIFIER_nondet_bool(void);
void *f(void *u) { while (__VERIFIER_nondet_bool()) { turns = turns + 1; flag = 1; } return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); assert(flag <= 1); return 0; }
"""


def verdict(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["verify", "--engine", "portfolio", "--timeout", "60", *arguments])
    return code, capsys.readouterr().out.splitlines()[-1]


def test_verdicts(capsys: pytest.CaptureFixture[str]) -> None:
    assert verdict(capsys, str(EXAMPLES / "counter_race.c")) == (1, "VERDICT: false (assertions)")
    assert verdict(capsys, str(EXAMPLES / "locked_counter.c")) == (0, "VERDICT: true")
    deadlock = str(EXAMPLES / "deadlock.c")
    found = verdict(capsys, "--property", "no-deadlock", deadlock)
    assert found == (1, "VERDICT: false (no-deadlock)")


def test_a_proof_that_only_one_engine_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, saved = tmp_path / "a.c", tmp_path / "r.json"
    source.write_text(UNBOUNDED)
    assert verdict(capsys, "--json", str(saved), str(source)) == (0, "VERDICT: true")
    data = json.loads(saved.read_text())
    assert data["engine"] in ("impact", "context")
    options = {item.name for item in registry.engine(data["engine"]).options}
    assert data["settings"].keys() >= options


def test_nobody_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "r.json"
    program = str(EXAMPLES / "bounded_queue.c")
    code, last = verdict(capsys, "--timeout", "0.05", "--json", str(saved), program)
    assert code == 3
    assert last.startswith("VERDICT: unknown (time limit of 0.05 s; orders: ")
    assert "; impact: " in last
    assert json.loads(saved.read_text())["engine"] == "auto"


def test_mistakes_are_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "a.c"
    source.write_text("int main(void) { return x; }\n")
    assert main(["verify", "--engine", "portfolio", str(source)]) == 2
    assert capsys.readouterr().err.count("undeclared identifier") == 1
