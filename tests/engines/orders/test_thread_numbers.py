"""Threads are numbered by the unrolling. A program that can tell gets no proof, unless the numbers
are those that the threads have in every execution."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.engines.interface import Answer
from plait.engines.orders.engine import check
from plait.model.properties import Specification
from plait.semantics.explore import explore

LOOK = """#include <assert.h>
#include <pthread.h>
#include <string.h>
_Bool __VERIFIER_nondet_bool(void);
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int owner(void) { LOOK_AT_IT }
void *look(void *unused) {
  pthread_mutex_lock(&mutex);
  assert(owner() != NUMBER);
  pthread_mutex_unlock(&mutex);
  return 0;
}
void *idle(void *unused) { return 0; }
void *make_look(void *unused) { pthread_t t; pthread_create(&t, 0, look, 0); return 0; }
void *make_idle(void *unused) { pthread_t t; pthread_create(&t, 0, idle, 0); return 0; }
int main(void) { pthread_t a, b; START_THREADS return 0; }
"""
READ = {
    "cast": "return *(int *)&mutex;",
    "copy": "int seen; memcpy(&seen, &mutex, sizeof seen); return seen;",
}
TWO_CREATORS = "pthread_create(&a, 0, make_look, 0); pthread_create(&b, 0, make_idle, 0);"
MAYBE_ONE_LESS = "if (__VERIFIER_nondet_bool()) pthread_create(&a, 0, idle, 0);"
MAYBE_ONE_LESS += " pthread_create(&b, 0, look, 0);"
IN_ORDER = "pthread_create(&a, 0, idle, 0); pthread_create(&b, 0, look, 0);"


def program_of(folder: Path, create: str, number: int, read: str) -> object:
    path = folder / "program.c"
    text = LOOK.replace("LOOK_AT_IT", READ[read]).replace("START_THREADS", create)
    path.write_text(text.replace("NUMBER", str(number)))
    return load([str(path)], FrontEndOptions(), Specification())


@pytest.mark.parametrize("read", READ)
@pytest.mark.parametrize(
    ("create", "number"), [(TWO_CREATORS, 4), (TWO_CREATORS, 5), (MAYBE_ONE_LESS, 2)]
)
def test_numbers_that_depend_on_the_execution(
    create: str, number: int, read: str, tmp_path: Path
) -> None:
    program = program_of(tmp_path, create, number, read)
    outcome = check(program, 2, time.monotonic() + 60)
    assert outcome.answer is not Answer.HOLDS
    assert explore(program, Specification()).verdict.value == "false"


@pytest.mark.parametrize("number", [2, 4])
def test_numbers_that_do_not(number: int, tmp_path: Path) -> None:
    program = program_of(tmp_path, IN_ORDER, number, "cast")
    assert check(program, 2, time.monotonic() + 60).answer is Answer.HOLDS
    assert explore(program, Specification()).verdict.value == "true"


def test_programs_that_do_not_look(tmp_path: Path) -> None:
    """What stands beside a lock in the same object is no number of a thread."""
    path = tmp_path / "program.c"
    path.write_text(
        """#include <assert.h>
    #include <pthread.h>
    struct { pthread_mutex_t lock; int count; } shared = {PTHREAD_MUTEX_INITIALIZER, 0};
    void *add(void *unused) {
      pthread_mutex_lock(&shared.lock); shared.count++; assert(shared.count <= 2);
      pthread_mutex_unlock(&shared.lock); return 0; }
    void *make(void *unused) { pthread_t t; pthread_create(&t, 0, add, 0); return 0; }
    int main(void) { pthread_t a, b;
      pthread_create(&a, 0, make, 0); pthread_create(&b, 0, make, 0); return 0; }"""
    )
    program = load([str(path)], FrontEndOptions(), Specification())
    assert check(program, 2, time.monotonic() + 60).answer is Answer.HOLDS
