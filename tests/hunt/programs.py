"""Small programs, and what a hunt has to say about them."""

from __future__ import annotations

HEAD = """\
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static int x;
static atomic_int a;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s;
"""

_TWO = """
int main(void) { pthread_t t, u; sem_init(&s, 0, 0);
  pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0);
  pthread_join(t, 0); pthread_join(u, 0); %s return 0; }
"""


def two(functions: str, end: str = "") -> str:
    return HEAD + functions + _TWO % end


# Text of the failure that is found, whatever the engine.
FAILING = {
    "lost update": (
        "assertions",
        two(
            "void *f(void *p) { int y = a; a = y + 1; return 0; }\n#define g f",
            "assert(a == 2);",
        ),
        "assertion 'a == 2' failed",
    ),
    "race": (
        "no-data-race",
        two("void *f(void *p) { x = 1; return 0; }\nvoid *g(void *p) { return (void *)(long)x; }"),
        "write of x at",
    ),
    "deadlock": (
        "no-deadlock",
        two(
            "void *f(void *p) { pthread_mutex_lock(&m); pthread_mutex_lock(&n);"
            " pthread_mutex_unlock(&n); pthread_mutex_unlock(&m); return 0; }\n"
            "void *g(void *p) { pthread_mutex_lock(&n); pthread_mutex_lock(&m);"
            " pthread_mutex_unlock(&m); pthread_mutex_unlock(&n); return 0; }"
        ),
        "waits for a mutex",
    ),
    "lost wake-up": (
        "no-deadlock",
        two(
            "void *f(void *p) { pthread_mutex_lock(&m); if (!a) { pthread_mutex_unlock(&m);"
            " pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); }"
            " pthread_mutex_unlock(&m); return 0; }\n"
            "void *g(void *p) { pthread_mutex_lock(&m); a = 1; pthread_cond_signal(&c);"
            " pthread_mutex_unlock(&m); return 0; }"
        ),
        "waits for a condition variable",
    ),
    "use after free": (
        "valid-access",
        two(
            "static int *_Atomic q;\n"
            "void *f(void *p) { q = malloc(4); int *r = q; if (a) *r = 1; return 0; }\n"
            "void *g(void *p) { a = 1; if (q) free(q); return 0; }"
        ),
        "in a heap object that is freed",
    ),
    "signal to what is freed": (
        "valid-access",
        two(
            "static struct future { pthread_mutex_t m; pthread_cond_t c; int done; } *u;\n"
            "void *f(void *p) { pthread_mutex_lock(&u->m); u->done = 1; pthread_mutex_unlock(&u->m);"
            " pthread_cond_signal(&u->c); return 0; }\n"
            "void *g(void *p) { pthread_mutex_lock(&u->m); while (!u->done)"
            " pthread_cond_wait(&u->c, &u->m); pthread_mutex_unlock(&u->m); free(u); return 0; }"
        ).replace("int main(void) {", "int main(void) { u = calloc(1, sizeof *u);")
        .replace("pthread_t t, u;", "pthread_t t, v;")
        .replace("&u, 0, g", "&v, 0, g")
        .replace("pthread_join(u, 0)", "pthread_join(v, 0)"),
        "in a heap object that is freed",
    ),
    "double free": (
        "valid-access",
        two(
            "static int *_Atomic q;\n"
            "void *f(void *p) { int *r = q; if (r) { q = 0; free(r); } return 0; }\n#define g f"
        ).replace("sem_init(&s, 0, 0);", "q = malloc(4);"),
        "freed already",
    ),
    "null pointer": (
        "assertions",
        two("static int *_Atomic q;\nvoid *f(void *p) { q = &x; return 0; }\n"
            "void *g(void *p) { int *r = q; return (void *)(long)strlen((char *)r); }"),
        "signal 11",
    ),
    "abort": (
        "assertions",
        two("void *f(void *p) { a = 1; return 0; }\nvoid *g(void *p) { if (a) abort(); return 0; }"),
        "abort is called",
    ),
    "time-out": (
        "assertions",
        two(
            "void *f(void *p) { struct timespec t; clock_gettime(CLOCK_REALTIME, &t);"
            " t.tv_sec += 3600; pthread_mutex_lock(&m); int r = 0;"
            " while (!x && !r) r = pthread_cond_timedwait(&c, &m, &t);"
            " struct timespec now; clock_gettime(CLOCK_REALTIME, &now);"
            " if (r) { assert(r == ETIMEDOUT && now.tv_sec >= t.tv_sec); abort(); }"
            " pthread_mutex_unlock(&m); return 0; }\n"
            "void *g(void *p) { sleep(60); pthread_mutex_lock(&m); x = 1;"
            " pthread_cond_signal(&c); pthread_mutex_unlock(&m); return 0; }"
        ),
        "abort is called",
    ),
    "which waiter is signalled": (
        "assertions",
        two(
            "static int order;\n"
            "void *w(long k) { pthread_mutex_lock(&m); x++; pthread_cond_wait(&c, &m);"
            " if (!order) order = k; pthread_mutex_unlock(&m); return 0; }\n"
            "void *f(void *p) { return w(1); }\nvoid *g(void *p) { return w(2); }",
        ).replace(
            "pthread_join(t, 0);",
            "for (int k = 0; k < 2;) { pthread_mutex_lock(&m); if (x >= 2 - k) {"
            " pthread_cond_signal(&c); x--; k++; } pthread_mutex_unlock(&m); sched_yield(); }"
            " pthread_join(t, 0);",
        ).replace("return 0; }\n", "return 0; }\n").replace(
            "pthread_join(u, 0); ", "pthread_join(u, 0); assert(order == 1); "
        ).replace("#include <signal.h>", "#include <sched.h>\n#include <signal.h>"),
        "assertion 'order == 1' failed",
    ),
}  # fmt: skip

