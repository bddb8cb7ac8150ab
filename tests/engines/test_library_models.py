"""Engines agree with exploration on programs that use more of the library. (tests/programs has what
exploration says of each.)"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.asking import outcome_of

import plait
from plait.c import FrontEndOptions, load
from plait.engines.interface import Answer
from plait.model.properties import from_names
from plait.semantics.explore import explore

LITMUS = Path(__file__).parents[1] / "programs" / "litmus"


@pytest.mark.parametrize("engine", ["orders", "impact"])
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cancel_disabled", Answer.HOLDS),
        ("cancel_possible", Answer.VIOLATED),
        ("cancel_self", Answer.HOLDS),
        ("signal_thread", Answer.HOLDS),
    ],
)
def test_agreement(engine: str, name: str, expected: Answer, tmp_path: Path) -> None:
    outcome = outcome_of(engine, (LITMUS / f"{name}.c").read_text(), tmp_path)
    assert outcome.answer is expected, outcome.reason


NO_FUNCTION = """#include <pthread.h>
int main(void) {
  pthread_t id;
  pthread_create(&id, NULL, (void *(*)(void *))8, NULL);
  return 0;
}
"""


@pytest.mark.parametrize("engine", ["orders", "impact"])
def test_what_a_thread_does_before_it_comes_to_the_users_code(engine: str, tmp_path: Path) -> None:
    """Its reason names the place where the thread is started."""
    assert "program.c:4:3" in outcome_of(engine, NO_FUNCTION, tmp_path).reason


def test_the_same_in_exploration(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(NO_FUNCTION)
    specification = from_names(["assertions"])
    found = explore(load([str(path)], FrontEndOptions(), specification), specification)
    assert "program.c:4:3" in found.reason


CHARACTERS = """#include <assert.h>
#include <ctype.h>
int __VERIFIER_nondet_int(void);
int main(void) {
  int c = __VERIFIER_nondet_int();
  if (c >= 0 && c < 256 && (*__ctype_b_loc())[c] & 0x2000) assert(c != '\\t');
  return 0;
}
"""


def test_classes_of_characters_need_no_rounds(tmp_path: Path) -> None:
    """The tables behind glibc's macros are there from the start."""
    path = tmp_path / "program.c"
    path.write_text(CHARACTERS)
    found = plait.verify(str(path), engine="orders", unwind=1, timeout=60, cache=False)
    assert found.verdict == "false"
    path.write_text(CHARACTERS.replace("!= '\\t'", "<= ' '"))
    found = plait.verify(str(path), engine="orders", unwind=1, timeout=60, cache=False)
    assert found.verdict == "true"


ANY_MEMORY = """#include <assert.h>
#include <stddef.h>
extern void __VERIFIER_nondet_memory(void *, size_t);
struct pair { char one, other; } pair = {3, 4};
int beside = 5;
int main(void) {
  BODY
}
"""


@pytest.mark.parametrize("engine", ["orders", "impact"])
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("__VERIFIER_nondet_memory(&pair, 2); assert(beside == 5);", Answer.HOLDS),
        ("__VERIFIER_nondet_memory(&pair, 1); assert(pair.other == 4);", Answer.HOLDS),
        ("__VERIFIER_nondet_memory(&pair, 2); assert(pair.one != 77);", Answer.VIOLATED),
        ("__VERIFIER_nondet_memory(&pair, 2); assert(pair.other != 7);", Answer.VIOLATED),
    ],
)
def test_memory_that_is_an_input(engine: str, body: str, expected: Answer, tmp_path: Path) -> None:
    outcome = outcome_of(engine, ANY_MEMORY.replace("BODY", body), tmp_path)
    assert outcome.answer is expected, outcome.reason
