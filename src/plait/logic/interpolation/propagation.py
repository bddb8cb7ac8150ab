"""What follows from equations with constants: a cheap attempt before a solver is asked.

Most paths of a program are infeasible because a flag or a counter is set to one constant and
compared with another. Then putting the constants in the place of the variables settles the matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plait.logic.interpolation.model import Model
from plait.logic.operators import CONSTANT, EQ, NOT, VARIABLE
from plait.logic.substitute import Substitution, Vocabulary
from plait.logic.terms import Terms


def propagated(
    terms: Terms, vocabulary: Vocabulary, conjuncts: Sequence[int], hints: Iterable[Model] = ()
) -> list[int] | Model | None:
    """Conjuncts that contradict each other, or a model of all, or None if neither was found.

    Conjuncts early in the sequence are preferred for the contradiction. What is left open is tried
    with 0 for all variables, and with the values of the hints.
    """
    values: dict[int, int] = {}
    reasons: dict[int, set[int]] = {}  # the conjuncts that force a variable to its value
    rest: list[tuple[int, int]] = [(term, term) for term in conjuncts]
    progress = True
    while progress:
        progress = False
        substitution = Substitution(terms, values.get)
        left: list[tuple[int, int]] = []
        for origin, term in rest:
            if not values.keys().isdisjoint(vocabulary(term)):
                term = substitution(term)
            if term == terms.true:
                continue
            unit = _unit(terms, term)
            if unit is None and term != terms.false:
                left.append((origin, term))
                continue
            reason = {origin}.union(*(reasons.get(name, ()) for name in vocabulary(origin)))
            if unit is None:
                return [one for one in conjuncts if one in reason]
            name, value = unit
            values[name], reasons[name] = value, reason
            substitution = Substitution(terms, values.get)
            progress = True
        rest = left
    known = {name: terms.parameter[value] for name, value in values.items()}
    open_ = [term for _, term in rest]
    for guess in (Model(terms, known), *(Model(terms, {**hint.values, **known}) for hint in hints)):
        if guess.satisfies(open_):
            return guess
    return None


def _unit(terms: Terms, term: int) -> tuple[int, int] | None:
    """The variable and the constant that a conjunct says are equal."""
    operator, operands = terms.operator[term], terms.operands[term]
    if operator == VARIABLE:
        return term, terms.true
    if operator == NOT and terms.operator[operands[0]] == VARIABLE:
        return operands[0], terms.false
    if operator == EQ:
        left, right = operands
        if terms.operator[right] == CONSTANT and terms.operator[left] == VARIABLE:
            return left, right
    return None
