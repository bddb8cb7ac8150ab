"""Interpolants from the end: the rest of the path cannot be taken from here.

What must hold at a place for the rest of the slice to be possible is a conjunction; its negation
is the weakest label there is. Inputs of later steps may have any value, so they are eliminated;
that may only make the conjunction weaker, the label stronger, which is fine as long as nothing is
left to prove at the first place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from plait.logic.interpolation.elimination import Elimination
from plait.logic.interpolation.path import Sequence
from plait.logic.interpolation.problem import Context, Failed, Label, Slice

# Takes variables out of a conjunction.
Eliminated = Callable[[Iterable[int], Iterable[int]], Label]


class Weakest:
    name = "weakest"

    def __init__(self, context: Context) -> None:
        self._context = context
        self._elimination = Elimination(context.terms, context.vocabulary, context.conjuncts)

    def __call__(self, slice_: Slice) -> Sequence:
        """Variables that nothing before a place mentions do not belong into its label. They are
        eliminated like inputs if that works, and otherwise only as far as nothing gets lost."""
        try:
            return self._labels(slice_, self._elimination.without)
        except Failed:
            return self._labels(slice_, self._elimination.replaced)

    def _labels(self, slice_: Slice, eliminated: Eliminated) -> Sequence:
        terms, conjuncts = self._context.terms, self._context.conjuncts
        mentioned = slice_.mentioned(self._context.vocabulary)
        conditions: Label = ()
        is_exact = True
        labels: list[Label] = [(terms.false,)]
        for index in range(len(slice_.steps) - 1, -1, -1):
            step, transfer = slice_.steps[index], slice_.transfers[index]
            conditions = conjuncts.of([*map(transfer, conditions), *step.assumes])
            if index == 0:
                break
            if step.inputs:
                conditions = self._elimination.without(step.inputs, conditions)
                is_exact = False
            new = self._context.vocabulary.of(conditions) - mentioned[index]
            if new:
                conditions = eliminated(new, conditions)
                is_exact = False
            labels.append(conjuncts(terms.any_of(map(terms.not_, conditions))))
        if not is_exact and self._context.queries.core(conditions) is None:
            raise Failed("the rest of the path cannot be told without its inputs")
        labels.append(())
        labels.reverse()
        return slice_.padded(labels)
