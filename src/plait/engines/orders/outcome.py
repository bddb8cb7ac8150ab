"""What the bounded engine counts, and what it says of one bound."""

from __future__ import annotations

from enum import Enum
from typing import Any

from plait.data import dataclass, field
from plait.engines import interface
from plait.engines.orders.bounds import Key


class Phase(Enum):
    """What is done with one bound, in this order."""

    UNROLLING = "unrolling"
    ENCODING = "encoding"
    SOLVING = "solving"


@dataclass(slots=True, eq=False)
class Statistics(interface.Statistics):
    """Sizes are those of the last bound, counts and times (seconds) of all bounds together."""

    names = {
        "bound": "last_bound",
        "links": "read_from_candidates",
        "unrolling": "unrolling_seconds",
        "encoding": "encoding_seconds",
        "solving": "solving_seconds",
        "graph": "graph_seconds",
    }

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

    def numbers(self) -> dict[str, Any]:
        """All that is counted, and two means."""
        found = interface.Statistics.numbers(self)
        literals = found.pop("reason_literals")
        found["reasons_per_refinement"] = _mean(self.reasons, self.refinements)
        found["mean_reason_length"] = _mean(literals, self.reasons)
        return dict(sorted(found.items(), key=lambda item: item[0].endswith("_seconds")))


def _mean(total: int, count: int) -> float:
    return round(total / count, 3) if count else 0.0


@dataclass(slots=True, eq=False)
class BoundOutcome(interface.Outcome):
    """`exceeded`: with larger bounds of these it may be another answer."""

    statistics: Statistics = field(default_factory=Statistics)
    exceeded: frozenset[Key] = frozenset()
    level: int = 0  # the bound
    # The same of an answer that is unknown whatever comes: there may still be a violation.
    may_be_violated_beyond: frozenset[Key] = frozenset()

    @property
    def is_bounded(self) -> bool:
        return bool(self.exceeded)
