"""Smaller counterexamples: they still fail, and nothing that could be left out is left."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.evidence.programs import EXAMPLES, loaded

from plait.c import FrontEndOptions, load
from plait.evidence.reduce import Goal, reduced
from plait.model.program import Program
from plait.model.properties import Specification
from plait.semantics.run import Execution, run
from plait.semantics.schedule import Schedule, ScheduledStep
from trust import concurrent, trying

ASSERTIONS = Specification()


def failing(program: Program, seeds: range) -> list[Execution]:
    runs = (run(program, ASSERTIONS, seed=seed, max_steps=2_000) for seed in seeds)
    return [execution for execution in runs if execution.ending == "violation"]


def smaller(program: Program, execution: Execution) -> Schedule:
    outcome = execution.outcome
    goal = Goal(outcome.kind, outcome.origin)
    schedule = reduced(program, ASSERTIONS, execution.schedule, goal)
    again = run(program, ASSERTIONS, schedule=schedule)
    assert (again.ending, again.outcome.kind) == ("violation", outcome.kind)
    assert again.outcome.origin == outcome.origin
    assert len(schedule.steps) <= len(execution.schedule.steps)
    assert len(schedule) <= len(execution.schedule)
    return schedule


def test_a_lost_update_takes_four_switches() -> None:
    """main, one thread reads, the other one adds, the first one writes, main."""
    program = load([str(EXAMPLES / "counter_race.c")], FrontEndOptions(), ASSERTIONS)
    runs = failing(program, range(60))
    assert len(runs) > 10
    for execution in runs:
        assert len(smaller(program, execution).steps) == 5


@pytest.mark.parametrize("generate", [concurrent.generate, trying.generate])
def test_random_programs(tmp_path: Path, generate: object) -> None:
    assert callable(generate)
    shorter = 0
    for seed in range(40):
        program = loaded(tmp_path, generate(seed), ASSERTIONS)
        for execution in failing(program, range(3)):
            shorter += len(smaller(program, execution).steps) < len(execution.schedule.steps)
    assert shorter > 5


def test_threads_that_do_not_matter_are_left_out(tmp_path: Path) -> None:
    text = """
    int x, y;
    void *noise(void *u) { for (int i = 0; i < 5; i++) y++; return 0; }
    void *set(void *u) { x = 1; return 0; }
    int main(void) {
      pthread_t a, b; pthread_create(&a, 0, noise, 0); pthread_create(&b, 0, set, 0);
      assert(x == 0); return 0; }
    """
    program = loaded(tmp_path, text, ASSERTIONS)
    for execution in failing(program, range(20)):
        assert [step.thread for step in smaller(program, execution)] == [1, 3, 1]


def test_inputs_stay_with_their_threads(tmp_path: Path) -> None:
    text = """
    int __VERIFIER_nondet_int(void);
    int x, y;
    void *f(void *u) { int v = __VERIFIER_nondet_int(); if (v == 7) x = v; return 0; }
    int main(void) {
      pthread_t a, b; pthread_create(&a, 0, f, 0); pthread_create(&b, 0, f, 0);
      int w = __VERIFIER_nondet_int(); if (w == 3) assert(x != 7); return 0; }
    """
    program = loaded(tmp_path, text, ASSERTIONS)
    values = {2: 5, 3: 7, 1: 3}
    for seed in range(200):
        execution = _with_inputs(program, seed, values)
        if execution is not None:
            schedule = smaller(program, execution)
            assert sorted(v for step in schedule for v in step.inputs if v) in ([3, 7], [3, 5, 7])
            return
    raise AssertionError("no schedule fails")


def _with_inputs(program: Program, seed: int, values: dict[int, int]) -> Execution | None:
    import random

    from plait.semantics.machine import Machine
    from plait.semantics.outcome import Ending, InputRequest

    dice = random.Random(seed)
    machine = Machine(program, ASSERTIONS)
    given: list[int | float] = []

    def supply(request: InputRequest) -> int:
        given.append(values[machine.number])
        return values[machine.number]

    machine.supply = supply
    machine.start()
    steps = []
    while machine.runnable():
        thread = dice.choice(machine.runnable())
        given.clear()
        outcome = machine.step(thread)
        steps.append(ScheduledStep(thread, tuple(given)))
        if outcome.ending is Ending.VIOLATION:
            return run(program, ASSERTIONS, schedule=Schedule(steps))
        if outcome.ending is not Ending.MOVED:
            return None
    return None


def test_what_does_not_fail_stays_as_it_is() -> None:
    program = load([str(EXAMPLES / "counter_race.c")], FrontEndOptions(), ASSERTIONS)
    execution = failing(program, range(60))[0]
    schedule = Schedule([ScheduledStep(1, (), 3)])
    goal = Goal(execution.outcome.kind, execution.outcome.origin)
    assert reduced(program, ASSERTIONS, schedule, goal) is schedule


def test_no_time_is_no_harm() -> None:
    program = load([str(EXAMPLES / "counter_race.c")], FrontEndOptions(), ASSERTIONS)
    execution = failing(program, range(60))[0]
    goal = Goal(execution.outcome.kind, execution.outcome.origin)
    schedule = reduced(program, ASSERTIONS, execution.schedule, goal, deadline=0.0001)
    assert run(program, ASSERTIONS, schedule=schedule).ending == "violation"


def test_inputs_that_do_not_matter_become_zero(tmp_path: Path) -> None:
    text = """
    int __VERIFIER_nondet_int(void);
    int x;
    int main(void) {
      int noise = __VERIFIER_nondet_int();
      while (__VERIFIER_nondet_int()) x = noise;
      int v = __VERIFIER_nondet_int(); assert(v != 7); return 0; }
    """
    program = loaded(tmp_path, text, ASSERTIONS)
    schedule = Schedule([ScheduledStep(1, (9, 1, 1, 0, 7), 5)])
    execution = run(program, ASSERTIONS, schedule=schedule)
    assert execution.ending == "violation"
    assert [value for step in smaller(program, execution) for value in step.inputs] == [0, 0, 7]


def test_as_few_threads_as_possible(tmp_path: Path) -> None:
    """Of those that are started in a loop without an end."""
    text = """
    #include <assert.h>
    #include <pthread.h>
    extern void __VERIFIER_atomic_begin(void);
    extern void __VERIFIER_atomic_end(void);
    int count;
    void *run(void *unused) {
      __VERIFIER_atomic_begin();
      count++;
      assert(count < 3);
      __VERIFIER_atomic_end();
      return 0;
    }
    int main(void) { pthread_t thread; while (1) pthread_create(&thread, 0, run, 0); }
    """
    program = loaded(tmp_path, text, ASSERTIONS)
    sizes = set()
    for execution in failing(program, range(40)):
        sizes.add(max(step.thread for step in execution.schedule.steps))
        assert {step.thread for step in smaller(program, execution).steps} == {1, 2, 3, 4}
    assert max(sizes) > 4
