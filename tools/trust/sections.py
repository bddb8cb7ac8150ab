"""Random concurrent C programs in whose critical sections everything happens: waits, inputs,
assertions, threads that start, are joined or end, the end of the process, atomic sections, objects
that are made and freed. Locks are of all kinds, some are in structs or on the heap, and some are
chosen by what was read; they nest, are tried, are given back by others, and are looked at.

Like the programs of `locking` they are small, so that all orders are explored. About half of them
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
#include <stdlib.h>
extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t again, checked, row[2];
pthread_spinlock_t spin;
pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
struct box { int data; pthread_mutex_t lock; } box, *heap, *other;
union { struct { pthread_spinlock_t lock; int data; } part; long long both; } mixed;
atomic_int flag, at_row;
sem_t sem;
CELL x, y, z;
int known[3];
pthread_t helper;
int has_helper;
static void *help(void *p) { int N = 0; HELP return p; }
"""
# How a lock is taken, given back, tried; all are in one order, so that nesting may keep to it.
_LOCKS = {
    "m": ("pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);", "pthread_mutex_trylock(&m) == 0"),
    "n": ("pthread_mutex_lock(&n);", "pthread_mutex_unlock(&n);", "pthread_mutex_trylock(&n) == 0"),
    "again": (
        "pthread_mutex_lock(&again);",
        "pthread_mutex_unlock(&again);",
        "pthread_mutex_trylock(&again) == 0",
    ),
    "checked": (
        "pthread_mutex_lock(&checked);",
        "pthread_mutex_unlock(&checked);",
        "pthread_mutex_lock(&checked) == 0",
    ),
    "row": (
        "{ int at = at_row; pthread_mutex_lock(&row[at]);",
        "pthread_mutex_unlock(&row[at]); }",
        "",
    ),
    "row0": ("pthread_mutex_lock(&row[0]);", "pthread_mutex_unlock(&row[0]);", ""),
    "box": ("pthread_mutex_lock(&box.lock);", "pthread_mutex_unlock(&box.lock);", ""),
    "heap": ("pthread_mutex_lock(&heap->lock);", "pthread_mutex_unlock(&heap->lock);", ""),
    "other": (
        "{ struct box *it = X ? heap : other; pthread_mutex_lock(&it->lock);",
        "pthread_mutex_unlock(&it->lock); }",
        "",
    ),
    "spin": (
        "pthread_spin_lock(&spin);",
        "pthread_spin_unlock(&spin);",
        "pthread_spin_trylock(&spin) == 0",
    ),
    "mixed": (
        "pthread_spin_lock(&mixed.part.lock);",
        "pthread_spin_unlock(&mixed.part.lock);",
        "",
    ),
    "write": (
        "pthread_rwlock_wrlock(&rw);",
        "pthread_rwlock_unlock(&rw);",
        "pthread_rwlock_trywrlock(&rw) == 0",
    ),
    "read": (
        "pthread_rwlock_rdlock(&rw);",
        "pthread_rwlock_unlock(&rw);",
        "pthread_rwlock_tryrdlock(&rw) == 0",
    ),
    "flag": (
        "__VERIFIER_atomic_begin(); __VERIFIER_assume(!flag); flag = 1; __VERIFIER_atomic_end();",
        "flag = 0;",
        "atomic_exchange(&flag, 1) == 0",
    ),
    "sem": ("sem_wait(&sem);", "sem_post(&sem);", "sem_trywait(&sem) == 0"),
}
_MUTEXES = frozenset({"m", "n", "again", "checked", "row0", "box", "heap"})
# X, Y: cells; K: a number; N: what the thread knows; @: an access; GET, PUT: the lock.
_ACCESSES = [
    "X = K;",
    "X++;",
    "X += 2;",
    "X = Y;",
    "N = X;",
    "N = N * 2 + X;",
    "X = 1; X = 0;",
    "if (X) Y = K;",
    "if (N == K) X = K;",
    "assert(N != K + 1 || X != K);",
    "assert(X != K);",
    "sem_post(&sem);",
    "if (sem_trywait(&sem) == 0) N = K;",
    "__VERIFIER_atomic_begin(); X = Y; Y = K; __VERIFIER_atomic_end();",
    "__VERIFIER_atomic_begin(); X = 1; if (Y == K) N = 2; X = 0; __VERIFIER_atomic_end();",
    "box.data = X;",
    "heap->data++;",
    "N = heap->data + box.data;",
    "mixed.part.data = K;",
    "N = mixed.part.data;",
    "at_row = K - 1;",
]
_INSIDE = [
    "if (__VERIFIER_nondet_bool()) { X = K; }",
    "N = __VERIFIER_nondet_bool(); X = N;",
    "sem_wait(&sem);",
    "while (X == K) { }",
    "for (int i = 0; i < 2; i++) X++;",
    "if (X == K) exit(0);",
    "if (X == K) abort();",
    "if (X == K) return 0;",
    "if (X == K) pthread_exit(0);",
    "if (!has_helper) { has_helper = 1; pthread_create(&helper, 0, help, 0); }",
    "if (has_helper == 1) { has_helper = 2; pthread_join(helper, 0); }",
    "__VERIFIER_assume(X != K);",
    "{ int *made = malloc(4); *made = X; Y = *made; free(made); }",
    "{ int mine[2] = {0, 0}; mine[X & 1] = 1; N = mine[1]; }",
    "PUT GET",
    "if (X == K) { PUT @ GET }",
    "__VERIFIER_atomic_begin(); PUT @ GET __VERIFIER_atomic_end();",
    "pthread_cond_signal(&cond);",
    "pthread_cond_broadcast(&cond);",
    "X = 1; pthread_cond_signal(&cond);",
]
_WAITS = [
    "while (!X) pthread_cond_wait(&cond, &LOCK);",
    "if (X == K) pthread_cond_wait(&cond, &LOCK);",
]
_OUTSIDE = [
    "N = *(int *)&m;",
    "assert(*(int *)&box.lock == 0);",
    "if (N == K) PUT",
    "N = (int)(mixed.both >> 32);",
    "mixed.both = 0;",
    "pthread_mutex_init(&box.lock, 0);",
    "if (X == K) free(other);",
    "@",
    "@",
    "@ @",
]
_THEN = ["if (N == K)", "if (N)", "if (X == K)", "", "", ""]
_OUTCOMES = ["X == K", "X == K", "X == 0", "X != Y", "known[0] == K", "known[1] == K", "known[1]"]


