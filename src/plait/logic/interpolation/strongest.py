"""Interpolants from the beginning: what the slice has established so far.

Facts about the live variables are carried forward step by step: values that became constants,
assumptions about variables that were not written since. Where the facts contradict each other
we go back and keep at each place only those that the next label needs.
"""

from __future__ import annotations

from plait.logic.interpolation.elimination import Elimination
from plait.logic.interpolation.path import Sequence
from plait.logic.interpolation.problem import Context, Failed, Slice
from plait.logic.substitute import substitute

Facts = tuple[int, ...]


class Strongest:
    name = "strongest"

    def __init__(self, context: Context) -> None:
        self._context = context
        self._elimination = Elimination(context.terms, context.vocabulary, context.conjuncts)
        self._next: dict[int, int] = {}

    def __call__(self, slice_: Slice) -> Sequence:
        facts: list[Facts] = [()]
        false = self._context.terms.false
        for index in range(len(slice_.steps)):
            if false in facts[-1]:
                facts.append(facts[-1])
            else:
                facts.append(self._carried(slice_, index, facts[-1]))
        return self._needed(slice_, facts)

    def _carried(self, slice_: Slice, index: int, facts: Facts) -> Facts:
        """Facts behind a step: values before it are eliminated, those behind it get the names."""
        step, live = slice_.steps[index], slice_.live[index + 1]
        terms = self._context.terms
        renamed = {self._name_behind(name): name for name in step.updates}
        definitions = [
            terms.eq(self._name_behind(name), value) for name, value in step.updates.items()
        ]
        known = [*facts, *step.assumes, *definitions]
        unwanted = self._context.vocabulary.of(known) - live.difference(step.updates)
        left = self._elimination.without(unwanted.difference(renamed), known)
        if not renamed:
            return left
        return self._context.conjuncts.of(substitute(terms, fact, renamed) for fact in left)

    def _name_behind(self, variable: int) -> int:
        found = self._next.get(variable)
        if found is None:
            terms = self._context.terms
            found = terms.fresh(f"{terms.name[variable]} behind", terms.width[variable])
            self._next[variable] = found
        return found

    def _needed(self, slice_: Slice, facts: list[Facts]) -> Sequence:
        label: Facts = (self._context.terms.false,)
        labels = [label]
        for index in range(len(slice_.steps) - 1, -1, -1):
            label = self._reasons(slice_, index, facts[index], label)
            labels.append(label)
        if label:
            raise Failed("a fact about the state at the beginning")
        return slice_.padded(reversed(labels))

    def _reasons(self, slice_: Slice, index: int, facts: Facts, behind: Facts) -> Facts:
        """Those facts before a step from which the label behind it follows."""
        terms, step = self._context.terms, slice_.steps[index]
        if terms.false in facts:
            return (terms.false,)
        available = set(facts)
        needed: set[int] = set()
        for term in behind:
            goal = slice_.transfers[index](term)
            if goal == terms.true or goal in step.assumes:
                continue
            if goal in available:
                needed.add(goal)
                continue
            known = [*needed, *step.assumes, *(fact for fact in facts if fact not in needed)]
            core = self._context.queries.core([terms.not_(goal), *known])
            if core is None:
                raise Failed("what was left out of the facts is needed")
            needed.update(fact for fact in core if fact in available)
        return tuple(fact for fact in facts if fact in needed)
