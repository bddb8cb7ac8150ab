"""Strongly connected components of a graph on 0 .. n-1 (Tarjan, without recursion)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def components(successors: Sequence[Iterable[int]]) -> tuple[list[list[int]], list[int]]:
    """All components, each after those it leads to, and the number of each node's component."""
    count = len(successors)
    order = [-1] * count
    low = [0] * count
    component = [-1] * count
    found: list[list[int]] = []
    open_nodes: list[int] = []
    clock = 0
    for root in range(count):
        if order[root] >= 0:
            continue
        order[root] = low[root] = clock
        clock += 1
        open_nodes.append(root)
        stack = [(root, iter(successors[root]))]
        while stack:
            node, following = stack[-1]
            for item in following:
                if order[item] < 0:
                    order[item] = low[item] = clock
                    clock += 1
                    open_nodes.append(item)
                    stack.append((item, iter(successors[item])))
                    break
                if component[item] < 0 and order[item] < low[node]:
                    low[node] = order[item]
            else:
                stack.pop()
                if stack and low[node] < low[stack[-1][0]]:
                    low[stack[-1][0]] = low[node]
                if low[node] == order[node]:
                    members: list[int] = []
                    while True:
                        item = open_nodes.pop()
                        component[item] = len(found)
                        members.append(item)
                        if item == node:
                            break
                    found.append(members)
    return found, component


def cyclic_nodes(successors: Sequence[Sequence[int]]) -> set[int]:
    """The nodes that lie on a cycle."""
    found: set[int] = set()
    for members in components(successors)[0]:
        if len(members) > 1:
            found.update(members)
        elif members[0] in successors[members[0]]:
            found.add(members[0])
    return found
