"""Heap objects that stay with the thread that allocates them: their accesses are no events, but the
replay counts them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.engines.interface import Answer, Counterexample
from plait.engines.orders.bounds import Bounds
from plait.engines.orders.engine import check
from plait.engines.orders.learning import unroll
from plait.engines.orders.settings import Settings
from plait.evidence.confirm import confirmed
from plait.logic.terms import Terms
from plait.model.program import Program
from plait.model.properties import Property, Specification, from_names

HEAD = """#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
_Bool __VERIFIER_nondet_bool(void);
int x, *shared;
"""
OWN_BUFFERS = f"""{HEAD}
int *buffer(int n) {{ return calloc(n, sizeof(int)); }}
void *run(void *unused) {{
  int *p = buffer(2), *q = malloc(8);
  q[0] = 0; q[1] = 1;
  p[1] += q[1];
  x = x + p[1];
  free(__VERIFIER_nondet_bool() ? q : 0);
  x = x + p[0];
  free(p);
  return 0;
}}
int main(void) {{
  pthread_t t, u;
  pthread_create(&t, 0, run, 0); pthread_create(&u, 0, run, 0);
  pthread_join(t, 0); pthread_join(u, 0);
  assert(x == 2);
}}
"""


def one_thread(thread: str, meanwhile: str, after: str) -> str:
    return f"""{HEAD} void *run(void *p) {{ {thread} return 0; }}
int main(void) {{ pthread_t t; int *p = malloc(8); p[0] = p[1] = 0;
  pthread_create(&t, 0, run, p); {meanwhile} pthread_join(t, 0); {after} return 0; }}
"""


PROGRAMS = {
    "given to a thread": (one_thread("*(int *)p = 1;", "int v = *p;", "assert(v == 0);"), Answer.VIOLATED),
    "left in a static object": (one_thread("int *q = shared; if (q) *q = 1;", "shared = p;", "assert(*p == 0);"), Answer.VIOLATED),
    "found through another object": (one_thread("**(int **)p = 1;", "", "assert(**(int **)p == 0);").replace("p[0] = p[1] = 0", "*(int **)p = calloc(1, 4)"), Answer.VIOLATED),
    "its own": (one_thread("int *q = malloc(4); *q = 5; x = *q; free(q);", "*p = 3;", "assert(*p == 3 && x == 5);"), Answer.HOLDS),
    "freed twice": (one_thread("int *q = malloc(4); free(q); if (x) free(q);", "x = __VERIFIER_nondet_bool();", ""), Answer.UNKNOWN),
    "used after it was freed": (one_thread("int *q = malloc(4); free(q); if (x) *q = 1;", "x = __VERIFIER_nondet_bool();", ""), Answer.UNKNOWN),
    "one of two, freed": (one_thread("int *q = malloc(4), *r = malloc(4); *q = *r = 1; int c = x; free(c ? q : r); x = c ? *r : *q;", "x = __VERIFIER_nondet_bool();", ""), Answer.HOLDS),
}  # fmt: skip


def loaded(text: str, folder: Path, specification: Specification) -> Program:
    path = folder / "program.c"
    path.write_text(text)
    return load([str(path)], FrontEndOptions(), specification)


@pytest.mark.parametrize(("text", "expected"), PROGRAMS.values(), ids=PROGRAMS.keys())
def test_answers(text: str, expected: Answer, tmp_path: Path) -> None:
    program = loaded(text, tmp_path, Specification())
    assert check(program, 4, time.monotonic() + 60).answer is expected


@pytest.mark.parametrize("name", ["assertions", "no-data-race"])
def test_violations_replay(name: str, tmp_path: Path) -> None:
    specification = from_names([name])
    program = loaded(OWN_BUFFERS, tmp_path, specification)

    def confirm(found: Counterexample) -> str:
        confirmed(program, specification, found)
        return ""

    settings = Settings(finds_races=Property.NO_DATA_RACE in specification)
    outcome = check(program, 4, time.monotonic() + 60, settings, confirm=confirm)
    assert outcome.answer is Answer.VIOLATED


def test_accesses_are_no_events(tmp_path: Path) -> None:
    program = loaded(OWN_BUFFERS, tmp_path, Specification())
    unrolling = unroll(program, Terms(), Bounds.same(4)).unrolling
    cells = {event.cell for event in unrolling.events if event.cell is not None}
    page = 1 << program.data_model.page_bits
    sizes = {address // page: size for address, size in cells}
    assert len(sizes) == 3, sizes  # x, and what the library keeps of the two threads
