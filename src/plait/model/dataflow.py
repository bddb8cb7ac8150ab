"""Bit-set dataflow over the registers of one function: definite assignment and liveness.

Bit i of a set stands for register i. Both analyses visit a location again only when its set has
grown, in an order that makes one pass enough where there are no loops.
"""

from __future__ import annotations

from plait.model.actions import Action, ReadModifyWrite, expressions_of, target_of
from plait.model.expressions import Expr, Register, children
from plait.model.program import Function


def registers_mask(exprs: tuple[Expr, ...]) -> int:
    """The registers that expressions read, as a bit set."""
    mask = 0
    pending = list(exprs)
    while pending:
        item = pending.pop()
        if isinstance(item, Register):
            mask |= 1 << item.index
        else:
            pending.extend(children(item))
    return mask


def uses_and_defines(action: Action) -> tuple[int, int]:
    """The registers an action reads from before it, and the one that it assigns, as bit sets."""
    uses = registers_mask(expressions_of(action))
    target = target_of(action)
    defines = 0 if target is None else 1 << target.index
    if isinstance(action, ReadModifyWrite):
        # `new` and `guard` see the value that this very action has loaded.
        uses = uses & ~defines | registers_mask((action.address,))
    return uses, defines


def postorder(function: Function) -> list[int]:
    """The locations reachable from the entry, each after its successors (loops aside)."""
    edges = function.edges
    if not edges:
        return []
    seen = bytearray(len(edges))
    seen[0] = 1
    order: list[int] = []
    stack = [(0, iter(edges[0]))]
    while stack:
        location, leaving = stack[-1]
        for edge in leaving:
            target = edge.target
            if target >= 0 and not seen[target]:
                seen[target] = 1
                stack.append((target, iter(edges[target])))
                break
        else:
            order.append(location)
            stack.pop()
    return order


def maybe_unassigned(function: Function) -> set[int]:
    """The registers other than parameters that some path reads before it assigns them."""
    if not function.edges:
        return set()
    every = (1 << len(function.registers)) - 1
    unassigned = [0] * len(function.edges)
    unassigned[0] = every & ~((1 << function.parameters) - 1)
    order = postorder(function)
    order.reverse()
    facts: list[list[tuple[int, int, int]]] = [[] for _ in function.edges]
    for location in order:
        facts[location] = [
            (*uses_and_defines(edge.action), edge.target) for edge in function.edges[location]
        ]
    found = 0
    pending = set(order)
    while pending:
        for location in order:
            if location not in pending:
                continue
            pending.discard(location)
            before = unassigned[location]
            for uses, defines, target in facts[location]:
                found |= uses & before
                if target >= 0:
                    after = before & ~defines
                    if after & ~unassigned[target]:
                        unassigned[target] |= after
                        pending.add(target)
    return _members(found)


def live_registers(function: Function) -> list[int]:
    """For each location the registers whose values the rest of the frame's run may read."""
    live = [0] * len(function.edges)
    if not function.edges:
        return live
    order = postorder(function)
    facts: dict[int, list[tuple[int, int, int]]] = {}
    sources: list[list[int]] = [[] for _ in function.edges]
    for location in order:
        row = []
        for edge in function.edges[location]:
            row.append((*uses_and_defines(edge.action), edge.target))
            if edge.target >= 0:
                sources[edge.target].append(location)
        facts[location] = row
    pending = set(order)
    while pending:
        for location in order:
            if location not in pending:
                continue
            pending.discard(location)
            before = 0
            for uses, defines, target in facts[location]:
                before |= uses | (live[target] & ~defines if target >= 0 else 0)
            if before != live[location]:
                live[location] = before
                pending.update(sources[location])
    return live


def _members(mask: int) -> set[int]:
    found = set()
    while mask:
        low = mask & -mask
        found.add(low.bit_length() - 1)
        mask ^= low
    return found
