"""What the modular engine answers, and what it took."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from plait.model.facts import Fact


class Answer(Enum):
    """It never says that a property is violated: it knows too little about executions."""

    HOLDS = "holds"
    UNKNOWN = "unknown"


class GaveUp(Exception):
    """Something that the abstraction cannot describe: neither an answer nor facts follow."""


class OutOfBudget(Exception):
    """Too many actions, or the deadline has passed."""


@dataclass(slots=True, eq=False)
class Statistics:
    threads: int = 0
    locations: int = 0  # that were reached
    passes: int = 0
    actions: int = 0
    seconds: float = 0.0


@dataclass(slots=True, eq=False)
class Outcome:
    """`facts` hold whatever the answer is."""

    answer: Answer
    reason: str
    statistics: Statistics = field(default_factory=Statistics)
    facts: tuple[Fact, ...] = ()
