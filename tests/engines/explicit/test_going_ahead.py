"""A step that goes ahead of all that others may do: what must not be lost by it, and that it gains
something. Each program violates its property only in an order that a hasty reduction leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.explicit.helpers import ask

from plait.engines.explicit.futures import Accessed, Blocked, Futures, Version, on_cycles
from plait.engines.explicit.sections import Part, Profile
from plait.engines.interface import Answer
from plait.semantics.state import State

BEGIN = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
void __VERIFIER_assume(int);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
atomic_int x, y, z, w;
pthread_t one, two, three;
"""
# The first thread's steps look independent until the second one is at the same variable.
LATE_CONFLICT = (
    BEGIN
    + """
void *left(void *p) { x = 1; x = 2; return p; }
void *right(void *p) { y = 1; y = 2; y = 3; if (x == 1) z = 1; return p; }
int main(void) {
  pthread_create(&one, NULL, left, NULL);
  pthread_create(&two, NULL, right, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  assert(z == 0);
}
"""
)
# A thread that spins is ahead of nobody for ever.
SPINNING = (
    BEGIN
    + """
void *spin(void *p) { while (!w); return p; }
void *run(void *p) { x = 1; assert(y == 0); return p; }
int main(void) {
  pthread_create(&one, NULL, spin, NULL);
  pthread_create(&two, NULL, run, NULL);
  y = 1;
  while (1) z = 0;
}
"""
)
# Where the right thread waits for the semaphore, nobody tries it: the left one goes ahead of that,
# as nobody else posts. But it does not wait where the left one has just posted.
POSTED_IN_BETWEEN = (
    BEGIN.replace("<stdlib.h>", "<semaphore.h>")
    + """
sem_t never, s, r;
int c, d;
_Bool __VERIFIER_nondet_bool(void);
void *left(void *p) {
  pthread_mutex_lock(&m); c = 1; pthread_mutex_unlock(&m);
  sem_post(&s); sem_trywait(&s);
  if (d) sem_wait(&r);
  z = 1;
  return p;
}
void *right(void *p) {
  int own;
  pthread_mutex_lock(&m); own = c; pthread_mutex_unlock(&m);
  if (own) {
    sem_post(&r);
    __VERIFIER_atomic_begin();
    if (!z) sem_wait(d ? &never : &s);
    __VERIFIER_atomic_end();
    assert(z);
  }
  return p;
}
int main(void) {
  if (__VERIFIER_nondet_bool()) d = 1; else { WAIT }
  pthread_create(&one, NULL, left, NULL);
  pthread_create(&two, NULL, right, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
}
""".replace("WAIT", 20 * "x++; ")
)
# While the lock is held others wait for it, except for the one who only tries.
TRIED = (
    BEGIN
    + """
void *hold(void *p) { pthread_mutex_lock(&m); x = 1; x = 0; pthread_mutex_unlock(&m); return p; }
void *look(void *p) { if (pthread_mutex_trylock(&m) != 0) assert(x == 0); return p; }
int main(void) {
  pthread_create(&one, NULL, hold, NULL);
  pthread_create(&two, NULL, look, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
}
"""
)
# Who waits for the lock is let in by a third thread, which does not hold it.
OPENED = (
    BEGIN
    + """
void *hold(void *p) { pthread_mutex_lock(&m); x = 1; x = 0; return p; }
void *look(void *p) { pthread_mutex_lock(&m); assert(x == 0); return p; }
void *open(void *p) { pthread_mutex_unlock(&m); return p; }
int main(void) {
  pthread_create(&one, NULL, hold, NULL);
  pthread_create(&two, NULL, look, NULL);
  pthread_create(&three, NULL, open, NULL);
  pthread_join(one, NULL);
}
"""
)
# Only the second step of `look` conflicts with `hold`, and it is blocked ever after.
HELD = (
    BEGIN
    + """
void *hold(void *p) { pthread_mutex_lock(&m); return p; }
void *look(void *p) { y = 1; pthread_mutex_lock(&m); assert(0); return p; }
int main(void) {
  pthread_create(&one, NULL, hold, NULL);
  pthread_create(&two, NULL, look, NULL);
  y = 2;
  pthread_join(two, NULL);
}
"""
)
# Who looks at x does not exist yet.
BORN = (
    BEGIN
    + """
void *left(void *p) { x = 1; x = 2; return p; }
void *right(void *p) { if (x == 1) assert(0); return p; }
void *start(void *p) { pthread_create(&three, NULL, right, NULL); return p; }
int main(void) {
  pthread_create(&one, NULL, left, NULL);
  pthread_create(&two, NULL, start, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  pthread_join(three, NULL);
}
"""
)
# Memory is lost only if the process ends between two steps of another thread.
LOST = (
    BEGIN
    + """
static unsigned long hidden;
void *leave(void *p) { x = 1; exit(0); return p; }
int main(void) {
  pthread_create(&one, NULL, leave, NULL);
  int *mine = malloc(4);
  hidden = ~(unsigned long)mine;
  mine = NULL;
  y = 1;
  mine = (int *)~hidden;
  y = 2;
  free(mine);
  pthread_join(one, NULL);
}
"""
)
RACE_LATER = (
    BEGIN
    + """
int plain;
void *left(void *p) { x = 1; plain = 1; return p; }
void *right(void *p) { y = 1; y = 2; plain = 2; return p; }
int main(void) {
  pthread_create(&one, NULL, left, NULL);
  pthread_create(&two, NULL, right, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
}
"""
)


