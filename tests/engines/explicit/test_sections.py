"""Critical sections as single steps, and steps that commute because of what they compute: what must
not be lost, and that it gains something. Each program of `VIOLATED` violates its property only in
executions that a hasty reduction leaves out."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.engines.explicit.helpers import ask

from plait.engines.explicit.sections import Afresh, Bytes, Locks, Part, Phase
from plait.engines.interface import Answer
from plait.semantics.state import ENDED

BEGIN = """
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
sem_t s, r;
_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
#define ATOMIC(...) do { __VERIFIER_atomic_begin(); __VA_ARGS__; __VERIFIER_atomic_end(); } while (0)
pthread_cond_t k = PTHREAD_COND_INITIALIZER;
atomic_int x, y, z;
int c, d;
#define WITH(mutex, ...) do { pthread_mutex_lock(mutex); __VA_ARGS__; pthread_mutex_unlock(mutex); } while (0)
"""


def program(left: str, right: str, after: str = "") -> str:
    return f"""{BEGIN}
void *left(void *p) {{ {left}; return p; }}
void *right(void *p) {{ {right}; return p; }}
int main(void) {{
  pthread_t one, two;
  pthread_create(&one, NULL, left, NULL);
  pthread_create(&two, NULL, right, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  {after}
}}
"""


VIOLATED = {
    "seen without the lock": ("assertions", program("WITH(&m, x = 1, x = 0)", "assert(x == 0)")),
    "seen late without the lock": (
        "assertions",
        program("WITH(&m, x = 1, x = 0)", "y = 1; y = 2; assert(x == 0)"),
    ),
    "changed without the lock": (
        "assertions",
        program("WITH(&m, x = x + 1)", "y = 1; y = 2; x++", "assert(x == 2);"),
    ),
    "another lock": (
        "assertions",
        program("WITH(&m, x = x + 1)", "y = 1; WITH(&n, x = x + 1)", "assert(x == 2);"),
    ),
    "race with a section": ("no-data-race", program("WITH(&m, c = 1)", "y = 1; c = 2")),
    "race of steps that commute": ("no-data-race", program("c = 1", "y = 1; c = 1")),
    "two orders": (
        "no-deadlock",
        program("WITH(&m, WITH(&n, x = 1))", "WITH(&n, WITH(&m, y = 1))"),
    ),
    "two orders that commute": (
        "no-deadlock",
        program("WITH(&m, WITH(&n, c++))", "WITH(&n, WITH(&m, c++))"),
    ),
    "a lock given back and taken again": (
        "assertions",
        program("WITH(&m, WITH(&n, c = 1); WITH(&n, assert(c == 1)))", "WITH(&n, c = 2)"),
    ),
    "a section that waits": (
        "no-deadlock",
        program("WITH(&m, sem_wait(&s))", "WITH(&m, x = 1); sem_post(&s)"),
    ),
    "a section that never ends": ("no-deadlock", program("pthread_mutex_lock(&m)", "WITH(&m, x = 1)")),
    "a section that starts a thread": (
        "assertions",
        program(
            "WITH(&m, y = 1)",
            "pthread_t t; WITH(&m, x = 1; pthread_create(&t, NULL, third, NULL); x = 0)",
        ).replace("void *left", "void *third(void *p) { assert(x == 0); return p; }\nvoid *left"),
    ),
    "a section that loops for ever": (
        "no-deadlock",
        program("WITH(&m, while (!y))", "WITH(&m, x = 1); y = 1"),
    ),
    "tried": (
        "assertions",
        program("WITH(&m, x = 1, x = 0)", "if (pthread_mutex_trylock(&m) != 0) assert(x == 0)"),
    ),
    "tried, and given back": (
        "assertions",
        program(
            "WITH(&m, x = 1, x = 0)",
            "if (pthread_mutex_trylock(&m)) assert(x == 0); else pthread_mutex_unlock(&m)",
        ),
    ),
    "one who knows where the lock is": (
        "assertions",
        program("WITH(&m, c = 1, c = 0)", "y = 1; assert(*(int *)&m == 0)"),
    ),
    "another function of the value": (
        "assertions",
        program("WITH(&m, c = c + 1)", "y = 1; WITH(&m, c = -c)", "assert(c == -1);"),
    ),
    "and, or": (
        "assertions",
        program("WITH(&m, c |= 1)", "y = 1; WITH(&m, c &= 2)", "assert(c == 0);"),
    ),
    "a copy": (
        "assertions",
        program("WITH(&m, c = c + 1)", "y = 1; WITH(&m, d = c)", "assert(d == 1);"),
    ),
    "a copy for oneself": (
        "assertions",
        program("WITH(&m, c = c + 1)", "int own; y = 1; WITH(&m, own = c); assert(own == 1)"),
    ),
    "a number for oneself": (
        "assertions",
        program(
            "WITH(&m, c = c + 1); z = 1",
            "int own; y = 1; WITH(&m, own = c; c = c + 1); z = 2; assert(own == 1)",
        ),
    ),
    "the other number for oneself": (
        "assertions",
        program(
            "WITH(&m, c = c + 1); z = 1",
            "int own; y = 1; WITH(&m, own = c; c = c + 1); z = 2; assert(own == 0)",
        ),
    ),
    "a decision": (
        "assertions",
        program("WITH(&m, c = c + 1)", "y = 1; WITH(&m, if (c == 1) d = 1)", "assert(d == 1);"),
    ),
    "a decision about what is changed": (
        "assertions",
        program("WITH(&m, c++)", "y = 1; WITH(&m, if (c == 1) d = 1; c++)", "assert(d == 0);"),
    ),
    "the other decision": (
        "assertions",
        program("WITH(&m, c++)", "y = 1; WITH(&m, if (c == 1) d = 1; c++)", "assert(d == 1);"),
    ),
    "a condition": (
        "assertions",
        program(
            "WITH(&m, c += d ? 1 : 2)", "y = 1; WITH(&m, d = 1; c += 4)", "assert(c == 6);"
        ),
    ),
    "the same value twice": (
        "assertions",
        program("WITH(&m, c = 1)", "y = 1; WITH(&m, c = 2)", "assert(c == 2);"),
    ),
    "parts of a cell": (
        "assertions",
        program("WITH(&m, c = c + 1)", "y = 1; WITH(&m, *(char *)&c = 7)", "assert(c == 7);"),
    ),
    "atomic steps that do not commute": (
        "assertions",
        program("atomic_fetch_add(&x, 1)", "y = 1; atomic_fetch_and(&x, 2)", "assert(x == 0);"),
    ),
    "a semaphore that is posted in the middle": (
        "assertions",
        program("WITH(&m, sem_post(&s); sem_trywait(&s))", "WITH(&m, c++); sem_wait(&s); assert(0)"),
    ),
    "a mutex that is free in the middle": (
        "assertions",
        program(
            "WITH(&m, pthread_mutex_unlock(&n); pthread_mutex_trylock(&n))",
            "y = 1; y = 2; pthread_mutex_lock(&n); assert(0)",
        ).replace("pthread_t one", "pthread_mutex_lock(&n); pthread_t one"),
    ),
    "a lock and what is beside it in one access": (
        "assertions",
        program(
            "pthread_spin_lock(&u.l); u.both = (u.both & 0xffffffffLL) | (5LL << 32);"
            " pthread_spin_unlock(&u.l)",
            "y = 1; int v; pthread_spin_lock(&u.l); v = (int)(u.both >> 32);"
            " pthread_spin_unlock(&u.l); assert(v == 5)",
        ).replace(
            "int c, d;",
            "int c, d; union { struct { pthread_spinlock_t l; int data; }; long long both; } u;",
        ),
    ),
    "a lock that is tried by what only the thread knows": (
        "assertions",
        program(
            "WITH(&m, c = 1; c = 2)",
            "int a[2] = {0, 0}; a[__VERIFIER_nondet_bool()] = 1; y = 3;"
            " __VERIFIER_atomic_begin(); if (pthread_mutex_trylock(&m)) {"
            " if (a[0]) pthread_mutex_lock(&m); else assert(0); } __VERIFIER_atomic_end();"
            " pthread_mutex_unlock(&m)",
        ),
    ),
    "one step that others see in part": (
        "assertions",
        program(
            "x = 1; sem_wait(&r); sem_post(&s); c = 2",
            "int A[2] = {0, 0}; int *p0 = d ? &c : &A[0]; int v = __VERIFIER_nondet_bool();"
            " __VERIFIER_atomic_begin(); *p0 = 1; sem_post(&r); __VERIFIER_atomic_end(); A[1] = v;"
            " __VERIFIER_atomic_begin(); if (!A[1]) sem_wait(&s); __VERIFIER_atomic_end();"
            " assert(x == 1)",
        ),
    ),
    "what another lock's section has given back, seen early": (
        "assertions",
        program(
            "WITH(&m, WITH(&n, c = 1); y = 1)",
            "int own; WITH(&n, own = c); if (own) { y = 2; x = 1; }",
            "assert(!x || y == 2);",
        ),
    ),
    "a race with what comes after another lock's section": (
        "no-data-race",
        program(
            "WITH(&m, WITH(&n, c = 1); d = 1)", "int own; WITH(&n, own = c); if (own) d = 2"
        ),
    ),
    "what is done under the later lock": (
        "assertions",
        program(
            "pthread_mutex_lock(&m); WITH(&n, c = 1; pthread_mutex_unlock(&m); y = 1)",
            "int own; WITH(&m, own = c); if (own) { y = 2; x = 1; }",
            "assert(!x || y == 2);",
        ),
    ),
    "a blocked look at what comes after another lock's section": (
        "assertions",
        program(
            "WITH(&m, WITH(&n, c = 1); sem_post(&s); sem_trywait(&s)); if (d) sem_wait(&r); z = 1",
            "int own; WITH(&n, own = c); if (own) { sem_post(&r); __VERIFIER_atomic_begin();"
            " if (!z) sem_wait(d ? &never : &s); __VERIFIER_atomic_end(); assert(z); }",
        )
        .replace("sem_t s", "sem_t never, s")
        .replace("pthread_t one", "if (__VERIFIER_nondet_bool()) d = 1; else { WAIT } pthread_t one")
        .replace("WAIT", 20 * "x++; "),
    ),
    "the same in another section, but late": (
        "assertions",
        program(
            "if (__VERIFIER_nondet_bool()) { WITH(&m, WITH(&n, c = 1; x = 1)); }"
            " else { z = 1; z = 2; z = 0; WITH(&m, WITH(&n, c = 1); x = 1); }",
            "WITH(&n, if (c) assert(x))",
        ),
    ),
    "who goes on from a section that was seen late": (
        "assertions",
        program(
            "WITH(&m, WITH(&n, c = 1); y = 1); z = 1; z = 2",
            "int own; x = 1; x = 2; x = 3; WITH(&n, own = c); x = 4; if (own && !y) assert(0)",
        ),
    ),
    "seen twice in one section": (
        "assertions",
        program("WITH(&m, x = 1; y = 2; x = 0)", "assert(x == 0)"),
    ),
    "seen before its section is over": (
        "assertions",
        program("WITH(&m, x = 1; c = 1)", "if (x) WITH(&m, d = c); if (x) z = 1", "assert(d == 0);"),
    ),
    "a race with one who is seen": (
        "no-data-race",
        program(
            "WITH(&m, ATOMIC(c++)); WITH(&m, c = 1)", "ATOMIC(c++); y = 1; c = 2",
        ),
    ),
    "one who is seen and keeps the lock": (
        "assertions",
        program(
            "pthread_mutex_lock(&m); x = 1; sem_wait(&s); pthread_mutex_unlock(&m)",
            "z = x; WITH(&m, c = 1); y = 1; y = 2; assert(0)",
        ),
    ),
    "a lost signal": (
        "no-deadlock",
        program(
            "WITH(&m, if (!c) pthread_cond_wait(&k, &m))", "WITH(&m, pthread_cond_signal(&k)); c = 1"
        ),
    ),
    "a signal for the wrong one": (
        "no-deadlock",
        program(
            "WITH(&m, while (c != 1) pthread_cond_wait(&k, &m))",
            "WITH(&m, while (c != 1) pthread_cond_wait(&k, &m))",
            "",
        ).replace("pthread_join(one", "WITH(&m, c = 1; pthread_cond_signal(&k)); pthread_join(one"),
    ),
    "a lock that is taken behind one that was given back": (
        "assertions",
        program(
            "pthread_mutex_lock(&m); WITH(&n, pthread_mutex_unlock(&m); pthread_mutex_lock(&m);"
            " c = d); pthread_mutex_unlock(&m)",
            "WITH(&m, d = 1); d = 1",
            "assert(c == 0);",
        ),
    ),
}  # fmt: skip
HOLDS = {
    "a signal under the lock": (
        "no-deadlock",
        program(
            "WITH(&m, while (!c) pthread_cond_wait(&k, &m))",
            "WITH(&m, c = 1; pthread_cond_signal(&k))",
        ),
    ),
    "additions": ("assertions", program("WITH(&m, c += 1)", "WITH(&m, c += 2)", "assert(c == 3);")),
    "nested": (
        "no-deadlock",
        program("WITH(&m, WITH(&n, c++))", "WITH(&m, WITH(&n, c++)); WITH(&n, d++)"),
    ),
    "bits": ("assertions", program("WITH(&m, c |= 1)", "WITH(&m, c |= 6)", "assert(c == 7);")),
    "no race under a lock": ("no-data-race", program("WITH(&m, c += 1)", "WITH(&m, c = 7)")),
    "atomic additions": ("assertions", program("x++", "x += 3", "assert(x == 4);")),
    "locks that are made and destroyed by another thread": (
        "no-deadlock",
        program(
            "WITH(&m, WITH(&n, c++); d++)",
            "WITH(&m, WITH(&n, c++); d++)",
            "pthread_mutex_destroy(&m); pthread_mutex_destroy(&n); d = 0;",
        ).replace(
            "pthread_t one", "pthread_mutex_init(&m, 0); pthread_mutex_init(&n, 0); pthread_t one"
        ),
    ),
    "a lock that is destroyed": (
        "assertions",
        program("WITH(&m, c++)", "WITH(&m, c++)", "pthread_mutex_destroy(&m); assert(c == 2);"),
    ),
}


@pytest.mark.parametrize("name", VIOLATED)
def test_what_is_violated(name: str, tmp_path: Path) -> None:
    property_, text = VIOLATED[name]
    assert ask(tmp_path, text, property_).answer is Answer.VIOLATED


@pytest.mark.parametrize("name", HOLDS)
def test_what_holds(name: str, tmp_path: Path) -> None:
    property_, text = HOLDS[name]
    outcome = ask(tmp_path, text, property_)
    plain = ask(tmp_path, text, property_, sections=False, commuting=False)
    assert outcome.answer is plain.answer is Answer.HOLDS
    assert outcome.statistics.numbers()["states"] <= plain.statistics.numbers()["states"]


def test_a_lock_that_is_freed_while_it_is_held(tmp_path: Path) -> None:
    text = program(
        "pthread_spin_lock(&o->l); o->v = 1; free(o)", "pthread_spin_lock(&o->l); o->v = 2"
    )
    text = text.replace("int c, d;", "struct { pthread_spinlock_t l; int v; } *o;")
    text = text.replace("pthread_t one", "o = calloc(1, sizeof *o); pthread_t one")
    outcome = ask(tmp_path, "#include <stdlib.h>" + text)
    assert outcome.answer is Answer.UNKNOWN  # the other thread may access it


def test_more_behind_a_commit_than_was_known() -> None:
    """Where a thread stood there already, what others do next was not compared with it."""
    machine = SimpleNamespace(machine=SimpleNamespace(page_bits=32))
    locks = Locks(machine, machine)  # type: ignore[arg-type]
    one, other = (
        locks.profile([Part((Bytes(at, 4, True, True),), frozenset({8}), Phase.SHRINKING)])
        for at in (16, 32)
    )
    assert locks.note_behind(2, ENDED, one)
    assert not locks.note_behind(2, ENDED, one)
    assert locks.standing(2, ENDED) is one
    assert locks.note_behind(3, ENDED, other)
    with pytest.raises(Afresh):
        locks.note_behind(2, ENDED, other)
    locks.forget(keeps_behind=True)
    assert not locks.note_behind(2, ENDED, one)
    locks.forget()
    assert locks.note_behind(2, ENDED, one)


def counter(threads: int, rounds: int) -> str:
    return f"""{BEGIN}
void *add(void *p) {{
  for (int i = 0; i < {rounds}; i++) WITH(&m, c++);
  return p;
}}
int main(void) {{
  pthread_t threads[{threads}];
  for (int i = 0; i < {threads}; i++) pthread_create(&threads[i], NULL, add, NULL);
  for (int i = 0; i < {threads}; i++) pthread_join(threads[i], NULL);
  assert(c == {threads * rounds});
}}
"""


def test_nested_sections_of_locks_that_others_make_are_steps(tmp_path: Path) -> None:
    property_, text = HOLDS["locks that are made and destroyed by another thread"]
    states = ask(tmp_path, text, property_).statistics.numbers()["states"]
    assert (
        2 * states < ask(tmp_path, text, property_, sections=False).statistics.numbers()["states"]
    )


def test_a_counter_needs_one_order(tmp_path: Path) -> None:
    """States grow with the number of additions, not with their orders."""
    states = []
    for threads, rounds in ((2, 2), (4, 4), (8, 2)):
        outcome = ask(tmp_path, counter(threads, rounds))
        assert outcome.answer is Answer.HOLDS
        states.append(outcome.statistics.numbers()["states"])
    assert states[0] < 30
    assert states[1] < 100
    assert states[2] < 100
