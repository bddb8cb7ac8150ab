"""What a thread may do on the branches that a run has not taken: the labels of phantom edges
(sections 5.1 and 5.2 of the Fusion paper).

From a branch to its merging point, the immediate post-dominator, a thread may write what the code
in between may write (WV), in any order, any number of times, any values. Where this code could
fail, or do what such writes do not cover (start a thread, free memory, use an address that is not
known to be one), the label says so: a search that comes there must not prune (`may_fail`, the
paper's assert_fail).
"""

from __future__ import annotations

from collections.abc import Iterable

from plait.analysis.accesses import Access
from plait.analysis.objects import AbstractObject, ObjectKind, members
from plait.analysis.points_to import Instance
from plait.data import dataclass
from plait.hunt.fusion.source import Source
from plait.model.actions import (
    Allocate,
    Assign,
    Call,
    Check,
    CheckKind,
    EndProcess,
    Free,
    Load,
    ObjectSize,
    ReadModifyWrite,
    Skip,
    Spawn,
    Store,
    Unsupported,
    Wait,
    target_of,
)
from plait.model.expressions import (
    Const,
    Expr,
    FrameAddress,
    FunctionAddress,
    PointerAdd,
    Register,
    StaticAddress,
)
from plait.model.program import Edge, Function

END = -1  # the merging point of branches that meet only where the function ends
_FAILURES = (CheckKind.ASSERTION, CheckKind.UNREACH_CALL)
_DEEPEST = 20  # calls and copies that are followed to find out what an address is


@dataclass(slots=True, frozen=True)
class Untaken:
    """`reads` and `writes` are sets of abstract objects, `registers` those of the frame that may
    be assigned; `taken_registers` those that may be assigned along the edge that was taken."""

    merge: int
    registers: frozenset[int]
    taken_registers: frozenset[int]
    reads: int
    writes: int
    may_fail: bool
    may_wait: bool


# A branch of which nothing is known but that it exists.
UNKNOWN = Untaken(END, frozenset(), frozenset(), 0, 0, may_fail=True, may_wait=True)


class UntakenBranches:
    def __init__(self, source: Source) -> None:
        self._program = source.program
        self._sharing = source.sharing
        self._points_to = source.sharing.points_to
        self._known: dict[int, Untaken] = {}
        self._merges: dict[str, list[int]] = {}
        self._accesses: list[dict[int, list[Access]]] = [
            _by_edge(row) for row in self._sharing.accesses
        ]
        self._callees: dict[tuple[int, int], list[tuple[int, bool]]] = {}
        for arc in self._points_to.arcs:
            key = (arc.caller, id(arc.edge))
            self._callees.setdefault(key, []).append((arc.callee, arc.is_spawn))
        self._callers: dict[int, list[tuple[int, Edge]]] = {}
        for arc in self._points_to.arcs:
            self._callers.setdefault(arc.callee, []).append((arc.caller, arc.edge))

    def object_at(self, item: AbstractObject | None, mask: int) -> bool:
        """Whether an object is in a set; one that nothing is known of is in any."""
        return mask != 0 if item is None else bool(mask >> item.index & 1)

    def beside(self, function: Function, taken: Edge) -> Untaken:
        """What the other edges of a branch lead to."""
        found = self._known.get(id(taken))
        if found is None:
            found = self._known[id(taken)] = self._find(function, taken)
        return found

    def fails_at_once(self, function: Function, location: int, depth: int = 0) -> str | None:
        """What fails if control comes there, whatever the others do."""
        seen: set[int] = set()
        while location >= 0 and location not in seen and depth < _DEEPEST:
            seen.add(location)
            leaving = function.edges[location]
            if len(leaving) != 1:
                return None
            edge = leaving[0]
            match edge.action:
                case Check(condition=Const(value=0), kind=kind) if kind in _FAILURES:
                    return edge.action.message
                case EndProcess(how="abort"):
                    return "abort is called"
                case Call(callee=str() as name) if name in self._program.functions:
                    return self.fails_at_once(self._program.functions[name], 0, depth + 1)
                case Skip() | Assign():
                    location = edge.target
                case _:
                    return None
        return None

    # --- the region

    def _find(self, function: Function, taken: Edge) -> Untaken:
        merge = self._merge(function, taken.source)
        others = [item for item in function.edges[taken.source] if item is not taken]
        edges = _region(function, [item.target for item in others], merge)
        effects = _Effects(self, edges)
        for instance in self._points_to.instances_of.get(function.name, ()):
            effects.add(instance, edges.values())
        if function.name not in self._points_to.instances_of:
            effects.may_fail = True
        return Untaken(
            merge,
            _assigned(edges),
            _assigned(_region(function, [taken.target], merge)),
            effects.reads,
            effects.writes,
            effects.may_fail,
            effects.may_wait,
        )

    def _merge(self, function: Function, location: int) -> int:
        found = self._merges.get(function.name)
        if found is None:
            found = self._merges[function.name] = merging_points(function)
        return found[location]

    # --- addresses

    def is_certain(self, instance: Instance, access: Access) -> bool:
        """Whether an access is valid: at a known place inside of an object that is always there,
        or that nobody else knows."""
        action = access.edge.action
        if not isinstance(action, (Load, Store, ReadModifyWrite)) or access.is_wild:
            return False
        if not self._is_address(instance, action.address, 0):
            return False
        memory = self._points_to.memory
        for location in members(access.locations):
            item = memory.objects[memory.location_object[location]]
            offset = memory.location_offset[location]
            if offset is None or item.size is None or not 0 <= offset <= item.size - access.size:
                return False
            if item.kind is ObjectKind.SLOT and self._sharing.has_escaped(item):
                return False
            if item.kind not in (ObjectKind.STATIC, ObjectKind.THREAD_LOCAL, ObjectKind.SLOT):
                return False
        return True

    def _is_address(self, instance: Instance, expr: Expr, depth: int) -> bool:
        """Whether an expression can be nothing but the address of an object, moved."""
        if depth > _DEEPEST:
            return False
        match expr:
            case StaticAddress() | FrameAddress() | FunctionAddress():
                return True
            case PointerAdd(offset=Const()):
                return self._is_address(instance, expr.base, depth + 1)
            case Register():
                function = instance.function
                given = [
                    edge
                    for edge in function.all_edges()
                    if (target := target_of(edge.action)) is not None and target.index == expr.index
                ]
                if expr.index < function.parameters and not given:
                    return self._is_passed(instance, expr.index, depth)
                if len(given) == 1 and isinstance(given[0].action, Assign):
                    return self._is_address(instance, given[0].action.value, depth + 1)
        return False

    def _is_passed(self, instance: Instance, parameter: int, depth: int) -> bool:
        calls = self._callers.get(instance.index, [])
        for caller, edge in calls:
            action = edge.action
            if not isinstance(action, Call) or parameter >= len(action.arguments):
                return False
            outer = self._points_to.instances[caller]
            if not self._is_address(outer, action.arguments[parameter], depth + 1):
                return False
        return bool(calls)

    def callees(self, instance: Instance, edge: Edge) -> list[tuple[int, bool]]:
        return self._callees.get((instance.index, id(edge)), [])

    def accesses(self, instance: Instance, edge: Edge) -> list[Access]:
        return self._accesses[instance.index].get(id(edge), [])

    def instance(self, number: int) -> Instance:
        return self._points_to.instances[number]


