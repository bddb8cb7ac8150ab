"""Engines that take turns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.portfolio.team import FakeTeam

from plait.portfolio.core_shares import CoreShares


def begin(jobs: int, *names: str) -> tuple[CoreShares, FakeTeam]:
    slices, team = CoreShares(jobs), FakeTeam()
    for name in names:
        team.start(name, lambda channel: None)
        slices.add(name)
    return slices, team


def test_enough_cores() -> None:
    slices, team = begin(2, "a", "b")
    assert slices.share_out(team, 0.0) > 1000
    assert team.running == {"a", "b"}
    assert not slices.is_waiting("a")


def test_the_newest_begins() -> None:
    slices, team = begin(1, "a", "b")
    period = slices.share_out(team, 0.0)
    assert team.running == {"b"}
    assert slices.is_waiting("a") and not slices.is_waiting("b")
    assert slices.share_out(team, period / 2) <= period / 2
    assert team.running == {"b"}


def test_turns_become_longer() -> None:
    slices, team = begin(1, "a", "b")
    now, turns, lengths = 0.0, [], []
    for _ in range(6):
        lengths.append(slices.share_out(team, now))
        turns += team.running
        now += lengths[-1]
    assert turns == ["b", "a", "b", "a", "b", "a"]
    assert lengths == sorted(set(lengths))


def test_who_is_left_goes_on() -> None:
    slices, team = begin(1, "a", "b")
    slices.share_out(team, 0.0)
    slices.drop("b")
    team.stop("b")
    slices.share_out(team, 0.1)
    assert team.running == {"a"}
    slices.drop("b")  # once more does no harm


def test_the_one_that_waits_is_dropped() -> None:
    slices, team = begin(1, "a", "b")
    slices.share_out(team, 0.0)
    slices.drop("a")
    team.stop("a")
    assert slices.share_out(team, 0.1) > 1000
    assert team.running == {"b"}


@given(
    st.integers(1, 3),
    st.lists(st.tuples(st.sampled_from(["add", "drop", "wait"]), st.floats(0, 3)), max_size=30),
)
def test_all_cores_are_used_and_no_more(jobs: int, events: list[tuple[str, float]]) -> None:
    slices, team = begin(jobs, "0")
    now, number = 0.0, 0
    for event, seconds in events:
        now += seconds
        if event == "add":
            number += 1
            team.start(str(number), lambda channel: None)
            slices.add(str(number))
        elif event == "drop" and team.names:
            name = team.names[0]
            team.stop(name)
            slices.drop(name)
        period = slices.share_out(team, now)
        assert period >= 0.0
        assert len(team.running) == min(jobs, len(team.names))
        assert {name for name in team.names if slices.is_waiting(name)} == team.paused - team.gone
