"""Comparisons of terms: equality, and less-than of unsigned and signed numbers.

`ne`, `ule` and `sle` are negations of these.
"""

from __future__ import annotations

from plait.logic.bitwise import Bitwise
from plait.logic.operators import (
    ADD,
    CONCAT,
    CONSTANT,
    EQ,
    ITE,
    NEG,
    NOT,
    SIGN_EXTEND,
    SLT,
    SUB,
    ULT,
    XOR,
    ZERO_EXTEND,
    signed,
)

# How many links of a chain of choices a comparison with a constant looks through.
_ITE_CHAIN = 16


class Comparisons(Bitwise):
    """A table of terms with comparisons."""

    __slots__ = ()

    def eq(self, a: int, b: int) -> int:
        width = self._same_width(a, b)
        if a == b:
            return self.true
        operators, operands = self.operator, self.operands
        if width == 1:
            return self.not_(self.xor(a, b))
        if operators[a] == CONSTANT:
            a, b = b, a
        if operators[b] == CONSTANT:
            return self._equals_constant(a, b)
        x, k = self._offset(a)
        y, m = self._offset(b)
        if x == y:
            return self.constant(int((k - m) & ((1 << width) - 1) == 0), 1)
        if operators[a] == operators[b]:
            if operators[a] == NOT:
                return self.eq(operands[a][0], operands[b][0])
            if operators[a] in (ZERO_EXTEND, SIGN_EXTEND):
                x, y = operands[a][0], operands[b][0]
                if self.width[x] == self.width[y]:
                    return self.eq(x, y)
        elif (operators[a] == NOT and operands[a][0] == b) or (
            operators[b] == NOT and operands[b][0] == a
        ):
            return self.false
        if a > b:
            a, b = b, a
        return self._term((EQ, a, b), 1, (a, b))

    def ne(self, a: int, b: int) -> int:
        return self.not_(self.eq(a, b))

    def _equals_zero(self, a: int) -> int:
        return self.eq(a, self.constant(0, self.width[a]))

    def _equals_constant(self, a: int, b: int) -> int:
        """`a == b` where `b` is a constant of more than one bit."""
        width, value = self.width[b], self.parameter[b]
        operator, operands = self.operator[a], self.operands[a]
        if operator == CONSTANT:
            return self.constant(int(self.parameter[a] == value), 1)
        if operator == ITE:
            return self._choice_equals_constant(a, b)
        if operator in (ZERO_EXTEND, SIGN_EXTEND):
            inner = self.width[operands[0]]
            low = value & ((1 << inner) - 1)
            whole = low if operator == ZERO_EXTEND else signed(low, inner) & ((1 << width) - 1)
            if whole != value:
                return self.false
            return self.eq(operands[0], self.constant(low, inner))
        if operator == CONCAT:
            high, low = operands
            places = self.width[low]
            upper = self.eq(high, self.constant(value >> places, width - places))
            if upper == self.false:
                return upper
            return self.and_(upper, self.eq(low, self.constant(value, places)))
        if operator == NOT:
            return self.eq(operands[0], self.constant(~value, width))
        if operator == NEG:
            return self.eq(operands[0], self.constant(-value, width))
        if operator in (ADD, XOR) and self.operator[operands[1]] == CONSTANT:
            other = self.parameter[operands[1]]
            wanted = value - other if operator == ADD else value ^ other
            return self.eq(operands[0], self.constant(wanted, width))
        if operator == SUB:
            if value == 0:
                return self.eq(operands[0], operands[1])
            if self.operator[operands[0]] == CONSTANT:
                wanted = self.parameter[operands[0]] - value
                return self.eq(operands[1], self.constant(wanted, width))
        return self._term((EQ, a, b), 1, (a, b))

    def _choice_equals_constant(self, a: int, b: int) -> int:
        """Equality of a choice and a constant. Along a chain of choices between constants and the
        next choice it is a condition for each link, as far as the chain is not too long."""
        links: list[tuple[int, int, int]] = []
        while self.operator[a] == ITE and len(links) < _ITE_CHAIN:
            condition, then, otherwise = self.operands[a]
            if self.operator[then] == CONSTANT:
                links.append((condition, self.eq(then, b), -1))
                a = otherwise
            elif self.operator[otherwise] == CONSTANT:
                links.append((condition, -1, self.eq(otherwise, b)))
                a = then
            else:
                break
        if self.operator[a] == ITE:
            result = self._term((EQ, a, b), 1, (a, b))
        else:
            result = self.eq(a, b)
        for condition, then, otherwise in reversed(links):
            result = self.ite(
                condition,
                result if then < 0 else then,
                result if otherwise < 0 else otherwise,
            )
        return result

    def ult(self, a: int, b: int) -> int:
        width = self._same_width(a, b)
        operators, operands = self.operator, self.operands
        if a == b:
            return self.false
        if operators[b] == CONSTANT:
            value = self.parameter[b]
            if operators[a] == CONSTANT:
                return self.constant(int(self.parameter[a] < value), 1)
            if value == 0:
                return self.false
            if value == 1:
                return self._equals_zero(a)
            if value == (1 << width) - 1:
                return self.not_(self.eq(a, b))
            if operators[a] == ZERO_EXTEND:
                inner = self.width[operands[a][0]]
                if value >> inner:
                    return self.true
                return self.ult(operands[a][0], self.constant(value, inner))
            if self._is_constant_choice(a):
                condition, then, otherwise = operands[a]
                return self.ite(condition, self.ult(then, b), self.ult(otherwise, b))
        elif operators[a] == CONSTANT:
            value = self.parameter[a]
            if value == 0:
                return self.not_(self.eq(b, a))
            if value == (1 << width) - 1:
                return self.false
            if value == (1 << width) - 2:
                return self.eq(b, self.constant(-1, width))
            if operators[b] == ZERO_EXTEND:
                inner = self.width[operands[b][0]]
                if value >> inner:
                    return self.false
                return self.ult(self.constant(value, inner), operands[b][0])
            if self._is_constant_choice(b):
                condition, then, otherwise = operands[b]
                return self.ite(condition, self.ult(a, then), self.ult(a, otherwise))
        elif operators[a] == ZERO_EXTEND and operators[b] == ZERO_EXTEND:
            x, y = operands[a][0], operands[b][0]
            if self.width[x] == self.width[y]:
                return self.ult(x, y)
        if width == 1:
            return self.and_(self.not_(a), b)
        return self._term((ULT, a, b), 1, (a, b))

    def ule(self, a: int, b: int) -> int:
        return self.not_(self.ult(b, a))

    def slt(self, a: int, b: int) -> int:
        width = self._same_width(a, b)
        operators, operands = self.operator, self.operands
        if a == b:
            return self.false
        if operators[a] == CONSTANT and operators[b] == CONSTANT:
            return self._folded(SLT, 1, a, b)
        if width == 1:
            return self.and_(a, self.not_(b))
        half = 1 << (width - 1)
        # Both sides are known not to be negative, or both to be extended from the same width.
        if self._is_never_negative(a) and self._is_never_negative(b):
            return self.ult(a, b)
        if operators[a] == SIGN_EXTEND and operators[b] == SIGN_EXTEND:
            x, y = operands[a][0], operands[b][0]
            if self.width[x] == self.width[y]:
                return self.slt(x, y)
        if operators[b] == CONSTANT:
            value = self.parameter[b]
            if operators[a] == SIGN_EXTEND:
                return self._extension_is_less(operands[a][0], signed(value, width))
            if value == 0:
                return self.extract(a, width - 1, 1)
            if value == half or (value > half and self._is_never_negative(a)):
                return self.false
            if value == half - 1:
                return self.not_(self.eq(a, b))
            if self._is_constant_choice(a):
                condition, then, otherwise = operands[a]
                return self.ite(condition, self.slt(then, b), self.slt(otherwise, b))
        elif operators[a] == CONSTANT:
            value = self.parameter[a]
            if operators[b] == SIGN_EXTEND:
                # k < x is the opposite of x < k + 1, compared as numbers without a width.
                return self.not_(self._extension_is_less(operands[b][0], signed(value, width) + 1))
            if value == (1 << width) - 1:
                return self.not_(self.extract(b, width - 1, 1))
            if value == half - 1:
                return self.false
            if value >= half and self._is_never_negative(b):
                return self.true
            if value == half:
                return self.not_(self.eq(b, a))
            if self._is_constant_choice(b):
                condition, then, otherwise = operands[b]
                return self.ite(condition, self.slt(a, then), self.slt(a, otherwise))
        return self._term((SLT, a, b), 1, (a, b))

    def sle(self, a: int, b: int) -> int:
        return self.not_(self.slt(b, a))

    def _extension_is_less(self, a: int, bound: int) -> int:
        """Whether the signed value of `a` is less than a number that may need more bits."""
        width = self.width[a]
        half = 1 << (width - 1)
        if bound <= -half:
            return self.false
        if bound >= half:
            return self.true
        return self.slt(a, self.constant(bound, width))

    def _is_zero(self, a: int) -> bool:
        return self.operator[a] == CONSTANT and self.parameter[a] == 0

    def _is_constant_choice(self, a: int) -> bool:
        if self.operator[a] != ITE:
            return False
        _, then, otherwise = self.operands[a]
        return self.operator[then] == CONSTANT and self.operator[otherwise] == CONSTANT

    def _is_never_negative(self, a: int) -> bool:
        if self.operator[a] == CONSTANT:
            return not self.parameter[a] >> (self.width[a] - 1)
        return self.operator[a] == ZERO_EXTEND

    def _offset(self, a: int) -> tuple[int, int]:
        """The term as another term plus a number."""
        if self.operator[a] == ADD:
            base, offset = self.operands[a]
            if self.operator[offset] == CONSTANT:
                return base, self.parameter[offset]
        return a, 0
