"""Why an execution is a violation: causes, the two accesses of a race, who waits for whom."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.evidence.programs import EXAMPLES, evidence_for, found_in, loaded

from plait.c import FrontEndOptions, load
from plait.evidence.counterexample import Found, NotShown, evidence_of
from plait.model.actions import NOWHERE
from plait.model.properties import Specification, from_names
from plait.semantics.run import run
from plait.semantics.schedule import Schedule, ScheduledStep


def test_the_values_of_a_failing_condition(tmp_path: Path) -> None:
    text = """
    int total, factor = 3;
    void *add(void *u) { total = total + 2 * factor; return 0; }
    static int limit(int value) { return value < 5; }
    int main(void) {
      pthread_t t; pthread_create(&t, 0, add, 0); pthread_join(t, 0);
      int seen = total;
      int fine = limit(seen);
      assert(fine); return 0; }
    """
    evidence = found_in(tmp_path, text)
    causes = [(item.name, item.value, item.thread) for item in evidence.violation.causes]
    assert causes[0] == ("total", "6", 2)
    assert set(causes[1:]) == {("total", "0", None), ("factor", "3", None)}
    first = evidence.violation.causes[0]
    assert first.place is not None and first.place.text == "total = total + 2 * factor"
    assert any(row.step == first.step and row.thread == 2 for row in evidence.trace)


def test_inputs_are_causes(tmp_path: Path) -> None:
    text = """
    _Bool __VERIFIER_nondet_bool(void);
    int main(void) { int v = __VERIFIER_nondet_bool(); assert(v == 0); return 0; }
    """
    [cause] = found_in(tmp_path, text).violation.causes
    assert (cause.value, cause.thread) == ("1", 1)


def test_an_error_function_behind_a_branch(tmp_path: Path) -> None:
    text = """
    void reach_error(void) { }
    int x;
    static void check(int condition) { if (!condition) { reach_error(); } }
    void *f(void *u) { x = 2; return 0; }
    int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); check(x != 2); return 0; }
    """
    violation = found_in(tmp_path, text, "unreach-call").violation
    assert violation.property == "unreach-call"
    assert [(item.name, item.value, item.thread) for item in violation.causes] == [("x", "2", 2)]


def test_a_race_with_its_locks_and_synchronisation(tmp_path: Path) -> None:
    text = """
    int x; pthread_mutex_t one, other;
    void *f(void *u) {
      pthread_mutex_lock(&one); x = 1; pthread_mutex_unlock(&one); return 0; }
    int main(void) {
      pthread_t t; pthread_create(&t, 0, f, 0);
      pthread_mutex_lock(&other); int seen = x; pthread_mutex_unlock(&other); return seen; }
    """
    evidence = found_in(tmp_path, text, "no-data-race")
    accesses = {item.thread: item for item in evidence.violation.accesses}
    assert {thread: item.locks for thread, item in accesses.items()} == {1: ["other"], 2: ["one"]}
    assert {thread: item.write for thread, item in accesses.items()} == {1: False, 2: True}
    assert {item.name for item in accesses.values()} == {"x"}
    for item in accesses.values():
        assert item.last is not None and item.last.operation.kind == "lock"
        assert not item.atomic
    # The accesses are the last thing that happens.
    assert {row.thread for row in evidence.trace[-2:]} == {1, 2}
    assert all("x" in [change.name for change in row.changes] for row in evidence.trace[-2:])


def test_a_race_right_after_the_start(tmp_path: Path) -> None:
    specification = from_names(["no-data-race"])
    program = load([str(EXAMPLES / "counter_race.c")], FrontEndOptions(), specification)
    evidence = evidence_for(program, specification)
    assert all(
        item.last is not None and item.last.operation.kind == "start" and not item.locks
        for item in evidence.violation.accesses
    )
    assert len(evidence.schedule.steps) <= 4


def test_a_race_is_described_as_the_smaller_schedule_shows_it(tmp_path: Path) -> None:
    """The two threads race for `y` at the end of a longer schedule and for `x` before that."""
    text = """
    int x, y;
    void *f(void *u) { x = 1; y = 1; return 0; }
    void *g(void *u) { x = 2; y = 2; return 0; }
    int main(void) {
      pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, g, 0); return 0; }
    """
    specification = from_names(["no-data-race"])
    program = loaded(tmp_path, text, specification)
    before_y = Schedule([ScheduledStep(1, (), 5), ScheduledStep(2, (), 2), ScheduledStep(3, (), 2)])
    stale = Found("no-data-race", "write of 'y'", 2, NOWHERE, NOWHERE, (2, 3))
    violation = evidence_of(program, specification, before_y, stale).violation
    [name] = {item.name for item in violation.accesses}
    assert f"write of '{name}' by thread 2" in violation.message
    assert violation.place == violation.accesses[0].place is not None
    assert violation.other_place == violation.accesses[1].place


@pytest.mark.parametrize("section", ["__VERIFIER_assume(i); x = 1;", "if (i) x = 1;"])
def test_a_race_whose_access_needs_an_input(tmp_path: Path, section: str) -> None:
    """The input is read in the same atomic section as the access is made in."""
    text = f"""
    extern void __VERIFIER_atomic_begin(void); extern void __VERIFIER_atomic_end(void);
    extern void __VERIFIER_assume(int); extern _Bool __VERIFIER_nondet_bool(void);
    int x;
    void *f(void *u) {{ x = 2; return 0; }}
    int main(void) {{
      pthread_t t; pthread_create(&t, 0, f, 0);
      __VERIFIER_atomic_begin(); _Bool i = __VERIFIER_nondet_bool(); {section}
      __VERIFIER_atomic_end(); return 0; }}
    """
    evidence = found_in(tmp_path, text, "no-data-race")
    assert [(item.thread, item.name) for item in evidence.violation.accesses] == [
        (1, "x"),
        (2, "x"),
    ]
    assert [item.value for item in evidence.inputs] == ["1"]
    specification = from_names(["no-data-race"])
    program = loaded(tmp_path, text, specification)
    found = Found("no-data-race", "", 1, NOWHERE, NOWHERE, (1, 2))
    again = evidence_of(program, specification, evidence.schedule, found)
    assert again.schedule.steps == evidence.schedule.steps


def test_the_cycle_of_a_deadlock() -> None:
    specification = from_names(["no-deadlock"])
    program = load([str(EXAMPLES / "deadlock.c")], FrontEndOptions(), specification)
    evidence = evidence_for(program, specification)
    waiting = evidence.violation.waiting
    assert [(item.thread, item.what, item.object, item.holders) for item in waiting] == [
        (2, "mutex", "accounts[1].lock", [3]),
        (3, "mutex", "accounts[0].lock", [2]),
        (1, "join", "", [2]),
    ]
    assert evidence.violation.message == "threads 2 and 3 wait for each other for ever"


def test_a_thread_that_waits_for_itself(tmp_path: Path) -> None:
    text = """
    pthread_mutex_t m;
    int main(void) { pthread_mutex_lock(&m); pthread_mutex_lock(&m); return 0; }
    """
    violation = found_in(tmp_path, text, "no-deadlock").violation
    assert [(item.thread, item.holders) for item in violation.waiting] == [(1, [1])]
    assert violation.message == "thread 1 waits for itself for ever"


def test_a_deadlock_of_some_threads(tmp_path: Path) -> None:
    """Two threads wait for each other while a third one runs for ever."""
    text = """
    pthread_mutex_t a, b; volatile int noise;
    static void both(pthread_mutex_t *one, pthread_mutex_t *other) {
      pthread_mutex_lock(one); pthread_mutex_lock(other);
      pthread_mutex_unlock(other); pthread_mutex_unlock(one); }
    void *f(void *u) { both(&a, &b); return 0; }
    void *g(void *u) { both(&b, &a); return 0; }
    int main(void) {
      pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, g, 0);
      for (;;) noise = 1 - noise; }
    """
    violation = found_in(tmp_path, text, "no-deadlock").violation
    waiting = sorted((item.thread, item.object, item.holders) for item in violation.waiting)
    assert waiting == [(2, "b", [3]), (3, "a", [2])]


def test_locks_of_the_same_name(tmp_path: Path) -> None:
    text = """
    pthread_mutex_t *one(void) { static pthread_mutex_t lock; return &lock; }
    pthread_mutex_t *other(void) { static pthread_mutex_t lock; return &lock; }
    static void both(pthread_mutex_t *a, pthread_mutex_t *b) {
      pthread_mutex_lock(a); pthread_mutex_lock(b);
      pthread_mutex_unlock(b); pthread_mutex_unlock(a); }
    void *f(void *u) { both(one(), other()); return 0; }
    void *g(void *u) { both(other(), one()); return 0; }
    int main(void) {
      pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, g, 0);
      pthread_join(s, 0); pthread_join(t, 0); return 0; }
    """
    violation = found_in(tmp_path, text, "no-deadlock").violation
    first, second = violation.waiting[:2]
    assert {first.thread, second.thread} == {2, 3}
    assert {first.object, second.object} == {"lock", "lock (2)"}
    assert (first.holders, second.holders) == ([second.thread], [first.thread])


def test_who_has_freed_what_is_used(tmp_path: Path) -> None:
    text = """
    int *p;
    void *f(void *u) {
      free(p);
      return 0; }
    int main(void) {
      pthread_t t; p = malloc(sizeof *p); *p = 1; pthread_create(&t, 0, f, 0); return *p; }
    """
    violation = found_in(tmp_path, text, "valid-memsafety").violation
    first = violation.causes[0]
    assert (first.name, first.value, first.thread) == ("heap1", "freed", 2)
    assert first.place is not None and first.place.line == 7


def test_where_lost_objects_come_from(tmp_path: Path) -> None:
    text = """
    int *p;
    int main(void) {
      p = malloc(4);
      int *q = malloc(4);
      free(p); p = 0;
      q = 0; return 0; }
    """
    violation = found_in(tmp_path, text, "valid-memsafety").violation
    assert violation.property == "valid-memtrack"
    assert [(item.name, item.place and item.place.line) for item in violation.causes] == [
        ("heap2", 8)
    ]
    assert violation.place is not None and violation.place.file.endswith("program.c")


def test_a_lost_signal_has_no_holder(tmp_path: Path) -> None:
    text = """
    pthread_mutex_t m; pthread_cond_t c;
    void *f(void *u) { pthread_cond_signal(&c); return 0; }
    int main(void) {
      pthread_t t; pthread_create(&t, 0, f, 0);
      pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); return 0; }
    """
    violation = found_in(tmp_path, text, "no-deadlock").violation
    [waiting] = violation.waiting
    assert (waiting.thread, waiting.holders) == (1, [])


def test_what_a_schedule_does_not_show(tmp_path: Path) -> None:
    program = loaded(tmp_path, "int x; int main(void) { x = 1; return 0; }", Specification())
    schedule = Schedule([ScheduledStep(1, (), 1)])
    with pytest.raises(NotShown):
        evidence_of(program, Specification(), schedule, Found("assertions", "", 1, NOWHERE))
    race = Found("no-data-race", "", 1, NOWHERE, NOWHERE, (1, 2))
    with pytest.raises(NotShown):
        evidence_of(program, Specification(), schedule, race)


def test_a_wait_that_nobody_ends_gives_the_lock_back(tmp_path: Path) -> None:
    text = """
    pthread_mutex_t m; pthread_cond_t c;
    void *f(void *u) { pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); return 0; }
    int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }
    """
    evidence = found_in(tmp_path, text, "no-deadlock")
    kinds = [row.operation.kind for row in evidence.trace if row.operation is not None]
    assert kinds == ["create", "lock", "wait"]


def test_nobody_holds_a_semaphore(tmp_path: Path) -> None:
    text = """
    #include <semaphore.h>
    sem_t s;
    int main(void) { sem_init(&s, 0, 1); sem_wait(&s); sem_wait(&s); return 0; }
    """
    violation = found_in(tmp_path, text, "no-deadlock").violation
    assert [(item.object, item.holders) for item in violation.waiting] == [("s", [])]
    assert "itself" not in violation.message


def test_locks_on_the_stack_have_names_and_holders(tmp_path: Path) -> None:
    text = """
    struct pair { pthread_mutex_t *one, *other; };
    void *f(void *u) {
      struct pair *both = u; pthread_mutex_lock(both->one); pthread_mutex_lock(both->other);
      pthread_mutex_unlock(both->other); pthread_mutex_unlock(both->one); return 0; }
    int main(void) {
      pthread_mutex_t a, b; pthread_mutex_init(&a, 0); pthread_mutex_init(&b, 0);
      struct pair ab = {&a, &b}, ba = {&b, &a};
      pthread_t s, t; pthread_create(&s, 0, f, &ab); pthread_create(&t, 0, f, &ba);
      pthread_join(s, 0); pthread_join(t, 0); return 0; }
    """
    violation = found_in(tmp_path, text, "no-deadlock").violation
    waiting = sorted((item.thread, item.object, item.holders) for item in violation.waiting)
    assert waiting == [(1, "", [2]), (2, "b", [3]), (3, "a", [2])]


def test_the_thread_of_the_smaller_schedule_is_named(tmp_path: Path) -> None:
    """Thread 3 fails because thread 2 has got through; at its first attempt, thread 2 would not."""
    text = """
    int x, go;
    void *f(void *u) { x = 0; x = 1; if (u || go) assert(x == 0); go = 1; return 0; }
    int main(void) {
      pthread_t s, t; pthread_create(&s, 0, f, &x); pthread_create(&t, 0, f, 0);
      return 0; }
    """
    program = loaded(tmp_path, text, Specification())
    turns = [(1, 4), (2, 3), (3, 2), (2, 2), (3, 3)]
    schedule = Schedule([ScheduledStep(thread, (), count) for thread, count in turns])
    end = run(program, Specification(), schedule=schedule).outcome
    assert end.thread == 3
    found = Found(end.kind, end.message, end.thread, end.origin)
    evidence = evidence_of(program, Specification(), schedule, found)
    assert [step.thread for step in evidence.schedule] == [1, 2]
    assert evidence.violation.thread == evidence.trace[-1].thread == 2
