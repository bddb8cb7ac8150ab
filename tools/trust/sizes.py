"""Random concurrent C programs that allocate as much memory as inputs say.

Arrays of a few elements come from malloc, calloc, realloc and alloca, or have variable length.
Threads walk over them, mostly up to their length and sometimes further, and free them, or not.
Lengths are inputs that the program limits in different ways, so that exploration comes to an end.
"""

from __future__ import annotations

from random import Random

_HEAD = """\
#include <alloca.h>
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
extern unsigned char __VERIFIER_nondet_uchar(void);
extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
struct pair { char a; int b; };
unsigned n;
int *p;
struct pair *q;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
"""
_LENGTHS = [
    "n = __VERIFIER_nondet_uchar(); if (n > MOST) return 0;",
    "n = __VERIFIER_nondet_uchar(); __VERIFIER_assume(n <= MOST);",
    "n = __VERIFIER_nondet_uchar(); __VERIFIER_assume(n && n < MOST);",
    "n = __VERIFIER_nondet_uchar() & 3;",
    "n = __VERIFIER_nondet_bool() + __VERIFIER_nondet_bool() + 1;",
    "n = __VERIFIER_nondet_bool() ? MOST : 2;",
]
_ALLOCATIONS = [
    "p = malloc(n * sizeof *p); for (unsigned i = 0; i < n; i++) p[i] = 0;",
    "p = calloc(n, sizeof *p);",
    "p = calloc(n + 1, sizeof *p);",
    "p = malloc((n + 1) * sizeof *p); memset(p, 0, (n + 1) * sizeof *p);",
    "p = malloc(4); *p = 0; p = realloc(p, 4 * n + 4); for (unsigned i = 1; i <= n; i++) p[i] = 0;",
]
_PIECES = [
    "for (unsigned i = 0; i < n; i++) p[i] = i;",
    "for (unsigned i = 0; i < n; i++) p[i]++;",
    "if (n) p[n - 1] = 7;",
    "if (n > 1) { p[1] = 3; assert(p[1] == 3 || p[1] == 4 || p[1] == 7); }",
    "p[0] = 1;",
    "p[n] = 1;",
    "if (n > 2) p[2] = 5;",
    "if (n) assert(p[0] < 3);",
    "pthread_mutex_lock(&m); if (n) p[0]++; pthread_mutex_unlock(&m);",
    "int v[n + 1]; v[n] = 2; v[0] = 1; assert(v[n] == 2 || n == 0);",
    "int *a = alloca(n * sizeof *a); if (n) { a[n - 1] = 4; assert(a[n - 1] == 4); }",
    "int *a = alloca(n * sizeof *a); a[1] = 4;",
    "struct pair *s = calloc(n, sizeof *s); if (n) assert(s[n - 1].b == 0); free(s);",
    "struct pair *s = malloc(n * sizeof *s + 4); if (n) s[n - 1].b = 1; free(s);",
    "char *s = malloc(n); if (n > 1) { s[1] = 2; assert(s[1] == 2); } free(s);",
    "free(malloc(n));",
]


def generate(seed: int) -> str:
    """The program of a seed."""
    dice = Random(seed)

    def body(most: int) -> str:
        texts = dice.sample(_PIECES, dice.randint(1, most))
        return "".join(f"  {{ {text} }}\n" for text in texts)

    text = f"{_HEAD}void *t(void *x) {{\n{body(2)}  return 0;\n}}\n"
    length = dice.choice(_LENGTHS).replace("MOST", str(dice.randint(2, 4)))
    text += f"int main(void) {{\n  pthread_t t1;\n  {length}\n  {dice.choice(_ALLOCATIONS)}\n"
    text += f"  pthread_create(&t1, 0, t, 0);\n{body(1)}  pthread_join(t1, 0);\n"
    if dice.random() < 0.7:
        text += "  if (n) assert(p[n - 1] < 4);\n"
    if dice.random() < 0.8:
        text += "  free(p);\n"
    return f"{text}  return 0;\n}}\n"
