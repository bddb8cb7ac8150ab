"""One path of several that are one step.

Where paths have met, values are choices (`ite`) and assumptions are disjunctions. A model says
which of them are taken; with these assumed, the step says no more than that one path, and is as
easy to explain as one.
"""

from __future__ import annotations

from plait.logic.interpolation.model import Model
from plait.logic.interpolation.path import Step
from plait.logic.operators import AND, ITE, NOT, OR, XOR
from plait.logic.substitute import rebuild
from plait.logic.terms import Terms


def narrowed(terms: Terms, step: Step, model: Model) -> Step:
    """The part of a step that makes the same choices as a model of the state before it and of its
    inputs, which can take it."""
    choices = _Choices(terms, model)
    updates = {variable: choices(value) for variable, value in step.updates.items()}
    for item in step.assumes:
        choices.assume(item)
    return Step(tuple(dict.fromkeys(choices.assumed)), updates, step.inputs)


class _Choices:
    def __init__(self, terms: Terms, model: Model) -> None:
        self.assumed: list[int] = []
        self._terms = terms
        self._model = model
        self._done: dict[int, int] = {}

    def __call__(self, term: int) -> int:
        """The term without choices."""
        terms, done = self._terms, self._done
        pending = [term]
        while pending:
            item = pending[-1]
            if item in done:
                pending.pop()
                continue
            operands = terms.operands[item]
            if terms.operator[item] == ITE:
                condition, then, otherwise = operands
                operands = (then if self._model(condition) else otherwise,)
            missing = [operand for operand in operands if operand not in done]
            if missing:
                pending += missing
                continue
            pending.pop()
            new = [done[operand] for operand in operands]
            if terms.operator[item] == ITE:
                done[item] = new[0]
                condition = terms.operands[item][0]
                self.assume(condition if self._model(condition) else terms.not_(condition))
            else:
                done[item] = rebuild(terms, item, new) if new != list(operands) else item
        return done[term]

    def assume(self, fact: int) -> None:
        """Assume what makes a fact true in the model."""
        terms = self._terms
        pending = [fact]
        while pending:
            item = pending.pop()
            is_negated = terms.operator[item] == NOT
            inner = terms.operands[item][0] if is_negated else item
            operator, operands = terms.operator[inner], terms.operands[inner]
            parts = [terms.not_(part) if is_negated else part for part in operands]
            if operator == ITE:
                condition, *branches = operands
                chosen = branches[0] if self._model(condition) else branches[1]
                pending.append(terms.not_(chosen) if is_negated else chosen)
                pending.append(condition if self._model(condition) else terms.not_(condition))
            elif terms.width[inner] == 1 and operator == (OR if is_negated else AND):
                pending += parts
            elif terms.width[inner] == 1 and operator == (AND if is_negated else OR):
                pending.append(next(part for part in parts if self._model(part)))
            elif terms.width[inner] == 1 and operator == XOR:
                pending += [part if self._model(part) else terms.not_(part) for part in operands]
            else:
                self.assumed.append(self._simple(item))

    def _simple(self, fact: int) -> int:
        found = self._done.get(fact)
        return self(fact) if found is None else found
