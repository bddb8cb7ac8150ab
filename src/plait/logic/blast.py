"""Bit-blasting: the bits of each term as literals of a circuit, and assertions as clauses."""

from __future__ import annotations

from collections.abc import Callable

from plait.logic import circuits
from plait.logic.circuits import Bits
from plait.logic.gates import FALSE, TRUE, Gates
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

# An assertion's clauses repeat the alternatives to it; with more than these a gate is cheaper.
_REPEATED = 4

Circuit = Callable[[int, list[Bits]], Bits]
# A term to assert, and the literals of which one may be true instead.
Assertion = tuple[int, tuple[int, ...]]


class Blaster:
    """Turns terms into gates; each term is blasted once, when it is first needed."""

    def __init__(self, terms: Terms, gates: Gates) -> None:
        self.terms = terms
        self.gates = gates
        self._bits: dict[int, Bits] = {}
        self._divisions: dict[tuple[Bits, Bits], tuple[list[int], list[int]]] = {}
        self._circuits = self._circuit_table()

    def bits(self, term: int) -> Bits:
        """The literals of a term, lowest bit first."""
        found = self._bits.get(term)
        if found is not None:
            return found
        operands, known = self.terms.operands, self._bits
        pending = [term]
        while pending:
            item = pending[-1]
            missing = [operand for operand in operands[item] if operand not in known]
            if missing:
                pending += missing
                continue
            pending.pop()
            if item not in known:
                arguments = [known[operand] for operand in operands[item]]
                known[item] = self._circuits[self.terms.operator[item]](item, arguments)
        return known[term]

    def literal(self, term: int) -> int:
        """The literal of a truth value."""
        (bit,) = self.bits(term)
        return bit

    def known_bits(self, term: int) -> Bits | None:
        """The literals of a term that has been blasted before."""
        return self._bits.get(term)

    # --- assertions

    def assert_term(self, term: int) -> None:
        """Demand that a truth value is true, with as few gates as its outermost operators allow."""
        pending: list[tuple[int, tuple[int, ...]]] = [(term, ())]
        while pending:
            item, alternatives = pending.pop()
            if item in self._bits or len(alternatives) > _REPEATED:
                self.gates.add_clause([*alternatives, self.literal(item)])
            else:
                pending += reversed(self._asserted(item, alternatives))

    def _asserted(self, term: int, alternatives: tuple[int, ...]) -> list[Assertion]:
        """Assert a term unless one of the alternatives is true, as far as that needs clauses now;
        returned are the assertions of parts that remain to be made."""
        terms = self.terms
        operator, operands = terms.operator[term], terms.operands[term]
        if operator == NOT:
            (inner,) = operands
            operator, operands = terms.operator[inner], terms.operands[inner]
            if operator == OR:
                return [(terms.not_(part), alternatives) for part in operands]
            if operator == AND:
                return self._one_of([terms.not_(part) for part in operands], alternatives)
            if operator == ITE:
                condition, then, otherwise = operands
                return self._chosen(
                    condition, terms.not_(then), terms.not_(otherwise), alternatives
                )
            if operator == EQ:
                pairs = zip(self.bits(operands[0]), self.bits(operands[1]))
                self.gates.add_clause([*alternatives, *(self.gates.xor(x, y) for x, y in pairs)])
                return []
            if operator == XOR:
                return self._equal(operands[0], operands[1], alternatives)
        elif operator == AND:
            return [(part, alternatives) for part in operands]
        elif operator == OR:
            return self._one_of(list(operands), alternatives)
        elif operator == ITE:
            condition, then, otherwise = operands
            return self._chosen(condition, then, otherwise, alternatives)
        elif operator == EQ:
            return self._equal(operands[0], operands[1], alternatives)
        elif operator == XOR:
            return self._equal(terms.not_(operands[0]), operands[1], alternatives)
        self.gates.add_clause([*alternatives, self.literal(term)])
        return []

    def _one_of(self, parts: list[int], alternatives: tuple[int, ...]) -> list[Assertion]:
        """Assert a disjunction; one member may have clauses of its own instead of a literal."""
        last = None
        if len(parts) + len(alternatives) <= _REPEATED:
            last = next((part for part in parts if self._has_own_clauses(part)), None)
        literals = [self.literal(part) for part in parts if part != last]
        if last is not None:
            return [(last, (*alternatives, *literals))]
        self.gates.add_clause([*alternatives, *literals])
        return []

    def _has_own_clauses(self, term: int) -> bool:
        if term in self._bits:
            return False
        operator = self.terms.operator[term]
        if operator == NOT:
            return self.terms.operator[self.terms.operands[term][0]] in (OR, XOR)
        return operator in (AND, EQ, XOR)

    def _chosen(
        self, condition: int, then: int, otherwise: int, alternatives: tuple[int, ...]
    ) -> list[Assertion]:
        test = self.literal(condition)
        return [(then, (*alternatives, -test)), (otherwise, (*alternatives, test))]

    def _equal(self, a: int, b: int, alternatives: tuple[int, ...]) -> list[Assertion]:
        if alternatives or not (self._is_defined_by(a, b) or self._is_defined_by(b, a)):
            add_clause = self.gates.add_clause
            for x, y in zip(self.bits(a), self.bits(b)):
                if x != y:
                    add_clause([*alternatives, -x, y])
                    add_clause([*alternatives, x, -y])
        return []

    def _is_defined_by(self, variable: int, term: int) -> bool:
        """Give a variable that no clause mentions yet the literals of the term it must equal:
        assertions are never taken back, so the two are the same from now on."""
        if self.terms.operator[variable] != VARIABLE or variable in self._bits:
            return False
        bits = self.bits(term)
        if variable in self._bits:
            return False
        self._bits[variable] = bits
        return True

    # --- circuits of operators

    def _circuit_table(self) -> dict[int, Circuit]:
        gates = self.gates
        return {
            CONSTANT: self._constant,
            VARIABLE: lambda term, v: [gates.new_literal() for _ in range(self.terms.width[term])],
            NOT: lambda term, v: circuits.negated(v[0]),
            AND: lambda term, v: [gates.all_of(column) for column in zip(*v)],
            OR: lambda term, v: [gates.any_of(column) for column in zip(*v)],
            XOR: lambda term, v: [gates.xor(x, y) for x, y in zip(*v)],
            NEG: lambda term, v: circuits.negation_of(gates, v[0]),
            ADD: lambda term, v: circuits.sum_of(gates, v[0], v[1]),
            SUB: lambda term, v: circuits.difference_of(gates, v[0], v[1]),
            MUL: lambda term, v: circuits.product_of(gates, v[0], v[1]),
            UDIV: lambda term, v: self._division(v[0], v[1])[0],
            UREM: lambda term, v: self._division(v[0], v[1])[1],
            SDIV: self._signed_quotient,
            SREM: self._signed_remainder,
            SHL: lambda term, v: circuits.shifted_left(gates, v[0], v[1]),
            LSHR: lambda term, v: circuits.shifted_right(gates, v[0], v[1], FALSE),
            ASHR: lambda term, v: circuits.shifted_right(gates, v[0], v[1], v[0][-1]),
            EQ: lambda term, v: [circuits.is_equal(gates, v[0], v[1])],
            ULT: lambda term, v: [circuits.is_less(gates, v[0], v[1])],
            SLT: lambda term, v: [circuits.is_less_signed(gates, v[0], v[1])],
            ITE: lambda term, v: circuits.choice(gates, v[0][0], v[1], v[2]),
            CONCAT: lambda term, v: [*v[1], *v[0]],
            EXTRACT: self._extract,
            ZERO_EXTEND: lambda term, v: self._extended(term, v[0], FALSE),
            SIGN_EXTEND: lambda term, v: self._extended(term, v[0], v[0][-1]),
        }

    def _constant(self, term: int, operands: list[Bits]) -> Bits:
        value = self.terms.parameter[term]
        return [TRUE if value >> place & 1 else FALSE for place in range(self.terms.width[term])]

    def _extract(self, term: int, operands: list[Bits]) -> Bits:
        low = self.terms.parameter[term]
        return operands[0][low : low + self.terms.width[term]]

    def _extended(self, term: int, bits: Bits, fill: int) -> Bits:
        return [*bits, *[fill] * (self.terms.width[term] - len(bits))]

    def _division(self, a: Bits, b: Bits) -> tuple[list[int], list[int]]:
        """Quotient and remainder come from one circuit."""
        key = (tuple(a), tuple(b))
        found = self._divisions.get(key)
        if found is None:
            found = self._divisions[key] = circuits.quotient_and_remainder(self.gates, a, b)
        return found

    def _signed_quotient(self, term: int, operands: list[Bits]) -> Bits:
        quotient, _ = self._signed_division(*operands)
        sign = self.gates.xor(operands[0][-1], operands[1][-1])
        return circuits.negated_if(self.gates, sign, quotient)

    def _signed_remainder(self, term: int, operands: list[Bits]) -> Bits:
        _, remainder = self._signed_division(*operands)
        return circuits.negated_if(self.gates, operands[0][-1], remainder)

    def _signed_division(self, a: Bits, b: Bits) -> tuple[list[int], list[int]]:
        """Division of the absolute values, which as unsigned numbers always fit."""
        left = circuits.negated_if(self.gates, a[-1], a)
        right = circuits.negated_if(self.gates, b[-1], b)
        return self._division(left, right)