@pytest.mark.parametrize("persistent_sets", [True, False])
@pytest.mark.parametrize(
    ("text", "property_"),
    [
        pytest.param(LATE_CONFLICT, "assertions", id="late conflict"),
        pytest.param(SPINNING, "assertions", id="spinning"),
        pytest.param(TRIED, "assertions", id="tried"),
        pytest.param(OPENED, "assertions", id="opened"),
        pytest.param(HELD, "assertions", id="held"),
        pytest.param(BORN, "assertions", id="born"),
        pytest.param(LOST, "valid-memsafety", id="lost"),
        pytest.param(RACE_LATER, "no-data-race", id="race later"),
    ],
)
def test_violations(text: str, property_: str, persistent_sets: bool, tmp_path: Path) -> None:
    outcome = ask(tmp_path, text, property_, persistent_sets=persistent_sets)
    assert outcome.answer is Answer.VIOLATED, outcome.reason


ASSUMED = (
    BEGIN
    + """
void *fail(void *p) { __VERIFIER_assume(y == 1); return p; }
void *run(void *p) {
  pthread_mutex_lock(&n); pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m); pthread_mutex_unlock(&n);
  return p;
}
int main(void) {
  pthread_create(&one, NULL, fail, NULL);
  pthread_create(&two, NULL, run, NULL);
  y = 2;
  pthread_mutex_lock(&m); pthread_mutex_lock(&n);
  pthread_mutex_unlock(&n); pthread_mutex_unlock(&m);
  pthread_join(two, NULL);
}
"""
)


@pytest.mark.parametrize("sections", [True, False])
def test_a_wait_that_is_never_tried(sections: bool, tmp_path: Path) -> None:
    outcome = ask(tmp_path, POSTED_IN_BETWEEN, sections=sections)
    assert outcome.answer is Answer.VIOLATED, outcome.reason


@pytest.mark.parametrize("persistent_sets", [True, False])
def test_a_failed_assumption(persistent_sets: bool, tmp_path: Path) -> None:
    """It goes ahead of nothing: the execution in which others wait for ever would not exist."""
    outcome = ask(tmp_path, ASSUMED, "no-deadlock", persistent_sets=persistent_sets)
    assert outcome.answer is Answer.UNKNOWN
    assert "in which an assumption fails later" in outcome.reason


