"""The fixed part of an event order graph: events, orders, links, critical sections, literals.

An *event* is a read or write of a cell or something else that has a place in the schedule (a lock,
the begin of an atomic section). Its *guard* is the literal that says whether it occurs; 0 stands
for true. Literals are integers as in SAT solvers. The reasons that the order graph gives are sets
of literals; inside, they are bit masks over the literals of one `EventStructure`.

What every formula that uses these literals has to guarantee:

- A link's, an order's or a section's literal implies the guards of the events that it names.
  Reasons rely on it: they leave out guards that another literal of the reason implies.
- An alias' literal holds exactly if its write occurs at the address of its read (then whether the
  read occurs does not matter), and a link of a region holds only if the addresses are equal.
- Program order holds between any two events that both occur, also where the path between them
  goes through events that don't. An order that depends on what was executed (a join that only one
  branch performs) is an `Order` with a literal instead.

*Events that do not occur have a place too.* Take any execution, a total order of the events that
occur. Going through the others in program order, put each directly behind the last one of its
predecessors. The result is a total order of all events that obeys the whole program order. This is
why program order never needs a guard as a reason, unlike in section 5.3 of the paper, and why
reasons get shorter; only an event that forbids something to others (a write between a write and
its read) has to occur.

*Regions.* A cell is one place, or a region: many places of which each access hits one, at an
address that depends on the execution. Two accesses of a region concern each other only if their
addresses are equal. A link's literal implies that for its own two events, so a link orders its
write before its read as ever. A third write is different: it comes between only if it hits the
read's address. "The writes of the cell that occur" therefore becomes "the writes that hit the
read": those of its cell that occur, or in a region those with an `Alias` that holds, and the
alias' literal takes the place of the write's guard, which it implies, in every reason. The initial
write of a region writes all its places. It needs no alias: it precedes everything, so it is never
between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum

from plait.data import dataclass


class Kind(Enum):
    READ = "rr"
    WRITE = "ww"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Event:
    kind: Kind
    thread: int
    cell: int | None = None
    guard: int = 0


@dataclass(frozen=True, slots=True)
class Link:
    """A read-write link: when the literal, sel(link), holds, the read takes the write's value. It
    comes after the write, unless the link `is_internal` (see `weak.kept_order`)."""

    write: int
    read: int
    literal: int
    is_internal: bool = False


@dataclass(frozen=True, slots=True)
class Alias:
    """A write and a read of a region: when the literal holds, the write hits the read's address."""

    write: int
    read: int
    literal: int


@dataclass(frozen=True, slots=True)
class Order:
    """A program order that holds only if the literal does."""

    before: int
    after: int
    literal: int


@dataclass(frozen=True, slots=True)
class CriticalSection:
    """What a thread does from `first` to `last`, both included, without letting others in.

    With a lock: no section of another thread with the same lock overlaps it. With lock None, an
    atomic section: no event of another thread falls between. A section that its thread never leaves
    ends in an event that follows all others in program order. Where a lock is released on several
    paths there is one for each release. Those of one thread exclude nothing from each other
    (a recursive lock).
    """

    first: int
    last: int
    lock: int | None
    literal: int = 0


