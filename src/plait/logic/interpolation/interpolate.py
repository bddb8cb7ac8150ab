"""Why a path cannot be taken: one question, several procedures to answer it.

The part of the path that is to blame is found first, the same for all procedures; then they are
tried in the given order until one of them has interpolants that meet all conditions.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from collections.abc import Sequence as Steps
from typing import Protocol

from plait.data import dataclass, field
from plait.logic.interpolation.conditions import complaint
from plait.logic.interpolation.farkas import Farkas
from plait.logic.interpolation.model import Model
from plait.logic.interpolation.path import Sequence, Step
from plait.logic.interpolation.problem import Context, Failed, Path, Slice
from plait.logic.interpolation.queries import Undecided
from plait.logic.interpolation.slicing import Blame, slice_or_model
from plait.logic.interpolation.spacer import Spacer
from plait.logic.interpolation.strongest import Strongest
from plait.logic.interpolation.weakest import Weakest
from plait.logic.terms import Terms


class Procedure(Protocol):
    """Makes interpolants from a slice, one for each place of its path, or raises `Failed`."""

    @property
    def name(self) -> str: ...

    def __call__(self, slice_: Slice, /) -> Sequence: ...


PROCEDURES: Mapping[str, Callable[[Context], Procedure]] = {
    "weakest": Weakest,
    "strongest": Strongest,
    "farkas": Farkas,
    "spacer": Spacer,
}
DEFAULT_ORDER = ("farkas", "weakest", "strongest", "spacer")


@dataclass(frozen=True, slots=True)
class Feasible:
    """The path can be taken: the model gives values to the state before the first step, and to
    the inputs of all steps."""

    model: Model


@dataclass(frozen=True, slots=True)
class Interpolants:
    """One conjunction for each place. `start` is the last place from which the path is infeasible
    whatever the state is."""

    sequence: Sequence
    procedure: str
    start: int


@dataclass(frozen=True, slots=True)
class Unknown:
    reason: str


Result = Feasible | Interpolants | Unknown


@dataclass(slots=True)
class Statistics:
    """For each procedure how often it was tried, succeeded, gave up (`failed`), and had a result
    that violates a condition (`rejected`)."""

    paths: int = 0
    tried: Counter[str] = field(default_factory=Counter)
    succeeded: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    reasons: Counter[str] = field(default_factory=Counter)  # why procedures gave up
    last_complaint: str = ""


class Interpolator:
    """Explains infeasible paths over the terms of one table.

    Procedures are names from `PROCEDURES`, or objects of one's own. `timeout` limits the seconds
    for one path. What is computed of a step is remembered, so a step must never change.
    """

    def __init__(
        self,
        terms: Terms,
        *,
        procedures: Steps[str | Procedure] = DEFAULT_ORDER,
        timeout: float | None = None,
    ) -> None:
        self.statistics = Statistics()
        self._context = Context(terms)
        self._made: dict[str, Procedure] = {}
        self._procedures = procedures
        self._timeout = timeout

    def interpolate(
        self,
        steps: Steps[Step],
        deadline: float | None = None,
        *,
        procedures: Steps[str | Procedure] | None = None,
        blame: Blame = Blame.LATE,
    ) -> Result:
        """Interpolants, by the given procedures instead of the usual ones if there are any."""
        self._limit(deadline)
        self.statistics.paths += 1
        try:
            path = Path(self._context, steps)
            found = slice_or_model(self._context, path, blame)
            if isinstance(found, Model):
                return Feasible(found)
            for procedure in procedures or self._procedures:
                if isinstance(procedure, str):
                    procedure = self._named(procedure)
                sequence = self._attempt(procedure, path, found)
                if sequence is not None:
                    return Interpolants(sequence, procedure.name, found.start)
        except Undecided as undecided:
            return Unknown(str(undecided))
        return Unknown("no procedure can explain why the path is infeasible")

    def close(self) -> None:
        """Free the memory of the solver; it is made again when it is needed."""
        self._context.queries.close()

    def _attempt(self, procedure: Procedure, path: Path, found: Slice) -> Sequence | None:
        statistics, name = self.statistics, procedure.name
        statistics.tried[name] += 1
        begin = time.perf_counter()
        try:
            sequence = tuple(map(self._context.conjuncts.of, procedure(found)))
            problem = complaint(self._context, path, sequence)
        except Failed as failure:
            statistics.failed[name] += 1
            statistics.reasons[f"{name}: {failure}"] += 1
            return None
        finally:
            statistics.seconds[name] += time.perf_counter() - begin
        if problem:
            statistics.rejected[name] += 1
            statistics.last_complaint = f"{name}: {problem}"
            return None
        statistics.succeeded[name] += 1
        return sequence

    def _named(self, name: str) -> Procedure:
        found = self._made.get(name)
        if found is None:
            found = self._made[name] = PROCEDURES[name](self._context)
        return found

    def _limit(self, deadline: float | None) -> None:
        limits = [] if deadline is None else [deadline]
        if self._timeout is not None:
            limits.append(time.monotonic() + self._timeout)
        self._context.queries.deadline = min(limits, default=None)
