"""Programs that violate a property in a way that is easily overlooked: none of them is proved."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.engines.interface import Answer
from plait.engines.modular.engine import verify
from plait.model.properties import from_names
from plait.semantics.explore import ExploreOptions, Verdict, explore

START = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
"""

# By names: the properties that are violated together, and the program.
PROGRAMS = {
    "a variable that another file defines": (
        "assertions",
        """
extern int elsewhere;
int main(void) {
  assert(elsewhere == 0);
  return 0;
}
""",
    ),
    "a value that comes to its reader by way of other threads": (
        "assertions",
        """
_Atomic int a, b, c, d;
void *reads(void *unused) {
  assert(d == 0);
  return 0;
}
void *copies_c(void *unused) {
  d = c;
  return 0;
}
void *copies_b(void *unused) {
  c = b;
  return 0;
}
void *copies_a(void *unused) {
  b = a;
  return 0;
}
void *writes(void *unused) {
  a = 1;
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, reads, 0);
  pthread_create(&thread, 0, copies_c, 0);
  pthread_create(&thread, 0, copies_b, 0);
  pthread_create(&thread, 0, copies_a, 0);
  pthread_create(&thread, 0, writes, 0);
  return 0;
}
""",
    ),
    "thread-local of the initial thread, which another one reads": (
        "assertions",
        """
_Thread_local int own;
int *lent;
void *f(void *unused) {
  assert(*lent == 0);
  return 0;
}
int main(void) {
  pthread_t a;
  own = 5;
  lent = &own;
  pthread_create(&a, 0, f, 0);
  pthread_join(a, 0);
  return 0;
}
""",
    ),
    "thread-local of a thread that has ended": (
        "valid-memsafety",
        """
_Thread_local int own;
int *lent;
void *f(void *unused) {
  lent = &own;
  return 0;
}
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, f, 0);
  pthread_join(a, 0);
  return lent ? *lent : 0;
}
""",
    ),
    "local of another thread that started at the same place": (
        "valid-memsafety",
        """
int *p;
void *f(void *unused) {
  int x = 0;
  __VERIFIER_atomic_begin();
  p = &x;
  __VERIFIER_atomic_end();
  __VERIFIER_atomic_begin();
  if (p) *p = 1;
  __VERIFIER_atomic_end();
  return 0;
}
int main(void) {
  pthread_t a;
  for (int i = 0; i < 3; i++) {
    if (__VERIFIER_nondet_bool()) break;
    if (i > 0) pthread_create(&a, 0, f, 0);
  }
  pthread_exit(0);
}
""",
    ),
    "comparison with the same local of the round before": (
        "assertions valid-memsafety",
        """
int *_Atomic p;
void *f(void *unused) {
  p = 0;
  return 0;
}
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, f, 0);
  for (int i = 0; i < 2; i++) {
    int x;
    int *q = p;
    if (q) assert(q == &x);
    p = &x;
  }
  return 0;
}
""",
    ),
    "mutex that is released as a spin lock": (
        "no-data-race",
        """
pthread_mutex_t m;
int x;
void *f(void *unused) {
  pthread_mutex_lock(&m);
  x++;
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, f, 0);
  pthread_spin_unlock((pthread_spinlock_t *)&m);
  pthread_mutex_lock(&m);
  x++;
  pthread_mutex_unlock(&m);
  return 0;
}
""",
    ),
    "mutex that is read-locked meanwhile": (
        "no-data-race",
        """
#include <time.h>
pthread_mutex_t m;
struct timespec now;
int x;
void *f(void *unused) {
  pthread_rwlock_timedrdlock((pthread_rwlock_t *)&m, &now);
  pthread_mutex_lock(&m);
  x++;
  return 0;
}
int main(void) {
  pthread_t a;
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&m, &kind);
  pthread_create(&a, 0, f, 0);
  pthread_mutex_lock(&m);
  x++;
  return 0;
}
""",
    ),
    "read-write lock with less than no readers": (
        "no-data-race",
        """
pthread_rwlock_t l;
int x, y;
void *f(void *unused) {
  pthread_rwlock_rdlock(&l);
  y = x;
  pthread_rwlock_unlock(&l);
  return 0;
}
int main(void) {
  pthread_t a;
  *(int *)&l = -1;
  pthread_create(&a, 0, f, 0);
  pthread_rwlock_wrlock(&l);
  x++;
  pthread_rwlock_unlock(&l);
  return 0;
}
""",
    ),
    "pthread_t that is used as a lock": (
        "assertions",
        """
_Atomic int x;
void *f(void *unused) {
  x = 1;
  return 0;
}
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, f, 0);
  pthread_spin_unlock((pthread_spinlock_t *)a);
  pthread_spin_lock((pthread_spinlock_t *)a);
  pthread_join(a, 0);
  x = 2;
  assert(x == 2);
  return 0;
}
""",
    ),
    "a lock of which each thread has one": (
        "no-data-race",
        """
_Thread_local pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x;
void *f(void *unused) {
  pthread_mutex_lock(&m);
  x = x + 1;
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  return 0;
}
""",
    ),
    "memory of another thread that started at the same place": (
        "assertions",
        """
int *_Atomic g;
void *f(void *unused) {
  int *old = g;
  int *p = malloc(sizeof *p);
  *p = 5;
  if (old) assert(*old == 5);
  *p = 7;
  g = p;
  return 0;
}
int main(void) {
  pthread_t a;
  for (int i = 0; i < 3; i++) {
    if (__VERIFIER_nondet_bool()) break;
    if (i > 0) pthread_create(&a, 0, f, 0);
  }
  return 0;
}
""",
    ),
    "memory of another thread that is handed over": (
        "no-data-race",
        """
int *_Atomic g;
void *f(void *old) {
  int *p = malloc(sizeof *p);
  if (old) *(int *)old = 1;
  g = p;
  return 0;
}
int main(void) {
  pthread_t a;
  for (int i = 0; i < 4; i++) {
    if (__VERIFIER_nondet_bool()) break;
    if (i > 0) pthread_create(&a, 0, f, g);
  }
  return 0;
}
""",
    ),
}


