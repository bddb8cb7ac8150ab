"""Unrolls a program several times, until the last time teaches nothing new."""

from __future__ import annotations

from dataclasses import dataclass

from plait.engines.orders.lessons import Lessons, Surprise
from plait.engines.orders.locks import LockBlock, learn, lock_blocks
from plait.engines.orders.objects import Objects
from plait.engines.orders.prune import StaticOrders
from plait.engines.orders.unroll import Unroller
from plait.engines.orders.unrolling import Unrolling
from plait.errors import UnsupportedCode
from plait.logic.terms import Terms
from plait.model.program import Program

_MOST_ROUNDS = 4


@dataclass(slots=True, eq=False)
class Learned:
    """An unrolling with what holds in all its executions."""

    unrolling: Unrolling
    orders: StaticOrders
    blocks: list[LockBlock]
    objects: Objects


def unroll(
    program: Program, terms: Terms, bound: int, deadline: float | None = None
) -> Learned:
    lessons = Lessons()
    last = _unroll(program, terms, bound, lessons, deadline)
    assert last is not None
    for _ in range(_MOST_ROUNDS):
        more = learn(last.unrolling, last.orders, terms, lessons)
        if more == lessons:
            break
        following = _unroll(program, terms, bound, more, deadline)
        if following is None:
            break  # what was known before still holds
        last, lessons = following, more
    return last


def _unroll(
    program: Program, terms: Terms, bound: int, lessons: Lessons, deadline: float | None
) -> Learned | None:
    """None if the program does not fit what is known of it."""
    unroller = Unroller(program, terms, bound, lessons, deadline)
    try:
        unrolling = unroller.unroll()
    except Surprise:
        return None
    _refuse_overlaps(unrolling)
    cells = {cell: number for number, cell in enumerate(unrolling.initial)}
    orders = StaticOrders(unrolling, terms, cells, _program_order(unrolling))
    orders.run()
    blocks = lock_blocks(unrolling, orders, terms)
    if blocks is None:
        return None
    return Learned(unrolling, orders, blocks, unroller.objects)


def _refuse_overlaps(unrolling: Unrolling) -> None:
    end = -1
    for address, size in sorted(unrolling.initial):
        if address < end:
            raise UnsupportedCode("shared memory accessed in different sizes")
        end = address + size


def _program_order(unrolling: Unrolling) -> list[tuple[int, int]]:
    """Also from the initial writes, which are numbered behind the events."""
    orders: list[tuple[int, int]] = []
    count = len(unrolling.events)
    for thread in unrolling.threads:
        if not thread.events:
            continue
        first = thread.events[0]
        orders += list(zip(thread.events, thread.events[1:], strict=False))
        if thread.spawned_by >= 0:
            orders.append((thread.spawned_by, first))
        else:
            orders += [(count + cell, first) for cell in range(len(unrolling.initial))]
        if unrolling.end >= 0:
            orders.append((thread.events[-1], unrolling.end))
    return orders
