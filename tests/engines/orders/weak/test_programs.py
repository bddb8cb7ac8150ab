"""Programs with a known answer under weak memory models, which exploration gives, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.engines.asking import Replaying

from litmus.outcomes import searching
from plait.engines import registry
from plait.engines.interface import Answer, Outcome, Question
from plait.engines.orders.answer import answer
from plait.engines.orders.engine import finished
from plait.portfolio.subject import Subject, for_exploring, load_program, specification
from plait.semantics.explore import ExploreOptions, Verdict, explore

CLASSICS = Path(__file__).parents[3] / "classics"
HEAD = """#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void), __VERIFIER_assume(int);
#define RLX memory_order_relaxed
#define store(p, v) atomic_store_explicit(p, v, RLX)
#define load(p) atomic_load_explicit(p, RLX)
"""
THREADS = """
int main(void) {
  pthread_t s, t;
  pthread_create(&s, 0, one, 0); pthread_create(&t, 0, two, 0);
  pthread_join(s, 0); pthread_join(t, 0);
  LAST
}
"""


def asked(
    file: Path, model: str, *defines: str, properties: tuple[str, ...] = (), exploring: bool = True
) -> Outcome:
    """The engine's answer; exploration must not contradict it."""
    subject = Subject(
        programs=(str(file),), defines=defines, property=properties, memory_model=model
    )
    chosen, entry = specification(subject)
    program = load_program(subject, chosen, entry)
    chosen = for_exploring(program, chosen)
    question = Question(program, chosen, settings=registry.engine("orders").settings({}))
    outcome = answer(question, Replaying(question))
    if exploring:
        verdict = explore(program, chosen, ExploreOptions()).verdict
        contrary = {Answer.HOLDS: Verdict.FALSE, Answer.VIOLATED: Verdict.TRUE}
        assert contrary.get(outcome.answer) is not verdict
    return outcome


def of_text(folder: Path, text: str, model: str, **more: Any) -> Outcome:
    file = folder / "program.c"
    file.write_text(HEAD + text)
    return asked(file, model, **more)


@pytest.mark.parametrize("name", ["spinlock", "seqlock"])
def test_a_classic_is_proved(name: str) -> None:
    """Loops that spin need no bound."""
    found = asked(CLASSICS / f"{name}.c", "c11", exploring=False)
    assert found.answer is Answer.HOLDS, found.reason


@pytest.mark.parametrize(
    ("name", "macro"), [("spinlock", "ACQ"), ("spinlock", "REL"), ("seqlock", "RF")]
)
def test_a_weakened_classic_is_refuted(name: str, macro: str) -> None:
    found = asked(CLASSICS / f"{name}.c", "c11", f"{macro}=memory_order_relaxed", exploring=False)
    assert found.answer is Answer.VIOLATED, found.reason


PLACES = """
atomic_int a[8];
int r, q;
void *one(void *p) { int k = __VERIFIER_nondet_int() & 7; store(&a[k], 1); store(&a[FIRST], 2); return 0; }
void *two(void *p) { r = load(&a[0]); q = load(&a[0]); return 0; }
""" + THREADS.replace("LAST", "assert(!(r == 2 && q == 1));")


@pytest.mark.parametrize("model", ["tso", "pso", "c11"])
def test_stores_to_one_place_of_a_region_stay_in_order(model: str, tmp_path: Path) -> None:
    """Which place it is depends on an index."""
    assert of_text(tmp_path, PLACES.replace("FIRST", "k"), model).answer is Answer.HOLDS


def test_stores_to_two_places_of_a_region_do_not(tmp_path: Path) -> None:
    text = """
    atomic_int a[8];
    int chosen, r, q;
    void *one(void *p) {
      int k = __VERIFIER_nondet_int() & 7;
      chosen = k; store(&a[k], 1); store(&a[k + 1 & 7], 1);
      return 0;
    }
    void *two(void *p) { r = load(&a[1]); q = load(&a[0]); return 0; }
    """
    text += THREADS.replace("LAST", "assert(chosen || !(r == 1 && q == 0));")
    assert of_text(tmp_path, text, "tso").answer is Answer.HOLDS
    assert of_text(tmp_path, text, "pso").answer is Answer.VIOLATED
    assert of_text(tmp_path, text, "c11").answer is Answer.VIOLATED


