"""What the engine answers: all properties, and reasons where it gives up."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.explicit.helpers import ask

from plait.engines.explicit.room import Room
from plait.engines.interface import Answer

THREADS = """
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
int x;
"""
RACE = (
    THREADS
    + """
void *add(void *argument) { x++; return NULL; }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, add, NULL);
  add(NULL);
  pthread_join(thread, NULL);
  assert(x == 2);
}
"""
)
LOCKED = RACE.replace("x++", "pthread_mutex_lock(&one); x++; pthread_mutex_unlock(&one)")
CROSSED = (
    THREADS
    + """
void *run(void *argument) {
  pthread_mutex_lock(&other);
  pthread_mutex_lock(&one);
  pthread_mutex_unlock(&one);
  pthread_mutex_unlock(&other);
  return NULL;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  pthread_mutex_lock(&one);
  pthread_mutex_lock(&other);
  pthread_mutex_unlock(&other);
  pthread_mutex_unlock(&one);
  pthread_join(thread, NULL);
}
"""
)
# The two wait for each other while the third goes on for ever.
SPIN = "void *spin(void *p) { while (1) x = 1 - x; return p; }\n"
PARTLY = CROSSED.replace("int main", SPIN + "int main")
PARTLY = PARTLY.replace(
    "pthread_create(&thread", "pthread_create(&thread, NULL, spin, NULL);\n  pthread_create(&thread"
)
LEAK = (
    THREADS
    + """
int *p;
void *lose(void *argument) { p = NULL; return NULL; }
int main(void) {
  pthread_t thread;
  p = malloc(4);
  pthread_create(&thread, NULL, lose, NULL);
  pthread_join(thread, NULL);
}
"""
)


@pytest.mark.parametrize(
    ("text", "property_", "expected"),
    [
        (RACE, "assertions", Answer.VIOLATED),
        (RACE, "no-data-race", Answer.VIOLATED),
        (LOCKED, "assertions", Answer.HOLDS),
        (LOCKED, "no-data-race", Answer.HOLDS),
        (LOCKED, "no-deadlock", Answer.HOLDS),
        (CROSSED, "no-deadlock", Answer.VIOLATED),
        (CROSSED, "assertions", Answer.HOLDS),
        (PARTLY, "no-deadlock", Answer.VIOLATED),
        (LEAK, "valid-memsafety", Answer.VIOLATED),
        (LEAK, "valid-access", Answer.HOLDS),
    ],
)
def test_answers(text: str, property_: str, expected: Answer, tmp_path: Path) -> None:
    outcome = ask(tmp_path, text, property_)
    assert outcome.answer is expected, outcome.reason


def test_the_inputs_of_a_race(tmp_path: Path) -> None:
    """Only with one value of an input do the next accesses race."""
    text = (
        THREADS
        + """
    _Bool __VERIFIER_nondet_bool(void);
    int y;
    void *run(void *p) {
      __VERIFIER_atomic_begin();
      if (__VERIFIER_nondet_bool()) x = 1; else y = 1;
      __VERIFIER_atomic_end();
      return p;
    }
    int main(void) {
      pthread_t thread;
      pthread_create(&thread, NULL, run, NULL);
      return x;
    }
    """
    )
    text = text.replace(
        "int x;", "int x; void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void);"
    )
    outcome = ask(tmp_path, text, "no-data-race")
    assert outcome.answer is Answer.VIOLATED, outcome.reason


def test_an_input_with_many_values(tmp_path: Path) -> None:
    text = "int __VERIFIER_nondet_int(void); int main(void) { return __VERIFIER_nondet_int(); }"
    outcome = ask(tmp_path, text)
    assert outcome.answer is Answer.UNKNOWN
    assert "an input with too many values: __VERIFIER_nondet_int" in outcome.reason
    assert "program.c:1" in outcome.reason


def test_too_many_states(tmp_path: Path) -> None:
    text = (
        THREADS
        + """
    void *run(void *p) { while (1) x = (x + 1) % 30000; return p; }
    int main(void) {
      pthread_t thread;
      pthread_create(&thread, NULL, run, NULL);
      while (1) x = (x + 1) % 20000;
    }
    """
    )
    outcome = ask(tmp_path, text, max_states=100)
    assert (outcome.answer, outcome.reason) == (Answer.UNKNOWN, "more than 100 states")


def test_memory_is_used_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Room, "is_used_up", property(lambda room: True))
    outcome = ask(tmp_path, LOCKED.replace("x++;", "for (int i = 0; i < 300; i++) x++;"))
    assert outcome.answer is Answer.UNKNOWN
    assert outcome.reason.startswith("the memory for states is used up after ")


def test_an_address_from_nowhere(tmp_path: Path) -> None:
    """Where points-to analysis has lost the origin of a pointer, nothing is proved."""
    text = (
        THREADS
        + """
    int main(void) {
      int *p = NULL;
      for (unsigned long n = 1; n < 200; n++) {
        unsigned long number = n << 32;
        if (number == (unsigned long)&x) { p = (int *)number; *p = 1; }
      }
      assert(x == 0);
    }
    """
    )
    outcome = ask(tmp_path, text)
    assert outcome.answer is Answer.UNKNOWN
    assert "a pointer whose origin is not known leads to an object" in outcome.reason
