"""What the modular engine answers and counts, and how long it may take."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from plait.data import dataclass
from plait.engines import interface
from plait.model.facts import Fact

if TYPE_CHECKING:
    from plait.analysis.sharing import Sharing

_SECONDS = 0.5


class GaveUp(Exception):
    """Something that the abstraction cannot describe: neither an answer nor facts follow."""


class OutOfBudget(Exception):
    """Too many actions, or the deadline has passed."""


class Budget:
    """The deadline of the caller, by time.monotonic, and a limit of the engine's own, of CPU time:
    it is for what is easy. What stops it first is mostly a number of actions, so that answers do
    not depend on the machine."""

    def __init__(self, deadline: float | None) -> None:
        self._deadline = deadline
        self._began = time.thread_time()

    def look_at_clocks(self) -> None:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            raise OutOfBudget
        if time.thread_time() - self._began > _SECONDS:
            raise OutOfBudget


@dataclass(slots=True, eq=False)
class Statistics(interface.Statistics):
    names = {"seconds": "checking_seconds"}

    threads: int = 0
    locations: int = 0  # that were reached
    passes: int = 0
    actions: int = 0
    seconds: float = 0.0


@dataclass(slots=True, eq=False)
class CheckOutcome(interface.Outcome):
    """It never says that a property is violated: the engine knows too little about executions.
    `facts` hold whatever the answer is; `sharing` is what a proof has relied on."""

    facts: tuple[Fact, ...] = ()
    sharing: Sharing | None = None
