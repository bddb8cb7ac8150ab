"""Where the models of the library say less than they could, and never too much; and the assumptions
that a verdict is printed with."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.model.properties import from_names
from plait.model.types import DataModel
from plait.portfolio.assumptions import assumptions_of
from plait.semantics.explore import Exploration, ExploreOptions, explore
from plait.semantics.run import run

HEAD = """#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
"""
HANDLER = HEAD + "void handler(void) { assert(0); }\n"


def explored(
    folder: Path, text: str, *properties: str, inputs: tuple[int, int] | None = None
) -> Exploration:
    source = folder / "main.c"
    source.write_text(text)
    specification = from_names(list(properties))
    program = load([str(source)], FrontEndOptions(), specification)
    found = explore(program, specification, ExploreOptions(inputs=inputs, max_seconds=60))
    if found.schedule is not None:
        replayed = run(program, specification, schedule=found.schedule)
        assert replayed.ending in ("violation", "deadlock"), replayed.ending
    return found


@pytest.mark.parametrize(
    "body",
    [
        "int main(void) { pthread_self(); atexit(handler); pthread_exit(0); }",
        "int main(void) { atexit(handler); pthread_exit(0); }",
        """pthread_t first;
        void *work(void *p) { pthread_join(first, 0); atexit(handler); return 0; }
        int main(void) {
            pthread_t p; first = pthread_self();
            pthread_create(&p, 0, work, 0); pthread_exit(0);
        }""",
    ],
)
def test_handlers_that_the_last_thread_would_run(body: str, tmp_path: Path) -> None:
    found = explored(tmp_path, HANDLER + body)
    assert found.verdict.value == "unknown" and "atexit" in found.reason


def test_waiting_for_one_whose_assumption_fails(tmp_path: Path) -> None:
    text = """extern void __VERIFIER_assume(int);
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    int x;
    void *work(void *p) {
        pthread_mutex_lock(&m); x = x + 1; __VERIFIER_assume(x < 2); pthread_mutex_unlock(&m);
        return 0;
    }
    int main(void) {
        pthread_t p;
        pthread_create(&p, 0, work, 0); pthread_create(&p, 0, work, 0);
        pthread_join(p, 0);
        return 0;
    }"""
    found = explored(tmp_path, HEAD + text, "no-deadlock")
    assert found.verdict.value == "unknown" and "an assumption fails later" in found.reason


def test_thread_local_memory_that_does_not_fit(tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text(
        f"""{HEAD}
        _Thread_local char big[61000000], other[6200000];
        void *work(void *p) {{ big[0] = other[0] = 1; return 0; }}
        int main(void) {{ pthread_t p; pthread_create(&p, 0, work, 0); pthread_join(p, 0); }}"""
    )
    specification = from_names(["assertions"])
    options = FrontEndOptions(data_model=DataModel.ILP32)
    execution = run(load([str(source)], options, specification), specification, seed=1)
    assert execution.ending == "limit" and "address space" in execution.outcome.message


def test_clocks_that_do_not_go_back(tmp_path: Path) -> None:
    text = """int main(void) {
        struct timespec a, b;
        clock_gettime(%s, &a); clock_gettime(%s, &b);
        assert(b.tv_sec > a.tv_sec || (b.tv_sec == a.tv_sec && b.tv_nsec >= a.tv_nsec));
    }"""
    steady = explored(tmp_path, HEAD + text % ("CLOCK_MONOTONIC", "CLOCK_MONOTONIC"), inputs=(0, 3))
    assert steady.reason == "holds for inputs in 0..3"
    for clocks in (("CLOCK_REALTIME", "CLOCK_REALTIME"), ("CLOCK_MONOTONIC", "CLOCK_BOOTTIME")):
        assert explored(tmp_path, HEAD + text % clocks, inputs=(0, 3)).verdict.value == "false"


def test_destroying_while_misuse_and_memory_are_checked(tmp_path: Path) -> None:
    text = (Path(__file__).parents[1] / "programs/litmus/condition_destroy_free.c").read_text()
    found = explored(tmp_path, text, "lock-misuse", "valid-memsafety")
    assert found.verdict.value == "true", found.reason


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("int *p = malloc(4); p = 0; exit(0);", "false"),
        ("drop(malloc(4)); exit(0);", "false"),
        ("int *p = malloc(4); hold(&p); p = 0; exit(0);", "false"),
        ("int *p = malloc(4); exit(p == 0);", "true"),
        ("packed.pointer = malloc(4);", "unknown"),
    ],
)
def test_leaks_are_found_again_in_a_run(body: str, wanted: str, tmp_path: Path) -> None:
    text = f"""{HEAD}
    struct __attribute__((packed)) {{ char c; int *pointer; }} packed;
    void drop(int *p) {{}}
    void hold(int **p) {{}}
    int main(void) {{ {body} return 0; }}"""
    assert explored(tmp_path, text, "valid-memsafety").verdict.value == wanted


def test_assumptions(tmp_path: Path) -> None:
    def assumed(text: str, name: str = "assertions") -> str:
        source = tmp_path / "main.c"
        source.write_text(HEAD + text)
        specification = from_names([name])
        program = load([str(source)], FrontEndOptions(), specification)
        return "; ".join(assumptions_of(program, specification, spurious_wakeups=True))

    plain = assumed("int x; int main(void) { x = 1; return x; }")
    assert plain == "data model LP64, sequentially consistent memory"
    local = "int *g; void f(int *p) { %s = 1; } int main(void) { int x; f(&x); return x; }"
    assert "pointer to a local" not in assumed(local % "*p")
    local %= "g = p; *g"
    assert "no pointer to a local is used after" in assumed(local)
    assert "pointer to a local" not in assumed(local, "valid-memsafety")
    own = "_Thread_local int x; int *g; int main(void) { x = 1; %s; return x; }"
    assert "thread-local" not in assumed(own % "x++")
    own %= "g = &x"
    assert "pointer to a thread-local object is used after" in assumed(own)
    assert "thread-local" not in assumed(own, "valid-memsafety")
    heap = "int main(void) { int *p = malloc(4); %s; return 0; }"
    assert "freed is not handed out again" in assumed(heap % "free(p)")
    assert "handed out" not in assumed(heap % "*p = 1")
    assert "addresses" in assumed("int x, y; int main(void) { return &x < &y; }")
    assert "addresses" in assumed("int x; int main(void) { return (long)&x % 2; }")
    assert "environment" in assumed('int main(void) { return getenv("HOME") == 0; }')
    variable = "char **environ; int main(void) { return environ[0] == 0; }"
    assert "environment" in assumed(f"extern {variable}")
    assert "environment" not in assumed(variable)
    assert "identity" in assumed("int main(void) { return pthread_self() == 0; }")


@pytest.mark.parametrize("call", ["aligned_alloc(3, 8)", "aligned_alloc(0, 8)", "memalign(24, 8)"])
def test_what_is_no_alignment(call: str, tmp_path: Path) -> None:
    """C17 has null, some libraries have not, and nobody has the alignment that was asked for."""
    text = f"#include <malloc.h>\nint main(void) {{ assert((long){call} % 3 == 0); }}"
    found = explored(tmp_path, HEAD + text)
    assert found.verdict.value == "unknown" and "not a power of two" in found.reason


@pytest.mark.parametrize(("clock", "expected"), [("CLOCK_REALTIME", "true"), ("999", "false")])
def test_a_clock_that_nobody_knows(clock: str, expected: str, tmp_path: Path) -> None:
    text = f"int main(void) {{ struct timespec t; assert(clock_getres({clock}, &t) == 0); }}"
    assert explored(tmp_path, HEAD + text).verdict.value == expected