def threads(declarations: str, first: str, second: str) -> str:
    return f"""
{declarations}
void *f(void *unused) {{ {first} return 0; }}
void *g(void *unused) {{ {second} return 0; }}
int main(void) {{
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, g, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}}
"""


MUTEX = "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int x;"
TWO_MUTEXES = "pthread_mutex_t m[2]; int x;"
CHANGE = "pthread_mutex_lock({0}); x = 1; x = 0; pthread_mutex_unlock({0});"
LOOK = "pthread_mutex_lock({0}); assert(x == 0); pthread_mutex_unlock({0});"
ANY = "int i = __VERIFIER_nondet_bool();"

PROGRAMS |= {
    "a lock that was only tried": (
        "no-data-race",
        threads(
            MUTEX,
            "pthread_mutex_trylock(&m); x = 1;",
            "pthread_mutex_lock(&m); x = 2; pthread_mutex_unlock(&m);",
        ),
    ),
    "a lock that is released by whoever does not hold it": (
        "assertions",
        threads(MUTEX, CHANGE.format("&m"), "pthread_mutex_unlock(&m);" + LOOK.format("&m")),
    ),
    "one of two locks": (
        "assertions",
        threads(TWO_MUTEXES, ANY + CHANGE.format("&m[i]"), LOOK.format("&m[0]")),
    ),
    "a release of one of two locks": (
        "assertions",
        threads(
            TWO_MUTEXES,
            CHANGE.format("&m[0]"),
            ANY + "pthread_mutex_unlock(&m[i]);" + LOOK.format("&m[0]"),
        ),
    ),
    "a lock of each thread": (
        "assertions",
        """
int x;
void *f(void *unused) {
  pthread_mutex_t *m = calloc(1, sizeof *m);
  pthread_mutex_lock(m);
  x = 1;
  assert(x == 1);
  x = 0;
  pthread_mutex_unlock(m);
  return 0;
}
int main(void) {
  pthread_t a;
  for (int i = 0; i < 2; i++) pthread_create(&a, 0, f, 0);
  return 0;
}
""",
    ),
    "two threads that hold a lock to read": (
        "no-data-race",
        threads(
            "pthread_rwlock_t m = PTHREAD_RWLOCK_INITIALIZER; int x;",
            "pthread_rwlock_rdlock(&m); x = 1; pthread_rwlock_unlock(&m);",
            "pthread_rwlock_rdlock(&m); x = 2; pthread_rwlock_unlock(&m);",
        ),
    ),
    "a plain access beside an atomic one": (
        "no-data-race",
        threads("int x;", "__atomic_store_n(&x, 1, __ATOMIC_SEQ_CST);", "x = 2;"),
    ),
    "the initial thread beside another one": (
        "no-data-race",
        """
int x;
void *f(void *unused) { x = 1; return 0; }
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, f, 0);
  x = 2;
  pthread_join(a, 0);
  return 0;
}
""",
    ),
    "a lock that is held at one of two writes": (
        "assertions",
        threads(
            MUTEX,
            "pthread_mutex_lock(&m); x = 3; assert(x == 3); pthread_mutex_unlock(&m);",
            "x = 5;",
        ),
    ),
    "a lock that begins with less than no readers": (
        "no-data-race",
        threads(
            "union { int readers; pthread_rwlock_t m; } u = {-1}; int x, y;",
            "pthread_rwlock_wrlock(&u.m); x++; pthread_rwlock_unlock(&u.m);",
            "pthread_rwlock_rdlock(&u.m); y = x; pthread_rwlock_unlock(&u.m);",
        ),
    ),
    "a store to one of two places": (
        "assertions",
        "int a[2]; int main(void) {" + ANY + "a[i] = 1; assert(a[0] == 1); return 0; }",
    ),
    "a thread that is started by one that has ended": (
        "assertions",
        """
int x;
void *inner(void *unused) { x = 1; return 0; }
void *f(void *unused) { pthread_t b; pthread_create(&b, 0, inner, 0); return 0; }
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, f, 0);
  pthread_join(a, 0);
  x = 2;
  assert(x == 2);
  return 0;
}
""",
    ),
    "one of two threads has ended": (
        "assertions",
        """
int x;
void *f(void *unused) { x = 1; return 0; }
int main(void) {
  pthread_t a;
  for (int i = 0; i < 2; i++) pthread_create(&a, 0, f, 0);
  pthread_join(a, 0);
  x = 2;
  assert(x == 2);
  return 0;
}
""",
    ),
    "what is left behind a section by whoever holds a lock": (
        "assertions",
        threads(
            MUTEX,
            "pthread_mutex_lock(&m); __VERIFIER_atomic_begin(); x = 1; __VERIFIER_atomic_end();"
            " x = 0; pthread_mutex_unlock(&m);",
            "assert(x == 0);",
        ),
    ),
    "what the holder of a lock leaves to the next one": (
        "assertions",
        threads(
            MUTEX, "pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m);", LOOK.format("&m")
        ),
    ),
    "what is seen between two locks": (
        "assertions",
        threads(
            f"{MUTEX} pthread_mutex_t n;",
            "pthread_mutex_lock(&m); pthread_mutex_lock(&n); x = 1; pthread_mutex_unlock(&m);"
            " pthread_mutex_lock(&m); x = 0; pthread_mutex_unlock(&m); pthread_mutex_unlock(&n);",
            LOOK.format("&m"),
        ),
    ),
    "what was true while the lock was held": (
        "assertions",
        threads(
            MUTEX,
            CHANGE.format("&m"),
            "pthread_mutex_lock(&m); x = 0; pthread_mutex_unlock(&m);"
            " pthread_mutex_lock(&m); x = x + 1; pthread_mutex_unlock(&m); assert(x == 1);",
        ),
    ),
    "a variable that nobody has initialised": (
        "assertions",
        "int main(void) { int *p = malloc(4); assert(*p == 0); return 0; }",
    ),
    "a mutex that is waited for for ever": (
        "no-deadlock",
        threads(MUTEX, "pthread_mutex_lock(&m);", "pthread_mutex_lock(&m);"),
    ),
    "memory that is lost": ("valid-memsafety", "int main(void) { return malloc(4) == 0; }"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_not_proved(tmp_path: Path, name: str) -> None:
    properties, source = PROGRAMS[name]
    path = tmp_path / "program.c"
    path.write_text(START + source)
    specification = from_names(properties.split())
    program = load([str(path)], FrontEndOptions(), specification)
    assert (
        explore(program, specification, ExploreOptions(max_states=30_000)).verdict is Verdict.FALSE
    )
    assert verify(program, specification).answer is Answer.UNKNOWN


def test_a_size_that_is_known_late(tmp_path: Path) -> None:
    """Each pass goes one step back in the chain, and the last one only learns of the other size."""
    path = tmp_path / "program.c"
    path.write_text(
        START
        + """
_Atomic int n = 4, a, b, c;
int *_Atomic p;
void *make(void *unused) {
  p = calloc(1, n == 4 ? 8 : 4);
  return 0;
}
void *last(void *unused) {
  if (a) n = 8;
  return 0;
}
void *third(void *unused) {
  if (b) a = 1;
  return 0;
}
void *second(void *unused) {
  if (c) b = 1;
  return 0;
}
void *first(void *unused) {
  c = 1;
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, make, 0);
  pthread_create(&t, 0, last, 0);
  pthread_create(&t, 0, third, 0);
  pthread_create(&t, 0, second, 0);
  pthread_create(&t, 0, first, 0);
  int *q = p;
  if (q) q[1] = 1;
  return 0;
}
"""
    )
    specification = from_names(["assertions"])
    program = load([str(path)], FrontEndOptions(), specification)
    assert verify(program, specification).answer is Answer.UNKNOWN


PRINTED = """
#include <stdio.h>
int a[2];
int main(void) {
  printf("%p", (void *)(a - (1L << 31)));
  return 0;
}
"""
NUMBER = """
int g;
int main(void) {
  long half = (long)&g / 2;
  char *p = (char *)(half * 2);
  if (p + 0x300000000) g = 1;
  return 0;
}
"""


@pytest.mark.parametrize("text", [PRINTED, NUMBER], ids=["only printed", "once a number"])
def test_pointers_that_leave_their_object(text: str, tmp_path: Path) -> None:
    """They end an execution without a verdict."""
    path = tmp_path / "program.c"
    path.write_text(START + text)
    specification = from_names(["assertions"])
    program = load([str(path)], FrontEndOptions(), specification)
    assert explore(program, specification).verdict is Verdict.UNKNOWN
    assert verify(program, specification).answer is Answer.UNKNOWN
