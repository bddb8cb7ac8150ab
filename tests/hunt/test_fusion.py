"""The search `fusion`: the worked example of the paper step by step, programs in which wrong pruning
would hide a violation, and programs of which one run is enough."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plait.data import dataclass
from plait.hunt.build import build_sources
from plait.hunt.fusion.executed import Followed
from plait.hunt.fusion.following import follow
from plait.hunt.fusion.formula import TraceAbstraction, TraceProgram
from plait.hunt.fusion.paths import Paths
from plait.hunt.fusion.search import Fusion, schedule_of
from plait.hunt.fusion.source import load_source
from plait.hunt.fusion.untaken import UntakenBranches
from plait.hunt.fusion.walk import make_paths
from plait.hunt.places import Places
from plait.hunt.run import Program, Run, Runner
from plait.hunt.schedule import Schedule, Step
from plait.hunt.trace import Trace
from tests.hunt.conftest import Hunt
from tests.hunt.programs import HEAD, two

ASSERTIONS = ("assertions", "unreach-call", "abort", "crash")
FAILS = frozenset({"assertions"})

# Figure 1 of the paper; lines are those of its events. t11 is the read of y in foo, t13 and t15 are
# its writes of x, t21 is the read of x in bar.
FIGURE_1 = """\
#include <assert.h>
#include <pthread.h>
int x, y;
void *foo(void *p) { int a;
  a = y;
  if (a == 0) {
    x = 1;
    a = x + 1;
    x = a;
  }
  return 0; }
void *bar(void *p) { int b;
  b = x;
  if (b == 0) {
    y = 1;
    b = y + 1;
    y = b;
  } else
    y = 0;
  return 0; }
