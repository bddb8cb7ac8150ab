"""Races of any number of threads: idioms of the thesis (Table 5.1) and others, each free of races,
and each with one line that makes it race."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.context.pairs import Pair, loaded

from plait.engines.context.engine import verify
from plait.engines.interface import Answer
from plait.model.properties import from_names
from plait.semantics.explore import ExploreOptions, Verdict, explore

_MAIN = """
int main(void) {
  pthread_t thread;
  while (MORE) pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
"""

PAIRS = {
    "a state that is tested and set": Pair(
        """
int x, state;
void *run(void *unused) {
  while (1) {
    __VERIFIER_atomic_begin();
    int old = state;
    if (state == 0) state = 1;
    __VERIFIER_atomic_end();
    if (old == 0) {
      x = x + 1;
      __VERIFIER_atomic_begin();
      state = 0;
      __VERIFIER_atomic_end();
    }
  }
}
"""
        + _MAIN,
        "if (old == 0)",
        "if (old < 2)",
    ),
    "a lock that is taken on a condition": Pair(
        """
int x;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
void *run(void *unused) {
  int does = __VERIFIER_nondet_int();
  if (does > 0) pthread_mutex_lock(&mutex);
  if (does > 0) x = x + 1;
  if (does > 0) pthread_mutex_unlock(&mutex);
  return 0;
}
"""
        + _MAIN,
        "if (does > 0) x",
        "if (does >= 0) x",
    ),
    "two phases, with a flag for the interrupt": Pair(
        """
int busy, interrupts, x;
void *run(void *unused) {
  int mine = 0;
  __VERIFIER_atomic_begin();
  if (!busy) { busy = 1; mine = 1; }
  __VERIFIER_atomic_end();
  if (mine) {
    x = 1;
    __VERIFIER_atomic_begin();
    interrupts = 1;
    __VERIFIER_atomic_end();
  }
  return 0;
}
void *handler(void *unused) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(interrupts);
  interrupts = 0;
  __VERIFIER_atomic_end();
  x = 2;
  __VERIFIER_atomic_begin();
  busy = 0;
  __VERIFIER_atomic_end();
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, handler, 0);
  while (MORE) pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
""",
        "  __VERIFIER_assume(interrupts);\n",
        "",
        1,
    ),
    "sections": Pair(
        """
int x;
void *run(void *unused) {
  __VERIFIER_atomic_begin();
  x = x + 1;
  __VERIFIER_atomic_end();
  return 0;
}
"""
        + _MAIN,
        "  __VERIFIER_atomic_end();\n  return",
        "  __VERIFIER_atomic_end();\n  if (x) return 0;\n  return",
    ),
    "a mutex": Pair(
        """
int x;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
void *run(void *unused) {
  pthread_mutex_lock(&mutex);
  x++;
  pthread_mutex_unlock(&mutex);
  return 0;
}
"""
        + _MAIN,
        "  pthread_mutex_unlock(&mutex);\n",
        "  pthread_mutex_unlock(&mutex);\n  x = 0;\n",
    ),
    "before the start, and after the end": Pair(
        """
int x;
void *run(void *unused) {
  x = 1;
  return 0;
}
int main(void) {
  pthread_t thread;
  x = 2;
  pthread_create(&thread, 0, run, 0);
  pthread_join(thread, 0);
  x = 3;
  return 0;
}
""",
        "  pthread_join(thread, 0);\n",
        "",
        0,
    ),
    "each its own part of an array": Pair(
        """
int parts[2];
void *run(void *argument) {
  parts[(long)argument] = 1;
  return 0;
}
int main(void) {
  pthread_t threads[2];
  for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, run, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  return parts[0];
}
""",
        "parts[(long)argument]",
        "parts[(long)argument / 2]",
        0,
    ),
    "an array of which nothing is known": Pair(
        """
int many[100];
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
void *run(void *unused) {
  unsigned index = __VERIFIER_nondet_int();
  pthread_mutex_lock(&mutex);
  if (index < 100) many[index] = 1;
  pthread_mutex_unlock(&mutex);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  pthread_mutex_lock(&mutex);
  many[1] = 2;
  pthread_mutex_unlock(&mutex);
  return 0;
}
""",
        "  pthread_mutex_lock(&mutex);\n  many[1] = 2;",
        "  many[1] = 2;\n  pthread_mutex_lock(&mutex);",
        0,
    ),
    "one writer": Pair(
        """
int x;
void *run(void *unused) {
  int y = x;
  return (void *)(long)y;
}
int main(void) {
  pthread_t thread;
  x = 1;
  while (MORE) pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
""",
        "  pthread_exit(0);",
        "  x = 2;\n  pthread_exit(0);",
        1,
    ),
    "only readers": Pair(
        """
int x = 1;
void *run(void *unused) {
  int y = x;
  return (void *)(long)y;
}
"""
        + _MAIN,
        "int y = x;",
        "int y = x++;",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_it_is_free_of_races(name: str, tmp_path: Path) -> None:
    specification = from_names(["no-data-race"])
    program = loaded(PAIRS[name].text, tmp_path, specification)
    outcome = verify(program, specification)
    assert outcome.answer is Answer.HOLDS, outcome.reason


@pytest.mark.parametrize("name", PAIRS)
def test_it_races(name: str, tmp_path: Path) -> None:
    pair = PAIRS[name]
    specification = from_names(["no-data-race"])
    bounded = loaded(pair.violated, tmp_path, specification, pair.threads)
    options = ExploreOptions(max_states=5000)
    assert explore(bounded, specification, options).verdict is Verdict.FALSE
    assert verify(loaded(pair.violated, tmp_path, specification), specification).answer is (
        Answer.UNKNOWN
    )


def test_a_section_that_is_not_one_step(tmp_path: Path) -> None:
    """What is accessed late in it races, and nothing is claimed about that."""
    text = """
int x, h[4];
void *run(void *unused) {
  __VERIFIER_atomic_begin();
  for (int i = 0; i < 4; i++) h[i] = i;
  x = 1;
  __VERIFIER_atomic_end();
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  x = 2;
  return 0;
}
"""
    specification = from_names(["no-data-race"])
    program = loaded(text, tmp_path, specification)
    assert explore(program, specification).verdict is Verdict.FALSE
    assert verify(program, specification).answer is Answer.UNKNOWN
