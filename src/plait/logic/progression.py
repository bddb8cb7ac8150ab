"""Which numbers a term is made for: the offsets of an index, the sizes of an array."""

from __future__ import annotations

from math import gcd

from plait.logic.operators import ADD, CONCAT, ITE, MUL, SIGN_EXTEND, SUB, ZERO_EXTEND
from plait.logic.terms import Terms

Progression = tuple[int, int]  # a remainder and a modulus; 0 if there is only one value


class Progressions:
    """A remainder and a modulus of the values of each term, as long as nothing overflows; for
    guessing which ones it can have. Terms share parts: each is looked at once."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._known: dict[int, Progression] = {}

    def of(self, term: int) -> Progression:
        known, pending = self._known, [term]
        while pending:
            part = pending[-1]
            if part in known:
                pending.pop()
                continue
            inner = self._inner(part)
            unknown = [item for item in inner if item not in known]
            if unknown:
                pending += unknown
                continue
            known[part] = self._made_of(part, [known[item] for item in inner])
        return known[term]

    def _inner(self, term: int) -> tuple[int, ...]:
        """The operands that its values depend on, as far as that is followed."""
        terms = self._terms
        operator, operands = terms.operator[term], terms.operands[term]
        if operator in (ADD, SUB):
            return operands
        if operator in (MUL, CONCAT):
            return operands[:1] if terms.is_constant(operands[1]) else ()
        if operator in (ZERO_EXTEND, SIGN_EXTEND):
            return operands
        return operands[1:] if operator == ITE else ()

    def _made_of(self, term: int, inner: list[Progression]) -> Progression:
        terms = self._terms
        if not inner:
            value = terms.value(term)
            return (0, 1) if value is None else (value, 0)
        operator = terms.operator[term]
        start, step = inner[0]
        if operator in (MUL, CONCAT):
            operand = terms.operands[term][1]
            constant = terms.parameter[operand]
            if operator == MUL:
                return start * constant, step * constant
            shift = terms.width[operand]
            return (start << shift) + constant, step << shift
        if len(inner) == 1:
            return start, step
        other, other_step = inner[1]
        if operator == ITE:
            return min(start, other), gcd(step, other_step, abs(start - other))
        return start + (other if operator == ADD else -other), gcd(step, other_step)

    def smallest(self, term: int, count: int, most: int) -> list[int]:
        """The smallest numbers that a term may be made for, and that are not more than `most`: so
        many steps behind the first one."""
        start, step = self.of(term)
        if not 0 <= start <= most:
            start %= step or 1
        found = dict.fromkeys(start + n * step for n in range(count + 1))
        return [item for item in found if item <= most] or [0]
