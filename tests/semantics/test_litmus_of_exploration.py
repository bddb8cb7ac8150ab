"""Small C programs with a known answer, each a trap for the reduction or the search for deadlocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.model.properties import from_names
from plait.semantics.explore import ExploreOptions, explore
from plait.semantics.outcome import Footprint

HEAD = """#include <assert.h>
#include <pthread.h>
extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void);
int x, y;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
"""
BLOCKED = "void *f(void *u) { pthread_mutex_lock(&m); return 0; }"
HOLDING = "int main(void) { pthread_t a; pthread_mutex_lock(&m); pthread_create(&a, 0, f, 0);"
PROGRAMS = {
    "a step that writes with one of its inputs": (
        "assertions",
        """void *f(void *u) {
          __VERIFIER_atomic_begin();
          if (__VERIFIER_nondet_bool()) x = 1; else y = 1;
          __VERIFIER_atomic_end();
          return 0; }
        void *g(void *u) { int first = x; int second = x; assert(first == second); return 0; }
        int main(void) {
          pthread_t a, b; pthread_create(&a, 0, f, 0); pthread_create(&b, 0, g, 0);
          return 0; }""",
        "false",
    ),
    "threads are numbered in the order in which they start": (
        "assertions",
        """void *left(void *u) { pthread_mutex_lock(&m); assert(*(int *)&m != 5); return 0; }
        void *right(void *u) { return 0; }
        void *f(void *u) { pthread_t c; pthread_create(&c, 0, left, 0); return 0; }
        void *g(void *u) { pthread_t c; pthread_create(&c, 0, right, 0); return 0; }
        int main(void) {
          pthread_t a, b; pthread_create(&a, 0, f, 0); pthread_create(&b, 0, g, 0);
          pthread_join(a, 0); pthread_join(b, 0); return 0; }""",
        "false",
    ),
    "a thread is blocked while another one runs or fails an assumption": (
        "no-deadlock",
        f"{BLOCKED} {HOLDING} while (1) if (__VERIFIER_nondet_bool()) __VERIFIER_assume(0); }}",
        "false",
    ),
    "a thread is blocked until an assumption fails in all executions": (
        "no-deadlock",
        f"{BLOCKED} {HOLDING} x = 1; __VERIFIER_assume(0); }}",
        "unknown",
    ),
    "a thread is blocked until the process ends": (
        "no-deadlock",
        f"{BLOCKED} {HOLDING} x = 1; return 0; }}",
        "true",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_known_answers(name: str, tmp_path: Path) -> None:
    asked, text, expected = PROGRAMS[name]
    source = tmp_path / "program.c"
    source.write_text(HEAD + text)
    specification = from_names([asked])
    program = load([str(source)], FrontEndOptions(), specification)
    for reduction in (True, False):
        options = ExploreOptions(max_states=20_000, reduction=reduction)
        found = explore(program, specification, options)
        assert found.verdict.value == expected, found.reason


def test_what_commutes_without_an_access() -> None:
    nothing, starts, ends = (
        Footprint(12, [], flags) for flags in ((False, False), (True, False), (False, True))
    )
    assert nothing.commutes_with(nothing)
    assert nothing.commutes_with(starts) and starts.commutes_with(nothing)
    assert not starts.commutes_with(starts)
    for other in (nothing, starts, ends):
        assert not ends.commutes_with(other) and not other.commutes_with(ends)
