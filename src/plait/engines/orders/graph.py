"""The event order graph: which event must happen before which (sections 4 and 5 of the paper).

The graph starts with program order and gets the orders of the read-write links one by one. From
these it derives others until nothing new follows:

Rule 1  e1 < e2 and e2 < e3 give e1 < e3.
Rule 2  a link (e1, e2) and a write e3 that hits e2 with e3 < e2 give e3 < e1.
Rule 3  a link (e1, e2) and a write e3 that hits e2 with e1 < e3 give e2 < e3.
Rule 4  critical sections, not in the paper. For A and B of one lock, first(A) < last(B) gives
        last(A) < first(B). For an atomic section A and an event e of another thread, first(A) < e
        gives last(A) < e, and e < last(A) gives e < first(A).

Rules 2 and 3 hold only if e3 hits e2 (writes the place that e2 reads), so the literal that says so
is part of their reason: guard(e3), or the alias of e3 and e2 in a region (see `events`).
They are sound because e2 takes the value of the last write before it that hits it, and the link
says that this is e1: no e3 that hits e2 is between. Whether e3 hits e1 need not be asked, as the
link makes the addresses of e1 and e2 equal.

Rule 4 is sound because one of two critical sections of a lock that both occur ends before the other
begins: if A begins before B ends, it is not B that comes first. That some event of A is before some
event of B suffices, since Rule 1 makes of it that A begins before B ends; and that all of A is
before all of B follows from the conclusion by Rule 1. The literals of both belong to the reason.
For an atomic section, e counts as a critical section of its own; its guard is needed only where e
could otherwise be placed inside the section (see `events`).

The closure is kept as bit masks, `after[e]` and `before[e]`. Each change is noted on a trail, so
that going back costs what going forward did, and the closure of program order is computed once for
an `EventStructure`, not for each counterexample.
"""

from __future__ import annotations

from collections.abc import Iterable

from plait.data import dataclass
from plait.engines.orders.events import Alias, EventStructure, Kind, Link, Order, bits


@dataclass(frozen=True, slots=True)
class Edge:
    """An order that Rule 1 did not give, and why it holds: literals, and maybe another order."""

    before: int
    after: int
    mask: int
    premise: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Refuted:
    """A link that would close a cycle, as its read cannot come after its write, or as a third
    write is between them. `stamp` says what was known when this was found."""

    link: Link
    between: int | None
    stamp: int


