"""Questions about terms, answered by z3 or, most of the time, by a look at an assignment.

A set of facts carries an assignment that satisfies all of them. A further condition that is true
under it is consistent with the facts; one that is false is not implied by them. z3 is asked only
about the rest, and only with the facts that share variables with the question.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

from plait.errors import PlaitError
from plait.logic.operators import AND
from plait.logic.second_opinion import Z3Translator
from plait.logic.substitute import Vocabulary
from plait.logic.terms import Terms

_QUICK_SECONDS = 2.0


class Undecided(PlaitError):
    """z3 found no answer, or no time was left to ask: the certificate is not checked."""


class Assignment:
    """Values of variables (0 where nothing is said), and of terms computed from them."""

    __slots__ = ("_known", "_terms", "values")

    def __init__(self, terms: Terms, values: dict[int, int]) -> None:
        self._terms = terms
        self.values = values
        self._known: dict[int, int] = {}

    def value(self, term: int) -> int:
        return self._terms.evaluate(
            term, lambda variable: self.values.get(variable, 0), self._known
        )


class Facts:
    """Truth values that hold together; immutable."""

    __slots__ = ("_decider", "_members", "items", "model")

    def __init__(
        self, decider: Decider, items: tuple[int, ...], members: frozenset[int], model: Assignment
    ) -> None:
        self._decider = decider
        self.items = items
        self._members = members
        self.model = model

    def with_(self, term: int) -> Facts | None:
        """These facts and another one; None if they contradict each other."""
        terms = self._decider.terms
        if term == terms.true or term in self._members:
            return self
        if term == terms.false or terms.not_(term) in self._members:
            return None
        model = self.model
        if not model.value(term):
            question = self._relevant(term)
            found = self._decider.solve(question)
            if found is None:
                return None
            # The facts left out share no variable with those that were asked about.
            model = Assignment(terms, {**model.values, **found})
        return Facts(self._decider, (*self.items, term), self._members | {term}, model)

    def with_all(self, items: Iterable[int]) -> Facts | None:
        facts: Facts | None = self
        for item in items:
            if facts is None:
                return None
            facts = facts.with_(item)
        return facts

    def imply(self, term: int) -> bool:
        terms = self._decider.terms
        if term == terms.true or term in self._members:
            return True
        if not self.model.value(term):
            return False
        return self._decider.solve(self._relevant(terms.not_(term))) is None

    def values(self, term: int, most: int) -> Iterator[tuple[int, Facts]]:
        """The values that a term can have, each with the facts that make it so. At most `most`
        and one more are given, so that too many can be told from just as many."""
        terms = self._decider.terms
        constant = terms.value(term)
        if constant is not None:
            yield constant, self
            return
        question = self._relevant(term)
        for value, found in self._decider.enumerate(question - {term}, term, most + 1):
            equal = terms.eq(term, terms.constant(value, terms.width[term]))
            model = Assignment(terms, {**self.model.values, **found})
            yield value, Facts(self._decider, (*self.items, equal), self._members | {equal}, model)

    def _relevant(self, term: int) -> frozenset[int]:
        """The term and the facts that are connected to it by common variables."""
        vocabulary = self._decider.vocabulary
        chosen = {term}
        reached = set(vocabulary(term))
        pending = list(self.items)
        while True:
            rest = []
            for item in pending:
                if reached.isdisjoint(vocabulary(item)):
                    rest.append(item)
                else:
                    chosen.add(item)
                    reached |= vocabulary(item)
            if len(rest) == len(pending):
                return frozenset(chosen)
            pending = rest


class Decider:
    """Asks z3, remembers the answers, and keeps the time limit (`deadline` as time.monotonic)."""

    def __init__(self, terms: Terms, deadline: float | None = None) -> None:
        try:
            self._z3: Any = importlib.import_module("z3")
        except ImportError:
            message = "z3 is needed to check certificates: pip install z3-solver"
            raise PlaitError(message) from None
        self.terms = terms
        self.vocabulary = Vocabulary(terms)
        self.deadline = deadline
        self.queries = 0
        self._translator = Z3Translator(terms, self._z3)
        self._answers: dict[frozenset[int], dict[int, int] | None] = {}
        self._enumerations: dict[
            tuple[frozenset[int], int, int], list[tuple[int, dict[int, int]]]
        ] = {}

    def check_time(self) -> None:
        if self.deadline is not None and time.monotonic() >= self.deadline:
            raise Undecided("the time limit was reached")

    def nothing(self) -> Facts:
        return Facts(self, (), frozenset(), Assignment(self.terms, {}))

    def facts(self, items: Iterable[int]) -> Facts | None:
        """The facts of a conjunction; None if it has no model."""
        terms = self.terms
        found: Facts | None = self.nothing()
        pending = list(reversed(list(items)))
        while pending and found is not None:
            item = pending.pop()
            if terms.operator[item] == AND and terms.width[item] == 1:
                pending += reversed(terms.operands[item])
            else:
                found = found.with_(item)
        return found

    def solve(self, question: frozenset[int]) -> dict[int, int] | None:
        """Values for the variables of a conjunction, or None if there are none."""
        if question in self._answers:
            return self._answers[question]
        answer = self._answers[question] = self._ask(question)
        return answer

    def enumerate(
        self, question: frozenset[int], term: int, most: int
    ) -> list[tuple[int, dict[int, int]]]:
        """Up to `most` values of a term in models of a conjunction, with these models. Each is a
        question of its own: z3 simplifies a whole problem far better than a growing one."""
        key = question, term, most
        known = self._enumerations.get(key)
        if known is None:
            known = self._sampled(question, term, most)
            wanted = self._translator.expression(term)
            formulas = self._formulas(question)
            while len(known) < most:
                model = self._model(formulas)
                if model is None:
                    break
                value = model.eval(wanted, model_completion=True)
                known.append((value.as_long(), self._values(model, {*question, term})))
                formulas.append(wanted != value)
            self._enumerations[key] = known
        return known

    def _sampled(
        self, question: frozenset[int], term: int, most: int
    ) -> list[tuple[int, dict[int, int]]]:
        """`most` values of a term that is hardly restricted, found by trying; else none."""
        start = self.solve(question)
        variables = sorted(self.vocabulary(term))
        generator = Random(0)
        found: dict[int, dict[int, int]] = {}
        for count in range(8 * most):
            if start is None or len(found) == most:
                break
            if count == 64 and len(found) < 32:
                break
            values = start | {
                variable: generator.getrandbits(self.terms.width[variable])
                for variable in variables
            }
            model = Assignment(self.terms, values)
            if all(model.value(item) for item in question):
                found.setdefault(model.value(term), values)
        return list(found.items()) if len(found) == most else []

    def _ask(self, question: frozenset[int]) -> dict[int, int] | None:
        model = self._model(self._formulas(question))
        return None if model is None else self._values(model, question)

    def _formulas(self, question: frozenset[int]) -> list[Any]:
        return [self._translator.truth(term) for term in sorted(question)]

    def _model(self, formulas: list[Any]) -> Any:
        """A model of some formulas, None if there is none. z3's simplest solver starts fastest;
        what it cannot do quickly is left to the one for bit vectors."""
        z3 = self._z3
        self.queries += 1
        for make, seconds in ((z3.SimpleSolver, _QUICK_SECONDS), (self._thorough, None)):
            self.check_time()
            solver = make()
            limits = [] if seconds is None else [seconds]
            if self.deadline is not None:
                limits.append(self.deadline - time.monotonic())
            if limits:
                solver.set("timeout", max(1, int(min(limits) * 1000)))
            solver.add(*formulas)
            answer = solver.check()
            if answer == z3.unsat:
                return None
            if answer == z3.sat:
                return solver.model()
        self.check_time()
        raise Undecided(f"z3 has no answer: {solver.reason_unknown()}")

    def _thorough(self) -> Any:
        return self._z3.SolverFor("QF_BV")

    def _values(self, model: Any, items: Iterable[int]) -> dict[int, int]:
        values: dict[int, int] = {}
        for variable in self.vocabulary.of(items):
            value = model.eval(self._translator.variables[variable], model_completion=True)
            values[variable] = value.as_long()
        return values
