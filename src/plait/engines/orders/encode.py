"""The abstraction: each thread in isolation, and each read takes the value of some write.

phi_0 = init, the threads' own constraints, and for each read that occurs a link from a write of
its cell that occurs, with the same value; nothing is said about the order of events. The links and
guards are literals of the solver, so that an event order graph can be built from each model.

In a region write and read must have the same address too. The literal of an alias is the solver's
literal for "the write occurs, at the address of the read": a model makes it true exactly then.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from plait.engines.orders.events import Alias, Block, Event, EventStructure, Kind, Link, Order
from plait.engines.orders.unrolling import Access, Claim, Occurrence, Unrolling
from plait.errors import UnsupportedCode
from plait.logic.solver import Solver

MOST_PAIRS = 1_000_000
_KINDS = {Access.READ: Kind.READ, Access.WRITE: Kind.WRITE, Access.MARK: Kind.OTHER}


@dataclass(slots=True, eq=False)
class Encoding:
    """`structure`'s events are those of the unrolling, then one initial write for each cell."""

    structure: EventStructure
    guards: list[int]
    candidates: int = 0
    claims: dict[int, int] = field(default_factory=dict)


class Encoder:
    def __init__(self, unrolling: Unrolling, solver: Solver) -> None:
        self._unrolling = unrolling
        self._solver = solver
        self._terms = solver.terms
        self._cells = {cell: number for number, cell in enumerate(unrolling.initial)}
        self._aliases: list[Alias] = []

    def encode(self) -> Encoding:
        solver, unrolling = self._solver, self._unrolling
        for fact in unrolling.facts:
            solver.assert_term(fact)
        guards = [self._guard(item.guard) for item in unrolling.events]
        events = [
            Event(
                _KINDS[item.kind],
                item.thread,
                None if item.cell is None else self._cells[item.cell],
                guard,
            )
            for item, guard in zip(unrolling.events, guards, strict=True)
        ]
        count = len(events)
        events += [Event(Kind.WRITE, 0, cell, 0) for cell in self._cells.values()]
        program_order = self._program_order(count)
        links = self._links(events, guards, count)
        blocks = [
            Block(first, last, None, self._guard(when))
            for first, last, when in unrolling.sections
            if when != self._terms.false
        ]
        structure = EventStructure(
            events,
            program_order,
            links,
            self._exits(guards),
            blocks,
            self._aliases,
            [self._cells[cell] for cell in unrolling.regions],
        )
        return Encoding(structure, guards, len(links))

    def _guard(self, term: int) -> int:
        return 0 if term == self._terms.true else self._solver.literal_of(term)

    def _program_order(self, count: int) -> list[tuple[int, int]]:
        orders: list[tuple[int, int]] = []
        for thread in self._unrolling.threads:
            if not thread.events:
                continue
            orders += list(zip(thread.events, thread.events[1:], strict=False))
            if thread.spawned_by >= 0:
                orders.append((thread.spawned_by, thread.events[0]))
            else:
                first = thread.events[0]
                orders += [(count + cell, first) for cell in self._cells.values()]
        return orders

    def _exits(self, guards: list[int]) -> list[Order]:
        """Nothing happens after the end of the process."""
        solver = self._solver
        orders = []
        for end in self._unrolling.exits:
            thread = self._unrolling.events[end].thread
            for item in self._unrolling.events:
                if item.thread == thread:
                    continue
                both = self._both(guards[end], guards[item.number])
                orders.append(Order(item.number, end, both))
        for place, one in enumerate(self._unrolling.exits):
            for other in self._unrolling.exits[place + 1 :]:
                if self._unrolling.events[one].thread != self._unrolling.events[other].thread:
                    solver.add_clause([-g for g in (guards[one], guards[other]) if g])
        return orders

    def _both(self, one: int, other: int) -> int:
        if not one or not other:
            return one or other
        solver = self._solver
        both = solver.new_literal()
        solver.add_clause([-both, one])
        solver.add_clause([-both, other])
        solver.add_clause([both, -one, -other])
        return both

    def _links(self, events: list[Event], guards: list[int], count: int) -> list[Link]:
        """What each read can read from; what program order excludes is left out."""
        solver, terms = self._solver, self._terms
        occurrences = self._unrolling.events
        writes: dict[int, list[int]] = {}
        for number, event in enumerate(events):
            if event.kind is Kind.WRITE and event.cell is not None:
                writes.setdefault(event.cell, []).append(number)
        cells = list(self._unrolling.initial.values())
        reads: dict[int, int] = {}
        for event in events:
            if event.kind is Kind.READ and event.cell is not None:
                reads[event.cell] = reads.get(event.cell, 0) + 1
        if sum(reads[cell] * len(writes[cell]) for cell in reads) > MOST_PAIRS:
            raise UnsupportedCode(f"more than {MOST_PAIRS} pairs of a write and a read of its cell")
        links: list[Link] = []
        for read in occurrences:
            if read.kind is not Access.READ or read.cell is None:
                continue
            cell = self._cells[read.cell]
            choices = []
            initial = cells[cell] if read.address is None else read.initial
            for write in self._possible(read.number, writes[cell], count):
                value = initial if write >= count else occurrences[write].value
                equal = terms.eq(read.value, value)
                if read.address is not None and write < count:
                    equal = terms.and_(equal, self._alias(read, occurrences[write]))
                if equal == terms.false:
                    continue
                chosen = solver.new_literal()
                if equal != terms.true:
                    solver.add_clause([-chosen, solver.literal_of(equal)])
                if write < count and guards[write]:
                    solver.add_clause([-chosen, guards[write]])
                if guards[read.number]:
                    solver.add_clause([-chosen, guards[read.number]])
                choices.append(chosen)
                links.append(Link(write, read.number, chosen))
            unless = [-guards[read.number]] if guards[read.number] else []
            solver.add_clause([*unless, *choices])
        return links

    def _alias(self, read: Occurrence, write: Occurrence) -> int:
        """Whether a write of a region occurs at the address of the read."""
        same = self._terms.and_(write.guard, self._same_address(read, write))
        if same != self._terms.false:
            self._aliases.append(Alias(write.number, read.number, self._guard(same)))
        return same

    def _same_address(self, one: Occurrence, other: Occurrence) -> int:
        if one.cell is None or one.address is None or other.address is None:
            return self._terms.true  # in one cell
        if one.places.isdisjoint(other.places):
            return self._terms.false
        bits = self._unrolling.regions[one.cell]
        return self._terms.eq(
            self._terms.extract(one.address, *bits), self._terms.extract(other.address, *bits)
        )

    def _possible(self, read: int, writes: list[int], count: int) -> list[int]:
        """The writes that the read does not precede, and that no other write of its own thread
        certainly hides."""
        occurrences = self._unrolling.events
        thread = occurrences[read].thread
        hidden_by = -1  # the last write of the read's thread before it that surely occurs with it
        for write in writes:
            if write < count and occurrences[write].thread == thread and write < read:
                if self._same_address(occurrences[read], occurrences[write]) != self._terms.true:
                    continue
                if occurrences[write].guard in (occurrences[read].guard, self._terms.true):
                    hidden_by = write
        found = []
        for write in writes:
            if write >= count:
                if hidden_by < 0:
                    found.append(write)
                continue
            if occurrences[write].thread == thread and (write > read or write < hidden_by):
                continue
            found.append(write)
        return found

    def any_of(self, claims: list[Claim]) -> int | None:
        """A literal that implies that one of the claims holds; None if there are none."""
        if not claims:
            return None
        solver = self._solver
        chosen = solver.new_literal()
        solver.add_clause([-chosen, *(solver.literal_of(claim.condition) for claim in claims)])
        return chosen
