"""Values for variables, and of the terms over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from plait.logic.interpolation.path import Step
from plait.logic.terms import Terms


class Model:
    """An assignment; variables that it does not mention are 0."""

    __slots__ = ("_known", "_terms", "values")

    def __init__(self, terms: Terms, values: Mapping[int, int]) -> None:
        self.values = values
        self._terms = terms
        self._known: dict[int, int] = {}

    def __call__(self, term: int) -> int:
        return self._terms.evaluate(term, self._value, self._known)

    def satisfies(self, conjuncts: Iterable[int]) -> bool:
        return all(self(term) for term in conjuncts)

    def after(self, step: Step) -> Model:
        """The state behind a step, with the values that the step's inputs have here."""
        return Model(
            self._terms,
            {**self.values, **{name: self(term) for name, term in step.updates.items()}},
        )

    def _value(self, variable: int) -> int:
        return self.values.get(variable, 0)