class _Effects:
    """Of edges and of the functions that they call."""

    def __init__(self, branches: UntakenBranches, edges: dict[int, Edge]) -> None:
        self._branches = branches
        self._seen: set[int] = set()
        self.reads = self.writes = 0
        self.may_fail = self.may_wait = False

    def add(self, instance: Instance, edges: Iterable[Edge]) -> None:
        pending: list[tuple[Instance, Edge]] = [(instance, edge) for edge in edges]
        while pending:
            owner, edge = pending.pop()
            self._add_edge(owner, edge)
            if not isinstance(edge.action, Call):
                continue
            callees = self._branches.callees(owner, edge)
            if not callees:
                self.may_fail = True
            for number, _ in callees:
                if number not in self._seen:
                    self._seen.add(number)
                    callee = self._branches.instance(number)
                    pending += [(callee, item) for item in callee.template.edges]

    def _add_edge(self, owner: Instance, edge: Edge) -> None:
        action = edge.action
        match action:
            case Spawn() | Free() | ObjectSize() | Unsupported() | Allocate():
                self.may_fail = True
            case Check():
                is_held = isinstance(action.condition, Const) and action.condition.value != 0
                self.may_fail |= not is_held
            case EndProcess():
                self.may_fail |= action.how == "abort"
            case Wait():
                self.may_wait = True
            case Call(callee=callee) if not isinstance(callee, (str, FunctionAddress)):
                self.may_fail = True
        for access in self._branches.accesses(owner, edge):
            self.reads |= access.reads
            self.writes |= access.writes
            if isinstance(action, (Load, Store, ReadModifyWrite)):
                self.may_fail |= not self._branches.is_certain(owner, access)
        is_access = isinstance(action, (Load, Store, ReadModifyWrite))
        if is_access and not self._branches.accesses(owner, edge):
            self.may_fail = True


def _region(function: Function, starts: list[int], merge: int) -> dict[int, Edge]:
    """The edges that can be taken from some locations on before control comes to another one."""
    edges: dict[int, Edge] = {}
    seen = {merge}
    pending = list(starts)
    while pending:
        location = pending.pop()
        if location < 0 or location in seen:
            continue
        seen.add(location)
        for edge in function.edges[location]:
            edges[id(edge)] = edge
            pending.append(edge.target)
    return edges


def _assigned(edges: dict[int, Edge]) -> frozenset[int]:
    targets = (target_of(edge.action) for edge in edges.values())
    return frozenset(target.index for target in targets if target is not None)


def _by_edge(row: list[Access]) -> dict[int, list[Access]]:
    found: dict[int, list[Access]] = {}
    for access in row:
        found.setdefault(id(access.edge), []).append(access)
    return found


def merging_points(function: Function) -> list[int]:
    """The immediate post-dominator of each location; END if control leaves the function first."""
    count = len(function.edges)
    everything = (1 << count + 1) - 1
    end = 1 << count
    behind = [everything] * count
    is_changing = True
    while is_changing:
        is_changing = False
        for location in range(count - 1, -1, -1):
            met = everything
            for edge in function.edges[location]:
                met &= end if edge.target < 0 else behind[edge.target]
            if not function.edges[location]:
                met = end
            new = met | 1 << location
            if new != behind[location]:
                behind[location], is_changing = new, True
    found = []
    for location in range(count):
        others = behind[location] & ~(1 << location)
        wanted = others.bit_count()
        merge = END
        for other in members(others & ~end):
            if behind[other].bit_count() == wanted and behind[other] | others == others:
                merge = other
        found.append(END if behind[location] == everything else merge)
    return found
