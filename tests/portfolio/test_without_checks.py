"""A proof about assertions that cannot be reached says so; one that can be is never called so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plait.cli.main import main

HEAD = "#include <assert.h>\n#include <pthread.h>\nint x;\nvoid check(void) { assert(x == 0); }\n"
REACHED = {
    "a call": "int main(void) { check(); }",
    "a pointer": "void (*f)(void) = check; int main(void) { f(); }",
    "a pointer in a struct": "struct s { char c; void (*f)(void); } s = { 1, check };"
    " int main(void) { s.f(); }",
    "a pointer in code": "void call(void (*f)(void)) { f(); } int main(void) { call(check); }",
    "a thread": "void *t(void *a) { check(); return a; }"
    " int main(void) { pthread_t i; pthread_create(&i, 0, t, 0); pthread_join(i, 0); }",
}
NOT_REACHED = {
    "no assertion": "int main(void) { return 0; }",
    "never called": "void other(void) { check(); } int main(void) { return 0; }",
    "a constant": "int main(void) { if (0) check(); assert(1); return 0; }",
}


def words_of(body: str, folder: Path, command: str, *options: str) -> tuple[str, list[str]]:
    source, result = folder / "program.c", folder / "result.json"
    source.write_text(HEAD + body)
    assert main([command, "--json", str(result), *options, str(source)]) == 0
    data = json.loads(result.read_text())
    return data["words"][0], data["unchecked"]


@pytest.mark.parametrize("body", REACHED.values(), ids=REACHED.keys())
def test_reached(body: str, tmp_path: Path) -> None:
    words, unchecked = words_of(body, tmp_path, "explore", "--property", "assertions")
    assert unchecked == []
    assert words.startswith("proved") and "no assertion fails;" in words


@pytest.mark.parametrize("body", NOT_REACHED.values(), ids=NOT_REACHED.keys())
def test_not_reached(body: str, tmp_path: Path) -> None:
    words, unchecked = words_of(body, tmp_path, "explore", "--property", "assertions")
    assert unchecked == ["assertions"]
    assert "no assertion fails (there is none that could, in code that can be reached)" in words


def test_an_error_function_that_nobody_calls(tmp_path: Path) -> None:
    body = "extern void reach_error(void); int main(void) { check(); }"
    options = "--property", "assertions", "--property", "unreach-call", "--no-cache"
    words, unchecked = words_of(body, tmp_path, "verify", *options)
    assert unchecked == ["unreach-call"]
    assert "no error function is called (there is no call of one in code" in words
