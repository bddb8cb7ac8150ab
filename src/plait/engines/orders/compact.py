"""Leaves out events that no order depends on.

Silent events have no order of their own: accesses that were merged with others. They matter only
for the replay, which counts accesses, so each thread keeps a list of them. Marks
matter only where something refers to them. An atomic section with a single access needs no order,
and one that begins with an access needs no mark in front of it.
"""

from __future__ import annotations

from plait.data import replace
from plait.engines.orders.unrolling import Access, Occurrence, Unrolling
from plait.logic.terms import Terms


def compact(unrolling: Unrolling, terms: Terms, *, is_weak: bool = False) -> None:
    """Renumber the events that remain; the sections' names in `Occurrence.section` stay. In weak
    memory a section orders what is around it, whatever is inside."""
    threads = _of_threads(unrolling)
    if not is_weak:
        _shrink_sections(unrolling, threads)
    needed: set[int] = set()
    for thread in unrolling.threads:
        needed.add(thread.spawned_by)
    for first, last, _ in unrolling.sections:
        needed.update((first, last))
    needed.update(_arrivals(unrolling))
    needed.update(unrolling.beginnings.values())
    needed.update(unrolling.endings)
    position: dict[int, int] = {}
    kept: list[Occurrence] = []
    for thread in unrolling.threads:
        thread.all_events = threads[thread.number]
        for event in thread.all_events:
            event.is_silent = event.is_silent or (
                event.kind is Access.MARK and event.number not in needed
            )
            if not event.is_silent:
                kept.append(event)
    kept.sort(key=lambda event: event.number)
    for number, event in enumerate(kept):
        position[event.number] = number
        event.number = number
        event.arrival = position.get(event.arrival, -1)
    unrolling.events = kept
    unrolling.sections = [
        (position[first], position[last], when) for first, last, when in unrolling.sections
    ]
    unrolling.updates = {position[number] for number in unrolling.updates}
    unrolling.beginnings = {
        address: position[number] for address, number in unrolling.beginnings.items()
    }
    unrolling.endings = {position[number]: ended for number, ended in unrolling.endings.items()}
    for thread in unrolling.threads:
        thread.spawned_by = position.get(thread.spawned_by, -1)
        thread.events = [position[n] for n in thread.events if n in position]
    if unrolling.late or any(event.kind is Access.ACQUIRE for event in kept):
        unrolling.end = len(kept)
        kept.append(
            Occurrence(
                unrolling.end, 0, Access.MARK, None, terms.true, 0, (), False, kept[-1].origin
            )
        )
    for read, when in unrolling.late:
        number = len(kept)
        unrolling.last.append(number)
        kept.append(replace(read, number=number, thread=0, guard=when, section=(), is_access=False))


def _arrivals(unrolling: Unrolling) -> set[int]:
    """The marks before plain accesses to cells that several threads access and one writes."""
    threads: dict[tuple[int, int], set[int]] = {}
    written: set[tuple[int, int]] = set()
    for event in unrolling.events:
        if event.cell is not None:
            threads.setdefault(event.cell, set()).add(event.thread)
            if event.kind is Access.WRITE:
                written.add(event.cell)
    return {
        event.arrival
        for event in unrolling.events
        if event.cell in written and len(threads[event.cell]) > 1
    }


def _of_threads(unrolling: Unrolling) -> dict[int, list[Occurrence]]:
    return {
        thread.number: [unrolling.events[number] for number in thread.events]
        for thread in unrolling.threads
    }


def _shrink_sections(unrolling: Unrolling, threads: dict[int, list[Occurrence]]) -> None:
    spawning = {thread.spawned_by for thread in unrolling.threads}
    left: list[tuple[int, int, int]] = []
    for first, last, when in unrolling.sections:
        inside = [
            event
            for event in unrolling.events[first : last + 1]
            if event.thread == unrolling.events[first].thread
            and not event.is_silent
            and (event.kind is not Access.MARK or event.number in spawning)
        ]
        if len(inside) < 2:
            continue
        if inside[0].guard == unrolling.events[first].guard:
            first = inside[0].number
        if inside[-1].guard == unrolling.events[last].guard:
            last = inside[-1].number
        left.append((first, last, when))
    unrolling.sections = left
