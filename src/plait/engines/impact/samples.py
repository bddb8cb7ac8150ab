"""One concrete state for nodes where that is cheap: it refutes covers without a solver.

The state that a path leads to, if all its inputs are 0 or all those of a step are 1, satisfies the
label of its node. What it violates is not implied by that label, nor can it be made to be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from plait.engines.impact.tree import Node
from plait.logic.terms import Terms

_GUESSES = (0, 1)

Values = dict[int, int]


class Samples:
    def __init__(self, terms: Terms, initial_value: Callable[[int], int | None]) -> None:
        self._terms = terms
        self._initial_value = initial_value
        self._known: dict[Node, Values | None] = {}

    def refutes(self, node: Node, label: Iterable[int]) -> bool:
        """Whether a reachable state of the node does not have a label."""
        sample = self._sample(node)
        if sample is None:
            return False
        return not self._satisfies(sample, label, {})

    def _satisfies(self, sample: Values, label: Iterable[int], known: dict[int, int]) -> bool:
        terms = self._terms
        return all(
            terms.evaluate(item, lambda variable: self._value(sample, variable), known)
            for item in label
        )

    def _value(self, sample: Values, variable: int) -> int:
        found = sample.get(variable)
        if found is None:
            found = sample[variable] = self._initial_value(variable) or 0
        return found

    def _sample(self, node: Node) -> Values | None:
        missing: list[Node] = []
        item: Node | None = node
        while item is not None and item not in self._known:
            missing.append(item)
            item = item.parent
        for item in reversed(missing):
            self._known[item] = self._after(item)
        return self._known[node]

    def _after(self, node: Node) -> Values | None:
        if node.parent is None:
            return {}
        before = self._known[node.parent]
        if before is None:
            return None
        for guess in _GUESSES:
            found = self._taken(before, node, guess)
            if found is not None or not node.step.inputs:
                return found
        return None

    def _taken(self, before: Values, node: Node, guess: int) -> Values | None:
        terms, step = self._terms, node.step
        values = dict(before)
        for variable in step.inputs:
            values[variable] = guess
        known: dict[int, int] = {}
        if not self._satisfies(values, step.assumes, known):
            return None
        after = dict(values)
        for variable, term in step.updates.items():
            after[variable] = terms.evaluate(term, lambda part: self._value(values, part), known)
        return after
