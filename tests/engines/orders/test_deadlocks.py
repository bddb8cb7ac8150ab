"""Deadlocks by the bounded engine: small programs, the litmus programs, and the exhaustive oracle.

Every deadlock must replay in the reference interpreter.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.engines.interface import Answer, Counterexample
from plait.engines.orders.engine import check
from plait.engines.orders.settings import Settings
from plait.evidence.replay import ReplayFailed, Undecided, replay_deadlock
from plait.model.properties import from_names
from plait.semantics.explore import ExploreOptions, explore
from plait.semantics.run import run

DEADLOCK = from_names(["no-deadlock"])
PROGRAMS = Path(__file__).parents[2] / "programs"
HOLDS, VIOLATED, UNKNOWN = Answer.HOLDS, Answer.VIOLATED, Answer.UNKNOWN


def answer(path: Path, bound: int, seconds: float = 20) -> tuple[Answer, str]:
    program = load([str(path)], FrontEndOptions(), DEADLOCK)

    def confirm(found: Counterexample) -> str:
        try:
            shown = replay_deadlock(program, DEADLOCK, found)
        except Undecided as error:
            return str(error)
        except ReplayFailed as error:
            return f"not replayed: {error}"
        run(program, DEADLOCK, schedule=shown.schedule)
        return ""

    settings = Settings(finds_deadlocks=True)
    outcome = check(program, bound, time.monotonic() + seconds, settings, confirm=confirm)
    assert not outcome.reason.startswith("not replayed"), outcome.reason
    return outcome.answer, outcome.reason


def check_with_oracle(path: Path, found: Answer) -> None:
    program = load([str(path)], FrontEndOptions(), DEADLOCK)
    oracle = explore(program, DEADLOCK, ExploreOptions(max_states=40_000, max_seconds=20))
    if found is not UNKNOWN and oracle.verdict.value != "unknown":
        assert found is {"true": HOLDS, "false": VIOLATED}[oracle.verdict.value], oracle.reason


HEAD = """#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
extern _Bool __VERIFIER_nondet_bool(void); extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void); extern void __VERIFIER_atomic_end(void);
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER; pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
pthread_barrier_t w; sem_t s; volatile int f, g; pthread_t p, q;
#define LOCK(m) pthread_mutex_lock(&m);
#define UNLOCK(m) pthread_mutex_unlock(&m);
#define JOIN(t) pthread_join(t, 0);
"""


def two(first: str, second: str, main: str = "JOIN(p) JOIN(q)") -> str:
    return (
        f"void *t(void *x) {{ {first} return 0; }} void *u(void *x) {{ {second} return 0; }}"
        " int main(void) { pthread_create(&p, 0, t, 0); pthread_create(&q, 0, u, 0);"
        f" {main} }}"
    )


NESTED = "LOCK(a) LOCK(b) UNLOCK(b) UNLOCK(a)"
CROSSED = "LOCK(b) LOCK(a) UNLOCK(a) UNLOCK(b)"
WAIT = "LOCK(a) while (!f) pthread_cond_wait(&c, &a); UNLOCK(a)"
SMALL = {
    "locks in two orders": (two(NESTED, CROSSED), 1, VIOLATED),
    "locks in one order": (two(NESTED, NESTED), 1, HOLDS),
    "locks in two orders under a third lock": (
        "pthread_mutex_t d = PTHREAD_MUTEX_INITIALIZER;"
        + two(f"LOCK(d) {NESTED} UNLOCK(d)", f"LOCK(d) {CROSSED} UNLOCK(d)"),
        1,
        HOLDS,
    ),
    "a lock that is taken twice": ("int main(void) { LOCK(a) LOCK(a) }", 1, VIOLATED),
    "a lock that is never released": (two("LOCK(a)", "LOCK(a) UNLOCK(a)"), 1, VIOLATED),
    "a lock of an array that a section takes twice": (
        "pthread_mutex_t m[6]; unsigned i, j;"
        "void *t(void *x) { __VERIFIER_atomic_begin(); LOCK(m[i]) LOCK(m[j])"
        " __VERIFIER_atomic_end(); UNLOCK(m[i]) if (i != j) UNLOCK(m[j]) return 0; }"
        "int main(void) { i = __VERIFIER_nondet_int(); j = __VERIFIER_nondet_int();"
        " __VERIFIER_assume(i < 6 && j < 6);"
        " pthread_create(&p, 0, t, 0); LOCK(m[i]) UNLOCK(m[i]) JOIN(p) }",
        1,
        VIOLATED,
    ),
    "a semaphore that a section takes twice, and a thread in between": (
        "void *v(void *x) { return 0; }"
        + two(
            "__VERIFIER_atomic_begin(); sem_wait(&s); pthread_create(&q, 0, v, 0); sem_wait(&s);"
            " __VERIFIER_atomic_end();",
            "sem_post(&s);",
            "JOIN(p)",
        ),
        1,
        VIOLATED,
    ),
    "threads that join each other": (two("JOIN(q)", "JOIN(p)", "pthread_exit(0);"), 1, VIOLATED),
    "a wake-up that is lost": (
        two(
            "LOCK(a) pthread_cond_wait(&c, &a); UNLOCK(a)",
            "LOCK(a) pthread_cond_signal(&c); UNLOCK(a)",
        ),
        4,
        VIOLATED,
    ),
    "a flag keeps the wake-up": (
        two(WAIT, "LOCK(a) f = 1; pthread_cond_signal(&c); UNLOCK(a)"),
        4,
        HOLDS,
    ),
    "a flag that is set without the lock": (
        two(WAIT, "f = 1; pthread_cond_signal(&c);"),
        4,
        VIOLATED,
    ),
    "a barrier for more threads than there are": (
        two(
            "pthread_barrier_wait(&w);",
            "",
            "JOIN(q) pthread_barrier_init(&w, 0, 3); pthread_barrier_wait(&w); JOIN(p)",
        ),
        4,
        VIOLATED,
    ),
    "a barrier": (
        "void *t(void *x) { pthread_barrier_wait(&w); return 0; } int main(void) {"
        " pthread_barrier_init(&w, 0, 2); pthread_create(&p, 0, t, 0); pthread_barrier_wait(&w);"
        " JOIN(p) }",
        4,
        HOLDS,
    ),
    "a semaphore that nobody posts": ("int main(void) { sem_wait(&s); }", 1, VIOLATED),
    "a semaphore": (two("sem_wait(&s);", "sem_post(&s);"), 1, HOLDS),
    "readers that become writers": (
        two(
            *["pthread_rwlock_rdlock(&l); pthread_rwlock_wrlock(&l);"] * 2,
        ),
        1,
        VIOLATED,
    ),
    "two threads wait and the process ends": (two(NESTED, CROSSED, "return 0;"), 1, HOLDS),
    "two threads wait and main has ended": (two(NESTED, CROSSED, "pthread_exit(0);"), 1, VIOLATED),
    "two threads wait and a third one ends the process": (
        two(NESTED, CROSSED + "exit(0);", "pthread_exit(0);"),
        1,
        VIOLATED,
    ),
    "two threads wait and main spins until one is done": (
        two(NESTED + "f = 1;", CROSSED, "while (!f) ; return 0;"),
        1,
        VIOLATED,
    ),
    "two threads wait and main runs for ever": (
        two(NESTED, CROSSED, "for (;;) f = !f;"),
        1,
        VIOLATED,
    ),
    "a lock is released behind the loop bound": (
        two(
            "LOCK(a) UNLOCK(a)",
            "",
            "LOCK(a) for (int i = 0; i < f + 9; i++) g++; UNLOCK(a) JOIN(p)",
        ),
        2,
        UNKNOWN,
    ),
    "only in a spin loop": (two("while (!f) ;", "", "pthread_exit(0);"), 1, HOLDS),
    "a join of a thread that spins for ever": (two("while (!f) ;", ""), 1, VIOLATED),
    "a join of a thread that spins for a while": (two("while (!f) ;", "f = 1;"), 1, HOLDS),
    "a flag that is set and reset": (two("while (!f) ;", "f = 1; f = 0;"), 1, VIOLATED),
    "a loop in a loop, left by either way": (
        two("while (1) { if (f) { while (!g) ; } else break; }", "f = 1; f = 0;"),
        1,
        VIOLATED,
    ),
    "a spin loop with a section": (
        "int __VERIFIER_atomic_both(void) { return f & g; }"
        + two("while (!__VERIFIER_atomic_both()) ;", "f = 1; g = 1;"),
        1,
        HOLDS,
    ),
    "a section with an assumption": (
        two("__VERIFIER_atomic_begin(); __VERIFIER_assume(f); g = 1; __VERIFIER_atomic_end();", ""),
        1,
        VIOLATED,
    ),
    "a section with an assumption that comes true": (
        two(
            "__VERIFIER_atomic_begin(); __VERIFIER_assume(f); g = 1; __VERIFIER_atomic_end();",
            "f = 1;",
        ),
        1,
        HOLDS,
    ),
    "a section that takes a lock in one case": (
        two(
            "__VERIFIER_atomic_begin(); if (f) LOCK(a) g = 1; __VERIFIER_atomic_end();",
            "LOCK(a) f = 1;",
        ),
        1,
        VIOLATED,
    ),
    "all executions fail an assumption": (
        two("LOCK(a) LOCK(a)", "__VERIFIER_assume(0);", "pthread_exit(0);"),
        1,
        UNKNOWN,
    ),
    "an assumption fails before the lock is free": (
        two("LOCK(a)", "f = 1; __VERIFIER_assume(0);", "LOCK(a) JOIN(q) UNLOCK(a) JOIN(p)"),
        1,
        UNKNOWN,
    ),
    "an assumption about an input": (
        two("int i = __VERIFIER_nondet_int(); __VERIFIER_assume(i > 3 && i < 9); f = i;", ""),
        1,
        HOLDS,
    ),
    "an assumption about an input in a section": (
        two(
            "__VERIFIER_atomic_begin(); int i = __VERIFIER_nondet_int(); __VERIFIER_assume(i > 3);"
            " f = i; __VERIFIER_atomic_end();",
            "",
        ),
        1,
        HOLDS,
    ),
    "assumptions in a section that exclude each other": (
        two(
            "__VERIFIER_atomic_begin(); _Bool i = __VERIFIER_nondet_bool(); __VERIFIER_assume(i);"
            " __VERIFIER_assume(!i); __VERIFIER_atomic_end();",
            "",
        ),
        1,
        VIOLATED,
    ),
    "an endless section": (
        two("__VERIFIER_atomic_begin(); while (f) ; __VERIFIER_atomic_end();", "f = 1; f = 0;"),
        1,
        UNKNOWN,
    ),
    "an input decides whether a thread waits": (
        two("if (__VERIFIER_nondet_bool()) sem_wait(&s);", ""),
        1,
        VIOLATED,
    ),
    "a mutex of an array": (
        "pthread_mutex_t m[6]; void *t(void *x) { int i = f % 6; LOCK(m[i]) LOCK(m[1]) return 0; }"
        " int main(void) { pthread_create(&p, 0, t, 0); f = __VERIFIER_nondet_int();"
        " __VERIFIER_assume(f >= 0); JOIN(p) }",
        1,
        VIOLATED,
    ),
    "undefined behaviour has no verdict": (
        two("LOCK(a) f = 1 / g; UNLOCK(a)", "LOCK(a) UNLOCK(a)"),
        1,
        UNKNOWN,
    ),
}


@pytest.mark.parametrize(("text", "bound", "expected"), SMALL.values(), ids=SMALL.keys())
def test_small_programs(text: str, bound: int, expected: Answer, tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text(HEAD + text)
    found, reason = answer(source, bound)
    assert found is expected, reason
    check_with_oracle(source, found)


EXPECTATION = re.compile(r"^// expect no-deadlock: (\w+)$", re.MULTILINE)
LITMUS = [
    pytest.param(path, found[1], id=path.stem)
    for folder in ("litmus", "library")
    for path in sorted((PROGRAMS / folder).glob("*.c"))
    if (found := EXPECTATION.search(path.read_text()))
]
# A loop that tries to take a lock changes memory in each round; an assumption that always fails.
OPEN = {"flag_spin_lock", "pruned_then_exit"}
LONG = {"c11_threads", "keys"}  # loops over all keys in the library


@pytest.mark.parametrize(("path", "wanted"), LITMUS)
def test_litmus(path: Path, wanted: str) -> None:
    found, reason = answer(path, 32 if path.stem in LONG else 4)
    expected = UNKNOWN if path.stem in OPEN else {"true": HOLDS, "false": VIOLATED}[wanted]
    assert found is expected, reason
