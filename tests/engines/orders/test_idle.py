"""Rounds of loops that change nothing are left out, and only those."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.orders.test_engine import answer

from plait.engines.interface import Answer
from plait.engines.orders.idle import Head, change
from plait.engines.orders.paths import Condition
from plait.engines.orders.paths import Path as OfThread
from plait.logic.terms import Terms

HEAD = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
extern void __VERIFIER_atomic_begin(void); extern void __VERIFIER_atomic_end(void);
atomic_int a; atomic_flag f = ATOMIC_FLAG_INIT; int x, y; volatile int go;
"""
TWICE = """
void *work(void *unused) { %s x++; %s return 0; }
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, work, 0); pthread_create(&u, 0, work, 0);
  pthread_join(t, 0); pthread_join(u, 0);
  assert(x == 2);
  return 0;
}
"""
LOCKS = {
    "exchange": ("while (atomic_exchange(&a, 1)) ;", "a = 0;"),
    "flag": ("while (atomic_flag_test_and_set(&f)) ;", "atomic_flag_clear(&f);"),
    "weak comparison": (
        "int e = 0; while (!atomic_compare_exchange_weak(&a, &e, 1)) e = 0;",
        "a = 0;",
    ),
    "section": (
        "int r = 1; while (r) { __VERIFIER_atomic_begin(); r = y; y = 1; __VERIFIER_atomic_end(); }",
        "__VERIFIER_atomic_begin(); y = 0; __VERIFIER_atomic_end();",
    ),
    "loads first": ("while (1) { if (!a) if (!atomic_exchange(&a, 1)) break; }", "a = 0;"),
}


@pytest.mark.parametrize("name", LOCKS)
def test_locks_that_are_tried_again_and_again(name: str, tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    take, release = LOCKS[name]
    source.write_text(HEAD + TWICE % (take, release))
    assert answer(source, 1)[0] is Answer.HOLDS
    source.write_text(HEAD + TWICE % (take, release + " x++; x--;"))
    assert answer(source, 1)[0] is Answer.VIOLATED


WAIT = """
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER;
void *one(void *unused) {
  pthread_mutex_lock(&m); y = 1; while (!x) %s; assert(x %s 1); pthread_mutex_unlock(&m); return 0;
}
void *two(void *unused) {
  pthread_mutex_lock(&m); while (!y) pthread_cond_wait(&c, &m); x = 1; pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, one, 0); pthread_create(&u, 0, two, 0);
  pthread_join(t, 0); pthread_join(u, 0);
  return 0;
}
"""


@pytest.mark.parametrize(
    "wait",
    ["pthread_cond_wait(&c, &m)", "{ pthread_mutex_unlock(&m); pthread_mutex_lock(&m); }"],
)
def test_waits_in_a_row_are_one(wait: str, tmp_path: Path) -> None:
    """The first one is needed: the other thread comes in."""
    source = tmp_path / "main.c"
    source.write_text(HEAD + WAIT % (wait, "=="))
    assert answer(source, 2)[0] is Answer.HOLDS
    source.write_text(HEAD + WAIT % (wait, "!="))
    assert answer(source, 2)[0] is Answer.VIOLATED


LATER = """
extern void __VERIFIER_assume(int);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER; int l;
void *guest(void *unused) { pthread_mutex_lock(&n); pthread_mutex_unlock(&n); return 0; }
void take(void) {
  __VERIFIER_atomic_begin(); __VERIFIER_assume(l == 0); l = 1; __VERIFIER_atomic_end();
}
void drop(void) { __VERIFIER_atomic_begin(); l = 0; __VERIFIER_atomic_end(); }
"""
OTHER_LOCK = """
void *work(void *unused) {
  pthread_mutex_lock(&m); pthread_mutex_unlock(&m); go = 1; return 0;
}
int main(void) {
  pthread_t t, u; int k = 0;
  pthread_mutex_lock(&n); pthread_mutex_lock(&m);
  pthread_create(&t, 0, work, 0); pthread_create(&u, 0, guest, 0);
  while (!go) {
    if (k) { pthread_mutex_unlock(&m); pthread_mutex_lock(&m); }
    else { pthread_mutex_unlock(&n); pthread_mutex_lock(&n); }
    k = 1;
  }
  assert(0);
}
"""
WITH_A_READ = """
void *work(void *unused) { take(); a = 1; go = 1; drop(); return 0; }
int main(void) {
  pthread_t t; int k = 0;
  take();
  pthread_create(&t, 0, work, 0);
  while (!go) {
    drop();
    if (k) take();
    else {
      __VERIFIER_atomic_begin();
      __VERIFIER_assume(a == 0); __VERIFIER_assume(l == 0); l = 1;
      __VERIFIER_atomic_end();
    }
    k = 1;
  }
  assert(0);
}
"""


@pytest.mark.parametrize("program", [OTHER_LOCK, WITH_A_READ])
def test_a_wait_that_is_not_part_of_the_one_before(program: str, tmp_path: Path) -> None:
    """The first round is about another lock, or sees something when it takes the lock."""
    source = tmp_path / "main.c"
    source.write_text(HEAD + LATER + program)
    assert answer(source, 2)[0] is Answer.VIOLATED


@pytest.mark.parametrize(
    "loop",
    [
        "while (!go) x = 1;",
        "while (!go) atomic_exchange(&a, 1); x = a;",
        "while (!go) { __VERIFIER_atomic_begin(); y = x; x = 1; __VERIFIER_atomic_end(); }",
        "while (!go) { __VERIFIER_atomic_begin(); x = 1; y = x; x = y; __VERIFIER_atomic_end(); }",
        "int n = 0; while (!go) n = 1; x = n;",
        "while (!go) { __VERIFIER_atomic_begin(); if (x == 0) x = 1; __VERIFIER_atomic_end(); }",
    ],
)
@pytest.mark.parametrize("visits", ["", "if (x > 5 || y > 5 || a > 5) go = 2;"])
def test_rounds_that_change_something_count(loop: str, visits: str, tmp_path: Path) -> None:
    """In memory that one thread has for itself, or that the other one looks at."""
    source = tmp_path / "main.c"
    source.write_text(
        HEAD
        + f"void *work(void *unused) {{ {visits} go = 1; return 0; }}"
        + "int main(void) { pthread_t t; pthread_create(&t, 0, work, 0);"
        + f" {loop} assert(x != 1); return 0; }}"
    )
    assert answer(source, 1)[0] is Answer.VIOLATED


def test_a_value_that_is_written_back_too_late(tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text(
        HEAD
        + "void *work(void *unused) { x = 2; go = 1; return 0; }"
        + "int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); int old;"
        + " while (!go) { __VERIFIER_atomic_begin(); old = x; __VERIFIER_atomic_end();"
        + " __VERIFIER_atomic_begin(); x = old; __VERIFIER_atomic_end(); }"
        + " assert(x == 2); return 0; }"
    )
    assert answer(source, 1)[0] is Answer.VIOLATED


@pytest.mark.parametrize("made", [0, 1])
def test_what_a_round_makes_counts(made: int) -> None:
    """Objects that nobody refers to, and threads, are nowhere else in a path."""
    terms = Terms()
    path = OfThread(Condition.always(terms), [], [], {})
    head = Head.of(path, events=0, made=0, waited={})
    assert change(terms, head, path, 0, [], made) == (terms.true if made else terms.false)
