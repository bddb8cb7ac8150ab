"""Which accesses of an execution are out of order: a cycle that no interleaving of threads has.

In an execution under sequential consistency program order, reads-from, modification order and reads
before (Alglave, Maranget, Tautschnig, "Herding cats", TOPLAS 2014: po, rf, co, fr) have no cycle
together. A shortest one in a weaker execution says which pairs of accesses of one thread others
see in another order.
"""

from __future__ import annotations

from plait.data import dataclass, field
from plait.model.actions import Origin
from plait.model.program import Program
from plait.model.properties import Specification
from plait.semantics.graph_memory import GraphMemory
from plait.semantics.machine import Machine
from plait.semantics.outcome import AccessKind, Ending
from plait.semantics.schedule import Schedule
from plait.semantics.store_buffers import StoreBuffers

Place = tuple[int, int]  # an object and an offset


@dataclass(slots=True, eq=False)
class _Node:
    thread: int
    place: Place
    is_write: bool
    origin: Origin
    source: _Node | None = None  # of a read: the write; None for the initial value


@dataclass(slots=True, eq=False)
class _Execution:
    nodes: list[_Node] = field(default_factory=list)  # each thread's in program order
    visible: dict[Place, list[_Node]] = field(default_factory=dict)  # writes, in modification order


def reordered_pairs(
    program: Program, specification: Specification, schedule: Schedule
) -> list[tuple[int, Origin, Origin]]:
    """Threads with two accesses each, in program order, which others see in another order. Empty
    if the execution is one under sequential consistency."""
    machine = Machine(program, specification)
    machine.start()
    execution = _Execution()
    if isinstance(machine.weak, StoreBuffers):
        _follow_buffers(machine, machine.weak, schedule, execution)
    else:
        assert isinstance(machine.weak, GraphMemory)
        _follow(machine, schedule)
        _of_graph(machine.weak, execution)
    cycle = _shortest_cycle(execution)
    return [
        (one.thread, one.origin, other.origin)
        for one, other in zip(cycle, [*cycle[1:], *cycle[:1]])
        if one.thread == other.thread and one.place != other.place
    ]


def _follow(machine: Machine, schedule: Schedule) -> None:
    for item in schedule:
        inputs = item.inputs
        for _ in range(item.count):
            if machine.step(item.thread, inputs).ending is not Ending.MOVED:
                return
            inputs = inputs[machine.used_choices() :]


def _of_graph(weak: GraphMemory, execution: _Execution) -> None:
    nodes: dict[tuple[int, int], _Node] = {}
    accesses = weak.all_accesses()
    for ref, event in accesses:
        assert event.location is not None
        place = event.location.page, event.location.offset
        nodes[ref] = _Node(ref[0], place, event.is_write, event.site.origin)
    for ref, event in accesses:
        if event.source is not None:
            nodes[ref].source = nodes.get(event.source)
    execution.nodes = list(nodes.values())
    for refs in weak.orders_of_modification():
        if refs:
            execution.visible[nodes[refs[0]].place] = [nodes[ref] for ref in refs]


def _follow_buffers(
    machine: Machine, weak: StoreBuffers, schedule: Schedule, execution: _Execution
) -> None:
    waiting: list[tuple[object, _Node]] = []  # the stores in buffers

    def settle(thread: int) -> None:
        left = weak.waiting(thread)
        for item in list(waiting):
            if item[1].thread == thread and not any(item[0] is entry for entry in left):
                execution.visible.setdefault(item[1].place, []).append(item[1])
                waiting.remove(item)

    for scheduled in schedule:
        inputs = scheduled.inputs
        thread = abs(scheduled.thread)
        for _ in range(scheduled.count):
            machine.accesses = []
            before = weak.waiting(thread)
            outcome = machine.step(scheduled.thread, inputs)
            inputs = inputs[machine.used_choices() :]
            if not any(entry in before for entry in weak.waiting(thread)):
                settle(thread)  # what the step waited for comes before what it does
            new = [one for one in weak.waiting(thread) if not any(one is old for old in before)]
            for access in machine.accesses:
                place = access.address >> machine.page_bits, access.address & machine.page_mask
                if access.kind is AccessKind.READ:
                    own = [node for _, node in waiting if node.thread == thread]
                    own = [node for node in own if node.place == place]
                    written = own or execution.visible.get(place, [])
                    source = written[-1] if written else None
                    execution.nodes.append(_Node(thread, place, False, access.origin, source))
                elif access.kind is AccessKind.WRITE:
                    node = _Node(thread, place, True, access.origin)
                    execution.nodes.append(node)
                    entry = next((one for one in new if (one.page, one.offset) == place), None)
                    if entry is None:
                        execution.visible.setdefault(place, []).append(node)
                    else:
                        waiting.append((entry, node))
            settle(thread)
            if outcome.ending is not Ending.MOVED:
                break
    for _, node in waiting:
        execution.visible.setdefault(node.place, []).append(node)


def _shortest_cycle(execution: _Execution) -> list[_Node]:
    after: dict[int, list[_Node]] = {id(node): [] for node in execution.nodes}
    for place, node in enumerate(execution.nodes):
        after[id(node)] += [
            later for later in execution.nodes[place + 1 :] if later.thread == node.thread
        ]
    for writes in execution.visible.values():
        for one, other in zip(writes, writes[1:]):
            after[id(one)].append(other)
    for node in execution.nodes:
        if node.is_write:
            continue
        writes = execution.visible.get(node.place, [])
        if node.source is not None:
            after[id(node.source)].append(node)
            following = writes[writes.index(node.source) + 1 :]
        else:
            following = writes
        after[id(node)] += following[:1]
    best: list[_Node] = []
    for start in execution.nodes:
        cycle = _cycle_from(start, after)
        if cycle and (not best or len(cycle) < len(best)):
            best = cycle
    return best


def _cycle_from(start: _Node, after: dict[int, list[_Node]]) -> list[_Node]:
    parents: dict[int, _Node] = {}
    fringe = [start]
    while fringe:
        following = []
        for node in fringe:
            for later in after[id(node)]:
                if later is start:
                    path = [node]
                    while path[-1] is not start:
                        path.append(parents[id(path[-1])])
                    return path[::-1]
                if id(later) not in parents:
                    parents[id(later)] = node
                    following.append(later)
        fringe = following
    return []
