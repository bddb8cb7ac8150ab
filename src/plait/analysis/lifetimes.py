"""Pointers that outlive what they point to: locals, memory of alloca, thread-local objects.

Soundness argument for `outliving`. A pointer to a local of a frame is in registers of frames or in
memory. If the object has not escaped (`sharing`), all of these belong to its own thread. Let its
function F not be recursive, and let registers that may hold the pointer, and slots that may, belong
to functions that F calls, directly or not, or to F itself. A frame of such a function that is below
the one of F on the stack would make F recursive, so all of them are above it, and gone when it is.
What is left is the end of a block: there no register of F that is read later, and no slot of F that
lives on, may hold a pointer to what dies.

As in `points_to`, this presumes that pointers keep their provenance: an engine that finds the
address of an access without targets in an object must give up.
"""

from __future__ import annotations

from plait.analysis.graph import cyclic_nodes
from plait.analysis.objects import AbstractObject, ObjectKind, members
from plait.analysis.points_to import Instance
from plait.analysis.sharing import Sharing
from plait.data import replace
from plait.model.actions import Allocate, EnterScope, LeaveScope
from plait.model.dataflow import live_registers
from plait.model.program import Function
from plait.model.properties import Property, Specification


class Lifetimes:
    """`outliving` are objects of the user's code to which there may be a pointer when they are
    gone. If there is none, nobody can tell when an object dies, nor whether its memory is used
    again."""

    def __init__(self, sharing: Sharing) -> None:
        self._sharing = sharing
        self._points_to = sharing.points_to
        self._calls: list[set[int]] = [set() for _ in self._points_to.instances]
        self._callers: list[set[int]] = [set() for _ in self._points_to.instances]
        for arc in self._points_to.arcs:
            if not arc.is_spawn:
                self._calls[arc.caller].add(arc.callee)
                self._callers[arc.callee].add(arc.caller)
        self._reached: dict[int, frozenset[int]] = {}
        self.outliving = self._find()

    def reused(self) -> list[AbstractObject]:
        """Those of `outliving` whose memory another object may get, where a function's locals have
        the same place in each of its frames: all but the locals of functions at the bottom of a
        stack, of blocks that are entered once, where no frame comes behind them."""
        return [item for item in self.outliving if not self._has_place_for_itself(item)]

    # --- pointers that outlive

    def _find(self) -> list[AbstractObject]:
        points_to, sharing = self._points_to, self._sharing
        mortal = [item for item in points_to.objects if self._is_mortal(item)]
        if not mortal:
            return []
        # By what they may point to.
        instances: dict[int, list[Instance]] = {}
        for instance in points_to.instances:
            held = points_to.object_mask(points_to.held(instance))
            for index in members(held):
                instances.setdefault(index, []).append(instance)
        objects: dict[int, list[AbstractObject]] = {}
        for item in points_to.objects:
            for index in members(points_to.object_mask(points_to.memory.contents(item.index))):
                objects.setdefault(index, []).append(item)
        return [
            item
            for item in mortal
            if sharing.has_escaped(item)
            or not self._stays(item, instances.get(item.index, []), objects.get(item.index, []))
        ]

    def _is_mortal(self, item: AbstractObject) -> bool:
        if item.kind is ObjectKind.THREAD_LOCAL:
            return item.static is not None and not item.static.library
        if item.kind is ObjectKind.SLOT or _is_on_stack(item):
            return not self._points_to.program.functions[item.function].library
        return False

    def _stays(
        self, item: AbstractObject, holders: list[Instance], objects: list[AbstractObject]
    ) -> bool:
        """Whether pointers to an object that has not escaped are gone when it is."""
        if item.kind is ObjectKind.THREAD_LOCAL:
            return True  # its thread has nothing any more
        [owner] = self._points_to.instances_of[item.function]
        above = self._reachable(owner.index)
        if owner.index in above:
            return False
        inside = above | {owner.index}
        if any(holder.index not in inside for holder in holders):
            return False
        for other in objects:
            is_local = other.kind is ObjectKind.SLOT or _is_on_stack(other)
            if not is_local or not self._belongs_to(other, inside):
                return False
        return _is_on_stack(item) or self._stays_in_block(item, owner, objects)

    def _belongs_to(self, item: AbstractObject, instances: frozenset[int]) -> bool:
        found = self._points_to.instances_of[item.function]
        return all(instance.index in instances for instance in found)

    def _stays_in_block(
        self, item: AbstractObject, owner: Instance, objects: list[AbstractObject]
    ) -> bool:
        function, slot = owner.function, item.slot
        assert slot is not None
        holding = 0
        for register in range(len(function.registers)):
            held = self._points_to.object_mask(self._points_to.held_in(owner, register))
            if held >> item.index & 1:
                holding |= 1 << register
        kept = {
            other.slot.index if other.slot is not None else -1
            for other in objects
            if other.function == function.name
        }
        live = live_registers(function)
        for edge in function.all_edges():
            action = edge.action
            if not isinstance(action, EnterScope | LeaveScope) or slot.index not in action.slots:
                continue
            if not kept <= set(action.slots):
                return False
            if edge.target >= 0 and holding & live[edge.target]:
                return False
        return True

    def _reachable(self, start: int) -> frozenset[int]:
        """What an instance calls, directly or not."""
        known = self._reached.get(start)
        if known is None:
            found: set[int] = set()
            pending = [start]
            while pending:
                new = self._calls[pending.pop()] - found
                found |= new
                pending += new
            known = self._reached[start] = frozenset(found)
        return known

    # --- memory that is used again

    def _has_place_for_itself(self, item: AbstractObject) -> bool:
        slot = item.slot
        if item.kind is not ObjectKind.SLOT or slot is None:
            return False
        [owner] = self._points_to.instances_of[item.function]
        function = owner.function
        entering = [
            edge
            for edge in function.all_edges()
            if isinstance(edge.action, EnterScope) and slot.index in edge.action.slots
        ]
        if len(entering) != 1 or _repeats(function, entering[0].source, entering[0].target):
            return False
        return self._is_at_bottom(owner.index)

    def _is_at_bottom(self, index: int) -> bool:
        """Whether an instance is executed at most once in each thread, and below it on the stack
        there are only functions that have and call nothing else with locals in memory."""
        seen = {index}
        pending = [index]
        while pending:
            callee = pending.pop()
            for caller in self._callers[callee]:
                if caller in seen or not self._only_calls(caller, callee):
                    return False
                seen.add(caller)
                pending.append(caller)
        return True

    def _only_calls(self, caller: int, callee: int) -> bool:
        """Whether an instance calls another one once, and apart from that has no locals and calls
        none that has."""
        instances = self._points_to.instances
        function = instances[caller].function
        arcs = [
            arc
            for arc in self._points_to.arcs
            if arc.caller == caller and arc.callee == callee and not arc.is_spawn
        ]
        if len(arcs) != 1 or _repeats(function, arcs[0].edge.source, arcs[0].edge.target):
            return False
        others = self._calls[caller] - {callee}
        around = {caller, *others}.union(*(self._reachable(other) for other in others))
        return not any(_has_locals(instances[one].function) for one in around)


def with_lifetimes(sharing: Sharing, chosen: Specification) -> Specification:
    """For the exploration of states, of which there are fewer where memory of locals is used again:
    whether nobody can notice that. Memory safety relies on no analysis."""
    if Property.VALID_ACCESS not in chosen or Property.VALID_MEMSAFETY in chosen:
        return chosen
    wild = sharing.wild
    functions = sharing.points_to.program.functions.values()
    own = [function for function in functions if not function.library]
    if any(id(edge) in wild for function in own for edge in function.all_edges()):
        return chosen  # pointers that are made up from numbers may point anywhere
    return replace(chosen, reuses_locals=not Lifetimes(sharing).outliving)


def _is_on_stack(item: AbstractObject) -> bool:
    action = None if item.edge is None else item.edge.action
    return isinstance(action, Allocate) and action.storage == "stack"


def _has_locals(function: Function) -> bool:
    return bool(function.slots) or any(
        isinstance(edge.action, Allocate) and edge.action.storage == "stack"
        for edge in function.all_edges()
    )


def _repeats(function: Function, source: int, target: int) -> bool:
    cyclic = cyclic_nodes(
        [[edge.target for edge in row if edge.target >= 0] for row in function.edges]
    )
    return source in cyclic and target in cyclic
