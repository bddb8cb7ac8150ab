"""Which axiom of RC11 a model of the formula violates, and which of its literals are to blame.

The relations are those of the reference semantics (`plait.model.rc11`), which also says whether
a graph is consistent. What is added here is why: the orders of which an axiom forbids a cycle, from
the literals that make them. A clause says that they do not hold together. Of hb;eco? and of psc
only shortest cycles are looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from plait.data import dataclass, field
from plait.engines.orders.events import Link, bits
from plait.engines.orders.unrolling import Access, Occurrence, Unrolling
from plait.logic.solver import Solver
from plait.model import rc11
from plait.model.actions import Order
from plait.model.memory_model import ACQUIRES, RELEASES, order_of_read, order_of_write
from plait.model.rc11 import ExecutionGraph, Relation

Reason = frozenset[int]
_NONE: Reason = frozenset()
_MOST_REASONS = 30  # for one model


@dataclass(slots=True, eq=False)
class Literals:
    """What the solver decides: `links` of the program's reads, and of those in the library's
    sections; `modification` order of two writes that occur; which events are `unordered`: the first
    does not happen before the second; and the `guards` of all events. 0 stands for true.
    `of_program` are the accesses to the program's memory."""

    unrolling: Unrolling
    solver: Solver
    same_place: Callable[[int, int], int]  # the literal of: both occur, at one place
    guards: list[int] = field(default_factory=list)
    of_program: set[int] = field(default_factory=set)
    links: list[Link] = field(default_factory=list)
    of_library: list[Link] = field(default_factory=list)
    modification: dict[tuple[int, int], int] = field(default_factory=dict)
    unordered: dict[tuple[int, int], int] = field(default_factory=dict)
    told: set[Reason] = field(default_factory=set)


def reasons_against(literals: Literals) -> list[Reason]:
    """Literals that hold in the last model and in no execution together."""
    graph = _ModelGraph(literals)
    if not rc11.has_no_value_out_of_thin_air(graph.graph):
        return []  # the order graph says so
    races, is_race_wrong = _against_unordered(literals, graph)
    if not is_race_wrong and rc11.is_consistent(graph.graph):
        return []
    found = [*races, *(_against_coherence(graph) or _against_order_of_sc(graph))]
    found = list(dict.fromkeys(found))
    new = [reason for reason in found if reason not in literals.told]
    assert new, "an execution graph is not consistent, and no axiom is to blame"
    literals.told.update(new)
    return new


