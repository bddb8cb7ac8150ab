"""Conjunctions without some of their variables: what is left to say about the others.

The result follows from the given conjunction and is as strong as cheap rules make it: a variable
that an equation defines is replaced (the one-point rule); one with few values, or of which only few
are told apart, is replaced by each of them; a bound below and a bound above give a comparison of
the two; what still mentions the variable is left out.
"""

from __future__ import annotations

from collections.abc import Iterable

from plait.logic.interpolation.conjuncts import Conjuncts
from plait.logic.interpolation.linear import difference, solved_for, term_of
from plait.logic.operators import EQ, NOT, SLT, ULT, VARIABLE, XOR, signed
from plait.logic.substitute import Vocabulary, substitute
from plait.logic.terms import Terms

# A variable is replaced by each of its values if it has at most so many, and if that leaves at most
# so many nodes of terms.
_VALUES = 8
_NODES = 2000


class Elimination:
    """Eliminates variables from conjunctions of the terms of one table."""

    def __init__(self, terms: Terms, vocabulary: Vocabulary, conjuncts: Conjuncts) -> None:
        self._terms = terms
        self._vocabulary = vocabulary
        self._conjuncts = conjuncts

    def without(self, unwanted: Iterable[int], conjunction: Iterable[int]) -> tuple[int, ...]:
        """A consequence of the conjunction that mentions none of the unwanted variables."""
        targets = frozenset(unwanted)
        parts = self.replaced(targets, conjunction)
        for variable in sorted(targets & self._vocabulary.of(parts)):
            parts = self._by_cases(variable, parts) or self._projected(variable, parts)
        return self._conjuncts.of(parts)

    def replaced(self, unwanted: Iterable[int], conjunction: Iterable[int]) -> tuple[int, ...]:
        """The conjunction with unwanted variables replaced where equations define them, by which
        nothing gets lost; others stay."""
        targets = frozenset(unwanted)
        parts = tuple(conjunction)
        while True:
            present = targets & self._vocabulary.of(parts)
            definition = self._definition(present, parts)
            if definition is None:
                return parts
            used, variable, value = definition
            mapping = {variable: value}
            parts = self._conjuncts.of(
                substitute(self._terms, part, mapping)
                if variable in self._vocabulary(part)
                else part
                for part in parts
                if part != used
            )

    def _definition(
        self, targets: frozenset[int], parts: Iterable[int]
    ) -> tuple[int, int, int] | None:
        """An equation, a variable that it can be solved for, and that variable's value; values
        without other targets first, so that chains of definitions end in something wanted."""
        found: tuple[int, int, int] | None = None
        for part in parts:
            if targets.isdisjoint(self._vocabulary(part)):
                continue
            for variable, value in self._solutions(targets, part):
                if targets.isdisjoint(self._vocabulary(value)):
                    return part, variable, value
                found = found or (part, variable, value)
        return found

    def _solutions(self, targets: frozenset[int], part: int) -> list[tuple[int, int]]:
        terms = self._terms
        operator, operands = terms.operator[part], terms.operands[part]
        if operator == VARIABLE:
            return [(part, terms.true)]
        inner = operands[0]
        if operator == NOT and terms.operator[inner] == VARIABLE:
            return [(inner, terms.false)]
        if operator == XOR:
            return self._sides(targets, operands[0], terms.not_(operands[1]))
        if operator == NOT and terms.operator[inner] == XOR:
            return self._sides(targets, *terms.operands[inner])
        if operator == EQ:
            return self._summands(targets, *operands)
        return []

    def _sides(self, targets: frozenset[int], left: int, right: int) -> list[tuple[int, int]]:
        """Solutions of an equation of truth values."""
        terms = self._terms
        result: list[tuple[int, int]] = []
        for one, other in ((left, right), (right, left)):
            if terms.operator[one] == NOT:
                one, other = terms.operands[one][0], terms.not_(other)
            if one in targets and one not in self._vocabulary(other):
                result.append((one, other))
        return result

    def _summands(self, targets: frozenset[int], left: int, right: int) -> list[tuple[int, int]]:
        total = difference(self._terms, left, right)
        if total is None:
            return []
        result: list[tuple[int, int]] = []
        for atom, factor in total.factors.items():
            if atom not in targets or not factor & 1:
                continue
            if any(atom in self._vocabulary(other) for other in total.factors if other != atom):
                continue
            result.append((atom, term_of(self._terms, solved_for(total, atom))))
        return result

    def _by_cases(self, variable: int, parts: tuple[int, ...]) -> tuple[int, ...]:
        """The disjunction over all values that the variable can have, if these are few."""
        terms = self._terms
        about = [part for part in parts if variable in self._vocabulary(part)]
        values = self._few_values(variable, about) or self._told_apart(variable, about)
        if not values or len(values) * sum(1 for _ in terms.parts(about)) > _NODES:
            return ()
        cases: list[int] = []
        for value in values:
            mapping = {variable: terms.constant(value, terms.width[variable])}
            cases.append(terms.all_of(substitute(terms, part, mapping) for part in about))
        kept = [part for part in parts if variable not in self._vocabulary(part)]
        return (terms.any_of(cases), *kept)

    def _few_values(self, variable: int, about: list[int]) -> range:
        """The values between constant bounds; an empty range if they are too many."""
        width = self._terms.width[variable]
        for kind in (ULT, SLT):
            low = 0 if kind == ULT else -(1 << (width - 1))
            high = low + (1 << width) - 1
            for part in about:
                bound = self._bound(kind, variable, part)
                if bound is None or not self._terms.is_constant(bound[1]):
                    continue
                is_above, term, is_strict = bound
                value = self._terms.parameter[term]
                if kind == SLT:
                    value = signed(value, width)
                if is_above:
                    high = min(high, value - is_strict)
                else:
                    low = max(low, value + is_strict)
            if 0 <= high - low < _VALUES:
                return range(low, high + 1)
        return range(0)

    def _told_apart(self, variable: int, about: list[int]) -> list[int]:
        """If it is only ever compared with constants for equality: these, and one that stands for
        all other values; an empty list if they are too many."""
        terms = self._terms
        if variable in about:
            return []
        found: set[int] = set()
        for term in terms.parts(about):
            operands = terms.operands[term]
            if variable not in operands:
                continue
            others = [item for item in operands if item != variable]
            if terms.operator[term] != EQ or len(others) != 1 or not terms.is_constant(others[0]):
                return []
            found.add(terms.parameter[others[0]])
        if len(found) >= _VALUES:
            return []
        number = 1 << terms.width[variable]
        other = next((value for value in range(number) if value not in found), None)
        return sorted(found if other is None else found | {other})

    def _projected(self, variable: int, parts: tuple[int, ...]) -> tuple[int, ...]:
        """Fourier and Motzkin's elimination for comparisons with the variable itself. Bounds that
        are strict on both sides would leave a gap; that they cross is true all the same."""
        kept = [part for part in parts if variable not in self._vocabulary(part)]
        for kind in (ULT, SLT):
            below: list[tuple[int, bool]] = []
            above: list[tuple[int, bool]] = []
            for part in parts:
                bound = self._bound(kind, variable, part)
                if bound is not None:
                    is_above, value, is_strict = bound
                    (above if is_above else below).append((value, is_strict))
            kept += self._crossed(kind, below, above)
        return tuple(kept)

    def _bound(self, kind: int, variable: int, part: int) -> tuple[bool, int, bool] | None:
        """Whether a comparison bounds the variable from above, the bound, and if it is strict."""
        terms = self._terms
        is_strict = terms.operator[part] != NOT
        comparison = part if is_strict else terms.operands[part][0]
        if comparison == terms.extract(variable, terms.width[variable] - 1, 1) and kind == SLT:
            zero = terms.constant(0, terms.width[variable])  # x < 0 is written as x's sign
            return is_strict, zero, is_strict
        if terms.operator[comparison] != kind:
            return None
        left, right = terms.operands[comparison]
        if left == variable and variable not in self._vocabulary(right):
            return is_strict, right, is_strict
        if right == variable and variable not in self._vocabulary(left):
            return not is_strict, left, is_strict
        return None

    def _crossed(
        self, kind: int, below: list[tuple[int, bool]], above: list[tuple[int, bool]]
    ) -> list[int]:
        terms = self._terms
        less = terms.ult if kind == ULT else terms.slt
        result: list[int] = []
        for low, low_is_strict in below:
            for high, high_is_strict in above:
                if low_is_strict or high_is_strict:
                    result.append(less(low, high))
                else:
                    result.append(terms.not_(less(high, low)))
        width = terms.width[below[0][0]] if below else terms.width[above[0][0]] if above else 0
        if width:
            # Nothing is strictly beyond the ends of the range.
            top = (1 << width) - 1 if kind == ULT else (1 << (width - 1)) - 1
            bottom = 0 if kind == ULT else 1 << (width - 1)
            result += [terms.ne(low, terms.constant(top, width)) for low, strict in below if strict]
            result += [
                terms.ne(high, terms.constant(bottom, width)) for high, strict in above if strict
            ]
        return result
