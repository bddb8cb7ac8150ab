"""Circuits for arithmetic on vectors of literals, lowest bit first.

A vector is any sequence of literals; results are lists. Constant bits need no special treatment:
the gates simplify them away.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plait.logic.gates import FALSE, TRUE, Gates

Bits = Sequence[int]


def negated(a: Bits) -> list[int]:
    return [-bit for bit in a]


def sum_of(gates: Gates, a: Bits, b: Bits, carry: int = FALSE) -> list[int]:
    """a + b + carry, as wide as the operands: a ripple-carry adder without its last carry."""
    result: list[int] = []
    xor3, majority = gates.xor3, gates.majority
    for x, y in zip(a[:-1], b[:-1]):
        result.append(xor3(x, y, carry))
        carry = majority(x, y, carry)
    result.append(xor3(a[-1], b[-1], carry))
    return result


def difference_of(gates: Gates, a: Bits, b: Bits) -> list[int]:
    return sum_of(gates, a, negated(b), TRUE)


def negation_of(gates: Gates, a: Bits) -> list[int]:
    return sum_of(gates, negated(a), [FALSE] * len(a), TRUE)


def is_equal(gates: Gates, a: Bits, b: Bits) -> int:
    return gates.all_of([-gates.xor(x, y) for x, y in zip(a, b)])


def is_less(gates: Gates, a: Bits, b: Bits) -> int:
    """Unsigned a < b: the borrow of a - b, so one majority gate for each bit."""
    borrow = FALSE
    for x, y in zip(a, b):
        borrow = gates.majority(-x, y, borrow)
    return borrow


def is_less_signed(gates: Gates, a: Bits, b: Bits) -> int:
    """Signed a < b: adding 2**(width - 1) to both sides makes it the unsigned comparison."""
    return is_less(gates, [*a[:-1], -a[-1]], [*b[:-1], -b[-1]])


def choice(gates: Gates, condition: int, a: Bits, b: Bits) -> list[int]:
    return [gates.ite(condition, x, y) for x, y in zip(a, b)]


def product_of(gates: Gates, a: Bits, b: Bits) -> list[int]:
    """a * b, as wide as the operands, by shifting and adding."""
    if _constant_bits(a) > _constant_bits(b):
        a, b = b, a
    if _constant_bits(b) == len(b):
        return _multiple_of(gates, a, sum(1 << place for place, bit in enumerate(b) if bit > 0))
    width = len(a)
    total = [gates.and_(x, b[0]) for x in a]
    for place in range(1, width):
        if b[place] == FALSE:
            continue
        row = [gates.and_(x, b[place]) for x in a[: width - place]]
        total[place:] = sum_of(gates, total[place:], row)
    return total


def _constant_bits(a: Bits) -> int:
    return sum(bit in (TRUE, FALSE) for bit in a)


def _multiple_of(gates: Gates, a: Bits, factor: int) -> list[int]:
    """A constant multiple, from the non-adjacent form of the factor: the representation by powers
    of two, added or subtracted, that needs the fewest of them (Reitwiesner 1960)."""
    width = len(a)
    total = [FALSE] * width
    for place, digit in _non_adjacent_form(factor, width):
        row = a[: width - place]
        if digit > 0:
            total[place:] = sum_of(gates, total[place:], row)
        else:
            total[place:] = difference_of(gates, total[place:], row)
    return total


def _non_adjacent_form(factor: int, width: int) -> Iterable[tuple[int, int]]:
    """Places and digits (1 or -1) whose sum is congruent to the factor modulo 2**width."""
    for place in range(width):
        if factor & 1:
            digit = 2 - (factor & 3)
            factor -= digit
            yield place, digit
        factor >>= 1


def quotient_and_remainder(gates: Gates, a: Bits, b: Bits) -> tuple[list[int], list[int]]:
    """Unsigned division by the school method; a / 0 is 0 and a % 0 is a.

    After the step for bit i the rest is what the upper bits of `a` leave, so it has no more bits
    than were consumed; a divisor with a bit above those is greater.
    """
    width = len(a)
    fits = [TRUE] * width
    for place in reversed(range(width - 1)):
        fits[place] = gates.and_(fits[place + 1], -b[place + 1])
    is_positive = -gates.and_(fits[0], -b[0])
    quotient = [FALSE] * width
    rest: list[int] = []
    for place in reversed(range(width)):
        rest.insert(0, a[place])
        size = len(rest)
        reduced, borrow = _subtraction(gates, rest, b[:size])
        is_enough = gates.and_(-borrow, fits[size - 1])
        quotient[place] = gates.and_(is_enough, is_positive)
        rest = choice(gates, is_enough, reduced, rest)
    return quotient, rest


def _subtraction(gates: Gates, a: Bits, b: Bits) -> tuple[list[int], int]:
    """a - b, and whether that borrows."""
    result: list[int] = []
    borrow = FALSE
    for x, y in zip(a, b):
        result.append(gates.xor3(x, y, borrow))
        borrow = gates.majority(-x, y, borrow)
    return result, borrow


def negated_if(gates: Gates, condition: int, a: Bits) -> list[int]:
    """-a where the condition is true, otherwise a."""
    flipped = [gates.xor(bit, condition) for bit in a]
    return sum_of(gates, flipped, [FALSE] * len(a), condition)


def shifted_left(gates: Gates, a: Bits, count: Bits) -> list[int]:
    """a << count, for a count less than the width: a barrel shifter."""
    result = list(a)
    for stage, bit in enumerate(count):
        places = min(1 << stage, len(a))
        moved = [FALSE] * places + result[: len(a) - places]
        result = choice(gates, bit, moved, result)
    return result


def shifted_right(gates: Gates, a: Bits, count: Bits, fill: int) -> list[int]:
    """a >> count, for a count less than the width, with copies of `fill` from above."""
    result = list(a)
    for stage, bit in enumerate(count):
        places = min(1 << stage, len(a))
        moved = result[places:] + [fill] * places
        result = choice(gates, bit, moved, result)
    return result
