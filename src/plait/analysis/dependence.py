"""Dependence between actions, for partial-order reduction and for slicing.

Two actions of different threads are independent if, wherever both can be taken, neither disables
the other and both orders lead to the same state. The effects of an edge are bit sets of abstract
objects, plus two that are not memory: the counter that numbers new threads, and life itself, which
every action reads and EndProcess ends. An access to an address without targets is invalid
whatever other threads do (see `points_to`); taken alone it still counts as conflicting with all.
"""

from __future__ import annotations

from plait.analysis.accesses import Access
from plait.analysis.graph import components
from plait.analysis.objects import members
from plait.analysis.points_to import Instance
from plait.analysis.sections import closes_its_sections, section_edges
from plait.analysis.sharing import Sharing, ThreadClass
from plait.data import dataclass
from plait.model.actions import (
    Call,
    EndProcess,
    Load,
    MemoryAction,
    ReadModifyWrite,
    Return,
    Spawn,
    Store,
)
from plait.model.expressions import Expr
from plait.model.program import Edge


@dataclass(slots=True, frozen=True)
class Footprint:
    """What may be read and written: bit sets of object numbers; -1 is everything."""

    reads: int = 0
    writes: int = 0
    spawns: bool = False
    ends_process: bool = False

    def __or__(self, other: Footprint) -> Footprint:
        return Footprint(
            self.reads | other.reads,
            self.writes | other.writes,
            self.spawns or other.spawns,
            self.ends_process or other.ends_process,
        )

    def conflicts(self, other: Footprint) -> bool:
        return bool(
            self.writes & (other.reads | other.writes)
            or self.reads & other.writes
            or (self.spawns and other.spawns)
            or self.ends_process
            or other.ends_process
        )


NOTHING = Footprint()
ANYTHING = Footprint(-1, -1, spawns=True, ends_process=True)


@dataclass(slots=True, frozen=True)
class SymbolicAccess:
    """One access of an edge: to `size` bytes at `address` as the action computes it, which lie in
    one of `places`: (object number, offset or None for anywhere in it)."""

    address: Expr
    size: int
    places: tuple[tuple[int, int | None], ...]
    is_write: bool
    is_read: bool
    is_atomic: bool


