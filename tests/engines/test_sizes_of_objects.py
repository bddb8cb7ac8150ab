"""Asking for the size of an object depends on whether others have freed it, and reads none of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.asking import outcome_of

from plait.c import FrontEndOptions, load
from plait.engines.interface import Answer
from plait.model.properties import from_names
from plait.semantics.explore import explore

# The other thread frees the block between the store to `flag` and the call; nothing that threads
# share is accessed between these two.
FREED = """#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
atomic_int flag;
void *work(void *block) { if (flag) free(block); return 0; }
int main(void) {
  pthread_t t;
  int *block = malloc(sizeof(int));
  pthread_create(&t, 0, work, block);
  flag = 1;
  malloc_usable_size(block);
  pthread_join(t, 0);
}
"""
WRITTEN = FREED.replace("if (flag) free(block);", "*(int *)block = flag;")
# Two accesses that are not shared in one step of the interpreter, before a race.
REALLOCATED = """#include <pthread.h>
#include <stdlib.h>
void *work(void *block) { *(int *)block = 1; return 0; }
int main(void) {
  pthread_t t;
  int *mine = malloc(sizeof(int));
  *mine = 7;
  mine = realloc(mine, sizeof(int));
  int *block = malloc(sizeof(int));
  pthread_create(&t, 0, work, block);
  realloc(block, sizeof(int));
}
"""
ENGINES = ["orders", "impact", "explicit"]


def _explored(text: str, property_: str, folder: Path) -> str:
    path = folder / "program.c"
    path.write_text(text)
    specification = from_names([property_])
    program = load([str(path)], FrontEndOptions(), specification)
    return explore(program, specification).verdict.value


@pytest.mark.parametrize("engine", [*ENGINES, "traces"])
def test_another_thread_may_free_it_before(engine: str, tmp_path: Path) -> None:
    assert outcome_of(engine, FREED, tmp_path, "valid-access").answer is Answer.VIOLATED


@pytest.mark.parametrize("engine", ENGINES)
def test_it_does_not_race_with_a_write(engine: str, tmp_path: Path) -> None:
    assert outcome_of(engine, WRITTEN, tmp_path, "no-data-race").answer is Answer.HOLDS


def test_exploration_sees_both(tmp_path: Path) -> None:
    assert _explored(FREED, "valid-access", tmp_path) == "false"
    assert _explored(WRITTEN, "no-data-race", tmp_path) == "true"


def test_a_race_behind_it_replays(tmp_path: Path) -> None:
    assert outcome_of("orders", REALLOCATED, tmp_path, "no-data-race").answer is Answer.VIOLATED
