"""The constraint-based check: is there a total order that obeys everything?

The rules of the event order graph are sound but not complete (the paper's "butterfly", Fig. 6).
What they leave open are choices: for a link and another write that hits its read, the write is
before the link's write or behind its read; of two critical sections of a lock, one is before the
other. If each choice is made and the graph has no cycle, every linear extension of it is a
solution.

The search makes choices only where they matter. It schedules the events in some order that the
graph allows; the first thing that goes wrong shows a choice to be made. One of its two orders is
assumed, the rules draw their conclusions, and so on. A conflict's reason tells which assumptions it
depends on: the search returns to the last one of them, and there the other order of the choice
*follows* from the rest of the reason. A conflict that depends on no assumption is a proof that
there is no total order, and its literals are the reason. Each step back excludes an assignment of
choices for good, so the search ends.
"""

from __future__ import annotations

from collections.abc import Iterable

from plait.data import dataclass
from plait.engines.orders.events import EventStructure, Kind, bits
from plait.engines.orders.graph import EventOrderGraph


@dataclass(frozen=True, slots=True)
class Feasible:
    """A total order of the events that occur, which obeys all order requirements."""

    schedule: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Infeasible:
    """Literals that no execution makes true together."""

    reason: frozenset[int]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of two orders must hold, if the literals do."""

    one: tuple[int, int]
    other: tuple[int, int]
    mask: int


def decide(structure: EventStructure, true: Iterable[int]) -> Feasible | Infeasible:
    """Whether an execution with these literals (and what they imply) exists; if not, none of the
    reason's literals can be left out."""
    graph = EventOrderGraph(structure)
    graph.validate(true)
    return decide_on(graph)


def decide_on(graph: EventOrderGraph) -> Feasible | Infeasible:
    """The same for the literals that were asserted; the graph is left as it is."""
    asserted = graph.asserted
    if graph.structure.closed_mask(graph.structure.literals[n] for n in bits(asserted)) != asserted:
        raise ValueError("a link, order or section was asserted without the guards of its events")
    level = graph.level
    found = _search(graph)
    graph.backtrack(level)
    if isinstance(found, Feasible):
        return found
    literals = graph.structure.literals_of(found)
    return Infeasible(_without_superfluous(EventOrderGraph(graph.structure), literals))


def _without_superfluous(graph: EventOrderGraph, literals: frozenset[int]) -> frozenset[int]:
    """Leave out one literal after the other, as long as there is still no total order."""
    needed = literals
    for literal in sorted(literals, key=abs, reverse=True):
        if literal not in needed:
            continue
        graph.validate(needed - {literal})
        found = _search(graph)
        if not isinstance(found, Feasible):
            needed = graph.structure.literals_of(found)
    return needed


@dataclass(frozen=True, slots=True)
class _Assumption:
    choice: Choice
    bit: int
    level: int


def _search(graph: EventOrderGraph) -> Feasible | int:
    """A schedule, or the reason, as a mask, why there is none. Leaves its assumptions behind."""
    lowest_bit = len(graph.structure.literals)
    assumptions: list[_Assumption] = []
    while True:
        if not graph.has_conflict:
            schedule = _Scheduler(graph).run()
            if isinstance(schedule, Feasible):
                return schedule
            assumption = _Assumption(schedule, 1 << lowest_bit + len(assumptions), graph.level)
            assumptions.append(assumption)
            graph.new_level()
            graph.assume(*schedule.one, assumption.bit)
            continue
        reason = graph.conflict_mask()
        while assumptions and not reason & assumptions[-1].bit:
            assumptions.pop()
        if not assumptions:
            return reason
        refuted = assumptions.pop()
        graph.backtrack(refuted.level)
        graph.assume(*refuted.choice.other, reason & ~refuted.bit | refuted.choice.mask)


class _Scheduler:
    """Puts the events that occur one behind the other, in an order that the graph allows.

    It stays in a thread while it can, and avoids what would violate a link or a section; if nothing
    else is left, the run ends with the choice that this violation is about.
    """

    def __init__(self, graph: EventOrderGraph) -> None:
        structure = graph.structure
        self._graph = graph
        self._structure = structure
        self._unread: dict[int, int] = {}
        for write, read in graph.active_links():
            self._unread[write] = self._unread.get(write, 0) | 1 << read
        self._begins: dict[int, list[int]] = {}
        self._ends: dict[int, list[int]] = {}
        for number in graph.active_blocks():
            section = structure.sections[number]
            if section.lock is not None or structure.outside[number]:
                self._begins.setdefault(section.first, []).append(number)
                self._ends.setdefault(section.last, []).append(number)
        # The last write of a cell; all writes so far of a region: the next one may hit any reader.
        self._may_be_hidden: dict[int, int] = {}
        self._open: list[int] = []
        self._done = 0

    def run(self) -> Feasible | Choice:
        graph = self._graph
        left = graph.occurring
        schedule: list[int] = []
        thread = -1
        while left:
            event, choice = self._next(left, thread)
            if choice is not None:
                return choice
            left ^= 1 << event
            self._perform(event)
            schedule.append(event)
            thread = self._structure.events[event].thread
        return Feasible(tuple(schedule))

    def _next(self, left: int, thread: int) -> tuple[int, Choice | None]:
        """An event that violates nothing, of this thread if possible; or any, with what it does."""
        best: int | None = None
        violating: tuple[int, Choice] | None = None
        for event in bits(left):
            if self._graph.before[event] & left:
                continue
            choice = self._violation(event)
            if choice is None:
                if self._structure.events[event].thread == thread:
                    return event, None
                best = event if best is None else best
            elif violating is None:
                violating = event, choice
        if best is not None:
            return best, None
        assert violating is not None, "the order graph has a cycle"
        return violating

    def _violation(self, event: int) -> Choice | None:
        """The choice that must be made because of this event, were it the next one."""
        structure = self._structure
        kind, cell = structure.events[event].kind, structure.events[event].cell
        if kind is Kind.WRITE and cell is not None:
            for write in bits(self._may_be_hidden.get(cell, 0)):
                unread = self._unread.get(write, 0) & ~self._done
                if cell in structure.regions:
                    unread &= self._graph.hit_by(event)
                if unread:
                    read = next(bits(unread))
                    mask = structure.link_mask[write, read] | structure.hit_mask(event, read)
                    return Choice((read, event), (event, write), mask)
        for number in self._open:
            section = structure.sections[number]
            if structure.outside[number] >> event & 1:
                mask = structure.section_mask[number]
                if structure.needs_guard[number] >> event & 1:
                    mask |= structure.guard_mask[event]
                return Choice((section.last, event), (event, section.first), mask)
            for rival in self._begins.get(event, ()):
                if rival in structure.rivals[number]:
                    other = structure.sections[rival]
                    mask = structure.section_mask[number] | structure.section_mask[rival]
                    one, two = (section.last, other.first), (other.last, section.first)
                    return Choice(one, two, mask)
        return None

    def _perform(self, event: int) -> None:
        self._done |= 1 << event
        kind, cell = self._structure.events[event].kind, self._structure.events[event].cell
        if kind is Kind.WRITE and cell is not None:
            before = self._may_be_hidden.get(cell, 0) if cell in self._structure.regions else 0
            self._may_be_hidden[cell] = before | 1 << event
        self._open.extend(self._begins.get(event, ()))
        for number in self._ends.get(event, ()):
            self._open.remove(number)
