"""Bitwise operators, which on vectors of width 1 are the logical ones, and choice."""

from __future__ import annotations

from collections.abc import Iterable

from plait.logic.operators import (
    AND,
    CONSTANT,
    ITE,
    NOT,
    OR,
    XOR,
    ZERO_EXTEND,
    compute,
)
from plait.logic.wires import Wires

# A conjunction of conjunctions becomes one only up to this size: the guards of a long path are
# conjunctions of all earlier ones, and flattening those would take quadratic space.
_FLATTENED = 8


class Bitwise(Wires):
    """A table of terms with and, or, xor, not and if-then-else."""

    __slots__ = ()

    def not_(self, a: int) -> int:
        operator = self.operator[a]
        if operator == NOT:
            return self.operands[a][0]
        if operator == CONSTANT:
            return self.constant(~self.parameter[a], self.width[a])
        return self._term((NOT, a), self.width[a], (a,))

    def and_(self, a: int, b: int) -> int:
        return self._join(AND, OR, a, b)

    def or_(self, a: int, b: int) -> int:
        return self._join(OR, AND, a, b)

    def implies(self, a: int, b: int) -> int:
        return self._join(OR, AND, self.not_(a), b)

    def all_of(self, items: Iterable[int]) -> int:
        """The conjunction of truth values, as one term of any number of operands."""
        return self._join_all(AND, self.true, self.false, items)

    def any_of(self, items: Iterable[int]) -> int:
        """The disjunction of truth values, as one term of any number of operands."""
        return self._join_all(OR, self.false, self.true, items)

    def _join(self, operator: int, dual: int, a: int, b: int) -> int:
        """Conjunction or disjunction of two vectors."""
        if a == b:
            return a
        width = self._same_width(a, b)
        operators, operands = self.operator, self.operands
        if operators[a] == CONSTANT:
            a, b = b, a
        if operators[b] == CONSTANT:
            ones, value = (1 << width) - 1, self.parameter[b]
            if operators[a] == CONSTANT:
                return self._folded(operator, width, a, b)
            neutral = ones if operator == AND else 0
            if value == neutral:
                return a
            if value == neutral ^ ones:
                return b
            if operator == AND and value & (value + 1) == 0:
                return self.zero_extend(self.extract(a, 0, value.bit_length()), width)
        elif operators[a] == ZERO_EXTEND and operators[b] == ZERO_EXTEND:
            x, y = operands[a][0], operands[b][0]
            if self.width[x] == self.width[y]:
                return self.zero_extend(self._join(operator, dual, x, y), width)
        left = operands[a] if operators[a] == operator else (a,)
        right = operands[b] if operators[b] == operator else (b,)
        if b in left:
            return a
        if a in right:
            return b
        # Absorption: x & (x | y) is x.
        if operators[b] == dual and a in operands[b]:
            return a
        if operators[a] == dual and b in operands[a]:
            return b
        if len(left) + len(right) > _FLATTENED:
            left, right = (a,), (b,)
        members = set(left)
        members.update(right)
        for member in members:
            if operators[member] == NOT and operands[member][0] in members:
                return self.constant(0 if operator == AND else -1, width)
        parts = tuple(sorted(members))
        return self._term((operator, *parts), width, parts)

    def _join_all(self, operator: int, neutral: int, absorbing: int, items: Iterable[int]) -> int:
        operators, operands = self.operator, self.operands
        members: set[int] = set()
        for item in items:
            if self.width[item] != 1:
                raise ValueError(f"not a truth value: {self.show(item)}")
            if operators[item] == operator and len(operands[item]) <= _FLATTENED:
                members.update(operands[item])
            else:
                members.add(item)
        members.discard(neutral)
        if absorbing in members:
            return absorbing
        for member in members:
            if operators[member] == NOT and operands[member][0] in members:
                return absorbing
        if not members:
            return neutral
        parts = tuple(sorted(members))
        return parts[0] if len(parts) == 1 else self._term((operator, *parts), 1, parts)

    def xor(self, a: int, b: int) -> int:
        width = self._same_width(a, b)
        operators, operands = self.operator, self.operands
        if operators[a] == CONSTANT:
            a, b = b, a
        if operators[b] == CONSTANT:
            value = self.parameter[b]
            if operators[a] == CONSTANT:
                return self._folded(XOR, width, a, b)
            if value == 0:
                return a
            if value == (1 << width) - 1:
                return self.not_(a)
            if operators[a] == XOR and operators[operands[a][1]] == CONSTANT:
                x, k = operands[a]
                return self.xor(x, self.constant(self.parameter[k] ^ value, width))
            return self._term((XOR, a, b), width, (a, b))
        negations = 0
        if operators[a] == NOT:
            a, negations = operands[a][0], 1
        if operators[b] == NOT:
            b, negations = operands[b][0], negations + 1
        if a == b:
            return self.constant(-(negations & 1), width)
        if a > b:
            a, b = b, a
        result = self._term((XOR, a, b), width, (a, b))
        return self.not_(result) if negations == 1 else result

    def ite(self, condition: int, a: int, b: int) -> int:
        """`a` where the condition holds, otherwise `b`."""
        width = self._same_width(a, b)
        operators, operands = self.operator, self.operands
        if self.width[condition] != 1:
            raise ValueError(f"not a truth value: {self.show(condition)}")
        if operators[condition] == CONSTANT:
            return a if self.parameter[condition] else b
        if operators[condition] == NOT:
            condition, a, b = operands[condition][0], b, a
        # An arm that asks the same question again knows the answer.
        if operators[a] == ITE and operands[a][0] == condition:
            a = operands[a][1]
        if operators[b] == ITE and operands[b][0] == condition:
            b = operands[b][2]
        if a == b:
            return a
        if width == 1:
            return self._truth_of_choice(condition, a, b)
        if operators[a] == CONSTANT and operators[b] == CONSTANT:
            ones, x, y = (1 << width) - 1, self.parameter[a], self.parameter[b]
            if y == 0 and x in (1, ones):
                extend = self.zero_extend if x == 1 else self.sign_extend
                return extend(condition, width)
            if x == 0 and y in (1, ones):
                extend = self.zero_extend if y == 1 else self.sign_extend
                return extend(self.not_(condition), width)
        if operators[b] == ITE and operands[b][1] == a:
            other, _, rest = operands[b]
            return self.ite(self.or_(condition, other), a, rest)
        return self._term((ITE, condition, a, b), width, (condition, a, b))

    def _truth_of_choice(self, condition: int, a: int, b: int) -> int:
        """A choice between truth values that differ, as a gate of two inputs where it is one."""
        if a in (self.true, condition):
            return self.or_(condition, b)
        if b in (self.false, condition):
            return self.and_(condition, a)
        negated = self.not_(condition)
        if a in (self.false, negated):
            return self.and_(negated, b)
        if b in (self.true, negated):
            return self.or_(negated, a)
        if a == self.not_(b):
            return self.not_(self.xor(condition, a))
        return self._term((ITE, condition, a, b), 1, (condition, a, b))

    def _same_width(self, a: int, b: int) -> int:
        width = self.width[a]
        if self.width[b] != width:
            raise ValueError(f"{self.show(a)} and {self.show(b)} differ in width")
        return width

    def _folded(self, operator: int, width: int, a: int, b: int) -> int:
        values, given = (self.parameter[a], self.parameter[b]), self.width[a]
        return self.constant(compute(operator, width, values, (given, given)), width)
