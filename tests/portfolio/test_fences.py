"""Suggestions of fences and stronger memory orders: which, and that they are enough."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.api import Options, Result, verify_with
from plait.errors import InputError
from plait.model.memory_model import MemoryModel
from plait.model.strengthening import Strengthening, candidates, from_text
from plait.portfolio.fences import suggested
from plait.portfolio.subject import Subject, load_program, specification

PROGRAM = """#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y;
int a, b;
void *one(void *p) {
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  ONE
  return 0;
}
void *two(void *p) {
  TWO
  b = atomic_load_explicit(&x, memory_order_relaxed);
  return 0;
}
int main(void) {
  pthread_t s, t;
  pthread_create(&s, 0, one, 0); pthread_create(&t, 0, two, 0);
  pthread_join(s, 0); pthread_join(t, 0);
  assert(LAST);
}
"""
STORE = "atomic_store_explicit(&y, 1, memory_order_relaxed);"
LOAD = "a = atomic_load_explicit(&y, memory_order_relaxed);"
SB = PROGRAM.replace("ONE", LOAD).replace("TWO", STORE).replace("LAST", "a || b")
MP = PROGRAM.replace("ONE", STORE).replace("TWO", LOAD).replace("LAST", "!a || b")


def asked(text: str, model: str, folder: Path, suggest: bool = True) -> Result:
    file = folder / "program.c"
    file.write_text(text)
    return verify_with(
        Options(
            programs=(str(file),),
            memory_model=model,
            suggest_fences=suggest,
            engine="orders",
            property=("assertions",),
            cache=False,
        )
    )


def shown(result: Result) -> list[tuple[int, bool, str]]:
    assert result.verdict == "false" and result.fences is not None
    assert not result.fences.reason
    return [(item.line, item.is_fence, item.order) for item in result.fences.suggestions]


def test_store_buffering_needs_two_fences(tmp_path: Path) -> None:
    found = asked(SB, "tso", tmp_path)
    assert shown(found) == [(7, True, "seq_cst"), (12, True, "seq_cst")]
    assert found.fences is not None
    pairs = {
        (item.thread, item.first.split(":")[1], item.second.split(":")[1])
        for item in found.fences.reordered
    }
    assert pairs == {(2, "7", "8"), (3, "12", "13")}


def test_message_passing_needs_a_release_and_an_acquire(tmp_path: Path) -> None:
    found = asked(MP, "c11", tmp_path)
    assert shown(found) == [(8, False, "release"), (12, False, "acquire")]


def test_message_passing_needs_one_fence_under_pso(tmp_path: Path) -> None:
    assert shown(asked(MP, "pso", tmp_path)) == [(7, True, "release")]


def test_what_fences_do_not_help_against(tmp_path: Path) -> None:
    found = asked(SB.replace("a || b", "a && b"), "tso", tmp_path)
    assert found.fences is not None and not found.fences.suggestions
    assert "under sequential consistency, too" in found.fences.reason


def test_a_property_that_holds_needs_none(tmp_path: Path) -> None:
    assert asked(SB.replace("a || b", "1"), "tso", tmp_path).fences is None


def test_sequential_consistency_needs_none() -> None:
    with pytest.raises(InputError, match="weak memory model"):
        Options(programs=("x.c",), suggest_fences=True).check()


VERDICTS = {  # of sets of candidates, by their lines
    "two of three": lambda lines: {1, 2} <= lines or {1, 3} <= lines,
    "the second alone": lambda lines: 2 in lines,
    "all": lambda lines: {1, 2, 3} <= lines,
}
SMALLEST = {"two of three": {1, 2}, "the second alone": {2}, "all": {1, 2, 3}}
THREE = """int x, y, z;
void f(void) {
  x = 1;
  y = 1;
  z = 1;
}
int main(void) { f(); return 0; }
"""


@pytest.mark.parametrize("name", VERDICTS)
def test_a_smallest_set_is_found(name: str, tmp_path: Path) -> None:
    """Whatever it is that makes a program right."""
    file = tmp_path / "program.c"
    file.write_text(THREE)
    options = Options(programs=(str(file),), memory_model="tso", suggest_fences=True)

    def verify(one: Options) -> Result:
        lines = {int(from_text(item).place.split(":")[1]) - 2 for item in one.strengthened}
        holds = one.memory_model == "sc" or VERDICTS[name](lines)
        return _result("true" if holds else "false")

    found = suggested(options, _result("false"), verify)
    assert {item.line - 2 for item in found.suggestions} == SMALLEST[name]


def test_no_verdict_is_no_suggestion(tmp_path: Path) -> None:
    file = tmp_path / "program.c"
    file.write_text(THREE)
    options = Options(programs=(str(file),), memory_model="tso", suggest_fences=True)
    found = suggested(options, _result("false"), lambda one: _result("unknown"))
    assert not found.suggestions and "no verdict" in found.reason


def _result(verdict: str) -> Result:
    return Result("", [], "main", "LP64", [], "orders", verdict, "")


@pytest.mark.parametrize(("model", "count"), [("tso", 4), ("pso", 4), ("c11", 8)])
def test_candidates_are_what_may_be_too_weak(model: str, count: int, tmp_path: Path) -> None:
    file = tmp_path / "program.c"
    file.write_text(SB)
    subject = Subject(programs=(str(file),))
    program = load_program(subject, *specification(subject))
    found = candidates(program, MemoryModel(model))
    assert (
        len([item for item in found if item.place.split(":")[-2] in ("7", "8", "12", "13")])
        == count
    )
    assert all(from_text(str(item)) == item for item in found)
    assert all(isinstance(item, Strengthening) for item in found)


def test_suggestions_share_the_time_limit(tmp_path: Path) -> None:
    """Nothing is asked any more when the verdict itself has taken all of it."""
    file = tmp_path / "program.c"
    file.write_text(SB)
    options = Options(programs=(str(file),), memory_model="tso", timeout=5.0)
    violated = asked(SB, "tso", tmp_path, suggest=False)
    violated.statistics["wall_seconds"] = 6.0

    def verify(options: Options) -> Result:
        raise AssertionError("there is no time left")

    assert suggested(options, violated, verify).reason == "time is up"