class EventOrderGraph:
    """Orders under the literals asserted so far.

    Round by round: `reasons(true literals)`, many at a small price; or `validate(true literals)`,
    then, if it found a conflict, `baselines.kernel`: all of them, but that takes long.
    Inside a solver: `new_level`, `push` and `backtrack` follow its trail, `conflict_reason` and
    `explain` give one reason each. A solver that fixes literals for good while it is at a higher
    level must push them again after going back; pushing twice does no harm. Once there is a
    conflict, literals are noted but nothing more is derived until `backtrack`.
    """

    def __init__(self, structure: EventStructure) -> None:
        self.structure = structure
        self.after = list(structure.after0)
        self.before = list(structure.before0)
        self._readers = [0] * len(structure.events)
        self._sources = [0] * len(structure.events)
        # For each read, the writes of links that were not rejected.
        self._open = [0] * len(structure.events)
        for link in structure.links:
            self._open[link.read] |= 1 << link.write
        self._aliased = [0] * len(structure.events)
        self._now = _Flags(0, 0, 0, 0, 0, None)
        self._edges: list[Edge] = []
        self._edges_from: list[list[int]] = [[] for _ in structure.events]
        self._edge_sources = 0  # events from which edges start, and maybe more
        self._trail: list[tuple[list[int], int, int]] = []
        self._levels: list[tuple[int, int, _Flags]] = []
        self._activations = _activations(structure)
        self._watching = _Watching(structure)
        # Events whose successors or predecessors have grown since the rules were last applied.
        self._grown_after = 0
        self._grown_before = 0
        self._reads_to_check = 0
        self._activate(0)
        self.new_level()

    # Asserting literals

    def validate(self, true: Iterable[int]) -> bool:
        """Whether the rules find no conflict under these literals (and what they imply) alone."""
        self.reset()
        mask = self.structure.closed_mask(true)
        for number in bits(mask):
            if not self.push(self.structure.literals[number]):
                break
        self._now.asserted = mask
        return self._now.conflict is None

    def reasons(self, true: Iterable[int]) -> list[frozenset[int]]:
        """Reasons why these literals (and what they imply) cannot all hold: for each literal that
        cannot join the ones before it, one. None if the rules find no conflict; then the graph has
        all of them. Links come last, and once more in the opposite order: where several links
        contradict each other, others are found guilty then."""
        structure = self.structure
        mask = structure.closed_mask(true)
        links = mask & self._watching.link_bits
        others = list(bits(mask & ~links))
        masks: list[int] = []
        for sequence in ([*others, *bits(links)], [*others, *reversed(list(bits(links)))]):
            found = self._rejections(sequence)
            if not found:
                return []  # nor is there any in another sequence
            masks += found
        return [
            structure.literals_of(one)
            for one in dict.fromkeys(masks)
            if not any(other & ~one == 0 and other != one for other in masks)
        ]

    def _rejections(self, literals: Iterable[int]) -> list[int]:
        """Assert the literals of these numbers, except where one leads to a conflict: of each such
        conflict, the reason."""
        self.reset()
        found = [self.conflict_mask()] if self.has_conflict else []
        for number in literals:
            self.new_level()
            if not self.push(self.structure.literals[number]):
                found.append(self.conflict_mask())
                self.backtrack(self.level - 1)
        return found

    def reset(self) -> None:
        """Forget all literals."""
        self._undo(0)
        self.new_level()

    @property
    def level(self) -> int:
        return len(self._levels) - 1

    def new_level(self) -> None:
        self._levels.append((len(self._trail), len(self._edges), self._now.copy()))

    def backtrack(self, level: int) -> None:
        """Forget what was pushed at levels above this one."""
        if level < self.level:
            self._undo(level + 1)

    def push(self, literal: int) -> bool:
        """Assert that a literal is true; False if the graph has a conflict (now or before)."""
        bit = self.structure.bit_of.get(literal, 0)
        now = self._now
        if bit & ~now.asserted:
            now.asserted |= bit
            if now.conflict is None:
                self._activate(literal)
        return now.conflict is None

    def reject(self, literal: int) -> None:
        """Note that a literal is false: links that need it are not refuted again."""
        for link in self._watching.links_with.get(literal, ()):
            left = self._open[link.read]
            if left >> link.write & 1:
                self._set(self._open, link.read, left & ~(1 << link.write))

    def assume(self, before: int, after: int, mask: int) -> bool:
        """Add an order for the reason given; False if the graph has a conflict."""
        if self._now.conflict is None and self._add(before, after, mask, None):
            self._propagate()
        return self._now.conflict is None

    # What is known

    @property
    def has_conflict(self) -> bool:
        return self._now.conflict is not None

    @property
    def asserted(self) -> int:
        """The literals that were pushed, as a mask."""
        return self._now.asserted

    @property
    def occurring(self) -> int:
        """The events that occur, as a mask."""
        return self._now.occurring

    def active_links(self) -> list[tuple[int, int]]:
        """The write and read of each link that holds."""
        return [
            (write, read)
            for write in bits(self._now.linked_writes)
            for read in bits(self._readers[write])
        ]

    def hit_by(self, write: int) -> int:
        """The reads of a region that the write is known to hit, as a mask."""
        cell = self.structure.events[write].cell
        assert cell is not None
        found = 0
        for read in bits(self.structure.reads.get(cell, 0)):
            if self._aliased[read] >> write & 1:
                found |= 1 << read
        return found

    def active_blocks(self) -> list[int]:
        return list(bits(self._now.sections))

    def is_before(self, first: int, second: int) -> bool:
        return bool(self.after[first] >> second & 1)

    def derived_orders(self) -> list[tuple[int, int]]:
        """The orders that Rules 2 to 4 gave, in the order of their derivation."""
        return [(edge.before, edge.after) for edge in self._edges if edge.premise is not None]

    def minimal_reason(self) -> frozenset[int]:
        """A reason of the conflict of which the rules need every literal."""
        needed = self.conflict_reason()
        scratch = EventOrderGraph(self.structure)
        for literal in sorted(needed):
            if literal in needed and not scratch.validate(needed - {literal}):
                needed = scratch.conflict_reason()
        return needed

    def conflict_mask(self) -> int:
        """One reason of the conflict, as a mask."""
        stamp = self._now.conflict
        assert stamp is not None, "there is no conflict to explain"
        edge = self._edges[stamp]
        wanted = [(edge.after, edge.before, stamp)]
        if edge.premise is not None:
            wanted.append((*edge.premise, stamp))
        return edge.mask | self._reason(wanted)

    def conflict_reason(self) -> frozenset[int]:
        """Literals that cannot all be true: a conflict clause is their negation."""
        return self.structure.literals_of(self.conflict_mask())

    def order_reason(self, first: int, second: int) -> frozenset[int]:
        """Literals from which this order, which must hold, follows."""
        return self.structure.literals_of(self._reason([(first, second, len(self._edges))]))

    def refuted_links(self) -> list[Refuted]:
        """Links, neither asserted nor rejected, that the orders now exclude: of reads around which
        something has changed since the last call."""
        found: list[Refuted] = []
        stamp = len(self._edges)
        link_at = self._watching.link_at
        reads, self._reads_to_check = self._reads_to_check & self._watching.linked_reads, 0
        for read in bits(reads):
            left = self._open[read] & ~self._sources[read]
            if not left:
                continue
            for write in bits(left & self.after[read] & ~self._watching.internal[read]):
                found.append(Refuted(link_at[write, read], None, stamp))
            left &= self.before[read]
            if not left:
                continue
            for other in bits(self._hitting(read) & self.before[read]):
                hidden = left & self.before[other]
                if hidden:
                    for write in bits(hidden):
                        found.append(Refuted(link_at[write, read], other, stamp))
                    left &= ~hidden
                    if not left:
                        break
        return found

    def refutation_reason(self, refuted: Refuted) -> frozenset[int]:
        """Literals that cannot be true together with the link's; they were asserted when it was
        found, so the answer may be asked for later."""
        write, read, between = refuted.link.write, refuted.link.read, refuted.between
        if between is None:
            return self.structure.literals_of(self._reason([(read, write, refuted.stamp)]))
        wanted = [(write, between, refuted.stamp), (between, read, refuted.stamp)]
        mask = self.structure.hit_mask(between, read) | self._reason(wanted)
        return self.structure.literals_of(mask)

    # Deriving orders

    def _activate(self, literal: int) -> None:
        now, structure = self._now, self.structure
        active = self._activations.get(literal)
        if active is None:
            return
        now.occurring |= active.events
        now.sections |= active.sections
        for event in bits(active.events & self._watching.noticed_when_occurring):
            self._grown_after |= self._watching.grown_after_by[event]
            self._grown_before |= self._watching.grown_before_by[event]
        for number in bits(active.sections):
            self._grown_after |= self._watching.firsts_around[number]
            self._grown_before |= 1 << structure.sections[number].last
        for alias in active.aliases:
            self._set(self._aliased, alias.read, self._aliased[alias.read] | 1 << alias.write)
            self._grown_after |= self._sources[alias.read]
            self._grown_before |= 1 << alias.read
            self._reads_to_check |= 1 << alias.read
        for order in active.orders:
            if not self._add(order.before, order.after, structure.mask_of[literal], None):
                return
        for link in active.links:
            self._set(self._readers, link.write, self._readers[link.write] | 1 << link.read)
            self._set(self._sources, link.read, self._sources[link.read] | 1 << link.write)
            now.linked_writes |= 1 << link.write
            now.linked_reads |= 1 << link.read
            self._grown_after |= 1 << link.write
            self._grown_before |= 1 << link.read
            if link.is_internal:
                continue
            if not self._add(link.write, link.read, structure.mask_of[literal], None):
                return
        self._propagate()

    def _propagate(self) -> None:
        """Apply the rules until nothing follows or an event is before itself."""
        now, watching = self._now, self._watching
        while self._grown_after or self._grown_before:
            grown_after = self._grown_after & (now.linked_writes | watching.firsts)
            grown_before = self._grown_before & (now.linked_reads | watching.atomic_lasts)
            self._grown_after = self._grown_before = 0
            for event in bits(grown_after):
                if not (self._rule_3(event) and self._rule_4_forward(event)):
                    return
            for event in bits(grown_before):
                if not (self._rule_2(event) and self._rule_4_backward(event)):
                    return

    def _rule_2(self, read: int) -> bool:
        if not self._sources[read]:
            return True
        structure = self.structure
        for write in bits(self._sources[read]):
            others = self._hitting(read) & self.before[read] & ~(1 << write)
            mask = structure.link_mask[write, read]
            for other in bits(others & ~self.before[write]):
                reason = mask | structure.hit_mask(other, read)
                if not self._add(other, write, reason, (other, read)):
                    return False
        return True

    def _rule_3(self, write: int) -> bool:
        if not self._readers[write]:
            return True
        structure = self.structure
        for read in bits(self._readers[write]):
            others = self._hitting(read) & self.after[write]
            mask = structure.link_mask[write, read]
            for other in bits(others & ~self.after[read]):
                reason = mask | structure.hit_mask(other, read)
                if not self._add(read, other, reason, (write, other)):
                    return False
        return True

    def _rule_4_forward(self, first: int) -> bool:
        structure, now = self.structure, self._now
        for number in bits(self._watching.sections_from[first] & now.sections):
            last, mask = structure.sections[number].last, structure.section_mask[number]
            for rival in structure.rivals[number]:
                other = structure.sections[rival]
                if now.sections >> rival & 1 and self.after[first] >> other.last & 1:
                    reason = mask | structure.section_mask[rival]
                    if not self._add(last, other.first, reason, (first, other.last)):
                        return False
            concerned = structure.outside[number] & (now.occurring | ~structure.needs_guard[number])
            for event in bits(concerned & self.after[first] & ~self.after[last]):
                reason = mask | self._guard_inside(number, event)
                if not self._add(last, event, reason, (first, event)):
                    return False
        return True

    def _rule_4_backward(self, last: int) -> bool:
        structure, now = self.structure, self._now
        for number in bits(self._watching.sections_to[last] & now.sections):
            first, mask = structure.sections[number].first, structure.section_mask[number]
            concerned = structure.outside[number] & (now.occurring | ~structure.needs_guard[number])
            for event in bits(concerned & self.before[last] & ~self.before[first]):
                reason = mask | self._guard_inside(number, event)
                if not self._add(event, first, reason, (event, last)):
                    return False
        return True

    def _guard_inside(self, section: int, event: int) -> int:
        if self.structure.needs_guard[section] >> event & 1:
            return self.structure.guard_mask[event]
        return 0

    def _hitting(self, read: int) -> int:
        """The writes that are known to hit a read."""
        cell = self.structure.events[read].cell
        assert cell is not None
        if cell in self.structure.regions:
            return self._aliased[read]
        return self.structure.writes[cell] & self._now.occurring

    def _add(self, before: int, after: int, mask: int, premise: tuple[int, int] | None) -> bool:
        """Add an order and what Rule 1 makes of it; False if an event is now before itself."""
        successors, predecessors = self.after, self.before
        if successors[before] >> after & 1:
            return True
        self._edges_from[before].append(len(self._edges))
        self._edge_sources |= 1 << before
        self._edges.append(Edge(before, after, mask, premise))
        if before == after or successors[after] >> before & 1:
            self._now.conflict = len(self._edges) - 1
            self._grown_after = self._grown_before = 0
            return False
        later = successors[after] | 1 << after
        earlier = predecessors[before] | 1 << before
        # Whoever is before `after` already is before all of `later`, and the other way round.
        gaining_later = earlier & ~predecessors[after]
        gaining_earlier = later & ~successors[before]
        trail = self._trail
        for event in bits(gaining_later):
            trail.append((successors, event, successors[event]))
            successors[event] |= later
        for event in bits(gaining_earlier):
            trail.append((predecessors, event, predecessors[event]))
            predecessors[event] |= earlier
        self._grown_after |= gaining_later
        self._grown_before |= gaining_earlier
        self._reads_to_check |= gaining_later | gaining_earlier
        return True

    def _set(self, table: list[int], index: int, value: int) -> None:
        self._trail.append((table, index, table[index]))
        table[index] = value

    def _undo(self, levels: int) -> None:
        trail_length, edge_count, flags = self._levels[levels]
        del self._levels[levels:]
        for table, index, value in reversed(self._trail[trail_length:]):
            table[index] = value
        del self._trail[trail_length:]
        for edge in self._edges[edge_count:]:
            self._edges_from[edge.before].pop()
        del self._edges[edge_count:]
        self._now = flags

    # Reasons

    def _reason(self, wanted: list[tuple[int, int, int]]) -> int:
        """Literals from which the orders (first, second) follow, each from those of the edges that
        are older than its stamp: no order is its own reason."""
        mask = 0
        used: set[int] = set()
        while wanted:
            first, second, stamp = wanted.pop()
            if first == second or self.structure.after0[first] >> second & 1:
                continue
            for number in self._path(first, second, stamp):
                if number not in used:
                    used.add(number)
                    edge = self._edges[number]
                    mask |= edge.mask
                    if edge.premise is not None:
                        wanted.append((*edge.premise, number))
        return mask

    def _path(self, first: int, second: int, stamp: int) -> list[int]:
        """The edges of a path with as few edges as possible, breadth first."""
        after0, before0 = self.structure.after0, self.structure.before0
        edges, edges_from = self._edges, self._edges_from
        between = (self.after[first] | 1 << first) & (self.before[second] | 1 << second)
        goal = before0[second] | 1 << second
        reached = (after0[first] | 1 << first) & between
        fringe: list[tuple[int, int | None]] = [(reached, None)]
        parents: dict[int, int | None] = {}
        while fringe:
            following: list[tuple[int, int | None]] = []
            for events, parent in fringe:
                for event in bits(events & self._edge_sources):
                    for number in edges_from[event]:
                        if number >= stamp:
                            break
                        target = edges[number].after
                        if goal >> target & 1:
                            parents[number] = parent
                            return _trace_back(parents, number)
                        new = (after0[target] | 1 << target) & between & ~reached
                        if new:
                            reached |= new
                            parents[number] = parent
                            following.append((new, number))
            fringe = following
        raise AssertionError("the order to be explained does not hold")


