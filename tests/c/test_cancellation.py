"""Cancellation of threads: what is refused, and that programs without it do not pay for it. What it
does is compared with glibc in tests/trust/printing, and explored in tests/programs/litmus."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.c.catalogue import index_library, read_cancellation_points, read_list
from plait.c.effects import read_effects
from plait.engines.interface import Answer
from plait.model.properties import from_names
from plait.semantics.explore import Exploration, ExploreOptions, explore
from tests.c.support import program
from tests.engines.asking import outcome_of

HEAD = """#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>
"""
MAIN = """
int main(void) {
  pthread_t id;
  void *result;
  pthread_create(&id, NULL, work, NULL);
  pthread_cancel(id);
  pthread_join(id, &result);
  CHECK
  return 0;
}
"""


def explored(folder: Path, text: str) -> Exploration:
    path = folder / "main.c"
    path.write_text(HEAD + text)
    specification = from_names(["assertions"])
    loaded = load([str(path)], FrontEndOptions(), specification)
    return explore(loaded, specification, ExploreOptions(max_seconds=20, inputs=(0, 1)))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);", "asynchronous cancellation"),
        ("int (*p)(int) = close; p(1);", "a pointer to 'close'"),
        ("static int (*p)(const char *) = puts; p(0);", "a pointer to 'puts'"),
    ],
)
def test_what_is_refused(body: str, reason: str, tmp_path: Path) -> None:
    text = f"void *work(void *a) {{ {body} return NULL; }}" + MAIN.replace("CHECK", "")
    found = explored(tmp_path, text)
    assert found.verdict.value == "unknown"
    assert reason in found.reason and "main.c:" in found.reason


def test_cancellation_that_only_a_header_names(tmp_path: Path) -> None:
    (tmp_path / "stop.h").write_text("static int stop(pthread_t t) { return pthread_cancel(t); }")
    text = '#include "stop.h"\nint main(void) { return stop(pthread_self()); }'
    found = explored(tmp_path, text)
    assert found.verdict.value == "unknown" and "stop.h:1" in found.reason


def test_programs_without_it_have_no_cancellation_points(tmp_path: Path) -> None:
    """A declaration is no use of it."""
    head = HEAD + "extern int pthread_cancel (pthread_t thread);\n"
    made = program(tmp_path, head + "int main(void) { sleep(1); return close(1); }")
    assert not any("cancel" in name for name in made.functions)


@pytest.mark.parametrize(
    "use",
    [
        "int f(pthread_t t) { return pthread_cancel(t); } ",
        "extern int pthread_cancel (pthread_t t); int f(pthread_t t) { (pthread_cancel)(t); }",
        "#define STOP pthread_cancel\nint f(pthread_t t) { STOP(t); }",
        "int (*p)(pthread_t) = pthread_cancel; void f(pthread_t t) { if (t) 0; else pthread_cancel(t); }",
    ],
)
def test_uses_are_found(use: str, tmp_path: Path) -> None:
    made = program(
        tmp_path, HEAD + use + "int main(void) { f(pthread_self()); sleep(1); return 0; }"
    )
    assert "pthread_testcancel" in made.functions


def test_the_lists_name_functions_of_the_library() -> None:
    known = {*index_library()[0], *read_list("unsupported.txt"), *read_list("no_effect.txt")}
    known |= set(read_effects())
    points = read_cancellation_points()
    assert {name for name in points if name in known} >= {"read", "printf", "sem_wait", "fcntl"}
    # These have to be left to their models.
    assert not {"pthread_join", "pthread_cond_wait", "pthread_mutex_lock"} & set(points)


BLOCKED = "sem_t s; int after; void *work(void *a) { sem_wait(&s); after = 1; return NULL; }"


@pytest.mark.parametrize("engine", ["orders", "impact"])
@pytest.mark.parametrize(
    ("text", "check", "expected"),
    [
        (BLOCKED, "assert(result == PTHREAD_CANCELED && !after);", Answer.HOLDS),
        ("void *work(void *a) { return NULL; }", "assert(result == NULL);", Answer.HOLDS),
        (
            "int n; void *work(void *a) { n = 1; sleep(1); n = 2; return NULL; }",
            "assert(n == (result == PTHREAD_CANCELED ? 1 : 2));",
            Answer.HOLDS,
        ),
        (
            'int n; void *work(void *a) { n = 1; printf("x"); n = 2; return NULL; }',
            "assert(n == 2);",
            Answer.VIOLATED,
        ),
        (
            "int n; void *work(void *a) { pthread_cancel(pthread_self()); sleep(1); n = 1; return a; }",
            "assert(n == 0);",
            Answer.HOLDS,
        ),
    ],
)
def test_engines(engine: str, text: str, check: str, expected: Answer, tmp_path: Path) -> None:
    whole = HEAD + text + MAIN.replace("CHECK", check)
    outcome = outcome_of(engine, whole, tmp_path)
    assert outcome.answer is expected, outcome.reason