# What `dpor` finds nothing wrong with, in all schedules.
FINE = {
    "locked": two(
        "void *f(void *p) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }\n"
        "#define g f",
        "assert(x == 2);",
    ),
    "semaphore": two(
        "void *f(void *p) { x = 1; sem_post(&s); return 0; }\n"
        "void *g(void *p) { sem_wait(&s); assert(x == 1); return 0; }"
    ),
    "condition": two(
        "void *f(void *p) { pthread_mutex_lock(&m); while (!x) pthread_cond_wait(&c, &m);"
        " pthread_mutex_unlock(&m); return 0; }\n"
        "void *g(void *p) { pthread_mutex_lock(&m); x = 1; pthread_cond_broadcast(&c);"
        " pthread_mutex_unlock(&m); return 0; }"
    ),
    "trylock": two(
        "void *f(void *p) { if (pthread_mutex_trylock(&m) == 0) { x++; pthread_mutex_unlock(&m); }"
        " return 0; }\n#define g f",
        "assert(x == 1 || x == 2);",
    ),
    "atomics": two(
        "void *f(void *p) { a++; return 0; }\n#define g f", "assert(a == 2);"
    ),
}  # fmt: skip

# The exit code, what is said, and options.
DIFFICULT = {
    "forks": (
        3,
        "the program meets the world outside",
        HEAD + "#include <sys/wait.h>\nint main(void) { int st; pid_t p = fork();"
        " if (!p) { pthread_mutex_lock(&m); _exit(3); } waitpid(p, &st, 0);"
        " assert(WEXITSTATUS(st) == 3); return 0; }",
        ("--runs", "4", "--engine", "dpor"),
    ),
    "executes another program": (
        3,
        "executes /bin/true",
        HEAD + 'int main(void) { execl("/bin/true", "true", (char *)0); return 0; }',
        ("--runs", "2"),
    ),
    "crashes before main": (
        1,
        "signal 11",
        HEAD + "__attribute__((constructor)) void b(void) { raise(SIGSEGV); }\n"
        "int main(void) { return 0; }",
        ("--runs", "2", "--property", "assertions"),
    ),
    "never ends": (
        3,
        "no run comes to its end",
        HEAD + "int main(void) { for (;;) a++; }",
        ("--timeout", "0.2", "--max-operations", "50000000", "--runs", "9"),
    ),
    "has no end to its operations": (
        3,
        "more than 1000 visible operations",
        HEAD + "int main(void) { for (;;) a++; }",
        ("--max-operations", "1000", "--runs", "2"),
    ),
    "spins unseen": (
        3,
        "endless",
        HEAD + 'int main(void) { for (;;) __asm__ volatile(""); }',
        ("--timeout", "0.2", "--runs", "1"),
    ),
    "closes our descriptors": (
        1,
        "assertion 'a != 1' failed",
        two(
            "void *f(void *p) { for (int i = 0; i < 1024; i++) close(i); a = 1; return 0; }\n"
            "void *g(void *p) { assert(a != 1); return 0; }"
        ),
        ("--property", "assertions"),
    ),
    "has many threads": (
        3,
        "limit of 1 runs",
        HEAD + "void *f(void *p) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }"
        "\nint main(void) { pthread_t t[500]; for (int i = 0; i < 500; i++)"
        " pthread_create(&t[i], 0, f, 0); for (int i = 0; i < 500; i++) pthread_join(t[i], 0);"
        " assert(x == 500); return 0; }",
        ("--runs", "1", "--engine", "random"),
    ),
    "handles signals": (
        0,
        "no failure",
        HEAD + "static volatile sig_atomic_t seen; static void h(int k) { a++; seen = 1; }\n"
        "int main(void) { signal(SIGUSR1, h); raise(SIGUSR1); assert(seen && a == 1); return 0; }",
        ("--engine", "dpor"),
    ),
    "leaves by _exit": (
        0,
        "no failure",
        HEAD + "void *f(void *p) { sem_wait(&s); return 0; }\nint main(void) { pthread_t t;"
        " pthread_create(&t, 0, f, 0); _exit(7); }",
        ("--engine", "dpor",),
    ),
    "needs a terminal": (
        0,
        "no failure",
        HEAD + "int main(void) { char b[9]; if (!isatty(0) || read(0, b, 9) <= 0) return 1;"
        " abort(); }",
        ("--engine", "dpor", "--runs", "5"),
    ),
}  # fmt: skip
