"""Results for tests of the exchange formats: of three small programs, and random ones whose texts
are as hostile as file names and sources can be."""

from __future__ import annotations

import dataclasses
import types
from typing import Any, Union, get_args, get_origin, get_type_hints

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from plait.evidence.result import (
    Access,
    Cause,
    Change,
    Operation,
    Place,
    Result,
    Row,
    Source,
    Synchronisation,
    Thread,
    Unsupported,
    Violation,
    Waiting,
)

COUNTER = """\
#include <assert.h>
#include <pthread.h>
int counter;
void *add(void *unused) {
  counter = counter + 1;
  return 0;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, add, 0);
  pthread_create(&two, 0, add, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  assert(counter == 2);
}
"""

PATH = "src/two words/counter.c"


def place(line: int, function: str = "main", source: str = COUNTER, path: str = PATH) -> Place:
    """A whole line of a source."""
    text = source.split("\n")[line - 1]
    column = len(text) - len(text.lstrip()) + 1
    return Place(path, line, column, text.strip(), line, len(text) + 1, function)


def question(source: str = COUNTER, path: str = PATH, **changes: Any) -> Result:
    sources = [Source(path, "ab" * 32, source.splitlines())]
    basis = Result(
        "0.1.0", [path], "main", "LP64", ["assertions"], "orders", "true", "", sources=sources
    )
    return dataclasses.replace(basis, **changes)


def proved(**changes: Any) -> Result:
    words = ["No execution violates the properties."]
    return question(words=words, assumptions=["malloc succeeds"], **changes)


def undecided(**changes: Any) -> Result:
    construct = Unsupported("setjmp is not modelled", PATH, 9, 3, "  pthread_t one, two;")
    facts: dict[str, Any] = {
        "verdict": "unknown",
        "reason": "time limit of 5 s",
        "unsupported": [construct],
        "statistics": {"wall_seconds": 5.0},
    }
    return question(**facts | changes)


def lost_update(source: str = COUNTER, path: str = PATH, shift: int = 0) -> Result:
    """Both threads read 0; the assertion fails. `shift` says by how many lines it is moved."""

    def at(line: int, function: str = "main") -> Place:
        return place(line + shift, function, source, path)

    increment = at(5, "add")
    read = [Change("counter", "0", read=True, shared=True)]
    write = [Change("counter", "1", shared=True)]
    trace = [
        Row(1, 1, at(10), [Change("one", "1")], Operation("create", "one", 2)),
        Row(2, 1, at(11), [Change("two", "2")], Operation("create", "two", 3)),
        Row(3, 2, increment, read, depth=1),
        Row(4, 3, increment, read, depth=1),
        Row(5, 2, increment, write, depth=1),
        Row(5, 2, at(6, "add"), depth=1, returned=True),
        Row(6, 1, at(12), [], Operation("join", "one", 2)),
        Row(7, 3, increment, write, depth=1),
        Row(7, 3, at(6, "add"), depth=1, returned=True),
        Row(8, 1, at(13), [], Operation("join", "two", 3)),
        Row(9, 1, at(14), [Change("counter", "1", read=True, shared=True)], branch=False),
    ]
    causes = [Cause("counter", "1", 7, 3, increment), Cause("counter", "0")]
    message = "assertion 'counter == 2' failed"
    violation = Violation("assertions", message, 1, at(14), causes=causes)
    return question(
        source,
        path,
        verdict="false",
        reason=message,
        violated="assertions",
        violation=violation,
        threads=_threads(at),
        trace=trace,
        statistics={"wall_seconds": 0.25},
        words=["The assertion fails in 9 steps."],
        assumptions=["malloc succeeds"],
    )


def race() -> Result:
    increment = place(5, "add")
    last = Synchronisation(1, Operation("create", "one", 2), place(10))
    accesses = [
        Access(2, increment, True, False, "counter", [], last),
        Access(3, increment, False, False, "counter", ["m"]),
    ]
    violation = Violation(
        "no-data-race", "data race on counter", 2, increment, increment, accesses=accesses
    )
    return question(
        verdict="false",
        reason="data race on counter",
        violated="no-data-race",
        properties=["assertions", "no-data-race", "valid-memsafety"],
        violation=violation,
        threads=_threads(place),
        trace=[
            Row(1, 1, place(10), [], Operation("create", "one", 2)),
            Row(2, 1, place(11), [], Operation("create", "two", 3)),
            Row(3, 2, increment, [Change("counter", "1")]),
            Row(3, 2, place(6, "add"), returned=True),
        ],
    )


def deadlock() -> Result:
    """Without a place of its own."""
    waits = [
        Waiting(2, "lock", "b", place(5, "add"), [3]),
        Waiting(3, "lock", "a", place(6, "add"), [2]),
    ]
    violation = Violation("no-deadlock", "deadlock of two threads", 2, None, waiting=waits)
    trace = [
        Row(1, 2, place(5, "add"), [], Operation("lock", "a")),
        Row(2, 3, place(6, "add"), [], Operation("lock", "b")),
        Row(3, 2, place(5, "add"), [], Operation("trylock", "b", succeeded=False)),
    ]
    return question(
        verdict="false",
        reason=violation.message,
        violated="no-deadlock",
        properties=["no-deadlock"],
        violation=violation,
        threads=_threads(place),
        trace=trace,
    )


def all_samples() -> list[Result]:
    crashed = undecided(reason="internal error: x", report="plait-report-1.json")
    return [proved(), undecided(), crashed, lost_update(), race(), deadlock()]


def _threads(at: Any) -> list[Thread]:
    return [
        Thread(1, "main"),
        Thread(2, "add", 1, at(10)),
        Thread(3, "add", 1, at(11)),
    ]


# Random results

RANDOM = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

_NASTY = [
    "\0",
    "\x1b[31m",
    "\udc80",
    "\ud800",
    "]]>",
    "<&\"'>",
    "{0}",
    "](1)",
    "\r\n",
    "\ufffe",
    "/../",
]
TEXTS = st.one_of(
    st.text(st.characters(codec=None, exclude_categories=()), max_size=8),
    st.lists(st.sampled_from([*_NASTY, "a", " ", "ä", "𝄞", "%", "/", "."]), max_size=5).map(
        "".join
    ),
)
NUMBERS = st.integers(-2, 30)
_CHOICES = {
    "verdict": st.sampled_from(["true", "false", "unknown"]),
    "properties": st.lists(
        st.sampled_from(["assertions", "no-data-race", "valid-memsafety", "new"]), max_size=3
    ),
    "violated": st.sampled_from([None, "assertions", "valid-free", "newer"]),
}


def results() -> st.SearchStrategy[Result]:
    return _of(Result)


def _of(kind: Any, name: str = "") -> st.SearchStrategy[Any]:
    if name in _CHOICES:
        return _CHOICES[name]
    if kind is Any:
        return st.one_of(NUMBERS, TEXTS, st.none())
    if kind is str:
        return TEXTS
    if kind is int:
        return NUMBERS
    if kind is bool:
        return st.booleans()
    origin = get_origin(kind)
    if origin in (types.UnionType, Union):
        return st.one_of(st.none(), _of(get_args(kind)[0]))
    if origin is list:
        return st.lists(_of(get_args(kind)[0]), max_size=3)
    if origin is dict:
        return st.dictionaries(TEXTS, _of(get_args(kind)[1]), max_size=2)
    hints = get_type_hints(kind)
    fields = {item.name: item.name for item in dataclasses.fields(kind)}
    return st.builds(kind, **{field: _of(hints[field], field) for field in fields})
