"""Data races as claims: two conflicting accesses that are both next.

Let a be a plain access of thread A, and b a conflicting access of thread B, maybe inside an atomic
section. In a state in which both are next, B can take its step first; so there is a race exactly if
some execution has

    arrival(a) < b < a

where arrival(a) is an event of A just before a, behind all that A does before. Conversely, in
such an execution the state before b's step has A at a, which a plain access can always take, and B
at b's step, which happens. Everything between arrival(a) and b is of other threads, or of B, and
b's section lets nobody in, so arrival(a) is before all of it.

If both accesses are plain it does not matter which one is called a.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.data import dataclass
from plait.engines.orders.locks import LockedSection
from plait.engines.orders.prune import StaticOrders
from plait.engines.orders.unrolling import Access, Occurrence, Unrolling
from plait.errors import UnsupportedCode
from plait.logic.terms import Terms

MOST_PAIRS = 50_000


@dataclass(frozen=True, slots=True)
class Pair:
    """The plain access `one` and the access `other` race where `same` (a term) holds: they are at
    the same address."""

    one: Occurrence
    other: Occurrence
    same: int


def racing_pairs(
    unrolling: Unrolling, orders: StaticOrders, sections: list[LockedSection], terms: Terms
) -> list[Pair]:
    """The pairs of accesses that no fixed order and no common lock keeps apart."""
    holds = _locks_held(unrolling, orders, sections)
    found: list[Pair] = []
    for one, other in _conflicting(unrolling):
        if orders.after[one.number] >> other.number & 1:
            continue
        if orders.after[other.number] >> one.number & 1:
            continue
        if holds[one.number] & holds[other.number]:
            continue
        same = orders.same_address(one, other)
        if same == terms.false:
            continue
        found.append(Pair(one, other, same))
        if len(found) > MOST_PAIRS:
            raise UnsupportedCode(f"more than {MOST_PAIRS} pairs of accesses that may race")
    return found


def _conflicting(unrolling: Unrolling) -> Iterator[tuple[Occurrence, Occurrence]]:
    """Each pair with a plain access first."""
    of_cell: dict[tuple[int, int], list[Occurrence]] = {}
    for event in unrolling.events:
        is_access = event.kind is Access.READ or event.kind is Access.WRITE
        if is_access and event.cell is not None:
            of_cell.setdefault(event.cell, []).append(event)
    for events in of_cell.values():
        plain = [event for event in events if event.arrival >= 0]
        for one in plain:
            for other in events:
                if one.thread == other.thread:
                    continue
                if one.kind is Access.READ and other.kind is Access.READ:
                    continue
                if other.arrival >= 0 and other.number < one.number:
                    continue  # the same pair as the other way round
                yield one, other


def _locks_held(
    unrolling: Unrolling, orders: StaticOrders, sections: list[LockedSection]
) -> list[int]:
    """For each event, a bit for each lock that its thread surely holds then."""
    held = [0] * len(unrolling.events)
    numbers: dict[tuple[int, int], int] = {}
    for section in sections:
        bit = 1 << numbers.setdefault(section.cell, len(numbers))
        when = orders.conjuncts.of(section.when)
        thread = unrolling.events[section.first].thread
        for event in unrolling.events[section.first : section.last + 1]:
            if event.thread == thread and not when & ~orders.sure[event.number]:
                held[event.number] |= bit
    for event in unrolling.events:
        for cell, value in event.locks.items():
            if value is not None and cell in numbers:
                held[event.number] |= 1 << numbers[cell]
    return held
