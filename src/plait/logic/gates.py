"""Logic gates as clauses (Tseitin's translation), each distinct gate once.

A literal is a non-zero integer, negative for a negated variable; variable 1 is constantly true.
A gate's output is a new variable, defined in both directions by clauses that go to the sink at
once. Gates of constants, of equal or of opposite inputs cost nothing, and inputs are brought into
a normal form (sorted, negations moved to the output) so that equal gates are found again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

TRUE: Final = 1
FALSE: Final = -1

Sink = Callable[[list[int]], object]


def _refuse(clause: list[int]) -> None:
    raise ValueError("the circuit is closed")


class Gates:
    """A growing circuit; `variables` and `clauses` count what it has made so far."""

    __slots__ = (
        "_choices",
        "_conjunctions",
        "_emit",
        "_majorities",
        "_parities",
        "clauses",
        "variables",
    )

    def __init__(self, emit: Sink) -> None:
        self._emit = emit
        self._conjunctions: dict[tuple[int, ...], int] = {}
        self._parities: dict[tuple[int, ...], int] = {}
        self._choices: dict[tuple[int, int, int], int] = {}
        self._majorities: dict[tuple[int, int, int], int] = {}
        self.variables = 1
        self.clauses = 1
        emit([TRUE])

    def close(self) -> None:
        """No more clauses: there is nobody left to take them."""
        self._emit = _refuse

    def new_literal(self) -> int:
        self.variables += 1
        return self.variables

    def add_clause(self, literals: Iterable[int]) -> None:
        """Demand that one of the literals is true."""
        members = set(literals)
        if TRUE in members:
            return
        members.discard(FALSE)
        for literal in members:
            if -literal in members:
                return
        self.clauses += 1
        self._emit(list(members))

    def and_(self, a: int, b: int) -> int:
        if a == b or b == TRUE:
            return a
        if a == TRUE:
            return b
        if a == -b or a == FALSE or b == FALSE:
            return FALSE
        key = (a, b) if a < b else (b, a)
        found = self._conjunctions.get(key)
        if found is None:
            self.variables = found = self._conjunctions[key] = self.variables + 1
            self.clauses += 3
            emit = self._emit
            emit([-found, a])
            emit([-found, b])
            emit([found, -a, -b])
        return found

    def or_(self, a: int, b: int) -> int:
        return -self.and_(-a, -b)

    def all_of(self, literals: Iterable[int]) -> int:
        """The conjunction of any number of literals: one gate."""
        members = set(literals)
        members.discard(TRUE)
        if FALSE in members:
            return FALSE
        for literal in members:
            if -literal in members:
                return FALSE
        if len(members) < 3:
            inputs = [*members, TRUE, TRUE]
            return self.and_(inputs[0], inputs[1])
        key = tuple(sorted(members))
        found = self._conjunctions.get(key)
        if found is None:
            self.variables = found = self._conjunctions[key] = self.variables + 1
            self.clauses += 1 + len(key)
            emit = self._emit
            last = [found]
            for literal in key:
                emit([-found, literal])
                last.append(-literal)
            emit(last)
        return found

    def any_of(self, literals: Iterable[int]) -> int:
        return -self.all_of([-literal for literal in literals])

    def xor(self, a: int, b: int) -> int:
        # The parity of positive literals; their signs go to the output.
        sign = 1
        if a < 0:
            a, sign = -a, -1
        if b < 0:
            b, sign = -b, -sign
        if a == b:
            return -sign
        if a == TRUE:
            return -sign * b
        if b == TRUE:
            return -sign * a
        key = (a, b) if a < b else (b, a)
        found = self._parities.get(key)
        if found is None:
            self.variables = found = self._parities[key] = self.variables + 1
            self.clauses += 4
            emit = self._emit
            emit([-found, a, b])
            emit([-found, -a, -b])
            emit([found, -a, b])
            emit([found, a, -b])
        return sign * found

    def xor3(self, a: int, b: int, c: int) -> int:
        """The parity of three literals: the sum bit of a full adder."""
        sign = 1
        if a < 0:
            a, sign = -a, -1
        if b < 0:
            b, sign = -b, -sign
        if c < 0:
            c, sign = -c, -sign
        if a > b:
            a, b = b, a
        if b > c:
            b, c = c, b
            if a > b:
                a, b = b, a
        if a == b:
            return sign * c
        if b == c:
            return sign * a
        if a == TRUE:
            return -sign * self.xor(b, c)
        key = (a, b, c)
        found = self._parities.get(key)
        if found is None:
            self.variables = found = self._parities[key] = self.variables + 1
            self.clauses += 8
            emit = self._emit
            emit([-found, a, b, c])
            emit([-found, a, -b, -c])
            emit([-found, -a, b, -c])
            emit([-found, -a, -b, c])
            emit([found, -a, -b, -c])
            emit([found, -a, b, c])
            emit([found, a, -b, c])
            emit([found, a, b, -c])
        return sign * found

    def majority(self, a: int, b: int, c: int) -> int:
        """Whether at least two literals are true: the carry of a full adder."""
        if a > b:
            a, b = b, a
        if b > c:
            b, c = c, b
            if a > b:
                a, b = b, a
        if a == b or b == c:
            return b
        if a == -b:
            return c
        if b == -c:
            return a
        if a == -c:
            return b
        # Sorted and different: a constant 1 is the least positive, -1 the greatest negative.
        if a == TRUE:
            return self.or_(b, c)
        if b == TRUE:
            return self.or_(a, c)
        if c == TRUE:
            return self.or_(a, b)
        if c == FALSE:
            return self.and_(a, b)
        if b == FALSE:
            return self.and_(a, c)
        if a == FALSE:
            return self.and_(b, c)
        # It is its own dual: with two negative inputs, negate all three and the output.
        sign = 1
        if b < 0:
            a, b, c, sign = -c, -b, -a, -1
        key = (a, b, c)
        found = self._majorities.get(key)
        if found is None:
            self.variables = found = self._majorities[key] = self.variables + 1
            self.clauses += 6
            emit = self._emit
            emit([found, -a, -b])
            emit([found, -a, -c])
            emit([found, -b, -c])
            emit([-found, a, b])
            emit([-found, a, c])
            emit([-found, b, c])
        return sign * found

    def ite(self, condition: int, a: int, b: int) -> int:
        """`a` where the condition is true, otherwise `b`."""
        if condition < 0:
            condition, a, b = -condition, b, a
        if condition == TRUE or a == b:
            return a
        if a == -b:
            return -self.xor(condition, a)
        if a in (TRUE, condition):
            return -self.and_(-condition, -b)
        if a in (FALSE, -condition):
            return self.and_(-condition, b)
        if b in (TRUE, -condition):
            return -self.and_(condition, -a)
        if b in (FALSE, condition):
            return self.and_(condition, a)
        sign = 1
        if a < 0:
            a, b, sign = -a, -b, -1
        key = (condition, a, b)
        found = self._choices.get(key)
        if found is None:
            self.variables = found = self._choices[key] = self.variables + 1
            self.clauses += 6
            emit = self._emit
            emit([-found, -condition, a])
            emit([found, -condition, -a])
            emit([-found, condition, b])
            emit([found, condition, -b])
            # Implied by the others, but not by unit propagation: equal arms decide the output.
            emit([-found, a, b])
            emit([found, -a, -b])
        return sign * found