class _ModelGraph:
    """The execution graph of a model, with a reason for each edge. Nodes are the events that occur:
    accesses, fences, the beginnings and ends of objects, and the sections of the library."""

    def __init__(self, literals: Literals) -> None:
        self.graph = ExecutionGraph([], [], [], [], {}, [], {}, [])
        self.nodes: dict[int, int] = {}  # of events
        self._literals = literals
        self._solver = literals.solver
        self._events = literals.unrolling.events
        self._items: list[Occurrence | None] = []  # by node; None for sections
        # The reads of updates that may fail, with their writes.
        self._undecided: dict[int, Occurrence] = {}
        self._source: dict[int, int] = {}  # of reads: the literal of the link
        self._sw: dict[tuple[int, int], Reason] = {}
        self._make_nodes()
        self._make_accesses()
        self._synchronise()
        self.hb = rc11.happens_before(self.graph)
        sw = [0] * len(self._items)
        for one, other in self._sw:
            sw[one] |= 1 << other
        self._steps = rc11.union(self.graph.thread_before, sw)
        assert rc11.closure(self._steps) == self.hb
        self.mo = rc11.modification_order(self.graph)
        self.rb = rc11.reads_before(self.graph)
        self.eco = rc11.extended_coherence(self.graph)
        self._communication = rc11.union(rc11.union(rc11.reads_from(self.graph), self.mo), self.rb)

    # --- what happens

    def _make_nodes(self) -> None:
        literals, holds = self._literals, self._solver.model_value
        graph = self.graph
        begins = set(literals.unrolling.beginnings.values()) | literals.unrolling.endings.keys()
        locations: dict[tuple[tuple[int, int], int], int] = {}
        writes = {
            item.update_of.number: item for item in self._events if item.update_of is not None
        }
        for thread in literals.unrolling.threads:
            sections: dict[int, int] = {}
            own: list[int] = []
            for number in thread.events:
                event = self._events[number]
                is_access = number in literals.of_program
                is_fence = event.kind is Access.FENCE and not event.section
                is_in_section = is_in_library_section(event)
                if not (is_access or is_fence or is_in_section or number in begins):
                    continue
                if not holds(event.guard):
                    continue
                node = len(self._items)
                if is_in_section:
                    begin = next((one for one, when in event.section if holds(when)), -1)
                    if sections.setdefault(begin, node) != node:
                        self.nodes[number] = sections[begin]
                        continue
                self.nodes[number] = node
                own.append(node)
                location = -1
                if is_access:
                    assert event.cell is not None
                    place = event.cell[0] if event.address is None else holds(event.address)
                    location = locations.setdefault((event.cell, place), len(locations))
                self._items.append(None if is_in_section else event)
                graph.orders.append(self._order(event, writes))
                graph.is_fence.append(is_fence)
                graph.locations.append(location)
            for place, _ in enumerate(own):
                graph.thread_before.append(sum(1 << later for later in own[place + 1 :]))

    def _order(self, event: Occurrence, writes: dict[int, Occurrence]) -> Order:
        if is_in_library_section(event):
            return Order.ACQ_REL
        if event.kind is Access.MARK:
            return Order.PLAIN
        if event.update_of is not None:
            return order_of_write(event.order)
        if event.kind is not Access.READ or not event.in_update:
            return event.order
        write = writes.get(event.number)
        if event.failure_order is None or write is None:
            return event.failure_order or order_of_read(event.order)
        self._undecided[event.number] = write
        succeeds = self._solver.model_value(write.guard)
        return order_of_read(event.order) if succeeds else event.failure_order

    def _make_accesses(self) -> None:
        graph, nodes, literals = self.graph, self.nodes, self._literals
        count = len(self._events)
        for link in literals.links:
            read = nodes.get(link.read)
            if read is None or read in graph.reads_from or not self._holds(link.literal):
                continue
            graph.reads_from[read] = -1 if link.write >= count else nodes[link.write]
            self._source[read] = link.literal
        groups: dict[int, list[int]] = {}
        for node, item in enumerate(self._items):
            if item is not None and item.kind is Access.WRITE:
                groups.setdefault(graph.locations[node], []).append(node)
                if item.update_of is not None:
                    graph.update_of[node] = nodes[item.update_of.number]
        order = literals.modification
        for group in groups.values():
            numbers = {node: self._number(node) for node in group}
            before = {
                node: sum(
                    (other, number) in order and self._holds(order[other, number])
                    for other in numbers.values()
                )
                for node, number in numbers.items()
            }
            graph.modifications.append(sorted(group, key=before.__getitem__))

    def _number(self, node: int) -> int:
        item = self._items[node]
        assert item is not None
        return item.number

    def _holds(self, literal: int) -> bool:
        return not literal or self._solver.literal_value(literal)

    def _synchronise(self) -> None:
        """sw, as in `rc11.synchronises_with`, with reasons."""
        graph = self.graph
        for one, other, why in self._synchronising_sections():
            graph.synchronised.append((one, other))
            self._add_sw(one, other, why)
        fences = [node for node, is_fence in enumerate(graph.is_fence) if is_fence]
        for read, write in graph.reads_from.items():
            if write < 0 or not graph.orders[read].is_atomic:
                continue
            acquiring = [(read, self._has_order(read, ACQUIRES))]
            if graph.orders[read] not in ACQUIRES:
                acquiring = []
            acquiring += [
                (fence, _NONE)
                for fence in fences
                if graph.orders[fence] in ACQUIRES and graph.thread_before[read] >> fence & 1
            ]
            for head, chain in self._heads(read):
                releasing = [head] if graph.orders[head] in RELEASES else []
                releasing += [
                    fence
                    for fence in fences
                    if graph.orders[fence] in RELEASES and graph.thread_before[fence] >> head & 1
                ]
                for one in releasing:
                    for other, why in acquiring:
                        self._add_sw(one, other, chain | why)

    def _synchronising_sections(self) -> Iterator[tuple[int, int, Reason]]:
        """A section with an acquire fence behind a read synchronises with those that have released
        what it reads; a section that reads and writes goes on with what was released (see
        `semantics.graph_memory`)."""
        fences: dict[int, list[Occurrence]] = {}
        reads: dict[tuple[int, tuple[int, int]], Occurrence] = {}
        sources: dict[int, Link] = {}
        for link in self._literals.of_library:
            if self._holds(link.literal):
                sources.setdefault(link.read, link)
        for event in self._events:
            if not event.section or not self._solver.model_value(event.guard):
                continue
            begin, _ = self._section_of(event)
            if event.kind is Access.FENCE:
                fences.setdefault(begin, []).append(event)
            elif event.kind is Access.READ and event.cell is not None:
                reads[begin, event.cell] = event
        for read in sources:
            if not self._events[read].section:
                continue  # nobody else accesses it
            begin, why_section = self._section_of(self._events[read])
            acquiring = [
                fence
                for fence in fences.get(begin, ())
                if fence.order in ACQUIRES and fence.number > read
            ]
            if not acquiring:
                continue
            why = why_section | {self._literals.guards[acquiring[0].number]}
            source = sources.get(read)
            while source is not None and source.write in self.nodes:
                why |= {source.literal}
                write = self._events[source.write]
                begin, why_section = self._section_of(write)
                why |= why_section
                releasing = [one for one in fences.get(begin, ()) if one.order in RELEASES]
                one, other = self.nodes[write.number], self.nodes[read]
                if releasing and one != other:
                    yield one, other, why | {self._literals.guards[releasing[0].number]}
                assert write.cell is not None
                before = reads.get((begin, write.cell))
                source = None if before is None else sources.get(before.number)

    def _section_of(self, event: Occurrence) -> tuple[int, Reason]:
        """Which section an event is in, and why, if it may be in several."""
        begin, when = next(
            (begin, when) for begin, when in event.section if self._solver.model_value(when)
        )
        if len(event.section) < 2:
            return begin, _NONE
        return begin, frozenset({self._solver.literal_of(when)})

    def _heads(self, read: int) -> list[tuple[int, Reason]]:
        """The atomic writes in whose release sequence the write is that a read reads."""
        found = []
        chain: Reason = _NONE
        node: int | None = read
        while node is not None:
            chain = chain | {self._source[node]}
            write = self.graph.reads_from[node]
            if write < 0:
                break
            if self.graph.orders[write].is_atomic:
                found.append((write, chain))
            node = self.graph.update_of.get(write)
        return found

    def _add_sw(self, one: int, other: int, reason: Reason) -> None:
        known = self._sw.get((one, other))
        if known is None or len(reason) < len(known):
            self._sw[one, other] = reason

    def _has_order(self, node: int, orders: frozenset[Order]) -> Reason:
        """Why the memory order of a node is one of these: of an update, if it depends on whether it
        writes."""
        item = self._items[node]
        write = None if item is None else self._undecided.get(item.number)
        if item is None or write is None:
            return _NONE
        if order_of_read(item.order) in orders and item.failure_order in orders:
            return _NONE
        guard = self._literals.guards[write.number]
        return frozenset({guard if self._solver.model_value(write.guard) else -guard})

    # --- why

    def occurs(self, *nodes: int) -> Reason:
        items = (self._items[node] for node in nodes)
        return frozenset(self._literals.guards[item.number] for item in items if item is not None)

    def why_before(self, one: int, other: int) -> Reason:
        """Why hb: a path with as few steps as possible."""
        path = _path(self._steps, one, other)
        reason = self.occurs(*path)
        for pair in zip(path, path[1:]):
            if not self.graph.thread_before[pair[0]] >> pair[1] & 1:
                reason |= self._sw[pair]
        return reason

    def why_before_or_same(self, one: int, other: int) -> Reason:
        return _NONE if one == other else self.why_before(one, other)

    def why_communicates(self, one: int, other: int) -> Reason:
        """Why eco."""
        path = _path(self._communication, one, other)
        return _NONE.union(*(self._why_one_step(*pair) for pair in zip(path, path[1:])))

    def _why_one_step(self, one: int, other: int) -> Reason:
        graph = self.graph
        if graph.reads_from.get(other) == one:
            return frozenset({self._source[other]})
        if self.mo[one] >> other & 1:
            return self.why_modified(one, other)
        write = graph.reads_from[one]
        if write >= 0:
            return self.why_modified(write, other) | {self._source[one]}
        hit = self._literals.same_place(self._number(one), self._number(other))
        return frozenset({self._source[one], hit})

    def why_modified(self, one: int, other: int) -> Reason:
        return frozenset({self._literals.modification[self._number(one), self._number(other)]})

    def why_read_before(self, one: int, other: int) -> Reason:
        """Why rb."""
        return self._why_one_step(one, other)

    def why_of_sc(self, node: int) -> Reason:
        return self.occurs(node) | self._has_order(node, frozenset({Order.SEQ_CST}))


