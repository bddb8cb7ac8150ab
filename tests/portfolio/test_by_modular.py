"""Where the static checks are relied on."""

from __future__ import annotations

from pathlib import Path

import pytest

import plait

ROOT = Path(__file__).parents[2]
HEAD = """#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
int flag;
"""
SHARED = {
    "heap": "int *p = malloc(sizeof *p); *p = 0; pthread_create(&t, 0, f, p);",
    "local": "int x = 0; pthread_create(&t, 0, f, &x); pthread_join(t, 0);",
    "thread-local": "static _Thread_local int x; pthread_create(&t, 0, f, &x); pthread_join(t, 0);",
}


def verified(tmp_path: Path, text: str) -> plait.Result:
    source = tmp_path / "a.c"
    source.write_text(HEAD + text)
    return plait.verify(source, engine="modular", cache=False)


def test_static_objects(tmp_path: Path) -> None:
    text = "void *f(void *u) { flag = 1; return 0; }\n"
    text += "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); assert(flag <= 1); }"
    found = verified(tmp_path, text)
    assert (found.verdict, found.engine) == ("true", "modular")


@pytest.mark.parametrize("kind", SHARED)
def test_other_objects_that_threads_share(tmp_path: Path, kind: str) -> None:
    text = "void *f(void *u) { *(int *)u = 1; return 0; }\n"
    text += f"int main(void) {{ pthread_t t; {SHARED[kind]} assert(flag == 0); }}"
    found = verified(tmp_path, text)
    assert found.verdict == "unknown"
    if kind != "thread-local":
        assert found.reason.startswith("a static proof is not relied on where threads share ")


def test_auto_asks_another_engine_then(tmp_path: Path) -> None:
    text = "void *f(void *u) { *(int *)u = 1; return 0; }\n"
    text += f"int main(void) {{ pthread_t t; {SHARED['heap']} assert(flag == 0); }}"
    (tmp_path / "a.c").write_text(HEAD + text)
    found = plait.verify(tmp_path / "a.c", cache=False)
    assert (found.verdict, found.engine) == ("true", "orders")


def test_a_queue() -> None:
    found = plait.verify(
        ROOT / "examples" / "bounded_queue.c", property="no-data-race", cache=False, timeout=60
    )
    assert (found.verdict, found.engine) == ("true", "modular")
