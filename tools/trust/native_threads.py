"""The pthread model against the real library: what native runs print, exploration must find too.

A scenario is a C program that prints one line and returns from main after all its threads are
done. It is run thousands of times in one process: main is renamed, and its static memory is put
back to what it was before each run. Random delays stand where the scenario says JITTER, and
before the primitives, so that rare interleavings show up.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass

from trust import native

_HEAD = """\
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct driver_line { struct driver_line *next; long count; char text[]; };
static struct driver_state {
    struct driver_line *lines;
    unsigned threads;
    size_t used;
    char buffer[4000];
} *driver;
static __thread unsigned driver_random;
static void driver_jitter(void) {
    if (!driver_random) {
        unsigned count = __atomic_add_fetch(&driver->threads, 1, __ATOMIC_RELAXED);
        driver_random = (count * 2654435761u ^ (unsigned)clock() << 7) | 1;
    }
    driver_random ^= driver_random << 13;
    driver_random ^= driver_random >> 17;
    driver_random ^= driver_random << 5;
    unsigned choice = driver_random >> 16 & 63;
    if (choice < 10) sched_yield();
    else if (choice < 20) for (volatile unsigned i = driver_random >> 4 & 2047; i; i--) ;
    else if (choice < 22) {  /* no cancellation point of the scenario */
        int state;
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
        usleep(driver_random >> 8 & 31);
        pthread_setcancelstate(state, &state);
    }
}
static int driver_print(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int count = vsnprintf(driver->buffer + driver->used, sizeof driver->buffer - driver->used,
                          format, arguments);
    va_end(arguments);
    driver->used += count;
    return count;
}
#define JITTER driver_jitter()
#define printf driver_print
#define main scenario_main
#define pthread_mutex_lock(lock) (driver_jitter(), (pthread_mutex_lock)(lock))
#define pthread_mutex_trylock(lock) (driver_jitter(), (pthread_mutex_trylock)(lock))
#define pthread_mutex_unlock(lock) (driver_jitter(), (pthread_mutex_unlock)(lock))
#define pthread_join(thread, result) (driver_jitter(), (pthread_join)(thread, result))
#define sem_wait(semaphore) (driver_jitter(), (sem_wait)(semaphore))
#define sem_post(semaphore) (driver_jitter(), (sem_post)(semaphore))
#define pthread_cond_signal(condition) (driver_jitter(), (pthread_cond_signal)(condition))
"""
_TAIL = """
#undef printf
#undef main
extern char __data_start[], _edata[], __bss_start[], _end[];
int main(int count, char **arguments) {
    long runs = atol(arguments[1]);
    size_t data = _edata - __data_start, bss = _end - __bss_start;
    char *saved = malloc(data + bss);
    driver = calloc(1, sizeof *driver);
    memcpy(saved, __data_start, data);
    memcpy(saved + data, __bss_start, bss);
    for (long run = 0; run < runs; run++) {
        memcpy(__data_start, saved, data);
        memcpy(__bss_start, saved + data, bss);
        driver->used = 0;
        scenario_main();
        driver->buffer[driver->used] = 0;
        struct driver_line *line = driver->lines;
        while (line && strcmp(line->text, driver->buffer)) line = line->next;
        if (!line) {
            line = malloc(sizeof *line + driver->used + 1);
            line->next = driver->lines;
            line->count = 0;
            strcpy(line->text, driver->buffer);
            driver->lines = line;
        }
        line->count++;
    }
    for (struct driver_line *line = driver->lines; line; line = line->next)
        printf("%ld %s", line->count, line->text);
    fflush(stdout);
    _exit(0);
}
"""


@dataclass(slots=True, frozen=True)
class Observation:
    """How often each output was seen in native runs of a scenario."""

    counts: dict[str, int]

    @property
    def outputs(self) -> frozenset[str]:
        return frozenset(self.counts)


def observe(source: str, runs: int, timeout: float = 120) -> Observation:
    """Run a scenario `runs` times with gcc and the real C library."""
    headers = [line for line in source.splitlines() if line.startswith("#include")]
    # The scenario's headers come first: the driver's macros must not touch their declarations.
    text = "\n".join(["#define _GNU_SOURCE", *headers, "#include <time.h>", _HEAD, source, _TAIL])
    with tempfile.TemporaryDirectory(prefix="plait-trust-") as directory:
        options = ("-O1", "-fwrapv", "-fno-pie", "-no-pie")
        executable = native.build(text, directory, options=options)
        run = native.execute(executable, [str(runs)], timeout=timeout)
    if run.status != 0:
        raise native.NativeError(f"the scenario ends with status {run.status}: {run.errors}")
    counts: dict[str, int] = {}
    for line in run.output.splitlines():
        count, _, rest = line.partition(" ")
        counts[rest + "\n"] = int(count)
    return Observation(counts)


def scenarios(directory: str) -> dict[str, str]:
    """Name and source of each scenario in a directory."""
    found: dict[str, str] = {}
    for name in sorted(os.listdir(directory)):
        if name.endswith(".c"):
            with open(os.path.join(directory, name), encoding="utf-8") as file:
                found[name.removesuffix(".c")] = file.read()
    return found
