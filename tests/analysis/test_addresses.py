"""Programs that look at addresses as numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.analysis.addresses import local_as_number, looks_at_addresses
from plait.c import FrontEndOptions, load
from plait.model.program import Program
from plait.model.properties import from_names

HEAD = """#include <stdint.h>
#include <stdlib.h>
int shared[4];
"""


def loaded(tmp_path: Path, body: str) -> Program:
    path = tmp_path / "a.c"
    path.write_text(f"{HEAD}int main(void) {{\n{body}\n}}\n")
    return load([str(path)], FrontEndOptions(), from_names(["assertions"]))


@pytest.mark.parametrize(
    "body",
    [
        "int x; return (uintptr_t)&x != 0;",
        "int x, *p = shared; if (shared[0]) p = &x; return (uintptr_t)p % 3;",
        "int x; uintptr_t *n = malloc(8); *n = (uintptr_t)&x;",
    ],
)
def test_of_locals(body: str, tmp_path: Path) -> None:
    program = loaded(tmp_path, body)
    assert looks_at_addresses(program)
    found = local_as_number(program)
    assert found is not None
    assert found.action.origin.line == 5


@pytest.mark.parametrize(
    "body",
    [
        "return (uintptr_t)shared % 3;",
        "return (uintptr_t)malloc(4) % 3;",
        "int a[4]; int *p = a; return p < a + 2;",
        "void *number = (void *)7; return (intptr_t)number;",
    ],
)
def test_of_others(body: str, tmp_path: Path) -> None:
    program = loaded(tmp_path, body)
    assert looks_at_addresses(program)
    assert local_as_number(program) is None


@pytest.mark.parametrize("body", ["int x; int *p = &x; return p != shared;", "int x; return !&x;"])
def test_nowhere(body: str, tmp_path: Path) -> None:
    program = loaded(tmp_path, body)
    assert not looks_at_addresses(program)
    assert local_as_number(program) is None
