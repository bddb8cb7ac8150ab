"""The scheduling constraint as clauses over clocks: what the abstraction leaves out.

The baseline of the paper (section 2.2) has it in the formula from the beginning. Each event that
takes part gets a *clock*, a bit vector, and the order of events is that of their clocks; of equal
clocks, the event with the smaller number comes first. So the order is total, and one comparison of
two clocks answers both "a before b" and "b before a".

- Program order holds between the clocks of all events, also of those that do not occur (`events`
  says why that excludes nothing).
- A link's write comes before its read, and every other write that hits the read comes before the
  write or after the read. There are as many clauses of this kind as there are pairs of a link and a
  write: the number is cubic in the accesses of a cell.
- A section excludes its rivals and the events outside, again one clause for each pair.

Orders that program order decides are not written down, and an event of which program order decides
all that is asked has no clock. So this is as small as the constraint gets without refinement.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from plait.data import dataclass
from plait.engines.interface import OutOfTime
from plait.engines.orders.events import EventStructure, Link, Order, bits
from plait.engines.orders.exact import Feasible
from plait.logic.solver import Solver


@dataclass(frozen=True, slots=True)
class Requirement:
    """If the literals hold, then one of the orders, pairs of an earlier and a later event."""

    literals: tuple[int, ...]
    orders: tuple[tuple[int, int], ...]


class Requirements:
    """All that a schedule has to obey beside program order, and that this does not give."""

    def __init__(self, structure: EventStructure, deadline: float | None = None) -> None:
        self._structure = structure
        self._deadline = deadline
        self._after0 = structure.after0
        # For each read, the writes that may hit it and the literal that says so.
        self._hits: dict[int, list[tuple[int, int]]] = {}
        for link in structure.links:
            if link.read not in self._hits:
                self._hits[link.read] = self._hitting(link.read)
        for alias in structure.aliases:
            if alias.read in self._hits:
                self._hits[alias.read].append((alias.write, alias.literal))

    def all(self) -> Iterator[Requirement]:
        structure = self._structure
        for order in structure.orders:
            yield from self.of_order(order)
        for link in structure.links:
            self._keep_deadline()
            yield from self.of_link(link)
        for number in range(len(structure.sections)):
            self._keep_deadline()
            yield from self.of_section(number)

    def events(self) -> int:
        """The events of which an order is required, as a mask."""
        found = 0
        for requirement in self.all():
            for first, second in requirement.orders:
                found |= 1 << first | 1 << second
        return found

    def of_order(self, order: Order) -> Iterator[Requirement]:
        return self._unless_known((order.literal,), (order.before, order.after))

    def of_link(self, link: Link) -> Iterator[Requirement]:
        write, read = link.write, link.read
        yield from self._unless_known((link.literal,), (write, read))
        for other, literal in self._hits[read]:
            if other != write:
                yield from self._unless_known(
                    (link.literal, literal), (other, write), (read, other)
                )

    def of_section(self, number: int) -> Iterator[Requirement]:
        structure = self._structure
        section = structure.sections[number]
        for rival in structure.rivals[number]:
            other = structure.sections[rival]
            if rival > number:
                yield from self._unless_known(
                    (section.literal, other.literal),
                    (section.last, other.first),
                    (other.last, section.first),
                )
        for event in bits(structure.outside[number]):
            needs_guard = structure.needs_guard[number] >> event & 1
            literals = (section.literal, structure.events[event].guard if needs_guard else 0)
            yield from self._unless_known(literals, (event, section.first), (section.last, event))

    def _hitting(self, read: int) -> list[tuple[int, int]]:
        structure = self._structure
        if structure.in_region(read):
            return []  # what the aliases say
        cell = structure.events[read].cell
        assert cell is not None
        return [(write, structure.events[write].guard) for write in bits(structure.writes[cell])]

    def _keep_deadline(self) -> None:
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise OutOfTime

    def _unless_known(
        self, literals: tuple[int, ...], *orders: tuple[int, int]
    ) -> Iterator[Requirement]:
        after0 = self._after0
        if not any(after0[first] >> second & 1 for first, second in orders):
            possible = tuple(
                (first, second)
                for first, second in orders
                if first != second and not after0[second] >> first & 1
            )
            yield Requirement(literals, possible)


class Clocks:
    """Clocks in program order, and clauses for requirements. `literal_of` translates literals of
    the structure into the solver's."""

    def __init__(
        self,
        structure: EventStructure,
        events: int,
        solver: Solver,
        literal_of: Callable[[int], int],
    ) -> None:
        self._structure = structure
        self._solver = solver
        self._literal_of = literal_of
        width = max(1, (events.bit_count() - 1).bit_length())
        self._clock = {event: solver.terms.fresh("clock", width) for event in bits(events)}
        for event in self._clock:
            for later in self._next(event, events):
                solver.add_clause([self._before(event, later)])

    def add(self, requirement: Requirement) -> None:
        clause = [-self._literal_of(literal) for literal in requirement.literals if literal]
        self._solver.add_clause([*clause, *(self._before(*pair) for pair in requirement.orders)])

    def schedule(self, occurring: int) -> tuple[int, ...]:
        """The events that occur, in the order of the clocks in the last model. Events without a
        clock come where program order wants them: nothing else is asked of them."""
        value = self._solver.model_value
        time_of = {event: (value(clock), event) for event, clock in self._clock.items()}
        before0 = self._structure.before0
        schedule: list[int] = []
        left = occurring
        for event in [*sorted(time_of, key=time_of.__getitem__), None]:
            # Predecessors with a clock are there already.
            due = left if event is None else left & (before0[event] | 1 << event)
            schedule += sorted(bits(due), key=lambda one: before0[one].bit_count())
            left &= ~due
        return tuple(schedule)

    def _next(self, event: int, events: int) -> list[int]:
        """The direct successors in program order among these events."""
        left = self._structure.after0[event] & events
        for later in bits(left):
            if left >> later & 1:
                left &= ~self._structure.after0[later]
        return list(bits(left))

    def _before(self, first: int, second: int) -> int:
        """The literal of the order."""
        if first > second:
            return -self._before(second, first)
        terms = self._solver.terms
        return -self._solver.literal_of(terms.ult(self._clock[second], self._clock[first]))


class Monolithic:
    """Adds the whole constraint to the formula; then every model has a schedule."""

    def __init__(
        self, structure: EventStructure, solver: Solver, deadline: float | None = None
    ) -> None:
        self._structure = structure
        requirements = Requirements(structure, deadline)
        self._clocks = Clocks(structure, requirements.events(), solver, lambda literal: literal)
        for requirement in requirements.all():
            self._clocks.add(requirement)

    def decide(self, true: list[int]) -> Feasible:
        """The schedule of the solver's last model, in which these literals are true."""
        occurring = self._structure.occurring(self._structure.closed_mask(true))
        return Feasible(self._clocks.schedule(occurring))
