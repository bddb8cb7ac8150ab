"""Formulas of z3 as terms: over bit vectors, and over integers that stand for vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

from plait.logic.interpolation.integers import Linear, View
from plait.logic.interpolation.problem import Failed
from plait.logic.terms import Terms


class FromZ3:
    """Translates z3's formulas over bit vectors; `variables` maps its constants' names to terms.
    Raises `Failed` at whatever it does not know."""

    def __init__(self, terms: Terms, z3: Any, variables: Mapping[str, int]) -> None:
        self._terms = terms
        self._z3 = z3
        self._variables = variables
        self._known: dict[int, int] = {}
        self._functions = _functions(terms, z3)

    def __call__(self, expression: Any) -> int:
        pending = [expression]
        while pending:
            item = pending[-1]
            if item.get_id() in self._known:
                pending.pop()
                continue
            missing = [part for part in item.children() if part.get_id() not in self._known]
            if missing:
                pending += missing
                continue
            pending.pop()
            self._known[item.get_id()] = self._translated(item)
        return self._known[expression.get_id()]

    def _translated(self, item: Any) -> int:
        terms, z3 = self._terms, self._z3
        kind = item.decl().kind() if z3.is_app(item) else None
        parts = [self._known[part.get_id()] for part in item.children()]
        if z3.is_bv_value(item):
            return terms.constant(item.as_long(), item.size())
        if kind == z3.Z3_OP_TRUE:
            return terms.true
        if kind == z3.Z3_OP_FALSE:
            return terms.false
        if kind == z3.Z3_OP_UNINTERPRETED and not parts:
            name = item.decl().name()
            if name in self._variables:
                return self._variables[name]
        if kind == z3.Z3_OP_EXTRACT:
            high, low = item.params()
            return terms.extract(parts[0], low, high - low + 1)
        if kind == z3.Z3_OP_ZERO_EXT:
            return terms.zero_extend(parts[0], item.size())
        if kind == z3.Z3_OP_SIGN_EXT:
            return terms.sign_extend(parts[0], item.size())
        function = self._functions.get(kind) if kind is not None else None
        if function is None:
            raise Failed(f"z3's answer is not understood: {item.decl()}")
        return function(*parts)


def _functions(terms: Terms, z3: Any) -> dict[int, Callable[..., int]]:
    def folded(function: Callable[[int, int], int]) -> Callable[..., int]:
        return lambda *parts: reduce(function, parts)

    def distinct(*parts: int) -> int:
        return terms.all_of(
            terms.ne(one, other) for index, one in enumerate(parts) for other in parts[index + 1 :]
        )

    return {
        z3.Z3_OP_AND: lambda *parts: terms.all_of(parts),
        z3.Z3_OP_OR: lambda *parts: terms.any_of(parts),
        z3.Z3_OP_NOT: terms.not_,
        z3.Z3_OP_IMPLIES: terms.implies,
        z3.Z3_OP_XOR: folded(terms.xor),
        z3.Z3_OP_EQ: terms.eq,
        z3.Z3_OP_IFF: terms.eq,
        z3.Z3_OP_DISTINCT: distinct,
        z3.Z3_OP_ITE: terms.ite,
        z3.Z3_OP_BNEG: terms.neg,
        z3.Z3_OP_BADD: folded(terms.add),
        z3.Z3_OP_BSUB: folded(terms.sub),
        z3.Z3_OP_BMUL: folded(terms.mul),
        z3.Z3_OP_BNOT: terms.not_,
        z3.Z3_OP_BAND: folded(terms.and_),
        z3.Z3_OP_BOR: folded(terms.or_),
        z3.Z3_OP_BXOR: folded(terms.xor),
        z3.Z3_OP_CONCAT: folded(terms.concat),
        z3.Z3_OP_ULT: terms.ult,
        z3.Z3_OP_ULEQ: terms.ule,
        z3.Z3_OP_UGT: lambda a, b: terms.ult(b, a),
        z3.Z3_OP_UGEQ: lambda a, b: terms.ule(b, a),
        z3.Z3_OP_SLT: terms.slt,
        z3.Z3_OP_SLEQ: terms.sle,
        z3.Z3_OP_SGT: lambda a, b: terms.slt(b, a),
        z3.Z3_OP_SGEQ: lambda a, b: terms.sle(b, a),
        z3.Z3_OP_BUREM: terms.urem,
        z3.Z3_OP_BUREM_I: terms.urem,
        z3.Z3_OP_BSREM: terms.srem,
        z3.Z3_OP_BSREM_I: terms.srem,
    }


class NumbersFromZ3:
    """Translates z3's linear formulas over integers; `variables` maps its constants' names to
    vectors, which the view reads as these integers."""

    def __init__(self, view: View, z3: Any, variables: Mapping[str, int]) -> None:
        self._view = view
        self._z3 = z3
        self._variables = variables

    def __call__(self, formula: Any) -> int:
        terms, z3 = self._view.terms, self._z3
        kind = formula.decl().kind() if z3.is_app(formula) else None
        parts = formula.children()
        if kind == z3.Z3_OP_TRUE:
            return terms.true
        if kind == z3.Z3_OP_FALSE:
            return terms.false
        if kind == z3.Z3_OP_NOT:
            return terms.not_(self(parts[0]))
        if kind == z3.Z3_OP_AND:
            return terms.all_of(map(self, parts))
        if kind == z3.Z3_OP_OR:
            return terms.any_of(map(self, parts))
        if kind == z3.Z3_OP_IMPLIES:
            return terms.implies(self(parts[0]), self(parts[1]))
        if kind is not None and len(parts) == 2 and z3.is_int(parts[0]):
            return self._comparison(kind, self._linear(parts[0]), self._linear(parts[1]))
        raise Failed(f"z3's answer is not understood: {formula}")

    def _comparison(self, kind: int, left: Linear, right: Linear) -> int:
        z3, view = self._z3, self._view
        difference = right.plus(left, -1)
        opposite = left.plus(right, -1)
        one = Linear({}, -1)
        if kind == z3.Z3_OP_LE:
            return view.nonnegative(difference)
        if kind == z3.Z3_OP_GE:
            return view.nonnegative(opposite)
        if kind == z3.Z3_OP_LT:
            return view.nonnegative(difference.plus(one))
        if kind == z3.Z3_OP_GT:
            return view.nonnegative(opposite.plus(one))
        if kind == z3.Z3_OP_EQ:
            return view.terms.and_(view.nonnegative(difference), view.nonnegative(opposite))
        raise Failed("z3's answer is not understood")

    def _linear(self, expression: Any) -> Linear:
        z3 = self._z3
        if z3.is_int_value(expression):
            return Linear({}, expression.as_long())
        kind = expression.decl().kind()
        parts = expression.children()
        if kind == z3.Z3_OP_UNINTERPRETED and expression.decl().name() in self._variables:
            return Linear({self._variables[expression.decl().name()]: 1})
        if kind == z3.Z3_OP_ADD:
            return reduce(Linear.plus, map(self._linear, parts))
        if kind == z3.Z3_OP_SUB:
            return reduce(lambda one, other: one.plus(other, -1), map(self._linear, parts))
        if kind == z3.Z3_OP_UMINUS:
            return self._linear(parts[0]).times(-1)
        if kind == z3.Z3_OP_MUL and z3.is_int_value(parts[0]) and len(parts) == 2:
            return self._linear(parts[1]).times(parts[0].as_long())
        raise Failed(f"z3's answer is not understood: {expression}")
