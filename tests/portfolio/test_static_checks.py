"""Where the static checks are relied on, and what happens when they fail."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

import plait
from plait.analysis.points_to import PointsTo
from plait.c import load
from plait.c.options import FrontEndOptions
from plait.cli.main import main
from plait.model.program import Program
from plait.model.properties import from_names
from plait.portfolio.static_checks import static_checks
from plait.work.child import Channel

ROOT = Path(__file__).parents[2]
HEAD = """#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
int flag;
"""
SHARED = {
    "heap": "int *p = malloc(sizeof *p); *p = 0; pthread_create(&t, 0, f, p);",
    "local": "int x = 0; pthread_create(&t, 0, f, &x); pthread_join(t, 0);",
    "thread-local": "static _Thread_local int x; pthread_create(&t, 0, f, &x); pthread_join(t, 0);",
}


def verified(tmp_path: Path, text: str) -> plait.Result:
    source = tmp_path / "a.c"
    source.write_text(HEAD + text)
    return plait.verify(source, engine="modular", cache=False)


def test_static_objects(tmp_path: Path) -> None:
    text = "void *f(void *u) { flag = 1; return 0; }\n"
    text += "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); assert(flag <= 1); }"
    found = verified(tmp_path, text)
    assert (found.verdict, found.engine) == ("true", "modular")


@pytest.mark.parametrize("kind", SHARED)
def test_other_objects_that_threads_share(tmp_path: Path, kind: str) -> None:
    text = "void *f(void *u) { *(int *)u = 1; return 0; }\n"
    text += f"int main(void) {{ pthread_t t; {SHARED[kind]} assert(flag == 0); }}"
    found = verified(tmp_path, text)
    assert found.verdict == "unknown"
    if kind != "thread-local":
        assert found.reason.startswith("a static proof is not relied on where threads share ")


def test_auto_asks_another_engine_then(tmp_path: Path) -> None:
    text = "void *f(void *u) { *(int *)u = 1; return 0; }\n"
    text += f"int main(void) {{ pthread_t t; {SHARED['heap']} assert(flag == 0); }}"
    (tmp_path / "a.c").write_text(HEAD + text)
    found = plait.verify(tmp_path / "a.c", cache=False)
    assert (found.verdict, found.engine) == ("true", "orders")


def test_memory_is_analysed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the proof and for the decision to rely on it."""
    made: list[Program] = []
    make = PointsTo.__init__

    def count(self: PointsTo, program: Program) -> None:
        made.append(program)
        make(self, program)

    monkeypatch.setattr(PointsTo, "__init__", count)
    for text, is_relied_on in (("flag = 1;", True), (SHARED["local"], False)):
        path = tmp_path / "a.c"
        path.write_text(
            f"{HEAD}void *f(void *u) {{ return 0; }}\nint main(void) {{ pthread_t t; {text} }}\n"
        )
        chosen = from_names(["assertions"])
        program = load([str(path)], FrontEndOptions(), chosen)
        made.clear()
        found, _ = static_checks([(chosen, program)], None, Channel(print), needs_facts=False)
        assert bool(found) == is_relied_on
        assert made == [program]


@pytest.mark.parametrize("number", [1, 2])
def test_facts_are_about_the_program_of_a_question(number: int, tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(
        f"{HEAD}int main(void) {{ int n = 0; while (flag == 0 && n < 3) n++; assert(n == 9); }}\n"
    )
    questions = [
        (chosen, load([str(path)], FrontEndOptions(), chosen))
        for chosen in (from_names(["assertions"]), from_names(["no-overflow", "assertions"]))
    ][:number]
    sent: list[dict[str, Any]] = []
    proofs, facts = static_checks(questions, None, Channel(sent.append), needs_facts=True)
    assert not proofs
    assert len(facts) == number
    assert all(facts)
    assert len(sent) == (1 if number == 1 else 0)  # others may have read another one


def test_a_queue() -> None:
    found = plait.verify(
        ROOT / "examples" / "bounded_queue.c", property="no-data-race", cache=False, timeout=600
    )
    assert (found.verdict, found.engine) == ("true", "modular")


# --- failures

LOCKED = ROOT / "examples" / "locked_counter.c"


def mistaken(*arguments: Any, **options: Any) -> NoReturn:
    raise KeyError("no such cell")


def exhausted(*arguments: Any, **options: Any) -> NoReturn:
    raise MemoryError


def crashing(*arguments: Any, **options: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("checks", [mistaken, exhausted, crashing])
@pytest.mark.parametrize("name", ["no-data-race", "assertions"])
def test_the_engine_goes_on_where_they_fail(
    checks: Callable[..., Any], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plait.engines.modular.engine.verify", checks)
    found = plait.verify(LOCKED, property=name, cache=False)
    assert (found.verdict, found.engine) == ("true", "orders")
    if checks is mistaken:
        assert found.failure is not None
        assert found.failure["reason"].startswith("internal error in static checks: KeyError at ")
        assert any("mistaken" in line for line in found.failure["traceback"])
    else:
        assert found.failure is None


def test_a_mistake_in_them_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("plait.engines.modular.engine.verify", mistaken)
    assert main(["verify", "--no-cache", str(LOCKED)]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[-1] == "VERDICT: true"
    assert "internal error in static checks" in said.err
    assert "please report this" in said.err
    assert len(list(tmp_path.glob("plait-report-*.json"))) == 1
