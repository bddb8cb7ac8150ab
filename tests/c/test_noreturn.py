"""Functions that are declared not to return, and do."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.model.properties import from_names
from plait.semantics.explore import ExploreOptions, explore
from tests.c.support import program

HEAD = "#include <stdlib.h>\n#include <stdnoreturn.h>\n#include <pthread.h>\n#include <stdio.h>\n"


def verdict(tmp_path: Path, text: str, properties: str = "no-undefined") -> str:
    loaded = program(tmp_path, HEAD + text, (properties,))
    found = explore(loaded, from_names([properties]), ExploreOptions(max_seconds=20))
    return found.verdict.value if found.verdict.value != "false" else found.reason


@pytest.mark.parametrize(
    "text",
    [
        "__attribute__((__noreturn__)) void f(int k); void f(int k) { if (k) exit(1); }",
        "void __attribute__((__noreturn__)) f(int k) { if (k) exit(1); }",
        "_Noreturn void f(int k) { if (k) exit(1); }",
        "noreturn static void f(int k) { if (k) exit(1); return; }",
        "noreturn static void f(int k); static void f(int k) { while (k) exit(1); }",
    ],
)
def test_one_that_returns(text: str, tmp_path: Path) -> None:
    returning = f"{text}\nint main(void) {{ f(0); return 0; }}"
    assert "'f' returns, which is declared not to" in verdict(tmp_path, returning)
    assert verdict(tmp_path, returning, "assertions") == "unknown"
    assert verdict(tmp_path, f"{text}\nint main(void) {{ f(1); return 0; }}") == "true"


@pytest.mark.parametrize(
    "body",
    [
        'perror("x"); abort();',
        "pthread_exit(0);",
        "for (;;) ;",
        "_Exit(2);",
        "__builtin_trap();",
    ],
)
def test_one_that_does_not(body: str, tmp_path: Path) -> None:
    text = f"_Noreturn void f(void) {{ {body} }} int main(void) {{ f(); return 0; }}"
    assert verdict(tmp_path, text) == "true"


def test_other_functions_may_return(tmp_path: Path) -> None:
    text = "_Noreturn void f(void); void g(void) {} int main(void) { g(); return 0; }"
    assert verdict(tmp_path, text) == "true"