def is_in_library_section(event: Occurrence) -> bool:
    return event.cell is not None and bool(event.section) and not event.in_update


# --- the axioms


def _against_unordered(literals: Literals, model: _ModelGraph) -> tuple[list[Reason], bool]:
    """Why events are ordered, where they are; and whether the model says of one that it is not."""
    found: list[Reason] = []
    is_wrong = False
    for (one, other), literal in literals.unordered.items():
        before, after = model.nodes.get(one), model.nodes.get(other)
        if before is None or after is None:
            continue
        if model.hb[before] >> after & 1:
            found.append(model.why_before(before, after) | {literal})
            is_wrong |= literals.solver.literal_value(literal)
    return found, is_wrong


def _against_coherence(model: _ModelGraph) -> list[Reason]:
    found: list[Reason] = []
    for event, behind in enumerate(model.hb):
        for other in bits(behind):
            if model.eco[other] >> event & 1:
                found.append(model.why_before(event, other) | model.why_communicates(other, event))
    return sorted(dict.fromkeys(found), key=len)[:_MOST_REASONS]


def _against_order_of_sc(model: _ModelGraph) -> list[Reason]:
    psc = rc11.partial_order_of_sc(model.graph)
    closed = rc11.closure(psc)
    cycles = [_path(psc, node, node) for node, row in enumerate(closed) if row >> node & 1]
    shortest = min(map(len, cycles), default=0)
    found = []
    for cycle in cycles:
        if len(cycle) == shortest:
            steps = [_why_psc(model, *pair) for pair in zip(cycle, cycle[1:])]
            found.append(_NONE.union(*steps))
    return sorted(dict.fromkeys(found), key=len)[:_MOST_REASONS]


