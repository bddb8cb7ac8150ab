"""The life of a thread's ID (POSIX.1-2017 2.9.2, pthread_join, pthread_detach, pthread_equal; C17
7.26.5): to use it after its end is undefined, so that no verdict is `true`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.c.support import program

import plait
from plait.model.properties import from_names
from plait.semantics.explore import Verdict, explore

TEXT = """#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <threads.h>
int done;
void *f(void *p) { return 0; }
int g(void *p) { return 0; }
void *detaches_itself(void *p) { assert(pthread_detach(pthread_self()) == 0);
  assert(pthread_equal(pthread_self(), pthread_self())); return 0; }
void *joins(void *p) { pthread_join(*(pthread_t *)p, 0); return 0; }
int main(void) { pthread_t t, u; thrd_t c; void *r; int s;
  STATEMENTS
  return 0; }"""

OVER = "use of the ID of a thread whose lifetime is over"
UNDEFINED = {
    "join twice": ("CREATE pthread_join(t, 0); pthread_join(t, 0);",
                   "join of a thread that is joined already"),
    "join after detach": ("CREATE pthread_detach(t); pthread_join(t, 0);",
                          "join of a detached thread"),
    "detach twice": ("CREATE pthread_detach(t); pthread_detach(t);", "detach of a detached thread"),
    "detach after join": ("CREATE pthread_join(t, 0); pthread_detach(t);",
                          "detach of a thread that is joined already"),
    "join of oneself": ("pthread_join(pthread_self(), 0);", "a thread joins itself"),
    "two joins at once": (
        "CREATE pthread_create(&u, 0, joins, &t); pthread_join(t, 0); pthread_join(u, 0);",
        "join of a thread that is joined already"),
    "equal after join": ("CREATE pthread_join(t, 0); pthread_equal(t, pthread_self());", OVER),
    "equal after detach": ("CREATE pthread_detach(t); pthread_equal(pthread_self(), t);", OVER),
    "name after join": ('CREATE pthread_join(t, 0); pthread_setname_np(t, "t");', OVER),
    "try after join": ("CREATE pthread_join(t, 0); pthread_tryjoin_np(t, 0);",
                       "join of a thread that is joined already"),
    "try after detach": ("CREATE pthread_detach(t); pthread_tryjoin_np(t, 0);",
                         "join of a detached thread"),
    "C11 join twice": ("C11 thrd_join(c, &s); thrd_join(c, 0);",
                       "join of a thread that is joined already"),
    "C11 detach after join": ("C11 thrd_join(c, &s); thrd_detach(c);",
                              "detach of a thread that is joined already"),
    "C11 join after detach": ("C11 thrd_detach(c); thrd_join(c, 0);", "join of a detached thread"),
    "C11 detach twice": ("C11 thrd_detach(c); thrd_detach(c);", "detach of a detached thread"),
    "C11 equal after join": ("C11 thrd_join(c, 0); thrd_equal(c, thrd_current());", OVER),
}  # fmt: skip
DEFINED = {
    "join": "CREATE assert(pthread_join(t, &r) == 0 && r == 0);",
    "detach": "CREATE assert(pthread_detach(t) == 0);",
    "by itself": "pthread_create(&t, 0, detaches_itself, 0);",
    "equal while it may be joined": "CREATE assert(!pthread_equal(t, pthread_self()));"
    " assert(pthread_equal(t, t)); pthread_join(t, 0);",
    "null": "assert(!pthread_equal(pthread_self(), (pthread_t)0));",
    "one after the other": "CREATE pthread_join(t, 0); CREATE pthread_join(t, 0);",
    "each joins another": "CREATE pthread_create(&u, 0, joins, &t); pthread_join(u, 0);",
    "C11": "C11 assert(thrd_join(c, &s) == thrd_success && s == 0);",
    "C11 equal": "C11 assert(thrd_equal(c, c)); assert(thrd_detach(c) == thrd_success);",
}


def _text(statements: str) -> str:
    created = statements.replace("CREATE", "pthread_create(&t, 0, f, 0);")
    return TEXT.replace("STATEMENTS", created.replace("C11", "thrd_create(&c, g, 0);"))


@pytest.mark.parametrize(("statements", "reason"), UNDEFINED.values(), ids=UNDEFINED)
def test_undefined(statements: str, reason: str, tmp_path: Path) -> None:
    specification = from_names(["assertions"])
    loaded = program(tmp_path, _text(statements))
    explored = explore(loaded, specification)
    assert explored.verdict is Verdict.UNKNOWN
    assert explored.reason.startswith(f"undefined behaviour: {reason}")
    misuse = from_names(["lock-misuse"])
    loaded = program(tmp_path, _text(statements), ("lock-misuse",))
    violation = explore(loaded, misuse).violation
    assert violation is not None and violation.message == reason


@pytest.mark.parametrize("statements", DEFINED.values(), ids=DEFINED)
@pytest.mark.parametrize("name", ["assertions", "lock-misuse", "no-data-race"])
def test_defined(statements: str, name: str, tmp_path: Path) -> None:
    loaded = program(tmp_path, _text(statements), (name,))
    explored = explore(loaded, from_names([name]))
    assert explored.verdict is Verdict.TRUE, explored.reason


def test_detach_of_a_thread_that_is_over(tmp_path: Path) -> None:
    text = TEXT.replace("return 0; }\nint g", "__atomic_store_n(&done, 1, 5); return 0; }\nint g")
    statements = "CREATE while (!__atomic_load_n(&done, 5)) {} assert(pthread_detach(t) == 0);"
    text = text.replace("STATEMENTS", statements.replace("CREATE", "pthread_create(&t, 0, f, 0);"))
    explored = explore(program(tmp_path, text), from_names(["assertions"]))
    assert explored.verdict is Verdict.TRUE, explored.reason


@pytest.mark.parametrize("engine", ["orders", "impact", "modular", "auto"])
def test_engines(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "ids.c"

    def verified(*properties: str) -> tuple[str, str | None]:
        found = plait.verify(
            str(path), engine=engine, property=properties, timeout=100, cache=False
        )
        return found.verdict, found.violated

    path.write_text(_text(UNDEFINED["join twice"][0]))
    assert verified("assertions") == ("unknown", None)
    refuted = ("unknown", None) if engine == "modular" else ("false", "lock-misuse")
    assert verified() == refuted
    path.write_text(_text(DEFINED["one after the other"]))
    assert verified("assertions") == ("true", None)
