"""Random concurrent C programs that use shared memory behind locks, and assert what they find.

Threads hand over values in a ring beside its lock, wait for conditions in loops (some with effects,
some that do not look again), take semaphores and read-write locks, and destroy what they used at
times that are right or wrong. About half of them violate something.
"""

from __future__ import annotations

from random import Random

_HEAD = """\
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
extern _Bool __VERIFIER_nondet_bool(void);
struct shared {
  int before[2];
  pthread_mutex_t a, b;
  pthread_cond_t c;
  int ring[SIZE];
  int x, y, at;
} q = {.a = PTHREAD_MUTEX_INITIALIZER, .b = PTHREAD_MUTEX_INITIALIZER,
       .c = PTHREAD_COND_INITIALIZER};
struct shared *p = &q;
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
sem_t s;
static void get(pthread_mutex_t *m) { pthread_mutex_lock(m); }
static void put(pthread_mutex_t *m) { pthread_mutex_unlock(m); }
"""
_LOOPS = [
    "while (!(C)) pthread_cond_wait(&p->c, &p->a);",
    "while (!(C)) pthread_cond_wait(&p->c, &p->a);",
    "if (!(C)) pthread_cond_wait(&p->c, &p->a);",
    "for (int i = 0; i < 2 && !(C); i++) pthread_cond_wait(&p->c, &p->a);",
    "while (!(C)) { p->y = p->x; pthread_cond_wait(&p->c, &p->a); }",
    "while (!(C)) { pthread_cond_wait(&p->c, &p->a); p->y = 1; }",
    "while (!(C)) { put(&p->a); get(&p->a); }",
    "while (!(C)) { put(&p->a); N = p->x; get(&p->a); }",
    "{ int n = p->x; while (!(C) && n == N) { pthread_cond_wait(&p->c, &p->a); } }",
    "{ int n = 0; while (!(C)) { n = 1; pthread_cond_wait(&p->c, &p->a); } assert(n < 2); }",
]
_CONDITIONS = ["p->x", "p->x == 2", "p->y", "p->x >= p->y", "p->x < 2 || p->y", "p->at != 0"]
_STEPS = [
    "p->x = 1;",
    "p->x = 2;",
    "p->x++;",
    "p->y = p->x;",
    "p->y--;",
    "N = p->x;",
    "assert(p->x <= 2);",
    "assert(p->x >= p->y);",
    "assert(N <= p->x);",
    "assert(p->ring[0] <= p->x);",
    "p->ring[p->at] = p->x;",
    "p->at = (p->at + 1) % SIZE;",
    "N = p->ring[(p->x + p->y) % SIZE];",
    "p->ring[p->x] = 1;",
    "pthread_cond_signal(&p->c);",
    "pthread_cond_broadcast(&p->c);",
    "if (p->x) pthread_mutex_unlock(&p->a); else { p->y = 1; pthread_mutex_unlock(&p->a); }"
    " get(&p->a);",
]
_PIECES = [
    "get(&p->a); @ put(&p->a);",
    "get(&p->a); @ @ put(&p->a);",
    "get(&p->a); WAIT @ put(&p->a);",
    "get(&p->a); WAIT @ @ put(&p->a);",
    "get(&p->a); @ WAIT @ put(&p->a);",
    "get(&p->a); @ put(&p->a); get(&p->a); WAIT @ put(&p->a);",
    "get(&p->b); @ put(&p->b);",
    "get(&p->a); get(&p->b); @ put(&p->b); @ put(&p->a);",
    "if (__VERIFIER_nondet_bool()) { get(&p->a); @ put(&p->a); } else { @ }",
    "if (pthread_mutex_trylock(&p->a) == 0) { @ put(&p->a); }",
    "sem_wait(&s); @",
    "@ sem_post(&s);",
    "sem_wait(&s); @ sem_post(&s);",
    "if (sem_trywait(&s) == 0) { @ sem_post(&s); }",
    "pthread_rwlock_rdlock(&l); @ pthread_rwlock_unlock(&l);",
    "pthread_rwlock_wrlock(&l); @ @ pthread_rwlock_unlock(&l);",
    "@",
]
_WRONG = [
    "put(&p->a);",
    "get(&p->a);",
    "pthread_cond_wait(&p->c, &p->b);",
    "pthread_mutex_destroy(&p->a);",
    "pthread_mutex_init(&p->b, 0);",
    "pthread_rwlock_unlock(&l);",
    "sem_destroy(&s);",
    "pthread_cond_destroy(&p->c);",
]
_LAST = [
    "pthread_mutex_destroy(&p->a);",
    "pthread_mutex_destroy(&p->b);",
    "pthread_cond_destroy(&p->c);",
    "sem_destroy(&s);",
    "pthread_rwlock_destroy(&l);",
    "if (pthread_mutex_destroy(&p->a)) assert(0);",
    "assert(p->x <= 2);",
    "assert(p->x >= p->y);",
]


def generate(seed: int) -> str:
    """The program of a seed."""
    dice = Random(seed)
    pieces = dice.sample(_PIECES, 4)
    steps = dice.sample(_STEPS, 8)
    wrong = 0.15 if dice.random() < 0.4 else 0.0

    def piece() -> str:
        if dice.random() < wrong:
            return dice.choice(_WRONG)
        text = dice.choice(pieces).replace("WAIT", dice.choice(_LOOPS))
        text = text.replace("(C)", f"({dice.choice(_CONDITIONS)})")
        while "@" in text:
            text = text.replace("@", dice.choice(steps), 1)
        return text

    count = dice.choice([2, 2, 3])
    text = f"#define SIZE {dice.randint(1, 3)}\n{_HEAD}"
    for number in range(count):
        lines = "".join(f"  {piece()}\n" for _ in range(dice.randint(1, 2)))
        lines = f"  int own = 0;\n{lines}".replace("N", "own")
        text += f"void *t{number}(void *unused) {{\n{lines}  return 0;\n}}\n"
    text += f"int main(void) {{\n  pthread_t t[{count}];\n"
    if dice.random() < 0.3:
        text += "  p = calloc(1, sizeof *p); pthread_mutex_init(&p->a, 0);"
        text += " pthread_mutex_init(&p->b, 0); pthread_cond_init(&p->c, 0);\n"
    text += f"  sem_init(&s, 0, {dice.randint(0, 2)});\n"
    for number in range(count):
        text += f"  pthread_create(&t[{number}], 0, t{number}, 0);\n"
    for number in range(count):
        if dice.random() < 0.9:
            text += f"  pthread_join(t[{number}], 0);\n"
    for _ in range(dice.randint(0, 3)):
        text += f"  {dice.choice(_LAST)}\n"
    return text + "  return 0;\n}\n"
