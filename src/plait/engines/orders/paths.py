"""Symbolic states of one thread: what holds on a bundle of paths through its automaton."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from plait.data import dataclass
from plait.engines.orders.private import Initial, Memory, merge_memories
from plait.engines.orders.unrolling import Holds
from plait.engines.orders.unrolling_facts import Cell
from plait.errors import UnsupportedCode
from plait.logic.terms import Terms

# Where a thread may be stuck: before a section, or in a loop.
Stand = tuple[int, int]
Late = Mapping[Stand, int]
_NEVER: Late = MappingProxyType({})


class Condition:
    """A conjunction of terms, kept apart so that branches that meet again cancel out. `wholes` are
    the conjunctions of no part, of the first one, of the first two and so on.

    `late` says when else the thread comes here: not in its own time, but to find out at the end of
    all threads that it cannot go on from where it stands (see `maximal`). These are the terms for
    each place where it may stand.
    """

    __slots__ = ("late", "parts", "term", "wholes")

    def __init__(
        self, parts: tuple[int, ...], wholes: tuple[int, ...], late: Late = _NEVER
    ) -> None:
        self.parts = parts
        self.wholes = wholes
        self.term = wholes[-1]
        self.late = late

    @staticmethod
    def always(terms: Terms) -> Condition:
        return Condition((), (terms.true,))

    def with_part(self, terms: Terms, part: int) -> Condition:
        if part == terms.true:
            return self
        late = self.late and {stand: terms.and_(when, part) for stand, when in self.late.items()}
        wholes = (*self.wholes, terms.and_(self.term, part))
        return Condition((*self.parts, part), wholes, late)

    def with_late_part(self, terms: Terms, part: int) -> Condition:
        """Narrower only where the thread comes late."""
        if not self.late or part == terms.true:
            return self
        late = {stand: terms.and_(when, part) for stand, when in self.late.items()}
        return Condition(self.parts, self.wholes, late)

    def with_late(self, stand: Stand, when: int) -> Condition:
        return Condition(self.parts, self.wholes, {**self.late, stand: when})

    def without_late(self, *stands: Stand) -> Condition:
        late = {stand: when for stand, when in self.late.items() if stand not in stands}
        return Condition(self.parts, self.wholes, late)

    def in_time(self) -> Condition:
        return Condition(self.parts, self.wholes) if self.late else self

    def late_term(self, terms: Terms) -> int:
        return terms.any_of(self.late.values()) if self.late else terms.false

    def either_term(self, terms: Terms) -> int:
        """When the thread comes here at all."""
        return terms.or_(self.term, self.late_term(terms)) if self.late else self.term


def meet(terms: Terms, first: Condition, second: Condition) -> tuple[Condition, int]:
    """The condition under which one of two exclusive paths is taken, and a term that, given that,
    says that it is the first."""
    shared = 0
    for mine, theirs in zip(first.parts, second.parts, strict=False):
        if mine != theirs:
            break
        shared += 1
    mine = _all(terms, first.parts[shared:])
    theirs = _all(terms, second.parts[shared:])
    base = Condition(first.parts[:shared], first.wholes[: shared + 1])
    met = base.with_part(terms, terms.or_(mine, theirs))
    if not first.late and not second.late:
        return met, mine
    late = {
        stand: terms.or_(first.late.get(stand, terms.false), second.late.get(stand, terms.false))
        for stand in [*first.late, *(stand for stand in second.late if stand not in first.late)]
    }
    # Who comes late has taken the same branches as who comes in time, but maybe failed to begin a
    # section behind them: then the parts of the first are false although it is the first.
    return Condition(met.parts, met.wholes, late), terms.or_(mine, first.late_term(terms))


def _all(terms: Terms, parts: tuple[int, ...]) -> int:
    result = terms.true
    for part in parts:
        result = terms.and_(result, part)
    return result


# The events that may have begun the atomic section, each with a term that says when it is this
# one (an event can occur that began an earlier section), and how deep the section is. Their
# numbers are the names of sections.
Section = tuple[tuple[tuple[int, int], ...], int]


def _merge_sections(terms: Terms, one: Path, other: Path) -> Section | None:
    mine, theirs = one.section, other.section
    if mine == theirs:
        return mine
    if mine is None or theirs is None or mine[1] != theirs[1]:
        raise UnsupportedCode("an atomic section that only some paths have left")
    begins = tuple(
        (begin, terms.and_(when, path.condition.term))
        for path, section in ((one, mine), (other, theirs))
        for begin, when in section[0]
    )
    return begins, mine[1]


@dataclass(frozen=True, slots=True)
class Held:
    """What is known of a shared cell inside an atomic section: its value where `known` holds, and
    where it was `written`."""

    value: int
    known: int
    written: int


class Path:
    """A frame's registers and the thread's private memory, where `condition` holds."""

    __slots__ = ("condition", "held", "holds", "locks", "memory", "registers", "section", "slots")

    def __init__(
        self,
        condition: Condition,
        registers: list[int | None],
        slots: list[int | None],
        memory: Memory,
        section: Section | None = None,
        held: dict[Cell, Held] | None = None,
        locks: dict[Cell, int | None] | None = None,
        holds: dict[Cell, Holds] | None = None,
    ) -> None:
        # Locks that the thread holds, with their values; None: only some of the paths here do.
        self.locks: dict[Cell, int | None] = {} if locks is None else locks
        self.holds: dict[Cell, Holds] = {} if holds is None else holds  # since when
        self.held: dict[Cell, Held] = {} if held is None else held
        self.condition = condition
        self.registers = registers  # terms; None: not assigned yet
        self.slots = slots  # terms: the addresses of locals in memory
        self.section = section  # the atomic section it is in
        self.memory = memory  # objects that no other thread sees

    def copy(self) -> Path:
        registers, slots = self.registers[:], self.slots[:]
        return Path(
            self.condition,
            registers,
            slots,
            self.memory.copy(),
            self.section,
            self.held.copy(),
            self.locks.copy(),
            self.holds.copy(),
        )


def merged(terms: Terms, paths: list[Path], initial: Initial) -> Path:
    """One path for several that come to the same place."""
    result = paths[0]
    for other in paths[1:]:
        condition, is_other = meet(terms, other.condition, result.condition)
        if is_other == terms.false:
            continue
        section = _merge_sections(terms, other, result)
        result = Path(
            condition,
            _merge_lists(terms, is_other, other.registers, result.registers),
            _merge_lists(terms, is_other, other.slots, result.slots),
            merge_memories(terms, is_other, other.memory, result.memory, initial),
            section,
            _merge_held(terms, is_other, other.held, result.held),
            _merge_locks(other.locks, result.locks),
            _merge_holds(terms, other, result),
        )
    return result


def _merge_locks(
    first: dict[Cell, int | None], second: dict[Cell, int | None]
) -> dict[Cell, int | None]:
    if first == second:
        return first
    return {
        cell: first[cell] if cell in first and first[cell] == second.get(cell) else None
        for cell in [*first, *(cell for cell in second if cell not in first)]
    }


def _merge_holds(terms: Terms, one: Path, other: Path) -> dict[Cell, Holds]:
    if one.holds == other.holds:
        return one.holds
    found = {cell: holds for cell, holds in one.holds.items() if other.holds.get(cell) == holds}
    for cell in [*one.holds, *(cell for cell in other.holds if cell not in one.holds)]:
        if cell not in found:
            found[cell] = tuple(
                (acquire, terms.and_(when, path.condition.term))
                for path in (one, other)
                for acquire, when in path.holds.get(cell, ())
            )
    return found


def _merge_held(
    terms: Terms,
    chosen: int,
    first: dict[Cell, Held],
    second: dict[Cell, Held],
) -> dict[Cell, Held]:
    if first == second:
        return first
    result: dict[Cell, Held] = {}
    for cell in [*first, *(cell for cell in second if cell not in first)]:
        mine, theirs = first.get(cell), second.get(cell)
        if mine is None or theirs is None:
            known = mine or theirs
            assert known is not None
            mine = mine or Held(known.value, terms.false, terms.false)
            theirs = theirs or Held(known.value, terms.false, terms.false)
        result[cell] = Held(
            terms.ite(chosen, mine.value, theirs.value),
            terms.ite(chosen, mine.known, theirs.known),
            terms.ite(chosen, mine.written, theirs.written),
        )
    return result


def _merge_lists(
    terms: Terms, chosen: int, first: list[int | None], second: list[int | None]
) -> list[int | None]:
    return [
        one if one == two or two is None else two if one is None else terms.ite(chosen, one, two)
        for one, two in zip(first, second, strict=True)
    ]
