"""Which edges can be taken at all, as far as constants tell."""

from __future__ import annotations

from plait.model.actions import Check, Guard, Prune, Unsupported, Wait
from plait.model.expressions import Const, Expr, registers_of
from plait.model.fold import constant, substitute
from plait.model.program import Edge, Function


def _constant(condition: Expr, values: dict[int, Const]) -> int | None:
    if values:
        for register in registers_of(condition):
            if register in values:
                condition = substitute(condition, register, values[register])
    return constant(condition)


def _stops(edge: Edge, values: dict[int, Const]) -> bool:
    """Whether no execution gets past this edge's action."""
    action = edge.action
    if isinstance(action, Check | Prune | Wait):
        return _constant(action.condition, values) == 0
    return isinstance(action, Unsupported)


def _is_closed(edge: Edge, values: dict[int, Const]) -> bool:
    """Whether the edge is a branch that is never taken."""
    action = edge.action
    if not isinstance(action, Guard):
        return False
    condition = action.condition
    if type(condition) is Const:
        return condition.value == 0
    return _constant(condition, values) == 0


def reachable_edges(function: Function, known: dict[int, Const] | None = None) -> list[Edge]:
    """The edges reachable from the entry, without branches whose condition is constantly 0 and
    without what follows a Check, Prune or Wait that never passes. `known` gives the values of
    registers that are constant."""
    values = known or {}
    edges = function.edges
    if not edges:
        return []
    seen = bytearray(len(edges))
    seen[0] = 1
    pending = [0]
    found: list[Edge] = []
    while pending:
        leaving = edges[pending.pop()]
        for edge in leaving:
            if len(leaving) > 1 and _is_closed(edge, values):
                continue
            found.append(edge)
            target = edge.target
            if target >= 0 and not seen[target] and not _stops(edge, values):
                seen[target] = 1
                pending.append(target)
    return found