def test_a_thread_reads_its_own_store_in_a_region(tmp_path: Path) -> None:
    text = """
    atomic_int a[8], y;
    int r, q, own;
    void *one(void *p) {
      int k = __VERIFIER_nondet_int() & 7; store(&a[k], 1); own = load(&a[k]); r = load(&y); return 0; }
    void *two(void *p) { store(&y, 1); q = load(&a[0]); return 0; }
    """
    for last, expected in (("own == 1", Answer.HOLDS), ("r || q", Answer.VIOLATED)):
        program = text + THREADS.replace("LAST", f"assert({last});")
        assert of_text(tmp_path, program, "tso").answer is expected


@pytest.mark.parametrize("model", ["tso", "pso", "c11"])
def test_locks_synchronise(model: str, tmp_path: Path) -> None:
    text = """
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    int x, y;
    void *one(void *p) {
      pthread_mutex_lock(&m); x++; y++; pthread_mutex_unlock(&m); return 0; }
    void *two(void *p) {
      pthread_mutex_lock(&m); assert(x == y); x++; y++; pthread_mutex_unlock(&m); return 0; }
    """ + THREADS.replace("LAST", "assert(x == 2 && y == 2);")
    assert of_text(tmp_path, text, model).answer is Answer.HOLDS


def test_a_fence_that_does_not_occur_orders_nothing(tmp_path: Path) -> None:
    text = """
    atomic_int x, y;
    int r, q;
    void *one(void *p) {
      store(&x, 1);
      if (__VERIFIER_nondet_int()) atomic_thread_fence(memory_order_seq_cst);
      r = load(&y);
      return 0;
    }
    void *two(void *p) {
      store(&y, 1);
      atomic_thread_fence(memory_order_seq_cst);
      q = load(&x);
      return 0;
    }
    """ + THREADS.replace("LAST", "assert(r || q);")
    for model in ("tso", "pso", "c11"):
        assert of_text(tmp_path, text, model).answer is Answer.VIOLATED


def test_an_update_that_fails_is_a_fence(tmp_path: Path) -> None:
    text = """
    atomic_int x, y, z;
    int r, q;
    void *one(void *p) {
      int old = 1;
      store(&x, 1);
      atomic_compare_exchange_strong(&z, &old, 2);
      r = load(&y);
      return 0;
    }
    void *two(void *p) {
      int old = 1;
      store(&y, 1);
      atomic_compare_exchange_strong(&z, &old, 2);
      q = load(&x);
      return 0;
    }
    """
    text += THREADS.replace("LAST", "assert(r || q);")
    assert of_text(tmp_path, text, "tso").answer is Answer.HOLDS


def test_a_lock_that_a_program_makes_is_no_section(tmp_path: Path) -> None:
    """Under PSO it may be given back before others see what was done under it."""
    text = """
    int l, x;
    void add(void) {
      __VERIFIER_atomic_begin(); __VERIFIER_assume(l == 0); l = 1; __VERIFIER_atomic_end();
      x++;
      l = 0;
    }
    void *one(void *p) { add(); return 0; }
    void *two(void *p) { add(); return 0; }
    """
    text += THREADS.replace("LAST", "assert(x == 2);")
    assert of_text(tmp_path, text, "tso").answer is Answer.HOLDS
    assert of_text(tmp_path, text, "pso").answer is Answer.VIOLATED


def test_the_order_of_an_update_depends_on_whether_it_writes(tmp_path: Path) -> None:
    """What is wrong with an update that writes must not be held against one that fails."""
    file = tmp_path / "program.c"
    file.write_text(
        HEAD
        + """
    atomic_int x, y;
    void *one(void *p) {
      store(&x, 1);
      atomic_store_explicit(&y, 1, memory_order_release);
      return 0;
    }
    void *two(void *p) {
      int found = __VERIFIER_nondet_int();
      atomic_compare_exchange_strong_explicit(&y, &found, 2, memory_order_acquire, RLX);
      if (found == 1) assert(load(&x) == 1);
      return 0;
    }
    """
        + THREADS.replace("LAST", "")
    )
    subject = Subject(programs=(str(file),), memory_model="c11", property=("assertions",))
    chosen, entry = specification(subject)
    with searching(load_program(subject, chosen, entry), chosen) as (search, formula):
        unrolling, terms, solver = formula.learned.unrolling, formula.learned.terms, formula.solver
        [use] = unrolling.inputs
        for expected, is_violated in ((1, False), (0, True)):
            is_it = terms.eq(use.term, terms.constant(expected, use.type.bits))
            assumed = [solver.literal_of(is_it)]
            claim = finished(search._search(formula, unrolling.violations, assumed))
            assert (claim is not None) is is_violated


