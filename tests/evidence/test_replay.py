"""A plan counts only if the reference interpreter comes to the violation. The plan that the engine
`orders` has for a wrong program is followed in programs of the same shape that are right."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.evidence.programs import loaded

from plait.data import replace
from plait.engines.interface import AccessOrder, Counterexample
from plait.engines.orders.engine import check
from plait.engines.orders.settings import Settings
from plait.evidence.replay import ReplayFailed, replay, replay_deadlock, replay_race
from plait.model.program import FrameSlot, Program, StaticObject
from plait.model.properties import Specification, from_names
from plait.semantics.run import run

TWO_THREADS = """
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
int x, y;
void *f(void *u) { FIRST return 0; }
void *g(void *u) { SECOND return 0; }
int main(void) {
  pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, g, 0);
  pthread_join(s, 0); pthread_join(t, 0); return 0; }
"""


def two_threads(first: str, second: str) -> str:
    return TWO_THREADS.replace("FIRST", first).replace("SECOND", second)


def planned(program: Program, name: str) -> Counterexample:
    settings = Settings(finds_races=name == "no-data-race", finds_deadlocks=name == "no-deadlock")
    found = check(program, 2, time.monotonic() + 30, settings).counterexample
    assert found is not None
    assert isinstance(found.order, AccessOrder)
    shared = {item.name for item in program.objects if found.order.is_shared(item)}

    def is_shared(item: StaticObject | FrameSlot) -> bool:
        return item.name in shared

    return replace(found, order=replace(found.order, is_shared=is_shared))


def follow(
    program: Program, specification: Specification, found: Counterexample, name: str
) -> object:
    if name == "no-deadlock":
        return replay_deadlock(program, specification, found)
    if found.race is not None:
        return replay_race(program, specification, found)
    return replay(program, specification, found)


CASES = {
    "assertion": ("assertions", "x = 1;", "assert(x == 0);", "x = 0;", "assert(x == 0);"),
    "race": ("no-data-race", "x = 1;", "x = 2;", "x = 1;", "y = 2;"),
    "race of an atomic access": (
        "no-data-race",
        "x = 1;",
        "x = 2;",
        "__atomic_store_n(&x, 1, 5);",
        "__atomic_store_n(&x, 2, 5);",
    ),
    "deadlock": (
        "no-deadlock",
        "pthread_mutex_lock(&m); pthread_mutex_lock(&n);",
        "pthread_mutex_lock(&n); pthread_mutex_lock(&m);",
        "pthread_mutex_lock(&m); pthread_mutex_unlock(&m);",
        "pthread_mutex_lock(&n); pthread_mutex_unlock(&n);",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_only_a_violation_is_one(name: str, tmp_path: Path) -> None:
    asked, *texts = CASES[name]
    specification = from_names([asked])
    wrong = loaded(tmp_path, two_threads(*texts[:2]), specification)
    found = planned(wrong, asked)
    follow(wrong, specification, found, asked)
    right = loaded(tmp_path, two_threads(*texts[2:]), specification)
    with pytest.raises(ReplayFailed):
        follow(right, specification, found, asked)


def test_a_step_that_is_blocked_is_not_taken(tmp_path: Path) -> None:
    """Both threads are to hold the lock at the same time."""
    specification = Specification()
    inside = "pthread_mutex_lock(&m); x = 1; x = 0; pthread_mutex_unlock(&m);"
    look = "pthread_mutex_lock({}); assert(x == 0); pthread_mutex_unlock({});"
    wrong = loaded(tmp_path, two_threads(inside, look.replace("{}", "&n")), specification)
    plan = planned(wrong, "assertions")
    schedule = replay(wrong, specification, plan)
    assert run(wrong, specification, schedule=schedule).ending == "violation"
    right = loaded(tmp_path, two_threads(inside, look.replace("{}", "&m")), specification)
    with pytest.raises(ReplayFailed, match="blocked"):
        replay(right, specification, plan)
