"""The abstraction: each thread in isolation, and each read takes the value of some write.

phi_0 = init, the threads' own constraints, and for each read that occurs a link from a write of
its cell that occurs, with the same value; nothing is said about the order of events. The links and
guards are literals of the solver, so that an event order graph can be built from each model.

In a region write and read must have the same address too. The literal of an alias is the solver's
literal for "the write occurs, at the address of the read": a model makes it true exactly then.
"""

from __future__ import annotations

from collections.abc import Iterable

from plait.data import dataclass, field
from plait.engines.interface import WeakMove
from plait.engines.orders.events import (
    Alias,
    CriticalSection,
    Event,
    EventStructure,
    Kind,
    Link,
    Order,
)
from plait.engines.orders.learning import Learned
from plait.engines.orders.prune import StaticOrders
from plait.engines.orders.races import racing_pairs
from plait.engines.orders.schedules import simple_schedules
from plait.engines.orders.tokens import encode_tokens
from plait.engines.orders.unrolling import Access, Claim, Occurrence
from plait.engines.orders.unrolling_facts import Cell
from plait.errors import UnsupportedCode
from plait.logic.solver import Solver

MOST_PAIRS = 1_000_000
_KINDS = {Access.READ: Kind.READ, Access.WRITE: Kind.WRITE}


@dataclass(slots=True, eq=False)
class Encoding:
    """`structure`'s events are those of the unrolling, then one initial write for each cell."""

    structure: EventStructure
    guards: list[int]
    candidates: list[Link] = field(default_factory=list)
    schedules: list[int] = field(default_factory=list)  # literals that choose a simple schedule


