"""Small programs with one failure each: name, options of `plait explore`, C source."""

from __future__ import annotations

_HEAD = """\
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
int __VERIFIER_nondet_int(void);
unsigned char __VERIFIER_nondet_uchar(void);
double __VERIFIER_nondet_double(void);
void __VERIFIER_assume(int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
"""


def source(text: str) -> str:
    return _HEAD + text


ASSERTIONS = {
    "mutex": """
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int x;
void *f(void *p) { pthread_mutex_lock(&m); int y = x; pthread_mutex_unlock(&m);
  pthread_mutex_lock(&m); x = y + 1; pthread_mutex_unlock(&m); return 0; }
int main(void) { pthread_t a, b; pthread_create(&a, 0, f, 0); pthread_create(&b, 0, f, 0);
  pthread_join(a, 0); pthread_join(b, 0); assert(x == 2); return 0; }""",
    "recursive mutex": """
pthread_mutex_t m; int x;
void *f(void *p) { pthread_mutex_lock(&m); pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);
  x++; pthread_mutex_unlock(&m); return 0; }
int main(void) { pthread_t a; pthread_mutexattr_t at; pthread_mutexattr_init(&at);
  pthread_mutexattr_settype(&at, PTHREAD_MUTEX_RECURSIVE); pthread_mutex_init(&m, &at);
  pthread_create(&a, 0, f, 0); pthread_mutex_lock(&m); int y = x; pthread_mutex_unlock(&m);
  assert(y != 2); return 0; }""",
    "errorcheck mutex and trylock": """
pthread_mutex_t m; int busy;
void *f(void *p) { pthread_mutex_lock(&m); assert(pthread_mutex_lock(&m) == EDEADLK);
  pthread_mutex_unlock(&m); return 0; }
int main(void) { pthread_t a; pthread_mutexattr_t at; pthread_mutexattr_init(&at);
  pthread_mutexattr_settype(&at, PTHREAD_MUTEX_ERRORCHECK); pthread_mutex_init(&m, &at);
  pthread_create(&a, 0, f, 0); int r = pthread_mutex_trylock(&m); assert(r != EBUSY); return 0; }""",
    "condition variable": """
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; int go;
void *f(void *p) { pthread_mutex_lock(&m); if (!go) pthread_cond_wait(&c, &m); assert(go);
  pthread_mutex_unlock(&m); return 0; }
int main(void) { pthread_t a; pthread_create(&a, 0, f, 0); pthread_mutex_lock(&m); go = 1;
  pthread_cond_signal(&c); pthread_mutex_unlock(&m); pthread_join(a, 0); return 0; }""",
    "timed wait": """
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; int go;
void *f(void *p) { struct timespec t = {0, 0}; pthread_mutex_lock(&m); int r = 0;
  while (!go && r == 0) r = pthread_cond_timedwait(&c, &m, &t); assert(r == 0);
  pthread_mutex_unlock(&m); return 0; }
int main(void) { pthread_t a; pthread_create(&a, 0, f, 0); pthread_mutex_lock(&m); go = 1;
  pthread_cond_broadcast(&c); pthread_mutex_unlock(&m); pthread_join(a, 0); return 0; }""",
    "read-write lock": """
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER; int x, seen;
void *f(void *p) { pthread_rwlock_rdlock(&l); int y = x; pthread_rwlock_unlock(&l);
  pthread_rwlock_wrlock(&l); x = y + 1; pthread_rwlock_unlock(&l); return 0; }
int main(void) { pthread_t a, b; pthread_create(&a, 0, f, 0); pthread_create(&b, 0, f, 0);
  pthread_join(a, 0); pthread_join(b, 0); assert(x == 2); return 0; }""",
    "spin lock": """
pthread_spinlock_t l; int x;
void *f(void *p) { pthread_spin_lock(&l); int y = x; pthread_spin_unlock(&l);
  pthread_spin_lock(&l); x = y + 1; pthread_spin_unlock(&l); return 0; }
int main(void) { pthread_t a, b; pthread_spin_init(&l, 0);
  pthread_create(&a, 0, f, 0); pthread_create(&b, 0, f, 0);
  pthread_join(a, 0); pthread_join(b, 0); assert(x == 2); return 0; }""",
    "semaphore": """
sem_t s; int x;
void *f(void *p) { sem_wait(&s); x++; sem_post(&s); return 0; }
int main(void) { pthread_t a; sem_init(&s, 0, 1); pthread_create(&a, 0, f, 0);
  int r = sem_trywait(&s); assert(r == 0); return 0; }""",
    "barrier": """
pthread_barrier_t b; atomic_int last;
void *f(void *p) { int r = pthread_barrier_wait(&b); if (r == PTHREAD_BARRIER_SERIAL_THREAD) last = 2;
  return 0; }
int main(void) { pthread_t a; pthread_barrier_init(&b, 0, 2); pthread_create(&a, 0, f, 0);
  pthread_barrier_wait(&b); pthread_join(a, 0); assert(last != 2); return 0; }""",
    "once": """
pthread_once_t o = PTHREAD_ONCE_INIT; atomic_int x, who;
void init(void) { x = x + 1; }
void *f(void *p) { pthread_once(&o, init); who = 2; return 0; }
int main(void) { pthread_t a; pthread_create(&a, 0, f, 0); pthread_once(&o, init); int w = who;
  assert(x == 1); assert(w != 2); return 0; }""",
    "C11 threads": """
mtx_t m; cnd_t c; int x;
int f(void *p) { mtx_lock(&m); if (x == 0) cnd_wait(&c, &m); assert(x == 1); mtx_unlock(&m); return 7; }
int main(void) { thrd_t a; int r; mtx_init(&m, mtx_plain); cnd_init(&c); thrd_create(&a, f, 0);
  mtx_lock(&m); x = 1; cnd_signal(&c); mtx_unlock(&m); thrd_join(a, &r); assert(r == 7); return 0; }""",
    "keys": """
pthread_key_t k; atomic_int gone;
void end(void *p) { gone = 1; }
void *f(void *p) { pthread_setspecific(k, &gone); return pthread_getspecific(k); }
int main(void) { pthread_t a; pthread_key_create(&k, end); pthread_create(&a, 0, f, 0);
  int g = gone; assert(!g); pthread_join(a, 0); return 0; }""",
    "result of a thread": """
int x;
void *f(void *p) { x = *(int *)p; pthread_exit((void *)41L); }
int main(void) { pthread_t a; int v = 3; void *r; pthread_create(&a, 0, f, &v); pthread_join(a, &r);
  assert((long)r + x != 44); return 0; }""",
    "atomics": """
atomic_int x; int y;
void *f(void *p) { int old = atomic_load(&x); atomic_store(&x, old + 1); __sync_fetch_and_add(&y, 1);
  return 0; }
int main(void) { pthread_t a, b; pthread_create(&a, 0, f, 0); pthread_create(&b, 0, f, 0);
  pthread_join(a, 0); pthread_join(b, 0); assert(y == 2); assert(x == 2); return 0; }""",
    "weak compare and swap": """
atomic_int x;
int main(void) { int old = 0; assert(atomic_compare_exchange_weak(&x, &old, 1)); return 0; }""",
    "weak compare and swap in a section": """
atomic_int l; int c, d; void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void);
void *f(void *p) { c = 1; d = 1; c = 2; return 0; }
int main(void) { pthread_t a; int old = 0; pthread_create(&a, 0, f, 0);
  __VERIFIER_atomic_begin(); atomic_compare_exchange_weak(&l, &old, 1); __VERIFIER_atomic_end();
  int r = c; assert(r != 1); pthread_join(a, 0); return 0; }""",
    "inputs": """
int x; int unknown(int); _Bool __VERIFIER_nondet_bool(void);
void *f(void *p) { x = __VERIFIER_nondet_uchar(); return 0; }
int main(void) { pthread_t a; pthread_create(&a, 0, f, 0); _Bool b = __VERIFIER_nondet_bool();
  __VERIFIER_assume(b); int y = x; pthread_join(a, 0); int limit = unknown(2);
  assert(!(b && y == 99 && limit == 0)); return 0; }""",
    "atomic sections": """
int x, y;
void __VERIFIER_atomic_both(void) { x++; y++; }
void *f(void *p) { __VERIFIER_atomic_both(); __VERIFIER_atomic_begin(); x++; y++;
  __VERIFIER_atomic_end(); return 0; }
int main(void) { pthread_t a; pthread_create(&a, 0, f, 0); __VERIFIER_atomic_begin(); int d = x - y;
  int s = x; __VERIFIER_atomic_end(); assert(d == 0); assert(s != 1); return 0; }""",
    "order of operands": """
int i = 1, j = 1;
void *f(void *p) { for (int k = 0; k < 2; k++) i += j; return 0; }
void *g(void *p) { for (int k = 0; k < 2; k++) j += i; return 0; }
int main(void) { pthread_t a, b; pthread_create(&a, 0, f, 0); pthread_create(&b, 0, g, 0);
  pthread_join(a, 0); pthread_join(b, 0); assert(i < 8 && j < 8); return 0; }""",
    "structs and the heap": """
struct pair { int a, b; struct pair *next; }; struct pair *head;
void *f(void *p) { struct pair *n = malloc(sizeof *n); n->a = 1; n->b = 0; n->next = head; head = n;
  n->b = 1; return 0; }
int main(void) { pthread_t a; pthread_create(&a, 0, f, 0); struct pair *h = head;
  if (h) { int b = h->b; assert(b == 1); } pthread_join(a, 0); free(head); return 0; }""",
    "static locals": """
int next(void) { static int count; count = count + 1; return count; }
int one, two;
void *f(void *p) { one = next(); return 0; }
int main(void) { pthread_t a; pthread_create(&a, 0, f, 0); two = next(); pthread_join(a, 0);
  assert(one != two); return 0; }""",
    "copies by the library": """
char text[4] = "no", copy[4];
void *f(void *p) { memcpy(text, "yes", 4); return 0; }
int main(void) { pthread_t a; pthread_create(&a, 0, f, 0); memcpy(copy, text, 4); pthread_join(a, 0);
  assert(strcmp(copy, "yes") != 0); return 0; }""",
    "handlers at exit": """
int x;
void end(void) { assert(x != 1); }
void *f(void *p) { x = 1; return 0; }
int main(void) { pthread_t a; atexit(end); pthread_create(&a, 0, f, 0); pthread_join(a, 0); exit(0); }""",
    "detached thread": """
atomic_int x;
void *f(void *p) { x = 1; return 0; }
int main(void) { pthread_t a; pthread_create(&a, 0, f, 0); pthread_detach(a); assert(x == 0); return 0; }""",
}

