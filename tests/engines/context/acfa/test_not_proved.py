"""Programs with a violation that a context which says too much would hide. The interpreter shows
each of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.context.acfa.inference import verified

from plait.engines.interface import Answer

_STARTED = """
int main(void) {
  pthread_t thread;
  while (MORE) pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
"""

PROGRAMS = {
    # The breaker's step is only possible where the keeper relies on `state == 1` for ever. That
    # must not keep the step from being seen: the keeper relies on it not being there.
    "what a label says holds before a step, not behind it": """
int state, flag;
void *keep(void *unused) {
  __VERIFIER_atomic_begin();
  state = 1;
  flag = 1;
  __VERIFIER_atomic_end();
  while (1) assert(state == 1);
}
void *break_it(void *unused) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(flag == 1);
  state = 0;
  __VERIFIER_atomic_end();
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, keep, 0);
  pthread_create(&thread, 0, break_it, 0);
  pthread_exit(0);
}
""",
    # The same for two that stand by: each relies on `y == 0`, and on that the other does.
    "threads that stand by do not vouch for each other": """
int y, first, second;
void *one(void *unused) {
  first = 1;
  while (1) assert(y == 0);
}
void *two(void *unused) {
  second = 1;
  while (1) assert(y == 0);
}
void *break_it(void *unused) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(first == 1 && second == 1);
  y = 1;
  __VERIFIER_atomic_end();
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, one, 0);
  pthread_create(&thread, 0, two, 0);
  pthread_create(&thread, 0, break_it, 0);
  pthread_exit(0);
}
""",
    # Of many that were at a place with `state == 1` all may have left.
    "many may be none": """
int state, done;
void *run(void *unused) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(state == 0);
  state = 1;
  __VERIFIER_atomic_end();
  assert(state == 1);
  __VERIFIER_atomic_begin();
  state = 0;
  done = 1;
  __VERIFIER_atomic_end();
  return 0;
}
int main(void) {
  pthread_t thread;
  while (MORE) pthread_create(&thread, 0, run, 0);
  assert(!done);
  pthread_exit(0);
}
""",
    "one more than is counted": """
int here;
void *run(void *unused) {
  __VERIFIER_atomic_begin();
  here++;
  __VERIFIER_atomic_end();
  __VERIFIER_atomic_begin();
  assert(here != 3);
  __VERIFIER_atomic_end();
  return 0;
}
"""
    + _STARTED,
    "a thread that is inside an atomic section goes on alone": """
int x, y;
void *run(void *unused) {
  __VERIFIER_atomic_begin();
  x = 1;
  for (int i = 0; i < MORE; i++) y = i;
  x = 0;
  __VERIFIER_atomic_end();
  x = 2;
  return 0;
}
int main(void) {
  pthread_t thread;
  while (MORE) pthread_create(&thread, 0, run, 0);
  __VERIFIER_atomic_begin();
  assert(x != 2);
  __VERIFIER_atomic_end();
  pthread_exit(0);
}
""",
    "what is handed to a new thread": """
int x;
void *run(void *argument) {
  if (argument) x = 1;
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, (void *)0L);
  pthread_create(&thread, 0, run, (void *)1L);
  assert(x == 0);
  pthread_exit(0);
}
""",
    "what a thread reads, others may change before it goes on": """
int x;
void *run(void *unused) {
  int old = x;
  x = old + 1;
  assert(x == old + 1);
  return 0;
}
"""
    + _STARTED,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_violated(name: str, tmp_path: Path) -> None:
    outcome = verified(PROGRAMS[name], tmp_path)
    assert outcome.answer is Answer.VIOLATED, outcome.reason