def _why_psc(model: _ModelGraph, one: int, other: int) -> Reason:
    """See `rc11.partial_order_of_sc`."""
    graph, hb = model.graph, model.hb
    ends = model.why_of_sc(one) | model.why_of_sc(other)
    reasons: list[Reason] = []
    starts = [one, *(bits(hb[one]) if graph.is_fence[one] else ())]
    for start in starts:
        why_start = model.why_before_or_same(one, start)
        for end, why in _scb_from(model, start):
            if end == other or (graph.is_fence[other] and hb[end] >> other & 1):
                reasons.append(why_start | why | model.why_before_or_same(end, other))
    if graph.is_fence[one] and graph.is_fence[other]:
        if hb[one] >> other & 1:
            reasons.append(model.why_before(one, other))
        for start in bits(hb[one]):
            for end in bits(model.eco[start]):
                if hb[end] >> other & 1:
                    why = model.why_before(one, start) | model.why_communicates(start, end)
                    reasons.append(why | model.why_before(end, other))
    return ends | min(reasons, key=len)


def _scb_from(model: _ModelGraph, one: int) -> Iterator[tuple[int, Reason]]:
    graph, hb = model.graph, model.hb
    here = graph.locations[one]
    for other in bits(graph.thread_before[one]):
        yield other, model.occurs(one, other)
        if here >= 0 and graph.locations[other] == here:
            continue
        for last in bits(hb[other]):
            for end in bits(graph.thread_before[last]):
                if graph.locations[end] < 0 or graph.locations[end] != graph.locations[last]:
                    yield end, model.occurs(one, end) | model.why_before(other, last)
    for other in bits(hb[one]):
        if here >= 0 and graph.locations[other] == here:
            yield other, model.why_before(one, other)
    for other in bits(model.mo[one]):
        yield other, model.why_modified(one, other)
    for other in bits(model.rb[one]):
        yield other, model.why_read_before(one, other)


def _path(rows: Relation, one: int, other: int) -> list[int]:
    """A path with as few steps as possible, of at least one step."""
    parents: dict[int, int] = {}
    fringe, reached = [one], 0
    while fringe:
        following = []
        for node in fringe:
            if rows[node] >> other & 1:
                path = [other, node]
                while path[-1] != one:
                    path.append(parents[path[-1]])
                return path[::-1]
            for new in bits(rows[node] & ~reached):
                if new != one:
                    reached |= 1 << new
                    parents[new] = node
                    following.append(new)
        fringe = following
    raise AssertionError("the order to be explained does not hold")
