"""Schedules as files, and the picture of an interleaving."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.semantics.builder import PTR, ProgramBuilder, add, equals, number

from plait.errors import InputError
from plait.model.actions import NOWHERE, Input
from plait.model.program import Program
from plait.model.properties import Specification
from plait.model.types import I32
from plait.semantics import schedule
from plait.semantics.run import run
from plait.semantics.schedule import Schedule, ScheduledStep

ASSERTIONS = Specification()

steps = st.builds(
    ScheduledStep,
    st.integers(1, 9),
    st.lists(st.integers() | st.floats(allow_nan=False)).map(tuple),
    st.integers(1, 9),
)


@given(st.lists(steps))
def test_files_hold_schedules(items: list[ScheduledStep]) -> None:
    text = schedule.to_text(Schedule(items))
    assert schedule.from_text(text, "x.json").steps == items


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "x.json:1:1: not a schedule"),
        ("[1,\n 2", "x.json:2:3: not a schedule"),
        ("[]", "no 'plait-schedule'"),
        ('{"plait-schedule": 9}', "version 9"),
        ('{"plait-schedule": 1}', "needs a list 'steps'"),
        ('{"plait-schedule": 1, "steps": [7]}', "step 1 of the schedule: not of the form"),
        ('{"plait-schedule": 1, "steps": [{"thread": 0}]}', "'thread' must be"),
        ('{"plait-schedule": 1, "steps": [{"thread": true}]}', "'thread' must be"),
        ('{"plait-schedule": 1, "steps": [{"thread": 1, "cuont": 2}]}', "unknown key 'cuont'"),
        ('{"plait-schedule": 1, "steps": [{"thread": 1, "inputs": 2}]}', "must be a list"),
        ('{"plait-schedule": 1, "steps": [{"thread": 1, "inputs": ["z"]}]}', "'z' is no"),
        ('{"plait-schedule": 1, "steps": [{"thread": 1, "inputs": [null]}]}', "None is no input"),
    ],
)
def test_wrong_files(text: str, wanted: str) -> None:
    with pytest.raises(InputError) as error:
        schedule.from_text(text, "x.json")
    assert wanted in str(error.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for name in ("missing", "binary", "."):
        with pytest.raises(InputError):
            schedule.read(str(tmp_path / name))
    good = tmp_path / "good"
    good.write_text(schedule.to_text(Schedule([ScheduledStep(2)])))
    assert schedule.read(str(good)).steps == [ScheduledStep(2)]


def sample() -> Program:
    program = ProgramBuilder()
    x = program.variable("x")
    main, worker = program.function("main"), program.function("worker", ("p", PTR))
    value = worker.load(x, name="seen")
    worker.store(x, add(value, 1))
    worker.leave()
    main.spawn("worker")
    choice = main.register(I32, "choice")
    main.emit(Input(NOWHERE, choice, "choice", number(3)))
    main.check(equals(main.load(x), 0), "x is 0")
    main.exit()
    return program.build()


def test_schedules_that_do_not_fit() -> None:
    with pytest.raises(InputError, match=r"step 1 .* thread 2 cannot move"):
        run(sample(), ASSERTIONS, schedule=Schedule([ScheduledStep(2)]))
    with pytest.raises(InputError, match="no value for the input 'choice'"):
        run(sample(), ASSERTIONS, schedule=Schedule([ScheduledStep(1, count=2)]))
    with pytest.raises(InputError, match="the value 3 is not possible"):
        run(sample(), ASSERTIONS, schedule=Schedule([ScheduledStep(1, (3,), 2)]))


def test_the_end_of_a_schedule() -> None:
    execution = run(sample(), ASSERTIONS, schedule=Schedule([ScheduledStep(1, (2,), 2)]))
    assert execution.ending == "end of schedule" and execution.steps == 2


def test_runs_repeat_by_seed_and_by_schedule() -> None:
    program = sample()
    for seed in range(10):
        first, second = (run(program, ASSERTIONS, seed=seed) for _ in range(2))
        assert first.schedule.steps == second.schedule.steps
        replayed = run(program, ASSERTIONS, schedule=first.schedule, trace=True)
        assert (replayed.ending, replayed.steps) == (first.ending, first.steps)
