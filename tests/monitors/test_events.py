"""What a monitor sees of a program, by exploring all schedules of small ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.errors import InputError
from plait.model.properties import Property, Specification
from plait.semantics.explore import Exploration, ExploreOptions, Verdict, explore

WATCHED = Specification(frozenset({Property.MONITOR}))


def explored(folder: Path, program: str, monitor: str) -> Exploration:
    (folder / "program.c").write_text("#include <pthread.h>\n#include <stdlib.h>\n" + program)
    (folder / "watch.mon").write_text(monitor)
    options = FrontEndOptions(monitor=str(folder / "watch.mon"))
    loaded = load([str(folder / "program.c")], options, WATCHED)
    return explore(loaded, WATCHED, ExploreOptions(inputs=(-1, 0)))


def says(found: Exploration) -> str:
    """The message of a violation; empty if there is none."""
    if found.violation is None:
        assert found.verdict is Verdict.TRUE or "holds for inputs" in found.reason, found.reason
        return ""
    return found.violation.message


COUNTS = """monitor count
declare { int f(int); }
variable int calls = 0;
variable int sum = 0;
state counting {
  call f($x) do { calls++; sum += $x; } -> counted;
}
state counted {
  call f($x) do { calls++; sum += $x; } -> counted;
  exit if (calls == CALLS && sum == SUM) -> error "as expected";
}
"""


@pytest.mark.parametrize("body", ["static int f(int x) { return x; }", "int f(int x);"])
def test_calls_of_functions_with_and_without_a_body(tmp_path: Path, body: str) -> None:
    """Also through a pointer; the arguments are those that are passed."""
    program = body + "int main(void) { int (*p)(int) = f; f(3); p(4); (*p)(-1); return 0; }"
    right = COUNTS.replace("CALLS", "3").replace("SUM", "6")
    assert says(explored(tmp_path, program, right)) == "count: as expected"
    wrong = COUNTS.replace("CALLS", "2").replace("SUM", "6")
    assert says(explored(tmp_path, program, wrong)) == ""


def test_a_return_knows_arguments_as_they_were_and_the_result(tmp_path: Path) -> None:
    program = "int f(int x) { x++; if (x > 5) return x; return -x; } int main(void) { f(6); f(1); }"
    monitor = """monitor returns declare { int f(int); }
    state none { return f($x) = $r if ($x == 6 && $r == 7) -> one; }
    state one { return f($x) = $r if ($x == 1 && $r == -2) -> error "both"; }"""
    assert says(explored(tmp_path, program, monitor)) == "returns: both"
    assert says(explored(tmp_path, program, monitor.replace("== 7", "== 6"))) == ""


def test_a_result_of_a_function_of_the_system_with_any_number_of_arguments(tmp_path: Path) -> None:
    program = '#include <fcntl.h>\nint main(void) { int x = open("a", 0); if (x < 0) exit(0); }'
    monitor = """monitor opened include <fcntl.h>
    state none { return open = $fd if ($fd < 0) -> failed; }
    state failed { exit -> error "it may fail"; }"""
    assert says(explored(tmp_path, program, monitor)) == "opened: it may fail"


def test_an_access_is_one_step_with_its_event(tmp_path: Path) -> None:
    """Whoever reads 1 has been preceded by the event of the write, and the other way round."""
    program = """int x; int seen;
    void *t(void *a) { x = 1; return 0; }
    int main(void) { pthread_t id; pthread_create(&id, 0, t, 0); seen = x; return 0; }"""
    monitor = """monitor order declare { extern int x; }
    state unwritten { read x if (x == 1) -> error "early"; write x -> written; }
    state written { read x if (x == 0) -> error "late"; read x -> error "behind it"; }"""
    assert says(explored(tmp_path, program, monitor)) == "order: behind it"
    without = monitor.replace('read x -> error "behind it";', "")
    assert says(explored(tmp_path, program, without)) == ""


def test_locks_threads_and_the_end(tmp_path: Path) -> None:
    program = """pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    void *t(void *a) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 0; }
    int main(void) { pthread_t id; pthread_create(&id, 0, t, &m); pthread_join(id, 0); exit(0); }"""
    monitor = """monitor all include <pthread.h>
    declare { extern pthread_mutex_t m; void *t(void *); }
    state a { create($f, $x) if ($f == t && $x == &m) -> b; }
    state b { lock $l if ($l == (void *)&m && $thread == 2) -> c; }
    state c { unlock $l if ($l == (void *)&m) -> d; }
    state d { end if ($thread == 2) -> e; }
    state e { join if ($thread == 1) -> f; }
    state f { exit -> error "all of them"; }"""
    assert says(explored(tmp_path, program, monitor)) == "all: all of them"


def test_a_lock_is_one_step_with_its_event(tmp_path: Path) -> None:
    """Between the event and the lock nobody can notice that it is free."""
    program = """pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; void probe(void);
    void *t(void *a) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 0; }
    int main(void) { pthread_t id; pthread_create(&id, 0, t, 0);
      if (pthread_mutex_trylock(&m) == 0) pthread_mutex_unlock(&m); return 0; }"""
    monitor = """monitor exclusive include <pthread.h>
    state free { lock -> held; unlock -> error "not held"; }
    state held { unlock -> free; lock -> error "held by two"; }"""
    assert says(explored(tmp_path, program, monitor)) == ""


def test_each_object_has_its_own_state(tmp_path: Path) -> None:
    program = """void begin(int *); void finish(int *); int a, b;
    int main(void) { begin(&a); begin(&b); finish(&b); LAST; return 0; }"""
    monitor = """monitor pairs declare { void begin(int *); void finish(int *); }
    for each int *$x up to 2
    state idle { call begin($x) -> busy; call finish($x) -> error "not begun"; }
    state busy { call begin($x) -> error "twice"; call finish($x) -> idle; exit -> error "left"; }
    """
    for last, said in (
        ("finish(&a)", ""),
        ("finish(&b)", "pairs: not begun"),
        ("begin(&a)", "pairs: twice"),
        ("begin(&b)", "pairs: left"),
        ("finish(&a), begin(&b), finish(&b)", ""),
    ):
        found = explored(tmp_path, program.replace("LAST", last), monitor)
        assert says(found) == said, last


def test_events_of_several_threads_are_all_counted(tmp_path: Path) -> None:
    program = """void tick(void);
    void *t(void *a) { tick(); return 0; }
    int main(void) { pthread_t id; pthread_create(&id, 0, t, 0); tick(); pthread_join(id, 0); }"""
    monitor = """monitor both declare { void tick(void); } variable int count = 0;
    state none { call tick do { count = 1; } -> some; }
    state some { call tick do { count++; } -> some; exit if (count != 2) -> error "lost"; }"""
    assert says(explored(tmp_path, program, monitor)) == ""


def test_more_objects_than_the_table_has_have_no_verdict(tmp_path: Path) -> None:
    program = """void begin(int *); int a[3];
    int main(void) { begin(&a[0]); begin(&a[1]); begin(&a[2]); return 0; }"""
    monitor = """monitor many declare { void begin(int *); } for each int *$x up to 2
    state idle { call begin($x) -> busy; } state busy { call begin($x) -> error "twice"; }"""
    found = explored(tmp_path, program, monitor)
    assert found.verdict is Verdict.UNKNOWN
    assert "more than 2 at the same time" in found.reason


def test_each_thread_has_its_own_state(tmp_path: Path) -> None:
    program = """void tick(void);
    void *t(void *a) { tick(); return 0; }
    int main(void) { pthread_t id; pthread_create(&id, 0, t, 0); tick(); MORE; return 0; }"""
    monitor = """monitor once declare { void tick(void); } for each thread
    state idle { call tick -> ticked; } state ticked { call tick -> error "twice"; }"""
    assert says(explored(tmp_path, program.replace("MORE;", ""), monitor)) == ""
    assert says(explored(tmp_path, program.replace("MORE", "tick()"), monitor)) == "once: twice"


@pytest.mark.parametrize(
    ("program", "monitor", "said"),
    [
        ("int main(void) {}", "state a { call g -> a; }", "'g' is not declared"),
        (
            "int main(void) {}",
            "declare { int g(int, int); } state a { call g($x) -> a; }",
            "'g' has 2 arguments, not 1",
        ),
        ("int main(void) {}", "state a { read v -> a; }", "the program has no global variable 'v'"),
        (
            "int v; int *p = &v; int main(void) { v = *p; }",
            "state a { read v -> a; }",
            "the address of 'v' is taken at",
        ),
        (
            "int v; void f(int *p) { *p = 1; } int main(void) { f(&v); v = 2; }",
            "state a { read v -> a; }",
            "the address of 'v' is taken at",
        ),
        (
            "long f(long x) { return x; } int main(void) { f(1); }",
            "declare { int f(int); } state a { call f($x) -> a; }",
            "the monitor declares 'f' with other types than",
        ),
        ("int main(void) {}", "state a {\n exit if ($x) -> a; }", "'$x' is nothing at this event"),
        ("int main(void) {}", "state a {\n exit if (1 +) -> a; }", "expected expression"),
        ("int main(void) {}", "variable int x[2]; state a { exit -> a; }", "one scalar variable"),
    ],
)
def test_what_cannot_be_watched(tmp_path: Path, program: str, monitor: str, said: str) -> None:
    with pytest.raises(InputError) as failure:
        explored(tmp_path, program, f"monitor m\n{monitor}")
    assert said in str(failure.value)
    assert "watch.mon" in str(failure.value)
