"""Steps of others count only with values that can be there: what must not be lost by that, and
that it gains something. Each program violates its assertion only if a thread takes its steps late
that were seen before all of the others'."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.explicit.helpers import ask

from plait.engines.explicit.possible import Need, PossibleValues, Range
from plait.engines.interface import Answer
from plait.semantics.memo import Span
from plait.semantics.state import State

BEGIN = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
atomic_int x, y, z, w;
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
"""
END = """
int main(void) {
  pthread_t threads[3];
  pthread_create(&threads[0], NULL, left, NULL);
  pthread_create(&threads[1], NULL, right, NULL);
  pthread_create(&threads[2], NULL, helper, NULL);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  assert(z == 0);
}
"""
# What `right` finds in x it was seen to find behind the step that goes ahead.
WRITTEN_BY_WHO_GOES_AHEAD = (
    BEGIN
    + """
void *left(void *p) { x = 1; return p; }
void *right(void *p) { y = 1; if (x == 0) z = 1; return p; }
void *helper(void *p) { return p; }
"""
    + END
)
# `left` adds ahead of `right`, which was never seen to find 0 in w.
ADDED_AHEAD = (
    BEGIN
    + """
void *left(void *p) { x = 1; w += 1; return p; }
void *right(void *p) { y = 1; w += 1; if (x == 0) z = 1; return p; }
void *helper(void *p) { return p; }
"""
    + END
)
# What lets `right` go on is written by a step that does more than to load and store.
WRITTEN_WITH_AN_OBJECT = (
    BEGIN
    + """
void *left(void *p) { x = 1; return p; }
void *right(void *p) { y = 1; if (w == 1 && x == 0) z = 1; return p; }
void *helper(void *p) {
  pthread_mutex_lock(&m);
  int *own = malloc(sizeof *own);
  w = 1;
  free(own);
  pthread_mutex_unlock(&m);
  return p;
}
"""
    + END
)
# It is in an object that is not there when `left` goes ahead.
WRITTEN_INTO_AN_OBJECT = (
    BEGIN
    + """
int *_Atomic shared;
void *left(void *p) { x = 1; return p; }
void *right(void *p) {
  y = 1;
  int *it = shared;
  if (it && *it == VALUE && x == 0) z = 1;
  return p;
}
void *helper(void *p) { int *own = ALLOCATE; shared = own; return p; }
"""
    + END
)
# It is written as a part of something larger.
WRITTEN_AS_A_WHOLE = (
    BEGIN
    + """
union { atomic_llong whole; atomic_int parts[2]; } cell;
void *left(void *p) { x = 1; return p; }
void *right(void *p) { y = 1; if (cell.parts[0] == 1 && x == 0) z = 1; return p; }
void *helper(void *p) { cell.whole = 1; return p; }
"""
    + END
)
# A third thread lets `right` go on, which waits when `left` goes ahead.
LET_IN = (
    BEGIN.replace("<stdlib.h>", "<semaphore.h>")
    + """
sem_t s;
void *left(void *p) { x = 1; x = 2; return p; }
void *right(void *p) { sem_wait(&s); if (x == 1) z = 1; return p; }
void *helper(void *p) { y = 1; y = 2; sem_post(&s); return p; }
"""
    + END
)


@pytest.mark.parametrize("values", [True, False])
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(WRITTEN_BY_WHO_GOES_AHEAD, id="written by who goes ahead"),
        pytest.param(ADDED_AHEAD, id="added ahead"),
        pytest.param(WRITTEN_WITH_AN_OBJECT, id="written with an object"),
        pytest.param(
            WRITTEN_WITH_AN_OBJECT.replace("malloc(sizeof *own)", "calloc(1, sizeof *own)").replace(
                "w = 1", "w = *own + 1"
            ),
            id="written from an object",
        ),
        pytest.param(
            WRITTEN_WITH_AN_OBJECT.replace(
                "  pthread_mutex_lock(&m);\n", "  __VERIFIER_atomic_begin();\n"
            )
            .replace("  pthread_mutex_unlock(&m);\n", "  __VERIFIER_atomic_end();\n")
            .replace("w = 1", "y = 3; w = y - 2"),
            id="written by the same step",
        ),
        pytest.param(
            WRITTEN_INTO_AN_OBJECT.replace("ALLOCATE", "calloc(1, 4)").replace("VALUE", "0"),
            id="made with it",
        ),
        pytest.param(
            WRITTEN_INTO_AN_OBJECT.replace("ALLOCATE", "malloc(4); *own = 7").replace("VALUE", "7"),
            id="written into an object",
        ),
        pytest.param(WRITTEN_AS_A_WHOLE, id="written as a whole"),
        pytest.param(LET_IN, id="let in"),
    ],
)
def test_violations(text: str, values: bool, tmp_path: Path) -> None:
    outcome = ask(tmp_path, text, values=values)
    assert outcome.answer is Answer.VIOLATED, outcome.reason


