"""Objects that die while threads share them: what does not come before the end is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.orders.weak.test_programs import of_text

from plait.engines.interface import Answer

HOLDS, VIOLATED, UNKNOWN = Answer.HOLDS, Answer.VIOLATED, Answer.UNKNOWN
JOB = """
struct job { atomic_int done; int value; };
void *one(void *p) {
  struct job *j = p;
  j->value = 5;
  atomic_store_explicit(&j->done, 1, ORDER);
  return 0;
}
void f(void) {
  struct job j = {0, 0};
  pthread_t t;
  pthread_create(&t, 0, one, &j);
  WAIT
}
int main(void) { f(); }
"""
JOINED = "pthread_join(t, 0); assert(j.value == 5);"
SPINNING = "while (!atomic_load_explicit(&j.done, memory_order_acquire)); "
LOOKING = "if (atomic_load_explicit(&j.done, memory_order_acquire)) ; "
RELEASE = "memory_order_release"
# By the order of the store and how the function waits: the answers under tso, pso and c11. Under PSO
# the flag may be visible before the value is, which then comes too late.
JOBS = {
    "joined": (RELEASE, JOINED, HOLDS, HOLDS, HOLDS),
    "waits for a flag": (RELEASE, SPINNING, HOLDS, UNKNOWN, HOLDS),
    "waits for a relaxed flag": ("RLX", SPINNING, HOLDS, UNKNOWN, VIOLATED),
    "does not wait": (RELEASE, LOOKING, VIOLATED, VIOLATED, VIOLATED),
}
MODELS = ("tso", "pso", "c11")


@pytest.mark.parametrize("name", JOBS)
def test_a_local_dies(name: str, tmp_path: Path) -> None:
    order, waiting, *expected = JOBS[name]
    text = JOB.replace("ORDER", order).replace("WAIT", waiting)
    assert [of_text(tmp_path, text, model).answer for model in MODELS] == expected


def test_the_end_of_a_local_is_a_race_in_c11(tmp_path: Path) -> None:
    """Also where nobody asks for accesses to what is dead."""
    order, waiting, *_ = JOBS["waits for a relaxed flag"]
    text = JOB.replace("ORDER", order).replace("WAIT", waiting)
    found = of_text(tmp_path, text, "c11", properties=("no-data-race",))
    assert found.answer is VIOLATED, found.reason


HANDED_OVER = """
_Atomic(int *) shared;
void *one(void *p) {
  int *made = malloc(sizeof *made);
  *made = 1;
  atomic_store_explicit(&shared, made, ORDER);
  AFTER
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, one, 0);
  int *found = atomic_load_explicit(&shared, memory_order_acquire);
  if (found) { DONE }
  pthread_join(t, 0);
  return 0;
}
"""
# By what the thread does with its object when it has published it, and the initial one with what it
# has found.
HEAP = {
    "freed by who gets it": (RELEASE, "", "*found = 2; free(found);", HOLDS, UNKNOWN, HOLDS),
    "freed by who may not know it": ("RLX", "", "free(found);", HOLDS, UNKNOWN, VIOLATED),
    "used by both": (RELEASE, "*made = 3;", "free(found);", VIOLATED, UNKNOWN, VIOLATED),
    "freed by both": (RELEASE, "free(made);", "free(found);", VIOLATED, VIOLATED, VIOLATED),
    "used when it is freed": (RELEASE, "free(made);", "*found = 2;", VIOLATED, VIOLATED, VIOLATED),
    "used behind its end": (RELEASE, "", "free(found); *found = 1;", *[VIOLATED] * 3),
}


@pytest.mark.parametrize("name", HEAP)
def test_an_object_is_freed(name: str, tmp_path: Path) -> None:
    order, after, done, *expected = HEAP[name]
    text = HANDED_OVER.replace("ORDER", order).replace("AFTER", after).replace("DONE", done)
    assert [of_text(tmp_path, text, model).answer for model in MODELS] == expected


@pytest.mark.parametrize("model", MODELS)
def test_an_object_is_used_by_who_knows_that_it_is_gone(model: str, tmp_path: Path) -> None:
    """The end happens before the access, which is as wrong as if there were no order."""
    text = HANDED_OVER.replace("*made = 1;", "free(made);")
    for placeholder, part in (("ORDER", RELEASE), ("AFTER", ""), ("DONE", "*found = 2;")):
        text = text.replace(placeholder, part)
    assert of_text(tmp_path, text, model).answer is VIOLATED


def test_a_lock_that_dies(tmp_path: Path) -> None:
    """What the library does with an object comes before its end, too."""
    text = """
    atomic_int done;
    void *one(void *m) {
      pthread_mutex_lock(m); pthread_mutex_unlock(m);
      atomic_store_explicit(&done, 1, ORDER);
      return 0;
    }
    void f(void) {
      pthread_mutex_t m;
      pthread_t t;
      pthread_mutex_init(&m, 0);
      pthread_create(&t, 0, one, &m);
      while (!atomic_load_explicit(&done, memory_order_acquire));
    }
    int main(void) { f(); }
    """
    assert of_text(tmp_path, text.replace("ORDER", RELEASE), "c11").answer is HOLDS
    assert of_text(tmp_path, text.replace("ORDER", "RLX"), "c11").answer is VIOLATED


def test_the_size_of_an_object_that_may_be_gone(tmp_path: Path) -> None:
    text = """
    #include <malloc.h>
    _Atomic(int *) shared;
    void *one(void *p) { shared = malloc(4); return 0; }
    void *two(void *p) { int *found = shared; return found && malloc_usable_size(found) == 1 ? p : 0; }
    int main(void) {
      pthread_t s, t;
      pthread_create(&s, 0, one, 0); pthread_create(&t, 0, two, 0);
      pthread_join(s, 0); free(shared);
    }
    """
    found = of_text(tmp_path, text, "c11")
    assert found.answer is UNKNOWN and "size" in found.reason
