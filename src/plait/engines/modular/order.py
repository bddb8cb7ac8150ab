"""The order in which the locations of a function are best visited: a weak topological order.

Bourdoncle, "Efficient chaotic iteration strategies with widenings" (FMPA 1993), section 4: every
cycle of the graph contains the head of a component in which it lies, whether the graph is reducible
or not. So it is enough to count and to widen at heads.
"""

from __future__ import annotations

from plait.analysis.graph import components
from plait.data import dataclass
from plait.model.actions import Guard
from plait.model.fold import constant
from plait.model.program import Edge, Function


@dataclass(slots=True, eq=False)
class Order:
    """`position` of each location, the heads of the components around it (`nest`, outermost first,
    with itself if it is one), and how many edges lead to it. `loops` are the heads at which alone
    their components are entered, `endless` those of components that nothing leaves."""

    position: list[int]
    nest: list[tuple[int, ...]]
    incoming: list[int]
    heads: frozenset[int]
    loops: frozenset[int]
    endless: frozenset[int]


def order_of(function: Function) -> Order:
    count = len(function.edges)
    successors = [[edge.target for edge in row if edge.target >= 0] for row in function.edges]
    incoming = [0] * count
    for row in successors:
        for target in row:
            incoming[target] += 1
    position = [-1] * count
    nest: list[tuple[int, ...]] = [()] * count
    heads: set[int] = set()
    pending: list[tuple[list[int], tuple[int, ...]]] = [(list(range(count)), ())]
    while pending:
        nodes, around = pending.pop()
        if len(nodes) == 1 and around[-1:] == (nodes[0],):
            continue
        inside = set(nodes)
        index = {node: place for place, node in enumerate(nodes)}
        rows = [[index[t] for t in successors[node] if t in inside] for node in nodes]
        if around:
            # Without the edges to the head, what remains of the component has fewer cycles.
            head = index[around[-1]]
            rows = [[t for t in row if t != head] for row in rows]
        groups, _ = components(rows)
        for group in reversed(groups):
            members = [nodes[item] for item in group]
            if len(group) == 1 and group[0] not in rows[group[0]]:
                if members[0] != (around[-1] if around else -1):
                    nest[members[0]] = around
                continue
            head = _head(members, successors)
            heads.add(head)
            for member in members:
                nest[member] = (*around, head)
            pending.append((members, (*around, head)))
    for clock, location in enumerate(_sorted(count, successors, nest)):
        position[location] = clock
    loops = frozenset(head for head in heads if _is_entered_at(head, successors, nest))
    endless = frozenset(heads) - _left(function, nest)
    return Order(position, nest, incoming, frozenset(heads), loops, endless)


def _left(function: Function, nest: list[tuple[int, ...]]) -> set[int]:
    """The heads of components that some edge leaves."""
    found: set[int] = set()
    for edge in function.all_edges():
        around = nest[edge.source]
        if around and not _is_closed(edge):
            target = nest[edge.target] if edge.target >= 0 else ()
            found.update(around[common(around, target) :])
    return found


def _is_closed(edge: Edge) -> bool:
    return isinstance(edge.action, Guard) and constant(edge.action.condition) == 0


def _head(members: list[int], successors: list[list[int]]) -> int:
    """A member at which the component is entered, the first one if there are several."""
    inside = set(members)
    entered = {
        target
        for source, row in enumerate(successors)
        if source not in inside
        for target in row
        if target in inside
    }
    return min(entered or inside)


def _is_entered_at(head: int, successors: list[list[int]], nest: list[tuple[int, ...]]) -> bool:
    depth = nest[head].index(head)
    around = nest[head][: depth + 1]
    if head != 0 and nest[0][: depth + 1] == around:  # the function begins inside
        return False
    return all(
        target == head or nest[target][: depth + 1] != around
        for source, row in enumerate(successors)
        if nest[source][: depth + 1] != around
        for target in row
    )


def _sorted(count: int, successors: list[list[int]], nest: list[tuple[int, ...]]) -> list[int]:
    """All locations, each after those that lead to it but for edges to heads, and components in
    one piece: a topological order of what is left, level by level."""
    seen = [False] * count
    order: list[int] = []

    def visit(start: int) -> None:
        stack = [(start, iter(_leaving_last(start, successors, nest)))]
        seen[start] = True
        while stack:
            node, following = stack[-1]
            for target in following:
                if not seen[target]:
                    seen[target] = True
                    stack.append((target, iter(_leaving_last(target, successors, nest))))
                    break
            else:
                order.append(node)
                stack.pop()

    for start in range(count):
        if not seen[start]:
            visit(start)
    order.reverse()
    return order


def _leaving_last(node: int, successors: list[list[int]], nest: list[tuple[int, ...]]) -> list[int]:
    """Edges that leave components first: a depth-first search then numbers their targets last."""
    own = nest[node]
    return sorted(successors[node], key=lambda target: common(own, nest[target]))


def common(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """How many components two locations have in common."""
    depth = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        depth += 1
    return depth
