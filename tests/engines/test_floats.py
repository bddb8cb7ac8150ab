"""Floating point in the engines that execute symbolically: verdicts, undefined conversions, NaNs.
`test_agreement` of each engine compares them with exploration on random programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.asking import outcome_of

from plait.engines.interface import Answer

HEAD = """
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
extern int __VERIFIER_nondet_int(void);
extern float __VERIFIER_nondet_float(void);
extern double __VERIFIER_nondet_double(void);
"""
PROGRESS = """
int done, total = 40;
void *work(void *p) { for (int i = 0; i < 2; i++) done++; return 0; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  float percent = (float)done / total * 100;
  printf("%f\\n", percent);
  CHECK
  pthread_join(t, 0);
  return 0;
}
"""


def test_a_race_behind_a_cast_is_found(tmp_path: Path) -> None:
    text = PROGRESS.replace("CHECK", "")
    assert outcome_of("orders", HEAD + text, tmp_path, "no-data-race").answer is Answer.VIOLATED


@pytest.mark.parametrize("engine", ["orders", "impact"])
@pytest.mark.parametrize(
    ("check", "expected"),
    [("assert(percent != 2.5f);", Answer.VIOLATED), ("assert(percent <= 5);", Answer.HOLDS)],
)
def test_what_a_race_makes_of_a_number(
    engine: str, check: str, expected: Answer, tmp_path: Path
) -> None:
    assert outcome_of(engine, HEAD + PROGRESS.replace("CHECK", check), tmp_path).answer is expected


PROGRAMS = {
    "an exact sum": ("double d; int main(void) { d += 0.1; d += 0.2; assert(d != 0.3); assert(d - 0.3 < 1e-15); }", Answer.HOLDS),
    "a rounded one": ("int main(void) { float f = 16777216; assert(f + 1 == f); assert(f + 2 == f); }", Answer.VIOLATED),
    "any number": ("int main(void) { float f = __VERIFIER_nondet_float(); if (f == f) assert(f - f == 0); }", Answer.VIOLATED),
    "any finite number": ("int main(void) { float f = __VERIFIER_nondet_float(); if (f < 1e30f && f > -1e30f) assert(-f <= 1e30f); }", Answer.HOLDS),
    "an input that gets to be a bug": ("int main(void) { double d = __VERIFIER_nondet_double(); assert(d + 1 != 7.5); }", Answer.VIOLATED),
    "an integer in between": ("int main(void) { short n = __VERIFIER_nondet_int(); assert((int)(float)n == n); }", Answer.HOLDS),
    "an integer that is rounded": ("int main(void) { int n = __VERIFIER_nondet_int(); if (n < 1 << 30) { assert((float)n == n); } double d = n; assert(d == n); assert((float)d == d); }", Answer.VIOLATED),
    "zeros": ("int main(void) { double z = -0.0, d = __VERIFIER_nondet_double(); assert(z == 0); if (z) assert(0); if (d == 0) assert(d * d == z); }", Answer.HOLDS),
    "a conversion that fits": ("int main(void) { double d = __VERIFIER_nondet_double(); if (d > -1 && d < 256) { unsigned char c = d; assert(c <= d || d < 0); } }", Answer.HOLDS),
    "one that may not fit": ("int main(void) { double d = __VERIFIER_nondet_double(); if (d > -1 && d <= 256) { unsigned char c = d; assert(c == c); } }", Answer.UNKNOWN),
    "one that never fits": ("int main(void) { float f = 3e9f; int i = f; assert(i == i); }", Answer.UNKNOWN),
    "a NaN does not fit": ("int main(void) { double z = 0; long i = z / z; assert(i == i); }", Answer.UNKNOWN),
    "below the least integer": ("int main(void) { double d = __VERIFIER_nondet_double(); if (d > -2147483649.0 && d < 0) { int i = d; assert(i <= 0); } }", Answer.HOLDS),
    "the first that is too small": ("int main(void) { double d = __VERIFIER_nondet_double(); if (d >= -2147483649.0 && d < 0) { int i = d; assert(i <= 0); } }", Answer.UNKNOWN),
    "the first that is too large": ("int main(void) { float f = __VERIFIER_nondet_float(); if (f >= 0 && f <= 2147483647.0f) { int i = f; assert(i >= 0); } }", Answer.UNKNOWN),
    "a bug before what is undefined": ("int g; int main(void) { double d = __VERIFIER_nondet_double(); assert(d != 2); int i = d; g = i; }", Answer.VIOLATED),
}  # fmt: skip


@pytest.mark.parametrize("engine", ["orders", "impact"])
@pytest.mark.parametrize(("text", "expected"), PROGRAMS.values(), ids=PROGRAMS.keys())
def test_small_programs(engine: str, text: str, expected: Answer, tmp_path: Path) -> None:
    outcome = outcome_of(engine, HEAD + text, tmp_path)
    assert outcome.answer is expected, outcome.reason
    if expected is Answer.UNKNOWN:
        assert "does not fit the integer type" in outcome.reason


BITS = """
int main(void) {
  double d = __VERIFIER_nondet_double();
  unsigned long u;
  if (d == d) return 0;
  d = d + 1;
  memcpy(&u, &d, 8);
  assert(CONDITION);
}
"""


@pytest.mark.parametrize("engine", ["orders", "impact"])
def test_nobody_relies_on_which_nan_it_is(engine: str, tmp_path: Path) -> None:
    """The interpreter computes one of them; hardware and compilers may give others."""
    one = BITS.replace("CONDITION", "u != 0xfff8000000abcdefull")
    outcome = outcome_of(engine, HEAD + one, tmp_path)
    assert outcome.answer is Answer.UNKNOWN
    assert "the bits of a NaN" in outcome.reason and "program.c:1" in outcome.reason
    quiet = BITS.replace("CONDITION", "(u >> 51 & 0xfff) == 0xfff")
    assert outcome_of(engine, HEAD + quiet, tmp_path).answer is Answer.HOLDS


def test_a_loop_around_a_number_that_nobody_needs_ends(tmp_path: Path) -> None:
    """Constant floats are no part of locations: there would be a location for each."""
    text = """
    double progress; int lock;
    void *work(void *p) { while (1) progress += 0.5; return 0; }
    int main(void) {
      pthread_t t;
      pthread_create(&t, 0, work, 0);
      lock = 1;
      assert(lock == 1);
      while (1) { double own = 1; for (int i = 0; i < 3; i++) own += 1; }
    }
    """
    assert outcome_of("impact", HEAD + text, tmp_path).answer is Answer.HOLDS


@pytest.mark.parametrize("engine", ["orders", "impact"])
def test_rounding_modes_are_unsupported(engine: str, tmp_path: Path) -> None:
    text = """
    extern int fesetround(int);
    int main(void) { fesetround(0x800); float a = 1, b = 3; assert(a / b > 0.3f); }
    """
    outcome = outcome_of(engine, HEAD + text, tmp_path)
    assert outcome.answer is Answer.UNKNOWN
    assert "rounding modes" in outcome.reason
