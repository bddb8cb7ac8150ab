"""Litmus tests whose outcomes under each memory model are published (`make litmus` runs all)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from litmus.agree import problems
from litmus.generate import random_test
from litmus.run import MODELS, explored, loaded, published
from litmus.table import TESTS
from litmus.write import text
from plait.data import replace
from plait.model.actions import Order
from plait.model.memory_model import MemoryModel
from plait.model.program import Program
from plait.model.properties import Property, Specification, from_names
from plait.model.rc11 import ExecutionGraph, has_no_value_out_of_thin_air, is_consistent
from plait.semantics.explore import Exploration, ExploreOptions, Verdict, explore
from plait.semantics.run import run
from plait.semantics.schedule import from_text, to_text

RANDOM = [(2, "sc"), (3, "rlx"), (4, ""), (5, ""), (6, "sc"), (7, "rlx")]
LoadC = Callable[..., Program]
FOLDER = Path(__file__).parents[1] / "litmus"
FAST = """SB+rlx SB+Fsc SB+sc SB+Frel SB+sc-Fsc SB+xchg+rlx MP+rlx MP+ra MP+Frel-Facq MP+Frel-rlx
MP+cas-fails+acq MP+cas-fails+rlx MP+na+ra MP+na+rlx LB+rlx S+ra R+Fsc R+Fsc-second 2+2W+Frel 2+2W+sc
CoRR+rlx CoWR+rlx WRC+rel-acq RWC+Fsc-third RS-store+ra RS-update+rlx SB+rfi+rlx n6+rlx fadd2+rlx
cas2+rlx RWC+Fsc MP+xchg+rlx CoWW+rlx CoWWRR+rlx na+plain fadd+store+rlx""".split()


def test_the_files_are_those_of_the_table() -> None:
    assert {file.stem for file in FOLDER.glob("*.c")} == {test.name for test in TESTS}
    assert len(TESTS) >= 120
    for test in TESTS:
        assert (FOLDER / f"{test.name}.c").read_text() == text(test), test.name


@pytest.mark.parametrize("name", FAST)
def test_exploration_finds_the_published_outcomes(name: str) -> None:
    file = FOLDER / f"{name}.c"
    expected = published(file)
    found = {model: explored(file, model, len(expected["sc"][0])) for model in MODELS}
    assert found == expected


@pytest.mark.parametrize(("number", "orders"), RANDOM)
def test_models_agree_on_random_programs(number: int, orders: str, tmp_path: Path) -> None:
    assert problems(random_test(number, orders=orders), orders, tmp_path) == []


@pytest.fixture
def load_c(tmp_path: Path) -> LoadC:
    def load(source: str, model: str = "sc") -> Program:
        file = tmp_path / "program.c"
        file.write_text(source)
        return loaded(file, model)

    return load


SB = """
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
atomic_int x, y;
int a, b;
void *one(void *p) { x = 1; a = y; return 0; }
void *two(void *p) { y = 1; b = x; return 0; }
int main(void) {
  pthread_t s, t;
  pthread_create(&s, 0, one, 0); pthread_create(&t, 0, two, 0);
  pthread_join(s, 0); pthread_join(t, 0);
  assert(a || b);
}
"""


def under(model: str, *names: str) -> Specification:
    return replace(from_names(list(names)), memory_model=MemoryModel(model))


def verdict(program: Program, chosen: Specification) -> Exploration:
    return explore(program, chosen, ExploreOptions())


@pytest.mark.parametrize("model", ["tso", "pso"])
def test_the_schedule_of_a_violation_has_what_becomes_visible(load_c: LoadC, model: str) -> None:
    program = load_c(SB)
    chosen = under(model)
    found = verdict(program, chosen)
    assert found.verdict is Verdict.FALSE and found.schedule is not None
    text = to_text(found.schedule)
    execution = run(program, chosen, schedule=from_text(text, "schedule"), trace=True)
    assert execution.ending == "violation"
    under_sc = verdict(program, from_names([]))
    assert under_sc.verdict is Verdict.TRUE


@pytest.mark.parametrize(("model", "holds"), [("sc", True), ("tso", True), ("pso", False)])
def test_a_mutex_makes_stores_visible_and_a_flag_does_not(
    load_c: LoadC, model: str, holds: bool
) -> None:
    source = """
    #include <pthread.h>
    #include <stdatomic.h>
    #include <assert.h>
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    int data, guarded;
    atomic_int flag;
    void *writer(void *p) {
      pthread_mutex_lock(&m); guarded = 1; guarded = 0; pthread_mutex_unlock(&m);
      data = 1; flag = 1; return 0;
    }
    int main(void) {
      pthread_t t;
      pthread_create(&t, 0, writer, 0);
      pthread_mutex_lock(&m); assert(guarded == 0); pthread_mutex_unlock(&m);
      if (flag) assert(data == 1);
      pthread_join(t, 0);
      assert(data == 1);
    }
    """
    found = verdict(load_c(source), under(model))
    assert found.verdict is (Verdict.TRUE if holds else Verdict.FALSE)
    if not holds:
        assert found.violation is not None and "data" not in found.violation.kind


def test_locks_create_and_join_order_plain_accesses_in_c11(load_c: LoadC) -> None:
    source = """
    #include <pthread.h>
    #include <assert.h>
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    int x, before = 3;
    void *add(void *p) {
      pthread_mutex_lock(&m); x = x + 1; pthread_mutex_unlock(&m);
      assert(before == 3);
      return 0;
    }
    int main(void) {
      pthread_t s, t;
      pthread_create(&s, 0, add, 0); pthread_create(&t, 0, add, 0);
      pthread_join(s, 0); pthread_join(t, 0);
      assert(x == 2);
    }
    """
    assert verdict(load_c(source, "c11"), under("c11")).verdict is Verdict.TRUE
    without = source.replace("pthread_mutex_lock(&m); x", "x").replace(
        "1; pthread_mutex_unlock(&m);", "1;"
    )
    found = verdict(load_c(without, "c11"), under("c11"))
    assert found.violation is not None
    assert found.violation.kind == Property.NO_UNDEFINED.value
    assert "data race" in found.violation.message
    found = verdict(load_c(without, "c11"), under("c11", "no-data-race"))
    assert found.violation is not None and found.violation.kind == "no-data-race"


def test_a_trace_says_where_a_value_is_from_that_is_not_the_last_one(load_c: LoadC) -> None:
    program = load_c(SB.replace("x = 1; a = y", "x = 1; a = atomic_load_explicit(&y, 0)"), "c11")
    chosen = under("c11")
    found = verdict(program, chosen)
    assert found.verdict is Verdict.FALSE and found.schedule is not None
    events = run(program, chosen, schedule=found.schedule, trace=True).events
    values = [item.value for event in events for item in event.changes if item.is_read]
    assert "0 (its initial value)" in values


def test_what_a_model_does_not_know_has_no_verdict(load_c: LoadC) -> None:
    value = """
    #include <semaphore.h>
    sem_t s;
    int main(void) { int n; return sem_getvalue(&s, &n); }
    """
    found = verdict(load_c(value, "c11"), under("c11"))
    assert found.verdict is Verdict.UNKNOWN and "memory model c11" in found.reason
    sizes = """
    #include <stdint.h>
    union { uint32_t whole; uint8_t bytes[4]; } u;
    int main(void) { u.whole = 1; return u.bytes[0]; }
    """
    found = verdict(load_c(sizes, "c11"), under("c11"))
    assert found.verdict is Verdict.UNKNOWN and "different sizes" in found.reason
    assert verdict(load_c(sizes), under("pso")).verdict is Verdict.TRUE


def test_an_object_that_is_published_without_synchronisation_is_a_race(load_c: LoadC) -> None:
    source = """
    #include <pthread.h>
    #include <stdlib.h>
    #include <stdatomic.h>
    #include <assert.h>
    _Atomic(int *) shared;
    void *make(void *p) {
      int *new = calloc(1, sizeof *new);
      atomic_store_explicit(&shared, new, memory_order_ORDER);
      return 0;
    }
    int main(void) {
      pthread_t t;
      pthread_create(&t, 0, make, 0);
      int *seen = atomic_load_explicit(&shared, memory_order_acquire);
      if (seen) assert(*seen == 0);
      pthread_join(t, 0);
    }
    """
    found = verdict(load_c(source.replace("ORDER", "release"), "c11"), under("c11"))
    assert found.verdict is Verdict.TRUE
    found = verdict(load_c(source.replace("ORDER", "relaxed"), "c11"), under("c11"))
    assert found.violation is not None and "data race" in found.violation.message


def test_empty_assembly_is_no_fence(load_c: LoadC) -> None:
    barrier = SB.replace("x = 1;", 'x = 1; __asm__ volatile("" ::: "memory");').replace(
        "y = 1;", 'y = 1; __asm__ volatile("TEXT" ::: "memory");'
    )
    for inner in ("", "sfence", "lfence"):
        found = verdict(load_c(barrier.replace("TEXT", inner)), under("tso"))
        assert found.verdict is Verdict.FALSE, inner
    both = SB.replace("= 1;", '= 1; __asm__ volatile("mfence" ::: "memory");')
    assert verdict(load_c(both), under("tso")).verdict is Verdict.TRUE


def test_no_value_comes_out_of_thin_air() -> None:
    """Load buffering: each thread reads what the other one writes afterwards."""
    orders = [Order.RELAXED] * 4
    first, second, locations = 0b0010, 0b1000, [0, 1, 1, 0]
    graph = ExecutionGraph(
        orders, [False] * 4, locations, [first, 0, second, 0], {0: 3, 2: 1}, [[3], [1]], {}, []
    )
    assert not has_no_value_out_of_thin_air(graph)
    graph.reads_from[2] = -1
    assert has_no_value_out_of_thin_air(graph) and is_consistent(graph)


PASSED_ORDERS = """
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
int data;
atomic_int flag;
void put(memory_order o, memory_order failing) { PUT; }
int get(memory_order o) { return GET; }
void *writer(void *p) { data = 1; put(memory_order_WRITE, memory_order_relaxed); return 0; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  if (get(memory_order_READ)) assert(data == 1);
  pthread_join(t, 0);
}
"""


@pytest.mark.parametrize(
    "put",
    [
        "atomic_store_explicit(&flag, 1, o)",
        "atomic_fetch_add_explicit(&flag, 1, o)",
        "int old = 0; atomic_compare_exchange_strong_explicit(&flag, &old, 1, o, failing)",
        "atomic_thread_fence(o); atomic_store_explicit(&flag, 1, memory_order_relaxed)",
    ],
)
@pytest.mark.parametrize(
    "get",
    [
        "atomic_load_explicit(&flag, o)",
        "atomic_fetch_add_explicit(&flag, 0, o)",
        "atomic_load_explicit(&flag, memory_order_relaxed) ? atomic_thread_fence(o), 1 : 0",
    ],
)
def test_a_memory_order_that_is_passed_to_a_function_is_itself(
    load_c: LoadC, put: str, get: str
) -> None:
    def raced(write: str, read: str) -> bool:
        text = PASSED_ORDERS.replace("PUT", put).replace("GET", get)
        program = load_c(text.replace("WRITE", write).replace("READ", read), "c11")
        found = verdict(program, under("c11"))
        assert found.verdict is not Verdict.UNKNOWN, found.reason
        assert found.violation is None or "data race" in found.violation.message
        return found.verdict is Verdict.FALSE

    assert not raced("release", "acquire")
    assert not raced("seq_cst", "seq_cst")
    assert raced("relaxed", "acquire")
    assert raced("release", "relaxed")


def test_the_order_of_a_failed_compare_and_exchange_is_itself(load_c: LoadC) -> None:
    get = (
        "atomic_compare_exchange_KIND_explicit(&flag, &zero, 0, memory_order_relaxed, o) ? 0 : zero"
    )
    for kind in ("strong", "weak"):
        text = PASSED_ORDERS.replace("PUT", "atomic_store_explicit(&flag, 1, o)")
        text = text.replace("return GET", f"int zero = 0; return {get.replace('KIND', kind)}")
        text = text.replace("WRITE", "release")
        acquire, relaxed = (
            verdict(load_c(text.replace("READ", order), "c11"), under("c11"))
            for order in ("acquire", "relaxed")
        )
        assert acquire.verdict is Verdict.TRUE
        assert relaxed.violation is not None and "data race" in relaxed.violation.message


@pytest.mark.parametrize("passed", [True, False])
def test_an_order_that_an_operation_cannot_have_is_named(load_c: LoadC, passed: bool) -> None:
    text = PASSED_ORDERS.replace("PUT", "atomic_store_explicit(&flag, 1, o)")
    order = "o" if passed else "memory_order_release"
    text = text.replace("GET", f"atomic_load_explicit(&flag, {order})")
    found = verdict(
        load_c(text.replace("WRITE", "release").replace("READ", "release"), "c11"), under("c11")
    )
    assert found.violation is not None
    which = "this memory order" if passed else "memory_order_release"
    assert found.violation.message.startswith(f"an atomic load cannot have {which}")
