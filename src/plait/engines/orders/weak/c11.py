"""C11: the abstraction, with an order of modification, and the axioms of RC11 on top of it.

The solver decides which write each read takes its value from, and in which order the writes of a
location come in modification order. What is left of the order graph is the order in which threads
can do their steps: program order, reads-from, and the sections of the library, whose memory is
sequentially consistent. That it has no cycle is NO-THIN-AIR. The other axioms are looked at model
by model (`axioms`), but for what follows from two or three literals, which is in the formula: that
modification order is one, ATOMICITY, and COHERENCE within program order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plait.engines.interface import WeakMove
from plait.engines.orders.encode import Encoder
from plait.engines.orders.events import CriticalSection, Event, EventStructure, Kind, Link, Order
from plait.engines.orders.learning import Learned
from plait.engines.orders.unrolling import Access, Claim, Occurrence
from plait.engines.orders.weak.axioms import Literals, is_in_library_section, reasons_against
from plait.engines.orders.weak.endings import DEAD, Endings
from plait.engines.orders.weak.moves import moves_of
from plait.errors import UnsupportedCode
from plait.logic.solver import Solver
from plait.model.actions import CheckKind
from plait.model.memory_model import MemoryModel
from plait.model.program import Program

MOST_WRITES = 60  # of one cell or region: modification order has a clause for any three

RACE = "data race"
UNDEFINED = CheckKind.UNDEFINED.value


class AxiomEncoder(Encoder):
    """`race_is`: what a claim is about that a race meets; none: the verdict is open then."""

    def __init__(
        self, learned: Learned, solver: Solver, program: Program, race_is: str | None
    ) -> None:
        super().__init__(learned, solver)
        assert program.memory_model is MemoryModel.C11, "the library has no fences"
        self._program = program
        self._race_is = race_is
        self._objects = learned.objects
        self._endings = Endings(learned.unrolling, learned.objects, solver.terms)
        self._literals = Literals(self._unrolling, solver, self._same_place)
        self._guards: list[int] = []

    def _structure(
        self,
        events: list[Event],
        links: list[Link],
        conditional: list[Order],
        sections: list[CriticalSection],
        guards: list[int],
    ) -> EventStructure:
        unrolling = self._unrolling
        self._guards = self._literals.guards = guards
        count = len(unrolling.events)
        places = self._places()
        of_program = {event.number for group in places.values() for event in group}
        self._literals.of_program = of_program
        numbers = {self._cells[cell] for cell in places}
        for number, event in enumerate(events):
            if event.cell in numbers:
                events[number] = Event(Kind.OTHER, event.thread, None, event.guard)
        for group in places.values():
            self._order_writes([item for item in group if item.kind is Access.WRITE])
        left: list[Link] = []
        for link in links:
            if link.read not in of_program:
                left.append(link)
                self._literals.of_library.append(link)
                continue
            self._literals.links.append(link)
            if link.write < count:
                conditional.append(Order(link.write, link.read, link.literal))
        self._keep_atomic(places)
        self._keep_coherent_with_program_order(places)
        self._claim_races(places)
        self._claim_uses_of_dead_objects()
        kept = [item for item in sections if item.first not in unrolling.updates]
        aliases = [item for item in self._aliases if item.read not in of_program]
        regions = [
            self._cells[cell] for cell in unrolling.regions if self._cells[cell] not in numbers
        ]
        return EventStructure(events, self._orders.edges, left, conditional, kept, aliases, regions)

    # --- whose memory it is

    def _places(self) -> dict[tuple[int, int], list[Occurrence]]:
        """The accesses to each cell or region of the program, whose memory the axioms are about.
        What sections of the library access is none of it."""
        found: dict[tuple[int, int], list[Occurrence]] = {}
        of_sections: set[tuple[int, int]] = set()
        for event in self._unrolling.events:
            if event.cell is None:
                continue
            instance = self._objects.at(*event.cell)
            if is_in_library_section(event) or (instance is not None and instance.is_library):
                of_sections.add(event.cell)
            else:
                found.setdefault(event.cell, []).append(event)
        for cell in of_sections & found.keys():
            what = "memory that the library and the program access, under the memory model c11"
            raise UnsupportedCode(self._program.diagnostic(found[cell][0].origin, what))
        return found

    # --- modification order

    def _order_writes(self, writes: list[Occurrence]) -> None:
        if len(writes) > MOST_WRITES:
            what = f"more than {MOST_WRITES} writes of one place, under the memory model c11"
            raise UnsupportedCode(self._program.diagnostic(writes[0].origin, what))
        add = self._solver.add_clause
        order = self._literals.modification
        for place, one in enumerate(writes):
            for other in writes[place + 1 :]:
                both = self._both(one, other)
                if both is None:
                    continue
                pair = one.number, other.number
                if one.thread == other.thread:  # COHERENCE within program order
                    order[pair] = both
                    continue
                forth, back = self._solver.new_literal(), self._solver.new_literal()
                order[pair], order[pair[1], pair[0]] = forth, back
                add([-forth, -back])
                add([*_not(both), forth, back])
                if both:
                    add([-forth, both])
                    add([-back, both])
        for one in writes:
            for other in writes:
                first = order.get((one.number, other.number))
                if first is None:
                    continue
                for third in writes:
                    second = order.get((other.number, third.number))
                    if second is not None and third is not one:
                        self._unless([first, second], order.get((one.number, third.number)))

    def _both(self, one: Occurrence, other: Occurrence) -> int | None:
        """The literal of: both occur, at one place. 0 if that is so in any case, None if never."""
        terms = self._terms
        same = self._orders.same_address(one, other)
        term = terms.and_(terms.and_(one.guard, other.guard), same)
        return None if term == terms.false else self._guard(term)

    def _same_place(self, one: int, other: int) -> int:
        both = self._both(self._unrolling.events[one], self._unrolling.events[other])
        assert both is not None
        return both

    def _unless(self, literals: Iterable[int], follows: int | None) -> None:
        """If the literals hold, this one does; None: they cannot all hold."""
        if follows != 0:
            clause = [-literal for literal in literals if literal]
            self._solver.add_clause([*clause, *([] if follows is None else [follows])])

    def _keep_atomic(self, places: dict[tuple[int, int], list[Occurrence]]) -> None:
        """ATOMICITY: an update comes right behind the write that it reads."""
        order, count = self._literals.modification, len(self._unrolling.events)
        by_read: dict[int, list[Link]] = {}
        for link in self._literals.links:
            by_read.setdefault(link.read, []).append(link)
        for group in places.values():
            writes = [item for item in group if item.kind is Access.WRITE]
            for update in writes:
                if update.update_of is None:
                    continue
                happens = self._guards[update.number]
                for link in by_read.get(update.update_of.number, ()):
                    if link.write == update.number:
                        continue
                    if link.write < count:
                        behind = order.get((link.write, update.number))
                        self._unless([link.literal, happens], behind)
                    for other in writes:
                        if other is update or other.number == link.write:
                            continue
                        later = order.get((update.number, other.number))
                        if link.write >= count:
                            both = self._both(update, other)
                            if both is not None:
                                self._unless([link.literal, both], later)
                        else:
                            first = order.get((link.write, other.number))
                            if first is not None:
                                self._unless([link.literal, happens, first], later)

    def _keep_coherent_with_program_order(
        self, places: dict[tuple[int, int], list[Occurrence]]
    ) -> None:
        """COHERENCE of a read with its own thread's writes."""
        order, events = self._literals.modification, self._unrolling.events
        own: dict[tuple[int, tuple[int, int] | None], list[Occurrence]] = {}
        for cell, group in places.items():
            for item in group:
                if item.kind is Access.WRITE:
                    own.setdefault((item.thread, cell), []).append(item)
        for link in self._literals.links:
            read = events[link.read]
            for write in own.get((read.thread, read.cell), ()):
                if write.number == link.write:
                    continue
                if write.number > read.number:
                    if link.write < len(events):
                        both = self._both(events[link.write], write)
                        if both is not None:
                            follows = order.get((link.write, write.number))
                            self._unless([link.literal, both], follows)
                    continue
                both = self._both(write, read)
                if both is not None:
                    follows = order.get((write.number, link.write))
                    self._unless([link.literal, both], follows)

    # --- races

    def _claim_races(self, places: dict[tuple[int, int], list[Occurrence]]) -> None:
        """Conflicting accesses that are not both atomic; and accesses to an object of which the
        thread does not know that it has begun. That none happens before the other is looked at
        with the axioms."""
        unrolling, terms = self._unrolling, self._terms
        claims = unrolling.troubles if self._race_is is None else unrolling.violations
        for one, other, same in self._conflicts(places):
            happens = terms.and_(terms.and_(one.guard, other.guard), same)
            if happens == terms.false:
                continue
            race = terms.fresh("race", 1)
            literal = self._solver.literal_of(race)
            self._unless([literal], self._guard(happens))
            self._literals.unordered[one.number, other.number] = literal
            self._literals.unordered[other.number, one.number] = literal
            kind = self._race_is or RACE
            message = "neither of two accesses happens before the other"
            pair = one.number, other.number
            claims.append(Claim(race, other.thread, kind, message, other.origin, pair))

    def _conflicts(
        self, places: dict[tuple[int, int], list[Occurrence]]
    ) -> Iterator[tuple[Occurrence, Occurrence, int]]:
        events = self._unrolling.events
        for group in places.values():
            for place, one in enumerate(group):
                for other in group[place + 1 :]:
                    is_conflict = Access.WRITE in (one.kind, other.kind)
                    are_atomic = one.order.is_atomic and other.order.is_atomic
                    if one.thread != other.thread and is_conflict and not are_atomic:
                        yield one, other, self._orders.same_address(one, other)
            for item in group:
                for address, number in self._unrolling.beginnings.items():
                    begin = events[number]
                    if begin.thread != item.thread:
                        here = self._endings.is_in(item, address)
                        if here != self._terms.false:
                            yield begin, item, here

    def _claim_uses_of_dead_objects(self) -> None:
        """Accesses that do not happen before the end of their object; and ends of objects of which
        the thread does not know that they have begun."""
        unrolling, terms = self._unrolling, self._terms
        claims = unrolling.troubles if self._race_is is None else unrolling.violations
        kind = self._race_is or UNDEFINED
        ordered = [
            (item.access, item.end, item.both, item.is_wrong) for item in self._endings.conflicts()
        ]
        for number, ended in unrolling.endings.items():
            end = unrolling.events[number]
            for address, when in ended:
                if address in unrolling.beginnings:
                    begin = unrolling.events[unrolling.beginnings[address]]
                    both = terms.and_(terms.and_(begin.guard, end.guard), when)
                    if begin.thread != end.thread and both != terms.false:
                        ordered.append((begin, end, both, False))
        for one, end, both, is_wrong in ordered:
            condition = both
            if not is_wrong:
                condition = terms.fresh("dead", 1)
                literal = self._solver.literal_of(condition)
                self._unless([literal], self._guard(both))
                self._literals.unordered[one.number, end.number] = literal
            claims.append(Claim(condition, one.thread, kind, DEAD, one.origin))

    # --- models

    def reasons(self) -> list[frozenset[int]]:
        return reasons_against(self._literals)

    def moves(self, schedule: Iterable[int]) -> list[WeakMove]:
        solver, count = self._solver, len(self._unrolling.events)
        sources = {
            link.read: link.write
            for link in reversed(self._literals.links)
            if link.write < count and solver.literal_value(link.literal)
        }
        earlier: dict[int, list[int]] = {}
        for (one, other), literal in self._literals.modification.items():
            if not literal or solver.literal_value(literal):
                earlier.setdefault(other, []).append(one)
        return moves_of(
            self._unrolling, schedule, solver.model_value, lambda event: False, sources, earlier
        )


def _not(literal: int) -> list[int]:
    return [-literal] if literal else []
