"""What the unbounded engine answers, and what it took."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum
from typing import Any

from plait.data import dataclass, field
from plait.model.actions import NOWHERE, Origin


class Answer(Enum):
    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


class OutOfTime(Exception):
    """The deadline has passed."""

    @staticmethod
    def check(deadline: float | None) -> None:
        if deadline is not None and time.monotonic() >= deadline:
            raise OutOfTime


@dataclass(slots=True, eq=False)
class Statistics:
    threads: int = 0
    locations: int = 0
    nodes: int = 0
    open_nodes: int = 0
    covers: int = 0
    forced_covers: int = 0
    uncovered: int = 0  # covers that were taken back
    cover_expansions: int = 0  # nodes that exist for the sake of covered ones
    skipped: int = 0  # threads that the reduction did not expand
    conditional: int = 0  # of these, because of a fact in the label
    refinements: int = 0
    suggested: int = 0  # conjuncts of labels that hints have suggested
    longest_path: int = 0
    syntactic_checks: int = 0
    sample_checks: int = 0
    known_checks: int = 0
    solver_checks: int = 0
    executing: float = 0.0
    covering: float = 0.0
    refining: float = 0.0


@dataclass(slots=True, frozen=True)
class Taken:
    """A block that a thread has executed: the location it began at, whether it was in an atomic
    section or alone then, and how many threads there were at its end."""

    thread: int
    function: str
    location: int
    in_section: bool
    is_alone: bool
    threads: int


@dataclass(slots=True, eq=False)
class Counterexample:
    """The blocks in order, and the inputs of each thread in order."""

    blocks: list[Taken]
    inputs: dict[int, list[tuple[str, int]]]
    violator: int
    message: str
    origin: Origin = NOWHERE


@dataclass(slots=True, eq=False)
class Outcome:
    answer: Answer
    reason: str
    statistics: Statistics = field(default_factory=Statistics)
    counterexample: Counterexample | None = None
    certificate: Callable[[], dict[str, Any]] | None = None  # of what holds
    hints: Callable[[], dict[str, Any]] | None = None  # for the proof of an edited program
    is_out_of_time: bool = False
