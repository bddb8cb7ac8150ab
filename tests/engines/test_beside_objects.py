"""Pointers that arithmetic takes out of their object: they can be compared and come back, no access
through them is valid, and none of them comes to look like a pointer to another object. Proofs of
impact are checked, counterexamples of both engines replayed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.asking import outcome_of

from plait.c import FrontEndOptions, load
from plait.engines.interface import Answer
from plait.model.properties import from_names
from plait.model.types import DataModel
from plait.semantics.explore import ExploreOptions, explore

LIST = """
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
struct list { struct list *next; };
struct item { long first; struct list node; int value; };
struct list head = {&head};
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *add(void *argument) {
  struct item *item = malloc(sizeof *item);
  item->value = 1;
  pthread_mutex_lock(&m);
  item->node.next = head.next;
  head.next = &item->node;
  pthread_mutex_unlock(&m);
  return NULL;
}
int main(void) {
  pthread_t id;
  int sum = 0;
  pthread_create(&id, NULL, add, NULL);
  pthread_mutex_lock(&m);
  struct item *item = container_of(head.next, struct item, node);
  for (; &item->node != &head; item = container_of(item->node.next, struct item, node))
    sum += item->value;
  pthread_mutex_unlock(&m);
  LAST
}
"""
PLAIN = """
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
extern long __VERIFIER_nondet_long(void);
int before[2], x[2] = {5, 6}, behind[2];
struct item { long first; int node; };
static char *in_front = (char *)x - 8;
int main(void) {
  LAST
}
"""
HOLDS, VIOLATED, UNKNOWN = Answer.HOLDS, Answer.VIOLATED, Answer.UNKNOWN
CASES = {
    "a list": (LIST, "assert(sum <= 1);", "assertions", HOLDS),
    "a list with one entry": (LIST, "assert(sum < 1);", "assertions", VIOLATED),
    "a list whose accesses are valid": (LIST, "free(NULL);", "valid-access", HOLDS),
    "an access to the head as an entry": (LIST, "item->value = 1;", "valid-access", VIOLATED),
    "and back": (PLAIN, "int *p = x - 3; p = p + 4; assert(*p == 6);", "assertions", HOLDS),
    "a static pointer": (PLAIN, "assert(*(int *)(in_front + 12) == 6);", "assertions", HOLDS),
    "one that is read": (PLAIN, "int *p = x - 1; *p = 1;", "valid-access", VIOLATED),
    "the end of another": (PLAIN, "int *p = x; assert(p - 1 != before + 2);", "assertions", HOLDS),
    "one of null": (
        PLAIN,
        "int *n = NULL; struct item *p = (struct item *)((char *)n - 8); assert(&p->node == n);",
        "assertions",
        HOLDS,
    ),
    "far behind": (
        PLAIN, "int *p = x + (3L << 30); assert(p != behind);", "assertions", UNKNOWN,
    ),
    "far in front": (
        PLAIN, "int *p = x - (3L << 30); assert(p != before);", "assertions", UNKNOWN,
    ),
    "by an input": (
        PLAIN,
        "long n = __VERIFIER_nondet_long(); if (n > 1L << 61 || n < -(1L << 61)) return 0;"
        "int *p = x + n; *p = 3; assert(before[0] == 0 && behind[0] == 0);",
        "assertions",
        UNKNOWN,
    ),
}  # fmt: skip


@pytest.mark.parametrize("engine", ["orders", "impact"])
@pytest.mark.parametrize(("text", "last", "of", "expected"), CASES.values(), ids=CASES.keys())
def test_engines(
    engine: str, text: str, last: str, of: str, expected: Answer, tmp_path: Path
) -> None:
    outcome = outcome_of(engine, text.replace("LAST", last), tmp_path, of)
    assert outcome.answer is expected, outcome.reason


@pytest.mark.parametrize(("text", "last", "of", "expected"), CASES.values(), ids=CASES.keys())
def test_exploration(text: str, last: str, of: str, expected: Answer, tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(text.replace("LAST", last))
    specification = from_names([of])
    options = ExploreOptions(inputs=(-(1 << 31), -(1 << 31)), max_seconds=20)
    found = explore(load([str(path)], FrontEndOptions(), specification), specification, options)
    answers = {HOLDS: "true", VIOLATED: "false", UNKNOWN: "unknown"}
    assert found.verdict.value == answers[expected], found.reason


LARGE = """
#include <assert.h>
char before[4], x[30000], behind[4];
int main(void) {
  char *p = x - 5000;
  p = p + 34999;
  *p = 7;
  p = p - 34999;
  assert(x[29999] == 7);
  LAST
}
"""


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ("p = p + 5000; assert(p == x);", "true"),
        ("p = p - 5000;", "unknown"),
        ("p = p + 5000 + 8192 * 4; assert(p != behind);", "true"),
        ("p = p + 5000 + 8192 * 6;", "unknown"),
    ],
)
def test_objects_of_several_pages(last: str, expected: str, tmp_path: Path) -> None:
    """The page in front of them is theirs too; the one in front of the next object is not."""
    path = tmp_path / "program.c"
    path.write_text(LARGE.replace("LAST", last))
    specification = from_names(["assertions"])
    options = FrontEndOptions(data_model=DataModel.ILP32)
    program = load([str(path)], options, specification)
    found = explore(program, specification, ExploreOptions(max_seconds=20))
    assert found.verdict.value == expected, found.reason


def test_a_static_pointer_far_outside_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text("int x; char *p = (char *)&x - (1L << 33);\nint main(void) { return p == 0; }")
    specification = from_names(["assertions"])
    found = explore(load([str(path)], FrontEndOptions(), specification), specification)
    assert found.verdict.value == "unknown"
    assert "far outside of its object" in found.reason
