"""Interpolants from Spacer, z3's engine for Horn clauses.

The slice is a chain of clauses: what holds at a place and is assumed by the step holds behind it.
If `false` is not reachable, the solution of the clauses gives a label for each place. Spacer
generalises well but takes tens of milliseconds, and z3 is loaded when it is first needed.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Mapping
from typing import Any

from plait.logic.interpolation.horn import Language, Numbers, Vectors
from plait.logic.interpolation.inequalities import compares_signs
from plait.logic.interpolation.integers import View
from plait.logic.interpolation.path import Sequence
from plait.logic.interpolation.problem import Context, Failed, Label, Slice
from plait.logic.interpolation.support import Support

_SECONDS = 1.0
# z3 writes out what terms share. Where that is more, as with floating point, it takes minutes
# to read the clauses, and heeds no time limit.
_MOST_TERMS = 100_000


class Spacer:
    """Tries integers first, then bit vectors."""

    name = "spacer"

    def __init__(self, context: Context) -> None:
        self._context = context
        self._support = Support(context)

    def __call__(self, slice_: Slice) -> Sequence:
        if self._is_large(slice_):
            raise Failed("the path has too many terms for Spacer")
        try:
            z3 = importlib.import_module("z3")
        except ImportError as error:
            raise Failed("z3 is not installed") from error
        try:
            return self._labels(z3, self._numbers(z3, slice_), slice_)
        except Failed:
            return self._labels(z3, Vectors(self._context.terms, z3), slice_)

    def _is_large(self, slice_: Slice) -> bool:
        terms = self._context.terms
        roots = [term for step in slice_.steps for term in (*step.assumes, *step.updates.values())]
        size: dict[int, int] = {}
        for term in terms.parts(roots):
            size[term] = 1 + sum(size[operand] for operand in terms.operands[term])
        return sum(size[root] for root in roots) > _MOST_TERMS

    def _numbers(self, z3: Any, slice_: Slice) -> Language:
        terms = self._context.terms
        assumed = terms.parts(term for step in slice_.steps for term in step.assumes)
        has_signs = any(compares_signs(terms, term) for term in assumed)
        return Numbers(View(terms, is_signed=has_signs), z3)

    def _labels(self, z3: Any, language: Language, slice_: Slice) -> Sequence:
        chain = _Chain(self._context, z3, language, slice_)
        try:
            labels = slice_.padded(self._solved(z3, chain))
        except z3.Z3Exception as error:
            raise Failed(f"an error in z3: {error}") from error
        if not chain.conditions:
            return labels
        conditions = {place + slice_.start: some for place, some in chain.conditions.items()}
        return self._support.supported(slice_, labels, conditions)

    def _solved(self, z3: Any, chain: _Chain) -> list[Label]:
        solver = self._solver(z3)
        solver.add(*chain.clauses)
        if solver.check() != z3.sat:
            raise Failed("z3 has no answer")
        return chain.labels(solver.model())

    def _solver(self, z3: Any) -> Any:
        solver = z3.SolverFor("HORN")
        # These passes would remove the places in the middle of the chain.
        solver.set("fp.xform.inline_eager", False)
        solver.set("fp.xform.inline_linear", False)
        solver.set("fp.xform.slice", False)
        seconds, deadline = _SECONDS, self._context.queries.deadline
        if deadline is not None:
            seconds = min(seconds, max(deadline - time.monotonic(), 0.001))
        solver.set("timeout", int(seconds * 1000))
        return solver


class _Chain:
    """The clauses of a slice: a relation for each place, over the live variables that something
    is known about."""

    def __init__(self, context: Context, z3: Any, language: Language, slice_: Slice) -> None:
        self._context = context
        self._z3 = z3
        self._language = language
        self._slice = slice_
        mentioned = slice_.mentioned(context.vocabulary)
        self._places = [sorted(live & known) for live, known in zip(slice_.live, mentioned)]
        self._relations = [
            z3.Function(f"place {index}", *map(language.sort, place), z3.BoolSort())
            for index, place in enumerate(self._places)
        ]
        self.conditions: dict[int, set[int]] = {}
        self.clauses = [self._clause(index) for index in range(len(slice_.steps))]

    def _clause(self, index: int) -> Any:
        z3, language = self._z3, self._language
        step = self._slice.steps[index]
        read = self._context.vocabulary.of((*step.assumes, *step.updates.values()))
        bound = sorted(read.union(self._places[index]))
        language.conditions = set()
        body = [fact for name in bound for fact in language.range(name)]
        body += [language.truth(term) for term in step.assumes]
        if index:
            body.append(self._at(index, {}))
        is_last = index == len(self._slice.steps) - 1
        head = z3.BoolVal(False) if is_last else self._at(index + 1, step.updates)
        if language.conditions:
            self.conditions[index] = language.conditions
        clause = z3.Implies(z3.And(body), head)
        return z3.ForAll([language.value(name) for name in bound], clause) if bound else clause

    def _at(self, index: int, updates: Mapping[int, int]) -> Any:
        arguments = [self._language.value(updates.get(name, name)) for name in self._places[index]]
        return self._relations[index](*arguments)

    def labels(self, model: Any) -> list[Label]:
        result: list[Label] = [()]
        for place, relation in zip(self._places[1:-1], self._relations[1:-1]):
            formula = model[relation]
            if formula is None:
                result.append(())
                continue
            if place:
                # To evaluate the relation in the model would give wrong labels, silently.
                arguments = [self._language.value(name) for name in place]
                formula = self._z3.substitute_vars(formula.else_value(), *arguments)
            result.append(self._context.conjuncts(self._language.term(formula, place)))
        return [*result, (self._context.terms.false,)]
