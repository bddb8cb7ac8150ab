"""Loops with several entries get one: by a copy of what the other entries lead to.

Node splitting (Aho, Lam, Sethi, Ullman, 9.7.6): of a strongly connected component that is entered
at several places one entry becomes the head. What the others lead to before that head is copied,
and control from outside enters the copy. The copy is not on a way from the head, so the component
has one entry then, and whatever loops the copy has are smaller.
"""

from __future__ import annotations

from plait.data import replace
from plait.model.program import Edge, Function

_LARGEST_GROWTH = 4  # times the locations of a function; beyond that it is left as it is


def make_reducible(function: Function) -> None:
    most = _LARGEST_GROWTH * len(function.edges)
    found = _with_several_entries(function)
    while found is not None and len(function.edges) < most:
        _split(function, *found)
        found = _with_several_entries(function)


def _split(function: Function, component: set[int], entries: list[int]) -> None:
    edges = function.edges
    inside = dict.fromkeys(entries, 0)
    for location in component:
        for edge in edges[location]:
            if edge.target in inside:
                inside[edge.target] += 1
    head = max(entries, key=lambda entry: inside[entry])
    others = [entry for entry in entries if entry != head]
    copies: dict[int, int] = {}
    pending = list(others)
    while pending:
        location = pending.pop()
        if location not in copies:
            copies[location] = len(edges)
            edges.append([])
            pending += [
                edge.target
                for edge in edges[location]
                if edge.target in component and edge.target != head
            ]
    for location, copy in copies.items():
        for edge in edges[location]:
            target = copies.get(edge.target, edge.target)
            edges[copy].append(Edge(copy, replace(edge.action), target))
    copied = set(copies.values())
    for location, leaving in enumerate(edges):
        if location not in component and location not in copied:
            for edge in leaving:
                if edge.target in others:
                    edge.target = copies[edge.target]


def _with_several_entries(function: Function) -> tuple[set[int], list[int]] | None:
    """A component that is entered at several places, and these; heads are taken out of those with
    one entry to look at the loops inside of them."""
    count = len(function.edges)
    following = [[e.target for e in leaving if e.target >= 0] for leaving in function.edges]
    sources: list[list[int]] = [[] for _ in range(count)]
    for edge in function.all_edges():
        if edge.target >= 0:
            sources[edge.target].append(edge.source)
    regions: list[set[int]] = [set(range(count))]
    while regions:
        region = regions.pop()
        for component in _cyclic_components(region, following):
            entries = [
                location
                for location in sorted(component)
                if location == 0 or any(source not in component for source in sources[location])
            ]
            if len(entries) > 1:
                return component, entries
            if entries:
                regions.append(component.difference(entries))
    return None


def _cyclic_components(region: set[int], following: list[list[int]]) -> list[set[int]]:
    """The strongly connected components of a region that have a cycle (Kosaraju)."""
    order: list[int] = []
    seen: set[int] = set()
    preceding: dict[int, list[int]] = {location: [] for location in region}
    for root in region:
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(following[root]))]
        while stack:
            location, rest = stack[-1]
            for target in rest:
                if target not in region:
                    continue
                preceding[target].append(location)
                if target not in seen:
                    seen.add(target)
                    stack.append((target, iter(following[target])))
                    break
            else:
                stack.pop()
                order.append(location)
    found: list[set[int]] = []
    taken: set[int] = set()
    for root in reversed(order):
        if root in taken:
            continue
        component = {root}
        pending = [root]
        taken.add(root)
        while pending:
            for source in preceding[pending.pop()]:
                if source not in taken:
                    taken.add(source)
                    component.add(source)
                    pending.append(source)
        if len(component) > 1 or root in following[root]:
            found.append(component)
    return found
