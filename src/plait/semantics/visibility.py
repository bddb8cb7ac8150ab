"""Which edges other threads can notice: the points at which threads are interleaved.

Any superset of what is really visible is right; a smaller set gives fewer states. The default
here looks at one function at a time: all accesses to memory are visible, except to slots of the
running frame whose address is used for nothing but direct accesses.
"""

from __future__ import annotations

from collections.abc import Callable

from plait.model.actions import (
    Fence,
    Load,
    ReadModifyWrite,
    Store,
    expressions_of,
)
from plait.model.expressions import Expr, FrameAddress, PointerAdd, children
from plait.model.machine import ALWAYS_VISIBLE
from plait.model.program import Edge, Function

Visibility = Callable[[Function, Edge], bool]


def conservative(*, sees_fences: bool = False) -> Visibility:
    """Visibility by a look at each function alone; the answers are remembered. Fences can be
    noticed only under a weak memory model."""
    escaping: dict[int, tuple[Function, frozenset[int]]] = {}

    def is_visible(function: Function, edge: Edge) -> bool:
        action = edge.action
        if isinstance(action, ALWAYS_VISIBLE) or (sees_fences and isinstance(action, Fence)):
            return True
        if not isinstance(action, (Load, Store, ReadModifyWrite)):
            return False
        slot = _slot_of(action.address)
        if slot is None:
            return True
        if id(function) not in escaping:
            escaping[id(function)] = function, escaping_slots(function)
        return slot in escaping[id(function)][1]

    return is_visible


def escaping_slots(function: Function) -> frozenset[int]:
    """The slots whose address goes anywhere but into the address of an access."""
    found: set[int] = set()
    for edge in function.all_edges():
        action = edge.action
        pending = list(expressions_of(action))
        if isinstance(action, (Load, Store, ReadModifyWrite)):
            pending.remove(action.address)
            base = action.address
            while isinstance(base, PointerAdd):
                pending.append(base.offset)
                base = base.base
            if not isinstance(base, FrameAddress):
                pending.append(base)
        while pending:
            item = pending.pop()
            if isinstance(item, FrameAddress):
                found.add(item.slot.index)
            pending.extend(children(item))
    return frozenset(found)


def _slot_of(address: Expr) -> int | None:
    """The slot that a valid access stays in: pointer arithmetic cannot reach another object."""
    while isinstance(address, PointerAdd):
        address = address.base
    return address.slot.index if isinstance(address, FrameAddress) else None