class Dependence:
    """Effects of edges, functions and threads. Escaping is taken into account: objects that only
    their own thread can reach never conflict between threads."""

    def __init__(self, sharing: Sharing) -> None:
        self.sharing = sharing
        self.points_to = sharing.points_to
        self._wild = sharing.wild
        self._edges: dict[int, Footprint] = {}
        self._places: dict[int, tuple[int, int]] = {}
        reachable = sharing.escaped
        for row in sharing.accesses:
            for access in row:
                key = id(access.edge)
                mine = _of_access(access, reachable)
                known = self._edges.get(key)
                self._edges[key] = mine if known is None else known | mine
                if access.size:
                    self._merge_places(key, access)
        for name in self.points_to.instances_of:
            for edge in self.points_to.instances_of[name][0].template.edges:
                if isinstance(edge.action, Spawn):
                    self._edges[id(edge)] = Footprint(spawns=True)
                elif isinstance(edge.action, EndProcess):
                    self._edges[id(edge)] = Footprint(ends_process=True)
        self._instances = self._instance_footprints()
        self._future: dict[int, list[Footprint]] = {}

    def footprint(self, edge: Edge) -> Footprint:
        """What the action of an edge may touch that other threads can reach.

        For a Call that is nothing: the callee's edges have their own footprints.
        """
        return self._edges.get(id(edge), NOTHING)

    def may_conflict(self, first: Edge, second: Edge) -> bool:
        """Whether two edges taken by different threads may depend on each other.

        For AtomicBegin this is about the mark alone; use `section` for what the section does.
        """
        if id(first) in self._wild or id(second) in self._wild:
            return True
        mine, other = self.footprint(first), self.footprint(second)
        if not mine.conflicts(other):
            return False
        here, there = self._places.get(id(first)), self._places.get(id(second))
        if here is None or there is None:
            return True
        return self._overlap(here, there)

    def symbolic_access(self, edge: Edge) -> SymbolicAccess | None:
        """The access of a memory action, with its address as an expression."""
        action = edge.action
        if not isinstance(action, MemoryAction):
            return None
        locations, size = self._places.get(id(edge), (0, 0))
        memory = self.points_to.memory
        places = tuple(
            (memory.location_object[item], memory.location_offset[item])
            for item in members(locations)
        )
        return SymbolicAccess(
            action.address,
            size,
            places,
            isinstance(action, Store | ReadModifyWrite),
            isinstance(action, Load | ReadModifyWrite),
            action.order.is_atomic,
        )

    def of_function(self, name: str) -> Footprint:
        """What a call of the function may touch, with all that it calls, in any context."""
        result = NOTHING
        for instance in self.points_to.instances_of.get(name, ()):
            result = result | self._instances[instance.index]
        return result

    def of_thread(self, thread: ThreadClass) -> Footprint:
        """What threads of a class may touch after the first creation of a thread."""
        result = NOTHING
        for index in thread.instances:
            for access in self.sharing.accesses[index]:
                if self.sharing.is_after_creation(index, access.edge.source):
                    result = result | _of_access(access, self.sharing.escaped)
            for edge in self.points_to.instances[index].template.edges:
                if isinstance(edge.action, Spawn | EndProcess):
                    result = result | self._edges[id(edge)]
        return result

    def future(self, instance: Instance, location: int) -> Footprint:
        """What a frame of an instance may still touch from a location on, with all that it calls
        (but not what its callers do after it returns)."""
        known = self._future.get(instance.index)
        if known is None:
            known = self._future[instance.index] = self._futures(instance)
        return known[location]

    def section(self, instance: Instance, begin: Edge) -> Footprint:
        """What the atomic section that an AtomicBegin opens may touch; ANYTHING if it does not end
        in the same frame on all paths."""
        result = NOTHING
        calls = self._calls(instance)
        for edge in section_edges(instance.template.edges, begin):
            if isinstance(edge.action, Return):
                return ANYTHING
            result = result | self._edges.get(id(edge), NOTHING)
            for callee in calls.get(id(edge), ()):
                if not self._is_balanced(callee):
                    return ANYTHING
                result = result | self._instances[callee]
        return result

    def _is_balanced(self, index: int) -> bool:
        """Whether an instance and all that it calls close the atomic sections they open, and no
        others."""
        seen = {index}
        pending = [index]
        while pending:
            item = pending.pop()
            if not closes_its_sections(self.points_to.instances[item].function):
                return False
            for arc in self.points_to.arcs:
                if arc.caller == item and not arc.is_spawn and arc.callee not in seen:
                    seen.add(arc.callee)
                    pending.append(arc.callee)
        return True

    def _merge_places(self, key: int, access: Access) -> None:
        known = self._places.get(key, (0, 0))
        self._places[key] = (known[0] | access.locations, access.size)

    def _overlap(self, here: tuple[int, int], there: tuple[int, int]) -> bool:
        memory = self.points_to.memory
        owners, offsets = memory.location_object, memory.location_offset
        others: dict[int, list[int | None]] = {}
        for item in members(there[0]):
            others.setdefault(owners[item], []).append(offsets[item])
        for item in members(here[0]):
            if not self.sharing.escaped >> owners[item] & 1:
                continue
            mine = offsets[item]
            for other in others.get(owners[item], ()):
                if mine is None or other is None:
                    return True
                if mine < other + there[1] and other < mine + here[1]:
                    return True
        return False

    def _calls(self, instance: Instance) -> dict[int, list[int]]:
        calls: dict[int, list[int]] = {}
        for arc in self.points_to.arcs:
            if arc.caller == instance.index and not arc.is_spawn:
                calls.setdefault(id(arc.edge), []).append(arc.callee)
        return calls

    def _instance_footprints(self) -> list[Footprint]:
        points_to = self.points_to
        own: list[Footprint] = []
        graph: list[list[int]] = [[] for _ in points_to.instances]
        for arc in points_to.arcs:
            if not arc.is_spawn:
                graph[arc.caller].append(arc.callee)
        for instance in points_to.instances:
            reads = writes = 0
            for access in self.sharing.accesses[instance.index]:
                reads |= access.reads
                writes |= access.writes
            actions = [edge.action for edge in instance.template.edges]
            own.append(
                Footprint(
                    reads & self.sharing.escaped,
                    writes & self.sharing.escaped,
                    any(isinstance(action, Spawn) for action in actions),
                    any(isinstance(action, EndProcess) for action in actions),
                )
            )
        groups, _ = components(graph)
        for group in groups:
            total = NOTHING
            for index in group:
                total = total | own[index]
                for callee in graph[index]:
                    total = total | own[callee]
            for index in group:
                own[index] = total
        return own

    def _futures(self, instance: Instance) -> list[Footprint]:
        count = len(instance.function.edges)
        rows: list[list[int]] = [[] for _ in range(count)]
        own = [NOTHING] * count
        calls = self._calls(instance)
        for edge in instance.template.edges:
            effect = self._edges.get(id(edge), NOTHING)
            if isinstance(edge.action, Call):
                for callee in calls.get(id(edge), ()):
                    effect = effect | self._instances[callee]
            if effect is not NOTHING:
                own[edge.source] = own[edge.source] | effect
            if edge.target >= 0:
                rows[edge.source].append(edge.target)
        for group in components(rows)[0]:
            total = NOTHING
            for location in group:
                total = total | own[location]
                for target in rows[location]:
                    total = total | own[target]
            for location in group:
                own[location] = total
        return own


def _of_access(access: Access, reachable: int) -> Footprint:
    return Footprint(access.reads & reachable, access.writes & reachable)
