"""What each edge may do to memory: the objects it reads and writes, in each context.

Beside the memory actions, whatever ends the life of an object counts as a write to it: an access
by another thread is valid before it and invalid after it.
"""

from __future__ import annotations

from plait.analysis.objects import ObjectKind
from plait.analysis.points_to import Instance, PointsTo
from plait.data import dataclass
from plait.model.actions import (
    Allocate,
    EndThread,
    EnterScope,
    Free,
    LeaveScope,
    Load,
    ObjectSize,
    ReadModifyWrite,
    Return,
    Store,
)
from plait.model.program import Edge


@dataclass(slots=True, eq=False)
class Access:
    """One edge's effect on memory in one context: bit sets of object numbers.

    `locations` is the set of location numbers of the one address that a memory action uses (0 if
    the edge is not a memory action) and `size` the number of bytes. An access `is_wild` if its
    address has no targets: it is null, or a number that no object's address went into, so the
    access is invalid; an engine that finds it valid must give up (see `points_to`).
    """

    edge: Edge
    reads: int
    writes: int
    locations: int = 0
    size: int = 0

    @property
    def is_wild(self) -> bool:
        return not self.reads | self.writes


def accesses(points_to: PointsTo) -> list[list[Access]]:
    """For each function instance the accesses of its reachable edges."""
    frames = [_frame_objects(points_to, instance) for instance in points_to.instances]
    of_threads = sum(
        1 << item.index for item in points_to.objects if item.kind is ObjectKind.THREAD_LOCAL
    )
    callers: list[set[int]] | None = None
    found: list[list[Access]] = []
    for instance in points_to.instances:
        row: list[Access] = []
        for edge in instance.template.edges:
            kind = type(edge.action)
            if kind is EndThread:
                callers = callers or _callers(points_to)
                ending = _frames_below(instance.index, callers, frames) | of_threads
                if ending:
                    row.append(Access(edge, 0, ending))
            elif kind is Return:
                if frames[instance.index]:
                    row.append(Access(edge, 0, frames[instance.index]))
            elif kind in _ACCESSING:
                access = _access(points_to, instance, edge)
                if access is not None:
                    row.append(access)
        found.append(row)
    return found


_ACCESSING = frozenset({Load, Store, ReadModifyWrite, Free, ObjectSize, EnterScope, LeaveScope})


def _access(points_to: PointsTo, instance: Instance, edge: Edge) -> Access | None:
    action = edge.action
    match action:
        case Load() | ObjectSize():
            locations = points_to.address_mask(instance, edge)
            size = action.target.type.size if isinstance(action, Load) else 0
            objects = points_to.object_mask(locations)
            return Access(edge, objects, 0, locations, size)
        case Store():
            locations = points_to.address_mask(instance, edge)
            objects = points_to.object_mask(locations)
            return Access(edge, 0, objects, locations, action.value.type.size)
        case ReadModifyWrite():
            locations = points_to.address_mask(instance, edge)
            objects = points_to.object_mask(locations)
            return Access(edge, objects, objects, locations, action.old.type.size)
        case Free():
            locations = points_to.address_mask(instance, edge)
            return Access(edge, 0, points_to.object_mask(locations))
        case EnterScope() | LeaveScope():
            mask = 0
            for index in action.slots:
                slot = instance.function.slots[index]
                mask |= _bit(points_to.memory.find(slot, instance.context))
            return Access(edge, 0, mask) if mask else None
    return None


def _bit(index: int | None) -> int:
    return 0 if index is None else 1 << index


def _frame_objects(points_to: PointsTo, instance: Instance) -> int:
    """The objects that die with a frame."""
    mask = 0
    for slot in instance.function.slots:
        mask |= _bit(points_to.memory.find(slot, instance.context))
    for _, edge, _ in instance.template.allocations:
        if isinstance(edge.action, Allocate) and edge.action.storage == "stack":
            mask |= _bit(points_to.memory.find(edge, instance.context))
    return mask


def _callers(points_to: PointsTo) -> list[set[int]]:
    callers: list[set[int]] = [set() for _ in points_to.instances]
    for arc in points_to.arcs:
        if not arc.is_spawn:
            callers[arc.callee].add(arc.caller)
    return callers


def _frames_below(index: int, callers: list[set[int]], frames: list[int]) -> int:
    """The objects of all frames that may be on the stack when an instance runs."""
    seen = {index}
    pending = [index]
    mask = 0
    while pending:
        item = pending.pop()
        mask |= frames[item]
        new = callers[item] - seen
        seen |= new
        pending += new
    return mask
