"""Deadlocks: in `f` and `g`, two threads that main joins, somebody waits for ever or nobody does.
A third part is what main does before that, the fourth what it does before it starts them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.engines.impact.helpers import loaded, outcome_of
from tests.engines.impact.test_critical_sections import HEAD, LOCK, UNLOCK

from plait.engines.impact.engine import verify
from plait.engines.impact.settings import Reduction, Settings
from plait.engines.interface import Answer, Counterexample, Outcome
from plait.evidence.confirm import confirmed
from plait.evidence.replay import ReplayFailed
from plait.model.program import Program
from plait.model.properties import from_names
from plait.semantics.explore import ExploreOptions, explore

DEADLOCKS = from_names(["no-deadlock"])
MORE = """#include <semaphore.h>
#include <stdlib.h>
extern _Bool __VERIFIER_nondet_bool(void);
sem_t s, r;
"""
OTHER, FREE = "pthread_mutex_lock(&n);", "pthread_mutex_unlock(&n);"

STUCK = {
    "two locks in two orders": (
        f"{LOCK} {OTHER} {FREE} {UNLOCK}",
        f"{OTHER} {LOCK} {UNLOCK} {FREE}",
    ),
    "a lock that is never released": (f"{LOCK} x = 1;", f"{LOCK} {UNLOCK}"),
    "nobody posts": ("sem_wait(&s);", "x = 1;"),
    "a post that may be missing": ("sem_wait(&s);", "if (__VERIFIER_nondet_bool()) sem_post(&s);"),
    "two wait while a third runs on": (
        f"{LOCK} sem_wait(&s); {UNLOCK}",
        f"if (__VERIFIER_nondet_bool()) while (1) y = y; {LOCK} sem_post(&s); {UNLOCK}",
    ),
    "a wait, with a lock, for what needs the lock": (
        f"{LOCK} sem_wait(&s); {UNLOCK}",
        f"{LOCK} sem_post(&s); {UNLOCK}",
    ),
    "two that wait for each other while main runs on": (
        "sem_wait(&s); sem_post(&r);",
        "sem_wait(&r); sem_post(&s);",
        "while (1) y = !y;",
    ),
    "a value that decides whether somebody posts, while main runs on": (
        "sem_wait(&s);",
        "if (z) sem_post(&s);",
        "while (1) y = !y;",
        "z = __VERIFIER_nondet_bool();",
    ),
    "an assumption that fails behind the post, while main runs on": (
        "sem_wait(&s);",
        "sem_post(&s); __VERIFIER_assume(0);",
        "while (1) y = !y;",
    ),
    "a value for which an assumption fails before the post, while main runs on": (
        "sem_wait(&s);",
        "__VERIFIER_assume(z); sem_post(&s);",
        "z = z; while (1) y = !y;",
        "z = __VERIFIER_nondet_bool();",
    ),
    "a section that never ends": (f"{LOCK} while (1) y = !y; {UNLOCK}", f"{LOCK} {UNLOCK}"),
    "a wait in the middle of a section": (
        f"{LOCK} x = 1; sem_wait(&s); {UNLOCK}",
        f"{LOCK} x = 2; {UNLOCK} sem_post(&s);",
    ),
}
FINE = {
    "a lock": (f"{LOCK} x = 1; {UNLOCK}", f"{LOCK} x = 2; {UNLOCK}"),
    "two locks in one order": (
        f"{LOCK} {OTHER} {FREE} {UNLOCK}",
        f"{LOCK} {OTHER} {FREE} {UNLOCK}",
    ),
    "a semaphore": ("sem_wait(&s);", "sem_post(&s);"),
    "the end of the process": ("sem_wait(&s);", "exit(0);"),
    "a loop of any number of rounds": (
        f"while (__VERIFIER_nondet_bool()) {{ {LOCK} x = 1; {UNLOCK} }}",
        f"{LOCK} x = 2; {UNLOCK}",
    ),
    "an input that somebody can choose": (
        "sem_wait(&s);",
        "while (__VERIFIER_nondet_bool()) y = 1; sem_post(&s);",
    ),
}
# What is behind the first step of an atomic section that is not executed as one block.
OF_SEVERAL_STEPS = (
    "static int h[4]; __VERIFIER_atomic_begin(); for (int i = 0; i < 4; i++) h[i] = i;"
    " { _Bool i = __VERIFIER_nondet_bool(); __VERIFIER_assume(i); } sem_wait(&s);"
    " __VERIFIER_atomic_end();"
)
# What is left open: somebody waits for ever only where an assumption fails later.
OPEN = {
    "an assumption that fails before": (
        "sem_wait(&s);",
        "x = 1; __VERIFIER_assume(0); sem_post(&s);",
    ),
}


def outcome(folder: Path, parts: tuple[str, ...], reduction: Reduction) -> tuple[Program, Outcome]:
    one, other, main, first = (*parts, "", "")[:4]
    path = folder / "program.c"
    path.write_text(
        f"""{HEAD}{MORE}
        void *f(void *unused) {{ {one} return 0; }}
        void *g(void *unused) {{ {other} return 0; }}
        int main(void) {{ pthread_t a, b; sem_init(&s, 0, 0); sem_init(&r, 0, 0); {first}
          pthread_create(&a, 0, f, 0); pthread_create(&b, 0, g, 0); {main}
          pthread_join(a, 0); pthread_join(b, 0); return 0; }}"""
    )
    program = loaded(path, DEADLOCKS)
    found = outcome_of(program, Settings(reduction), specification=DEADLOCKS)
    return program, found


@pytest.mark.parametrize("reduction", [Reduction.MOVERS, Reduction.DYNAMIC])
@pytest.mark.parametrize("name", STUCK)
def test_stuck(name: str, reduction: Reduction, tmp_path: Path) -> None:
    _, found = outcome(tmp_path, STUCK[name], reduction)
    assert found.answer is Answer.VIOLATED, found.reason


def test_a_wait_in_the_middle_of_a_section(tmp_path: Path) -> None:
    program, found = outcome(tmp_path, (OF_SEVERAL_STEPS, "x = 1;"), Reduction.MOVERS)
    assert explore(program, DEADLOCKS).verdict.value == "false"
    assert found.answer is not Answer.HOLDS


@pytest.mark.parametrize("name", FINE)
def test_fine(name: str, tmp_path: Path) -> None:
    program, found = outcome(tmp_path, FINE[name], Reduction.MOVERS)
    assert found.answer is Answer.HOLDS, found.reason
    assert found.proof is None
    limits = ExploreOptions(max_states=20_000)
    assert explore(program, DEADLOCKS, limits).verdict.value == "true"


@pytest.mark.parametrize("name", OPEN)
def test_open(name: str, tmp_path: Path) -> None:
    _, found = outcome(tmp_path, OPEN[name], Reduction.MOVERS)
    assert found.answer is Answer.UNKNOWN
    assert "go on" in found.reason


# A thread that has done something others may see fails an assumption, while somebody waits; whether
# that one can go on is not found out, as the third thread gets to an access that has no verdict.
BEHIND_AN_ASSUMPTION = """#include <pthread.h>
#include <stdlib.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *f(void *unused) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 0; }
void *g(void *unused) { pthread_mutex_t *n; rand(); pthread_mutex_lock(n); return 0; }
int main(void) { pthread_t a, b;
  pthread_create(&a, 0, f, 0); pthread_create(&b, 0, g, 0);
  pthread_join(a, 0); pthread_join(b, 0); return 0; }
"""


def test_where_an_assumption_has_failed_nothing_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(BEHIND_AN_ASSUMPTION)
    program = loaded(path, DEADLOCKS)
    problems: list[str] = []

    def confirm(found: Counterexample) -> str:
        try:
            confirmed(program, DEADLOCKS, found)
        except ReplayFailed as error:
            problems.append(str(error))
            return "no deadlock"
        return ""

    found = verify(program, DEADLOCKS, Settings(), time.monotonic() + 20, confirm=confirm)
    assert found.answer is Answer.UNKNOWN
    assert "an assumption fails on the way" not in problems
