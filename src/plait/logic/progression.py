"""Which numbers a term is made for: the offsets of an index, the sizes of an array."""

from __future__ import annotations

from math import gcd

from plait.logic.operators import ADD, CONCAT, ITE, MUL, SIGN_EXTEND, SUB, ZERO_EXTEND
from plait.logic.terms import Terms


def progression(terms: Terms, term: int) -> tuple[int, int]:
    """A remainder and a modulus of the values of a term, as long as nothing overflows; for
    guessing which ones it can have. The modulus is 0 if there is only one value."""
    operands = terms.operands[term]
    value = terms.value(term)
    if value is not None:
        return value, 0
    operator = terms.operator[term]
    if operator in (ADD, SUB):
        (one, step), (other, other_step) = (progression(terms, item) for item in operands)
        return one + (other if operator == ADD else -other), gcd(step, other_step)
    if operator == MUL and (factor := terms.value(operands[1])) is not None:
        start, step = progression(terms, operands[0])
        return start * factor, step * factor
    if operator == CONCAT and (low := terms.value(operands[1])) is not None:
        start, step = progression(terms, operands[0])
        shift = terms.width[operands[1]]
        return (start << shift) + low, step << shift
    if operator in (ZERO_EXTEND, SIGN_EXTEND):
        return progression(terms, operands[0])
    if operator == ITE:
        (one, step), (other, other_step) = (progression(terms, item) for item in operands[1:])
        return min(one, other), gcd(step, other_step, abs(one - other))
    return 0, 1


def smallest(terms: Terms, term: int, count: int, most: int) -> list[int]:
    """The smallest numbers that a term may be made for, and that are not more than `most`: so many
    steps behind the first one."""
    start, step = progression(terms, term)
    if not 0 <= start <= most:
        start %= step or 1
    found = dict.fromkeys(start + n * step for n in range(count + 1))
    return [item for item in found if item <= most] or [0]
