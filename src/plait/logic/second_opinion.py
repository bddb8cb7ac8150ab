"""z3's opinion on the answers of a solver, for tests.

z3 gets the same terms and clauses, but nothing of what was made of them: neither gates nor CNF.
A literal that stands for a term is tied to z3's version of that term. A claimed model is checked
by giving z3 its values, a claimed core by giving z3 nothing else; a difference is raised at once.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

from plait.errors import PlaitError
from plait.logic.gates import FALSE, TRUE
from plait.logic.operators import (
    ADD,
    AND,
    ASHR,
    CONCAT,
    CONSTANT,
    EQ,
    EXTRACT,
    ITE,
    LSHR,
    MUL,
    NEG,
    NOT,
    OR,
    SDIV,
    SHL,
    SIGN_EXTEND,
    SLT,
    SREM,
    SUB,
    UDIV,
    ULT,
    UREM,
    VARIABLE,
    XOR,
    ZERO_EXTEND,
)
from plait.logic.table import Table

TIMEOUT_SECONDS = 30


class Disagreement(PlaitError):
    """z3 does not confirm an answer."""


class SecondOpinion:
    """Follows what one solver is told; `confirmed` and `undecided` count its checks."""

    def __init__(self, table: Table, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        self._z3: Any = importlib.import_module("z3")
        self._translator = Z3Translator(table, self._z3)
        self._solver: Any = self._z3.SolverFor("QF_BV")
        self._solver.set("timeout", int(timeout_seconds * 1000))
        self._literals: dict[int, Any] = {
            TRUE: self._z3.BoolVal(True),
            FALSE: self._z3.BoolVal(False),
        }
        self._defined: set[tuple[int, int]] = set()
        self.confirmed = 0
        self.undecided = 0

    def add_clause(self, literals: Iterable[int]) -> None:
        self._solver.add(self._z3.Or([self._literal(literal) for literal in literals]))

    def assert_term(self, term: int) -> None:
        self._solver.add(self._translator.truth(term))

    def define(self, literal: int, term: int) -> None:
        """The solver uses this literal for the truth value of this term."""
        if (literal, term) not in self._defined:
            self._defined.add((literal, term))
            self._solver.add(self._literal(literal) == self._translator.truth(term))

    def listen_to(self, propagator: Any) -> Any:
        """The propagator, with the clauses it gives the solver also given to z3."""
        return _Overheard(propagator, self)

    def expect_model(
        self,
        assumptions: list[int],
        literal_value: Callable[[int], bool],
        model_value: Callable[[int], int],
    ) -> None:
        facts = [self._literal(literal) for literal in assumptions]
        for literal, expression in self._literals.items():
            if literal > 0:
                facts.append(expression == literal_value(literal))
        for variable, expression in self._translator.variables.items():
            facts.append(expression == model_value(variable))
        self._expect(self._z3.sat, facts, "the model found does not satisfy the formula")

    def expect_unsatisfiable(self, core: list[int]) -> None:
        facts = [self._literal(literal) for literal in core]
        self._expect(self._z3.unsat, facts, "the formula said to be unsatisfiable has a model")

    def _expect(self, answer: Any, facts: list[Any], complaint: str) -> None:
        self._solver.push()
        try:
            self._solver.add(*facts)
            found = self._solver.check()
        finally:
            self._solver.pop()
        if found == answer:
            self.confirmed += 1
        elif found == self._z3.unknown:
            self.undecided += 1
        else:
            raise Disagreement(f"z3 says that {complaint}")

    def _literal(self, literal: int) -> Any:
        found = self._literals.get(literal)
        if found is None:
            variable = abs(literal)
            positive = self._z3.Bool(f"literal {variable}")
            self._literals[variable] = positive
            self._literals[-variable] = self._z3.Not(positive)
            found = self._literals[literal]
        return found


class _Overheard:
    """A propagator as the solver sees it; its clauses and reasons are noted."""

    def __init__(self, propagator: Any, opinion: SecondOpinion) -> None:
        self._propagator = propagator
        self._opinion = opinion

    def __getattr__(self, name: str) -> Any:
        return getattr(self._propagator, name)

    def provide_reason(self, lit: int) -> list[int]:
        clause: list[int] = self._propagator.provide_reason(lit)
        self._opinion.add_clause(clause)
        return clause

    def add_clause(self) -> list[int]:
        clause: list[int] = self._propagator.add_clause()
        if clause:
            self._opinion.add_clause(clause)
        return clause


class Z3Translator:
    """Terms as bit-vector expressions of z3; `variables` are those met so far."""

    def __init__(self, table: Table, z3: Any) -> None:
        self._table = table
        self._z3 = z3
        self._functions = _functions(z3)
        self._expressions: dict[int, Any] = {}
        self.variables: dict[int, Any] = {}

    def truth(self, term: int) -> Any:
        """A truth value as a formula of z3."""
        return self.expression(term) == 1

    def expression(self, term: int) -> Any:
        pending = [term]
        while pending:
            item = pending[-1]
            missing = [
                operand
                for operand in self._table.operands[item]
                if operand not in self._expressions
            ]
            if missing:
                pending += missing
                continue
            pending.pop()
            if item not in self._expressions:
                self._expressions[item] = self._translate(item)
        return self._expressions[term]

    def _translate(self, term: int) -> Any:
        z3, table = self._z3, self._table
        operator, width, parameter = table.operator[term], table.width[term], table.parameter[term]
        operands = [self._expressions[operand] for operand in table.operands[term]]
        if operator == CONSTANT:
            return z3.BitVecVal(parameter, width)
        if operator == VARIABLE:
            variable = self.variables[term] = z3.BitVec(table.name[term], width)
            return variable
        if operator == EXTRACT:
            return z3.Extract(parameter + width - 1, parameter, operands[0])
        if operator in (ZERO_EXTEND, SIGN_EXTEND):
            extend = z3.ZeroExt if operator == ZERO_EXTEND else z3.SignExt
            return extend(width - operands[0].size(), operands[0])
        if operator in (SHL, LSHR, ASHR) and operands[1].size() < width:
            operands[1] = z3.ZeroExt(width - operands[1].size(), operands[1])
        if operator in (EQ, ULT, SLT):
            formula = self._functions[operator](*operands)
            return z3.If(formula, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))
        return self._functions[operator](*operands)


def _functions(z3: Any) -> dict[int, Callable[..., Any]]:
    """z3's function for each operator. SMT-LIB agrees with us on remainders by 0, but not on
    quotients."""
    return {
        NOT: lambda a: ~a,
        AND: lambda *items: reduce(lambda a, b: a & b, items),
        OR: lambda *items: reduce(lambda a, b: a | b, items),
        XOR: lambda a, b: a ^ b,
        NEG: lambda a: -a,
        ADD: lambda a, b: a + b,
        SUB: lambda a, b: a - b,
        MUL: lambda a, b: a * b,
        UDIV: lambda a, b: z3.If(b == 0, z3.BitVecVal(0, a.size()), z3.UDiv(a, b)),
        UREM: z3.URem,
        SDIV: lambda a, b: z3.If(b == 0, z3.BitVecVal(0, a.size()), a / b),
        SREM: z3.SRem,
        SHL: lambda a, b: a << b,
        LSHR: z3.LShR,
        ASHR: lambda a, b: a >> b,
        EQ: lambda a, b: a == b,
        ULT: z3.ULT,
        SLT: lambda a, b: a < b,
        ITE: lambda condition, a, b: z3.If(condition == 1, a, b),
        CONCAT: z3.Concat,
    }
