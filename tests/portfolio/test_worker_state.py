"""What a worker that says no more has come to."""

from __future__ import annotations

import pytest

from plait.cli.numbers import summary
from plait.evidence.result import Result
from plait.portfolio.messages import Loaded, Progress, Question, encode
from plait.portfolio.worker_state import WorkerState

BOTH = ["assertions", "no-deadlock"]


def state_after(*progress: Progress) -> WorkerState:
    state = WorkerState("orders", 0.0)
    state.receive(encode(Question("main", BOTH, [], {})))
    state.receive(encode(Loaded([], [])))
    for message in progress:
        state.receive(encode(message))
    return state


def test_no_bound_for_any_property() -> None:
    assert state_after().so_far() == "no loop bound was finished"
    begun = Progress("loop bound 4: solving", {"last_bound": 4}, properties=BOTH)
    assert state_after(begun).so_far() == "no loop bound was finished"


def test_a_bound_for_one_of_two_properties() -> None:
    """To say that none was finished would be wrong."""
    done = Progress("done", {"last_bound": 4}, bound=4, properties=["no-deadlock"])
    state = state_after(done)
    assert state.bound is None
    assert state.so_far() == "no loop bound was finished for assertions"


def test_a_bound_for_both() -> None:
    done = [Progress("", {}, bound=n, properties=[name]) for n, name in zip((4, 2), BOTH)]
    assert state_after(*done).so_far() == "no violation with up to 2 loop rounds"


@pytest.mark.parametrize(
    ("verdict", "bound", "said"),
    [
        ("unknown", None, "loop bound 4 not finished"),
        ("unknown", 2, "loop bound 4 not finished"),
        ("unknown", 4, "loop bound 4"),
        ("false", 4, "loop bound 4"),
        ("true", None, "loop bound 4"),
    ],
)
def test_the_summary_says_whether_a_bound_was_finished(
    verdict: str, bound: int | None, said: str
) -> None:
    numbers = {"events": 1, "read_from_candidates": 2, "refinements": 3, "last_bound": 4}
    result = Result("1", ["a.c"], "main", "LP64", BOTH, "orders", verdict, "")
    result.statistics, result.bound = numbers, bound
    assert summary(result) == f"1 events, 2 links, 3 refinements, {said}"
