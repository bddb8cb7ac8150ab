"""Which threads there can be, which objects they share, and which accesses others can notice.

Threads fall into classes: the initial thread, and for each spawn (in its context) one class per
function it may start. A class has several instances if its spawn may be executed more than once.

Before the first Spawn there is only one thread, so nothing that happens then can be noticed.
"After creation" below means: at a location that some path from a Spawn reaches; the code of the
threads that are spawned is all after creation. Soundness argument for `is_shared`:

- A static object that is not thread-local is local after creation if only one class with a single
  instance accesses it there, or if nobody writes it there (reads commute).
- An object of one thread (frame slot, thread-local, heap) can be accessed by another thread only
  if its address gets there: through the argument of a Spawn or through memory that both reach. By
  induction on the length of the execution that memory is a static object or an object that has
  itself escaped. So what no chain of pointers from static objects and Spawn arguments reaches is
  local; what has escaped is treated like a static object.
- An access whose address has no targets is visible, and an engine that finds its address in an
  object must give up: see `wild` and the provenance assumption in `points_to`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from plait.analysis.accesses import Access, accesses
from plait.analysis.graph import components, cyclic_nodes
from plait.analysis.objects import AbstractObject, ObjectKind, members
from plait.analysis.points_to import Arc, PointsTo
from plait.data import dataclass
from plait.model.actions import (
    AtomicBegin,
    AtomicEnd,
    EndProcess,
    EndThread,
    Spawn,
    Wait,
)
from plait.model.program import Edge, Program


@dataclass(slots=True, eq=False)
class ThreadClass:
    """Threads that start the same way. `spawn` is None for the initial thread; `instances` are
    the numbers of the function instances that such a thread may execute. `starts` are the user's
    functions that it enters first: those behind the library's own start-up code."""

    index: int
    function: str
    spawn: Edge | None
    context: Edge | None
    is_multiple: bool
    instances: frozenset[int]
    starts: tuple[str, ...]


