"""Bugs below `while (1) pthread_create(...)`: the default strategy finds them, with as few threads as
they need. Idioms of the thesis behind CIRC (Table 5.1), and of programs with locks made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.context.test_races import PAIRS as RACES

import plait

_START = """
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
"""
_MAIN = "\nint main(void) { pthread_t t; while (1) pthread_create(&t, 0, run, 0); }\n"

IDIOMS = (
    "a state that is tested and set",
    "a lock that is taken on a condition",
    "two phases, with a flag for the interrupt",
    "sections",
)

# With the number of threads, the initial one included, that a violation needs.
BROKEN = {
    "test and set in two steps": (
        3,
        """
int lock, x;
void *run(void *u) {
  while (1) {
    if (lock != 0) continue;
    lock = 1;
    x = 1;
    x = 0;
    assert(x == 0);
    lock = 0;
  }
}
"""
        + _MAIN,
    ),
    "a ticket that is not drawn in one step": (
        3,
        """
unsigned next, serving;
int inside;
void *run(void *u) {
  unsigned mine = next;
  next = mine + 1;
  __VERIFIER_assume(serving == mine);
  inside++;
  assert(inside == 1);
  inside--;
  serving++;
  return 0;
}
"""
        + _MAIN,
    ),
    "one permit too many": (
        5,
        """
int permits = 3, inside;
void *run(void *u) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(permits >= 0);
  permits--;
  __VERIFIER_atomic_end();
  __VERIFIER_atomic_begin();
  inside++;
  assert(inside <= 3);
  __VERIFIER_atomic_end();
  __VERIFIER_atomic_begin();
  inside--;
  permits++;
  __VERIFIER_atomic_end();
  return 0;
}
"""
        + _MAIN,
    ),
    "a maximum that is overwritten": (
        3,
        """
int max;
void *run(void *u) {
  int value = __VERIFIER_nondet_int();
  if (value > max) max = value;
  assert(max >= value);
  return 0;
}
"""
        + _MAIN,
    ),
    "readers that forget each other": (
        4,
        """
int readers, writer, x;
void *reads(void *u) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(!writer);
  readers++;
  __VERIFIER_atomic_end();
  int before = x, behind = x;
  assert(before == behind);
  readers = 0;
  return 0;
}
void *writes(void *u) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(!writer && readers == 0);
  writer = 1;
  __VERIFIER_atomic_end();
  x = x + 1;
  writer = 0;
  return 0;
}
int main(void) {
  pthread_t t;
  while (1) {
    pthread_create(&t, 0, reads, 0);
    pthread_create(&t, 0, writes, 0);
  }
}
""",
    ),
    "threads that start threads": (
        7,
        """
int count;
void *leaf(void *u) {
  __VERIFIER_atomic_begin();
  count++;
  assert(count < 3);
  __VERIFIER_atomic_end();
  return 0;
}
void *run(void *u) {
  pthread_t t;
  pthread_create(&t, 0, leaf, 0);
  return 0;
}
"""
        + _MAIN,
    ),
}


def _verdict(folder: Path, text: str, name: str) -> plait.Result:
    path = folder / "program.c"
    path.write_text(_START + text)
    return plait.verify(path, property=[name], cache=False, timeout=120)


@pytest.mark.parametrize("name", IDIOMS)
def test_an_idiom_with_a_bug(name: str, tmp_path: Path) -> None:
    result = _verdict(tmp_path, RACES[name].violated.replace("MORE", "1"), "no-data-race")
    assert (result.verdict, result.violated) == ("false", "no-data-race")


@pytest.mark.parametrize("name", BROKEN)
def test_as_few_threads_as_possible(name: str, tmp_path: Path) -> None:
    threads, text = BROKEN[name]
    result = _verdict(tmp_path, text, "assertions")
    assert (result.verdict, result.violated) == ("false", "assertions")
    assert max(step.thread for step in result.trace) == threads
