"""Where atomic sections begin and end in the graph of a function."""

from __future__ import annotations

from collections.abc import Iterable

from plait.model.actions import AtomicBegin, AtomicEnd, Return
from plait.model.program import Edge, Function

# Deeper nesting than this is no longer counted: sections then seem longer than they are.
_DEEPEST = 8


def section_edges(edges: Iterable[Edge], begin: Edge) -> list[Edge]:
    """Those of a function's edges that may lie in the atomic section which `begin` opens: all that
    are reachable from it without passing the AtomicEnd that closes it."""
    leaving: dict[int, list[Edge]] = {}
    for edge in edges:
        leaving.setdefault(edge.source, []).append(edge)
    found: dict[int, Edge] = {}
    seen: set[tuple[int, int]] = set()
    pending = [(begin.target, 1)]
    while pending:
        location, depth = pending.pop()
        if (location, depth) in seen or location < 0:
            continue
        seen.add((location, depth))
        for edge in leaving.get(location, ()):
            found[id(edge)] = edge
            if isinstance(edge.action, AtomicBegin):
                pending.append((edge.target, min(depth + 1, _DEEPEST)))
                continue
            if not isinstance(edge.action, AtomicEnd):
                pending.append((edge.target, depth))
                continue
            if depth == _DEEPEST:
                pending.append((edge.target, depth))
            if depth > 1:
                pending.append((edge.target, depth - 1))
    return list(found.values())


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