# `right` gives a byte that nobody has set a value itself, and then finds it there in the same step.
# The other value never gets out of the section.
GIVEN_A_VALUE_WHERE_IT_IS_USED = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
void __VERIFIER_assume(int);
atomic_int x, y, z;
_Bool *cell;
void *left(void *p) { x = 1; return p; }
void *right(void *p) {
  y = 1;
  __VERIFIER_atomic_begin();
  _Bool one = *cell, two = *cell;
  __VERIFIER_assume(one && two);
  __VERIFIER_atomic_end();
  if (x == 0) z = 1;
  return p;
}
int main(void) {
  cell = malloc(1);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, left, NULL);
  pthread_create(&threads[1], NULL, right, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  assert(z == 0);
}
"""


@pytest.mark.parametrize("values", [True, False])
def test_bytes_that_get_a_value_where_they_are_used(values: bool, tmp_path: Path) -> None:
    outcome = ask(tmp_path, GIVEN_A_VALUE_WHERE_IT_IS_USED, values=values)
    assert outcome.answer is Answer.VIOLATED, outcome.reason


HANDED_OVER = """
#include <assert.h>
#include <pthread.h>
struct item { int value; struct item *next; } items[3];
struct item *first;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *work(void *p) {
  for (;;) {
    pthread_mutex_lock(&m);
    struct item *own = first;
    if (own) first = own->next;
    pthread_mutex_unlock(&m);
    if (!own) return p;
    own->value += 1;
    own->value *= 2;
  }
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 3; i++) { items[i].next = first; first = &items[i]; }
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  for (int i = 0; i < 3; i++) assert(items[i].value == 2);
}
"""


@pytest.mark.parametrize("property_", ["assertions", "no-data-race"])
def test_what_was_taken_from_a_list_nobody_else_gets(property_: str, tmp_path: Path) -> None:
    with_values = ask(tmp_path, HANDED_OVER, property_, values=True)
    without = ask(tmp_path, HANDED_OVER, property_, values=False)
    assert with_values.answer is without.answer is Answer.HOLDS
    assert (
        3 * with_values.statistics.numbers()["states"] < 2 * without.statistics.numbers()["states"]
    )


class TestPossibleValues:
    """Of one object with 8 bytes, which are 0 to 7."""

    def values(self, *unknown: Range) -> PossibleValues:
        state = State((5,), (bytes(range(8)),), (), (), (), None)
        return PossibleValues(state, {5: 0}, unknown)

    def need(self, data: bytes, start: int = 0, page: int = 5) -> Need:
        address = (page << 32) + start
        end = start + len(data)
        return Need(Span(page, start, end), data, Range(address, address + len(data)))

    def test_what_is_there(self) -> None:
        values = self.values()
        assert not values.missing([self.need(b"\0\1"), self.need(b"\2\3", 2)])
        assert values.missing([self.need(b"\0\1"), self.need(b"\2\2", 2)])
        assert values.missing([self.need(b"\0\1", page=6)])

    def test_what_is_written(self) -> None:
        values = self.values()
        values.write([(Span(5, 0, 2), b"\7\7")])
        assert not values.missing([self.need(b"\7\7")])
        assert not values.missing([self.need(b"\0\1")])  # it need not be written
        assert values.missing([self.need(b"\6\7")])
        assert values.missing([self.need(b"\7\7", 2)])

    def test_what_is_written_in_other_pieces(self) -> None:
        values = self.values()
        values.write([(Span(5, 1, 3), b"\7\7")])
        assert not values.missing([self.need(b"\6\6")])
        assert not values.missing([self.need(b"\6\6", 2)])
        assert values.missing([self.need(b"\6\6", 3)])

    def test_what_is_changed(self) -> None:
        values = self.values()
        values.change([6])
        assert not values.missing([self.need(b"\6\6", page=6)])
        assert values.missing([self.need(b"\6\6")])

    def test_what_is_not_known(self) -> None:
        values = self.values(Range((5 << 32) + 1, (5 << 32) + 3))
        assert not values.missing([self.need(b"\6\6"), self.need(b"\6\6", 2)])
        assert values.missing([self.need(b"\6\6", 3)])
        assert values.missing([self.need(b"\6", 0)])
