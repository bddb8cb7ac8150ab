"""Kernel reasons: the smallest sets of literals that make an event order graph infeasible.

Section 5.3 of the paper keeps for each order all its core kernel reasons while the orders are
derived. Here the same sets are computed apart from the closure, and only once there is a conflict:
best first, so that the shortest reasons come first and a limit cuts off only longer ones.

Program order has the empty reason. Any other order is a path of *edges* (links, conditional orders
and what Rules 2 to 4 derive) with program order in between. A *fact* (tail, R, heads) says: the
literals R suffice to order `tail`, and so all events before it in program order, before each of
`heads`. Facts are taken from a queue by the number of literals. One that adds nothing to facts with
subsets of its literals is dropped (it is *redundant*, in the paper's words), and so is one whose
literals include a kernel reason that is already known. What is left of it is extended by the edges
that end before its tail (Rule 1) and used as a premise of Rules 2 to 4. A conflict is a fact whose
tail is among its heads.

Theorem 5.1 is the invariant: R implies the orders of its fact. Since facts come by size, the facts
that are kept never become redundant later.
"""

from __future__ import annotations

import heapq

from plait.data import dataclass
from plait.engines.orders.events import EventStructure, bits
from plait.engines.orders.graph import EventOrderGraph


@dataclass(frozen=True, slots=True)
class KernelLimits:
    """When to stop: after so many reasons, at literals beyond the size of the shortest reason, at
    facts looked at. There is no limit per order: facts come shortest first, and the limits bound
    them all together. Sizes count the guards that links imply. With 300 events and 100 links, 1000
    facts take 0.15 s, and each further one more than the one before."""

    reasons: int = 100
    beyond_shortest: int = 4
    facts: int = 1000


DEFAULT_LIMITS = KernelLimits()


def kernel_reasons_of(
    graph: EventOrderGraph, limits: KernelLimits = DEFAULT_LIMITS
) -> list[frozenset[int]]:
    """The core kernel reasons of all conflicts under the literals asserted in the graph, shortest
    first; at least one if there is a conflict, whatever the limits."""
    found = _kernel_reasons(graph.structure, graph.asserted, limits)
    if found or not graph.has_conflict:
        return found
    return [graph.minimal_reason()]


def _kernel_reasons(
    structure: EventStructure, true: int, limits: KernelLimits
) -> list[frozenset[int]]:
    """The core kernel reasons of the conflicts under these literals, shortest first. None contains
    another one, or a literal that others of it imply. All of them, if no limit was reached; maybe
    none at all, if one was."""
    search = _Search(structure, true, limits)
    search.run()
    return sorted(map(structure.literals_of, search.conflicts), key=lambda o: (len(o), sorted(o)))


