"""Truth values as conjunctions of smaller ones."""

from __future__ import annotations

from collections.abc import Iterable

from plait.logic.interpolation.linear import Normal
from plait.logic.operators import AND, NOT, OR, SLT, ULT
from plait.logic.terms import Terms

# So many conjunctions are remembered: the steps and labels of one path come again in others.
_REMEMBERED = 50_000

# A disjunction with a conjunction becomes a conjunction of at most so many disjunctions.
_CLAUSES = 32


class Conjuncts:
    """Takes conjunctions apart; each part is in normal form, `true` is no part at all."""

    def __init__(self, terms: Terms) -> None:
        self.normal = Normal(terms)
        self._terms = terms
        self._known: dict[int, tuple[int, ...]] = {}
        self._joined: dict[tuple[int, ...], tuple[int, ...]] = {}

    def __call__(self, term: int) -> tuple[int, ...]:
        found = self._known.get(term)
        if found is None:
            found = self._known[term] = self._split(term)
        return found

    def of(self, items: Iterable[int]) -> tuple[int, ...]:
        """The parts of all given truth values, each once; `false` makes all others superfluous."""
        given = tuple(items)
        found = self._joined.get(given)
        if found is None:
            if len(self._joined) > _REMEMBERED:
                self._joined.clear()
            found = self._joined[given] = self._join(given)
        return found

    def _join(self, items: tuple[int, ...]) -> tuple[int, ...]:
        parts = tuple(dict.fromkeys(part for item in items for part in self(item)))
        return (self._terms.false,) if self._terms.false in parts else self._merged(parts)

    def _merged(self, parts: tuple[int, ...]) -> tuple[int, ...]:
        """`a <= b` and `b <= a` as `a == b`."""
        terms = self._terms
        bounds: dict[tuple[int, int], tuple[int, int]] = {}
        for part in parts:
            is_negated = terms.operator[part] == NOT
            comparison = terms.operands[part][0] if is_negated else part
            if terms.operator[comparison] in (ULT, SLT):
                left, right = terms.operands[comparison]
                low, high = (right, left) if is_negated else (left, self._before(right))
                if high >= 0:
                    bounds[low, high] = (part, terms.operator[comparison])
        result = list(parts)
        for (low, high), (part, kind) in bounds.items():
            other, other_kind = bounds.get((high, low), (-1, -1))
            if kind == other_kind and low < high:
                result[result.index(part)] = self.normal(terms.eq(low, high))
                result.remove(other)
        return tuple(dict.fromkeys(result))

    def _before(self, term: int) -> int:
        """The constant before a constant; -1 for other terms. There is one, as comparisons with
        the least constant are no comparisons."""
        if not self._terms.is_constant(term):
            return -1
        return self._terms.constant(self._terms.parameter[term] - 1, self._terms.width[term])

    def _split(self, term: int) -> tuple[int, ...]:
        terms = self._terms
        parts: dict[int, None] = {}
        pending = [term]
        while pending:
            item = pending.pop()
            operator, operands = terms.operator[item], terms.operands[item]
            if operator == AND:
                pending += reversed(operands)
            elif operator == NOT and terms.operator[operands[0]] == OR:
                pending += [terms.not_(part) for part in reversed(terms.operands[operands[0]])]
            elif operator == OR and (clauses := self._distributed(operands)):
                pending += reversed(clauses)
            else:
                part = self.normal(item)
                if part == terms.false:
                    return (part,)
                if part != terms.true:
                    parts[part] = None
        return tuple(parts)

    def _distributed(self, members: tuple[int, ...]) -> list[int]:
        """`a or (b and c)` as `a or b` and `a or c`. Several conjunctions stay as they are: they
        would become too many disjunctions, and worse ones."""
        terms = self._terms
        conjunctions = [member for member in members if terms.operator[member] == AND]
        if len(conjunctions) != 1 or len(terms.operands[conjunctions[0]]) > _CLAUSES:
            return []
        others = [member for member in members if member != conjunctions[0]]
        return [terms.any_of((*others, part)) for part in terms.operands[conjunctions[0]]]
