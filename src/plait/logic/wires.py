"""Terms that only rearrange bits: extraction, concatenation and extension. They cost no gates."""

from __future__ import annotations

from plait.logic.operators import (
    CONCAT,
    CONSTANT,
    EXTRACT,
    SIGN_EXTEND,
    ZERO_EXTEND,
    signed,
)
from plait.logic.table import Table


class Wires(Table):
    """A table of terms that can take vectors apart and put them together."""

    __slots__ = ()

    def extract(self, a: int, low: int, width: int) -> int:
        """`width` bits of a term, from the bit `low` upwards."""
        whole = self.width[a]
        if low < 0 or width < 1 or low + width > whole:
            raise ValueError(f"bits {low} to {low + width - 1} of {self.show(a)}")
        while width < whole:
            operator, operands = self.operator[a], self.operands[a]
            if operator == CONSTANT:
                return self.constant(self.parameter[a] >> low, width)
            if operator == EXTRACT:
                low += self.parameter[a]
                a = operands[0]
            elif operator == CONCAT:
                upper, lower = operands
                places = self.width[lower]
                if low >= places:
                    a, low = upper, low - places
                elif low + width <= places:
                    a = lower
                else:
                    break
            elif operator in (ZERO_EXTEND, SIGN_EXTEND):
                inner = self.width[operands[0]]
                if low + width <= inner:
                    a = operands[0]
                elif operator == SIGN_EXTEND and low >= inner - 1:
                    # Copies of the sign bit only.
                    return self.sign_extend(self.extract(operands[0], inner - 1, 1), width)
                elif low >= inner:
                    return self.constant(0, width)
                else:
                    part = self.extract(operands[0], low, inner - low)
                    if operator == ZERO_EXTEND:
                        return self.zero_extend(part, width)
                    return self.sign_extend(part, width)
            else:
                break
            whole = self.width[a]
        if width == whole:
            return a
        return self._term((EXTRACT, a, low, width), width, (a,))

    def concat(self, high: int, low: int) -> int:
        """`high` above `low`."""
        operators, operands = self.operator, self.operands
        places = self.width[low]
        width = self.width[high] + places
        if operators[high] == CONSTANT:
            value = self.parameter[high]
            if operators[low] == CONSTANT:
                return self.constant(value << places | self.parameter[low], width)
            if value == 0:
                return self.zero_extend(low, width)
            if operators[low] == CONCAT and operators[operands[low][0]] == CONSTANT:
                middle, rest = operands[low]
                return self.concat(self.concat(high, middle), rest)
        elif operators[low] == CONSTANT:
            if operators[high] == CONCAT and operators[operands[high][1]] == CONSTANT:
                rest, middle = operands[high]
                return self.concat(rest, self.concat(middle, low))
        elif operators[high] == EXTRACT and operators[low] == EXTRACT:
            start = self.parameter[low]
            if operands[high] == operands[low] and self.parameter[high] == start + places:
                return self.extract(operands[low][0], start, width)
        return self._term((CONCAT, high, low), width, (high, low))

    def zero_extend(self, a: int, width: int) -> int:
        """The term widened to `width` bits with zeros."""
        given = self.width[a]
        if width <= given:
            return self._unwidened(a, width)
        operator = self.operator[a]
        if operator == CONSTANT:
            return self.constant(self.parameter[a], width)
        if operator == ZERO_EXTEND:
            a = self.operands[a][0]
        return self._term((ZERO_EXTEND, a, width), width, (a,))

    def sign_extend(self, a: int, width: int) -> int:
        """The term widened to `width` bits with copies of its highest bit."""
        given = self.width[a]
        if width <= given:
            return self._unwidened(a, width)
        operator = self.operator[a]
        if operator == CONSTANT:
            return self.constant(signed(self.parameter[a], given), width)
        if operator == ZERO_EXTEND:
            return self.zero_extend(self.operands[a][0], width)
        if operator == SIGN_EXTEND:
            a = self.operands[a][0]
        return self._term((SIGN_EXTEND, a, width), width, (a,))

    def _unwidened(self, a: int, width: int) -> int:
        if width < self.width[a]:
            raise ValueError(f"{self.show(a)} has more than {width} bits")
        return a