class _Search:
    def __init__(self, structure: EventStructure, true: int, limits: KernelLimits) -> None:
        self._structure = structure
        self._limits = limits
        self.conflicts: list[int] = []
        self._queue: list[tuple[int, int, int, int, int, int]] = []
        self._pushed = 0
        self._longest = len(structure.literals)
        # What follows an event in program order or precedes it, with the event itself.
        self._from = [mask | 1 << event for event, mask in enumerate(structure.after0)]
        self._to = [mask | 1 << event for event, mask in enumerate(structure.before0)]
        # Facts that begin at a tail, and facts that say something about it.
        self._own: dict[int, list[tuple[int, int]]] = {}
        self._rows: dict[int, list[tuple[int, int]]] = {}
        self._edges: list[tuple[int, int, int]] = []
        events = structure.events
        self._occurring = sum(
            1 << number for number, event in enumerate(events) if structure.holds(event.guard, true)
        )
        self._links = [link for link in structure.links if structure.holds(link.literal, true)]
        self._orders = [order for order in structure.orders if structure.holds(order.literal, true)]
        self._sections = [
            number
            for number, section in enumerate(structure.sections)
            if structure.holds(section.literal, true)
        ]
        self._aliased: dict[int, int] = {}
        for alias in structure.aliases:
            if structure.holds(alias.literal, true):
                self._aliased[alias.read] = self._aliased.get(alias.read, 0) | 1 << alias.write
        self._others = {link: self._hitting(link.read) & ~(1 << link.write) for link in self._links}
        self._concerned = {
            number: structure.outside[number] & (self._occurring | ~structure.needs_guard[number])
            for number in self._sections
        }

    def run(self) -> None:
        for order in self._orders:
            self._edge(order.before, order.after, self._structure.mask_of[order.literal])
        for link in self._links:
            self._edge(link.write, link.read, self._structure.mask_of[link.literal])
        self._rules_on_program_order()
        facts = 0
        while self._queue and facts < self._limits.facts:
            size, _, tail, mask, heads, head = heapq.heappop(self._queue)
            if size > self._longest:
                return
            if self._is_known_conflict(mask):
                continue
            new = self._new_heads(tail, mask, heads)
            if not new:
                continue
            facts += 1
            if new >> tail & 1:
                self._longest = min(self._longest, size + self._limits.beyond_shortest)
                self.conflicts.append(mask)
                if len(self.conflicts) == self._limits.reasons:
                    return
                continue
            self._keep(tail, mask, new)
            self._extend_backward(tail, mask, new)
            self._rules(self._to[tail], new, mask)
            if head >= 0:
                self._extend_forward(tail, mask, head)

    def _hitting(self, read: int) -> int:
        if self._structure.in_region(read):
            return self._aliased.get(read, 0)
        cell = self._structure.events[read].cell
        assert cell is not None
        return self._structure.writes[cell] & self._occurring

    # The queue

    def _edge(self, tail: int, head: int, mask: int) -> None:
        if not self._structure.after0[tail] >> head & 1:
            self._push(tail, mask, self._from[head], head)

    def _push(self, tail: int, mask: int, heads: int, head: int = -1) -> None:
        size = mask.bit_count()
        if size <= self._longest:
            self._pushed += 1
            heapq.heappush(self._queue, (size, self._pushed, tail, mask, heads, head))

    def _is_known_conflict(self, mask: int) -> bool:
        return any(not reason & ~mask for reason in self.conflicts)

    def _new_heads(self, tail: int, mask: int, heads: int) -> int:
        """Those of the heads that no fact with a subset of the literals reaches from the tail."""
        for known, reached in self._row(tail):
            if not known & ~mask:
                heads &= ~reached
                if not heads:
                    break
        return heads

    def _row(self, tail: int) -> list[tuple[int, int]]:
        row = self._rows.get(tail)
        if row is None:
            following = self._from[tail]
            row = [
                fact
                for other, facts in self._own.items()
                if following >> other & 1
                for fact in facts
            ]
            self._rows[tail] = row
        return row

    def _keep(self, tail: int, mask: int, heads: int) -> None:
        self._own.setdefault(tail, []).append((mask, heads))
        preceding = self._to[tail]
        for other, row in self._rows.items():
            if preceding >> other & 1:
                row.append((mask, heads))

    # Rule 1

    def _extend_backward(self, tail: int, mask: int, heads: int) -> None:
        preceding = self._to[tail]
        for before, after, reason in self._edges:
            if preceding >> after & 1:
                self._push(before, mask | reason, heads)

    def _extend_forward(self, tail: int, mask: int, head: int) -> None:
        self._edges.append((tail, head, mask))
        following = self._from[head]
        for other, facts in self._own.items():
            if following >> other & 1:
                for reason, heads in list(facts):
                    self._push(tail, mask | reason, heads)

    # Rules 2 to 4

    def _rules(self, tails: int, heads: int, mask: int) -> None:
        """What follows from each of the tails being before each of the heads."""
        structure = self._structure
        for link in self._links:
            write, read = link.write, link.read
            if heads >> read & 1:
                for other in bits(tails & self._others[link]):
                    reason = structure.link_mask[write, read] | structure.hit_mask(other, read)
                    self._edge(other, write, mask | reason)
            if tails >> write & 1:
                for other in bits(heads & self._others[link]):
                    reason = structure.link_mask[write, read] | structure.hit_mask(other, read)
                    self._edge(read, other, mask | reason)
        for number in self._sections:
            section = structure.sections[number]
            reason = mask | structure.section_mask[number]
            if tails >> section.first & 1:
                for rival in self._sections:
                    theirs = structure.sections[rival]
                    if heads >> theirs.last & 1 and rival in structure.rivals[number]:
                        self._edge(
                            section.last, theirs.first, reason | structure.section_mask[rival]
                        )
                for event in bits(heads & self._concerned[number]):
                    self._edge(section.last, event, reason | self._guard_inside(number, event))
            if heads >> section.last & 1:
                for event in bits(tails & self._concerned[number]):
                    self._edge(event, section.first, reason | self._guard_inside(number, event))

    def _rules_on_program_order(self) -> None:
        """The same for program order as the premise."""
        structure = self._structure
        relevant = sum(1 << event for event in {link.write for link in self._links})
        for number in self._sections:
            relevant |= 1 << structure.sections[number].first
        for event in bits(relevant):
            self._rules(1 << event, structure.after0[event], 0)
        for event in {link.read for link in self._links} | {
            structure.sections[number].last for number in self._sections
        }:
            self._rules(structure.before0[event], 1 << event, 0)

    def _guard_inside(self, section: int, event: int) -> int:
        if self._structure.needs_guard[section] >> event & 1:
            return self._structure.guard_mask[event]
        return 0
