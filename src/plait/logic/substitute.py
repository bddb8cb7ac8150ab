"""Putting terms in the place of variables, and the variables of a term."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial, reduce

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
from plait.logic.terms import Terms


class Substitution:
    """Simultaneous substitution for variables; `get` gives a variable's term, or None to keep it.

    What was computed is remembered, so one substitution serves many terms.
    """

    def __init__(self, terms: Terms, get: Callable[[int], int | None]) -> None:
        self._terms = terms
        self._get = get
        self._done: dict[int, int] = {}

    def __call__(self, term: int) -> int:
        done = self._done
        found = done.get(term)
        if found is not None:
            return found
        terms = self._terms
        pending = [term]
        while pending:
            item = pending[-1]
            if item in done:
                pending.pop()
                continue
            operands = terms.operands[item]
            missing = [operand for operand in operands if operand not in done]
            if missing:
                pending += missing
                continue
            pending.pop()
            done[item] = self._rebuilt(item, operands)
        return done[term]

    def _rebuilt(self, term: int, operands: tuple[int, ...]) -> int:
        operator = self._terms.operator[term]
        if operator == VARIABLE:
            found = self._get(term)
            return term if found is None else found
        if operator == CONSTANT:
            return term
        new = [self._done[operand] for operand in operands]
        if all(one == other for one, other in zip(new, operands, strict=True)):
            return term
        return rebuild(self._terms, term, new)


def substitute(terms: Terms, term: int, mapping: Mapping[int, int]) -> int:
    return Substitution(terms, mapping.get)(term)


def rebuild(terms: Terms, term: int, operands: list[int]) -> int:
    """The term with other operands (of the same widths)."""
    return make(terms, terms.operator[term], terms.width[term], terms.parameter[term], operands)


def make(terms: Terms, operator: int, width: int, parameter: int, operands: list[int]) -> int:
    """A term of an operator; `parameter` is that of EXTRACT."""
    if operator == EXTRACT:
        return terms.extract(operands[0], parameter, width)
    if operator == ZERO_EXTEND:
        return terms.zero_extend(operands[0], width)
    if operator == SIGN_EXTEND:
        return terms.sign_extend(operands[0], width)
    if operator in (AND, OR) and width == 1:
        return terms.all_of(operands) if operator == AND else terms.any_of(operands)
    if operator in (AND, OR, CONCAT):
        return reduce(partial(_CONSTRUCTORS[operator], terms), operands)
    return _CONSTRUCTORS[operator](terms, *operands)


_CONSTRUCTORS: dict[int, Callable[..., int]] = {
    NOT: Terms.not_,
    AND: Terms.and_,
    OR: Terms.or_,
    XOR: Terms.xor,
    NEG: Terms.neg,
    ADD: Terms.add,
    SUB: Terms.sub,
    MUL: Terms.mul,
    UDIV: Terms.udiv,
    UREM: Terms.urem,
    SDIV: Terms.sdiv,
    SREM: Terms.srem,
    SHL: Terms.shl,
    LSHR: Terms.lshr,
    ASHR: Terms.ashr,
    EQ: Terms.eq,
    ULT: Terms.ult,
    SLT: Terms.slt,
    ITE: Terms.ite,
    CONCAT: Terms.concat,
}


class Vocabulary:
    """The variables of terms, remembered."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._known: dict[int, frozenset[int]] = {}

    def __call__(self, term: int) -> frozenset[int]:
        known, terms = self._known, self._terms
        pending = [term]
        while pending:
            item = pending[-1]
            if item in known:
                pending.pop()
                continue
            missing = [operand for operand in terms.operands[item] if operand not in known]
            if missing:
                pending += missing
                continue
            pending.pop()
            if terms.operator[item] == VARIABLE:
                known[item] = frozenset((item,))
            else:
                known[item] = frozenset().union(*(known[part] for part in terms.operands[item]))
        return known[term]

    def of(self, items: Iterable[int]) -> frozenset[int]:
        return frozenset().union(*map(self, items))
