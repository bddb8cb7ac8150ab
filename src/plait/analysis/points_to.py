"""Inclusion-based (Andersen) points-to analysis of a whole program, with its call graph.

Flow-insensitive and untyped: any register or byte of memory may carry a pointer. Functions are
analysed when the call graph, which grows with the solution, first reaches them. The library's
functions are analysed once per call from the user's code (`context`), so that two calls of malloc
give two objects and two calls of pthread_create two kinds of threads.

Soundness: in every execution, the object of an address that an access uses is among the targets
of its address expression, provided that pointers keep their provenance: their bytes are moved by
loads, stores and expressions, whole or piecewise, but arithmetic does not take them out of their
object into another one, and no pointer is made up from numbers (an integer constant or an input
points nowhere) or put together from parts of two. An address without targets is therefore one
whose provenance is lost: clients must treat it as reaching everything.
"""

from __future__ import annotations

from collections import deque

from plait.analysis.constraints import CallSite, Template, Term, build_template, terms_of
from plait.analysis.distances import ANYWHERE, STAYS, Distance
from plait.analysis.memory import Flow, Memory
from plait.analysis.objects import AbstractObject, Location, ObjectKind, members
from plait.data import dataclass
from plait.model.actions import Allocate, Load, ReadModifyWrite, Spawn, Store
from plait.model.expressions import Expr, FrameAddress, StaticAddress
from plait.model.program import Edge, FrameSlot, Function, Program, StaticObject

# Library code is analysed per call site until the copies have this many edges in total.
_COPIED_EDGES = 30_000
# Contents of objects are no longer kept apart if one pointer may point to more places than this.
_PLACES_APART = 96


@dataclass(slots=True, eq=False)
class Instance:
    """A function in a context; its nodes start at `base`."""

    index: int
    template: Template
    context: Edge | None
    base: int

    @property
    def function(self) -> Function:
        return self.template.function


@dataclass(slots=True, eq=False)
class Arc:
    """A call or spawn from one instance to another."""

    caller: int
    edge: Edge
    callee: int
    is_spawn: bool


