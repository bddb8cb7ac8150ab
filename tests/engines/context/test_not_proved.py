"""Programs that violate an assertion in a way that is easily overlooked: none of them is proved.

Each one is explored, too, with as few threads as the violation needs.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.engines.context.pairs import PAIRS, loaded

from plait.engines.context.engine import verify
from plait.engines.context.invariants import Invariants
from plait.engines.interface import Answer
from plait.model.properties import from_names
from plait.semantics.explore import ExploreOptions, Verdict, explore

# By names: how many threads a violation needs of those that are started in a loop, and the program.
PROGRAMS = {
    "what depends on a value that changes in the same step": (
        1,
        """
int x, y;
void *copies(void *unused) {
  while (1) {
    __VERIFIER_atomic_begin();
    y = x;
    if (x < 3) x = x + 1;
    __VERIFIER_atomic_end();
  }
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, copies, 0);
  while (1) assert(y == 0);
}
""",
    ),
    "a pointer that was set before the first thread": (
        1,
        """
int x, y;
int *p = &x;
void *run(void *unused) {
  p = &y;
  return 0;
}
int main(void) {
  pthread_t thread;
  p = &y;
  pthread_create(&thread, 0, run, 0);
  if (p == &y) assert(0);
  pthread_exit(0);
}
""",
    ),
    "a pointer that another thread changes in between": (
        1,
        """
int x, y;
int *p = &x;
void *run(void *unused) {
  p = &x;
  *p = 1;
  assert(y == 0);
  return 0;
}
void *moves(void *unused) {
  p = &y;
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, moves, 0);
  pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
""",
    ),
    "a place that starts threads again and again": (
        2,
        """
int x, y;
void *run(void *unused) {
  x = 1;
  x = 0;
  assert(x == 0);
  return 0;
}
void *first(void *unused) {
  y = 1;
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, first, 0);
  y = 2;
  while (1) pthread_create(&thread, 0, run, 0);
}
""",
    ),
    "a place that starts threads and looks the same each time": (
        2,
        """
int x, y;
pthread_t one, other;
void *run(void *unused) {
  x = 1;
  x = 0;
  assert(x == 0);
  return 0;
}
void *first(void *unused) {
  y = 1;
  return 0;
}
int main(void) {
  pthread_create(&one, 0, first, 0);
  other = 0;
  while (1) {
    pthread_create(&other, 0, run, 0);
    other = 0;
  }
}
""",
    ),
    "a register that is another one in each thread": (
        2,
        """
int x, y;
void *run(void *unused) {
  int mine = 0;
  if (__VERIFIER_nondet_int()) mine = 1;
  y = 1;
  if (mine == 0) {
    x = 0;
    assert(x == mine);
  } else {
    x = mine;
  }
  return 0;
}
int main(void) {
  pthread_t thread;
  while (MORE) pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
""",
    ),
    "a flag that is given back twice": (
        3,
        """
int x, flag;
void *run(void *unused) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(flag == 0);
  flag = 1;
  __VERIFIER_atomic_end();
  x = 1;
  x = 0;
  assert(x == 0);
  flag = 0;
  flag = 0;
  return 0;
}
int main(void) {
  pthread_t thread;
  while (MORE) pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
""",
    ),
    "a local of the initial thread": (
        1,
        """
void *run(void *argument) {
  *(int *)argument = 1;
  return 0;
}
int main(void) {
  pthread_t thread;
  int mine = 0;
  while (MORE) pthread_create(&thread, 0, run, &mine);
  assert(mine == 0);
  pthread_exit(0);
}
""",
    ),
    "identities of threads": (
        1,
        """
pthread_t first, last;
void *run(void *unused) { return 0; }
int main(void) {
  pthread_create(&first, 0, run, 0);
  last = first;
  while (MORE) pthread_create(&last, 0, run, 0);
  assert(first == last);
  pthread_exit(0);
}
""",
    ),
    "an address of which another thread sees one of many": (
        2,
        """
int *p, *q;
int is_set, is_copied;
void *writes(void *unused) {
  int mine = 0;
  __VERIFIER_atomic_begin();
  p = &mine;
  is_set = 1;
  __VERIFIER_atomic_end();
  __VERIFIER_atomic_begin();
  if (is_copied) {
    *q = 5;
    assert(mine == 5);
  }
  __VERIFIER_atomic_end();
  while (1);
}
int main(void) {
  pthread_t thread;
  while (MORE) pthread_create(&thread, 0, writes, 0);
  __VERIFIER_atomic_begin();
  if (is_set) {
    q = p;
    is_copied = 1;
  }
  __VERIFIER_atomic_end();
  while (1);
}
""",
    ),
    "another thread is joined": (
        0,
        """
int x;
void *sets(void *unused) { x = 5; return 0; }
void *idle(void *unused) { return 0; }
int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, sets, 0);
  pthread_create(&second, 0, idle, 0);
  pthread_join(second, 0);
  assert(x == 5);
  return 0;
}
""",
    ),
    "only the second of two threads is joined": (
        0,
        """
