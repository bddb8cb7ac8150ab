"""Programs that look at addresses as numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.analysis.addresses import address_as_number, looks_at_addresses
from plait.analysis.points_to import PointsTo
from plait.c import FrontEndOptions, load
from plait.model.program import Edge, Program
from plait.model.properties import from_names

HEAD = """#include <stdint.h>
#include <alloca.h>
#include <stdlib.h>
#include <string.h>
int shared[4];
"""


def loaded(tmp_path: Path, body: str) -> Program:
    path = tmp_path / "a.c"
    path.write_text(f"{HEAD}int main(void) {{\n{body}\n}}\n")
    return load([str(path)], FrontEndOptions(), from_names(["assertions"]))


def edge_of(program: Program) -> Edge | None:
    return address_as_number(PointsTo(program))


@pytest.mark.parametrize(
    "body",
    [
        "int x; return (uintptr_t)&x % 3;",
        "int x, *p = shared; if (shared[0]) p = &x; uintptr_t n = (uintptr_t)p; return n == 7;",
        "int x; union { int *p; uintptr_t n; } u; u.p = &x; return u.n < 9;",
        "int x, *p = &x; uintptr_t n; memcpy(&n, &p, sizeof n); return n & 64;",
        "int x, *p = &x; return *(uintptr_t *)&p > 5;",
        "int *p = alloca(4); return (uintptr_t)p + 1;",
        "int n = shared[0] + 1; int a[n]; return 1 - (intptr_t)a;",
        "int x; uintptr_t n = (uintptr_t)&x; shared[n] = 1;",
        "int x, y; return &x < &y;",
        "return malloc(4) < malloc(4);",
        "return (uintptr_t)malloc(4) % 7;",
        "return ((uintptr_t)malloc(4) & 0x100000000) == 0;",
        "return (uintptr_t)malloc(4) == 0x1400000000;",
        "return (uintptr_t)malloc(4) - (uintptr_t)shared;",
        "static _Thread_local int x; return (uintptr_t)&x >> 12;",
        "int x, *p = &x; int y, *q = &y; return memcmp(&p, &q, sizeof p);",
    ],
)
def test_where_they_can_be_told(body: str, tmp_path: Path) -> None:
    assert edge_of(loaded(tmp_path, body)) is not None


def test_in_calls(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(
        "#include <stdint.h>\n#include <pthread.h>\nint r;\n"
        "void *run(uintptr_t n) { r = n % 64 == 3; return 0; }\n"
        "int main(void) { int x; pthread_t t;"
        " pthread_create(&t, 0, (void *(*)(void *))run, &x); }\n"
    )
    program = load([str(path)], FrontEndOptions(), from_names(["assertions"]))
    found = edge_of(program)
    assert found is not None
    assert found.action.origin.line == 4


@pytest.mark.parametrize(
    "body",
    [
        "return (uintptr_t)shared % 3;",
        "int a[4]; int *p = a; return p < a + 2;",
        "void *number = (void *)7; return (intptr_t)number + 1;",
        "int x; uintptr_t n = (uintptr_t)&x; return n ? 1 : 2;",
        "int x; int *p = &x; return p != shared;",
        "int x = 3; int *p = &x; return *p + 1;",
        "int *p = malloc(4), *q = malloc(4); return (uintptr_t)p == ((uintptr_t)q | 1) - 1;",
        "static _Thread_local int x; return (uintptr_t)&x & 3;",
        "uintptr_t n = (uintptr_t)malloc(4) | 1; return (n & 1) == 1 && n == (n & ~1ul) + 1;",
        "return (intptr_t)malloc(4) == -1;",
    ],
)
def test_where_they_cannot_be_told(body: str, tmp_path: Path) -> None:
    assert edge_of(loaded(tmp_path, body)) is None


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return (uintptr_t)shared % 3;", True),
        ("int a[4]; int *p = a; return p < a + 2;", True),
        ("int x; int *p = &x; return p != shared;", False),
        ("int x; return !&x;", False),
    ],
)
def test_what_the_text_says(body: str, expected: bool, tmp_path: Path) -> None:
    assert looks_at_addresses(loaded(tmp_path, body)) is expected
