"""Addresses in integers that cannot hold them have no value that a verdict may be about."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.analysis.narrowed_addresses import stop_at_narrowed_addresses
from plait.c import FrontEndOptions, load
from plait.model.properties import from_names
from plait.model.types import DataModel
from plait.portfolio.subject import Subject, load_program
from plait.semantics.explore import ExploreOptions, explore

HEAD = """#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int x, y;
"""
CREATE = "pthread_t t; pthread_create(&t, 0, run, {}); pthread_join(t, 0);"


def answer(tmp_path: Path, text: str, data_model: DataModel = DataModel.LP64) -> tuple[str, str]:
    path = tmp_path / "a.c"
    path.write_text(HEAD + text)
    specification = from_names(["assertions"])
    program = load([str(path)], FrontEndOptions(data_model=data_model), specification)
    stop_at_narrowed_addresses(program)
    found = explore(program, specification, ExploreOptions(max_seconds=20))
    return found.verdict.value, found.reason


@pytest.mark.parametrize(
    "body",
    [
        "assert((int)(long)&x == (int)(long)&y);",
        "assert((int)(long)&x != (int)(long)&y);",
        "uintptr_t n = (uintptr_t)&x; unsigned k = n; assert(k == 0);",
        "union { int *p; uintptr_t n; } u; u.p = &x; short k = u.n; assert(k == 0);",
        "int *p = malloc(4); uintptr_t n; memcpy(&n, &p, sizeof n); assert((int)n == 0);",
        "unsigned id = pthread_self(); assert(id == 0);",
        "int *p = &x; assert((int)(intptr_t)(p + 1) == 4);",
        "assert((int)(long)main == 0);",
        "__int128 n = (__int128)(long)&x; assert((int)n == 0);",
        "int table[1]; table[0] = (int)(long)&x; assert(table[0] == 0);",
        "int k = (int)(long)&x; int same = k; if (same) assert(0);",
    ],
)
def test_of_an_address_there_is_no_verdict(body: str, tmp_path: Path) -> None:
    verdict, reason = answer(tmp_path, f"int main(void) {{\n{body} }}")
    assert verdict == "unknown"
    assert "an address is converted to an integer that cannot hold it" in reason
    assert "a.c:9:" in reason


@pytest.mark.parametrize("number", ["3", "-3", "0", "2147483647", "-2147483647 - 1"])
def test_a_number_in_a_pointer_is_a_number(number: str, tmp_path: Path) -> None:
    start = CREATE.format(f"(void *)(intptr_t)({number})")
    text = (
        "void *run(void *a) { int k = (int)(intptr_t)a; x = k; return a; }"
        f"int main(void) {{ {start} assert(x == {number});"
        "  if (y) pthread_create(&t, 0, run, &y); }"
    )
    assert answer(tmp_path, text)[0] == "true"


def test_the_other_thread_gets_an_address(tmp_path: Path) -> None:
    text = (
        "void *run(void *a) { x = (int)(intptr_t)a; return a; }"
        f"int main(void) {{ {CREATE.format('&y')} assert(x == 0); }}"
    )
    assert answer(tmp_path, text)[0] == "unknown"


def test_a_function_of_another_type_narrows_its_argument(tmp_path: Path) -> None:
    text = (
        "void *run(int a) { x = a; return 0; }"
        "int main(void) { pthread_t t; pthread_create(&t, 0, (void *(*)(void *))run, &y);"
        "  pthread_join(t, 0); assert(x == 0); }"
    )
    assert answer(tmp_path, text)[0] == "unknown"


@pytest.mark.parametrize(
    "body",
    [
        'printf("%d", (int)(long)&x);',
        'int k = (int)(long)&x; int m = k + 1; fprintf(stderr, "%d", k); printf("%d", m);',
        "srand((unsigned)pthread_self());",
        "(void)(int)(long)&x;",
        "say((int)(long)&x);",
        "_Bool is = (long)&x; assert(is);",
        "long n = (long)&x; assert((void *)n == &x);",
        "long n = 0x300000005; int k = (int)n; assert(k == 5);",
    ],
)
def test_what_nothing_depends_on_and_what_is_no_address(body: str, tmp_path: Path) -> None:
    text = f'void say(int k) {{ printf("%d", k); }} int main(void) {{ {body} }}'
    assert answer(tmp_path, text)[0] == "true"


def test_where_addresses_have_32_bits(tmp_path: Path) -> None:
    assert answer(tmp_path, "int main(void) { assert((int)&x); }", DataModel.ILP32)[0] == "true"
    text = "int main(void) { assert((short)(int)&x); }"
    assert answer(tmp_path, text, DataModel.ILP32)[0] == "unknown"


def test_every_program_that_is_verified_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(f"{HEAD}int main(void) {{ return (int)(long)&x; }}")
    program = load_program(Subject(programs=(str(path),)), from_names(["assertions"]), "main")
    assert "an address is converted" in str(program)


def test_the_first_addresses_of_32_bits_are_no_numbers(tmp_path: Path) -> None:
    """They would fit into 16 bits."""
    text = "int main(void) {\nassert((unsigned short)(unsigned)main == 0); }"
    verdict, reason = answer(tmp_path, text, DataModel.ILP32)
    assert verdict == "unknown"
    assert "an address is converted to an integer that cannot hold it" in reason