int x;
void *adds(void *unused) { __VERIFIER_atomic_begin(); x++; __VERIFIER_atomic_end(); return 0; }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, adds, 0);
  pthread_create(&thread, 0, adds, 0);
  pthread_join(thread, 0);
  assert(x == 2);
  return 0;
}
""",
    ),
    "an identity that many threads have set": (
        2,
        """
pthread_t someone;
void *run(void *unused) {
  someone = pthread_self();
  assert(pthread_equal(someone, pthread_self()));
  return 0;
}
int main(void) {
  pthread_t thread;
  while (MORE) pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
""",
    ),
    "an identity that the creator has set": (
        1,
        """
pthread_t someone;
void *run(void *unused) {
  if (someone == pthread_self()) assert(0);
  return 0;
}
int main(void) {
  while (MORE) pthread_create(&someone, 0, run, 0);
  pthread_exit(0);
}
""",
    ),
    "an identity that changes from thread to thread": (
        2,
        """
pthread_t someone;
int is_set;
void *run(void *unused) {
  __VERIFIER_atomic_begin();
  someone = pthread_self();
  is_set = 1;
  __VERIFIER_atomic_end();
  return 0;
}
int main(void) {
  pthread_t thread, first, last;
  while (MORE) pthread_create(&thread, 0, run, 0);
  if (is_set) {
    first = someone;
    last = someone;
    assert(first == last);
  }
  pthread_exit(0);
}
""",
    ),
    "a result that is an address": (
        0,
        """
int x;
void *run(void *unused) { return &x; }
int main(void) {
  pthread_t thread;
  void *result;
  pthread_create(&thread, 0, run, 0);
  pthread_join(thread, &result);
  assert(result == 0);
  return 0;
}
""",
    ),
    "a thread that is counted more than once": (
        1,
        """
int x, started;
void *run(void *unused) {
  while (__VERIFIER_nondet_int()) {
    __VERIFIER_atomic_begin();
    if (x < 5) x++;
    assert(x <= started);
    __VERIFIER_atomic_end();
  }
  return 0;
}
int main(void) {
  pthread_t thread;
  while (MORE && started < 2) {
    started++;
    pthread_create(&thread, 0, run, 0);
  }
  pthread_exit(0);
}
""",
    ),
    "two ways to be counted": (
        2,
        """
int x, y, started;
void *run(void *unused) {
  if (__VERIFIER_nondet_int()) {
    __VERIFIER_atomic_begin();
    x++;
    __VERIFIER_atomic_end();
  } else {
    __VERIFIER_atomic_begin();
    y++;
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin();
    assert(y <= x);
    __VERIFIER_atomic_end();
  }
  return 0;
}
int main(void) {
  pthread_t thread;
  while (MORE) pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
""",
    ),
    "two threads that start the same": (
        0,
        """
int x;
void *run(void *unused) {
  x = 1;
  x = 0;
  assert(x == 0);
  return 0;
}
void *starts(void *unused) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, starts, 0);
  pthread_create(&thread, 0, starts, 0);
  pthread_exit(0);
}
""",
    ),
    "two threads that start the same in two ways": (
        0,
        """
