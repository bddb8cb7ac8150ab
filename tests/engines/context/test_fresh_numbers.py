"""The number of a new thread is in no lock: only where nothing else can be in there."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.context.pairs import loaded

from plait.engines.context.engine import verify
from plait.engines.interface import Answer
from plait.model.properties import from_names
from plait.semantics.explore import ExploreOptions, Verdict, explore

TEXT = """
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int copy;
void *run(void *unused) {
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  return 0;
}
int main(void) {
  pthread_t thread;
  while (MORE) pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
"""


def test_a_mutex_is_not_held_by_a_new_thread(tmp_path: Path) -> None:
    specification = from_names(["lock-misuse"])
    program = loaded(TEXT, tmp_path, specification)
    assert verify(program, specification).answer is Answer.HOLDS


@pytest.mark.parametrize(
    "before",
    [
        "  *(int *)&mutex = 2;\n",
        "  copy = 2;\n  *(int *)&mutex = copy;\n",
        "  copy = __VERIFIER_nondet_int();\n  if (copy == 2) *(int *)&mutex = copy;\n",
    ],
)
def test_somebody_else_writes_the_mutex(before: str, tmp_path: Path) -> None:
    text = TEXT.replace("  while", before + "  while")
    specification = from_names(["lock-misuse"])
    program = loaded(text, tmp_path, specification)
    assert verify(program, specification).answer is Answer.UNKNOWN
    text = text.replace("__VERIFIER_nondet_int();", "2;")
    bounded = loaded(text, tmp_path, specification, 1)
    found = explore(bounded, specification, ExploreOptions(max_states=5000))
    assert found.verdict is Verdict.FALSE


# A number that is only compared with those of threads, never copied from one.
ERROR_CHECKING = """
pthread_mutex_t mutex;
void *run(void *unused) {
  int result = pthread_mutex_unlock(&mutex);
  assert(result != 0);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&mutex, &kind);
  *(int *)&mutex = 2;
  while (MORE) pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
"""

# The value of a table is the number of an instance here, by chance.
BY_CHANCE = """
int x, z;
const int table[3] = {5, VALUE, VALUE & 15};
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
void *run(void *unused) {
  pthread_mutex_lock(&mutex);
  x = table[1];
  __VERIFIER_atomic_begin(); if ((x & 15) == table[2]) z = 1; __VERIFIER_atomic_end();
  x = 0;
  pthread_mutex_unlock(&mutex);
  z = 0;
  assert(z == 0);
  return 0;
}
int main(void) {
  pthread_t thread;
  while (MORE) pthread_create(&thread, 0, run, 0);
}
"""


def test_a_number_that_is_only_compared(tmp_path: Path) -> None:
    specification = from_names(["assertions"])
    program = loaded(ERROR_CHECKING, tmp_path, specification)
    assert verify(program, specification).answer is Answer.UNKNOWN
    bounded = loaded(ERROR_CHECKING, tmp_path, specification, 1)
    found = explore(bounded, specification, ExploreOptions(max_states=5000))
    assert found.verdict is Verdict.FALSE


@pytest.mark.parametrize("value", [27, 51, 53])
def test_a_value_that_looks_like_a_number(value: int, tmp_path: Path) -> None:
    specification = from_names(["assertions"])
    program = loaded(BY_CHANCE.replace("VALUE", str(value)), tmp_path, specification)
    assert verify(program, specification).answer is Answer.UNKNOWN
