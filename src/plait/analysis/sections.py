"""Where atomic sections begin and end in the graph of a function."""

from __future__ import annotations

from plait.model.actions import AtomicBegin, AtomicEnd, Return
from plait.model.program import Function


def closes_its_sections(function: Function) -> bool:
    """Whether the function closes the sections that it opens itself, and no others."""
    depths = _depths(function, 0, None)
    if depths is None:
        return False
    return not any(
        depths.get(edge.source) for edge in function.all_edges() if isinstance(edge.action, Return)
    )


def is_balanced_loop(function: Function, head: int, body: frozenset[int]) -> bool:
    """Whether each round that returns to the head closes the sections that it opens."""
    return _depths(function, head, body) is not None


def _depths(function: Function, start: int, inside: frozenset[int] | None) -> dict[int, int] | None:
    """How many sections are open at each location beyond those at `start`; None if that depends on
    the path or falls below 0."""
    depths = {start: 0}
    pending = [start]
    while pending:
        location = pending.pop()
        for edge in function.edges[location]:
            depth = depths[location]
            if isinstance(edge.action, AtomicBegin):
                depth += 1
            elif isinstance(edge.action, AtomicEnd):
                depth -= 1
            if depth < 0:
                return None
            target = edge.target
            if target < 0 or (inside is not None and target not in inside):
                continue
            if target not in depths:
                depths[target] = depth
                pending.append(target)
            elif depths[target] != depth:
                return None
    return depths
