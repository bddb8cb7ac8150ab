"""Simple schedules, to look for violations there first when there are too many others.

Threads run one after the other, or they take turns, each up to its next write. Threads that start
others are left out, and so are parts of threads that do not occur: a schedule is not fixed where it
is not clear what it should be. What is found counts like any other violation; that there is none
means nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from plait.engines.orders.events import Order
from plait.engines.orders.unrolling import Access, ThreadRun, Unrolling
from plait.logic.solver import Solver

_NEIGHBOURS = 2  # a thread in between may not run to its end


def simple_schedules(
    unrolling: Unrolling, guards: list[int], solver: Solver, orders: list[Order]
) -> list[int]:
    """For each of the schedules a literal that implies its orders, which are added."""
    parents = {thread.parent for thread in unrolling.threads}
    threads = [
        thread
        for thread in unrolling.threads
        if thread.events and thread.parent > 0 and thread.number not in parents
    ]
    made = _Orders(guards, solver, orders)
    return [_one_by_one(unrolling, threads, made), _in_turns(unrolling, threads, made)]


class _Orders:
    """Adds orders that hold if a literal does and both events occur."""

    def __init__(self, guards: list[int], solver: Solver, orders: list[Order]) -> None:
        self._guards = guards
        self.solver = solver
        self._orders = orders

    def guards_of(self, *events: int) -> list[int]:
        return [self._guards[event] for event in events if self._guards[event]]

    def add(self, chosen: int, before: int, after: int, more: Iterable[int] = ()) -> None:
        holds = self.solver.new_literal()
        needed = [chosen, *more, *self.guards_of(before, after)]
        for literal in needed:
            self.solver.add_clause([-holds, literal])
        self.solver.add_clause([holds, *(-literal for literal in needed)])
        self._orders.append(Order(before, after, holds))


def _one_by_one(unrolling: Unrolling, threads: list[ThreadRun], made: _Orders) -> int:
    """In the order in which they were started, each to its end, but for those in which there is a
    violation."""
    solver = made.solver
    chosen = solver.new_literal()
    earlier: list[tuple[int, int]] = []
    for thread in threads:
        first, last = thread.events[0], thread.events[-1]
        is_whole = solver.new_literal()
        for guard in made.guards_of(first, last):
            solver.add_clause([-is_whole, guard])
        claims = [claim for claim in unrolling.violations if claim.thread == thread.number]
        failing = [solver.literal_of(claim.condition) for claim in claims]
        idle = [-guard for guard in made.guards_of(first)]
        solver.add_clause([-chosen, is_whole, *idle, *failing])
        for end, other in earlier[-_NEIGHBOURS:]:
            made.add(chosen, end, first, (is_whole, other))
        earlier.append((last, is_whole))
    return chosen


def _in_turns(unrolling: Unrolling, threads: list[ThreadRun], made: _Orders) -> int:
    """Each thread goes on up to its next write, or to the end of the section around it."""
    chosen = made.solver.new_literal()
    ends = {first: last for first, last, _ in unrolling.sections}
    parts = [_parts(unrolling, thread, ends) for thread in threads]
    last = None
    for number in range(max(map(len, parts), default=0)):
        for row in parts:
            if number < len(row):
                if last is not None:
                    made.add(chosen, last, row[number][0])
                last = row[number][1]
    return chosen


def _parts(unrolling: Unrolling, thread: ThreadRun, ends: dict[int, int]) -> list[tuple[int, int]]:
    """The first and last events of parts that end in a write."""
    parts: list[tuple[int, int]] = []
    first: int | None = None
    section_end = -1
    for event in thread.events:
        first = event if first is None else first
        section_end = max(section_end, ends.get(event, -1))
        has_written = unrolling.events[event].kind is Access.WRITE or event == section_end
        if has_written and event >= section_end:
            parts.append((first, event))
            first = None
    if first is not None:
        parts.append((first, thread.events[-1]))
    return parts