int x;
void *run(void *unused) {
  x = 1;
  x = 0;
  assert(x == 0);
  return 0;
}
void *starts(void *unused) {
  pthread_t thread;
  if (__VERIFIER_nondet_int()) pthread_create(&thread, 0, run, 0);
  else pthread_create(&thread, 0, run, 0);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, starts, 0);
  pthread_create(&thread, 0, starts, 0);
  pthread_exit(0);
}
""",
    ),
    "many threads that start one each": (
        2,
        """
int x;
void *run(void *unused) {
  x = 1;
  x = 0;
  assert(x == 0);
  return 0;
}
void *starts(void *unused) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  return 0;
}
int main(void) {
  pthread_t thread;
  while (MORE) pthread_create(&thread, 0, starts, 0);
  pthread_exit(0);
}
""",
    ),
    "threads that start threads like themselves": (
        0,
        """
int x, started;
void *run(void *unused) {
  pthread_t thread;
  if (started == 0) {
    started = 1;
    pthread_create(&thread, 0, run, 0);
  }
  x = 1;
  x = 0;
  assert(x == 0);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
""",
    ),
    "what a joined thread has started goes on": (
        0,
        """
int x;
void *inner(void *unused) { x = 1; return 0; }
void *outer(void *unused) {
  pthread_t thread;
  pthread_create(&thread, 0, inner, 0);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, outer, 0);
  pthread_join(thread, 0);
  assert(x == 0);
  pthread_exit(0);
}
""",
    ),
    "a thread in a branch of a loop": (
        2,
        """
int x;
void *run(void *unused) {
  x = 1;
  x = 0;
  assert(x == 0);
  return 0;
}
int main(void) {
  pthread_t thread;
  int round = 0;
  while (MORE) {
    if (round == 0) x = 0;
    else pthread_create(&thread, 0, run, 0);
    round = 1;
    if (__VERIFIER_nondet_int()) pthread_create(&thread, 0, run, 0);
  }
  pthread_exit(0);
}
""",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_one_condition_is_missing(name: str, tmp_path: Path) -> None:
    pair = PAIRS[name]
    _is_not_proved(pair.violated, pair.threads, tmp_path)


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_not_proved(name: str, tmp_path: Path) -> None:
    threads, text = PROGRAMS[name]
    _is_not_proved(text, threads, tmp_path)


@pytest.mark.parametrize("name", [name for name, pair in PAIRS.items() if pair.threads])
def test_questions_that_are_too_hard(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is known behind a step that leads to where somebody was."""
    meet, solve = Invariants._meet, Invariants._solve
    target = None

    def hard_to_meet(self: Invariants, obligation: Any) -> bool:
        nonlocal target
        target = obligation.target
        try:
            return meet(self, obligation)
        finally:
            target = None

    def solved(self: Invariants, assumed: Iterable[int]) -> bool | None:
        is_hard = target is not None and self.candidates[target] is not None
        answer = solve(self, assumed)
        return None if answer and is_hard else answer

    monkeypatch.setattr(Invariants, "_meet", hard_to_meet)
    monkeypatch.setattr(Invariants, "_solve", solved)
    specification = from_names(["assertions"])
    program = loaded(PAIRS[name].violated, tmp_path, specification)
    assert verify(program, specification).answer is Answer.UNKNOWN


def test_numbers_that_are_calculated_with(tmp_path: Path) -> None:
    """Barriers know their threads by bits."""
    text = """
pthread_barrier_t barrier;
void *run(void *unused) {
  pthread_barrier_wait(&barrier);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_barrier_init(&barrier, 0, 2);
  while (MORE) pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
"""
    specification = from_names(["assertions"])
    outcome = verify(loaded(text, tmp_path, specification), specification)
    assert outcome.answer is Answer.UNKNOWN
    assert outcome.reason == "pthread_barrier_wait calculates with the number of a thread"


def _is_not_proved(text: str, threads: int, folder: Path) -> None:
    specification = from_names(["assertions"])
    program = loaded(text, folder, specification, threads)
    options = ExploreOptions(max_states=20_000)
    assert explore(program, specification, options).verdict is Verdict.FALSE
    program = loaded(text, folder, specification)
    assert verify(program, specification).answer is Answer.UNKNOWN
