"""Programs in which some accesses have stronger memory orders, and fences that were not there."""

from __future__ import annotations

from plait.data import dataclass, replace
from plait.model.actions import Fence, Load, Order, Origin, ReadModifyWrite, Store
from plait.model.expressions import FrameAddress, PointerAdd
from plait.model.memory_model import TABLE, MemoryModel
from plait.model.program import Edge, Function, Program

Access = Load | Store | ReadModifyWrite


@dataclass(frozen=True, slots=True)
class Strengthening:
    """An access (or fence) at a place of the source, `file:line:column`, gets a memory order; or if
    it `is_fence`, a fence of this order comes right behind it."""

    place: str
    is_fence: bool
    order: Order

    def __str__(self) -> str:
        kind = "fence" if self.is_fence else "order"
        return f"{kind} {self.order.value} {self.place}"


def from_text(text: str) -> Strengthening:
    """What `str` has made."""
    kind, order, place = text.split(" ", 2)
    return Strengthening(place, kind == "fence", Order(order))


def candidates(program: Program, model: MemoryModel) -> list[Strengthening]:
    """With all of these a program has no executions but those of SC, unless accesses that are not
    atomic race: under C11 all atomic accesses are SC; under TSO and PSO no store is delayed.
    Orders come before fences, each as in the source."""
    orders: dict[Strengthening, tuple[int, int, int]] = {}
    fences: dict[Strengthening, tuple[int, int, int]] = {}
    for function in program.functions.values():
        if function.library:
            continue
        for edge in function.all_edges():
            action = edge.action
            if not isinstance(action, (Load, Store, ReadModifyWrite, Fence)):
                continue
            place = program.place(action.origin)
            where = action.origin.file, action.origin.line, action.origin.column
            if not TABLE[model].has_axioms:
                if isinstance(action, Store) and not _is_in_frame(action):
                    fences[Strengthening(place, True, Order.SEQ_CST)] = where
            elif action.order.is_atomic:
                if weakest(action) is not Order.SEQ_CST:
                    orders[Strengthening(place, False, Order.SEQ_CST)] = where
                if not isinstance(action, Fence):
                    fences[Strengthening(place, True, Order.SEQ_CST)] = where
    return [*sorted(orders, key=orders.__getitem__), *sorted(fences, key=fences.__getitem__)]


def weaker(item: Strengthening, program: Program, model: MemoryModel) -> list[Order]:
    """Orders that may be enough, the weakest ones first."""
    if not TABLE[model].has_axioms:
        return [] if TABLE[model].is_fifo else [Order.RELEASE]
    if item.is_fence:
        return [Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL]
    actions = [edge.action for _, edge in _edges_at(program, item.place)]
    kinds = {type(action) for action in actions}
    if kinds == {Load}:
        return [Order.ACQUIRE]
    if kinds == {Store}:
        return [Order.RELEASE]
    return [Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL]


def strengthen(program: Program, items: tuple[Strengthening, ...]) -> None:
    """Change a program that nobody else uses."""
    for item in items:
        for function, edge in _edges_at(program, item.place):
            if item.is_fence and isinstance(edge.action, (Load, Store, ReadModifyWrite)):
                _put_behind(function, edge, Fence(edge.action.origin, item.order))
            elif not item.is_fence:
                edge.action = _with_order(edge.action, item.order)  # type: ignore[arg-type]


def weakest(action: Access | Fence) -> Order:
    """SC only if all of it is."""
    if isinstance(action, ReadModifyWrite) and action.guard is not None:
        if action.failure_order is not Order.SEQ_CST:
            return action.failure_order
    return action.order


def _with_order(action: Access | Fence, order: Order) -> Access | Fence:
    if isinstance(action, ReadModifyWrite) and action.guard is not None and order is Order.SEQ_CST:
        return replace(action, order=order, failure_order=order)
    return replace(action, order=order)


def _edges_at(program: Program, place: str) -> list[tuple[Function, Edge]]:
    def is_there(origin: Origin) -> bool:
        return program.place(origin) == place

    return [
        (function, edge)
        for function in program.functions.values()
        if not function.library
        for edge in function.all_edges()
        if isinstance(edge.action, (Load, Store, ReadModifyWrite, Fence))
        and (edge.action.order.is_atomic or isinstance(edge.action, Store))
        and is_there(edge.action.origin)
    ]


def _put_behind(function: Function, edge: Edge, fence: Fence) -> None:
    location = len(function.edges)
    function.edges.append([Edge(location, fence, edge.target)])
    edge.target = location


def _is_in_frame(action: Store) -> bool:
    """Whether it stores to a local of the running frame."""
    base = action.address
    while isinstance(base, PointerAdd):
        base = base.base
    return isinstance(base, FrameAddress)
