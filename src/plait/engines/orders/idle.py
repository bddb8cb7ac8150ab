"""Rounds of a loop that change nothing, which every execution can do without.

A thread that comes back to the head of a loop as it was there before, having written to shared
memory only what it found there in the same atomic section, might as well have waited: from both
states it goes on in the same way, and the others see the same values with and without the round.
This is how loops that try to take a lock until they succeed need no bound. (Loops of which *no*
round changes anything are known beforehand, see `plait.analysis.loops`.)

What a round does before it is over is not left out: it may be the last thing that a thread does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plait.engines.orders.paths import Held, Path
from plait.engines.orders.private import Memory
from plait.engines.orders.unrolling import Access, Occurrence
from plait.logic.terms import Terms

_WRITING = (Access.WRITE, Access.ACQUIRE, Access.RELEASE)


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """A thread at the head of a loop. `events` and `made` count what there was before."""

    registers: list[int | None]
    slots: list[int | None]
    memory: Memory
    held: dict[tuple[int, int], Held]
    locks: dict[tuple[int, int], int | None]
    events: int
    made: int

    @staticmethod
    def of(path: Path, events: int, made: int) -> Head:
        return Head(
            path.registers[:],
            path.slots[:],
            path.memory.copy(),
            path.held.copy(),
            path.locks.copy(),
            events,
            made,
        )


def change(
    terms: Terms, head: Head, path: Path, live: int, events: Sequence[Occurrence], made: int
) -> int:
    """When a round has changed anything: true where that is not known. `events` are those of the
    round, `live` the registers that matter at the head."""
    if made != head.made or path.section is not None:
        return terms.true
    if path.held != head.held or path.locks != head.locks or path.slots != head.slots:
        return terms.true
    changes = [
        *_changed_registers(terms, head.registers, path.registers, live),
        *_changed_memory(terms, head.memory, path.memory),
    ]
    if terms.true in changes:
        return terms.true
    for event in events:
        if event.kind in _WRITING:
            changes.append(_changed_by(terms, event, events))
            if changes[-1] == terms.true:
                break
    return terms.any_of(changes)


def _changed_registers(
    terms: Terms, before: list[int | None], after: list[int | None], live: int
) -> list[int]:
    changes = []
    for index, (old, new) in enumerate(zip(before, after, strict=True)):
        if old != new and live >> index & 1:
            if old is None or new is None:
                return [terms.true]
            changes.append(terms.not_(terms.eq(old, new)))
    return changes


def _changed_memory(terms: Terms, before: Memory, after: Memory) -> list[int]:
    changes = []
    for address in dict.fromkeys([*before, *after]):
        old, new = before.get(address), after.get(address)
        if old != new:
            if old is None or new is None or old[0] != new[0]:
                return [terms.true]
            changes.append(terms.not_(terms.eq(old[1], new[1])))
    return changes


def _changed_by(terms: Terms, write: Occurrence, events: Sequence[Occurrence]) -> int:
    """When a write is not of the value that its section found before it wrote there."""
    if write.kind is not Access.WRITE or not write.section:
        return terms.true
    for event in events:
        if event.cell != write.cell or event.section != write.section:
            continue
        if event.kind is not Access.READ or event.address != write.address:
            return terms.true
        found = terms.and_(event.guard, terms.eq(event.value, write.value))
        return terms.and_(write.guard, terms.not_(found))
    return terms.true
