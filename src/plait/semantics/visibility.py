"""Which edges other threads can notice: the points at which threads are interleaved.

Any superset of what is really visible is right; a smaller set gives fewer states. The default
here looks at one function at a time: all accesses to memory are visible, except to slots of the
running frame whose address is used for nothing but direct accesses. So is the end of the life of
all other slots, and of memory of alloca: until then another thread's access to them is valid.
"""

from __future__ import annotations

from collections.abc import Callable

from plait.model.actions import (
    Allocate,
    Fence,
    LeaveScope,
    Load,
    ReadModifyWrite,
    Return,
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
    ending: dict[int, tuple[Function, bool]] = {}

    def escaping_from(function: Function) -> frozenset[int]:
        if id(function) not in escaping:
            escaping[id(function)] = function, escaping_slots(function)
        return escaping[id(function)][1]

    def leaves_something(function: Function) -> bool:
        if id(function) not in ending:
            found = bool(escaping_from(function)) or _has_alloca(function)
            ending[id(function)] = function, found
        return ending[id(function)][1]

    def is_visible(function: Function, edge: Edge) -> bool:
        action = edge.action
        if isinstance(action, ALWAYS_VISIBLE) or (sees_fences and isinstance(action, Fence)):
            return True
        if isinstance(action, Return):
            return leaves_something(function)
        if isinstance(action, LeaveScope):
            return not escaping_from(function).isdisjoint(action.slots)
        if not isinstance(action, (Load, Store, ReadModifyWrite)):
            return False
        slot = _slot_of(action.address)
        return slot is None or slot in escaping_from(function)

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


def _has_alloca(function: Function) -> bool:
    return any(
        isinstance(edge.action, Allocate) and edge.action.storage == "stack"
        for edge in function.all_edges()
    )


def _slot_of(address: Expr) -> int | None:
    """The slot that a valid access stays in: pointer arithmetic cannot reach another object."""
    while isinstance(address, PointerAdd):
        address = address.base
    return address.slot.index if isinstance(address, FrameAddress) else None
