"""What the functions of the library synchronise, and what they do not: exploration and `orders`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.orders.weak.test_programs import HEAD as PROGRAM_HEAD
from tests.engines.orders.weak.test_programs import of_text

from plait.engines.interface import Answer, Outcome
from plait.portfolio.subject import Subject, load_program, specification
from plait.semantics.explore import ExploreOptions, Verdict, explore

HOLDS, VIOLATED, UNKNOWN = Answer.HOLDS, Answer.VIOLATED, Answer.UNKNOWN
MODELS = ("tso", "pso", "c11")
HEAD = """
#include <semaphore.h>
#include <threads.h>
int x, y;
atomic_int f;
pthread_mutex_t m; pthread_cond_t c; pthread_barrier_t b; pthread_rwlock_t w; pthread_spinlock_t s;
sem_t e, g; pthread_once_t o = PTHREAD_ONCE_INIT; mtx_t n; cnd_t d; once_flag p = ONCE_FLAG_INIT;
void init(void) { x = 1; }
void *one(void *a) { ONE return 0; }
void *two(void *a) { TWO return 0; }
int main(void) {
  pthread_t t, u;
  BEGIN
  pthread_create(&t, 0, one, 0); pthread_create(&u, 0, two, 0);
  pthread_join(t, 0); pthread_join(u, 0);
}
"""


def asked_of_text(folder: Path, text: str, model: str) -> Outcome:
    return of_text(folder, text, model, properties=("assertions",), exploring=False)


MUTEX = "pthread_mutex_init(&m, 0);"
COND = MUTEX + "pthread_cond_init(&c, 0);"
BARRIER = "pthread_barrier_init(&b, 0, 2);"
RWLOCK = "pthread_rwlock_init(&w, 0);"
SPIN = "pthread_spin_init(&s, 0);"
SEM = "sem_init(&e, 0, 0); sem_init(&g, 0, 0);"
READ, WRITE = "pthread_rwlock_rdlock(&w);", "pthread_rwlock_wrlock(&w);"
RWUNLOCK = "pthread_rwlock_unlock(&w);"
LOCK, UNLOCK = "pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);"
PASS = "pthread_barrier_wait(&b);"
TELL = "store(&f, 1);"  # a relaxed flag, which synchronises nothing
# What two threads do, and what there is before; then the answers under tso, pso and c11.
ALL_HOLD, ONLY_C11_RACES = (HOLDS, HOLDS, HOLDS), (HOLDS, HOLDS, VIOLATED)
PROGRAMS = {
    "trylock that succeeds": (
        f"{LOCK} x++; {UNLOCK}",
        f"if (!pthread_mutex_trylock(&m)) {{ x++; {UNLOCK} }}",
        MUTEX,
        ALL_HOLD,
    ),
    "trylock that fails knows nothing": (
        f"x = 1; {LOCK}",
        "if (pthread_mutex_trylock(&m)) assert(x == 1);",
        MUTEX,
        ONLY_C11_RACES,
    ),
    "a trylock that fails does not acquire": (
        f"{LOCK} x = 1; {UNLOCK} {LOCK} {TELL}",
        "if (load(&f) && pthread_mutex_trylock(&m)) assert(x == 1);",
        MUTEX,
        ONLY_C11_RACES,
    ),
    "a lock is no fence": (
        f"x = 1; {LOCK} {UNLOCK} {TELL}",
        "int seen = load(&f); pthread_spin_lock(&s); if (seen) assert(x == 1);",
        MUTEX + SPIN,
        ONLY_C11_RACES,
    ),
    "trylock that looks back": (
        f"{LOCK} {UNLOCK} {TELL}",
        "if (load(&f)) assert(!pthread_mutex_trylock(&m));",
        MUTEX,
        ONLY_C11_RACES,
    ),
    "trylock that cannot look back": (
        f"{LOCK} {UNLOCK} atomic_store_explicit(&f, 1, memory_order_release);",
        "if (atomic_load_explicit(&f, memory_order_acquire)) assert(!pthread_mutex_trylock(&m));",
        MUTEX,
        (HOLDS, HOLDS, UNKNOWN),  # exploration says that it holds
    ),
    "timedlock": (
        f"{LOCK} x++; {UNLOCK}",
        f"struct timespec z = {{0, 0}}; if (!pthread_mutex_timedlock(&m, &z)) {{ x++; {UNLOCK} }}",
        MUTEX,
        ALL_HOLD,
    ),
    "condition variable": (
        f"{LOCK} x = 1; y = 1; pthread_cond_signal(&c); {UNLOCK}",
        f"{LOCK} if (!y) pthread_cond_wait(&c, &m); if (y) assert(x == 1); {UNLOCK}",
        COND,
        ALL_HOLD,
    ),
    "a signal without the mutex": (
        "x = 1; pthread_cond_broadcast(&c); " + TELL,
        f"{LOCK} pthread_cond_wait(&c, &m); {UNLOCK} if (load(&f)) assert(x == 1);",
        COND,
        (HOLDS, HOLDS, VIOLATED),
    ),
    "timed wait": (
        f"{LOCK} x = 1; pthread_cond_signal(&c); {UNLOCK}",
        f"struct timespec z = {{0, 0}}; {LOCK} int r = pthread_cond_timedwait(&c, &m, &z);"
        f" assert(r || x == 1); {UNLOCK}",
        COND,
        (VIOLATED, VIOLATED, VIOLATED),  # a wait may end by itself
    ),
    "barrier": (f"x = 1; {PASS}", f"{PASS} assert(x == 1);", BARRIER, ALL_HOLD),
    "behind a barrier": (
        f"{PASS} x = 1; {TELL}",
        f"{PASS} if (load(&f)) assert(x == 1);",
        BARRIER,
        (HOLDS, VIOLATED, VIOLATED),
    ),
    "a writer before a reader": (
        f"{WRITE} x = 1; y = 1; {RWUNLOCK}",
        f"{READ} assert(x == y); {RWUNLOCK}",
        RWLOCK,
        ALL_HOLD,
    ),
    "a reader before a writer": (
        f"{READ} y = x; {RWUNLOCK}",
        f"{WRITE} x = 1; {RWUNLOCK}",
        RWLOCK,
        ALL_HOLD,
    ),
    "a reader before a reader": (
        f"{READ} x = 1; {RWUNLOCK} {TELL}",
        f"if (load(&f)) {{ {READ} assert(x == 1); {RWUNLOCK} }}",
        RWLOCK,
        (HOLDS, HOLDS, VIOLATED),
    ),
    "tries to read and to write": (
        f"if (!pthread_rwlock_tryrdlock(&w)) {{ y = x; {RWUNLOCK} }}",
        f"if (!pthread_rwlock_trywrlock(&w)) {{ x = 1; {RWUNLOCK} }}",
        RWLOCK,
        ALL_HOLD,
    ),
    "spin_trylock": (
        "pthread_spin_lock(&s); x++; pthread_spin_unlock(&s);",
        "if (!pthread_spin_trylock(&s)) { x++; pthread_spin_unlock(&s); }",
        SPIN,
        ALL_HOLD,
    ),
    "spin_trylock that fails": (
        "x = 1; pthread_spin_lock(&s);",
        "if (pthread_spin_trylock(&s)) assert(x == 1);",
        SPIN,
        ONLY_C11_RACES,
    ),
    "semaphore": ("x = 1; sem_post(&e);", "sem_wait(&e); assert(x == 1);", SEM, ALL_HOLD),
    "sem_trywait": (
        "x = 1; sem_post(&e);",
        "if (!sem_trywait(&e)) assert(x == 1);",
        SEM,
        ALL_HOLD,
    ),
    "sem_trywait that looks back": (
        f"sem_post(&e); {TELL}",
        "if (load(&f)) assert(!sem_trywait(&e));",
        SEM,
        ONLY_C11_RACES,
    ),
    "sem_trywait that nobody has seen fail": (
        "sem_wait(&e);",
        "assert(!sem_trywait(&e));",
        "sem_init(&e, 0, 2);",
        (HOLDS, HOLDS, UNKNOWN),  # it would have to see a value before the last two
    ),
    "who posts knows nothing": (
        f"x = 1; sem_post(&e); {TELL}",
        "if (load(&f)) { sem_post(&e); assert(x == 1); }",
        SEM,
        ONLY_C11_RACES,
    ),
    "two posts": (
        "x = 1; sem_post(&e);",
        "sem_post(&e); sem_wait(&e); sem_wait(&e); assert(x == 1);",
        SEM,
        ALL_HOLD,
    ),
    "once": (
        "pthread_once(&o, init); assert(x == 1);",
        "pthread_once(&o, init); assert(x == 1);",
        "",
        ALL_HOLD,
    ),
    "functions of C": (
        "mtx_lock(&n); x = 1; y = 1; cnd_signal(&d); mtx_unlock(&n); call_once(&p, init);",
        "call_once(&p, init); mtx_lock(&n); if (!y) cnd_wait(&d, &n);"
        " if (y) assert(x == 1); mtx_unlock(&n);",
        "mtx_init(&n, mtx_plain); cnd_init(&d);",
        (HOLDS, HOLDS, VIOLATED),  # the other thread may write x in init at the same time
    ),
}


def of_threads(one: str, two: str, begin: str) -> str:
    text = HEAD
    for placeholder, part in (("ONE", one), ("TWO", two), ("BEGIN", begin)):
        text = text.replace(placeholder, part)
    return text


# Under TSO and PSO all sections are alike; for these programs the answers are looked at there, too.
CASES = [(name, "c11") for name in PROGRAMS]
CASES += [(name, "tso") for name in ("trylock that looks back", "once", "condition variable")]
CASES += [("behind a barrier", "tso"), ("behind a barrier", "pso"), ("two posts", "pso")]


@pytest.mark.parametrize(("name", "model"), CASES)
def test_two_threads(name: str, model: str, tmp_path: Path) -> None:
    one, two, begin, expected = PROGRAMS[name]
    found = of_text(tmp_path, of_threads(one, two, begin), model)
    assert found.answer is dict(zip(MODELS, expected, strict=True))[model], found.reason


@pytest.mark.parametrize("model", ["tso", "c11"])
def test_a_wait_in_a_loop_needs_no_bound(model: str, tmp_path: Path) -> None:
    one = f"{LOCK} x = 1; y = 1; pthread_cond_signal(&c); {UNLOCK}"
    two = f"{LOCK} while (!y) pthread_cond_wait(&c, &m); assert(x == 1); {UNLOCK}"
    found = asked_of_text(tmp_path, of_threads(one, two, ""), model)
    assert found.answer is HOLDS, found.reason


def test_exploration_ends_where_a_thread_tries_to_lock_for_ever(tmp_path: Path) -> None:
    """What fails has only read."""
    one = f"while (pthread_mutex_trylock(&m)) ; x++; {UNLOCK}"
    file = tmp_path / "program.c"
    file.write_text(PROGRAM_HEAD + of_threads(one, one, MUTEX))
    subject = Subject(programs=(str(file),), memory_model="c11")
    chosen, entry = specification(subject)
    found = explore(load_program(subject, chosen, entry), chosen, ExploreOptions())
    assert found.verdict is Verdict.TRUE, found.reason


def test_a_wait_that_somebody_sees_needs_its_rounds(tmp_path: Path) -> None:
    """What a thread finds out by pthread_mutex_destroy are the times at which another one has the
    lock."""
    held = "if (!pthread_mutex_destroy(&m)) return 0; "
    free = "if (pthread_mutex_destroy(&m)) return 0; "
    one = f"{held} {free} {held} {free} {held} {free} {held} assert(0);"
    two = f"{LOCK} while (!y) pthread_cond_wait(&c, &m); {UNLOCK}"
    text = of_threads(one, two, "")
    found = asked_of_text(tmp_path, text, "tso")
    assert found.answer is VIOLATED, found.reason