@dataclass(slots=True)
class _Flags:
    """Sets as masks: literals asserted, events that occur, sections, writes and reads with links
    that hold; and the edge that closed a cycle."""

    asserted: int
    occurring: int
    sections: int
    linked_writes: int
    linked_reads: int
    conflict: int | None

    def copy(self) -> _Flags:
        return _Flags(
            self.asserted,
            self.occurring,
            self.sections,
            self.linked_writes,
            self.linked_reads,
            self.conflict,
        )


@dataclass(slots=True)
class _Activation:
    """What becomes true with a literal."""

    events: int
    sections: int
    orders: list[Order]
    links: list[Link]
    aliases: list[Alias]


class _Watching:
    """Which events' successors and predecessors the rules have to look at, and when."""

    def __init__(self, structure: EventStructure) -> None:
        count = len(structure.events)
        self.sections_from = [0] * count
        self.sections_to = [0] * count
        self.firsts = 0
        self.atomic_lasts = 0
        self.grown_after_by = [0] * count
        self.grown_before_by = [0] * count
        self.noticed_when_occurring = 0
        self.internal = [0] * count  # of each read, the writes of links that order nothing
        self.link_at = {(link.write, link.read): link for link in structure.links}
        self.links_with: dict[int, list[Link]] = {}
        self.linked_reads = 0
        self.link_bits = 0
        self.firsts_around: list[int] = []
        for number, section in enumerate(structure.sections):
            self.sections_from[section.first] |= 1 << number
            self.firsts |= 1 << section.first
            rivals = [structure.sections[rival].first for rival in structure.rivals[number]]
            self.firsts_around.append(sum(1 << first for first in {*rivals, section.first}))
            if structure.outside[number]:
                self.sections_to[section.last] |= 1 << number
                self.atomic_lasts |= 1 << section.last
            for concerned in bits(structure.needs_guard[number]):
                self.grown_after_by[concerned] |= 1 << section.first
                self.grown_before_by[concerned] |= 1 << section.last
                self.noticed_when_occurring |= 1 << concerned
        for number, event in enumerate(structure.events):
            if (
                event.kind is Kind.WRITE
                and event.cell is not None
                and event.cell not in structure.regions
            ):
                self.grown_after_by[number] |= structure.writes[event.cell]
                self.grown_before_by[number] |= structure.reads.get(event.cell, 0)
                self.noticed_when_occurring |= 1 << number
        for link in structure.links:
            if link.is_internal:
                self.internal[link.read] |= 1 << link.write
            self.links_with.setdefault(link.literal, []).append(link)
            self.linked_reads |= 1 << link.read
            self.link_bits |= structure.bit_of[link.literal]


def _activations(structure: EventStructure) -> dict[int, _Activation]:
    found: dict[int, _Activation] = {}

    def at(literal: int) -> _Activation:
        return found.setdefault(literal, _Activation(0, 0, [], [], []))

    for number, event in enumerate(structure.events):
        at(event.guard).events |= 1 << number
    for number, section in enumerate(structure.sections):
        at(section.literal).sections |= 1 << number
    for order in structure.orders:
        at(order.literal).orders.append(order)
    for link in structure.links:
        at(link.literal).links.append(link)
    for alias in structure.aliases:
        at(alias.literal).aliases.append(alias)
    return found


def _trace_back(parents: dict[int, int | None], last: int) -> list[int]:
    path = [last]
    parent = parents[last]
    while parent is not None:
        path.append(parent)
        parent = parents[parent]
    return path
