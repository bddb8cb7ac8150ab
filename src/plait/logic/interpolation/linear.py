"""Equations and comparisons of bit vectors, in a form that depends on what they say only.

Arithmetic modulo 2**width is a ring, so both sides of an equation may be rearranged freely and
divided by an odd number; nothing has to be known about overflows. That makes `y + 2 == 2 * (x + 1)`
the same term as `y == 2 * x`, and labels of different rounds of a loop comparable.
"""

from __future__ import annotations

from plait.data import dataclass
from plait.logic.operators import (
    ADD,
    CONCAT,
    CONSTANT,
    EQ,
    EXTRACT,
    MUL,
    NEG,
    NOT,
    SLT,
    SUB,
    ULT,
    VARIABLE,
    signed,
)
from plait.logic.terms import Terms

# Sums of more terms than this are left as they are: rearranging them seldom helps anybody.
_ATOMS = 12


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of atoms times their factors and a constant, modulo 2**width."""

    width: int
    factors: dict[int, int]
    constant: int


def sum_of(terms: Terms, term: int) -> Sum | None:
    """The term as a sum; None if that has too many parts."""
    width = terms.width[term]
    return _collected(terms, width, [(term, 1)])


def difference(terms: Terms, left: int, right: int) -> Sum | None:
    return _collected(terms, terms.width[left], [(left, 1), (right, -1)])


def _collected(terms: Terms, width: int, pending: list[tuple[int, int]]) -> Sum | None:
    operators, operands, parameters = terms.operator, terms.operands, terms.parameter
    mask = (1 << width) - 1
    factors: dict[int, int] = {}
    constant = 0
    while pending:
        term, factor = pending.pop()
        operator = operators[term]
        parts = operands[term]
        if operator == CONSTANT:
            constant += factor * parameters[term]
        elif operator == ADD:
            pending += [(parts[0], factor), (parts[1], factor)]
        elif operator == SUB:
            pending += [(parts[0], factor), (parts[1], -factor)]
        elif operator == NEG:
            pending.append((parts[0], -factor))
        elif operator == NOT:
            pending.append((parts[0], -factor))
            constant -= factor
        elif operator == MUL and operators[parts[1]] == CONSTANT:
            pending.append((parts[0], factor * parameters[parts[1]]))
        elif operator == CONCAT and operators[parts[1]] == CONSTANT and _keeps_low(terms, parts[0]):
            # The lower bits of x followed by k: x * 2**places + k.
            whole = operands[parts[0]][0]
            places = terms.width[parts[1]]
            if terms.width[whole] == width == terms.width[term]:
                pending.append((whole, factor << places))
                constant += factor * parameters[parts[1]]
            else:
                factors[term] = factors.get(term, 0) + factor
        else:
            factors[term] = factors.get(term, 0) + factor
        if len(factors) + len(pending) > _ATOMS:
            return None
    reduced = {atom: factor & mask for atom, factor in factors.items() if factor & mask}
    return Sum(width, reduced, constant & mask)


def _keeps_low(terms: Terms, term: int) -> bool:
    return terms.operator[term] == EXTRACT and terms.parameter[term] == 0


def term_of(terms: Terms, total: Sum) -> int:
    """The sum as a term: positive factors first, then negative ones, then the constant."""
    width = total.width
    result: int | None = None
    below: list[tuple[int, int]] = []
    for atom, factor in sorted(total.factors.items()):
        number = signed(factor, width)
        if number < 0:
            below.append((atom, -number))
            continue
        product = terms.mul(atom, terms.constant(number, width))
        result = product if result is None else terms.add(result, product)
    for atom, factor in below:
        product = terms.mul(atom, terms.constant(factor, width))
        result = terms.neg(product) if result is None else terms.sub(result, product)
    constant = terms.constant(total.constant, width)
    return constant if result is None else terms.add(result, constant)


def solved_for(total: Sum, atom: int) -> Sum:
    """What the atom equals where the sum is 0; its factor must be odd."""
    modulus = 1 << total.width
    scale = -pow(total.factors[atom], -1, modulus)
    factors = {
        other: factor * scale % modulus for other, factor in total.factors.items() if other != atom
    }
    return Sum(total.width, factors, total.constant * scale % modulus)


def equation(terms: Terms, left: int, right: int) -> int:
    """The equation of two terms, solved for one of its atoms where one has an odd factor."""
    total = difference(terms, left, right)
    if total is None:
        return terms.eq(left, right)
    if not total.factors:
        return terms.constant(int(total.constant == 0), 1)
    atom = _pivot(terms, total)
    if atom is None:
        return terms.eq(left, right)
    return terms.eq(atom, term_of(terms, solved_for(total, atom)))


def _pivot(terms: Terms, total: Sum) -> int | None:
    """The atom to solve for: a variable before others, one that needs no division before others."""
    ones = (1, (1 << total.width) - 1)
    best: tuple[bool, bool, int] | None = None
    for atom, factor in total.factors.items():
        if factor & 1:
            rank = (terms.operator[atom] != VARIABLE, factor not in ones, atom)
            if best is None or rank < best:
                best = rank
    return None if best is None else best[2]


class Normal:
    """Equations and comparisons in normal form; remembers what it has done."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._known: dict[int, int] = {}

    def __call__(self, term: int) -> int:
        """An equation or a comparison, possibly negated, in normal form: a constant is on the right
        of `<`. Other truth values as they are."""
        found = self._known.get(term)
        if found is None:
            found = self._known[term] = self._normal(term)
        return found

    def _normal(self, term: int) -> int:
        terms = self._terms
        operator = terms.operator[term]
        if operator == NOT:
            return terms.not_(self(terms.operands[term][0]))
        if operator == EQ:
            left, right = terms.operands[term]
            if terms.operator[right] == CONSTANT and terms.operator[left] == VARIABLE:
                return term
            return equation(terms, left, right)
        if operator in (ULT, SLT):
            left, right = terms.operands[term]
            if terms.operator[left] == CONSTANT:
                # The greatest number is not less than any; so there is a next one.
                following = terms.constant(terms.parameter[left] + 1, terms.width[left])
                less = terms.ult if operator == ULT else terms.slt
                return terms.not_(less(right, following))
        return term
