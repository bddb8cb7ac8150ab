"""Bit vectors as integers: linear expressions, and where they are exact.

A view reads all vectors as signed numbers, or all as unsigned ones. A sum of vectors is the sum of
their numbers unless it wraps; so with each expression come conditions under which it is right,
and whoever uses the expression has to prove them. What is not linear is an atom.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd

from plait.data import dataclass
from plait.logic.operators import (
    ADD,
    CONCAT,
    CONSTANT,
    EXTRACT,
    MUL,
    NEG,
    SIGN_EXTEND,
    SUB,
    ZERO_EXTEND,
    signed,
)
from plait.logic.terms import Terms


@dataclass(frozen=True, slots=True)
class Linear:
    """The integer that atoms times factors, and a constant, sum up to."""

    factors: Mapping[int, int]
    constant: int = 0

    def plus(self, other: Linear, times: int = 1) -> Linear:
        factors = dict(self.factors)
        for atom, factor in other.factors.items():
            factors[atom] = factors.get(atom, 0) + factor * times
        return Linear(
            {atom: factor for atom, factor in factors.items() if factor},
            self.constant + other.constant * times,
        )

    def times(self, factor: int) -> Linear:
        return Linear({}).plus(self, factor) if factor else Linear({})


@dataclass(frozen=True, slots=True)
class Exact:
    """An expression that is right where all conditions hold."""

    linear: Linear
    conditions: frozenset[int] = frozenset()

    def plus(self, other: Exact, times: int = 1) -> Exact:
        return Exact(self.linear.plus(other.linear, times), self.conditions | other.conditions)


class View:
    """The signed or the unsigned numbers of the vectors of a table."""

    def __init__(self, terms: Terms, *, is_signed: bool) -> None:
        self.terms = terms
        self.is_signed = is_signed
        self._known: dict[int, Exact] = {}

    def range(self, width: int) -> tuple[int, int]:
        """The least and the greatest number of so many bits; truth values are 0 and 1."""
        if self.is_signed and width > 1:
            return -(1 << (width - 1)), (1 << (width - 1)) - 1
        return 0, (1 << width) - 1

    def number(self, value: int, width: int) -> int:
        return signed(value, width) if self.is_signed and width > 1 else value

    def __call__(self, term: int) -> Exact:
        found = self._known.get(term)
        if found is None:
            found = self._known[term] = self._exact(term)
        return found

    def _exact(self, term: int) -> Exact:
        terms = self.terms
        operator, operands = terms.operator[term], terms.operands[term]
        width = terms.width[term]
        if operator == CONSTANT:
            return Exact(Linear({}, self.number(terms.parameter[term], width)))
        if operator == ADD and terms.is_constant(operands[1]):
            number = signed(terms.parameter[operands[1]], width)
            return self._moved(self(operands[0]), operands[0], number)
        if operator in (ADD, SUB):
            times = 1 if operator == ADD else -1
            return self._combined(term, times)
        if operator == NEG and self.is_signed:
            return self._multiplied(self(operands[0]), operands[0], -1)
        if operator == MUL and terms.is_constant(operands[1]):
            number = signed(terms.parameter[operands[1]], width)
            return self._multiplied(self(operands[0]), operands[0], number)
        if operator == CONCAT and self._is_shift(term):
            whole = terms.operands[operands[0]][0]
            return self._multiplied(self(whole), whole, 1 << terms.width[operands[1]])
        if operator in (ZERO_EXTEND, SIGN_EXTEND):
            return self._extended(term)
        return Exact(Linear({term: 1}))

    def _is_shift(self, term: int) -> bool:
        """Whether the term is a vector of the same width, shifted to the left."""
        terms = self.terms
        high, low = terms.operands[term]
        return (
            terms.value(low) == 0
            and terms.operator[high] == EXTRACT
            and terms.parameter[high] == 0
            and terms.width[terms.operands[high][0]] == terms.width[term]
        )

    def _moved(self, inner: Exact, term: int, number: int) -> Exact:
        low, high = self.range(self.terms.width[term])
        fits = (
            self.at_most(term, high - number) if number > 0 else self.at_least(term, low - number)
        )
        return Exact(inner.linear.plus(Linear({}, number)), inner.conditions | {fits})

    def _multiplied(self, inner: Exact, term: int, number: int) -> Exact:
        low, high = self.range(self.terms.width[term])
        bounds = sorted((_quotient(low, number), _quotient(high, number)))
        fits = self.terms.and_(self.at_least(term, bounds[0]), self.at_most(term, bounds[1]))
        return Exact(inner.linear.times(number), inner.conditions | {fits})

    def _combined(self, term: int, times: int) -> Exact:
        terms = self.terms
        left, right = terms.operands[term]
        wide = terms.width[term] + 1
        extend = terms.sign_extend if self.is_signed else terms.zero_extend
        compute = terms.add if times > 0 else terms.sub
        exact = compute(extend(left, wide), extend(right, wide))
        fits = terms.eq(exact, extend(term, wide))
        result = self(left).plus(self(right), times)
        return Exact(result.linear, result.conditions | {fits})

    def _extended(self, term: int) -> Exact:
        terms = self.terms
        (inner,) = terms.operands[term]
        is_zero_extended = terms.operator[term] == ZERO_EXTEND
        if terms.width[inner] == 1:
            # A truth value is 0 or 1 in both views; extended with its sign it is 0 or -1.
            if is_zero_extended:
                return self(inner)
            return Exact(Linear({inner: -1} if self.is_signed else {term: 1}))
        found = self(inner)
        if self.is_signed != is_zero_extended:
            return found
        is_positive = terms.not_(terms.extract(inner, terms.width[inner] - 1, 1))
        return Exact(found.linear, found.conditions | {is_positive})

    # --- comparisons with numbers, and of expressions

    def at_most(self, term: int, number: int) -> int:
        """term <= number, where the number need not fit into the term's width."""
        terms, width = self.terms, self.terms.width[term]
        low, high = self.range(width)
        if number >= high:
            return terms.true
        if number < low:
            return terms.false
        if width == 1:
            return terms.not_(term)
        bound = terms.constant(number, width)
        return terms.sle(term, bound) if self.is_signed else terms.ule(term, bound)

    def at_least(self, term: int, number: int) -> int:
        return self.terms.not_(self.at_most(term, number - 1))

    def nonnegative(self, expression: Linear) -> int:
        """expression >= 0 as a truth value, with operands wide enough not to wrap."""
        terms = self.terms
        factors, constant = expression.factors, expression.constant
        if not factors:
            return terms.true if constant >= 0 else terms.false
        divisor = gcd(*factors.values())
        factors = {atom: factor // divisor for atom, factor in factors.items()}
        constant //= divisor
        if len(factors) == 1:
            ((atom, factor),) = factors.items()
            return self.at_least(atom, -constant) if factor > 0 else self.at_most(atom, constant)
        above = [atom for atom, factor in factors.items() if factor == 1]
        below = [atom for atom, factor in factors.items() if factor == -1]
        if len(above) == len(below) == 1 and len(factors) == 2 and constant in (0, -1):
            (a,), (b,) = above, below
            if terms.width[a] == terms.width[b] > 1:
                less = terms.slt if self.is_signed else terms.ult
                return less(b, a) if constant else terms.not_(less(a, b))
        return self._wide(factors, constant)

    def _wide(self, factors: Mapping[int, int], constant: int) -> int:
        terms = self.terms
        limit = abs(constant)
        for atom, factor in factors.items():
            limit += abs(factor) << terms.width[atom]
        width = limit.bit_length() + 1
        left = terms.constant(max(constant, 0), width)
        right = terms.constant(max(-constant, 0), width)
        for atom, factor in sorted(factors.items()):
            is_number = self.is_signed and terms.width[atom] > 1
            extend = terms.sign_extend if is_number else terms.zero_extend
            product = terms.mul(extend(atom, width), terms.constant(abs(factor), width))
            if factor > 0:
                left = terms.add(left, product)
            else:
                right = terms.add(right, product)
        return terms.not_(terms.slt(left, right))


def _quotient(number: int, divisor: int) -> int:
    """number / divisor, rounded towards zero."""
    quotient = abs(number) // abs(divisor)
    return quotient if (number < 0) == (divisor < 0) else -quotient
