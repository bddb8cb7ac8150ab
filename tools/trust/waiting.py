"""Random concurrent C programs whose threads mostly wait, in all the ways there are.

They are what verdicts about deadlocks are compared on: about half of them have one. Some fail
assumptions, spin, or end the process while others wait.
"""

from __future__ import annotations

from random import Random

_HEAD = """\
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int);
extern _Bool __VERIFIER_nondet_bool(void);
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t k[6]; /* all zeros: as initialised */
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
pthread_once_t o = PTHREAD_ONCE_INIT;
pthread_barrier_t w;
sem_t s;
volatile int f, g;
_Atomic int h;
static void once(void) { f = 1; }
"""
_PIECES = [
    "pthread_mutex_lock(&M);",
    "pthread_mutex_unlock(&M);",
    "pthread_mutex_lock(&M); @ pthread_mutex_unlock(&M);",
    "pthread_mutex_lock(&a); pthread_mutex_lock(&b); pthread_mutex_unlock(&b);"
    " pthread_mutex_unlock(&a);",
    "pthread_mutex_lock(&b); pthread_mutex_lock(&a); pthread_mutex_unlock(&a);"
    " pthread_mutex_unlock(&b);",
    "if (pthread_mutex_trylock(&M) == 0) { @ pthread_mutex_unlock(&M); }",
    "sem_wait(&s);",
    "sem_post(&s);",
    "{ int n = (f + g + 2 * h) % 6; pthread_mutex_lock(&k[n]); @ pthread_mutex_unlock(&k[n]); }",
    "{ int n = __VERIFIER_nondet_bool(); pthread_mutex_lock(&k[n]); pthread_mutex_lock(&k[!n]);"
    " pthread_mutex_unlock(&k[n]); pthread_mutex_unlock(&k[!n]); }",
    "pthread_mutex_lock(&a); while (!F) pthread_cond_wait(&c, &a); pthread_mutex_unlock(&a);",
    "pthread_mutex_lock(&a); if (!F) pthread_cond_wait(&c, &a); pthread_mutex_unlock(&a);",
    "pthread_mutex_lock(&a); F = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&a);",
    "F = 1; pthread_cond_broadcast(&c);",
    "while (!F) ;",
    "while (__VERIFIER_nondet_bool() && !F) ;",
    "while (1) { if (f) { while (!g) ; break; } if (h) break; }",
    "while (1) { int t; __VERIFIER_atomic_begin(); t = f & g; __VERIFIER_atomic_end();"
    " if (t) break; }",
    "while (1) { int t = F; __VERIFIER_assume(t < 2); if (t) break; }",
    "F = 1;",
    "F = 0;",
    "F = 2;",
    "__VERIFIER_atomic_begin(); __VERIFIER_assume(F); G = 1; __VERIFIER_atomic_end();",
    "__VERIFIER_atomic_begin(); if (F) pthread_mutex_lock(&M); G = 1; __VERIFIER_atomic_end();",
    "__VERIFIER_atomic_begin(); if (__VERIFIER_nondet_bool()) sem_wait(&s); else"
    " __VERIFIER_assume(F); __VERIFIER_atomic_end();",
    "{ __VERIFIER_atomic_begin(); _Bool i = __VERIFIER_nondet_bool(); __VERIFIER_assume(i);"
    " G = 1; __VERIFIER_atomic_end(); }",
    "__VERIFIER_atomic_begin(); if (f) while (!g) ; __VERIFIER_atomic_end();",
    "{ __VERIFIER_atomic_begin(); _Bool i = __VERIFIER_nondet_bool(), j = __VERIFIER_nondet_bool();"
    " __VERIFIER_assume(i | j); if (F) __VERIFIER_assume(!i); if (G) __VERIFIER_assume(!j);"
    " __VERIFIER_atomic_end(); }",
    "{ __VERIFIER_atomic_begin(); _Bool i = __VERIFIER_nondet_bool(); __VERIFIER_assume(i);"
    " if (F) sem_wait(&s); if (G) __VERIFIER_assume(!i); __VERIFIER_atomic_end(); }",
    "{ _Bool i = __VERIFIER_nondet_bool(), j = __VERIFIER_nondet_bool();"
    " if (i) __VERIFIER_assume(j); else __VERIFIER_assume(!j); F = j; }",
    "{ _Bool i = __VERIFIER_nondet_bool(); __VERIFIER_assume(i); F = i; }",
    "{ _Bool i = __VERIFIER_nondet_bool(); F = i; __VERIFIER_assume(i); }",
    "__VERIFIER_assume(F);",
    "if (__VERIFIER_nondet_bool()) { @ } else { @ }",
    "if (F) { @ }",
    "h++; @",
    "pthread_barrier_wait(&w);",
    "pthread_rwlock_rdlock(&l); @ pthread_rwlock_unlock(&l);",
    "pthread_rwlock_wrlock(&l); @ pthread_rwlock_unlock(&l);",
    "pthread_once(&o, once);",
    "if (F) exit(0);",
    "if (F) pthread_exit(NULL);",
    "for (int i = 0; i < 2; i++) { @ }",
]


def generate(seed: int) -> str:
    """The program of a seed."""
    dice = Random(seed)
    # A program of few different pieces has more to do with itself.
    pieces = dice.sample(_PIECES, 8) if dice.random() < 0.7 else _PIECES

    def piece(depth: int) -> str:
        text = dice.choice(pieces if depth < 2 else _PIECES[:2] + _PIECES[6:8])
        text = text.replace("M", dice.choice("ab"))
        for name in "FG":
            text = text.replace(name + " ", dice.choice("fgh") + " ")
            text = text.replace(name + ")", dice.choice("fgh") + ")")
            text = text.replace(name + ";", dice.choice("fgh") + ";")
        while "@" in text:
            text = text.replace("@", piece(depth + 1), 1)
        return text

    def body() -> str:
        return "".join(f"  {piece(0)}\n" for _ in range(dice.randint(1, 3)))

    count = dice.choice([1, 2, 2, 3])
    text = _HEAD
    for number in range(count):
        text += f"void *t{number}(void *unused) {{\n{body()}  return NULL;\n}}\n"
    text += f"int main(void) {{\n  pthread_t t[{count}];\n"
    text += f"  sem_init(&s, 0, {dice.randint(0, 1)});\n"
    text += f"  pthread_barrier_init(&w, NULL, {dice.randint(1, count + 1)});\n"
    for number in range(count):
        text += f"  pthread_create(&t[{number}], NULL, t{number}, NULL);\n"
    if dice.random() < 0.6:
        text += body()
    for number in range(count):
        if dice.random() < 0.8:
            text += f"  pthread_join(t[{number}], NULL);\n"
    end = "pthread_exit(NULL);" if dice.random() < 0.2 else "return 0;"
    return f"{text}  {end}\n}}\n"
