"""Random concurrent C programs whose critical sections overlap: nested, hand over hand, given back
early, tried, entered because of what was seen in another one, with accesses that keep to no lock.

They are small, so that all orders are explored, and what a thread finds decides what it does next:
whoever takes critical sections for single steps is to be found out. A bit less than half of them
violate something.
"""

from __future__ import annotations

import re
from random import Random

_HEAD = """\
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;
pthread_spinlock_t s;
sem_t t;
CELL x, y, z;
int known[3];
#define GET(m) pthread_mutex_lock(&m);
#define PUT(m) pthread_mutex_unlock(&m);
"""
_ACCESSES = [
    "X = K;",
    "X = K;",
    "X++;",
    "X = Y;",
    "X = X + Y;",
    "N = X;",
    "N = X;",
    "N = N * 2 + X;",
    "X = 1; X = 0;",
    "if (X) Y = K;",
    "if (N == K) X = K;",
    "if (N == X) Y++;",
    "assert(N != K + 1 || X != K);",
    "sem_post(&t);",
    "if (sem_trywait(&t) == 0) N = K;",
    "__VERIFIER_atomic_begin(); X = Y; Y = K; __VERIFIER_atomic_end();",
]
# L, M: two locks in order; X, Y: cells; K: a number; N: what the thread knows; @: an access.
_SECTIONS = [
    "GET(L) @ PUT(L)",
    "GET(L) @ PUT(L)",
    "GET(L) @ @ PUT(L)",
    "GET(L) @ GET(M) @ PUT(M) @ PUT(L)",
    "GET(L) GET(M) @ PUT(M) @ PUT(L)",
    "GET(L) GET(M) @ PUT(L) @ PUT(M)",
    "GET(L) @ GET(M) PUT(L) @ PUT(M)",
    "GET(L) @ PUT(L) @ GET(L) @ PUT(L)",
    "GET(L) if (X == K) { PUT(L) @ } else { @ PUT(L) }",
    "GET(L) GET(M) if (X) { PUT(L) @ PUT(M) } else { PUT(M) @ PUT(L) }",
    "if (pthread_mutex_trylock(&L) == 0) { @ PUT(L) } else { @ }",
    "GET(L) if (pthread_mutex_trylock(&M) == 0) { @ PUT(M) } @ PUT(L)",
    "pthread_spin_lock(&s); @ @ pthread_spin_unlock(&s);",
    "GET(L) pthread_spin_lock(&s); @ pthread_spin_unlock(&s); @ PUT(L)",
    "if (__VERIFIER_nondet_bool()) { GET(L) @ PUT(L) }",
]
_THEN = ["if (N == K)", "if (N)", "if (X == K)", "", ""]
_WRONG = [
    "GET(M) @ GET(L) @ PUT(L) @ PUT(M)",
    "GET(L) sem_wait(&t); @ PUT(L)",
    "@",
    "PUT(L)",
    "@ @",
]
_OUTCOMES = [
    "X == K",
    "X == K",
    "X == 0",
    "X != Y",
    "known[0] == K",
    "known[1] == K",
    "known[1] == 0",
]


def generate(seed: int) -> str:
    """The program of a seed."""
    dice = Random(seed)
    is_atomic = dice.random() < 0.7
    accesses = dice.sample(_ACCESSES, 6)
    sections = dice.sample(_SECTIONS, 4)
    wrong = dice.choice([0.0, 0.0, 0.15, 0.35])
    # Each cell has its lock, most often, so that not all locks are broken at once.
    homes = dict(zip("abc", dice.sample("xyz", 3), strict=True))
    strays = dice.choice([0.0, 0.2, 0.5])

    def filled(text: str, locks: tuple[str, str]) -> str:
        def value(found: re.Match[str]) -> str:
            if found[0] in "XY":
                home = homes[dice.choice(locks)]
                return dice.choice("xyz") if dice.random() < strays else home
            return {"L": locks[0], "M": locks[1], "N": "own"}.get(found[0]) or str(
                dice.randint(1, 2)
            )

        text = re.sub("@", lambda _: dice.choice(accesses), text)
        return re.sub(r"\b[LMXYKN]\b", value, text)

    def piece() -> str:
        locks = dice.sample("abc", 2)
        ordered = (min(locks), max(locks))
        text = dice.choice(_WRONG) if dice.random() < wrong else dice.choice(sections)
        return filled(text, ordered)

    count = dice.choice([2, 2, 2, 3])
    text = _HEAD.replace("CELL", "atomic_int" if is_atomic else "int")
    for number in range(count):
        pieces = [piece() for _ in range(dice.randint(1, 2) if count == 3 else 2)]
        body = pieces[0]
        if len(pieces) == 2:
            body += f" {filled(dice.choice(_THEN), ('a', 'b'))} {{ {pieces[1]} }}"
        body += f"\n  known[{number}] = own;\n  return 0;\n"
        text += f"void *t{number}(void *unused) {{\n  int own = 0;\n  {body}}}\n"
    text += f"int main(void) {{\n  pthread_t t_[{count}];\n"
    text += f"  sem_init(&t, 0, {dice.randint(0, 1)});\n  pthread_spin_init(&s, 0);\n"
    for number in range(count):
        text += f"  pthread_create(&t_[{number}], 0, t{number}, 0);\n"
    for number in range(count):
        text += f"  pthread_join(t_[{number}], 0);\n"
    for _ in range(dice.randint(1, 3)):
        outcome = " && ".join(dice.sample(_OUTCOMES, 3))
        text += f"  assert(!({filled(outcome, ('a', 'b'))}));\n"
    return text + "  return 0;\n}\n"
