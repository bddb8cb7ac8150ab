"""TSO and PSO by axioms, to compare the store buffers with.

After Alglave, Maranget, Tautschnig, "Herding cats" (TOPLAS 2014): a graph is an execution if
accesses to one location are coherent (SC PER LOCATION), updates are atomic, and the preserved
program order, what fences keep, reads-from between threads, coherence and from-reads have no cycle
together. Graphs are built by the same steps as those of C11; only the axioms are others.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from plait.data import replace
from plait.model import rc11
from plait.model.actions import Fence, ReadModifyWrite
from plait.model.memory_model import TABLE, MemoryModel, R, W
from plait.model.program import Program
from plait.model.properties import from_names
from plait.model.rc11 import ExecutionGraph
from plait.portfolio.subject import for_exploring
from plait.semantics import graph_memory
from plait.semantics.explore import Exploration, ExploreOptions, explore
from plait.semantics.graph_memory import GraphEvent, GraphMemory


def explored_by_axioms(program: Program, model: MemoryModel) -> Exploration:
    """Of a program that was loaded for C11."""
    chosen = for_exploring(program, replace(from_names([]), memory_model=MemoryModel.C11))
    with _axioms_of(model):
        return explore(program, chosen, ExploreOptions(keep_states=True))


@contextmanager
def _axioms_of(model: MemoryModel) -> Iterator[None]:
    """For a while the axioms of C11 are those of the model, and races mean nothing."""
    events: list[GraphEvent] = []
    numbered, check = GraphMemory._numbered, GraphMemory._check_race
    check_end = GraphMemory._check_end

    def noting(self: GraphMemory) -> Any:
        events[:] = [event for _, event in self._all()]
        return numbered(self)

    before = vars(graph_memory)["is_consistent"]
    vars(graph_memory)["is_consistent"] = lambda graph: _is_execution(graph, events, model)
    GraphMemory._numbered = noting  # type: ignore[method-assign]
    GraphMemory._check_race = lambda self, ref: None  # type: ignore[method-assign]
    GraphMemory._check_end = lambda self, ended, what, origin: None  # type: ignore[method-assign]
    try:
        yield
    finally:
        vars(graph_memory)["is_consistent"] = before
        GraphMemory._numbered = numbered  # type: ignore[method-assign]
        GraphMemory._check_race = check  # type: ignore[method-assign]
        GraphMemory._check_end = check_end  # type: ignore[method-assign]


def _is_execution(graph: ExecutionGraph, events: list[GraphEvent], model: MemoryModel) -> bool:
    po = graph.thread_before
    rf, co, fr = rc11.reads_from(graph), rc11.modification_order(graph), rc11.reads_before(graph)
    places = graph.locations
    here = [
        sum(1 << other for other, place in enumerate(places) if place == mine >= 0)
        for mine in places
    ]
    po_loc = [row & same for row, same in zip(po, here, strict=True)]
    communication = rc11.union(rc11.union(rf, co), fr)
    if not rc11.is_acyclic(rc11.union(po_loc, communication)):
        return False
    if not rc11.has_atomicity(graph):
        return False
    external = [row & ~inner & ~_before(po, number) for number, (row, inner) in _numbered(rf, po)]
    order = rc11.union(rc11.union(_kept(po, events, model), external), rc11.union(co, fr))
    for first, second in graph.synchronised:
        order[first] |= 1 << second
    return rc11.is_acyclic(order)


def _numbered(rf: list[int], po: list[int]) -> list[tuple[int, tuple[int, int]]]:
    return list(enumerate(zip(rf, po, strict=True)))


def _before(po: list[int], number: int) -> int:
    return sum(1 << other for other, row in enumerate(po) if row >> number & 1)


def _kept(po: list[int], events: list[GraphEvent], model: MemoryModel) -> list[int]:
    """Preserved program order, with what fences and updates keep, and sections, which are both."""
    ordering = TABLE[model]
    strong = [n for n, event in enumerate(events) if _is_section(event) or _is_update(event)]
    fences = [(n, event.site.edge.action) for n, event in enumerate(events) if event.is_fence]
    of_kind = {
        W: sum(1 << n for n, event in enumerate(events) if event.is_write),
        R: sum(1 << n for n, event in enumerate(events) if event.source is not None),
    }
    no_fence = ~sum(1 << n for n, _ in fences)
    result = []
    for first, event in enumerate(events):
        row = po[first] & no_fence
        kept = row if first in strong else 0
        kind = W if event.is_write else R
        for other in (R, W):
            if (kind, other) in ordering.kept and not event.is_fence:
                kept |= row & of_kind[other]
        for middle in strong:
            if row >> middle & 1 and not event.is_fence:
                kept |= (po[middle] & no_fence) | 1 << middle
        for fence, action in fences:
            if po[first] >> fence & 1 and not event.is_fence:
                assert isinstance(action, Fence)
                for one, other in ordering.fences[action.order]:
                    if one == kind:
                        kept |= po[fence] & of_kind[other]
        result.append(kept)
    return result


def _is_section(event: GraphEvent) -> bool:
    return event.location is None and not event.is_fence


def _is_update(event: GraphEvent) -> bool:
    return isinstance(event.site.edge.action, ReadModifyWrite)
