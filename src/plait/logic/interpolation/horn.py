"""Two ways to state a path to z3 and to read its answers: as bit vectors, and as integers.

Integers give much better labels in less time, but are only right where nothing wraps; see
plait.logic.interpolation.support.
"""

from __future__ import annotations

from typing import Any, Protocol

from plait.logic.interpolation.from_z3 import FromZ3, NumbersFromZ3
from plait.logic.interpolation.inequalities import alternatives
from plait.logic.interpolation.integers import Exact, View
from plait.logic.interpolation.problem import Failed
from plait.logic.operators import VARIABLE
from plait.logic.second_opinion import Z3Translator
from plait.logic.terms import Terms


class Language(Protocol):
    """How variables, values and truth values of a step are written for z3. `conditions` are those
    under which what was written since they were last emptied is right."""

    conditions: set[int]

    def sort(self, variable: int) -> Any: ...
    def value(self, term: int) -> Any: ...
    def truth(self, term: int) -> Any: ...
    def range(self, variable: int) -> list[Any]: ...
    def term(self, formula: Any, variables: list[int]) -> int: ...


class Vectors:
    def __init__(self, terms: Terms, z3: Any) -> None:
        self.conditions: set[int] = set()
        self._terms = terms
        self._z3 = z3
        self._translator = Z3Translator(terms, z3)

    def sort(self, variable: int) -> Any:
        return self._z3.BitVecSort(self._terms.width[variable])

    def value(self, term: int) -> Any:
        return self._translator.expression(term)

    def truth(self, term: int) -> Any:
        return self._translator.truth(term)

    def range(self, variable: int) -> list[Any]:
        return []

    def term(self, formula: Any, variables: list[int]) -> int:
        names = {self._terms.name[name]: name for name in variables}
        return FromZ3(self._terms, self._z3, names)(formula)


class Numbers:
    """Raises `Failed` at what is not linear."""

    def __init__(self, view: View, z3: Any) -> None:
        self.conditions: set[int] = set()
        self._view = view
        self._terms = view.terms
        self._z3 = z3

    def sort(self, variable: int) -> Any:
        return self._z3.IntSort()

    def value(self, term: int) -> Any:
        return self._sum(self._view(term))

    def truth(self, term: int) -> Any:
        z3 = self._z3
        return z3.Or(
            [
                z3.And([self._sum(exact) <= 0 for exact in conjunction])
                for conjunction in alternatives(self._view, term)
            ]
        )

    def range(self, variable: int) -> list[Any]:
        low, high = self._view.range(self._terms.width[variable])
        number = self._variable(variable)
        return [low <= number, number <= high]

    def term(self, formula: Any, variables: list[int]) -> int:
        names = {self._terms.name[name]: name for name in variables}
        return NumbersFromZ3(self._view, self._z3, names)(formula)

    def _sum(self, exact: Exact) -> Any:
        self.conditions |= exact.conditions
        linear = exact.linear
        summands = [
            self._variable(atom) if factor == 1 else factor * self._variable(atom)
            for atom, factor in linear.factors.items()
        ]
        if linear.constant or not summands:
            summands.append(self._z3.IntVal(linear.constant))
        return summands[0] if len(summands) == 1 else self._z3.Sum(summands)

    def _variable(self, atom: int) -> Any:
        if self._terms.operator[atom] != VARIABLE:
            raise Failed("not linear")
        return self._z3.Int(self._terms.name[atom])
