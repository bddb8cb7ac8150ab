"""Bounds of loops, recursion and threads: each grows only where executions exceed it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.engines.interface import Answer, Outcome
from plait.engines.orders import engine
from plait.engines.orders.bounds import THREADS, Bounds, recursion_of
from plait.engines.orders.settings import Settings
from plait.model.properties import Specification

ONE, TWO = ("f", 1), ("f", 2)


def verify(source: Path, text: str, seconds: float = 30) -> tuple[Outcome, list[Outcome]]:
    """The answer, and what was known after each level."""
    source.write_text("#include <assert.h>\n#include <pthread.h>\n" + text)
    program = load([str(source)], FrontEndOptions(), Specification())
    levels: list[Outcome] = []
    deadline = time.monotonic() + seconds
    return engine.verify(program, Settings(), deadline, levels.append), levels


def test_only_what_is_exceeded_grows() -> None:
    bounds = Bounds.same(1).raise_(frozenset({ONE}))
    assert bounds == Bounds(2, 1, frozenset({ONE}))
    assert (bounds.of(ONE), bounds.of(TWO)) == (2, 1)
    assert bounds.raise_(frozenset({ONE})) == Bounds(4, 1, frozenset({ONE}))


def test_a_level_is_complete_only_when_all_that_is_exceeded_has_reached_it() -> None:
    bounds = Bounds(4, 1, frozenset({ONE}))
    assert bounds.is_complete(frozenset({ONE}))
    assert not bounds.is_complete(frozenset({TWO}))
    assert bounds.raise_(frozenset({ONE, TWO})) == Bounds(4, 1, frozenset({ONE, TWO}))
    assert Bounds.same(4).is_complete(frozenset({ONE, THREADS, recursion_of("f")}))


LATE = """
extern unsigned __VERIFIER_nondet_uint(void);
int main(void) {
  unsigned n = __VERIFIER_nondet_uint(), m = 0, total = 0;
  while (n > 0) { n = n / 2; m++; }             /* up to 32 rounds */
  while (m > 30) { m = m - 1; total++; }        /* rounds only if the first loop has had many */
  assert(total < %d);
  return 0;
}
"""


@pytest.mark.parametrize(("limit", "expected"), [(3, Answer.HOLDS), (2, Answer.VIOLATED)])
def test_a_loop_that_goes_on_late(limit: int, expected: Answer, tmp_path: Path) -> None:
    outcome, levels = verify(tmp_path / "late.c", LATE % limit)
    assert outcome.answer is expected, outcome.reason
    assert [item.statistics.bound for item in levels] == [1, 2, 4, 8, 16]


def test_a_known_number_of_rounds_is_unrolled_when_there_are_that_many(tmp_path: Path) -> None:
    text = """
    int a, b; void add(void) { a++; }
    int main(void) {
      for (int i = 0; i < 100; i++) add();
      assert(a == 100);
      return 0;
    }
    """
    outcome, levels = verify(tmp_path / "known.c", text)
    assert outcome.answer is Answer.HOLDS, outcome.reason
    assert [item.statistics.bound for item in levels] == [1]


@pytest.mark.parametrize("size", [5, 6])
def test_recursion(size: int, tmp_path: Path) -> None:
    text = f"""
    extern int __VERIFIER_nondet_int(void);
    int depth(int n) {{ return n <= 0 ? 0 : 1 + depth(n - 1); }}
    int main(void) {{
      int n = __VERIFIER_nondet_int();
      if (n <= 5) assert(depth(n) < {size});
      return 0;
    }}
    """
    outcome, _ = verify(tmp_path / "deep.c", text)
    assert outcome.answer is (Answer.HOLDS if size > 5 else Answer.VIOLATED), outcome.reason


def test_threads_that_start_threads(tmp_path: Path) -> None:
    text = """
    int left = 3;
    void *next(void *unused) {
      pthread_t t;
      if (--left > 0) { pthread_create(&t, 0, next, 0); pthread_join(t, 0); }
      return 0;
    }
    int main(void) {
      pthread_t t;
      pthread_create(&t, 0, next, 0); pthread_join(t, 0);
      assert(left == 0);
      return 0;
    }
    """
    outcome, levels = verify(tmp_path / "nested.c", text)
    assert outcome.answer is Answer.HOLDS, outcome.reason
    assert [item.statistics.bound for item in levels] == [1]


def test_work_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No search has enough time at first; the first level is unrolled only once all the same."""
    text = (Path(__file__).parents[3] / "examples" / "peterson.c").read_text()
    monkeypatch.setattr(engine, "_LEAST_SECONDS", 0.0)
    monkeypatch.setattr(engine, "_FIRST_SHARE", 1e-7)
    starts: list[int] = []
    answer = engine._Round._answer

    def counted(part: engine._Round) -> engine.Pausing[Outcome]:
        starts.append(part.bounds.level)
        return answer(part)

    def patient(*_: object) -> bool:
        return False

    monkeypatch.setattr(engine._Round, "_answer", counted)
    monkeypatch.setattr("plait.engines.orders.knowledge.Knowledge.is_out_of_time", patient)
    outcome, _ = verify(tmp_path / "peterson.c", text, 60)
    assert outcome.answer is Answer.HOLDS, outcome.reason
    assert starts.count(1) == 1


