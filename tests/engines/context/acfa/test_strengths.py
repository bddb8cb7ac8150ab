"""Where one of the two methods of the engine proves what the other does not (docs/context.md)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.context.acfa.inference import verified
from tests.engines.context.pairs import loaded

from plait.engines.context.engine import verify
from plait.engines.interface import Answer
from plait.model.properties import from_names

_STARTED = """
int main(void) {
  pthread_t thread;
  while (MORE) pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
"""

# What another thread does is related to what was there before: to havoc loses that.
OLD_AND_NEW = {
    "a value that only grows": """
unsigned value;
void *run(void *unused) {
  unsigned before = value;
  __VERIFIER_atomic_begin();
  if (value < 1000000) value = value + 1;
  __VERIFIER_atomic_end();
  assert(value >= before);
  return 0;
}
"""
    + _STARTED,
    "a value that only grows, under a lock": """
unsigned value, lock;
void *run(void *unused) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(lock == 0);
  lock = 1;
  __VERIFIER_atomic_end();
  unsigned before = value;
  if (before == 4294967295u) { lock = 0; return 0; }
  value = before + 1;
  lock = 0;
  assert(value > before);
  return 0;
}
"""
    + _STARTED,
}

# That nobody else is inside is known from the counters, whatever the lock looks like.
COUNTED = {
    "a permit that is taken and given back": """
int permits = 1;
void *run(void *unused) {
  while (1) {
    __VERIFIER_atomic_begin();
    __VERIFIER_assume(permits > 0);
    permits--;
    __VERIFIER_atomic_end();
    assert(permits == 0);
    __VERIFIER_atomic_begin();
    permits++;
    __VERIFIER_atomic_end();
  }
}
"""
    + _STARTED,
}


def by_invariants(text: str, folder: Path) -> Answer:
    specification = from_names(["assertions"])
    return verify(loaded(text, folder, specification), specification).answer


@pytest.mark.parametrize("name", OLD_AND_NEW)
def test_only_invariants_relate_old_and_new(name: str, tmp_path: Path) -> None:
    assert by_invariants(OLD_AND_NEW[name], tmp_path) is Answer.HOLDS
    assert verified(OLD_AND_NEW[name], tmp_path).answer is Answer.UNKNOWN


@pytest.mark.parametrize("name", COUNTED)
def test_only_counters_know_that_nobody_else_is_there(name: str, tmp_path: Path) -> None:
    assert verified(COUNTED[name], tmp_path).answer is Answer.HOLDS
    assert by_invariants(COUNTED[name], tmp_path) is Answer.UNKNOWN