def bits(mask: int) -> Iterator[int]:
    """The numbers of the bits that are set, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class EventStructure:
    """All that does not depend on a counterexample, with the closure of program order.

    `after0[e]` and `before0[e]` are the events that follow and precede e in program order, as bit
    masks. `bit_of[l]` is the bit of a literal, `mask_of[l]` has the guards that l implies as well.
    `writes[c]` and `reads[c]` are the writes and reads of a cell; the literals that a
    link, section or event contributes to a reason are in `link_mask`, `section_mask`, `guard_mask`.
    `regions` are the cells of which an access hits one place only, as `aliases` say.
    `outside[b]` are the events that must not fall into the
    atomic section b; of those in `needs_guard[b]` this is said only if they occur. `rivals[b]` are
    the sections that b must not overlap.
    """

    def __init__(
        self,
        events: Sequence[Event],
        program_order: Iterable[tuple[int, int]],
        links: Sequence[Link] = (),
        orders: Sequence[Order] = (),
        sections: Sequence[CriticalSection] = (),
        aliases: Sequence[Alias] = (),
        regions: Iterable[int] = (),
    ) -> None:
        self.events = tuple(events)
        self.links = tuple(links)
        self.orders = tuple(orders)
        self.sections = tuple(sections)
        self.aliases = tuple(aliases)
        self.regions = frozenset(regions)
        pairs = list(program_order)
        self.after0 = _closure(len(self.events), pairs)
        self.before0 = _closure(len(self.events), [(after, before) for before, after in pairs])
        self._check()
        self.literals: list[int] = []
        self.bit_of: dict[int, int] = {0: 0}
        self.mask_of: dict[int, int] = {0: 0}
        self._implied: list[int] = []
        self._number_literals()
        self.guard_mask = [self.mask_of[event.guard] for event in self.events]
        self.writes = self._of_cells(Kind.WRITE)
        self.reads = self._of_cells(Kind.READ)
        self.link_mask = {
            (link.write, link.read): self.mask_of[link.literal] for link in self.links
        }
        self._alias_mask = {
            (alias.write, alias.read): self.mask_of[alias.literal] for alias in self.aliases
        }
        self.section_mask = [self.mask_of[section.literal] for section in self.sections]
        self.outside = [self._outside(section) for section in self.sections]
        self.needs_guard = [
            outside and outside & self._may_float_inside(section)
            for section, outside in zip(self.sections, self.outside)
        ]
        self.rivals = self._rivals()

    def in_region(self, event: int) -> bool:
        return self.events[event].cell in self.regions

    def hit_mask(self, write: int, read: int) -> int:
        """Why a write that hits a read does so, for a reason."""
        if self.in_region(read):
            return self._alias_mask[write, read]
        return self.guard_mask[write]

    def literals_of(self, mask: int) -> frozenset[int]:
        """The literals of a reason, without those that others of them imply."""
        left = mask
        for number in bits(mask):
            if left >> number & 1:
                left &= ~self._implied[number]
        return frozenset(self.literals[number] for number in bits(left))

    def closed_mask(self, literals: Iterable[int]) -> int:
        """The literals and what they imply as a reason; literals of others do not matter here."""
        mask = 0
        for literal in literals:
            mask |= self.mask_of.get(literal, 0)
        return mask

    def holds(self, literal: int, true: int) -> bool:
        """Whether the literal is among those of the mask, or true in any case."""
        return not literal or bool(true & self.bit_of[literal])

    def occurring(self, true: int) -> int:
        """The events that occur if exactly the literals of the mask hold."""
        found = 0
        for number, event in enumerate(self.events):
            if self.holds(event.guard, true):
                found |= 1 << number
        return found

    def _check(self) -> None:
        if len({(link.write, link.read) for link in self.links}) < len(self.links):
            raise ValueError("two links connect the same write and read")
        for link in self.links:
            write, read = self.events[link.write], self.events[link.read]
            if write.kind is not Kind.WRITE or read.kind is not Kind.READ:
                raise ValueError(f"{link} does not lead from a write to a read")
            if write.cell != read.cell or write.cell is None:
                raise ValueError(f"{link} connects two cells")
        if len({(alias.write, alias.read) for alias in self.aliases}) < len(self.aliases):
            raise ValueError("two aliases connect the same write and read")
        for alias in self.aliases:
            write, read = self.events[alias.write], self.events[alias.read]
            if (write.kind, read.kind) != (Kind.WRITE, Kind.READ) or write.cell != read.cell:
                raise ValueError(f"{alias} is not for a write and a read of one region")
            if read.cell not in self.regions:
                raise ValueError(f"{alias} is not in a region")
        for section in self.sections:
            if section.first != section.last and not self.after0[section.first] >> section.last & 1:
                raise ValueError(f"{section} does not begin before it ends")

    def _number_literals(self) -> None:
        needs: dict[int, list[int]] = {}
        for event in self.events:
            needs.setdefault(event.guard, [])
        for link in self.links:
            needs.setdefault(link.literal, []).extend((link.write, link.read))
        for alias in self.aliases:
            needs.setdefault(alias.literal, []).append(alias.write)
        for order in self.orders:
            needs.setdefault(order.literal, []).extend((order.before, order.after))
        for section in self.sections:
            needs.setdefault(section.literal, []).extend((section.first, section.last))
        if any(self.events[event].guard for event in needs.pop(0, ())):
            raise ValueError("something is said to be always true whose events are guarded")
        self.literals = list(needs)
        number_of = {literal: number for number, literal in enumerate(self.literals)}
        implies = [
            sum(1 << number_of[guard] for guard in {self.events[e].guard for e in named} if guard)
            for named in needs.values()
        ]
        closed = _closure_of_implications(implies)
        self._implied = [mask & ~(1 << number) for number, mask in enumerate(closed)]
        for number, literal in enumerate(self.literals):
            self.bit_of[literal] = 1 << number
            self.mask_of[literal] = closed[number] | 1 << number

    def _of_cells(self, kind: Kind) -> dict[int, int]:
        """The events of a kind, by cell."""
        found: dict[int, int] = {}
        for number, event in enumerate(self.events):
            if event.kind is kind and event.cell is not None:
                found[event.cell] = found.get(event.cell, 0) | 1 << number
        return found

    def _outside(self, section: CriticalSection) -> int:
        """The events that must not fall into an atomic section."""
        if section.lock is not None or section.first == section.last:
            return 0
        thread = self.events[section.first].thread
        others = sum(1 << n for n, event in enumerate(self.events) if event.thread != thread)
        return others & ~(1 << section.last)

    def _may_float_inside(self, section: CriticalSection) -> int:
        """The events that follow, in program order, one that may occur inside the section: an event
        that does not occur is put behind its predecessors (see above), and so maybe inside."""
        thread = self.events[section.first].thread
        around = self.before0[section.first] | self.after0[section.last] | 1 << section.last
        found = 0
        for number, event in enumerate(self.events):
            if event.thread == thread and not around >> number & 1:
                found |= self.after0[number]
        return found

    def _rivals(self) -> list[list[int]]:
        """For each section of a lock, the sections that it must not overlap."""
        of_lock: dict[int, list[int]] = {}
        for number, section in enumerate(self.sections):
            if section.lock is not None:
                of_lock.setdefault(section.lock, []).append(number)
        thread = [self.events[section.first].thread for section in self.sections]
        return [
            [other for other in of_lock[section.lock] if thread[other] != thread[number]]
            if section.lock is not None
            else []
            for number, section in enumerate(self.sections)
        ]


def _closure(count: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """The transitive closure of an acyclic relation, in reverse topological order."""
    later: list[list[int]] = [[] for _ in range(count)]
    open_before = [0] * count
    for before, after in edges:
        later[before].append(after)
        open_before[after] += 1
    ready = [event for event in range(count) if not open_before[event]]
    for event in ready:
        for after in later[event]:
            open_before[after] -= 1
            if not open_before[after]:
                ready.append(after)
    if len(ready) < count:
        raise ValueError("program order has a cycle")
    closure = [0] * count
    for event in reversed(ready):
        for after in later[event]:
            closure[event] |= closure[after] | 1 << after
    return closure


def _closure_of_implications(implies: list[int]) -> list[int]:
    closed = list(implies)
    changed = True
    while changed:
        changed = False
        for number, mask in enumerate(closed):
            more = mask
            for other in bits(mask):
                more |= closed[other]
            if more != mask:
                closed[number] = more
                changed = True
    return closed
