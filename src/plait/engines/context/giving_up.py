"""When and why the engine says nothing of a program."""

from __future__ import annotations

from typing import Protocol

from plait.engines.interface import Answer, Outcome, OutOfTime, Statistics
from plait.errors import UnsupportedCode


class GaveUp(Exception):
    """The program is not one that this engine can say anything about."""


class Search(Protocol):
    """`so_far` says how far it has come."""

    so_far: str

    @property
    def statistics(self) -> Statistics: ...

    def run(self) -> Outcome: ...


def outcome_of(search: Search) -> Outcome:
    try:
        return search.run()
    except (GaveUp, UnsupportedCode) as error:
        return Outcome(Answer.UNKNOWN, str(error), search.statistics)
    except OutOfTime:
        statistics, so_far = search.statistics, search.so_far
        return Outcome(Answer.UNKNOWN, "time is up", statistics, is_out_of_time=True, so_far=so_far)
