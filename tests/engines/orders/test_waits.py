"""Waits, semaphores and locks that are destroyed: what needs no rounds and no events, and what does.

Each program's verdict is known, and where there is one the exhaustive oracle must agree. All loops
are unrolled once.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.orders.test_hidden_accesses import HOLDS, VIOLATED, decide, section, two_threads

from plait.engines.interface import Answer

HEAD = """#include <semaphore.h>
#include <pthread.h>
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
sem_t s;
int go, seen;
"""
WAIT = "while (!go) pthread_cond_wait(&c, &m);"
SET = "lock(); x = 1; go = 1; pthread_cond_signal(&c); unlock();"


def program(first: str, second: str, before: str = "", after: str = "") -> str:
    return HEAD + two_threads(first, second, before, after)


PROGRAMS = {
    "a wait that needs no rounds": (
        "assertions",
        program(f"lock(); {WAIT} assert(x == 1); unlock();", SET),
        HOLDS,
    ),
    "a wait that needs no rounds, where misuse is looked for": (
        "lock-misuse,valid-access",
        program(f"lock(); {WAIT} unlock();", SET),
        HOLDS,
    ),
    "a read before the wait": (
        "assertions",
        program(f"lock(); int n = x; {WAIT} assert(n == x); unlock();", SET),
        VIOLATED,
    ),
    "a step that takes the lock and reads": (
        "assertions",
        program(
            section("__VERIFIER_assume(held == 0); held = 1; int n = x;").replace("int n", "n")
            + "while (!go) { release(); acquire(); } assert(n == x);",
            "acquire(); x = 1; go = 1; release();",
        ).replace("void *f(void *p) {", "void *f(void *p) { int n = 0;"),
        VIOLATED,
    ),
    "a wait with an effect in its loop": (
        "assertions",
        program(
            "lock(); while (!go) { pthread_cond_wait(&c, &m); seen = 1; } unlock();",
            SET,
            after="assert(seen == 0);",
        ),
        VIOLATED,
    ),
    "a lock that is destroyed behind all uses": (
        "assertions",
        program(
            "lock(); x = 1; unlock();",
            "lock(); x = 2; unlock();",
            after="if (pthread_mutex_destroy(&m)) assert(0);",
        ),
        HOLDS,
    ),
    "a lock that is destroyed while it is used": (
        "assertions",
        program("lock(); x = 1; unlock();", "if (pthread_mutex_destroy(&m)) assert(0);"),
        VIOLATED,
    ),
    "a lock that is destroyed while it is waited with": (
        "assertions",
        program(
            f"lock(); {WAIT} x++; unlock();", f"{SET} if (pthread_mutex_destroy(&m)) assert(0);"
        ),
        VIOLATED,
    ),
    "a lock that is destroyed before it is used": (
        "lock-misuse",
        program("lock(); unlock();", "pthread_mutex_destroy(&m);"),
        VIOLATED,
    ),
    "a lock whose value matters to who waits for it": (
        "assertions",
        program(
            "__VERIFIER_atomic_begin(); int r = held;"
            " if (r == 2) { seen = 1; __VERIFIER_atomic_end(); }"
            " else { __VERIFIER_assume(r == 0); held = 1; __VERIFIER_atomic_end(); }",
            section("__VERIFIER_assume(held == 0); held = 2;") + section("held = 0;"),
            after="assert(seen == 0);",
        ),
        VIOLATED,
    ),
    "a section that waits for another value": (
        "assertions",
        program(
            section("__VERIFIER_assume(held == 2); held = 1;") + "assert(0);",
            (section("__VERIFIER_assume(held == 0); held = 2;") + section("held = 0;")) * 2,
        ),
        VIOLATED,
    ),
    "a lock that another thread may open": (
        "assertions",
        HEAD
        + """pthread_t h; void *look(void *p);
        """
        + two_threads(
            "if (__VERIFIER_nondet_bool()) lock(); unlock();",
            "lock(); x = 1; x = 0; unlock();",
            before="pthread_create(&h, 0, look, 0);",
        )
        + "void *look(void *p) { lock(); assert(x == 0); unlock(); return 0; }",
        VIOLATED,
    ),
    "an access without the lock that others wait with": (
        "assertions",
        program(f"lock(); {WAIT} x = 3; x = 2; unlock();", f"{SET} assert(x != 3);"),
        VIOLATED,
    ),
    "a write behind one read and before another": (
        "assertions",
        program("x = 1;", "", before="if (x) go = 1;", after="assert(x == 0);"),
        VIOLATED,
    ),
    "a lock that is not released": (
        "assertions",
        program(
            section("__VERIFIER_assume(held == 0); held = 2;")
            + "go = 1; __VERIFIER_atomic_begin();"
            + " if (held == 1) { held = 0; __VERIFIER_atomic_end(); } else __VERIFIER_atomic_end();",
            "__VERIFIER_assume(go);"
            + section("__VERIFIER_assume(held == 0); held = 1;")
            + "assert(0);",
        ),
        HOLDS,
    ),
    "whoever comes first is another one": (
        "assertions",
        program(
            *[
                section("int r = held; if (r == 0) held = 1;").replace("int r", "r")
                + "if (!r) x = 1;"
            ]
            * 2,
            after="assert(x == 0);",
        ).replace("int x,", "_Thread_local int r; int x,"),
        VIOLATED,
    ),
    "fewer posts than waits": (
        "assertions",
        program(
            "sem_post(&s); sem_post(&s);", "sem_wait(&s); sem_wait(&s); sem_wait(&s); assert(0);"
        ),
        HOLDS,
    ),
    "two waits for one post": (
        "assertions",
        program("sem_wait(&s); x++;", "sem_wait(&s); x++;", "sem_post(&s);", "assert(0);"),
        HOLDS,
    ),
    "a wait that comes behind its post": (
        "assertions",
        program("x = 1; sem_post(&s);", "sem_wait(&s); assert(x == 1);"),
        HOLDS,
    ),
    "a wait for what a semaphore has at first": (
        "assertions",
        program("sem_wait(&s); x = 1;", "sem_wait(&s); assert(0);", "sem_init(&s, 0, 1);"),
        VIOLATED,
    ),
    "a semaphore that is a mutex": (
        "assertions",
        program(
            *["sem_wait(&s); x++; sem_post(&s);"] * 2,
            before="sem_init(&s, 0, 1);",
            after="assert(x == 2);",
        ),
        HOLDS,
    ),
    "a counter that nobody waits for": (
        "assertions",
        program(
            section("__VERIFIER_assume(go); x = x - 1;") + "seen = 1;",
            "go = 1; __VERIFIER_assume(seen);" + section("x = x + 1;") + "assert(0);",
        ),
        VIOLATED,
    ),
    "a semaphore that does not always change": (
        "assertions",
        program("count();" * 2, "take(); take(); take(); assert(0);").replace(
            "void *f(",
            f"int number; void count(void) {{ {section('number = number + 1;')} }}"
            + "void take(void) { "
            + section("int v = number; __VERIFIER_assume(v != 0); if (v != 2) number = v - 1;")
            + " } void *f(",
        ),
        VIOLATED,
    ),
    "an index that leads out of its array": (
        "assertions",
        program("q.at = 6;", "q.ring[q.at] = 1; assert(q.length == 0);").replace(
            "void *f(", "struct { int ring[6], length, at; } q; void *f("
        ),
        VIOLATED,
    ),
    "an index that stays in its array": (
        "assertions",
        program(
            "lock(); q.ring[q.at] = 1; q.at = (q.at + 1) % 6; unlock();",
            "lock(); q.ring[q.at] = 1; q.at = (q.at + 1) % 6; unlock();",
            after="assert(q.length == 0 && q.at == 2);",
        ).replace("void *f(", "struct { int length, ring[6], at; } q; void *f("),
        HOLDS,
    ),
}


@pytest.mark.parametrize(("name", "text", "expected"), PROGRAMS.values(), ids=PROGRAMS.keys())
def test_small_programs(name: str, text: str, expected: Answer, tmp_path: Path) -> None:
    decide(name, text, expected, tmp_path, bound=1)
