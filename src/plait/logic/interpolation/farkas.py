"""Interpolants from linear arithmetic: sums of the inequalities on both sides of a place.

If inequalities contradict each other, some sum of multiples of them is `c <= 0` for a constant c
above 0 (Farkas' lemma).
The sum of those behind a place, written in the variables there, is what the rest of the path
claims; the label says that it is wrong. So a label is one inequality, in which whatever the
rounds of a loop have in common tends to show. A disjunction is a case for each member: labels of
the cases are joined by `and` before the step that assumes it, and by `or` behind it (McMillan,
An interpolating theorem prover, TCS 2005).
"""

from __future__ import annotations

from collections.abc import Iterable

from plait.data import dataclass
from plait.logic.interpolation.inequalities import (
    Conjunction,
    alternatives,
    compares_numbers,
    compares_signs,
)
from plait.logic.interpolation.integers import Exact, Linear, View
from plait.logic.interpolation.path import Sequence
from plait.logic.interpolation.problem import Context, Failed, Slice
from plait.logic.interpolation.simplex import multipliers
from plait.logic.interpolation.support import Support

_CASES = 16


class Farkas:
    name = "farkas"

    def __init__(self, context: Context) -> None:
        self._context = context
        self._support = Support(context)
        self._views = {flag: View(context.terms, is_signed=flag) for flag in (False, True)}

    def __call__(self, slice_: Slice) -> Sequence:
        terms = self._context.terms
        assumed = list(terms.parts(term for step in slice_.steps for term in step.assumes))
        if not any(compares_numbers(terms, term) for term in assumed):
            # Modulo 2**width, where nothing wraps, equations have shorter explanations.
            raise Failed("no inequality on the path")
        has_signs = any(compares_signs(terms, term) for term in assumed)
        attempt = _Attempt(self._context, self._views[has_signs], slice_)
        labels = slice_.padded((label,) for label in attempt.labels())
        labels = tuple(map(self._context.conjuncts.of, labels))
        conditions = {place + slice_.start: some for place, some in attempt.conditions.items()}
        return self._support.supported(slice_, labels, conditions)


@dataclass(frozen=True, slots=True)
class _Inequality:
    """`expression <= 0`, assumed by a step of the slice; and the same before its first step."""

    step: int
    exact: Exact
    at_start: Linear


# For each place of the slice one truth value.
_Labels = list[int]


class _Attempt:
    """Labels for one slice. `conditions` are truth values for places of the slice under which
    integers and vectors agree as far as the labels need it."""

    def __init__(self, context: Context, view: View, slice_: Slice) -> None:
        self._context = context
        self._view = view
        self._slice = slice_
        self._cases = 0
        self.conditions: dict[int, set[int]] = {}

    def labels(self) -> _Labels:
        certain: list[_Inequality] = []
        open_: list[tuple[int, tuple[Conjunction, ...]]] = []
        for index, step in enumerate(self._slice.steps):
            for term in step.assumes:
                cases = alternatives(self._view, term)
                if len(cases) == 1:
                    certain += self._inequalities(index, cases[0])
                else:
                    open_.append((index, cases))
        labels = self._explained(certain, open_)
        self._demand_live_variables(labels)
        return labels

    def _explained(
        self, known: list[_Inequality], open_: list[tuple[int, tuple[Conjunction, ...]]]
    ) -> _Labels:
        """Labels for what is known, case by case for what is open as far as that is needed."""
        self._cases += 1
        if self._cases > _CASES:
            raise Failed("too many cases")
        inequalities = [*known, *self._ranges(known)]
        found = multipliers([one.at_start for one in inequalities])
        if found is not None:
            return self._sums(inequalities, found)
        if not open_:
            raise Failed("no contradiction in linear arithmetic")
        *rest, (step, cases) = open_
        results = [
            self._explained([*known, *self._inequalities(step, case)], rest) for case in cases
        ]
        terms = self._context.terms
        return [
            terms.all_of(labels) if place <= step else terms.any_of(labels)
            for place, labels in enumerate(zip(*results))
        ]

    def _sums(self, inequalities: list[_Inequality], factors: list[int]) -> _Labels:
        """The labels that the multipliers stand for, from the last place to the first one.

        What the rest of the path claims is `claim <= 0`, and before the first step the claim is a
        constant above 0. So `claim >= c` is a label for all c from 1 up to that constant; 1 makes
        it independent of what the path began with.
        """
        claim = Linear({})
        labels = [self._view.terms.false]
        for index in range(len(self._slice.steps) - 1, -1, -1):
            pulled = self._pulled(index, claim)
            conditions = set(pulled.conditions)
            claim = pulled.linear
            for one, factor in zip(inequalities, factors):
                if one.step == index and factor:
                    claim = claim.plus(one.exact.linear, factor)
                    conditions |= one.exact.conditions
            if conditions:
                self.conditions.setdefault(index, set()).update(conditions)
            labels.append(self._view.nonnegative(claim.plus(Linear({}, -1))))
        return labels[::-1]

    def _inequalities(self, step: int, conjunction: Iterable[Exact]) -> list[_Inequality]:
        result: list[_Inequality] = []
        for exact in conjunction:
            linear = exact.linear
            for index in range(step - 1, -1, -1):
                linear = self._pulled(index, linear).linear
            result.append(_Inequality(step, exact, linear))
        return result

    def _pulled(self, index: int, expression: Linear) -> Exact:
        """An expression behind a step as one before it."""
        transfer = self._slice.transfers[index]
        result = Exact(Linear({}, expression.constant))
        for atom, factor in expression.factors.items():
            result = result.plus(self._view(transfer(atom)), factor)
        return result

    def _ranges(self, inequalities: list[_Inequality]) -> list[_Inequality]:
        """That variables are in the range of their width: inputs where they are read, others until
        they are written first."""
        atoms = {atom for one in inequalities for atom in one.at_start.factors}
        result: list[_Inequality] = []
        for atom in sorted(atoms & self._places.keys()):
            low, high = self._view.range(self._context.terms.width[atom])
            for linear in (Linear({atom: -1}, low), Linear({atom: 1}, -high)):
                result.append(_Inequality(self._places[atom], Exact(linear), linear))
        return result

    @property
    def _places(self) -> dict[int, int]:
        steps = self._slice.steps
        last = len(steps) - 1
        places = {
            name: next((at for at, step in enumerate(steps) if name in step.updates), last)
            for name in self._slice.live[0]
        }
        places.update({name: at for at, step in enumerate(steps) for name in step.inputs})
        return places

    def _demand_live_variables(self, labels: _Labels) -> None:
        vocabulary = self._context.vocabulary
        for label, live in zip(labels, self._slice.live):
            if vocabulary(label) - live:
                raise Failed("a label would mention an input")
