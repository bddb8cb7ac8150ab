"""Several questions for one engine."""

from __future__ import annotations

import time

import pytest

from plait.portfolio.messages import OutOfTime, Result
from plait.portfolio.time_shares import ask_in_turns


class Engine:
    """Needs so many seconds for each question, and uses no more than it is given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **needed: float) -> None:
        self.now = 0.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        self.needed = needed
        self.turns: list[tuple[str, float]] = []

    def ask(self, item: str, end: float | None) -> Result | OutOfTime:
        seconds = self.needed[item]
        is_done = end is None or self.now + seconds <= end
        used = seconds if is_done or end is None else end - self.now
        self.turns.append((item, used))
        self.now += used
        return Result("true", "") if is_done else OutOfTime({})

    def answered(self, deadline: float | None) -> list[tuple[str, bool]]:
        found = ask_in_turns([*self.needed], deadline, self.ask)
        return [(item, isinstance(answer, Result)) for item, answer in found]


def test_one_question_has_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Engine(monkeypatch, a=1000.0).answered(None) == [("a", True)]
    engine = Engine(monkeypatch, a=1000.0)
    assert engine.answered(60.0) == [("a", False)]
    assert engine.turns == [("a", 60.0)]


def test_easy_ones_do_not_wait_for_hard_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(monkeypatch, hard=1e6, easy=2.0, harder=30.0)
    assert engine.answered(None) == [("easy", True), ("harder", True), ("hard", True)]
    assert engine.turns == [
        ("hard", 5.0),
        ("easy", 2.0),
        ("harder", 5.0),
        ("hard", 20.0),
        ("harder", 20.0),
        ("hard", 80.0),
        ("harder", 30.0),
        ("hard", 1e6),
    ]


@pytest.mark.parametrize("deadline", [1.0, 9.0, 10.0, 60.0, 900.0])
def test_all_the_time_is_used_and_no_more(deadline: float, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(monkeypatch, a=1e6, b=1e6)
    assert sorted(engine.answered(deadline)) == [("a", False), ("b", False)]
    assert engine.now == pytest.approx(deadline)
    for name in "ab":
        used = [seconds for item, seconds in engine.turns if item == name]
        assert used == sorted(used)
        assert used[-1] >= deadline / 3


@pytest.mark.parametrize(("hard", "limit"), [(25.0, 40.0), (30.0, 49.0), (800.0, 900.0)])
def test_what_an_easy_one_leaves_is_for_the_hard_one(
    hard: float, limit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(monkeypatch, hard=hard, easy=1.0)
    assert engine.answered(limit) == [("easy", True), ("hard", True)]


def test_no_turn_is_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(monkeypatch, hard=500.0, easy=81.0)
    assert dict(engine.answered(900.0))["easy"]
    used = [seconds for item, seconds in engine.turns if item == "hard"]
    assert used == sorted(set(used))


def test_no_time_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(monkeypatch, a=1.0, b=1.0)
    engine.now = 10.0
    assert len(list(ask_in_turns(["a", "b"], 9.0, lambda item, end: OutOfTime({})))) == 2