OTHERS = {
    "race": (
        "no-data-race",
        """
int x;
void *f(void *p) { x = 1; return 0; }
int main(void) { pthread_t a; pthread_create(&a, 0, f, 0); int y = x; pthread_join(a, 0); return y; }""",
    ),
    "race on the heap": (
        "no-data-race",
        """
struct s { int a, b; } *p;
void *f(void *q) { p->b = 1; return 0; }
int main(void) { p = calloc(1, sizeof *p); pthread_t a; pthread_create(&a, 0, f, 0);
  p->a = 2; p->b = 2; pthread_join(a, 0); free(p); return 0; }""",
    ),
    "deadlock": (
        "no-deadlock",
        """
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
void *f(void *p) { pthread_mutex_lock(&n); pthread_mutex_lock(&m); return 0; }
int main(void) { pthread_t a; pthread_create(&a, 0, f, 0); pthread_mutex_lock(&m);
  pthread_mutex_lock(&n); pthread_mutex_unlock(&n); pthread_mutex_unlock(&m); return 0; }""",
    ),
    "deadlock beside a loop": (
        "no-deadlock",
        """
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER; atomic_int x;
void *f(void *p) { pthread_mutex_lock(&n); pthread_mutex_lock(&m); pthread_mutex_unlock(&m);
  pthread_mutex_unlock(&n); return 0; }
void *g(void *p) { pthread_mutex_lock(&m); pthread_mutex_lock(&n); pthread_mutex_unlock(&n);
  pthread_mutex_unlock(&m); return 0; }
int main(void) { pthread_t a, b; pthread_create(&a, 0, f, 0); pthread_create(&b, 0, g, 0);
  while (1) x = 1 - x; }""",
    ),
    "lost signal": (
        "no-deadlock",
        """
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER;
void *f(void *p) { pthread_mutex_lock(&m); pthread_cond_signal(&c); pthread_mutex_unlock(&m); return 0; }
int main(void) { pthread_t a; pthread_create(&a, 0, f, 0); pthread_mutex_lock(&m);
  pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); pthread_join(a, 0); return 0; }""",
    ),
    "overflow": (
        "no-overflow",
        """
int x = 2147483646;
void *f(void *p) { x = x + 1; return 0; }
int main(void) { pthread_t a; pthread_create(&a, 0, f, 0); x = x + 1; pthread_join(a, 0); return 0; }""",
    ),
    "use after free": (
        "valid-memsafety",
        """
int *p;
void *f(void *q) { *p = 1; return 0; }
int main(void) { p = malloc(sizeof *p); pthread_t a; pthread_create(&a, 0, f, 0); free(p);
  pthread_join(a, 0); return 0; }""",
    ),
    "double free": (
        "valid-memsafety",
        """
int *p;
void *f(void *q) { free(p); return 0; }
int main(void) { p = malloc(sizeof *p); pthread_t a; pthread_create(&a, 0, f, 0); free(p);
  pthread_join(a, 0); return 0; }""",
    ),
    "null pointer": (
        "valid-memsafety",
        """
int *_Atomic p; int x;
void *f(void *q) { p = 0; return 0; }
int main(void) { p = &x; pthread_t a; pthread_create(&a, 0, f, 0); if (p) *p = 1;
  pthread_join(a, 0); return 0; }""",
    ),
    "leak": (
        "valid-memsafety",
        """
int *_Atomic p;
void *f(void *q) { p = malloc(4); return 0; }
int main(void) { pthread_t a; pthread_create(&a, 0, f, 0); p = malloc(4); pthread_join(a, 0);
  free(p); p = 0; return 0; }""",
    ),
    "unlock by another": (
        "lock-misuse",
        """
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *f(void *p) { pthread_mutex_unlock(&m); return 0; }
int main(void) { pthread_t a; pthread_create(&a, 0, f, 0); pthread_mutex_lock(&m);
  pthread_join(a, 0); return 0; }""",
    ),
    "call that must not be": (
        "unreach-call",
        """
extern void reach_error(void); int x;
void *f(void *p) { if (x) reach_error(); return 0; }
int main(void) { pthread_t a; pthread_create(&a, 0, f, 0); x = 1; pthread_join(a, 0); return 0; }""",
    ),
    "call of a defined function": (
        "unreach-call",
        """
void reach_error(void) { assert(0); } int x;
void *f(void *p) { if (x) reach_error(); return 0; }
int main(void) { pthread_t a; pthread_create(&a, 0, f, 0); x = 1; pthread_join(a, 0); return 0; }""",
    ),
}
