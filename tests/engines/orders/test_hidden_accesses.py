"""Accesses that locks and atomic sections hide from other threads: only those that nobody sees.

Each program's verdict is known, and where there is one the exhaustive oracle must agree.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.engines.interface import Answer, Counterexample
from plait.engines.orders.engine import check
from plait.engines.orders.settings import Settings
from plait.evidence.replay import ReplayFailed, replay, replay_race
from plait.model.properties import from_names
from plait.semantics.explore import ExploreOptions, explore

HOLDS, VIOLATED, UNKNOWN = Answer.HOLDS, Answer.VIOLATED, Answer.UNKNOWN
VERDICTS = {HOLDS: "true", VIOLATED: "false"}

HEAD = """#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x, flag, held;
static void lock(void) { pthread_mutex_lock(&m); }
static void unlock(void) { pthread_mutex_unlock(&m); }
static void acquire(void) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(held == 0);
  held = 1;
  __VERIFIER_atomic_end();
}
static void release(void) { held = 0; }
"""


def two_threads(first: str, second: str, before: str = "", after: str = "") -> str:
    return f"""{HEAD}
void *f(void *p) {{ {first} return 0; }}
void *g(void *p) {{ {second} return 0; }}
int main(void) {{
  pthread_t a, b;
  {before}
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, g, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  {after}
}}
"""


def section(text: str) -> str:
    return f"__VERIFIER_atomic_begin(); {text} __VERIFIER_atomic_end();"


def chain(length: int) -> str:
    """A pointer that comes to the first thread through many others: each writes where the next one
    says, and is unrolled before it."""
    last = length - 1
    places = "void *c0;" + "".join(f"void *c{number + 1};" for number in range(length))
    values = ["&x", *(f"&c{number}" for number in range(last))]
    links = "".join(
        f"""void *f{number}(void *unused) {{
          void **p = c{number + 1}; __VERIFIER_assume(p != 0); *p = {value}; return 0;
        }}"""
        for number, value in enumerate(values)
    )
    starts = "".join(f"pthread_create(&a, 0, f{number}, 0);" for number in range(length))
    return f"""{HEAD} {places}
    void *seeing(void *unused) {{
      int *p = c0; __VERIFIER_assume(p != 0); assert(*p != 1); return 0;
    }}
    {links}
    void *holding(void *unused) {{
      acquire(); x = 1; x = 2; release(); acquire(); x = 2; release(); return 0;
    }}
    int main(void) {{
      pthread_t a; pthread_create(&a, 0, seeing, 0); {starts}
      c{length} = &c{last}; pthread_create(&a, 0, holding, 0); acquire(); release();
    }}"""


TWICE = "lock(); x = 0; unlock(); lock(); x = 0; unlock();"
EITHER = "if (__VERIFIER_nondet_bool()) lock(); else lock();"
IN_SECTION = "__VERIFIER_atomic_begin(); x = 2; {} __VERIFIER_atomic_end();"

LIST = """struct node { struct node *next; } *head;
void push(void) { struct node *n = malloc(sizeof *n); n->next = head; head = n; }"""

PROGRAMS = {
    "a lock taken on one of two ways, and an access without it": (
        "assertions",
        two_threads(f"{EITHER} x = 1; x = 2;", "assert(x != 1); lock(); unlock();", TWICE),
        VIOLATED,
    ),
    "a lock taken on one of two ways by everyone": (
        "assertions",
        two_threads(f"{EITHER} x = 1; x = 2;", "lock(); assert(x != 1); unlock();", TWICE),
        HOLDS,
    ),
    "a cell under two locks that are released one after the other": (
        "assertions",
        two_threads(
            "acquire(); x = 5; flag = 1; lock(); release(); unlock();",
            "acquire(); lock(); x = 7; release(); __VERIFIER_assume(flag == 1); unlock();",
            after="assert(x == 7);",
        ),
        VIOLATED,
    ),
    "an object like one that is never made": (
        "assertions",
        f"""{HEAD}
        int *shown;
        void *f(void *unused) {{
          flag = 1; int *p = shown; __VERIFIER_assume(p != 0); assert(*p != 1); acquire();
          return 0;
        }}
        int main(void) {{
          pthread_t a; pthread_create(&a, 0, f, 0);
          flag = 1;
          if (flag != 1) {{
            int *never = malloc(4);
            acquire(); *never = 0; release(); acquire(); *never = 0; release();
          }}
          int *p = malloc(4); *p = 0; shown = p;
          acquire(); *p = 1; *p = 2; release();
          pthread_join(a, 0);
        }}""",
        VIOLATED,
    ),
    "a pointer that is known at last": ("assertions", chain(5), VIOLATED),
    "a pointer that is known too late": ("assertions", chain(6), UNKNOWN),
    "a pointer to an object that is made later": (
        "assertions",
        f"""{HEAD}
        int *shown;
        void *f(void *unused) {{
          int *p = shown; __VERIFIER_assume(p != 0);
          assert(p[__VERIFIER_nondet_bool()] != 1); acquire();
          return 0;
        }}
        void *g(void *unused) {{
          int *p = calloc(2, 4);
          acquire(); shown = p; p[0] = 1; p[0] = 2; release(); acquire(); p[0] = 2; release();
          return 0;
        }}
        int main(void) {{
          pthread_t a; pthread_create(&a, 0, f, 0); pthread_create(&a, 0, g, 0); pthread_exit(0);
        }}""",
        VIOLATED,
    ),
    "a section that does not wait for 0 takes no lock": (
        "assertions",
        two_threads(
            "acquire();", section("__VERIFIER_assume(held == 1); held = 2;") + "assert(0);"
        ),
        VIOLATED,
    ),
    "a release that waits for what is not there": (
        "assertions",
        two_threads(
            "acquire();" + section("__VERIFIER_assume(held == 2); held = 0;") + "assert(0);",
            "acquire(); release();",
        ),
        HOLDS,
    ),
    "a release by whoever does not hold the lock": (
        "assertions",
        two_threads(
            "acquire(); x = 1; x = 0; release();",
            "release(); acquire(); assert(x == 0); release();",
        ),
        VIOLATED,
    ),
    "a lock that its owner waits for": (
        "assertions",
        two_threads("acquire(); acquire(); assert(0);", "acquire(); release();"),
        HOLDS,
    ),
    "a lock that is taken at first": (
        "assertions",
        two_threads(
            section("__VERIFIER_assume(shut == 0); shut = 1;") + "assert(0);",
            section("__VERIFIER_assume(shut == 0); shut = 1;") + "shut = 0;",
        ).replace(HEAD, HEAD + "int shut = 1;"),
        HOLDS,
    ),
    "a plain release does not race with those who wait for it": (
        "no-data-race",
        two_threads("acquire(); release();", "acquire(); release();"),
        HOLDS,
    ),
    "a constant whose value says that it was written": (
        "assertions",
        two_threads(
            "flag = 1; x = 1;", section("__VERIFIER_assume(x == 1);") + "assert(flag == 1);"
        ),
        HOLDS,
    ),
    "a constant that was written on one of two ways": (
        "assertions",
        two_threads("if (__VERIFIER_nondet_bool()) x = 1; assert(x == 1);", "x = 1;"),
        VIOLATED,
    ),
    "a write that need not be between": (
        "assertions",
        two_threads(
            "x = 1; if (__VERIFIER_nondet_bool()) x = 2; assert(x != 1);", "flag = x; x = 3;"
        ),
        VIOLATED,
    ),
    "a value that is required on one of two ways": (
        "assertions",
        two_threads(
            "_Bool b = __VERIFIER_nondet_bool();"
            + section("int r = x; if (b) __VERIFIER_assume(r == 1); flag = r;")
            + "assert(flag == 1);",
            "x = 1;",
        ),
        VIOLATED,
    ),
    "what was waited for on one of two ways": (
        "assertions",
        two_threads(
            "if (__VERIFIER_nondet_bool()) {"
            + section("__VERIFIER_assume(x == 1);")
            + "} assert(flag == 1);",
            "flag = 1; x = 1;",
        ),
        VIOLATED,
    ),
    "places of which one is common": (
        "assertions",
        two_threads(
            "many[__VERIFIER_nondet_bool() ? 1 : 2] = 1;",
            "assert(many[__VERIFIER_nondet_bool() ? 2 : 3] == 0);",
        ).replace(HEAD, HEAD + "int many[4];"),
        VIOLATED,
    ),
    "a race with a lock that is held on one of two ways": (
        "no-data-race",
        two_threads(
            "_Bool b = __VERIFIER_nondet_bool(); if (b) lock(); x = 1; if (b) unlock();",
            "lock(); x = 2; unlock();",
        ),
        VIOLATED,
    ),
    "a race with a lock that is given back on one of two ways": (
        "no-data-race",
        two_threads(
            "lock(); _Bool b = __VERIFIER_nondet_bool(); if (b) unlock(); x = 1; if (!b) unlock();",
            "lock(); x = 2; unlock();",
        ),
        VIOLATED,
    ),
    "a race of a read and a write": (
        "no-data-race",
        two_threads("x = 1;", "int r = x;"),
        VIOLATED,
    ),
    "a race of a section and a later thread": (
        "no-data-race",
        two_threads(section("x = 1;"), "x = 2;"),
        VIOLATED,
    ),
    "memory that each round of a loop loses": (
        "valid-memsafety",
        two_threads("flag = 1;", "").replace("pthread_join(a, 0);", "while (!flag) malloc(4);"),
        VIOLATED,
    ),
    "a race with a section that ends the process": (
        "no-data-race",
        two_threads("x = 1;", IN_SECTION.format("abort();")),
        VIOLATED,
    ),
    "a race with a section in which an assertion fails": (
        "no-data-race",
        two_threads("x = 1;", IN_SECTION.format("assert(0);")),
        VIOLATED,
    ),
    "a race with a section that does not happen": (
        "no-data-race",
        two_threads("x = 1;", IN_SECTION.format("__VERIFIER_assume(0);")),
        HOLDS,
    ),
    "a race with a section that does not end": (
        "no-data-race",
        two_threads("x = 1;", IN_SECTION.format("while (1);")),
        UNKNOWN,
    ),
    "memory that a section loses when it ends the process": (
        "valid-memsafety",
        f"""{HEAD}
        int main(void) {{
          __VERIFIER_atomic_begin(); int *p = malloc(4); p = 0; exit(0); __VERIFIER_atomic_end();
        }}""",
        VIOLATED,
    ),
    "memory that a static object leads to": (
        "valid-memsafety",
        HEAD + "int *g; int main(void) { g = malloc(4); return 0; }",
        HOLDS,
    ),
    "memory that a list of a static object leads to": (
        "valid-memsafety",
        f"{HEAD} {LIST} int main(void) {{ push(); push(); return 0; }}",
        HOLDS,
    ),
    "memory that only a freed node leads to": (
        "valid-memsafety",
        f"{HEAD} {LIST} int main(void) {{ push(); push(); free(head); return 0; }}",
        VIOLATED,
    ),
    "memory that another thread loses": (
        "valid-memsafety",
        f"""{HEAD} int *g; void *f(void *unused) {{ g = 0; return 0; }}
        int main(void) {{
          pthread_t a; g = malloc(4); pthread_create(&a, 0, f, 0); pthread_join(a, 0); return 0;
        }}""",
        VIOLATED,
    ),
    "memory that another thread may lose in time": (
        "valid-memsafety",
        f"""{HEAD} int *g; void *f(void *unused) {{ g = 0; return 0; }}
        int main(void) {{ pthread_t a; g = malloc(4); pthread_create(&a, 0, f, 0); return 0; }}""",
        VIOLATED,
    ),
    "an object that ends with its thread": (
        "valid-memsafety",
        f"""{HEAD}
        _Thread_local int own; int *p;
        void *f(void *unused) {{ p = &own; return 0; }}
        int main(void) {{
          pthread_t a; pthread_create(&a, 0, f, 0); pthread_join(a, 0); return *p;
        }}""",
        VIOLATED,
    ),
}


@pytest.mark.parametrize(("name", "text", "expected"), PROGRAMS.values(), ids=PROGRAMS.keys())
def test_small_programs(name: str, text: str, expected: Answer, tmp_path: Path) -> None:
    decide(name, text, expected, tmp_path)


def decide(name: str, text: str, expected: Answer, tmp_path: Path, bound: int = 4) -> None:
    source = tmp_path / "program.c"
    source.write_text(text)
    specification = from_names(name.split(","))
    program = load([str(source)], FrontEndOptions(), specification)

    def confirm(found: Counterexample) -> str:
        try:
            if found.race is not None:
                replay_race(program, specification, found)
            else:
                replay(program, specification, found)
        except ReplayFailed as error:
            return str(error)
        return ""

    settings = Settings(finds_races=name == "no-data-race", checks_memory=name == "valid-memsafety")
    outcome = check(program, bound, time.monotonic() + 20, settings, confirm=confirm)
    assert outcome.answer is expected, outcome.reason
    oracle = explore(program, specification, ExploreOptions(max_states=40_000, max_seconds=5))
    if expected is not UNKNOWN and oracle.verdict.value != "unknown":
        assert oracle.verdict.value == VERDICTS[expected], oracle.reason
