"""Truth values as linear inequalities over the integers that vectors stand for."""

from __future__ import annotations

from itertools import product
from math import prod

from plait.logic.interpolation.integers import Exact, Linear, View
from plait.logic.interpolation.problem import Failed
from plait.logic.operators import AND, EQ, EXTRACT, NOT, OR, SLT, ULT
from plait.logic.terms import Terms

# `expression <= 0` for each member.
Conjunction = tuple[Exact, ...]

_ALTERNATIVES = 16
_VISITS = 5000
_ONE = Exact(Linear({}, 1))


def compares_signs(terms: Terms, term: int) -> bool:
    """Whether a truth value is a comparison of signed numbers."""
    return terms.operator[term] == SLT or _tests_sign(terms, term)


def compares_numbers(terms: Terms, term: int) -> bool:
    """Whether a truth value is a comparison of numbers other than an equation."""
    return terms.operator[term] == ULT or compares_signs(terms, term)


def alternatives(view: View, term: int) -> tuple[Conjunction, ...]:
    """The truth value as a disjunction of conjunctions of inequalities."""
    return _alternatives(view, term, _Work(), is_true=True)


class _Work:
    """Terms share their parts, so that a term may be longer than there is memory."""

    def __init__(self) -> None:
        self._visits = 0

    def visit(self) -> None:
        self._visits += 1
        if self._visits > _VISITS:
            raise Failed("too many cases")


def _alternatives(view: View, term: int, work: _Work, *, is_true: bool) -> tuple[Conjunction, ...]:
    terms = view.terms
    work.visit()
    operator, operands = terms.operator[term], terms.operands[term]
    if operator == NOT:
        return _alternatives(view, operands[0], work, is_true=not is_true)
    if operator in (AND, OR):
        members = [_alternatives(view, part, work, is_true=is_true) for part in operands]
        is_choice = (operator == OR) == is_true
        numbers = [len(cases) for cases in members]
        # None of these parts has less than one, so the whole has no less than any part.
        if (sum(numbers) if is_choice else prod(numbers)) > _ALTERNATIVES:
            raise Failed("too many cases")
        if is_choice:
            return tuple(conjunction for cases in members for conjunction in cases)
        return tuple(sum(chosen, ()) for chosen in product(*members))
    if operator == EQ:
        left, right = view(operands[0]), view(operands[1])
        if is_true:
            return ((left.plus(right, -1), right.plus(left, -1)),)
        return ((_less(left, right),), (_less(right, left),))
    if operator in (SLT, ULT):
        return (_comparison(view, operator, *operands, is_true=is_true),)
    if _tests_sign(terms, term):
        width = terms.width[operands[0]]
        zero = Exact(Linear({}, 0 if view.is_signed else 1 << (width - 1)))
        number = view(operands[0])
        if is_true == view.is_signed:
            return ((_less(number, zero),),)
        return ((zero.plus(number, -1),),)
    atom = Exact(Linear({term: 1}))
    return ((_ONE.plus(atom, -1),),) if is_true else ((atom,),)


def _comparison(view: View, operator: int, a: int, b: int, *, is_true: bool) -> Conjunction:
    """a < b, or b <= a; in the order of the view's numbers or in the other one."""
    terms = view.terms
    result = _less(view(a), view(b)) if is_true else view(b).plus(view(a), -1)
    if (operator == SLT) == view.is_signed:
        return (result,)
    # On numbers without a sign both orders agree. What is below such a constant as an unsigned
    # number has no sign either; that is a fact, the other ones are conditions.
    smaller, larger = (a, b) if is_true else (b, a)
    if operator == ULT and terms.is_constant(larger) and _has_no_sign(view, larger):
        return (result, Exact(Linear({})).plus(view(smaller), -1))
    signless = {
        terms.not_(terms.extract(side, terms.width[side] - 1, 1))
        for side in (a, b)
        if not (terms.is_constant(side) and _has_no_sign(view, side))
    }
    return (Exact(result.linear, result.conditions | signless),)


def _less(left: Exact, right: Exact) -> Exact:
    return left.plus(right, -1).plus(_ONE)


def _has_no_sign(view: View, term: int) -> bool:
    return not view.terms.parameter[term] >> (view.terms.width[term] - 1)


def _tests_sign(terms: Terms, term: int) -> bool:
    if terms.operator[term] != EXTRACT or terms.width[term] != 1:
        return False
    return terms.parameter[term] == terms.width[terms.operands[term][0]] - 1
