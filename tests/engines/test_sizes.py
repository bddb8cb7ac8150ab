"""Allocations whose size depends on inputs, in the engines that execute symbolically.
`test_agreement` of each engine compares them with exploration on random programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.asking import outcome_of

from plait.engines.interface import Answer
from plait.logic.progression import Progressions
from plait.logic.terms import Terms

HEAD = """
#include <alloca.h>
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
extern unsigned __VERIFIER_nondet_uint(void);
int *p; unsigned n;
void *work(void *a) { for (unsigned i = 0; i < n; i++) p[i] += 1; return 0; }
"""
MAIN = """
int main(void) {
  pthread_t t;
  n = __VERIFIER_nondet_uint();
  LIMIT
  p = calloc(n, sizeof *p);
  pthread_create(&t, 0, work, 0);
  BETWEEN
  pthread_join(t, 0);
  LAST
  free(p);
}
"""
CASES = {
    "few sizes": ("if (n > 2) return 0;", "", "if (n) assert(p[n - 1] == 1);", Answer.HOLDS, ""),
    "a bug in one of few": ("if (n > 3) return 0;", "", "if (n) assert(p[0] == 1 && n != 3);", Answer.VIOLATED, ""),
    "a bug in one of many": ("", "", "assert(n != 5);", Answer.VIOLATED, ""),
    "a race in one of many": ("", "if (n > 2) p[2] = 5;", "if (n > 2) assert(p[2] != 5);", Answer.VIOLATED, ""),
    "any size": ("", "", "", Answer.UNKNOWN, "an allocation"),
    "an access behind the end": ("if (n > 3) return 0;", "", "p[n] = 1;", Answer.UNKNOWN, "access"),
    "an access behind one of the ends": ("if (n > 3) return 0;", "", "p[2] = 1;", Answer.UNKNOWN, "access"),
    "an access before the start": ("if (n > 3) return 0;", "", "p[-1] = 1;", Answer.UNKNOWN, "access to no"),
}  # fmt: skip


def program(limit: str, between: str, last: str) -> str:
    return HEAD + MAIN.replace("LIMIT", limit).replace("BETWEEN", between).replace("LAST", last)


@pytest.mark.parametrize("engine", ["orders", "impact"])
@pytest.mark.parametrize(
    ("limit", "between", "last", "expected", "reason"), CASES.values(), ids=CASES.keys()
)
def test_an_array_of_any_length(
    engine: str, limit: str, between: str, last: str, expected: Answer, reason: str, tmp_path: Path
) -> None:
    outcome = outcome_of(engine, program(limit, between, last), tmp_path)
    assert outcome.answer is expected, outcome.reason
    assert reason in outcome.reason


def test_many_sizes_in_orders(tmp_path: Path) -> None:
    """The bound on sizes is raised as those of loops are."""
    text = program("if (n > 20) return 0;", "", "if (n) assert(p[n - 1] == 1);")
    assert outcome_of("orders", text, tmp_path).answer is Answer.HOLDS
    text = program("if (n > 20) return 0;", "", "assert(n != 20);")
    assert outcome_of("orders", text, tmp_path).answer is Answer.VIOLATED


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ("", Answer.HOLDS),
        ("if (n) p[n - 1] = 1;", Answer.HOLDS),
        ("p[n] = 1;", Answer.VIOLATED),
        ("free(p);", Answer.VIOLATED),
        ("p = realloc(p, 4 * n + 4); p[n] = 1;", Answer.HOLDS),
    ],
)
def test_memory_safety(last: str, expected: Answer, tmp_path: Path) -> None:
    text = program("if (n > 3 || n < 1) return 0;", "", last)
    assert outcome_of("orders", text, tmp_path, "valid-memsafety").answer is expected


def test_races(tmp_path: Path) -> None:
    racing = program("", "if (n > 2) p[2] = 5;", "")
    assert outcome_of("orders", racing, tmp_path, "no-data-race").answer is Answer.VIOLATED
    apart = program("if (n > 3) return 0;", "int *q = malloc(n); free(q);", "")
    assert outcome_of("orders", apart, tmp_path, "no-data-race").answer is Answer.HOLDS


@pytest.mark.parametrize("engine", ["orders", "impact"])
def test_objects_of_frames(engine: str, tmp_path: Path) -> None:
    """At the same place they have different sizes, which a certificate must tell apart."""
    text = """
    int main(void) {
      n = __VERIFIER_nondet_uint();
      if (n < 1 || n > 2) return 0;
      int *a = alloca(n * sizeof *a), v[n];
      pthread_t t;
      a[n - 1] = v[n - 1] = 4;
      p = a;
      pthread_create(&t, 0, work, 0);
      pthread_join(t, 0);
      assert(v[n - 1] == 4);
    }
    """
    undefined = text.replace("a[n - 1] = v", "a[1] = v")
    assert outcome_of(engine, HEAD + undefined, tmp_path).answer is Answer.UNKNOWN
    text = text.replace("p = a;", "for (unsigned i = 0; i < n; i++) a[i] = 0; p = a;")
    assert outcome_of(engine, HEAD + text, tmp_path).answer is Answer.HOLDS


def test_the_smallest_sizes() -> None:
    terms = Terms()
    n = terms.variable("n", 64)

    def of(term: int, most: int = 100) -> list[int]:
        return Progressions(terms).smallest(term, 3, most)

    four, eight, twelve = (terms.constant(number, 64) for number in (4, 8, 12))
    assert of(n) == [0, 1, 2, 3]
    assert of(terms.mul(n, twelve)) == [0, 12, 24, 36]
    assert of(terms.add(terms.mul(n, four), eight)) == [8, 12, 16, 20]
    assert of(terms.mul(n, twelve), 20) == [0, 12]
    assert of(terms.sub(terms.mul(n, four), eight)) == [0, 4, 8, 12]
    assert of(terms.ite(terms.variable("c", 1), twelve, four))[:2] == [4, 12]


def test_terms_that_share_parts_are_looked_at_once() -> None:
    """Written out, the last one has 2^64 parts."""
    terms = Terms()
    term = terms.mul(terms.variable("n", 64), terms.constant(12, 64))
    for number in range(64):
        shifted = terms.add(term, terms.constant(4 << number, 64))
        term = terms.ite(terms.variable(f"c{number}", 1), term, shifted)
    assert Progressions(terms).of(term) == (0, 4)


WIDE_INDEX = """
extern unsigned long __VERIFIER_nondet_ulong(void);
int main(void) {
  unsigned long i = __VERIFIER_nondet_ulong();
  if (i < 1 || i > 2) return 0;
  char *text = malloc(i + 1);
  text[i - 1] = 1; text[LAST] = 0;
  free(text);
}
"""


@pytest.mark.parametrize(("last", "expected"), [("i", Answer.HOLDS), ("i + 1", Answer.VIOLATED)])
def test_an_index_as_wide_as_an_address(last: str, expected: Answer, tmp_path: Path) -> None:
    """`text` plus an input as it is: the sum is no pointer of which nothing is known."""
    text = HEAD + WIDE_INDEX.replace("LAST", last)
    assert outcome_of("orders", text, tmp_path, "valid-memsafety").answer is expected


def test_a_line_that_is_lost_at_the_end_of_the_input(tmp_path: Path) -> None:
    lost = """
    #define _GNU_SOURCE
    #include <stdio.h>
    #include <stdlib.h>
    int main(void) {
      char *line = 0; size_t n = 0;
      if (getline(&line, &n, stdin) == -1) return 0;
      free(line); }
    """
    found = outcome_of("orders", lost, tmp_path, "valid-memsafety")
    assert found.answer is Answer.VIOLATED, found.reason
