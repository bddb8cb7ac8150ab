"""Who takes a lock last, or waits for it only, is behind the release by what is read there. As a lock
needs no reads, that must not be what tells that it is one."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.asking import outcome_of

from plait.engines.interface import Answer

PROGRAM = """#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
int l, g = 10;
void wait(void) { __VERIFIER_atomic_begin(); __VERIFIER_assume(l == 0); __VERIFIER_atomic_end(); }
void lock(void) {
  __VERIFIER_atomic_begin(); __VERIFIER_assume(l == 0); l = 1; __VERIFIER_atomic_end();
}
void unlock(void) { __VERIFIER_atomic_begin(); l = 0; __VERIFIER_atomic_end(); }
void *f(void *unused) { lock(); g = 10; unlock(); return 0; }
void *last(void *unused) { LAST return 0; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  pthread_join(t, 0);
  lock();
  pthread_create(&t, 0, last, 0);
  g = 30;
  unlock();
  return 0;
}
"""


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ("lock(); assert(g == 30); unlock();", Answer.HOLDS),
        ("wait(); assert(g == 30);", Answer.HOLDS),
        ("assert(g == 30); lock(); unlock();", Answer.VIOLATED),
        ("assert(g == 30); wait();", Answer.VIOLATED),
    ],
)
def test_the_last_one(last: str, expected: Answer, tmp_path: Path) -> None:
    assert outcome_of("orders", PROGRAM.replace("LAST", last), tmp_path).answer is expected


TOKENS = """#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
int tokens, g;
void *f(void *unused) {
  __VERIFIER_atomic_begin(); __VERIFIER_assume(tokens != 0); tokens = tokens - 1;
  __VERIFIER_atomic_end();
  assert(g == VALUE);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  g = 1;
  __VERIFIER_atomic_begin(); tokens = 1; __VERIFIER_atomic_end();
  return 0;
}
"""


@pytest.mark.parametrize(("value", "expected"), [("1", Answer.HOLDS), ("0", Answer.VIOLATED)])
def test_the_first_tokens_come_late(value: str, expected: Answer, tmp_path: Path) -> None:
    """The write is before the take because that waits for it, so it is no initialisation."""
    outcome = outcome_of("orders", TOKENS.replace("VALUE", value), tmp_path)
    assert outcome.answer is expected, outcome.reason
