"""Whole C programs: what they print, and the verdicts on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.c import load
from plait.c.options import FrontEndOptions
from plait.model.program import Program
from plait.model.properties import from_names
from plait.model.types import DataModel
from plait.semantics.explore import Exploration, ExploreOptions, Verdict, explore
from plait.semantics.run import run

HEADERS = """
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
"""


def program(directory: Path, text: str, *properties: str, ilp32: bool = False) -> Program:
    path = directory / "program.c"
    path.write_text(HEADERS + text)
    model = DataModel.ILP32 if ilp32 else DataModel.LP64
    options = FrontEndOptions(data_model=model)
    return load([str(path)], options, from_names(list(properties)))


def explored(directory: Path, text: str, *properties: str) -> Exploration:
    built = program(directory, text, *properties)
    specification = from_names(list(properties))
    found = explore(built, specification, ExploreOptions(max_states=200_000))
    other = explore(built, specification, ExploreOptions(max_states=200_000, reduction=False))
    assert found.verdict is other.verdict, (found.reason, other.reason)
    if found.schedule is not None and other.schedule is not None:
        assert len(found.schedule) == len(other.schedule)
    return found


@pytest.mark.parametrize("ilp32", [False, True])
def test_sequential_program(tmp_path: Path, ilp32: bool) -> None:
    text = r"""
    struct node { int value; struct node *next; };
    static int table[5000];
    static unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    int main(void) {
        struct node *list = 0;
        for (int i = 0; i < 5; i++) {
            struct node *item = malloc(sizeof *item);
            item->value = i * i; item->next = list; list = item;
        }
        for (struct node *n = list; n; n = n->next) printf("%d ", n->value);
        for (int i = 0; i < 5000; i++) table[i] = i - 2500;
        long long sum = 0;
        for (int i = 0; i < 5000; i++) sum += table[i] / 7 + (table[i] >> 3) + table[i] % 5;
        double d = 0.1f; d += 1e-3;
        printf("%u %lld %.17g %c%s\n", fib(15), sum, d, 'x', "yz");
        return 7;
    }
    """
    built = program(tmp_path, text, ilp32=ilp32)
    execution = run(built, from_names([]), seed=1)
    assert execution.ending == "exit", execution.outcome.message
    table = [i - 2500 for i in range(5000)]
    total = sum(int(t / 7) + (t >> 3) + (t - 5 * int(t / 5)) for t in table)
    wanted = f"16 9 4 1 0 610 {total} 0.10100000149011612 xyz\n"
    assert execution.output.decode() == wanted
    assert execution.exit_code == 7


COUNTER = """
static int x; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *p) {
    %s int t = x; x = t + 1; %s
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0); pthread_create(&b, 0, work, 0);
    pthread_join(a, 0); pthread_join(b, 0);
    assert(x == 2);
    return 0;
}
"""
LOCKED = COUNTER % ("pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);")
UNLOCKED = COUNTER % ("", "")


def test_counter(tmp_path: Path) -> None:
    assert explored(tmp_path, LOCKED).verdict is Verdict.TRUE
    assert explored(tmp_path, LOCKED, "no-data-race").verdict is Verdict.TRUE
    assert explored(tmp_path, LOCKED, "no-deadlock").verdict is Verdict.TRUE
    assert explored(tmp_path, LOCKED, "valid-memsafety").verdict is Verdict.TRUE
    found = explored(tmp_path, UNLOCKED)
    assert found.verdict is Verdict.FALSE
    race = explored(tmp_path, UNLOCKED, "no-data-race")
    assert race.verdict is Verdict.FALSE
    assert race.violation is not None and "'x'" in race.violation.message


CONDITION = """
static int ready; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static void *signaller(void *p) {
    pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m);
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, signaller, 0);
    pthread_mutex_lock(&m);
    %s pthread_cond_wait(&c, &m);
    assert(ready);
    pthread_mutex_unlock(&m);
    pthread_join(a, 0);
    return 0;
}
"""


def test_lost_wake_up(tmp_path: Path) -> None:
    good, careless = CONDITION % "while (!ready)", CONDITION % ""
    assert explored(tmp_path, good, "no-deadlock").verdict is Verdict.TRUE
    assert explored(tmp_path, good).verdict is Verdict.TRUE
    assert explored(tmp_path, careless).verdict is Verdict.FALSE  # a spurious wake-up

    path = tmp_path / "program.c"
    path.write_text(HEADERS + careless)
    specification = from_names(["no-deadlock"])
    options = FrontEndOptions(spurious_wakeups=False)
    found = explore(load([str(path)], options, specification), specification)
    assert found.verdict is Verdict.FALSE


def test_leak_and_use_after_free(tmp_path: Path) -> None:
    def kind(body: str) -> str:
        text = f"int *global; int main(void) {{ int *p = malloc(4); {body} return 0; }}"
        found = explored(tmp_path, text, "valid-memsafety")
        return found.violation.kind if found.violation else found.verdict.value

    assert kind("free(p);") == "true"
    assert kind("*p = 1;") == "valid-memtrack"
    assert kind("global = p;") == "true"
    assert kind("free(p); *p = 1;") == "valid-deref"
    assert kind("free(p); free(p);") == "valid-free"
    assert kind("p[1] = 1; free(p);") == "valid-deref"
    assert kind("exit(0);") == "true"  # p is still in scope


def test_uninitialised_variables(tmp_path: Path) -> None:
    text = "int main(void) { _Bool b; unsigned char c; int i = c; assert(i != 200); return b; }"
    assert explored(tmp_path, text).verdict is Verdict.FALSE
