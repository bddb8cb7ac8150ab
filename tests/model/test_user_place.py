"""Where a user is shown what happens in the library."""

from __future__ import annotations

from pathlib import Path

from plait.c import FrontEndOptions, load
from plait.model.actions import Load, Wait
from plait.model.program import Program
from plait.model.properties import Specification

TEXT = """#include <pthread.h>
#include <stdlib.h>
#include <string.h>
char a[4], b[4];
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int order(const void *x, const void *y) { return *(char *)x - *(char *)y; }
void *run(void *p) { pthread_mutex_lock(&m); return p; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, run, a);
  if (a[1]) memcpy(a, b, 2);
  memcpy(b, a, 4); strchr(a, 4);
  qsort(a, 4, 1, order);
  memcpy(b, a, 4); memcpy(b, a, 3);
  return 0;
}
"""


def program(tmp_path: Path) -> Program:
    path = tmp_path / "a.c"
    path.write_text(TEXT)
    return load([str(path)], FrontEndOptions(), Specification())


def shown(loaded: Program, function: str, kind: type) -> list[str]:
    actions = (edge.action for edge in loaded.functions[function].all_edges())
    origin = next(action.origin for action in actions if isinstance(action, kind))
    places = loaded.user_place(origin).split(", ")
    return [place.rpartition("a.c:")[2] for place in places]


def test_at_the_calls_that_lead_there(tmp_path: Path) -> None:
    loaded = program(tmp_path)
    assert shown(loaded, "strchr", Load) == ["12:20"]
    assert shown(loaded, "pthread_mutex_lock", Wait) == ["7:22"]


def test_not_too_many(tmp_path: Path) -> None:
    assert shown(program(tmp_path), "memcpy", Load)[1:] == ["12:3", "14:3", "..."]


def test_through_other_functions_of_the_library(tmp_path: Path) -> None:
    loaded = program(tmp_path)
    [inner] = [
        edge.action.callee
        for edge in loaded.functions["pthread_create"].all_edges()
        if getattr(edge.action, "callee", None) in loaded.functions
    ][:1] or ["pthread_create"]
    begin = loaded.functions[inner].origin
    assert loaded.user_place(begin).endswith("a.c:10:3")


def test_before_the_users_code_where_that_begins(tmp_path: Path) -> None:
    loaded = program(tmp_path)
    assert loaded.user_place(loaded.functions[loaded.entry].origin).endswith("a.c:8:1")


def test_a_place_of_the_user_is_itself(tmp_path: Path) -> None:
    assert shown(program(tmp_path), "order", Load) == ["6:50"]
