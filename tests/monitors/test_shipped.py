"""The monitors that come with plait: each has a program that is right and one that is wrong."""

from __future__ import annotations

import time
from importlib import import_module
from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.engines import registry
from plait.engines.interface import Answer, Question
from plait.model.program import Program
from plait.model.properties import Property, Specification, from_names
from plait.monitors.library import described, shipped
from plait.semantics.explore import ExploreOptions, Verdict, explore
from tests.engines.asking import Replaying
from trust import guarded

PROGRAMS = Path(__file__).parent / "programs"
WATCHED = Specification(frozenset({Property.MONITOR}))
# Exploration is nothing for programs whose inputs are numbers.
WITH_INPUTS = frozenset(
    {"check-then-open", "descriptor-use", "file-use", "request-completion", "socket-order"}
)
# What else is decided in a fraction of a second.
DECIDED = {
    "orders": (*sorted(WITH_INPUTS), "argument-ownership", "spin-lock-blocking"),
    "impact": ("argument-ownership", "check-then-open", "request-completion"),
    "explicit": ("held-at-exit", "lock-discipline", "lock-order"),
}


def program_of(name: str, kind: str) -> Program:
    options = FrontEndOptions(monitor=name)
    return load([str(PROGRAMS / f"{name}.{kind}.c")], options, WATCHED)


def test_each_has_programs_and_says_what_it_is_for() -> None:
    found = {path.name.split(".")[0] for path in PROGRAMS.glob("*.c")}
    assert found == set(shipped())
    assert all(what.endswith(".") for _, what in described())


@pytest.mark.parametrize("name", sorted(set(shipped()) - WITH_INPUTS))
def test_exploring(name: str) -> None:
    found = explore(program_of(name, "wrong"), WATCHED)
    assert found.verdict is Verdict.FALSE
    assert found.violation is not None
    assert found.violation.message.startswith(name.replace("-", "_") + ": ")
    assert explore(program_of(name, "right"), WATCHED).verdict is Verdict.TRUE


@pytest.mark.parametrize(
    ("engine", "name"), [(engine, name) for engine in DECIDED for name in DECIDED[engine]]
)
def test_engines(engine: str, name: str) -> None:
    chosen = registry.engine(engine)
    for kind, answer in (("right", Answer.HOLDS), ("wrong", Answer.VIOLATED)):
        question = Question(
            program_of(name, kind), WATCHED, time.monotonic() + 300, settings=chosen.settings({})
        )
        outcome = import_module(chosen.module).answer(question, Replaying(question))
        assert outcome.answer is answer, outcome.reason


def test_the_monitor_of_locks_agrees_with_lock_misuse(tmp_path: Path) -> None:
    verdicts = []
    for seed in range(12):
        path = tmp_path / "program.c"
        path.write_text(guarded.generate(seed))
        limits = ExploreOptions(max_states=30_000)
        misuse = from_names(["lock-misuse"])
        known = explore(load([str(path)], FrontEndOptions(), misuse), misuse, limits)
        if known.violation is not None and "a mutex" not in known.violation.message:
            continue  # a condition variable or semaphore, which this monitor does not watch
        options = FrontEndOptions(monitor="lock-discipline")
        found = explore(load([str(path)], options, WATCHED), WATCHED, limits)
        if Verdict.UNKNOWN not in (known.verdict, found.verdict):
            assert found.verdict is known.verdict, seed
            verdicts.append(found.verdict)
    assert {Verdict.TRUE, Verdict.FALSE} <= set(verdicts)
