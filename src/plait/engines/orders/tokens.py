"""Semaphores, as tokens that are given and taken.

A cell is a semaphore if all its accesses are atomic sections of two forms: *take* happens only if
the cell is not 0, and makes it smaller by 1; *give* makes it larger by 1. It begins with a
constant, which is in memory at first or is written before everything else.

Such a cell needs no reads and writes. That no take finds 0 means that in the order of all events
each take has, before it, more gives (and first tokens) than takes. This is so exactly if each take
can be given a token of its own: one of the first ones, or that of a give before it. If there are
enough, the k-th take may have the k-th token; so of two takes in a fixed order the earlier one has
the earlier token. This is said of takes that follow each other in a thread, as it saves the solver
permutations.

What a section finds in the cell is nobody's business otherwise: conditions on it (that it has not
reached its largest value) must be true of all values that it can have.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

from plait.data import dataclass
from plait.engines.orders.events import Order
from plait.engines.orders.prune import StaticOrders
from plait.engines.orders.unrolling import Access, Occurrence, Unrolling
from plait.engines.orders.unrolling_facts import Cell, SectionKey
from plait.logic.operators import ADD, EQ, ITE, NOT, SUB
from plait.logic.solver import Solver
from plait.logic.substitute import substitute
from plait.logic.terms import Terms

_MOST_VALUES = 512


@dataclass(frozen=True, slots=True)
class Found:
    """Semaphores with their first values, and the sections that give them these."""

    semaphores: dict[Cell, int]
    initialising: frozenset[tuple[Cell, SectionKey]]


@dataclass(frozen=True, slots=True, eq=False)
class _Change:
    write: Occurrence
    read: Occurrence
    step: int
    checks: list[int]


def find_semaphores(unrolling: Unrolling, orders: StaticOrders, terms: Terms) -> Found:
    of_cell: dict[Cell, list[Occurrence]] = {}
    for event in unrolling.events:
        if event.kind in (Access.READ, Access.WRITE) and event.cell is not None:
            if event.cell not in unrolling.regions:
                of_cell.setdefault(event.cell, []).append(event)
    search = _Search(unrolling, orders, terms)
    semaphores: dict[Cell, int] = {}
    initialising: set[tuple[Cell, SectionKey]] = set()
    for cell, events in of_cell.items():
        found = search.first_value(cell, events)
        if found is not None:
            semaphores[cell], keys = found
            initialising.update((cell, key) for key in keys)
    return Found(semaphores, frozenset(initialising))


class _Search:
    def __init__(self, unrolling: Unrolling, orders: StaticOrders, terms: Terms) -> None:
        self._unrolling = unrolling
        self._orders = orders
        self._terms = terms

    def first_value(
        self, cell: Cell, events: list[Occurrence]
    ) -> tuple[int, list[SectionKey]] | None:
        """Of a cell that is a semaphore, and the section that writes it, if there is one."""
        sections: dict[int, list[Occurrence]] = {}
        for event in events:
            if len(event.section) != 1:
                return None
            sections.setdefault(event.section[0][0], []).append(event)
        changes: list[_Change] = []
        first = self._terms.value(self._unrolling.initial[cell])
        keys: list[SectionKey] = []
        for name, inside in sections.items():
            change = self._change(inside)
            if change is not None:
                changes.append(change)
                continue
            key = self._unrolling.section_keys.get(name)
            if keys or key is None or not self._is_before_all(inside, events):
                return None
            keys.append(key)
            first = self._terms.value(inside[0].value)
        gives = sum(change.step > 0 for change in changes)
        if first is None or gives == len(changes) or first + gives > _MOST_VALUES:
            return None
        if first + gives >= 1 << 8 * cell[1] - 1:
            return None
        if not all(self._is_always(change, first + gives) for change in changes):
            return None
        return first, keys

    def _is_before_all(self, inside: list[Occurrence], events: list[Occurrence]) -> bool:
        """Whether a section is one write that precedes all other accesses, whenever they happen,
        and not because a take waits for it: without the write nobody would wait."""
        [write, *others] = inside
        if others or write.kind is not Access.WRITE:
            return False
        conjuncts, before = self._orders.conjuncts, self._orders.program_before
        sure = conjuncts.of(write.guard)
        return all(
            event is write
            or (before[event.number] >> write.number & 1 and not sure & ~conjuncts.of(event.guard))
            for event in events
        )

    def _change(self, inside: list[Occurrence]) -> _Change | None:
        if [event.kind for event in inside] != [Access.READ, Access.WRITE]:
            return None
        read, write = inside
        step = self._step(read.value, write)
        conjuncts = self._orders.conjuncts
        here, there = conjuncts.of(read.guard), conjuncts.of(write.guard)
        if step is None or here & ~there:
            return None
        if step < 0 and not self._waits(read, there):
            return None
        return _Change(write, read, step, conjuncts.atoms(there & ~here))

    def _step(self, read: int, write: Occurrence) -> int | None:
        terms, conjuncts = self._terms, self._orders.conjuncts
        written = write.value
        while terms.operator[written] == ITE:
            when, then, otherwise = terms.operands[written]
            sure = conjuncts.of(write.guard)
            if not conjuncts.of(when) & ~sure:
                written = then
            elif not conjuncts.of(terms.not_(when)) & ~sure:
                written = otherwise
            else:
                return None
        if terms.operator[written] not in (ADD, SUB) or terms.operands[written][0] != read:
            return None
        added = terms.value(terms.operands[written][1])
        if added is None:
            return None
        if terms.operator[written] == SUB:
            added = -added
        added %= 1 << terms.width[read]
        return {1: 1, (1 << terms.width[read]) - 1: -1}.get(added)

    def _waits(self, read: Occurrence, sure: int) -> bool:
        """Whether a section happens only if it does not read 0, and requires nothing else of it."""
        terms, conjuncts = self._terms, self._orders.conjuncts
        required = [
            (where, condition)
            for where, condition, names in self._unrolling.required
            if read.section[0][0] in names and read.value in terms.parts([condition])
        ]
        return len(required) == 1 and all(
            terms.operator[condition] == NOT
            and terms.operator[terms.operands[condition][0]] == EQ
            and terms.operands[terms.operands[condition][0]][0] == read.value
            and terms.value(terms.operands[terms.operands[condition][0]][1]) == 0
            and not conjuncts.of(where) & ~sure
            for where, condition in required
        )

    def _is_always(self, change: _Change, most: int) -> bool:
        """Whether the conditions of a change are true of all values that a section can find."""
        terms, read = self._terms, change.read.value
        return all(
            substitute(terms, check, {read: terms.constant(value, terms.width[read])}) == terms.true
            for check in change.checks
            for value in range(most + 1)
        )


def encode_tokens(
    unrolling: Unrolling,
    orders: StaticOrders,
    semaphores: dict[Cell, int],
    guards: list[int],
    solver: Solver,
) -> Iterator[Order]:
    """Who takes which token: a literal for each choice, with the order that it means."""
    for cell, first in semaphores.items():
        events = [event for event in unrolling.events if event.cell == cell]
        takes = [event.number for event in events if event.kind is Access.TAKE]
        gives = [event.number for event in events if event.kind is Access.GIVE]
        if len(takes) > first:
            yield from _choices(takes, gives, first, orders, guards, solver)


def _choices(
    takes: list[int],
    gives: list[int],
    first: int,
    orders: StaticOrders,
    guards: list[int],
    solver: Solver,
) -> Iterator[Order]:
    after = orders.after
    tokens = [*range(-first, 0), *gives]  # the first ones are numbered from below
    chosen: dict[tuple[int, int], int] = {}
    for take in takes:
        choices = []
        for token in tokens:
            if token >= 0 and after[take] >> token & 1:
                continue
            literal = chosen[take, token] = solver.new_literal()
            choices.append(literal)
            if guards[take]:
                solver.add_clause([-literal, guards[take]])
            if token >= 0:
                if guards[token]:
                    solver.add_clause([-literal, guards[token]])
                yield Order(token, take, literal)
        solver.add_clause([*([-guards[take]] if guards[take] else []), *choices])
    for token in tokens:
        sharing = [chosen[take, token] for take in takes if (take, token) in chosen]
        for one, two in combinations(sharing, 2):
            solver.add_clause([-one, -two])
    for take, following in pairwise(takes):
        if not after[take] >> following & 1:
            continue
        for token in tokens:
            for earlier in tokens:
                later_one = chosen.get((take, token))
                earlier_one = chosen.get((following, earlier))
                if later_one is None or earlier_one is None:
                    continue
                if _is_earlier(earlier, token, after):
                    solver.add_clause([-later_one, -earlier_one])


def _is_earlier(one: int, other: int, after: list[int]) -> bool:
    """Whether a token surely is there before another one."""
    if one < 0 or other < 0:
        return one < other
    return bool(after[one] >> other & 1)
