"""The values that terms can have, as far as it is known which writes there are to read from."""

from __future__ import annotations

from math import gcd

from plait.engines.orders.event_log import EventLog
from plait.engines.orders.unrolling_facts import Cell
from plait.logic.operators import (
    ADD,
    CONCAT,
    ITE,
    MUL,
    SIGN_EXTEND,
    SUB,
    VARIABLE,
    ZERO_EXTEND,
    compute,
)
from plait.logic.progression import Progression, Progressions

MOST_CANDIDATES = 256  # different values of a pointer that are looked at one by one


class PossibleValues:
    """What a read can give, as far as it is known when a pointer is used: the cells of each
    variable that stands for a read, and the values written to them. A value that is missing here
    makes the access one to no known object, which leaves the verdict open."""

    def __init__(self, log: EventLog) -> None:
        self._terms = log.terms
        self.progressions = Progressions(log.terms)
        self._knowledge = log.knowledge
        self._contents = log.contents
        self._page_bits = log.program.data_model.page_bits
        self.cells_of: dict[int, list[Cell]] = {}
        self.written: dict[Cell, dict[int, None]] = {}
        self._asked: dict[Cell, int] = {}
        self._closed: dict[int, list[int]] = {}  # leaves of terms that do not depend on reads

    def leaves(self, term: int) -> list[int] | None:
        """The values that a term of constants, choices and reads is known to take. A pointer that
        nothing determines has none; None where there is more to it than that."""
        terms = self._terms
        found: dict[int, None] = {}
        seen: set[tuple[int, int]] = set()
        pending = [(term, 0)]
        mask = (1 << terms.width[term]) - 1
        is_closed = True
        while pending:
            item, added = pending.pop()
            if (item, added) in seen:
                continue
            seen.add((item, added))
            value = terms.value(item)
            operator = terms.operator[item]
            if item in self._closed:
                found.update(((leaf + added) & mask, None) for leaf in self._closed[item])
            elif value is not None:
                found[(value + added) & mask] = None
            elif operator == ITE:
                pending += [(choice, added) for choice in terms.operands[item][1:]]
            elif operator == ADD and terms.is_constant(terms.operands[item][1]):
                left, right = terms.operands[item]
                pending.append((left, added + (terms.value(right) or 0)))
            elif item in self.cells_of:
                is_closed = False
                for cell in self.cells_of[item]:
                    if self._knowledge.pointers.is_vague(cell):
                        return None
                    for constant in self._knowledge.pointers.values(cell):
                        found[(constant + added) & mask] = None
                    pending += [(written, added) for written in self._values_of(cell)]
            elif operator != VARIABLE or self._is_address(added & mask, terms.width[term]):
                return None  # any number, or such an index behind a place that is known
            else:
                is_closed = False
            if len(found) + len(pending) > MOST_CANDIDATES:
                return None
        if is_closed:
            self._closed[term] = list(found)
        return list(found)

    def moved_pointers(self, term: int) -> list[tuple[int, Progression]] | None:
        """The values that a sum of a pointer and an index is known to take: from where it is moved
        and by which distances. Any part of the sum may be the pointer, so some of them are
        numbers."""
        terms = self._terms
        found: dict[tuple[int, Progression], None] = {}
        seen: set[tuple[int, Progression]] = set()
        pending: list[tuple[int, Progression]] = [(term, (0, 0))]
        while pending:
            item, moved = pending.pop()
            if (item, moved) in seen:
                continue
            seen.add((item, moved))
            value = terms.value(item)
            operator = terms.operator[item]
            operands = terms.operands[item]
            if value is not None:
                found[value, moved] = None
            elif operator == ITE:
                pending += [(choice, moved) for choice in operands[1:]]
            elif operator in (ADD, SUB):
                left, right = operands
                start, step = self.progressions.of(right)
                start = start if operator == ADD else -start
                pending.append((left, _sum(moved, (start, step))))
                if operator == ADD:
                    pending.append((right, _sum(moved, self.progressions.of(left))))
            elif item in self.cells_of:
                for cell in self.cells_of[item]:
                    if self._knowledge.pointers.is_vague(cell):
                        return None
                    for constant in self._knowledge.pointers.values(cell):
                        found[constant, moved] = None
                    pending += [(written, moved) for written in self._values_of(cell)]
            elif not self._is_number(item):
                return None
            if len(found) + len(pending) > MOST_CANDIDATES:
                return None
        return list(found)

    def _is_number(self, term: int) -> bool:
        """Whether a term is surely not made of the bytes of a pointer."""
        operator = self._terms.operator[term]
        if operator == CONCAT:
            return self._terms.is_constant(self._terms.operands[term][1])
        return operator in (VARIABLE, MUL, SIGN_EXTEND, ZERO_EXTEND)

    def _is_address(self, number: int, bits: int) -> bool:
        """Whether a number is too large for the offset of a member."""
        return 1 << self._page_bits <= number < 1 << (bits - 1)

    def numbers(self, term: int, most: int, known: dict[int, set[int] | None]) -> set[int] | None:
        """The values of any term whose variables stand for reads, as far as they are known; None
        if there are more than `most`, or nothing is known of a variable."""
        if term in known:
            return known[term]
        known[term] = set()  # of a value that depends on itself; completed below
        terms = self._terms
        found: set[int] | None = set()
        choices: list[int] = []
        if term in self.cells_of:
            choices = [item for cell in self.cells_of[term] for item in self._values_of(cell)]
        elif terms.operator[term] == ITE:
            choices = list(terms.operands[term][1:])
        elif terms.operator[term] == VARIABLE:
            found = None
        elif (value := terms.value(term)) is not None:
            found = {value}
        else:
            found = self._computed(term, most, known)
        for item in choices:
            more = self.numbers(item, most, known)
            found = None if found is None or more is None else found | more
        if found is not None and len(found) > most:
            found = None
        known[term] = found
        return found

    def _computed(self, term: int, most: int, known: dict[int, set[int] | None]) -> set[int] | None:
        terms = self._terms
        operands = terms.operands[term]
        sets = [self.numbers(item, most, known) for item in operands]
        combinations: list[tuple[int, ...]] = [()]
        for some in sets:
            if some is None or len(combinations) * len(some) > most * most:
                return None
            combinations = [(*start, value) for start in combinations for value in some]
        widths = [terms.width[item] for item in operands]
        return {
            compute(terms.operator[term], terms.width[term], values, widths, terms.parameter[term])
            for values in combinations
        }

    def _values_of(self, cell: Cell) -> list[int]:
        written = self.written.get(cell, {})
        self._asked.setdefault(cell, len(written))
        root = self._knowledge.layout.root(cell)
        places = [cell[0]] if root is None else self._knowledge.layout.members(root)
        initial = dict.fromkeys(self._contents.of(place, cell[1]) for place in places)
        return [*initial, *written]

    def learn_pointers(self) -> None:
        """Note pointers that were written to a cell only after a pointer was taken from there."""
        for cell, count in list(self._asked.items()):
            written = list(self.written.get(cell, {}))
            if len(written) == count:
                continue
            known = set(self._knowledge.pointers.values(cell))
            for term in [*self._values_of(cell)[: -len(written)], *written[:count]]:
                known.update(self.leaves(term) or ())
            for term in written[count:]:
                values = self.leaves(term)
                if values is not None:
                    values = [value for value in values if self._is_useful(value, known)]
                self._knowledge.pointers.learn(cell, values)

    def _is_useful(self, value: int, known: set[int]) -> bool:
        if value in known:
            return False
        objects = self._knowledge.objects
        return objects.at(value, 0) is not None or objects.function_at(value) is not None


def _sum(one: Progression, other: Progression) -> Progression:
    step = gcd(one[1], other[1])
    start = one[0] + other[0]
    return (start % step, step) if step else (start, 0)
