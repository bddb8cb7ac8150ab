"""The analysis of abstract counterexamples: can they be taken, and if not, from where on (3.1.1)?

The bad region of a node on the path has the states in which its region and the rest of the path
leave the program; it is computed the other way round, as what must hold at the node for the rest to
be possible. The last node at which that contradicts the region is the pivot. Interpolants of what
is behind it say which predicates are missing, and where (3.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from plait.data import dataclass
from plait.engines.blocks.paths import Paths
from plait.engines.predicates.settings import Abstraction
from plait.logic.interpolation.conjuncts import Conjuncts
from plait.logic.interpolation.interpolate import Feasible, Interpolants, Unknown
from plait.logic.interpolation.model import Model
from plait.logic.interpolation.narrowing import narrowed
from plait.logic.interpolation.path import Step
from plait.logic.interpolation.queries import Queries, Undecided
from plait.logic.substitute import Substitution, Vocabulary
from plait.logic.terms import Terms


@dataclass(frozen=True, slots=True)
class Spurious:
    """The path cannot be taken from the states of a node on it, and behind that node these labels
    say why: one for each node up to the one before the end. The pivot is -1 if it is the initial
    states that have to be known better; then the first label is for the root."""

    pivot: int
    labels: list[tuple[int, ...]]


class Analysis:
    def __init__(
        self,
        terms: Terms,
        paths: Paths,
        deadline: float | None,
        look_at_limits: Callable[[], object],
        abstraction: Abstraction,
    ) -> None:
        self._terms = terms
        self._paths = paths
        self._conjuncts = Conjuncts(terms)
        self._queries = Queries(terms, Vocabulary(terms))
        self._queries.deadline = deadline
        self._look_at_limits = look_at_limits
        self._is_boolean = abstraction is Abstraction.BOOLEAN

    def __call__(
        self, regions: Sequence[list[int]], steps: Sequence[Step]
    ) -> Feasible | Spurious | Unknown:
        """`regions` has those of the nodes of a path, as conjunctions; each step begins at one."""
        try:
            pivot, model = self._pivot(regions, steps)
            if pivot < 0:
                found = self._paths.interpolate(self._paths.from_start(steps))
                if isinstance(found, Feasible):
                    return found
            for attempt in self._attempts(regions, steps, pivot, model):
                self._look_at_limits()
                found = self._paths.interpolate(attempt)
                if isinstance(found, Interpolants):
                    # Without those before the first step and behind the last one; what holds at
                    # the pivot is known.
                    return Spurious(pivot, list(found.sequence[1 + (pivot >= 0) : -1]))
        except Undecided as undecided:
            return Unknown(str(undecided))
        return Unknown("no procedure can explain why the path is infeasible")

    def _attempts(
        self, regions: Sequence[list[int]], steps: Sequence[Step], pivot: int, model: Model
    ) -> Iterator[list[Step]]:
        """Paths that cannot be taken from the pivot: all of them together, and one of them."""
        if not self._is_boolean:
            yield self._from(pivot, regions, steps[max(pivot, 0) :])
        yield self._from(pivot, regions, self._narrowed(regions, steps, pivot, model))
        if self._is_boolean:
            yield self._from(pivot, regions, steps[max(pivot, 0) :])

    def _from(self, pivot: int, regions: Sequence[list[int]], steps: Sequence[Step]) -> list[Step]:
        if pivot < 0:
            return self._paths.from_start(steps)
        return [Step(tuple(regions[pivot]), {}), *steps]

    def _narrowed(
        self, regions: Sequence[list[int]], steps: Sequence[Step], pivot: int, model: Model
    ) -> list[Step]:
        """One of the paths behind the pivot: it can be taken from the node behind that."""
        found = []
        if pivot >= 0:
            step = steps[pivot]
            before = Substitution(self._terms, step.updates.get)
            facts = [*regions[pivot], *step.assumes, *map(before, regions[pivot + 1])]
            first = self._queries.answer(self._conjuncts.of(facts))
            assert isinstance(first, Model), "the region of a node has states"
            found.append(narrowed(self._terms, step, first))
        for step in steps[pivot + 1 :]:
            found.append(narrowed(self._terms, step, model))
            model = model.after(step)
        return found

    def _pivot(self, regions: Sequence[list[int]], steps: Sequence[Step]) -> tuple[int, Model]:
        """The last node whose states cannot take the rest of the path, -1 if there is none; and a
        state of the next node that can."""
        conditions: tuple[int, ...] = ()
        model = Model(self._terms, {})
        for place in range(len(steps) - 1, -1, -1):
            self._look_at_limits()
            step = steps[place]
            before = Substitution(self._terms, step.updates.get)
            conditions = self._conjuncts.of([*map(before, conditions), *step.assumes])
            answer = self._queries.answer([*conditions, *regions[place]])
            if not isinstance(answer, Model):
                return place, model
            model = answer
        return -1, model