COUNTER = (
    BEGIN
    + """
int counter;
void *add(void *p) {
  for (int i = 0; i < 3; i++) {
    pthread_mutex_lock(&m);
    counter++;
    pthread_mutex_unlock(&m);
  }
  return p;
}
int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, add, NULL);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  assert(counter == 9);
}
"""
)


@pytest.mark.parametrize("property_", ["assertions", "no-data-race", "no-deadlock"])
def test_it_pays(property_: str, tmp_path: Path) -> None:
    """While a thread holds the lock it goes ahead, as those who wait for it or for its end do not
    get further."""
    reduced = ask(tmp_path, COUNTER, property_)
    whole = ask(tmp_path, COUNTER, property_, persistent_sets=False)
    assert reduced.answer is whole.answer is Answer.HOLDS
    assert 3 * reduced.statistics.numbers()["states"] < whole.statistics.numbers()["states"]


def test_on_cycles() -> None:
    assert on_cycles({1: (2,), 2: (3,), 3: (4,)}) == []
    assert on_cycles({1: (2,), 2: (1,)}) == [2]
    assert on_cycles({1: (1,)}) == [1]
    assert on_cycles({1: (2,), 2: (5,), 3: (2, 3)}) == [3]
    found = on_cycles({1: (2, 3), 2: (4,), 3: (4,), 4: (1,)})
    assert found == [4]


PROFILE = Profile((Part((), frozenset()),))


def step(reads: int, writes: int) -> Version:
    """Nothing is known of what it computes."""
    version = Version(PROFILE, Accessed(reads, writes))
    version.is_opaque = True
    return version


class NoLocks:
    def agree(self, one: Profile, other: Profile) -> bool:
        return False

    def size(self, lock: int) -> int:
        return 0


class TestFutures:
    """Of threads that are made up: what is noted is found again from where it may come to be."""

    def futures(self, blocked: Blocked = lambda state, local: None) -> Futures:
        return Futures(blocked, lambda one, other: False, NoLocks(), finds_leaks=False, needs=None)

    @pytest.mark.parametrize("cells", [0, 16])
    def test_who_waits_for_what_it_changes_itself(self, cells: int) -> None:
        """By a write that others can see, or unseen on a page of its own."""
        page = 0 if cells else 1
        futures = self.futures(lambda state, local: (cells, page) if local.may_block else None)
        before, waiting = (futures.local_state(2, item) for item in ("a", "b"))  # type: ignore[arg-type]
        futures.note(waiting, step(4, 0), 0)
        waiting.may_block = True
        mine, nowhere = Accessed(0, 4), State((), (), (), (), (), None)
        assert futures.goes_ahead(nowhere, mine, [], [waiting])
        futures.note(before, step(0, 32), 2, [waiting])
        assert futures.goes_ahead(nowhere, mine, [], [before])
        futures.note(before, step(0, cells), page)
        assert not futures.goes_ahead(nowhere, mine, [], [before])

    def test_what_comes_later_counts(self) -> None:
        futures = self.futures()
        first, second, third = (futures.local_state(2, item) for item in ("a", "b", "c"))  # type: ignore[arg-type]
        futures.note(first, step(0, 4), 0, [second])
        futures.note(second, step(8, 0), 0, [third, first])
        growth = futures.growth
        futures.note(third, step(0, 16), 0)
        assert futures.growth > growth
        assert first.future == Accessed(8, 20)

    def test_what_is_new_at_a_node_is_growth(self) -> None:
        """Even if it was in its future already: others may not get there."""
        futures = self.futures()
        first, second = (futures.local_state(2, item) for item in ("a", "b"))  # type: ignore[arg-type]
        futures.note(first, step(0, 4), 0, [second])
        futures.note(second, step(0, 8), 0)
        growth = futures.growth
        futures.note(first, step(0, 8), 0)
        assert futures.growth > growth
        growth = futures.growth
        futures.note(first, step(0, 8), 0)
        assert futures.growth == growth
