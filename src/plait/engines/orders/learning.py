"""Unrolls a program several times, until the last time teaches nothing new."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from plait.data import dataclass, field
from plait.engines.orders.bounds import Bounds
from plait.engines.orders.knowledge import MOST_ROUNDS, Knowledge
from plait.engines.orders.locks import (
    LockedSection,
    learn,
    learn_for_deadlocks,
    learn_in_weak_memory,
    locked_sections,
)
from plait.engines.orders.maximal import MaximalUnroller
from plait.engines.orders.objects import Objects
from plait.engines.orders.prune import StaticOrders
from plait.engines.orders.unroll import Unroller
from plait.engines.orders.unrolling import Unrolling
from plait.engines.orders.unrolling_facts import Cell, Surprise, UnrollingFacts
from plait.engines.orders.weak.kept_order import kept_order
from plait.errors import UnsupportedCode
from plait.logic.terms import Terms
from plait.model.memory_model import TABLE, MemoryModel
from plait.model.program import Program

_MOST_LESSONS = 6


@dataclass(slots=True, eq=False)
class Learned:
    """An unrolling with what holds in all its executions."""

    unrolling: Unrolling
    orders: StaticOrders
    sections: list[LockedSection]
    objects: Objects
    terms: Terms
    semaphores: Mapping[Cell, int] = field(default_factory=dict)


Teach = Callable[[Unrolling, StaticOrders, Terms, UnrollingFacts], UnrollingFacts]


def unroll(
    program: Program,
    terms: Terms,
    bounds: Bounds,
    deadline: float | None = None,
    finds_races: bool = False,
    checks_memory: bool = False,
    checks_lives: bool = False,
    assumes_defined: bool = False,
    memory_model: MemoryModel = MemoryModel.SC,
) -> Learned:
    def teach(
        unrolling: Unrolling, orders: StaticOrders, terms: Terms, known: UnrollingFacts
    ) -> UnrollingFacts:
        if memory_model is not MemoryModel.SC:
            is_static = knowledge.objects.is_static
            return learn_in_weak_memory(unrolling, orders, terms, known, is_static)
        return learn(unrolling, orders, terms, known, finds_races, checks_memory)

    knowledge = Knowledge(
        program, deadline, finds_races, checks_memory, checks_lives, assumes_defined, memory_model
    )
    return _learned(Unroller, teach, program, terms, bounds, knowledge)


def unroll_for_deadlocks(
    program: Program, terms: Terms, bounds: Bounds, deadline: float | None = None
) -> Learned:
    knowledge = Knowledge(program, deadline)
    return _learned(MaximalUnroller, learn_for_deadlocks, program, terms, bounds, knowledge)


def _learned(
    make: type[Unroller],
    teach: Teach,
    program: Program,
    terms: Terms,
    bounds: Bounds,
    knowledge: Knowledge,
) -> Learned:
    """First how memory is laid out must be known, then what the facts are. Facts of accesses
    are worth nothing where more of them come to light: the known targets of pointers stay."""
    known = UnrollingFacts()
    for _ in range(MOST_ROUNDS):
        last = _unroll(make, program, terms, bounds, knowledge, known)
        if last is not None:
            break
    else:
        raise UnsupportedCode("shared memory that is accessed in ever new ways")
    knowledge.settle()
    for _ in range(_MOST_LESSONS):
        more = teach(last.unrolling, last.orders, terms, known)
        if more == known:
            break
        following = _unroll(make, program, terms, bounds, knowledge, more)
        if following is None:
            break  # what was known before still holds
        last, known = following, more
    return last


def _unroll(
    make: type[Unroller],
    program: Program,
    terms: Terms,
    bounds: Bounds,
    knowledge: Knowledge,
    known: UnrollingFacts,
) -> Learned | None:
    """None if the program does not fit what is known of it."""
    knowledge.begin()
    unroller = make(program, terms, bounds, knowledge, known)
    try:
        unrolling = unroller.unroll()
    except Surprise:
        return None
    unroller.values.learn_pointers()
    if not knowledge.is_settled():
        return None
    cells = {cell: number for number, cell in enumerate(unrolling.initial)}
    model = knowledge.memory_model
    has_axioms = TABLE[model].has_axioms  # they are apart from the order in which threads do steps
    is_whole = has_axioms or model is MemoryModel.SC
    edges = _program_order(unrolling) if is_whole else kept_order(unrolling, model)
    orders = StaticOrders(unrolling, terms, cells, edges)
    if knowledge.is_weak:
        return Learned(unrolling, orders, [], unroller.objects, terms)
    orders.run(knowledge.is_out_of_time)
    sections = locked_sections(unrolling, orders, terms)
    if sections is None:
        return None
    return Learned(unrolling, orders, sections, unroller.objects, terms, known.semaphores)


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
    if unrolling.last:
        orders += [(count + cell, unrolling.end) for cell in range(len(unrolling.initial))]
        orders += [(unrolling.end, read) for read in unrolling.last]
    return orders