class Encoder:
    def __init__(
        self,
        learned: Learned,
        solver: Solver,
        finds_races: bool = False,
        with_schedules: bool = False,
    ) -> None:
        self._finds_races = finds_races
        self._with_schedules = with_schedules
        self._unrolling = learned.unrolling
        self._orders = learned.orders
        self._sections = learned.sections
        self._semaphores = dict(learned.semaphores)
        self._solver = solver
        self._terms = solver.terms
        self._cells = {cell: number for number, cell in enumerate(self._unrolling.initial)}
        self._aliases: list[Alias] = []
        self._wanted: dict[tuple[int, ...], int] = {}

    def encode(self) -> Encoding:
        solver, unrolling = self._solver, self._unrolling
        for fact in unrolling.facts:
            solver.assert_term(fact)
        guards = [self._guard(item.guard) for item in unrolling.events]
        events = [
            Event(
                _KINDS.get(item.kind, Kind.OTHER),
                item.thread,
                None if item.cell is None else self._cells.get(item.cell),
                guard,
            )
            for item, guard in zip(unrolling.events, guards, strict=True)
        ]
        count = len(events)
        events += [Event(Kind.WRITE, 0, cell, 0) for cell in self._cells.values()]
        orders = self._orders
        links = self._links(orders, guards, count)
        sections = [
            CriticalSection(first, last, None, self._guard(when))
            for first, last, when in unrolling.sections
            if when != self._terms.false
        ]
        numbers: dict[Cell, int] = {}
        for item in self._sections:
            lock = numbers.setdefault(item.cell, len(numbers))
            sections.append(CriticalSection(item.first, item.last, lock, self._guard(item.when)))
        conditional = [Order(write, read, guards[read]) for write, read in orders.conditional]
        conditional += encode_tokens(unrolling, orders, self._semaphores, guards, solver)
        schedules: list[int] = []
        if self._with_schedules:
            schedules = simple_schedules(unrolling, guards, solver, conditional)
        if self._finds_races:
            conditional += self._races(guards)
        structure = self._structure(events, links, conditional, sections, guards)
        return Encoding(structure, guards, links, schedules)

    def _structure(
        self,
        events: list[Event],
        links: list[Link],
        conditional: list[Order],
        sections: list[CriticalSection],
        guards: list[int],
    ) -> EventStructure:
        regions = [self._cells[cell] for cell in self._unrolling.regions]
        return EventStructure(
            events, self._orders.edges, links, conditional, sections, self._aliases, regions
        )

    def _races(self, guards: list[int]) -> list[Order]:
        """Claim each race, with the orders that it means."""
        solver, terms, unrolling = self._solver, self._terms, self._unrolling
        found: list[Order] = []
        for pair in racing_pairs(unrolling, self._orders, self._sections, terms):
            happens = terms.fresh("race", 1)
            literal = solver.literal_of(happens)
            for event in (pair.one, pair.other):
                if guards[event.number]:
                    solver.add_clause([-literal, guards[event.number]])
            if pair.same != terms.true:
                solver.add_clause([-literal, solver.literal_of(pair.same)])
            found.append(Order(pair.one.arrival, pair.other.number, literal))
            found.append(Order(pair.other.number, pair.one.number, literal))
            unrolling.violations.append(
                Claim(
                    happens,
                    pair.one.thread,
                    "no-data-race",
                    "a data race",
                    pair.one.origin,
                    (pair.one.number, pair.other.number),
                )
            )
        return found

    def _guard(self, term: int) -> int:
        return 0 if term == self._terms.true else self._solver.literal_of(term)

    def _links(self, orders: StaticOrders, guards: list[int], count: int) -> list[Link]:
        """What each read can read from."""
        solver, terms = self._solver, self._terms
        occurrences = self._unrolling.events
        cells = list(self._unrolling.initial.values())
        if sum(map(len, orders.candidates.values())) > MOST_PAIRS:
            raise UnsupportedCode(f"more than {MOST_PAIRS} pairs of a write and a read of its cell")
        links: list[Link] = []
        for number, writes in orders.candidates.items():
            read = occurrences[number]
            assert read.cell is not None
            choices = []
            initial = cells[self._cells[read.cell]] if read.address is None else read.initial
            if read.address is not None:
                self._add_aliases(orders, read)
            for write in writes:
                value = initial if write >= count else occurrences[write].value
                equal = terms.eq(read.value, value)
                if read.address is not None and write < count:
                    equal = terms.and_(equal, orders.same_address(read, occurrences[write]))
                chosen = solver.new_literal()
                if equal != terms.true:
                    solver.add_clause([-chosen, solver.literal_of(equal)])
                if write < count and guards[write]:
                    solver.add_clause([-chosen, guards[write]])
                if guards[number]:
                    solver.add_clause([-chosen, guards[number]])
                choices.append(chosen)
                links.append(Link(write, number, chosen))
            unless = [-guards[number]] if guards[number] else []
            solver.add_clause([*unless, *choices])
        return links

    def _add_aliases(self, orders: StaticOrders, read: Occurrence) -> None:
        """For each write of a region, whether it occurs at the address of the read."""
        for write in orders.writes_of(read):
            if write >= len(self._unrolling.events) or orders.after[read.number] >> write & 1:
                continue
            other = self._unrolling.events[write]
            same = self._terms.and_(other.guard, orders.same_address(read, other))
            if same != self._terms.false:
                self._aliases.append(Alias(write, read.number, self._guard(same)))

    def moves(self, schedule: Iterable[int]) -> list[WeakMove]:
        """Under a weak memory model, the execution of the solver's model that has this schedule."""
        raise AssertionError("accesses have an order of their own")

    def reasons(self) -> list[frozenset[int]]:
        """Literals that no execution makes true together, and the solver's model does: those that
        the order graph does not know of."""
        return []

    def none_of(self, claims: list[Claim]) -> int | None:
        """A literal that implies that none of the claims holds; None if there are none."""
        if not claims:
            return None
        chosen = self._solver.new_literal()
        for claim in claims:
            self._solver.add_clause([-chosen, -self._solver.literal_of(claim.condition)])
        return chosen

    def any_of(self, claims: list[Claim]) -> int | None:
        """A literal that implies that one of the claims holds; None if there are none."""
        if not claims:
            return None
        solver = self._solver
        wanted = tuple(claim.condition for claim in claims)
        chosen = self._wanted.get(wanted)
        if chosen is None:
            chosen = self._wanted[wanted] = solver.new_literal()
            solver.add_clause([-chosen, *map(solver.literal_of, wanted)])
        return chosen
