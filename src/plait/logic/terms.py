"""Construction of bit-vector terms, simplified on the way.

Each constructor returns a term that has the same value in all assignments as the one asked for.
The rules are local, so that construction stays linear: they look at a term's operands and
their operands, never deeper. Normal forms that the rules rely on: a constant is the second operand
of a commutative operator (other operands are sorted); `ule`, `sle` and `ne` are negations of `ult`,
`slt` and `eq`; a shift by a constant is a concatenation or an extension; the count of any other
shift is less than the width of what is shifted and just wide enough for that.
"""

from __future__ import annotations

from plait.logic.comparisons import Comparisons
from plait.logic.operators import (
    ADD,
    ASHR,
    CONSTANT,
    LSHR,
    MUL,
    NEG,
    SDIV,
    SHL,
    SREM,
    SUB,
    UDIV,
    UREM,
)


class Terms(Comparisons):
    """A table of terms with a constructor for each operator."""

    __slots__ = ()

    # --- arithmetic modulo 2**width

    def neg(self, a: int) -> int:
        operator, width = self.operator[a], self.width[a]
        if operator == CONSTANT:
            return self.constant(-self.parameter[a], width)
        if width == 1:
            return a
        if operator == NEG:
            return self.operands[a][0]
        if operator == SUB:
            x, y = self.operands[a]
            return self.sub(y, x)
        return self._term((NEG, a), width, (a,))

    def add(self, a: int, b: int) -> int:
        width = self._same_width(a, b)
        operators = self.operator
        if operators[a] == CONSTANT:
            a, b = b, a
        if operators[b] == CONSTANT:
            value = self.parameter[b]
            if operators[a] == CONSTANT:
                return self._folded(ADD, width, a, b)
            if value == 0:
                return a
            if operators[a] == ADD:
                x, k = self.operands[a]
                if operators[k] == CONSTANT:
                    return self.add(x, self.constant(self.parameter[k] + value, width))
            elif operators[a] == SUB:
                k, x = self.operands[a]
                if operators[k] == CONSTANT:
                    return self.sub(self.constant(self.parameter[k] + value, width), x)
            elif width == 1:
                return self.not_(a)
            return self._term((ADD, a, b), width, (a, b))
        if width == 1:
            return self.xor(a, b)
        if operators[b] == NEG:
            return self.sub(a, self.operands[b][0])
        if operators[a] == NEG:
            return self.sub(b, self.operands[a][0])
        if a > b:
            a, b = b, a
        return self._term((ADD, a, b), width, (a, b))

    def sub(self, a: int, b: int) -> int:
        width = self._same_width(a, b)
        operators, operands = self.operator, self.operands
        if operators[b] == CONSTANT:
            return self.add(a, self.constant(-self.parameter[b], width))
        if width == 1:
            return self.xor(a, b)
        if operators[a] == CONSTANT and self.parameter[a] == 0:
            return self.neg(b)
        if operators[b] == NEG:
            return self.add(a, operands[b][0])
        # x + k - (x + m) is k - m: the difference of two pointers into one object.
        x, k = self._offset(a)
        y, m = self._offset(b)
        if x == y:
            return self.constant(k - m, width)
        if operators[a] == ADD and b in operands[a]:
            left, right = operands[a]
            return right if b == left else left
        if operators[b] == ADD and a in operands[b]:
            left, right = operands[b]
            return self.neg(right if a == left else left)
        return self._term((SUB, a, b), width, (a, b))

    def mul(self, a: int, b: int) -> int:
        width = self._same_width(a, b)
        operators = self.operator
        if width == 1:
            return self.and_(a, b)
        if operators[a] == CONSTANT:
            a, b = b, a
        if operators[b] == CONSTANT:
            value = self.parameter[b]
            if operators[a] == CONSTANT:
                return self._folded(MUL, width, a, b)
            if value == 0:
                return b
            if value == (1 << width) - 1:
                return self.neg(a)
            if value & (value - 1) == 0:
                return self._shifted_left(a, value.bit_length() - 1)
            if operators[a] == MUL and operators[self.operands[a][1]] == CONSTANT:
                x, k = self.operands[a]
                return self.mul(x, self.constant(self.parameter[k] * value, width))
            return self._term((MUL, a, b), width, (a, b))
        if a > b:
            a, b = b, a
        return self._term((MUL, a, b), width, (a, b))

    def udiv(self, a: int, b: int) -> int:
        """The unsigned quotient; 0 where the divisor is 0."""
        width = self._same_width(a, b)
        if self.operator[b] == CONSTANT:
            value = self.parameter[b]
            if self.operator[a] == CONSTANT:
                return self._folded(UDIV, width, a, b)
            if value == 0:
                return b
            if value & (value - 1) == 0:
                return self._shifted_right(a, value.bit_length() - 1)
        if self._is_zero(a):
            return a
        if a == b:
            return self.zero_extend(self.not_(self._equals_zero(a)), width)
        return self._term((UDIV, a, b), width, (a, b))

    def urem(self, a: int, b: int) -> int:
        """The unsigned remainder; the dividend where the divisor is 0."""
        width = self._same_width(a, b)
        if self.operator[b] == CONSTANT:
            value = self.parameter[b]
            if self.operator[a] == CONSTANT:
                return self._folded(UREM, width, a, b)
            if value == 0:
                return a
            if value & (value - 1) == 0:
                return self.and_(a, self.constant(value - 1, width))
        if self._is_zero(a) or a == b:
            return self.constant(0, width)
        return self._term((UREM, a, b), width, (a, b))

    def sdiv(self, a: int, b: int) -> int:
        """The signed quotient, truncated; 0 where the divisor is 0; INT_MIN / -1 wraps."""
        width = self._same_width(a, b)
        if self.operator[b] == CONSTANT:
            value = self.parameter[b]
            if self.operator[a] == CONSTANT:
                return self._folded(SDIV, width, a, b)
            if value == 0:
                return b
            if value == (1 << width) - 1:
                return self.neg(a)
            if value == 1:
                return a
            if value & (value - 1) == 0 and not value >> (width - 1):
                return self._halved_towards_zero(a, value.bit_length() - 1)
        if self._is_zero(a):
            return a
        if a == b:
            return self.zero_extend(self.not_(self._equals_zero(a)), width)
        return self._term((SDIV, a, b), width, (a, b))

    def srem(self, a: int, b: int) -> int:
        """What `sdiv` leaves, with the dividend's sign; the dividend where the divisor is 0."""
        width = self._same_width(a, b)
        if self.operator[b] == CONSTANT:
            value = self.parameter[b]
            if self.operator[a] == CONSTANT:
                return self._folded(SREM, width, a, b)
            if value == 0:
                return a
            if value in (1, (1 << width) - 1):
                return self.constant(0, width)
            if value & (value - 1) == 0 and not value >> (width - 1):
                power = value.bit_length() - 1
                return self.sub(a, self._shifted_left(self._halved_towards_zero(a, power), power))
        if self._is_zero(a) or a == b:
            return self.constant(0, width)
        return self._term((SREM, a, b), width, (a, b))

    def _halved_towards_zero(self, a: int, times: int) -> int:
        """a / 2**times, for 0 < times < width - 1: an arithmetic shift rounds down, so negative
        values are moved up by 2**times - 1 before it."""
        width = self.width[a]
        sign = self.sign_extend(self.extract(a, width - 1, 1), times)
        moved = self.add(a, self.zero_extend(sign, width))
        return self.sign_extend(self.extract(moved, times, width - times), width)

    # --- shifts: the count is taken modulo the width of the left operand

    def shl(self, a: int, count: int) -> int:
        return self._shift(SHL, a, count)

    def lshr(self, a: int, count: int) -> int:
        return self._shift(LSHR, a, count)

    def ashr(self, a: int, count: int) -> int:
        return self._shift(ASHR, a, count)

    def _shift(self, operator: int, a: int, count: int) -> int:
        width = self.width[a]
        count = self._reduced(count, width)
        if self.operator[count] == CONSTANT:
            places = self.parameter[count]
            if operator == SHL:
                return self._shifted_left(a, places)
            high = self.extract(a, places, width - places)
            if operator == LSHR:
                return self.zero_extend(high, width)
            return self.sign_extend(high, width)
        if self._is_zero(a):
            return a
        return self._term((operator, a, count), width, (a, count))

    def _reduced(self, count: int, modulus: int) -> int:
        """The count modulo a width, in just as many bits as that needs."""
        if modulus == 1:
            return self.constant(0, 1)
        needed = (modulus - 1).bit_length()
        given = self.width[count]
        if modulus & (modulus - 1) and given >= needed:
            count = self.urem(count, self.constant(modulus, given))
        return self.extract(count, 0, min(needed, self.width[count]))

    def _shifted_left(self, a: int, places: int) -> int:
        if places == 0:
            return a
        low = self.constant(0, places)
        return self.concat(self.extract(a, 0, self.width[a] - places), low)

    def _shifted_right(self, a: int, places: int) -> int:
        width = self.width[a]
        return self.zero_extend(self.extract(a, places, width - places), width)
