"""Satisfiability of conjunctions, for many small questions about the same variables.

One solver serves them all: equal parts of terms get equal gates, and a question is a set of
assumptions. As a model assigns all variables that the solver has ever seen, questions get slower
while it grows; beyond some size a new one is cheaper than the old one.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Sequence

from plait.errors import PlaitError
from plait.logic.interpolation.model import Model
from plait.logic.interpolation.propagation import propagated
from plait.logic.solver import Solver
from plait.logic.substitute import Vocabulary
from plait.logic.terms import Terms

# MiniSat starts faster than CaDiCaL, which matters more than strength: half the time on questions
# that take a millisecond.
_BACKEND = "minisat22"
_VARIABLES = 30_000

# So many answers are remembered: paths that share their ends lead to the same questions again.
_ANSWERS = 20_000

# So many of the latest models are tried on new questions.
_HINTS = 3


class Undecided(PlaitError):
    """A question was not answered before the deadline."""


class Queries:
    """`asked` and `solved` count the questions, and those that needed a solver."""

    def __init__(self, terms: Terms, vocabulary: Vocabulary) -> None:
        self.terms = terms
        self.vocabulary = vocabulary
        self.deadline: float | None = None
        self.asked = 0
        self.solved = 0
        self._solver: Solver | None = None
        self._hints: deque[Model] = deque(maxlen=_HINTS)
        self._known: dict[tuple[int, ...], Model | list[int]] = {}

    def answer(self, conjuncts: Sequence[int]) -> Model | list[int]:
        """A model of the conjunction, or conjuncts that contradict each other, preferably early
        ones of the sequence."""
        self.asked += 1
        key = tuple(conjuncts)
        found = self._known.get(key)
        if found is None:
            found = self._answer(key)
            if len(self._known) > _ANSWERS:
                self._known.clear()
            self._known[key] = found
        return found

    def _answer(self, conjuncts: tuple[int, ...]) -> Model | list[int]:
        found = propagated(self.terms, self.vocabulary, conjuncts, self._hints)
        if found is None:
            found = self._solve(conjuncts)
            if isinstance(found, Model):
                self._hints.appendleft(found)
        return found

    def core(self, conjuncts: Sequence[int]) -> list[int] | None:
        """Conjuncts that contradict each other; None if there is a model."""
        found = self.answer(conjuncts)
        return None if isinstance(found, Model) else found

    def quick_core(self, conjuncts: Sequence[int]) -> list[int] | None:
        """Like `core`, but None also if only a solver could tell."""
        found = self._known.get(tuple(conjuncts))
        if found is None:
            quick = propagated(self.terms, self.vocabulary, conjuncts)
            return quick if isinstance(quick, list) else None
        return found if isinstance(found, list) else None

    def follows(self, goal: int, conjuncts: Iterable[int]) -> bool:
        return self.core([self.terms.not_(goal), *conjuncts]) is not None

    def close(self) -> None:
        if self._solver is not None:
            self._solver.close()
            self._solver = None

    def _solve(self, conjuncts: Sequence[int]) -> Model | list[int]:
        self.solved += 1
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise Undecided("out of time")
        if self._solver is not None and self._solver.gates.variables > _VARIABLES:
            self.close()
        if self._solver is None:
            self._solver = Solver(self.terms, _BACKEND)
        solver = self._solver
        by_literal: dict[int, int] = {}
        for term in conjuncts:
            by_literal.setdefault(solver.literal_of(term), term)
        # A solver finds the contradiction among the assumptions it makes first.
        answer = solver.solve(list(by_literal), deadline=self.deadline)
        if answer is None:
            raise Undecided("out of time")
        if not answer:
            core = {by_literal[literal] for literal in solver.core()}
            return [term for term in conjuncts if term in core]
        variables = self.vocabulary.of(conjuncts)
        return Model(self.terms, {name: solver.model_value(name) for name in variables})