class PointsTo:
    """The solution for one program, computed when it is made."""

    def __init__(
        self,
        program: Program,
        *,
        copied_edges: int = _COPIED_EDGES,
        places_apart: int = _PLACES_APART,
    ) -> None:
        self.program = program
        self._flow = Flow()
        self.memory = Memory(self._flow, program.data_model)
        self.instances: list[Instance] = []
        self.arcs: list[Arc] = []
        self.instances_of: dict[str, list[Instance]] = {}
        self._templates: dict[str, Template] = {}
        self._index: dict[tuple[str, Edge | None], int] = {}
        self._fresh: deque[Instance] = deque()
        self._linked: set[tuple[int, int, int]] = set()
        self._budget = copied_edges
        self._places_apart = places_apart
        self._worth_copying: dict[str, bool] = {}
        self._copied: dict[Edge, bool] = {}
        # Constraints that wait for a node's targets.
        self._loads: dict[int, list[tuple[int, int]]] = {}
        self._stores: dict[int, list[tuple[int, int]]] = {}
        self._moves: dict[int, list[tuple[int, Distance]]] = {}
        self._calls: dict[int, list[tuple[Instance, CallSite]]] = {}
        self._mask_cache: dict[int, int] = {}
        if program.entry in program.functions:
            self._instance(program.entry, None)
            self._solve()

    # Queries

    @property
    def objects(self) -> list[AbstractObject]:
        return self.memory.objects

    @property
    def reachable_functions(self) -> list[str]:
        """The functions that the entry can reach through calls and spawns."""
        return list(self.instances_of)

    def locations(self, function: str, expr: Expr) -> frozenset[Location]:
        """Where the expression's value may point, in any context of the function."""
        mask = 0
        for instance in self.instances_of.get(function, ()):
            mask |= self.mask(instance, expr)
        memory = self.memory
        return frozenset(
            (memory.objects[memory.location_object[item]], memory.location_offset[item])
            for item in members(mask)
        )

    def targets(self, function: str, expr: Expr) -> frozenset[AbstractObject]:
        """The objects the expression's value may point into; empty: none, or unknown origin."""
        return frozenset(item for item, _ in self.locations(function, expr))

    def callees(self, function: str, edge: Edge) -> frozenset[str]:
        """The functions that a Call or Spawn edge may start."""
        callers = {item.index for item in self.instances_of.get(function, ())}
        return frozenset(
            self.instances[arc.callee].function.name
            for arc in self.arcs
            if arc.edge is edge and arc.caller in callers
        )

    def mask(self, instance: Instance, expr: Expr) -> int:
        """The targets of an expression in one context, as a bit set of location numbers."""
        return self.mask_of(instance, terms_of(expr, self.memory.pointer_bits))

    def address_mask(self, instance: Instance, edge: Edge) -> int:
        """The targets of the address that a reachable edge uses, in one context."""
        return self.mask_of(instance, instance.template.addresses[id(edge)])

    def mask_of(self, instance: Instance, terms: list[Term]) -> int:
        result = 0
        for leaf, delta in terms:
            if type(leaf) is int:
                found = self._flow.targets[instance.base + leaf]
                result |= found if delta == STAYS else self.memory.moved(found, delta)
            else:
                result |= 1 << self._address(instance, (leaf, delta))
        return result

    def held(self, instance: Instance) -> int:
        """All that a function in one context may have in its registers, as a set of locations."""
        found = 0
        for node in range(instance.base, instance.base + instance.template.nodes):
            found |= self._flow.targets[node]
        return found

    def held_in(self, instance: Instance, register: int) -> int:
        return self._flow.targets[instance.base + register]

    def object_mask(self, locations: int) -> int:
        """The objects of a set of locations, both as bit sets."""
        known = self._mask_cache.get(locations)
        if known is None:
            known = 0
            owners = self.memory.location_object
            rest = locations
            while rest:
                low = rest & -rest
                rest ^= low
                known |= 1 << owners[low.bit_length() - 1]
            self._mask_cache[locations] = known
        return known

    def object_of(
        self, item: StaticObject | FrameSlot | Edge | str, context: Edge | None = None
    ) -> AbstractObject | None:
        """The abstract object of a declaration, an allocating edge or a function; None if nothing
        refers to it. `context` is the innermost call in the user's code that led into the library
        code which owns the item, None for items of the user's own code."""
        inside = context is not None and self._copied.get(context, False)
        index = self.memory.find(item, context if inside else None)
        return None if index is None else self.memory.objects[index]

    # Building and solving

    def _solve(self) -> None:
        flow, memory = self._flow, self.memory
        pending, delta, targets = flow.pending, flow.delta, flow.targets
        successors = flow.successors
        loads, stores, moves, calls = self._loads, self._stores, self._moves, self._calls
        while True:
            while self._fresh:
                self._instantiate(self._fresh.popleft())
            while memory.widened:
                source, target = memory.widened.pop()
                moves.setdefault(source, []).append((target, ANYWHERE))
                flow.add(target, memory.moved(targets[source], ANYWHERE))
            if not pending:
                return
            while pending:
                node = pending.popleft()
                new = delta[node]
                delta[node] = 0
                following = successors[node]
                if following is not None:
                    for item in following:
                        fresh = new & ~targets[item]
                        if fresh:
                            targets[item] |= fresh
                            if not delta[item]:
                                pending.append(item)
                            delta[item] |= fresh
                if node in moves:
                    for target, distance in moves[node]:
                        flow.add(target, memory.moved(new, distance))
                if node in loads or node in stores:
                    places = targets[node] & ~memory.mixed_locations
                    if places.bit_count() > self._places_apart:
                        memory.mix(places)
                    for target, size in loads.get(node, ()):
                        self._load(new, target, size)
                    for source, size in stores.get(node, ()):
                        self._store(new, source, size)
                if node in calls:
                    for caller, site in list(calls[node]):
                        self._call(new, caller, site)

    def _load(self, locations: int, target: int, size: int) -> None:
        memory = self.memory
        if locations & memory.mixed_locations:
            self._flow.connect_once(memory.mixed_contents, target)
            locations &= ~memory.mixed_locations
        for item in members(locations):
            if memory.is_outside(item, size):
                continue
            cell = memory.read(item, size)
            self._flow.connect(cell, target)

    def _store(self, locations: int, source: int, size: int) -> None:
        memory = self.memory
        if locations & memory.mixed_locations:
            if source >= 0:
                self._flow.connect_once(source, memory.mixed_contents)
            locations &= ~memory.mixed_locations
        for item in members(locations):
            if memory.is_outside(item, size):
                continue
            cell = memory.written(item, size)
            if source >= 0:
                self._flow.connect(source, cell)

    def _call(self, locations: int, caller: Instance, site: CallSite) -> None:
        memory = self.memory
        for item in members(locations):
            found = memory.objects[memory.location_object[item]]
            if found.kind is ObjectKind.FUNCTION:
                self._link(caller, site, found.function)

    def _address(self, instance: Instance, term: Term) -> int:
        """The location of a term that is not a register."""
        leaf, distance = term
        memory = self.memory
        if isinstance(leaf, StaticObject):
            return memory.location(memory.static(leaf), distance)
        if isinstance(leaf, FrameSlot):
            name = instance.function.name
            return memory.location(memory.slot(leaf, name, instance.context), distance)
        assert isinstance(leaf, str)
        return memory.location(memory.function(leaf), distance)

    def _instance(self, name: str, context: Edge | None) -> Instance:
        known = self._index.get((name, context))
        if known is not None:
            return self.instances[known]
        template = self._templates.get(name)
        if template is None:
            function = self.program.functions[name]
            template = build_template(function, self.memory.pointer_bits)
            self._templates[name] = template
        if context is not None:
            self._budget -= len(template.edges)
        base = self._flow.new_nodes(template.nodes)
        made = Instance(len(self.instances), template, context, base)
        self._index[name, context] = made.index
        self.instances.append(made)
        self.instances_of.setdefault(name, []).append(made)
        self._fresh.append(made)
        return made

    def _instantiate(self, instance: Instance) -> None:
        flow, memory, template, base = self._flow, self.memory, instance.template, instance.base
        name, context = instance.function.name, instance.context
        for target, source in template.copies:
            flow.connect(base + source, base + target)
        for source_node, leaf, delta in template.targets:
            flow.add(base + source_node, 1 << self._address(instance, (leaf, delta)))
        for target, source, distance in template.moves:
            self._moves.setdefault(base + source, []).append((base + target, distance))
            flow.add(base + target, memory.moved(flow.targets[base + source], distance))
        for target, edge, size in template.allocations:
            made = memory.heap(edge, name, context, size)
            flow.add(base + target, 1 << memory.location(made, STAYS))
        for target, place, size in template.loads:
            if type(place[0]) is int:
                node = base + place[0]
                self._loads.setdefault(node, []).append((base + target, size))
                self._load(flow.targets[node], base + target, size)
            else:
                self._load(1 << self._address(instance, place), base + target, size)
        for place, value, size in template.stores:
            stored = -1 if value is None else base + value
            if type(place[0]) is int:
                node = base + place[0]
                self._stores.setdefault(node, []).append((stored, size))
                self._store(flow.targets[node], stored, size)
            else:
                self._store(1 << self._address(instance, place), stored, size)
        for site in template.calls:
            if isinstance(site.callee, str):
                self._link(instance, site, site.callee)
                continue
            for leaf, _ in site.callee:
                if isinstance(leaf, str):
                    self._link(instance, site, leaf)
                elif type(leaf) is int:
                    self._calls.setdefault(base + leaf, []).append((instance, site))
                    self._call(flow.targets[base + leaf], instance, site)

    def _link(self, caller: Instance, site: CallSite, name: str) -> None:
        function = self.program.functions.get(name)
        if function is None:
            return
        context: Edge | None = None
        if function.library:
            if caller.function.library:
                context = caller.context
            else:
                context = self._context(site, name)
        callee = self._instance(name, context)
        key = (caller.index, id(site.edge), callee.index)
        if key in self._linked:
            return
        self._linked.add(key)
        self.arcs.append(Arc(caller.index, site.edge, callee.index, site.is_spawn))
        flow = self._flow
        for position, argument in enumerate(site.arguments[: function.parameters]):
            if argument is not None:
                flow.connect(caller.base + argument, callee.base + position)
        if site.result is not None:
            flow.connect(callee.base + len(function.registers), caller.base + site.result)

    def _context(self, site: CallSite, name: str) -> Edge | None:
        """The context that a call from the user's code opens; one answer for each edge."""
        known = self._copied.get(site.edge)
        if known is None:
            is_direct = isinstance(site.callee, str)
            known = self._budget > 0 and (not is_direct or self._is_worth_copying(name))
            self._copied[site.edge] = known
        return site.edge if known else None

    def _is_worth_copying(self, name: str) -> bool:
        """Whether a library function, or one that it calls, allocates, starts threads, or accesses
        memory that is not its own: only then do its contexts differ."""
        known = self._worth_copying.get(name)
        if known is not None:
            return known
        seen = {name}
        pending = [name]
        while pending:
            function = self.program.functions.get(pending.pop())
            if function is None or not function.library:
                continue
            for edge in function.all_edges():
                action = edge.action
                if isinstance(action, Allocate | Spawn) or (
                    isinstance(action, Load | Store | ReadModifyWrite)
                    and not isinstance(action.address, StaticAddress | FrameAddress)
                ):
                    self._worth_copying[name] = True
                    return True
                callee = getattr(action, "callee", None)
                if isinstance(callee, str) and callee not in seen:
                    seen.add(callee)
                    pending.append(callee)
        self._worth_copying[name] = False
        return False