int main(void) {
  pthread_t t1, t2;
  pthread_create(&t1, 0, foo, 0);
  pthread_create(&t2, 0, bar, 0);
  pthread_join(t1, 0);
  pthread_join(t2, 0);
  assert(x != y);
  return 0;
}
"""
T11, T13, T14, T21 = 5, 7, 8, 13  # lines


@dataclass(slots=True, eq=False)
class Fused:
    """A compiled program with its model."""

    runner: Runner
    search: Fusion
    lines: dict[int, int]
    source: Path

    def repeated(self, run: Run) -> tuple[Trace, Followed, Paths]:
        model = load_source([str(self.source)])
        assert run.trace is not None
        followed = follow(model.program, model.specification, run.trace, self.lines)
        return run.trace, followed, make_paths(model, followed, UntakenBranches(model))


@contextmanager
def fused(text: str, folder: Path, properties: tuple[str, ...] = ASSERTIONS) -> Iterator[Fused]:
    source = folder / "program.c"
    source.write_text(text)
    built = build_sources([str(source)], "gcc", ["-O0", "-w"], folder)
    lines = Places(folder).line_numbers()
    program = Program(built.executable, (), properties, "/", None, 10, 1 << 31, 10_000)
    with Runner(program) as runner:
        yield Fused(runner, Fusion((), load_source([str(source)]), lines), lines, source)


def soon() -> float:
    return time.monotonic() + 60


def step_in_line(item: Fused, trace: Trace, line: int) -> int:
    """The number of the first step there; steps are numbered like operations in these programs."""
    return next(operation.number for operation in trace if item.lines.get(operation.pc) == line)


# --- the worked example


def test_the_trace_program_of_figure_2(tmp_path: Path, runtime: Path) -> None:
    """The trace in which foo comes first: t26 (b is not 0) is taken, and no linearization of its
    trace program fails, although there are some in which t15 comes after t21."""
    with fused(FIGURE_1, tmp_path) as item:
        run = item.runner.run(Schedule(), "first", enabled=1)
        assert run.how == "ended"
        _, _, paths = item.repeated(run)
        foo, bar = paths.threads[2], paths.threads[3]
        taken = [[branch.untaken for branch in path.branches] for path in (foo, bar)]
        # One branch each (section 5.1); the untaken one of bar writes y and b, that of foo nothing.
        assert [len(row) for row in taken] == [1, 1]
        assert taken[0][0].writes == 0
        assert taken[1][0].writes != 0 and len(taken[1][0].registers) > 0
        assert not taken[0][0].may_fail and not taken[1][0].may_fail
        # t5 fails where x equals y: the only condition that is a property.
        assert [len(path.failing) for path in paths.threads.values()] == [1, 0, 0]
        assert TraceProgram(paths, FAILS).violation(soon()) is None


def test_prefixes_of_figure_5(tmp_path: Path, runtime: Path) -> None:
    """The example of section 5.4: nothing goes wrong behind t0 ... t13, so the backtrack point
    before t14 is pruned; behind t0 ... t12 something may."""
    with fused(FIGURE_1, tmp_path) as item:
        run = item.runner.run(Schedule(), "first", enabled=1)
        trace, followed, paths = item.repeated(run)
        abstraction = TraceAbstraction(paths)
        assert item.lines[list(trace)[step_in_line(item, trace, T13)].pc] == T13
        first = step_in_line(item, trace, T13)
        for count in range(followed.steps + 1):
            assert abstraction.is_safe(range(count), soon()) == (count > first), count
        assert not abstraction.is_safe(range(followed.steps), time.monotonic() - 1)


def test_the_second_trace_fails(tmp_path: Path, runtime: Path) -> None:
    """The trace that begins with t0 ... t12 t21, in which bar finds 0."""
    with fused(FIGURE_1, tmp_path) as item:
        trace, _, _ = item.repeated(item.runner.run(Schedule(), "first", enabled=1))
        begin = list(trace)[: step_in_line(item, trace, T13)]
        decisions = [Step(operation.thread) for operation in begin]
        run = item.runner.run(Schedule((*decisions, Step(3), Step(3))), "first", enabled=1)
        assert run.is_failure and "assertion 'x != y' failed" in run.detail


def test_a_failing_linearization_is_an_execution(tmp_path: Path, runtime: Path) -> None:
    """Theorem 2: what the formula of a trace program says shows in the real program, though the
    order is no other than one in which each thread is interrupted several times."""
    text = two(
        "void *f(void *p) { for (int i = 0; i < 3; i++) { int r = a; a = r + 1; } return 0; }\n"
        "#define g f",
        "assert(a > 2);",
    )
    with fused(text, tmp_path) as item:
        trace, _, paths = item.repeated(item.runner.run(Schedule(), "first", enabled=1))
        found = TraceProgram(paths, FAILS).violation(soon())
        assert found is not None and "a > 2" in found.text
        shown = item.runner.run(schedule_of(trace, found))
        assert shown.is_failure and "assertion 'a > 2' failed" in shown.detail


def test_the_search_of_figure_3(tmp_path: Path, runtime: Path) -> None:
    """Two traces, and the failing order of the second one."""
    with fused(FIGURE_1, tmp_path) as item:
        runs = list(searched(item))
        assert runs[-1].is_failure
        assert item.search.runs == 2
        assert item.search.pruned >= 1


# --- whole searches


def searched(item: Fused, most: int = 80) -> Iterator[Run]:
    """The runs of a search, up to the first failure."""
    for _ in range(most):
        run = item.search.next_run(item.runner)
        if run is None:
            return
        yield run
        if run.is_failure:
            return
    raise AssertionError("the search does not come to its end")


# Violations that are hidden if a phantom edge does too little, or if a point of the search is
# pruned that must not be.
VIOLATED = {
    "a write behind a branch that is not taken": two(
        "static int wrong;\nvoid *f(void *p) { if (x == 2) wrong = 1; return 0; }\n"
        "void *g(void *p) { x = 1; x = 2; x = 3; return 0; }",
        "assert(!wrong);",
    ),
    "an assertion behind a branch that is not taken": two(
        "static int k;\nvoid *f(void *p) { if (x == 2) { int r = k; assert(r == 1); } return 0; }\n"
        "void *g(void *p) { x = 1; x = 2; k = 1; x = 3; return 0; }"
    ),
    "a division behind a branch that is not taken": two(
        "static int k, r;\nvoid *f(void *p) { if (x == 2) { int d = k; r = 4 / d; } return 0; }\n"
        "void *g(void *p) { x = 1; x = 2; x = 3; return 0; }"
    ),
    "a call behind a branch that is not taken": two(
        "static int wrong;\nstatic void spoil(int *q) { *q = 1; }\n"
        "void *f(void *p) { if (x == 2) spoil(&wrong); return 0; }\n"
        "void *g(void *p) { x = 1; x = 2; x = 3; return 0; }",
        "assert(!wrong);",
    ),
    "a variable that only the taken branch assigns": two(
        "static int k;\nvoid *f(void *p) { int r = 0; if (x != 2) r = 1; k = r; return 0; }\n"
        "void *g(void *p) { x = 1; x = 2; x = 3; return 0; }",
        "assert(k == 1);",
    ),
    "a variable that only the other branch assigns": two(
        "static int k;\nvoid *f(void *p) { int r = 1; if (x == 2) r = 0; k = r; return 0; }\n"
        "void *g(void *p) { x = 1; x = 2; x = 3; return 0; }",
        "assert(k == 1);",
    ),
    "memory of one thread that only the taken branch writes": two(
        "static int k, own;\nvoid *f(void *p) { if (x != 2) own = 1; k = own; return 0; }\n"
        "void *g(void *p) { x = 1; x = 2; x = 3; return 0; }",
        "assert(k == 1);",
    ),
    "memory of one thread that only the other branch writes": two(
        "static int k, own = 1;\nvoid *f(void *p) { if (x == 2) own = 0; k = own; return 0; }\n"
        "void *g(void *p) { x = 1; x = 2; x = 3; return 0; }",
        "assert(k == 1);",
    ),
    "a result that depends on the branch": two(
        "static int k;\nstatic int h(void) { if (x == 2) return 0; return 1; }\n"
        "void *f(void *p) { k = h(); return 0; }\n"
        "void *g(void *p) { x = 1; x = 2; x = 3; return 0; }",
        "assert(k == 1);",
    ),
    "what comes behind a branch on which the thread ends": two(
        "static int k;\nvoid *f(void *p) { if (x != 2) pthread_exit(0); k = 1; return 0; }\n"
        "void *g(void *p) { x = 1; x = 2; x = 3; return 0; }",
        "assert(!k);",
    ),
    "another element of an array": two(
        "static int k[4];\nvoid *f(void *p) { k[x] = 1; return 0; }\n"
        "void *g(void *p) { x = 1; x = 2; x = 3; return 0; }",
        "assert(!k[2]);",
    ),
    "a loop that goes on": two(
        "static int k;\nvoid *f(void *p) { while (x == 2) { x = 3; k = 1; } return 0; }\n"
        "void *g(void *p) { x = 1; x = 2; x = 4; return 0; }",
        "assert(!k);",
    ),
    "a violation before others are blocked for ever": two(
        "static int k;\nvoid *f(void *p) { if (x == 2) { pthread_mutex_lock(&m);"
        " k = 1; assert(x != 2); } return 0; }\n"
        "void *g(void *p) { x = 1; x = 2; if (k) pthread_mutex_lock(&m); x = 3; return 0; }"
    ),
    "an update that fails": two(
        "static int k;\nvoid *f(void *p) { int e = 0;"
        " k = atomic_compare_exchange_strong(&a, &e, 5); return 0; }\n"
        "void *g(void *p) { a = 1; a = 0; return 0; }",
        "assert(k);",
    ),
    "a lock that is not had": two(
        "static int k;\nvoid *f(void *p) { if (pthread_mutex_trylock(&m)) k = 1;"
        " else pthread_mutex_unlock(&m); return 0; }\n"
        "void *g(void *p) { pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m); return 0; }",
        "assert(!k);",
    ),
    "a write that only the taken branch makes, and a read": two(
        "static int k, r;\nvoid *f(void *p) { if (x != 2) k = 1; r = k; return 0; }\n"
        "void *g(void *p) { x = 1; x = 2; x = 3; if (k == 7) k = 8; return 0; }",
        "assert(r == 1);",
    ),
    "a thread that the end of the process cuts short": HEAD
    + "void *f(void *p) { x = 1; assert(x == 2); return 0; }\n"
    "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); return x; }",
    # Behind the read of k nothing goes wrong, so that no run shows that another thread may write k.
    "a conflict that only pruned runs would show": HEAD
    + "static int k, r;\nvoid *f(void *p) { r = k; return 0; }\n"
    "void *g(void *p) { if (x == 1) k = 1; return 0; }\n"
    "void *h(void *p) { x = 1; return 0; }\n"
    "int main(void) { pthread_t t, u, v; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0);"
    " pthread_create(&v, 0, h, 0); pthread_join(t, 0); pthread_join(u, 0); pthread_join(v, 0);"
    " assert(r == 0); return 0; }",
}  # fmt: skip


@pytest.mark.parametrize("name", VIOLATED)
def test_violations_that_pruning_could_hide(name: str, tmp_path: Path, runtime: Path) -> None:
    with fused(VIOLATED[name], tmp_path) as item:
        *_, last = searched(item)
        assert last.is_failure, (item.search.obstacles, item.search.gaps)
        assert item.search.checked > 0, item.search.obstacles


# How many traces a search needs at most.
PROVED = {
    "locked": (
        1,
        two(
            "void *f(void *p) { for (int i = 0; i < 3; i++) { pthread_mutex_lock(&m); x++;"
            " pthread_mutex_unlock(&m); } return 0; }\n#define g f",
            "assert(x == 6);",
        ),
    ),
    "updates": (
        1,
        two(
            "void *f(void *p) { for (int i = 0; i < 4; i++) a++; return 0; }\n#define g f",
            "assert(a == 8);",
        ),
    ),
    "what the property does not depend on": (
        1,
        two(
            "static int k;\nvoid *f(void *p) { for (int i = 0; i < 5; i++) { k++; if (k > 3) x = 1; }"
            " return 0; }\n#define g f",
            "assert(x < 2);",
        ),
    ),
    "operands in another order": (
        1,
        two(
            "static int k;\nvoid *f(void *p) { x = 1; return 0; }\n"
            "void *g(void *p) { k = 1; return 0; }",
            'printf("%d %d\\n", x, k); assert(x + k == 2);',
        ),
    ),
    "arguments that main gives": (
        1,
        HEAD + "struct given { int by; };\nvoid *f(void *p) { struct given *q = p; a += q->by;"
        " return 0; }\nint main(void) { pthread_t t[2]; struct given q[2] = {{1}, {2}};"
        " for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, f, &q[i]);"
        " for (int i = 0; i < 2; i++) pthread_join(t[i], 0); assert(a == 3); return 0; }",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROVED)
def test_one_trace_is_enough(name: str, tmp_path: Path, runtime: Path) -> None:
    most, text = PROVED[name]
    with fused(text, tmp_path) as item:
        runs = list(searched(item))
        assert not runs[-1].is_failure
        assert item.search.is_done and not item.search.gaps and not item.search.obstacles
        assert item.search.runs <= most


def test_a_use_of_freed_memory_is_predicted(tmp_path: Path, runtime: Path) -> None:
    text = two(
        "static int *q;\nvoid *f(void *p) { *q = 1; return 0; }\n"
        "void *g(void *p) { for (int i = 0; i < 3; i++) x++; free(q); return 0; }"
    ).replace("sem_init(&s, 0, 0);", "q = malloc(4);")
    with fused(text, tmp_path, ("valid-deref", "valid-free")) as item:
        runs = list(searched(item))
        assert item.search.runs == 1
        assert item.search.predicted == 1
        assert runs[-1].is_failure and "freed" in runs[-1].detail


def test_threads_that_several_threads_start(tmp_path: Path, runtime: Path) -> None:
    """Their numbers depend on the schedule: there is no trace program."""
    text = two(
        "void *h(void *p) { a++; return 0; }\n"
        "void *f(void *p) { pthread_t v; pthread_create(&v, 0, h, 0); pthread_join(v, 0);"
        " return 0; }\n"
        "#define g f",
        "assert(a == 2);",
    )
    with fused(text, tmp_path) as item:
        item.search.next_run(item.runner)
        assert any("threads are started by several" in text for text in item.search.obstacles)
        assert item.search.pruned == 0


def test_the_command_says_what_it_has_done(hunt: Hunt) -> None:
    code, output = hunt(PROVED["locked"][1], "--engine", "fusion", "--property", "assertions")
    assert code == 0, output
    assert "fusion: 1 traces, 1 of them checked in all orders" in output
    assert "HUNT: no failure in any schedule" in output


def test_nothing_is_pruned_for_other_properties(hunt: Hunt) -> None:
    """The formulas say nothing about races: two runs, as for dpor."""
    code, output = hunt(PROVED["locked"][1], "--engine", "fusion", "--property", "no-data-race")
    assert code == 0, output
    assert "nothing is pruned when looking for no-data-race" in output
    assert "fusion: 1 traces" not in output


def test_a_program_without_a_model_is_searched_all_the_same(hunt: Hunt) -> None:
    text = two("void *f(void *p) { a++; return 0; }\n#define g f", "assert(a == 2);")
    options = ("--engine", "fusion", "--property", "assertions", "--cflags=-funroll-loops")
    code, output = hunt(text, *options)
    assert code == 0, output
    assert "plait's model knows nothing of -funroll-loops" in output
