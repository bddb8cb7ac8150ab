"""Interpolants from the end: the rest of the path cannot be taken from here.

What must hold at a place for the rest of the slice to be possible is a conjunction; its negation
is the weakest label there is. Inputs of later steps may have any value, so they are eliminated;
that may only make the conjunction weaker, the label stronger, which is fine as long as nothing is
left to prove at the first place.
"""

from __future__ import annotations

from plait.logic.interpolation.elimination import Elimination
from plait.logic.interpolation.path import Sequence
from plait.logic.interpolation.problem import Context, Failed, Slice


class Weakest:
    name = "weakest"

    def __init__(self, context: Context) -> None:
        self._context = context
        self._elimination = Elimination(context.terms, context.vocabulary, context.conjuncts)

    def __call__(self, slice_: Slice) -> Sequence:
        terms, conjuncts = self._context.terms, self._context.conjuncts
        mentioned = self._mentioned_before(slice_)
        conditions: tuple[int, ...] = ()
        eliminated = False
        labels: list[tuple[int, ...]] = [(terms.false,)]
        for index in range(len(slice_.steps) - 1, -1, -1):
            step, transfer = slice_.steps[index], slice_.transfers[index]
            conditions = conjuncts.of([*map(transfer, conditions), *step.assumes])
            if index == 0:
                break
            if step.inputs:
                conditions = self._elimination.without(step.inputs, conditions)
                eliminated = True
            # What nothing before this place mentions would not belong into its label; where it
            # cannot be eliminated without loss it stays, as the label is right all the same.
            new = self._context.vocabulary.of(conditions) - mentioned[index]
            if new:
                conditions, _ = self._elimination.replaced(new, conditions)
            refuted = [terms.not_(condition) for condition in conditions]
            labels.append(conjuncts(terms.any_of(refuted)))
        if eliminated and self._context.queries.core(conditions) is None:
            raise Failed("the rest of the path cannot be told without its inputs")
        labels.append(())
        labels.reverse()
        return slice_.padded(labels)

    def _mentioned_before(self, slice_: Slice) -> list[frozenset[int]]:
        """For each place of the slice the variables that an earlier step of it mentions."""
        mentioned: frozenset[int] = frozenset()
        result = [mentioned]
        for step in slice_.steps:
            mentioned |= self._context.vocabulary.of(step.assumes)
            mentioned |= self._context.vocabulary.of(step.updates.values())
            mentioned |= step.updates.keys()
            result.append(mentioned)
        return result
