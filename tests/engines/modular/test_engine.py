"""What the engine answers when there is little to say; facts and their form."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from plait.analysis.sharing import Sharing, sharing_of
from plait.c import FrontEndOptions, load
from plait.engines.interface import Answer
from plait.engines.modular import engine
from plait.engines.modular.engine import verify
from plait.errors import InputError
from plait.model.facts import Range, Rounds, Unreachable, decode, encode
from plait.model.program import Program
from plait.model.properties import from_names

PROGRAM = """
#include <assert.h>
#include <pthread.h>
int level, most = 3;
void *raise(void *unused) {
  for (int i = 0; i < most; i++) {
    int now = level;
    if (now < 10) level = now + 1;
  }
  return 0;
}
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, raise, 0);
  if (level > 20) level = 99;
  pthread_join(a, 0);
  assert(level <= 10);
  return 0;
}
"""


def test_bounds_are_facts(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(PROGRAM)
    specification = from_names(["assertions"])
    program = load([str(path)], FrontEndOptions(), specification)
    outcome = verify(program, specification)
    assert outcome.answer is Answer.HOLDS
    assert Range("level", 0, 4, True, 0, 10) in outcome.facts
    assert any(isinstance(item, Rounds) and item.most == 3 for item in outcome.facts)
    written = {
        edge.source
        for edge in program.functions["main"].all_edges()
        if program.text(edge.action.origin) == "level = 99"
    }
    never = {item.location for item in outcome.facts if isinstance(item, Unreachable)}
    assert written & never


def test_no_bounds_of_objects_with_the_same_name(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(
        """
int only = 1;
int f(void) { static int x = 5; x = 6; return x; }
int main(void) { static int x; x = 1; only = 2; return x + f(); }
"""
    )
    specification = from_names(["assertions"])
    outcome = verify(load([str(path)], FrontEndOptions(), specification), specification)
    assert {item.object for item in outcome.facts if isinstance(item, Range)} == {"only"}


def test_a_deadline_that_has_passed(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(PROGRAM)
    specification = from_names(["assertions"])
    program = load([str(path)], FrontEndOptions(), specification)
    outcome = verify(program, specification, time.monotonic() - 1)
    assert outcome.answer is Answer.UNKNOWN
    assert not outcome.facts


def test_the_analysis_of_memory_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "program.c"
    path.write_text(PROGRAM)
    specification = from_names(["assertions"])
    program = load([str(path)], FrontEndOptions(), specification)
    now = 0.0
    monkeypatch.setattr(time, "thread_time", lambda: now)
    analyse = sharing_of

    def slowly(program: Program) -> Sharing:
        nonlocal now
        now += 1.0
        return analyse(program)

    monkeypatch.setattr(engine, "sharing_of", slowly)
    outcome = verify(program, specification)
    assert (outcome.answer, outcome.statistics.passes) == (Answer.UNKNOWN, 0)


def test_code_that_is_not_modelled(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text("#include <unistd.h>\nint x; int main(void) { if (x) fork(); return 0; }")
    specification = from_names(["assertions"])
    program = load([str(path)], FrontEndOptions(), specification)
    assert verify(program, specification).answer is Answer.HOLDS
    path.write_text("#include <unistd.h>\nint main(void) { fork(); return 0; }")
    program = load([str(path)], FrontEndOptions(), specification)
    assert verify(program, specification).answer is Answer.UNKNOWN


def test_facts_as_json() -> None:
    facts = [Range("x", 4, 2, False, 0, 7), Unreachable("main", 3), Rounds("f", 1, 2)]
    assert decode(encode(facts)) == facts


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"fact": "guess", "function": "f", "location": 1},
        {"fact": "unreachable", "function": "f"},
        {"fact": "unreachable", "function": "f", "location": "1"},
        {"fact": "unreachable", "function": "f", "location": True},
        {"fact": "rounds", "function": "f", "head": 1, "most": 1, "least": 0},
    ],
)
def test_other_rows_are_not_facts(row: dict[str, object]) -> None:
    with pytest.raises(InputError):
        decode([row])
