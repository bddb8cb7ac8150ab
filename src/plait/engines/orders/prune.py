"""Orders that hold in every execution, and the read-from candidates that they leave.

Program order is known. A read that can take its value from one write only comes after that write,
whenever it occurs: this is how a join gets to be behind all that the joined thread has done.

A candidate w of a read r is dropped where r comes before w, and where w < w' < r for another
write w' of the same cell that occurs if both w and r do. What occurs if an event does is decided by
comparing guards as sets of conjuncts; a read with a single candidate brings in those of its write.

`after` relates events that are in this order whenever both occur. It is *not* closed under
transitivity: where the event in the middle does not occur, nothing follows. So the order that a
read with a single write gives is passed on only to events that occur only if the read does. It is
among the `edges` (see `events`: orders that hold also across events that do not occur) if that is
true of all events behind the read, and else among the `conditional` orders, which hold if the read
occurs.
"""

from __future__ import annotations

from collections.abc import Callable

from plait.engines.interface import OutOfTime
from plait.engines.orders.events import bits
from plait.engines.orders.unrolling import Access, Occurrence, Unrolling
from plait.logic.operators import AND, EQ, NOT
from plait.logic.terms import Terms


class Conjuncts:
    """The conjuncts of truth values as bit masks: fewer bits are weaker conditions."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._masks: dict[int, int] = {terms.true: 0}
        self._atoms: list[int] = []
        self._negations: dict[int, int] = {}

    def of(self, term: int) -> int:
        known = self._masks.get(term)
        if known is not None:
            return known
        pending = [term]
        while pending:
            item = pending[-1]
            if item in self._masks:
                pending.pop()
                continue
            if self._terms.operator[item] != AND or self._terms.width[item] != 1:
                self._masks[item] = 1 << len(self._atoms)
                self._atoms.append(item)
                continue
            open_parts = [part for part in self._terms.operands[item] if part not in self._masks]
            if open_parts:
                pending += open_parts
                continue
            mask = 0
            for part in self._terms.operands[item]:
                mask |= self._masks[part]
            self._masks[item] = mask
        return self._masks[term]

    def atoms(self, mask: int) -> list[int]:
        """The terms of the bits of a mask."""
        return [self._atoms[number] for number in bits(mask)]

    def exclude(self, one: int, other: int) -> bool:
        """Whether a conjunct of one is the negation of a conjunct of the other."""
        return any(other & self._negation(number) for number in bits(one))

    def _negation(self, number: int) -> int:
        found = self._negations.get(number)
        if found is None:
            mask = self.of(self._terms.not_(self._atoms[number]))
            found = self._negations[number] = mask if mask & (mask - 1) == 0 else 0
        return found


class StaticOrders:
    """`edges` is program order, with the initial writes behind the events of the unrolling: the
    one of cell number c is event len(events) + c. After `run`, `candidates` has the writes that
    each read can take its value from, `edges` and `conditional` the orders found."""

    def __init__(
        self,
        unrolling: Unrolling,
        terms: Terms,
        cells: dict[tuple[int, int], int],
        edges: list[tuple[int, int]],
    ) -> None:
        self._terms = terms
        self._regions = unrolling.regions
        self._events = unrolling.events
        self._initial = list(unrolling.initial.values())
        self._cells = cells
        self.edges = edges
        self.conditional: list[tuple[int, int]] = []
        self.conjuncts = Conjuncts(terms)
        self.sure = [self.conjuncts.of(event.guard) for event in self._events]
        self.sure += [0] * len(cells)
        self._required = self._requirements(unrolling)
        self._writes: list[list[int]] = [[len(self._events) + cell] for cell in range(len(cells))]
        self._write_masks: dict[tuple[int, int], int] = {}
        for event in self._events:
            if event.kind is Access.WRITE and event.cell is not None:
                self._writes[cells[event.cell]].append(event.number)
                spot = self._spot(event)
                self._write_masks[spot] = self._write_masks.get(spot, 0) | 1 << event.number
        self.after, self.before = _closures(len(self._events) + len(cells), edges)
        self.program_before = list(self.before)
        self.candidates: dict[int, list[int]] = {
            event.number: self._values_fit(event)
            for event in self._events
            if event.kind is Access.READ
        }

    def run(self, is_out_of_time: Callable[[], bool] = lambda: False) -> None:
        settled: set[int] = set()
        changed = True
        while changed:
            changed = False
            for read, writes in self.candidates.items():
                if is_out_of_time():
                    raise OutOfTime
                left = [write for write in writes if self._can_read(write, read)]
                if len(left) < len(writes):
                    self.candidates[read] = left
                    changed = True
                if len(left) == 1 and read not in settled:
                    settled.add(read)
                    self._settle(left[0], read)
                    changed = True

    def _requirements(self, unrolling: Unrolling) -> dict[int, list[tuple[int, int, bool]]]:
        """For variables, constants that they must (True) or must not equal, and where."""
        terms = self._terms
        found: dict[int, list[tuple[int, int, bool]]] = {}
        for where, condition, _ in unrolling.required:
            is_equal = terms.operator[condition] == EQ
            if not is_equal and terms.operator[condition] == NOT:
                condition = terms.operands[condition][0]
            if terms.operator[condition] != EQ:
                continue
            left, right = terms.operands[condition]
            value = terms.value(right)
            if value is not None:
                found.setdefault(left, []).append((self.conjuncts.of(where), value, is_equal))
        return found

    def requires(self, read: Occurrence, wanted: int, others: frozenset[int] | None = None) -> bool:
        """Whether a read happens only if it reads this value; or another one, but none of `others`,
        if they are given."""
        return any(
            is_equal and value == wanted and self._rules_out(where, read, others)
            for where, value, is_equal in self._required.get(read.value, ())
        )

    def _rules_out(self, where: int, read: Occurrence, others: frozenset[int] | None) -> bool:
        """Whether a condition holds if the read happens, and reads one of `others` if given."""
        beyond = where & ~self.conjuncts.of(read.guard)
        if not beyond or others is None:
            return not beyond
        terms = self._terms
        for atom in self.conjuncts.atoms(beyond):
            equation = terms.operands[atom][0] if terms.operator[atom] == NOT else atom
            if equation == atom or terms.operator[equation] != EQ:
                return False
            left, right = terms.operands[equation]
            value = terms.value(right)
            if left != read.value or value is None or value in others:
                return False
        return True

    def _values_fit(self, read: Occurrence) -> list[int]:
        assert read.cell is not None
        terms, count = self._terms, len(self._events)
        cell = self._cells[read.cell]
        sure = self.sure[read.number]
        required = [
            (value, is_equal)
            for where, value, is_equal in self._required.get(read.value, ())
            if not where & ~sure
        ]
        found = []
        initial = self._initial[cell] if read.address is None else read.initial
        for write in self._writes[cell]:
            written = initial if write >= count else self._events[write].value
            if write < count and self.same_address(read, self._events[write]) == terms.false:
                continue
            if terms.eq(read.value, written) == terms.false:
                continue
            known = terms.value(written)
            if known is not None and any((known == value) != wanted for value, wanted in required):
                continue
            found.append(write)
        return found

    def _can_read(self, write: int, read: int) -> bool:
        if self.after[read] >> write & 1:
            return False
        event = self._events[read]
        known = self.sure[write] | self.sure[read]
        writes = self._write_masks.get(self._spot(event), 0)
        between = self.after[write] & self.before[read] & writes
        return all(self.sure[other] & ~known for other in bits(between))

    def _spot(self, event: Occurrence) -> tuple[int, int]:
        """The same for two events of a region only if they surely have the same address."""
        assert event.cell is not None
        address = -1
        if event.address is not None:
            address = self._terms.extract(event.address, *self._regions[event.cell])
        return self._cells[event.cell], address

    def same_address(self, one: Occurrence, other: Occurrence) -> int:
        """Whether two events of a cell or region are about the same place."""
        if one.cell is None or one.address is None or other.address is None:
            return self._terms.true
        if one.places.isdisjoint(other.places):
            return self._terms.false
        bits_of_address = self._regions[one.cell]
        return self._terms.eq(
            self._terms.extract(one.address, *bits_of_address),
            self._terms.extract(other.address, *bits_of_address),
        )

    def writes_of(self, read: Occurrence) -> list[int]:
        """The writes of the read's cell or region, the initial one first."""
        assert read.cell is not None
        return self._writes[self._cells[read.cell]]

    def _settle(self, write: int, read: int) -> None:
        """The read comes after the write, which occurs if the read does."""
        here, gained = self.sure[read], self.sure[write]
        dependent = 1 << read
        for event in bits(self.after[read]):
            if not here & ~self.sure[event]:
                dependent |= 1 << event
                self.sure[event] |= gained
        self.sure[read] |= gained
        if self.after[write] >> read & 1:
            return
        holds_for_all = not self.after[read] & ~dependent
        (self.edges if holds_for_all else self.conditional).append((write, read))
        earlier = self.before[write] | 1 << write
        for event in bits(earlier):
            self.after[event] |= dependent
        for event in bits(dependent):
            self.before[event] |= earlier


def _closures(count: int, edges: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """What comes after and before each event; edges of threads are in the order of their events."""
    later: list[list[int]] = [[] for _ in range(count)]
    open_before = [0] * count
    for one, two in edges:
        later[one].append(two)
        open_before[two] += 1
    ready = [event for event in range(count) if not open_before[event]]
    before = [0] * count
    for event in ready:
        for two in later[event]:
            before[two] |= before[event] | 1 << event
            open_before[two] -= 1
            if not open_before[two]:
                ready.append(two)
    after = [0] * count
    for event in reversed(ready):
        for two in later[event]:
            after[event] |= after[two] | 1 << two
    return after, before