def test_many_threads_that_must_all_take_their_turn(tmp_path: Path) -> None:
    text = """
    int x;
    void *look(void *unused) { assert(x < 30); return 0; }
    void *add(void *unused) { int t = x; x = t + 1; return 0; }
    int main(void) {
      pthread_t t;
      pthread_create(&t, 0, look, 0);
      for (int i = 0; i < 30; i++) pthread_create(&t, 0, add, 0);
      return 0;
    }
    """
    outcome, _ = verify(tmp_path / "turns.c", text)
    assert outcome.answer is Answer.VIOLATED, outcome.reason


def test_threads_that_must_take_turns(tmp_path: Path) -> None:
    text = """
    int i = 1, j = 1;
    void *one(void *unused) { for (int k = 0; k < 12; k++) i += j; return 0; }
    void *two(void *unused) { for (int k = 0; k < 12; k++) j += i; return 0; }
    int main(void) {
      pthread_t a, b;
      pthread_create(&a, 0, one, 0);
      pthread_create(&b, 0, two, 0);
      assert(j < 121393);
      return 0;
    }
    """
    outcome, _ = verify(tmp_path / "turns.c", text, 60)
    assert outcome.answer is Answer.VIOLATED, outcome.reason


TROUBLES = {
    "undefined": "if (n == 1) a[n + 4] = 1;",
    "limit": "if (n == 1) p = a + ((long)n << 40);",
    "unsupported": "if (n == 1) system(0);",
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_violation_behind_what_has_no_verdict(trouble: str, tmp_path: Path) -> None:
    """There is no proof any more, but others may be wrong some rounds later."""
    text = """#include <assert.h>
#include <stdlib.h>
unsigned __VERIFIER_nondet_uint(void);
int a[4], *p;
int main(void) {
  unsigned n = __VERIFIER_nondet_uint(), i = 0;
  TROUBLE
  while (i < n) i++;
  assert(i != ROUNDS);
}
""".replace("TROUBLE", TROUBLES[trouble])
    found, _ = verify(tmp_path / "program.c", text.replace("ROUNDS", "20"))
    assert found.answer is Answer.VIOLATED
    open_, _ = verify(tmp_path / "program.c", text.replace("ROUNDS", "2000"))
    assert open_.answer is Answer.UNKNOWN
    assert "program.c:9:" in open_.reason


LARGE_ARRAY = """int __VERIFIER_nondet_int(void);
static unsigned char many[14181];
int main(void) { int n = __VERIFIER_nondet_int(); if (n < 0 || n > 14180) return 0;
  many[n] = 1; assert(CONDITION); }"""


@pytest.mark.parametrize(
    ("condition", "bound", "expected"),
    [
        ("many[100] == 0", 4, Answer.VIOLATED),
        ("many[100] == 0", 1, Answer.UNKNOWN),
        ("n != 14000", 4, Answer.UNKNOWN),  # beyond the first places: never holds
    ],
)
def test_an_index_into_a_large_array(
    condition: str, bound: int, expected: Answer, tmp_path: Path
) -> None:
    path = tmp_path / "large.c"
    path.write_text("#include <assert.h>\n" + LARGE_ARRAY.replace("CONDITION", condition))
    program = load([str(path)], FrontEndOptions(), Specification())
    assert engine.check(program, bound).answer is expected


def test_what_fills_and_copies_goes_further_than_other_loops(tmp_path: Path) -> None:
    """As long as nothing can leave the loop; `strlen` of any text ends anywhere."""
    head = "#include <assert.h>\n#include <string.h>\n#include <stdlib.h>\nchar one[60], two[60];"
    for body, expected in (
        ("memset(one, 7, 60); memcpy(two, one, 60); assert(two[59] == 0);", Answer.VIOLATED),
        ("memset(one, 7, 60); memcpy(two, one, 60); assert(two[59] == 7);", Answer.HOLDS),
        ("char *p = malloc(100); p[99] = 0; assert(strlen(p) < 50);", Answer.UNKNOWN),
    ):
        path = tmp_path / "fill.c"
        path.write_text(f"{head}\nint main(void) {{ {body} return 0; }}")
        program = load([str(path)], FrontEndOptions(), Specification())
        assert engine.check(program, 1).answer is expected, body
