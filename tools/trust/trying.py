"""Random concurrent C programs whose threads try something until it succeeds.

Their loops go on for as long as others let them: locks made of exchanges, flags and comparisons,
right ones and wrong ones, and waits for conditions, with rounds that change nothing, something, or
nothing only sometimes.
All values stay small, so that exploration comes to an end.
"""

from __future__ import annotations

import re
from random import Random

_HEAD = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int);
extern _Bool __VERIFIER_nondet_bool(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
atomic_int a, b;
atomic_flag f = ATOMIC_FLAG_INIT;
volatile int x, y, s;
int z[2];
"""
_LOCKS = [
    ("while (atomic_exchange(&A, 1)) ;", "A = 0;"),
    ("while (atomic_exchange(&A, 2)) ;", "A = 0;"),
    ("while (atomic_exchange(&A, 1) != 0) { r = 1; }", "atomic_store(&A, 0);"),
    ("while (atomic_flag_test_and_set(&f)) ;", "atomic_flag_clear(&f);"),
    ("r = 0; while (!atomic_compare_exchange_strong(&A, &r, 1)) r = 0;", "A = 0;"),
    ("r = 0; while (!atomic_compare_exchange_weak(&A, &r, 1)) r = 0;", "A = 0;"),
    ("r = 0; while (!atomic_compare_exchange_strong(&A, &r, 1)) ;", "A = 0;"),
    ("do { r = 0; } while (!atomic_compare_exchange_strong(&A, &r, 2));", "A = 0;"),
    ("while (1) { if (!A) if (!atomic_exchange(&A, 1)) break; }", "A = 0;"),
    ("while (atomic_fetch_or(&A, 1) & 1) ;", "atomic_fetch_and(&A, ~1);"),
    ("while (atomic_fetch_or(&A, 3) & 1) ;", "atomic_fetch_and(&A, 2);"),
    ("while (1) { __VERIFIER_atomic_begin(); r = X; if (!r) X = 1; __VERIFIER_atomic_end();"
     " if (!r) break; }", "X = 0;"),
    ("while (1) { __VERIFIER_atomic_begin(); r = X; X = 1; __VERIFIER_atomic_end();"
     " if (!r) break; }", "X = 0;"),
    ("while (1) { __VERIFIER_atomic_begin(); X = 1; r = X; __VERIFIER_atomic_end();"
     " if (r == 1) break; }", "X = 0;"),
    ("while (1) { r = X; X = 1; if (!r) break; }", "X = 0;"),
    ("while (1) { __VERIFIER_atomic_begin(); r = X; __VERIFIER_atomic_end();"
     " __VERIFIER_atomic_begin(); X = 1; __VERIFIER_atomic_end(); if (!r) break; }", "X = 0;"),
    ("while (1) { __VERIFIER_atomic_begin(); r = z[X & 1]; z[Y & 1] = 1; __VERIFIER_atomic_end();"
     " if (!r) break; }", "z[X & 1] = 0;"),
    ("while (1) { __VERIFIER_atomic_begin(); r = z[X & 1]; z[X & 1] = 1; __VERIFIER_atomic_end();"
     " if (!r) break; }", "z[X & 1] = 0;"),
]  # fmt: skip
_WAITS = [
    "while (!X) pthread_cond_wait(&c, &m); @",
    "while (!X) pthread_cond_wait(&c, &m); assert(Y != 1);",
    "while (X == 0 || Y == 0) pthread_cond_wait(&c, &m); assert(X + Y < 3);",
    "while (!X) { pthread_mutex_unlock(&m); pthread_mutex_lock(&m); } assert(X == 1); @",
    "while (q != 1) { pthread_mutex_unlock(&m); pthread_mutex_lock(&m); q = X; } assert(Y != 1);",
    "while (q != 1) { pthread_mutex_unlock(&m); q = X; pthread_mutex_lock(&m); } assert(Y == 0);",
    "q = Y; while (!X) { Y = 1; pthread_cond_wait(&c, &m); } assert(q == Y);",
    "while (!X) { pthread_cond_wait(&c, &m); Y = 1; } assert(Y != 1);",
    "while (!X) { if (Y) r = 1; pthread_cond_wait(&c, &m); } assert(r == 0);",
    "while (!X) { if (Y) pthread_cond_wait(&c, &m); else { Y = 1; } } assert(Y == 1);",
    "Y = 1; while (!X) pthread_cond_wait(&c, &m); assert(Y != 1);",
    "Y = 1; while (!X) pthread_cond_wait(&c, &m); assert(X != 1);",
    "while (!Y) pthread_cond_wait(&c, &m); X = 1;",
    "while (!Y) pthread_cond_wait(&c, &m); X = X < 2 ? X + 1 : 0; pthread_cond_signal(&c);",
    "X = 1; pthread_cond_signal(&c);",
    "X = 1; pthread_cond_broadcast(&c); Y = 0;",
    "X = X < 2 ? X + 1 : 0; pthread_cond_signal(&c);",
    "Y = 1; @ Y = 0;",
]
_PIECES = [
    "pthread_mutex_lock(&m); WAIT pthread_mutex_unlock(&m);",
    "pthread_mutex_lock(&m); WAIT pthread_mutex_unlock(&m);",
    "pthread_mutex_lock(&m); WAIT WAIT pthread_mutex_unlock(&m);",
    "if (pthread_mutex_trylock(&m) == 0) { @ pthread_mutex_unlock(&m); } else { Y = 1; }",
    "LOCK @ UNLOCK",
    "LOCK @ UNLOCK",
    "LOCK X = X < 3 ? X + 1 : X; UNLOCK",
    "LOCK q = X; @ assert(q == X || Y); UNLOCK",
    "LOCK Y = 1; X = 0; Y = 2; assert(X == 0); UNLOCK",
    "LOCK q = X; X = 2; assert(X == 2); X = q; UNLOCK",
    "LOCK UNLOCK",
    "LOCK if (X) { @ } UNLOCK @",
    "X = X < 2 ? X + 1 : 0;",
    "X = 1;",
    "A = A < 2 ? A + 1 : 0;",
    "q = X; while (q < 3 && __VERIFIER_nondet_bool()) q++;",
    "q = 0; while (__VERIFIER_nondet_bool()) q = 1; X = q;",
    "while (X != 1 && __VERIFIER_nondet_bool()) q = X & 1;",
    "while (X) { if (__VERIFIER_nondet_bool()) X = 0; }",
    "while (atomic_exchange(&A, X & 1) > 0) { q = !q; }",
    "while (A > 0) { r = A; if (r > 0) atomic_compare_exchange_strong(&A, &r, r - 1); }",
    "while (Y == 0) X = 1; assert(X != 1);",
    "while (Y == 0) { X = 1; X = 0; } assert(X == 0);",
    "do { X = !X; } while (Y == 0); assert(X == 1);",
    "while (Y == 0) atomic_exchange(&A, 1); assert(A != 1);",
    "while (Y == 0) { if (atomic_exchange(&A, 1) == 1) q = 1; } assert(q == 0);",
    "while (Y == 0) atomic_fetch_xor(&A, 1); assert(A == 1);",
    "while (Y == 0) { __VERIFIER_atomic_begin(); q = X; X = 1; __VERIFIER_atomic_end(); }"
    " assert(X != 1);",
    "while (Y == 0) { __VERIFIER_atomic_begin(); q = X; X = 1; X = q; __VERIFIER_atomic_end(); }"
    " assert(X != 1);",
    "while (Y == 0) { __VERIFIER_atomic_begin(); X = 1; q = X; X = q; __VERIFIER_atomic_end(); }"
    " assert(X != 1);",
    "while (Y == 0) { __VERIFIER_atomic_begin(); q = z[X & 1]; z[Y & 1] = q;"
    " __VERIFIER_atomic_end(); } assert(z[1] != 1);",
    "Y = 1;",
    "z[X & 1] = 1;",
    "if (__VERIFIER_nondet_bool()) { @ } else { @ }",
    "assert(X < 3);",
    "assert(X + Y < 4);",
]
# One thread waits for what the other does only after the first has begun to wait.
_PAIRS = [
    ("y = 1; while (!x) pthread_cond_wait(&c, &m); assert(x != 1);",
     "while (!y) pthread_cond_wait(&c, &m); x = 1;"),
    ("y = 1; while (!x) { pthread_mutex_unlock(&m); pthread_mutex_lock(&m); } assert(y != 1);",
     "while (!y) pthread_cond_wait(&c, &m); x = 1; @"),
    ("y = 1; while (x < 2) pthread_cond_wait(&c, &m); assert(x < 2 || y == 1);",
     "while (!y) pthread_cond_wait(&c, &m); x = 1; @ x = 2;"),
    ("while (!x) { y = 1; pthread_cond_wait(&c, &m); } assert(y != 1);",
     "while (!y) pthread_cond_wait(&c, &m); x = 1;"),
]  # fmt: skip
# A cell that threads wait for, but that others than its owner may reset.
_TAKE = (
    "__VERIFIER_atomic_begin(); __VERIFIER_assume(s == 0); s = 1; __VERIFIER_atomic_end();"
)
_POSTS = [
    f"{_TAKE} while (y == 0) {{ s = 0; {_TAKE} }} @",
    f"{_TAKE} y = 1; while (x == 0) {{ s = 0; {_TAKE} }} s = 0;",
    f"{_TAKE} x = x < 3 ? x + 1 : x; assert(x < 2);",
    f"{_TAKE} x = x < 3 ? x + 1 : x; assert(x < 3);",
    f"{_TAKE} y = y < 3 ? y + 1 : y; s = 0; @",
    "s = 0;",
    "@ s = 0;",
]
_LAST = ["X = 1;", "Y = 1;", "A = A < 2 ? A + 1 : 0;", "assert(X < 3);"]


def generate(seed: int) -> str:
    """The program of a seed."""
    dice = Random(seed)
    locks = dice.sample(_LOCKS, dice.randint(1, 2))
    is_posting = dice.random() < 0.2
    names = dice.choice("ab"), dice.choice("xy")

    def filled(text: str) -> str:
        atomic, plain = names if dice.random() < 0.7 else (dice.choice("ab"), dice.choice("xy"))
        known = {"A": atomic, "X": plain, "Y": "y" if plain == "x" else "x"}
        return re.sub(r"\b[AXY]\b", lambda match: known[match[0]], text)

    def piece(depth: int) -> str:
        text = dice.choice(_PIECES if depth < 2 else _LAST)
        while "WAIT" in text:
            text = text.replace("WAIT", dice.choice(_WAITS), 1)
        if "LOCK" in text:
            take, release = dice.choice(locks)
            text = text.replace("UNLOCK", f"{{ {release} }}").replace("LOCK", f"{{ {take} }}")
        text = filled(text)
        while "@" in text:
            text = text.replace("@", piece(depth + 1), 1)
        return text

    def body(most: int) -> str:
        if is_posting:
            texts = [dice.choice(_POSTS).replace("@", piece(2)) for _ in range(most)]
            return "".join(f"  {text}\n" for text in texts)
        return "".join(f"  {piece(0)}\n" for _ in range(dice.randint(1, most)))

    count = 3 if is_posting else dice.choice([1, 2, 2])
    first = [""] * count
    if count == 2 and dice.random() < 0.3:
        for number, part in enumerate(dice.choice(_PAIRS)):
            part = part.replace("@", dice.choice(["", *_LAST[:2]]))
            first[number] = f"  pthread_mutex_lock(&m); {filled(part)} pthread_mutex_unlock(&m);\n"
    text = _HEAD
    for number in range(count):
        lines = first[number] + body(1 if first[number] else 2)
        text += f"void *t{number}(void *p) {{\n  int r = 0, q = 0;\n{lines}  return 0;\n}}\n"
    text += f"int main(void) {{\n  pthread_t t[{count}];\n  int r = 0, q = 0;\n"
    for number in range(count):
        text += f"  pthread_create(&t[{number}], 0, t{number}, 0);\n"
    if dice.random() < 0.6:
        text += body(1)
    for number in range(count):
        text += f"  pthread_join(t[{number}], 0);\n"
    return f"{text}  {filled('assert(X < 3);')}\n  return 0;\n}}\n"