def generate(seed: int) -> str:
    """The program of a seed."""
    return _Program(Random(seed)).text()


class _Program:
    def __init__(self, dice: Random) -> None:
        self.dice = dice
        self.locks = sorted(dice.sample(sorted(_LOCKS), dice.choice([1, 2, 2, 3])))
        self.accesses = dice.sample(_ACCESSES, 5)
        self.inside = dice.sample(_INSIDE, 3)
        self.cells = dice.sample("xyz", dice.choice([1, 2, 2, 3]))
        self.strangeness = dice.choice([0.0, 0.1, 0.3, 0.5])
        self.outside = dice.choice([0.0, 0.0, 0.2, 0.4])

    def text(self) -> str:
        dice = self.dice
        count = dice.choice([2, 2, 2, 3])
        cell = "atomic_int" if dice.random() < 0.6 else "int"
        text = _HEAD.replace("CELL", cell).replace("HELP", self.piece())
        text = self.filled(text)
        for number in range(count):
            body = self.piece()
            if count == 2 and dice.random() < 0.7:
                body += f" {dice.choice(_THEN)} {{ {self.piece()} }}"
            text += f"void *t{number}(void *p) {{\n  int own = 0;\n  {self.filled(body)}\n"
            text += f"  known[{number}] = own;\n  return 0;\n}}\n"
        return text + self.main(count)

    def main(self, count: int) -> str:
        dice = self.dice
        text = f"int main(void) {{\n  pthread_t t_[{count}];\n  pthread_mutexattr_t kind;\n"
        text += "  pthread_mutexattr_init(&kind);\n"
        text += "  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);\n"
        text += "  pthread_mutex_init(&again, &kind);\n"
        text += "  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);\n"
        text += "  pthread_mutex_init(&checked, &kind);\n"
        text += "  heap = calloc(1, sizeof *heap);\n  other = calloc(1, sizeof *other);\n"
        text += f"  sem_init(&sem, 0, {dice.randint(0, 1)});\n"
        # What may be joined is some thread.
        text += "  if (has_helper) pthread_create(&helper, 0, help, 0);\n"
        for number in range(count):
            text += f"  pthread_create(&t_[{number}], 0, t{number}, 0);\n"
        if dice.random() < 0.2:
            text += f"  {self.filled(self.piece())}\n".replace("return 0", "return 1")
            text = text.replace("main(void) {", "main(void) {\n  int own = 0;")
        for number in range(count):
            text += f"  pthread_join(t_[{number}], 0);\n"
        for _ in range(dice.randint(1, 2)):
            outcome = " && ".join(dice.sample(_OUTCOMES, dice.choice([1, 2, 2])))
            text += f"  assert(!({self.filled(outcome)}));\n"
        return text + "  return 0;\n}\n"

    def piece(self) -> str:
        if self.dice.random() < self.outside:
            name = self.dice.choice(self.locks)
            text = self.dice.choice(_OUTSIDE)
            if name in ("row", "other") and "PUT" in text:
                text = "@"
            return text.replace("PUT", _LOCKS[name][1])
        return self.section(set())

    def section(self, held: set[str]) -> str:
        """Of a lock behind those that are held, most often."""
        dice = self.dice
        name = dice.choice(self.locks)
        behind = [item for item in self.locks if not held or item > max(held)]
        if behind and dice.random() < 0.85:
            name = dice.choice(behind)
        get, put, tried = _LOCKS[name]
        depth = len(held)
        held = {*held, name}
        parts = [self.part(name, held, depth) for _ in range(dice.choice([1, 2, 2, 3]))]
        body = " ".join(parts)
        if tried and dice.random() < 0.15:
            return f"if ({tried}) {{ {body.replace('GET', get).replace('PUT', put)} {put} }}"
        is_plain = name not in ("row", "other")
        if is_plain and dice.random() < 0.15 and depth == 0:
            text = f"{get} if (X == K) {{ {body} {put} }} else {{ {put} @ }}"
        elif is_plain and dice.random() < 0.1 and len(self.locks) > 1:
            # Hand over hand: the next lock is taken before this one is given back.
            further = _LOCKS[dice.choice([item for item in self.locks if item != name])]
            text = f"{get} {body} {further[0]} {put} @ {further[1]}"
        else:
            text = f"{get} {body} {put}"
        if not is_plain:
            text = text.replace("PUT GET", "").replace("PUT", "").replace("GET", "")
        return text.replace("GET", get).replace("PUT", put)

    def part(self, name: str, held: set[str], depth: int) -> str:
        dice = self.dice
        chance = dice.random()
        if depth < 1 and chance < 0.25:
            return self.section(held)
        if chance < 0.25 + self.strangeness:
            if name in _MUTEXES and dice.random() < 0.25:
                lock = {"row0": "row[0]", "box": "box.lock", "heap": "heap->lock"}.get(name, name)
                return dice.choice(_WAITS).replace("LOCK", lock)
            return dice.choice(self.inside)
        return "@"

    def filled(self, text: str) -> str:
        dice = self.dice

        def value(found: re.Match[str]) -> str:
            if found[0] in "XY":
                return dice.choice(self.cells)
            return "own" if found[0] == "N" else str(dice.randint(1, 2))

        while "@" in text:
            text = re.sub("@", lambda _: dice.choice(self.accesses), text)
        return re.sub(r"\b[XYKN]\b", value, text)
