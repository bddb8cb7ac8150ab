"""Claims by weakest preconditions alone (section III-A).

At each place of a word that is the negation of what must hold for the rest of it to be possible,
whether it matters for the contradiction or not.
"""

from __future__ import annotations

from collections.abc import Sequence

from plait.logic.interpolation.conjuncts import Conjuncts
from plait.logic.interpolation.path import Step
from plait.logic.substitute import substitute
from plait.logic.terms import Terms


def preconditions(terms: Terms, steps: Sequence[Step]) -> list[tuple[int, ...]]:
    """For each place, from the one before the first step to the one behind the last. Inputs are
    variables like others, which nobody changes: a claim holds for all their values."""
    conjuncts = Conjuncts(terms)
    conditions: tuple[int, ...] = ()
    found: list[tuple[int, ...]] = [(terms.false,)]
    for step in reversed(steps):
        before = [substitute(terms, item, step.updates) for item in conditions]
        conditions = conjuncts.of([*before, *step.assumes])
        found.append(conjuncts(terms.any_of(map(terms.not_, conditions))))
    found.reverse()
    return found
