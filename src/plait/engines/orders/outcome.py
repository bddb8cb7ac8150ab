"""What the bounded engine answers, and what it took."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from plait.engines.orders.bounds import Key
from plait.engines.orders.objects import Objects
from plait.engines.orders.unrolling import Claim


class Answer(Enum):
    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


class Phase(Enum):
    """What is done with one bound, in this order."""

    UNROLLING = "unrolling"
    ENCODING = "encoding"
    SOLVING = "solving"


@dataclass(slots=True, eq=False)
class Statistics:
    """Sizes are those of the last bound, counts and times (seconds) of all bounds together."""

    bound: int = 0
    threads: int = 0
    events: int = 0
    reads: int = 0
    writes: int = 0
    links: int = 0  # read-from candidates
    variables: int = 0
    clauses: int = 0
    refinements: int = 0
    reasons: int = 0  # kernel reasons added as clauses
    reason_literals: int = 0
    propagations: int = 0  # links that the order graph excluded while the solver searched
    exact_checks: int = 0
    unrolling: float = 0.0
    encoding: float = 0.0
    solving: float = 0.0
    graph: float = 0.0

    def add_reasons(self, reasons: list[frozenset[int]]) -> None:
        self.refinements += 1
        self.reasons += len(reasons)
        self.reason_literals += sum(map(len, reasons))


@dataclass(slots=True, eq=False)
class Counterexample:
    """The threads of the shared accesses in order (an atomic section counts once), which threads
    each thread starts, and the inputs of each thread in order. `race` has the threads whose next
    accesses then race."""

    threads: list[int]
    children: dict[int, list[int]]
    inputs: dict[int, list[tuple[str, int]]]
    claim: Claim
    objects: Objects
    race: tuple[int, int] | None = None


@dataclass(slots=True, eq=False)
class Outcome:
    answer: Answer
    reason: str
    statistics: Statistics = field(default_factory=Statistics)
    counterexample: Counterexample | None = None
    exceeded: frozenset[Key] = frozenset()  # with larger bounds of these it may be another answer
    is_out_of_time: bool = False
    # The same of an answer that is unknown whatever comes: there may still be a violation.
    may_be_violated_beyond: frozenset[Key] = frozenset()

    @property
    def is_bounded(self) -> bool:
        return bool(self.exceeded)
