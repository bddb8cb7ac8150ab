"""Data races: pairs of accesses that nothing keeps apart (see docs/properties.md)."""

from __future__ import annotations

from plait.data import dataclass
from plait.engines.modular.invariants import Invariants, Thread
from plait.engines.modular.state import Lock

_MOST_PAIRS = 20_000


@dataclass(slots=True, frozen=True)
class Access:
    """What one action of a thread may touch, for the search for races."""

    thread: int
    object: int
    low: int
    high: int  # the first byte behind
    is_write: bool
    is_atomic: bool
    written: frozenset[Lock]
    read: frozenset[Lock]
    alive: frozenset[int] | None
    where: str


def find_race(invariants: Invariants, accesses: list[Access]) -> str:
    """What may race; empty if nothing does."""
    threads = {item.number: item for item in invariants.threads.values()}
    by_object: dict[int, list[Access]] = {}
    for access in accesses:
        by_object.setdefault(access.object, []).append(access)
    pairs = 0
    for number, found in by_object.items():
        for position, one in enumerate(found):
            for other in found[position:]:
                pairs += 1
                if pairs > _MOST_PAIRS:
                    return "too many accesses to look for races"
                if _may_race(invariants, threads, one, other):
                    name = invariants.objects[number].name
                    return f"{name}: accesses at {one.where} and {other.where} may race"
    return ""


def _may_race(
    invariants: Invariants, threads: dict[int, Thread], one: Access, other: Access
) -> bool:
    if not (one.is_write or other.is_write) or (one.is_atomic and other.is_atomic):
        return False
    if one.low >= other.high or other.low >= one.high:
        return False
    if one.written & (other.written | other.read) or other.written & one.read:
        return False
    if one.thread == 1 or other.thread == 1:
        if one.thread == other.thread:
            return False
        initial, created = (one, other) if one.thread == 1 else (other, one)
        return initial.alive is None or created.thread in initial.alive
    return invariants.may_overlap(threads[one.thread], threads[other.thread])
