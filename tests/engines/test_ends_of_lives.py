"""Until a local's life ends another thread's access to it is valid: between the step that hands out
its address and the end of its life there is a state of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.asking import outcome_of

import plait
from plait.c import FrontEndOptions, load
from plait.engines.interface import Answer
from plait.model.properties import from_names
from plait.semantics.explore import explore

HEAD = """#include <alloca.h>
#include <assert.h>
#include <pthread.h>
int *p, flag;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *look(void *unused) {
  pthread_mutex_lock(&m);
  if (flag) assert(*p != 1);
  pthread_mutex_unlock(&m);
  return 0;
}
void give(int *pointer) {
  pthread_mutex_lock(&m);
  p = pointer;
  flag = pointer != 0;
  pthread_mutex_unlock(&m);
}
"""
MAIN = """
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, look, 0);
  BODY
  pthread_join(t, 0);
  return 0;
}
"""
# In each of them nobody looks at the local after its life.
FUNCTIONS = """
void one(void) { int x = 1; give(&x); }
void other(void) { int y[1]; y[0] = 2; give((int *)(long)(y[0] - 2)); }
"""
ALLOCA = """
void one(void) { int *x = alloca(sizeof(int)); *x = 1; give(x); }
void other(void) { give(0); }
"""
PROGRAMS = {
    "of a function": HEAD + FUNCTIONS + MAIN.replace("BODY", "one(); other();"),
    "of a block": HEAD + MAIN.replace("BODY", "{ int x = 1; give(&x); } give(0);"),
    "of alloca": HEAD + ALLOCA + MAIN.replace("BODY", "one(); other();"),
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_exploration(what: str, tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(PROGRAMS[what])
    specification = from_names(["assertions"])
    program = load([str(path)], FrontEndOptions(), specification)
    assert explore(program, specification).verdict.value == "false"


@pytest.mark.parametrize("engine", ["orders", "explicit"])
@pytest.mark.parametrize("what", PROGRAMS)
def test_engines(engine: str, what: str, tmp_path: Path) -> None:
    assert outcome_of(engine, PROGRAMS[what], tmp_path).answer is Answer.VIOLATED


@pytest.mark.parametrize("engine", ["impact", "traces", "modular", "context"])
@pytest.mark.parametrize("what", PROGRAMS)
def test_engines_that_may_not_know(engine: str, what: str, tmp_path: Path) -> None:
    assert outcome_of(engine, PROGRAMS[what], tmp_path).answer is not Answer.HOLDS


DANGLING = """#include <assert.h>
void deeper(int **u, int i) {
  if (i == 2) return;
  **u = 12;
  deeper(u, i + 1);
  assert(**u == 12);
  int a;
  *u = &a;
}
int main(void) {
  int a, *p = &a;
  deeper(&p, 0);
}
"""


def test_a_counterexample_that_uses_a_dead_local_shows_nothing(tmp_path: Path) -> None:
    """Unless accesses are checked, the engine does not look at how long locals live."""
    path = tmp_path / "program.c"
    path.write_text(DANGLING)
    found = plait.verify(str(path), engine="orders", property="assertions", cache=False)
    assert found.verdict == "unknown"
    assert found.reason.startswith("undefined behaviour: access to no live object")