class Sharing:
    """The solution for one program, computed when it is made."""

    def __init__(self, points_to: PointsTo) -> None:
        self.points_to = points_to
        count = len(points_to.instances)
        self._outgoing: list[list[Arc]] = [[] for _ in range(count)]
        for arc in points_to.arcs:
            self._outgoing[arc.caller].append(arc)
        self.accesses: list[list[Access]] = accesses(points_to)
        self.threads = self._find_threads() if count else []
        self._after = self._locations_after_creation() if len(self.threads) > 1 else [set()] * count
        self.escaped = self._find_escaped()
        self.shared = self._find_shared()
        self.visible = self._find_visible()

    # Queries

    def is_shared(self, item: AbstractObject) -> bool:
        """Whether several threads may access it after creation, at least one of them writing."""
        return bool(self.shared >> item.index & 1)

    def has_escaped(self, item: AbstractObject) -> bool:
        """Whether threads other than its creator may reach it."""
        return bool(self.escaped >> item.index & 1)

    def is_written_by_created_threads(self, item: AbstractObject) -> bool:
        """Whether a thread other than the initial one may write it."""
        created = {number for thread in self.threads[1:] for number in thread.instances}
        return any(
            access.is_wild or access.writes >> item.index & 1
            for number in created
            for access in self.accesses[number]
        )

    def is_visible(self, edge: Edge) -> bool:
        """Edges that were found unreachable count as visible, in case they are not."""
        return id(edge) in self.visible or id(edge) not in self._analysed

    @property
    def wild(self) -> frozenset[int]:
        """`id` of each edge that accesses memory at an address without targets in some context."""
        return frozenset(
            id(access.edge) for row in self.accesses for access in row if access.is_wild
        )

    # Threads

    def _find_threads(self) -> list[ThreadClass]:
        points_to = self.points_to
        repeated = self._repeated_arcs()
        starts: list[tuple[int, Arc | None]] = [(0, None)]
        starts += [(arc.callee, arc) for arc in points_to.arcs if arc.is_spawn]
        found: list[ThreadClass] = []
        for root, arc in starts:
            executed = {root}
            pending = [root]
            while pending:
                for call in self._outgoing[pending.pop()]:
                    if not call.is_spawn and call.callee not in executed:
                        executed.add(call.callee)
                        pending.append(call.callee)
            found.append(
                ThreadClass(
                    len(found),
                    points_to.instances[root].function.name,
                    None if arc is None else arc.edge,
                    None if arc is None else points_to.instances[arc.caller].context,
                    arc is not None and arc in repeated,
                    frozenset(executed),
                    self._user_functions(root),
                )
            )
        return found

    def _user_functions(self, root: int) -> tuple[str, ...]:
        instances = self.points_to.instances
        found: dict[str, None] = {}
        seen = {root}
        pending = [root]
        while pending:
            index = pending.pop()
            if not instances[index].function.library:
                found[instances[index].function.name] = None
                continue
            for arc in self._outgoing[index]:
                if not arc.is_spawn and arc.callee not in seen:
                    seen.add(arc.callee)
                    pending.append(arc.callee)
        return tuple(found)

    def _repeated_arcs(self) -> set[Arc]:
        """The calls and spawns that may be executed more than once in one execution."""
        points_to = self.points_to
        arcs = points_to.arcs
        looping: dict[str, set[int]] = {}
        graph: list[set[int]] = [set() for _ in points_to.instances]
        incoming = [0] * len(points_to.instances)
        incoming[0] = 1
        for arc in arcs:
            graph[arc.caller].add(arc.callee)
            incoming[arc.callee] += 1
        repeated: set[Arc] = set()
        for arc in arcs:
            function = points_to.instances[arc.caller].function
            cyclic = looping.get(function.name)
            if cyclic is None:
                cyclic = looping[function.name] = cyclic_nodes(
                    [[edge.target for edge in row if edge.target >= 0] for row in function.edges]
                )
            if arc.edge.source in cyclic and arc.edge.target in cyclic:
                repeated.add(arc)
        many = {index for index, number in enumerate(incoming) if number > 1}
        many.update(arc.callee for arc in repeated)
        for group in components([list(row) for row in graph])[0]:
            if len(group) > 1 or group[0] in graph[group[0]]:
                many.update(group)
        pending = list(many)
        while pending:
            for arc in self._outgoing[pending.pop()]:
                repeated.add(arc)
                if arc.callee not in many:
                    many.add(arc.callee)
                    pending.append(arc.callee)
        return repeated

    # Time

    def _locations_after_creation(self) -> list[set[int]]:
        instances = self.points_to.instances
        may_spawn = self._may_spawn()
        after: list[set[int]] = [set() for _ in instances]
        successors: list[list[list[int]]] = []
        by_function: dict[str, list[list[int]]] = {}
        for item in instances:
            rows = by_function.get(item.function.name)
            if rows is None:
                rows = [[] for _ in item.function.edges]
                for edge in item.template.edges:
                    if edge.target >= 0:
                        rows[edge.source].append(edge.target)
                by_function[item.function.name] = rows
            successors.append(rows)
        calls: list[dict[int, list[int]]] = [{} for _ in instances]
        pending: list[tuple[int, int]] = []
        for arc in self.points_to.arcs:
            if arc.is_spawn:
                pending.append((arc.callee, 0))
            else:
                calls[arc.caller].setdefault(arc.edge.source, []).append(arc.callee)
            if (arc.is_spawn or arc.callee in may_spawn) and arc.edge.target >= 0:
                pending.append((arc.caller, arc.edge.target))
        while pending:
            index, location = pending.pop()
            reached = after[index]
            if location in reached:
                continue
            reached.add(location)
            pending.extend(
                (index, target) for target in successors[index][location] if target not in reached
            )
            for callee in calls[index].get(location, ()):
                pending.append((callee, 0))
        return after

    def _may_spawn(self) -> set[int]:
        callers: list[list[int]] = [[] for _ in self.points_to.instances]
        found: set[int] = set()
        for arc in self.points_to.arcs:
            if arc.is_spawn:
                found.add(arc.caller)
            else:
                callers[arc.callee].append(arc.caller)
        pending = list(found)
        while pending:
            for caller in callers[pending.pop()]:
                if caller not in found:
                    found.add(caller)
                    pending.append(caller)
        return found

    def _access_after(self, instance: int) -> Sequence[Access]:
        after = self._after[instance]
        if not after:
            return ()
        return [item for item in self.accesses[instance] if item.edge.source in after]

    # Objects

    def _find_escaped(self) -> int:
        points_to = self.points_to
        memory = points_to.memory
        escaped = 0
        for item in points_to.objects:
            if item.kind is ObjectKind.STATIC or item.kind is ObjectKind.FUNCTION:
                escaped |= 1 << item.index
        for arc in points_to.arcs:
            if arc.is_spawn and isinstance(arc.edge.action, Spawn):
                caller = points_to.instances[arc.caller]
                passed = points_to.mask(caller, arc.edge.action.argument)
                escaped |= points_to.object_mask(passed)
        pending = members(escaped)
        while pending:
            inside = points_to.object_mask(memory.contents(pending.pop())) & ~escaped
            escaped |= inside
            pending += members(inside)
        return escaped

    def _find_shared(self) -> int:
        if len(self.threads) < 2:
            return 0
        per_instance: list[tuple[int, int]] = []
        for index in range(len(self.points_to.instances)):
            touched = written = 0
            for access in self._access_after(index):
                touched |= access.reads | access.writes
                written |= access.writes
            per_instance.append((touched, written))
        once = twice = written = 0
        for thread in self.threads:
            touched = 0
            for index in thread.instances:
                touched |= per_instance[index][0]
                written |= per_instance[index][1]
            twice |= touched if thread.is_multiple else once & touched
            once |= touched
        return twice & written & self.escaped

    def _find_visible(self) -> frozenset[int]:
        found: set[int] = set()
        analysed: set[int] = set()
        always = (AtomicBegin, AtomicEnd, Wait, Spawn, EndThread, EndProcess)
        for name in self.points_to.instances_of:
            template = self.points_to.instances_of[name][0].template
            for edge in template.edges:
                analysed.add(id(edge))
                if isinstance(edge.action, always):
                    found.add(id(edge))
        self._analysed = frozenset(analysed)
        for index in range(len(self.points_to.instances)):
            for access in self._access_after(index):
                touched = access.reads | access.writes
                if access.is_wild or touched & self.shared:
                    found.add(id(access.edge))
        return frozenset(found)


@lru_cache(maxsize=2)
def sharing_of(program: Program) -> Sharing:
    """The solution for a program, which nobody edits: several need it, some of them again and
    again. Deadlocks have a program of their own beside that of the other properties."""
    return Sharing(PointsTo(program))
