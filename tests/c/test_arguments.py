"""Arguments that the front end cannot evaluate as compilers do are refused, never dropped; those
that it can are compared with gcc in tests/programs/language/effects_in_arguments.c."""

from __future__ import annotations

from pathlib import Path

import pytest

import plait
from plait.model.properties import Specification, from_names
from plait.semantics.explore import Verdict, explore
from tests.c.support import program

HEAD = """#include <assert.h>
#include <stdatomic.h>
int c = 4; static int next(void) { return ++c; }
"""

REFUSED = {
    "expectation": ("(void)__builtin_expect(1, ++c);", "what __builtin_expect expects"),
    "clang's assumption": ("__builtin_assume(next());", "side effects in __builtin_assume"),
    "gcc's assumption": ("__attribute__((assume(c == 5)));", "the attribute 'assume'"),
    "assembly": ('__asm__ volatile("" :: "r"(++c));', "operands have side effects"),
    "sizeof": ("(void)sizeof(int[next()]);", "sizeof of this variable length array"),
    "typedef": ("typedef int row[++c];", "length of an array inside a type"),
    "cast": ("int a[9]; (void)(int(*)[next()])a;", "length of an array inside a type"),
    "cast of a value": ("int a[9]; void *p = (int(*)[++c])a;", "length of an array inside"),
    "pointer": ("int (*p)[next()];", "length of an array inside a type"),
    "pointer with a value": ("int (*p)[++c] = 0;", "length of an array inside a type"),
    "offsetof": ("struct s { int a[9]; }; (void)__builtin_offsetof(struct s, a[++c]);", ""),
    "object size": ("char *p = 0; c = __builtin_object_size(p, 0);", "only an optimiser knows"),
}


@pytest.mark.parametrize(("statement", "reason"), REFUSED.values(), ids=REFUSED)
def test_refused(statement: str, reason: str, tmp_path: Path) -> None:
    loaded = program(tmp_path, f"{HEAD}int main(void) {{ {statement} assert(c == 4); }}")
    explored = explore(loaded, Specification())
    assert explored.verdict is Verdict.UNKNOWN and explored.reason.startswith("unsupported")
    assert reason in explored.reason and "main.c:4" in explored.reason


def test_length_of_a_parameter(tmp_path: Path) -> None:
    text = "static int f(int n, int a[n++]) { return n; } int main(void) { return f(1, 0); }"
    (refused,) = program(tmp_path, text).unsupported
    assert "the length of an array that is a parameter" in refused.message


@pytest.mark.parametrize("form", ["++c", "next()", "(c++, 5)"])
@pytest.mark.parametrize(
    "statement",
    [
        "__atomic_store_n(&x, 1, ORDER);",
        "(void)__atomic_load_n(&x, ORDER);",
        "(void)__atomic_fetch_add(&x, 1, ORDER);",
        "(void)__atomic_compare_exchange_n(&x, &e, 1, 1, ORDER, 5);",
        "(void)__atomic_compare_exchange_n(&x, &e, 1, 0, 5, ORDER);",
        "atomic_thread_fence(ORDER);",
        "atomic_signal_fence(ORDER);",
    ],
)
def test_orders_with_side_effects(statement: str, form: str, tmp_path: Path) -> None:
    body = f"int x = 0, e = 0; {statement.replace('ORDER', form)}"
    holds = program(tmp_path, f"{HEAD}int main(void) {{ {body} assert(c == 5); }}")
    assert explore(holds, Specification()).verdict is Verdict.TRUE
    fails = program(tmp_path, f"{HEAD}int main(void) {{ {body} assert(c == 4); }}")
    assert explore(fails, Specification()).verdict is Verdict.FALSE


@pytest.mark.parametrize(
    ("operation", "allowed"),
    [
        ("(void)__atomic_load_n(&x, ORDER)", {0, 1, 2, 5}),
        ("__atomic_store_n(&x, 1, ORDER)", {0, 3, 5}),
        ("(void)__atomic_exchange_n(&x, 1, ORDER)", {0, 1, 2, 3, 4, 5}),
        ("(void)__atomic_compare_exchange_n(&x, &e, 1, 0, 5, ORDER)", {0, 1, 2, 5}),
        ("__atomic_thread_fence(ORDER)", {0, 1, 2, 3, 4, 5}),
        ("__atomic_signal_fence(ORDER)", {0, 1, 2, 3, 4, 5}),
    ],
)
@pytest.mark.parametrize("is_constant", [True, False])
def test_orders_that_an_operation_does_not_allow(
    operation: str, allowed: set[int], is_constant: bool, tmp_path: Path
) -> None:
    for order in (-1, 0, 1, 2, 3, 4, 5, 6, 1 << 20):
        written = operation.replace("ORDER", str(order) if is_constant else "c")
        text = f"{HEAD}int main(void) {{ int x = 0, e = 0; c = {order}; {written}; return 0; }}"
        explored = explore(program(tmp_path, text), Specification())
        if order in allowed:
            assert explored.verdict is Verdict.TRUE, order
        else:
            assert explored.verdict is Verdict.UNKNOWN, order
            assert " cannot have " in explored.reason and "order" in explored.reason


def test_an_assumption_that_does_not_hold_is_undefined(tmp_path: Path) -> None:
    loaded = program(tmp_path, f"{HEAD}int main(void) {{ __builtin_assume(c == 5); }}")
    explored = explore(loaded, Specification())
    assert explored.verdict is Verdict.UNKNOWN and "undefined behaviour" in explored.reason


def test_arguments_of_a_failed_assertion(tmp_path: Path) -> None:
    text = """extern void __assert_fail(const char *, const char *, unsigned, const char *);
    extern void reach_error(void); static unsigned line(void) { reach_error(); return 1; }
    int main(void) { __assert_fail("a", "b", line(), "c"); }"""
    loaded = program(tmp_path, text, ("unreach-call",))
    assert explore(loaded, from_names(["unreach-call"])).verdict is Verdict.FALSE


@pytest.mark.parametrize("engine", ["orders", "impact", "auto"])
def test_all_engines_see_the_side_effects_of_an_order(engine: str, tmp_path: Path) -> None:
    source = tmp_path / "order.c"
    text = "#include <assert.h>\nint main(void) { int x, c = 4; __atomic_store_n(&x, 1, ++c);"
    for expected, verdict in ((5, "true"), (4, "false")):
        source.write_text(f"{text} assert(c == {expected}); }}")
        found = plait.verify(str(source), engine=engine, timeout=60, cache=False)
        assert found.verdict == verdict