def test_a_race_in_some_executions(tmp_path: Path) -> None:
    text = """
    int x; atomic_int f, g, h;
    void *one(void *p) {
      x = 1;
      store(&g, 1);
      atomic_store_explicit(&f, 1, memory_order_release);
      return 0;
    }
    void *two(void *p) {
      int a = load(&h), b = load(&g), c = atomic_load_explicit(&f, memory_order_acquire);
      if (SEEN) x = 2;
      store(&h, 1);
      return 0;
    }
    """
    text += THREADS.replace("LAST", "")
    for seen, verdict in (("c", Answer.HOLDS), ("b", Answer.VIOLATED), ("b || c", Answer.VIOLATED)):
        program = text.replace("SEEN", seen)
        assert of_text(tmp_path, program, "c11", properties=("no-data-race",)).answer is verdict


BEGINNING = """
_Atomic(atomic_int *) shared;
void *one(void *p) {
  atomic_int *made = malloc(sizeof *made);
  atomic_init(made, 0);
  atomic_store_explicit(&shared, made, ORDER);
  return 0;
}
void *two(void *p) {
  atomic_int *found = atomic_load_explicit(&shared, memory_order_acquire);
  if (found) store(found, 1);
  return 0;
}
""" + THREADS.replace("LAST", "")


@pytest.mark.parametrize(
    ("order", "expected"), [("RLX", Answer.VIOLATED), ("memory_order_release", Answer.HOLDS)]
)
def test_an_object_must_be_known_to_have_begun(
    order: str, expected: Answer, tmp_path: Path
) -> None:
    text = BEGINNING.replace("ORDER", order).replace("atomic_init(made, 0);", "")
    assert of_text(tmp_path, text, "c11", properties=("no-data-race",)).answer is expected


def test_a_race_is_undefined(tmp_path: Path) -> None:
    text = """
    int x; atomic_int f;
    void *one(void *p) { x = 1; store(&f, 1); return 0; }
    void *two(void *p) { if (load(&f)) assert(x == 1); return 0; }
    """ + THREADS.replace("LAST", "")
    assert of_text(tmp_path, text, "c11").answer is Answer.VIOLATED
    assert of_text(tmp_path, text, "c11", properties=("no-data-race",)).answer is Answer.VIOLATED
    alone = of_text(tmp_path, text, "c11", properties=("assertions",))
    assert alone.answer is Answer.UNKNOWN and "data race" in alone.reason


UNSUPPORTED = {
    "accesses of different sizes": (
        """union { int whole; char part; } x;
        void *one(void *p) { x.whole = 1; return 0; }
        void *two(void *p) { return x.part ? p : 0; }""",
        ("tso", "pso", "c11"),
        "different sizes",
    ),
    "an atomic section": (
        """int x;
        void *one(void *p) { __VERIFIER_atomic_begin(); x++; __VERIFIER_atomic_end(); return 0; }
        void *two(void *p) { return 0; }""",
        ("c11",),
        "has no meaning",
    ),
    "an object of a thread": (
        """_Thread_local int x; _Atomic(int *) y;
        void *one(void *p) { y = &x; return 0; }
        void *two(void *p) { int *z = y; if (z) *z = 1; return 0; }""",
        ("c11",),
        "thread-local",
    ),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_what_has_no_meaning_is_unknown(name: str, tmp_path: Path) -> None:
    text, models, reason = UNSUPPORTED[name]
    for model in models:
        found = of_text(tmp_path, text + THREADS.replace("LAST", ""), model)
        assert found.answer is Answer.UNKNOWN and reason in found.reason


@pytest.mark.parametrize(("name", "model"), [("no-deadlock", "c11"), ("no-data-race", "tso")])
def test_properties_without_an_answer(name: str, model: str, tmp_path: Path) -> None:
    text = "void *one(void *p) { return 0; }\nvoid *two(void *p) { return 0; }"
    found = of_text(tmp_path, text + THREADS.replace("LAST", ""), model, properties=(name,))
    assert found.answer is Answer.UNKNOWN and name in found.reason


@pytest.mark.parametrize("setting", ["order_encoding=monolithic", "refinement=cores"])
def test_baselines_know_no_weak_memory(setting: str, tmp_path: Path) -> None:
    file = tmp_path / "program.c"
    file.write_text("int main(void) { return 0; }")
    subject = Subject(programs=(str(file),), memory_model="tso")
    chosen, entry = specification(subject)
    program = load_program(subject, chosen, entry)
    settings = registry.engine("orders").settings(dict([setting.split("=")]))
    found = answer(Question(program, chosen, settings=settings), Replaying(None))
    assert found.answer is Answer.UNKNOWN and "refine" in found.reason
