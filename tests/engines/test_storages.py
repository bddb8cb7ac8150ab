"""What belongs to the library cannot be freed by the program: no engine takes that for valid."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.asking import outcome_of

from plait.c import FrontEndOptions, load
from plait.engines.interface import Answer
from plait.model.properties import from_names
from plait.semantics.explore import explore

ENGINES = ["orders", "impact", "modular", "context", "explicit"]

_THREAD = """#include <pthread.h>
#include <stdlib.h>
#include <threads.h>
static void *work(void *argument) { return argument; }
static int work_c11(void *argument) { return argument == NULL; }
int main(void) {
  BODY
  return 0;
}
"""
_FILES = """#include <dirent.h>
#include <malloc.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/mman.h>
int main(void) {
  BODY
  return 0;
}
"""
_DIRECTORY = 'DIR *d = opendir("."); if (d == NULL) return 0;'
_ADDRESS = 'struct addrinfo *a; if (getaddrinfo("a", "b", NULL, &a)) return 0;'
_MAPPING = (
    "void *m = mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);if (m == MAP_FAILED) return 0;"
)

WRONG = {
    "thread": (_THREAD, "pthread_t id; pthread_create(&id, NULL, work, NULL); free((void *)id);"),
    "thread of C11": (_THREAD, "thrd_t id; thrd_create(&id, work_c11, NULL); free((void *)id);"),
    "itself": (_THREAD, "free((void *)pthread_self());"),
    "directory": (_FILES, _DIRECTORY + "free(d);"),
    "directory by realloc": (_FILES, _DIRECTORY + "free(realloc(d, 4));"),
    "directory by realloc to nothing": (_FILES, _DIRECTORY + "realloc(d, 0);"),
    "size of a directory": (_FILES, _DIRECTORY + "malloc_usable_size(d); closedir(d);"),
    "address": (_FILES, _ADDRESS + "free(a);"),
    "mapping": (_FILES, _MAPPING + "free(m);"),
    "a block as a directory": (_FILES, "closedir(malloc(1000));"),
    "a block as an address": (_FILES, "freeaddrinfo(calloc(1, 1000));"),
    "an address as a directory": (_FILES, _ADDRESS + "closedir((DIR *)a);"),
    "a directory as an address": (_FILES, _DIRECTORY + "freeaddrinfo((struct addrinfo *)d);"),
    "a stream": ("#include <stdio.h>\n" + _FILES, "free(stdin);"),
}
RIGHT = {
    "directory": (_FILES, _DIRECTORY + "closedir(d);"),
    "mapping": (_FILES, _MAPPING + "munmap(m, 4096);"),
    "block": (
        _FILES,
        "void *p = malloc(4); malloc_usable_size(p); free(p); realloc(malloc(1), 0);",
    ),
}


def _text(program: tuple[str, str]) -> str:
    return program[0].replace("BODY", program[1])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("what", WRONG)
def test_no_engine_takes_it_for_valid(engine: str, what: str, tmp_path: Path) -> None:
    for property_ in ("valid-memsafety", "assertions"):
        outcome = outcome_of(engine, _text(WRONG[what]), tmp_path, property_)
        assert outcome.answer is not Answer.HOLDS


@pytest.mark.parametrize("what", WRONG)
def test_it_is_found(what: str, tmp_path: Path) -> None:
    outcome = outcome_of("orders", _text(WRONG[what]), tmp_path, "valid-memsafety")
    assert outcome.answer is Answer.VIOLATED, outcome.reason


@pytest.mark.parametrize("engine", ["orders", "impact", "explicit"])
@pytest.mark.parametrize("what", RIGHT)
def test_what_is_allowed_is_proved(engine: str, what: str, tmp_path: Path) -> None:
    """The checker of certificates agrees on what impact proves."""
    outcome = outcome_of(engine, _text(RIGHT[what]), tmp_path)
    assert outcome.answer is Answer.HOLDS, outcome.reason


def test_the_interpreter_says_whose_it_is(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(_text(WRONG["directory"]))
    specification = from_names(["valid-memsafety"])
    found = explore(load([str(path)], FrontEndOptions(), specification), specification)
    assert found.violation is not None
    assert "opendir" in found.violation.message
