"""Cleaning a freshly lowered automaton: no dead code, no empty steps, no unassigned reads."""

from __future__ import annotations

from plait.model.actions import Action, Input, Skip, Unsupported
from plait.model.dataflow import live_registers, maybe_unassigned
from plait.model.expressions import Register
from plait.model.program import Edge, Function


def tidy(function: Function) -> None:
    _remove_skips(function)
    _close_dead_ends(function)
    _assign_before_use(function)


def _remove_skips(function: Function) -> None:
    """Drop Skip edges and unreachable locations; number the rest in depth-first order."""
    edges = function.edges
    alias = list(range(len(edges)))

    def resolve(location: int) -> int:
        path = []
        seen = set()
        while location >= 0 and location not in seen:
            leaving = edges[location]
            if alias[location] != location:
                path.append(location)
                location = alias[location]
                continue
            if len(leaving) != 1 or not isinstance(leaving[0].action, Skip):
                break
            if leaving[0].target < 0:
                break
            seen.add(location)
            path.append(location)
            location = leaving[0].target
        for passed in path:
            if passed != location:
                alias[passed] = location
        return location

    numbers: dict[int, int] = {}
    order: list[int] = []
    entry = resolve(0)
    pending = [entry]
    while pending:
        location = pending.pop()
        if location in numbers:
            continue
        numbers[location] = len(order)
        order.append(location)
        for edge in reversed(edges[location]):
            if edge.target >= 0:
                edge.target = resolve(edge.target)
                pending.append(edge.target)
    for location in order:
        for edge in edges[location]:
            edge.source = numbers[location]
            if edge.target >= 0:
                edge.target = numbers[edge.target]
    function.edges = [edges[location] for location in order]


def _close_dead_ends(function: Function) -> None:
    """Lowering that stopped at unsupported code may leave locations without a way on."""
    for location, leaving in enumerate(function.edges):
        if not leaving:
            stop = Unsupported(function.origin, "not supported: code near here")
            leaving.append(Edge(location, stop, -1))


def _assign_before_use(function: Function) -> None:
    """A read of an unassigned variable is an input; an input that nobody reads is dropped."""
    unassigned = sorted(maybe_unassigned(function))
    for index in unassigned:
        declared = function.registers[index]
        target = Register(declared.type, index, declared.name)
        name = f"uninitialised '{declared.name}'" if declared.name else "indeterminate value"
        prepend(function, Input(function.origin, target, name, indeterminate=True))
    if not any(_is_indeterminate(edge) for edge in function.all_edges()):
        return
    live = live_registers(function)
    for edge in function.all_edges():
        if _is_indeterminate(edge):
            assert isinstance(edge.action, Input)
            index = edge.action.target.index
            if edge.target < 0 or not live[edge.target] >> index & 1:
                edge.action = Skip(edge.action.origin)
    _remove_skips(function)


def _is_indeterminate(edge: Edge) -> bool:
    return isinstance(edge.action, Input) and edge.action.indeterminate


def prepend(function: Function, action: Action) -> None:
    """Put an action before the entry, which keeps number 0."""
    moved = len(function.edges)
    for leaving in function.edges:
        for edge in leaving:
            if edge.target == 0:
                edge.target = moved
            if edge.source == 0:
                edge.source = moved
    function.edges.append(function.edges[0])
    function.edges[0] = [Edge(0, action, moved)]
