"""Does a label imply another one? Cheap answers first: syntactic, known, then from the solver."""

from __future__ import annotations

from collections.abc import Iterable

from plait.engines.impact.statistics import Statistics
from plait.engines.interface import OutOfTime
from plait.logic.solver import Solver
from plait.logic.substitute import Vocabulary
from plait.logic.terms import Terms

Label = frozenset[int]

_MOST_VARIABLES = 400_000  # of a solver before it is made anew
_MOST_CONFLICTS = 20_000


class Implications:
    def __init__(self, terms: Terms, statistics: Statistics, deadline: float | None) -> None:
        self._terms = terms
        self._statistics = statistics
        self._deadline = deadline
        self._solver = Solver(terms)
        self._vocabulary = Vocabulary(terms)
        self._table: dict[tuple[Label, int], bool] = {}

    def holds(self, label: Label, claim: Label) -> bool:
        """Whether every state with one label has the other."""
        if self._terms.false in label:
            return True
        missing = claim - label
        if not missing:
            self._statistics.syntactic_checks += 1
            return True
        if not label:
            # A conjunct that is always true would have been simplified away.
            self._statistics.syntactic_checks += 1
            return False
        return all(self.implies(label, item) for item in missing)

    def implies(self, label: Label, claim: int) -> bool:
        terms = self._terms
        if claim == terms.true or claim in label or terms.false in label:
            self._statistics.syntactic_checks += 1
            return True
        if claim == terms.false or terms.not_(claim) in label:
            # Labels are satisfiable unless they say false, or so we guess: an unknown is fine.
            self._statistics.syntactic_checks += 1
            return self._is_empty(label) if claim == terms.false else False
        relevant = self._connected(label, claim)
        key = relevant, claim
        found = self._table.get(key)
        if found is not None:
            self._statistics.known_checks += 1
            return found
        found = self._table[key] = self._ask(relevant, terms.not_(claim))
        return found

    def excludes(self, label: Label, facts: Iterable[int]) -> bool:
        """Whether no state with the label has all these facts."""
        terms = self._terms
        conjunction = terms.all_of(facts)
        if conjunction == terms.false or terms.false in label:
            return True
        if not label:
            return False
        return self.implies(label, terms.not_(conjunction))

    def _is_empty(self, label: Label) -> bool:
        key = label, self._terms.false
        found = self._table.get(key)
        if found is None:
            found = self._table[key] = self._ask(label, self._terms.true)
        return found

    def _connected(self, label: Label, claim: int) -> Label:
        """The conjuncts that share variables with the claim, directly or through others. The rest
        would matter only if it were contradictory by itself."""
        reached = set(self._vocabulary(claim))
        rest = set(label)
        found: set[int] = set()
        while True:
            new = {item for item in rest if not reached.isdisjoint(self._vocabulary(item))}
            if not new:
                return frozenset(found)
            found |= new
            rest -= new
            for item in new:
                reached |= self._vocabulary(item)

    def _ask(self, label: Label, fact: int) -> bool:
        self._statistics.solver_checks += 1
        if self._solver.gates.variables > _MOST_VARIABLES:
            self._solver.close()
            self._solver = Solver(self._terms)
        solver = self._solver
        assumed = [solver.literal_of(item) for item in (*label, fact)]
        answer = solver.solve(assumed, conflicts=_MOST_CONFLICTS, deadline=self._deadline)
        if answer is None:
            OutOfTime.check(self._deadline)
        return answer is False
