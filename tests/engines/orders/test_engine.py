"""The bounded engine on small programs with known answers."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.engines.interface import Answer
from plait.engines.orders.engine import check
from plait.evidence.replay import replay
from plait.model.properties import Specification
from plait.semantics.run import run

EXAMPLES = Path(__file__).parents[3] / "examples"


def answer(path: Path, bound: int) -> tuple[Answer, str]:
    """The engine's answer; a violation must replay."""
    specification = Specification()
    program = load([str(path)], FrontEndOptions(), specification)
    outcome = check(program, bound, time.monotonic() + 20)
    found = outcome.counterexample
    if found is not None:
        schedule = replay(program, specification, found)
        assert run(program, specification, schedule=schedule).ending == "violation"
    return outcome.answer, outcome.reason


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("counter_race", Answer.VIOLATED),
        ("locked_counter", Answer.HOLDS),
        ("peterson", Answer.HOLDS),
        ("deadlock", Answer.HOLDS),
    ],
)
def test_examples(name: str, expected: Answer) -> None:
    assert answer(EXAMPLES / f"{name}.c", 2)[0] is expected


PROGRAMS = {
    "a loop beyond the bound": (
        "int n; int main(void) { while (__VERIFIER_nondet_bool()) n++; assert(n < 9); }",
        3,
        Answer.UNKNOWN,
    ),
    "a loop within the bound": (
        "int n; int main(void) { while (n < 5) n++; assert(n == 5); }",
        6,
        Answer.HOLDS,
    ),
    "a bug behind the bound": (
        "int n; int main(void) { while (n < 5) n++; assert(n != 5); }",
        3,
        Answer.UNKNOWN,
    ),
    "a bug within the bound": (
        "int n; int main(void) { while (n < 5) n++; assert(n != 5); }",
        6,
        Answer.VIOLATED,
    ),
    "recursion": (
        "int f(int n) { return n == 0 ? 0 : 1 + f(n - 1); } int main(void) { assert(f(3) == 3); }",
        5,
        Answer.HOLDS,
    ),
    "an input": (
        "int main(void) { int x = __VERIFIER_nondet_int(); assert(x * 2 != 10); }",
        1,
        Answer.VIOLATED,
    ),
    "an input that cannot": (
        "int main(void) { int x = __VERIFIER_nondet_int(); assert(x * 2 != 11); }",
        1,
        Answer.HOLDS,
    ),
    "division by zero has no verdict": (
        "int z; int main(void) { int y = 1 / z; assert(y == 0); }",
        1,
        Answer.UNKNOWN,
    ),
    "a null pointer has no verdict": (
        "int *p; int main(void) { assert(*p == 0); }",
        1,
        Answer.UNKNOWN,
    ),
    "a pointer that leaves its object has no verdict": (
        "int a[2], b[2]; int main(void) { long n = __VERIFIER_nondet_uint(); __VERIFIER_assume(n > 1000); assert(a[n << 25] == 0 || b[0] == 0); }",
        1,
        Answer.UNKNOWN,
    ),
    "an address outside of its object has no verdict": (
        "int a[2], b[2]; int main(void) { int *p = a + (1L << 31); assert(*p == 0); }",
        1,
        Answer.UNKNOWN,
    ),
    "an array by input": (
        "int a[4] = {1, 2, 3, 4}; int main(void) { unsigned i = __VERIFIER_nondet_uint(); __VERIFIER_assume(i < 4); assert(a[i] < 5); assert(a[i] != 3); }",
        1,
        Answer.VIOLATED,
    ),
    "exit stops other threads": (
        "int x; void *t(void *p) { x = 1; assert(x != 1 || 1); return 0; } int main(void) { pthread_t p; pthread_create(&p, 0, t, 0); exit(0); assert(0); }",
        1,
        Answer.HOLDS,
    ),
    "function pointers": (
        "int f(void) { return 1; } int g(void) { return 2; } int main(void) { int (*p)(void) = __VERIFIER_nondet_bool() ? f : g; assert(p() < 3); assert(p() != 2); }",
        1,
        Answer.VIOLATED,
    ),
    "store buffering": (
        "int x, y, r, s; void *t(void *p) { x = 1; r = y; return 0; } int main(void) { pthread_t p; pthread_create(&p, 0, t, 0); y = 1; s = x; pthread_join(p, 0); assert(r || s); }",
        1,
        Answer.HOLDS,
    ),
    "an atomic counter": (
        "_Atomic int n; void *t(void *p) { n++; return 0; } int main(void) { pthread_t a, b; pthread_create(&a, 0, t, 0); pthread_create(&b, 0, t, 0); pthread_join(a, 0); pthread_join(b, 0); assert(n == 2); }",
        1,
        Answer.HOLDS,
    ),
}
HEAD = """#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void); extern unsigned __VERIFIER_nondet_uint(void);
extern _Bool __VERIFIER_nondet_bool(void); extern void __VERIFIER_assume(int);
"""


@pytest.mark.parametrize(("text", "bound", "expected"), PROGRAMS.values(), ids=PROGRAMS.keys())
def test_small_programs(text: str, bound: int, expected: Answer, tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text(HEAD + text)
    assert answer(source, bound)[0] is expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "#include <stdio.h>\nchar b[4]; int main(void) {\n fgets(b, 1, stdin); return 0; }",
            "fgets with room for less than one character",
        ),
        (
            '#include <string.h>\nchar b[2]; int main(void) {\n strcpy(b, "long"); return 0; }',
            "access to no live object",
        ),
        (
            "extern int __VERIFIER_nondet_int(void); void *calloc(unsigned long, unsigned long);\n"
            "int main(void) {\n calloc(__VERIFIER_nondet_int(), 4); return 0; }",
            "",
        ),
        (
            "#include <pthread.h>\nvoid *(*any(void))(void *); int main(void) { pthread_t t;\n"
            " return pthread_create(&t, 0, any(), 0); }",
            "call through a pointer to no function",
        ),
    ],
)
def test_what_stops_the_library_has_a_place_in_the_program(
    text: str, reason: str, tmp_path: Path
) -> None:
    source = tmp_path / "main.c"
    source.write_text(text)
    found, why = answer(source, 2)
    assert found is Answer.UNKNOWN and reason in why and f"{source}:3:" in why, why


@pytest.mark.parametrize(
    ("condition", "expected"), [("x == 2", Answer.HOLDS), ("x == 1", Answer.UNKNOWN)]
)
def test_an_end_without_a_begin_matters_where_it_is_reached(
    condition: str, expected: Answer, tmp_path: Path
) -> None:
    source = tmp_path / "main.c"
    source.write_text(
        "extern void __VERIFIER_atomic_end(void); extern _Bool __VERIFIER_nondet_bool(void);\n"
        "int main(void) { int x = __VERIFIER_nondet_bool();"
        f" if ({condition}) __VERIFIER_atomic_end(); return 0; }}"
    )
    assert answer(source, 2)[0] is expected
