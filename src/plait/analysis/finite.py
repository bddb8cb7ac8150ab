"""Which variables only ever get a few values, so that an engine may well look at each of them.

A register or a place in memory `is_finite` if its values come from constants, thread numbers,
addresses and comparisons, through copies and choices, and through arithmetic only where no result
comes back as an operand (`turn = 1 - id` yes, `i = i + 1` no), or only in loops of which the number
of rounds is known to be small. Inputs are not finite. This is a heuristic: it decides what is worth
telling apart, and nothing is wrong if it errs.
"""

from __future__ import annotations

from plait.analysis.graph import components
from plait.analysis.loops import find_loops
from plait.analysis.objects import members
from plait.analysis.points_to import PointsTo
from plait.model.actions import (
    Allocate,
    Assign,
    Call,
    Input,
    Load,
    ObjectSize,
    ReadModifyWrite,
    Return,
    Spawn,
    Store,
)
from plait.model.expressions import COMPARISONS, Binary, Expr, Register, Unary, children
from plait.model.program import Edge, FrameSlot, Function, StaticObject

_Node = tuple[object, ...]
_INPUT: _Node = ("input",)
_FEW_ROUNDS = 32


class FiniteValues:
    def __init__(self, points_to: PointsTo) -> None:
        self._points_to = points_to
        self._number: dict[_Node, int] = {_INPUT: 0}
        self._sources: list[set[int]] = [set()]  # what each value is made from
        self._computed: list[set[int]] = [set()]  # the same, by arithmetic
        self._whole: set[int] = set()  # objects that are accessed at offsets that are not known
        self._accesses: dict[int, tuple[int, ...]] = {}
        self._find_whole()
        for name in points_to.reachable_functions:
            template = points_to.instances_of[name][0].template
            function = template.function
            self._is_short = self._locations_of_short_loops(function)
            for edge in template.edges:
                self._flow(function, edge)
        self._infinite = self._solve()

    def is_finite_register(self, function: str, index: int) -> bool:
        number = self._number.get(("register", function, index))
        return number is None or number not in self._infinite

    def is_finite_place(self, maker: StaticObject | FrameSlot | Edge, offset: int) -> bool:
        """Whether a place in a static object, a local or what an edge allocates is finite."""
        for item in self._points_to.objects:
            if maker in (item.static, item.slot, item.edge):
                if self._number.get(self._place(item.index, offset), -1) in self._infinite:
                    return False
        return True

    # --- who gets values from whom

    def _node(self, node: _Node) -> int:
        found = self._number.get(node)
        if found is None:
            found = self._number[node] = len(self._sources)
            self._sources.append(set())
            self._computed.append(set())
        return found

    def _register(self, function: Function, register: Register) -> int:
        return self._node(("register", function.name, register.index))

    def _place(self, item: int, offset: int | None) -> _Node:
        return ("place", item, None if item in self._whole else offset)

    def _locations(self, function: Function, edge: Edge) -> int:
        mask = 0
        for instance in self._points_to.instances_of[function.name]:
            mask |= self._points_to.address_mask(instance, edge)
        return mask

    def _find_whole(self) -> None:
        memory = self._points_to.memory
        for name in self._points_to.reachable_functions:
            template = self._points_to.instances_of[name][0].template
            function = template.function
            for edge in template.edges:
                if isinstance(edge.action, Load | Store | ReadModifyWrite):
                    for item in members(self._locations(function, edge)):
                        if memory.location_offset[item] is None:
                            self._whole.add(memory.location_object[item])

    def _places(self, function: Function, edge: Edge) -> list[int]:
        memory = self._points_to.memory
        return [
            self._node(self._place(memory.location_object[item], memory.location_offset[item]))
            for item in members(self._locations(function, edge))
        ]

    def _locations_of_short_loops(self, function: Function) -> set[int]:
        """The locations that are in a loop, and in none with many or unknown rounds."""
        short: set[int] = set()
        long: set[int] = set()
        for loop in find_loops(self._points_to.program, function):
            is_short = loop.bound is not None and loop.bound <= _FEW_ROUNDS
            (short if is_short else long).update(loop.body)
        return short - long

    def _give(self, target: int, function: Function, value: Expr, is_counted: bool = False) -> None:
        """`is_counted`: it happens a few times in a frame, so that arithmetic does no harm."""
        pending = [(value, False)]
        while pending:
            item, is_computed = pending.pop()
            if isinstance(item, Register):
                source = self._register(function, item)
                (self._computed if is_computed else self._sources)[target].add(source)
            elif isinstance(item, Binary) and item.op in COMPARISONS:
                continue
            else:
                computes = is_computed or (isinstance(item, Binary | Unary) and not is_counted)
                pending += [(part, computes) for part in children(item)]

    def _flow(self, function: Function, edge: Edge) -> None:
        action = edge.action
        match action:
            case Assign():
                target = self._register(function, action.target)
                self._give(target, function, action.value, edge.source in self._is_short)
            case Load():
                self._sources[self._register(function, action.target)].update(
                    self._places(function, edge)
                )
            case Store():
                for place in self._places(function, edge):
                    self._give(place, function, action.value)
            case ReadModifyWrite():
                old = self._register(function, action.old)
                for place in self._places(function, edge):
                    self._sources[old].add(place)
                    self._give(place, function, action.new)
            case Input() | ObjectSize():
                self._sources[self._register(function, action.target)].add(0)
            case Call() | Spawn():
                self._call(function, edge, action)
            case Return():
                if action.value is not None:
                    self._give(self._node(("result", function.name)), function, action.value)
            case Allocate():
                self._node(("register", function.name, action.target.index))

    def _call(self, function: Function, edge: Edge, action: Call | Spawn) -> None:
        arguments = action.arguments if isinstance(action, Call) else (action.argument,)
        for name in self._points_to.callees(function.name, edge):
            for index, argument in enumerate(arguments):
                self._give(self._node(("register", name, index)), function, argument)
            if isinstance(action, Call) and action.target is not None:
                target = self._register(function, action.target)
                self._sources[target].add(self._node(("result", name)))

    def _solve(self) -> set[int]:
        count = len(self._sources)
        graph = [list(self._sources[n] | self._computed[n]) for n in range(count)]
        groups, _ = components(graph)
        group_of = {member: number for number, group in enumerate(groups) for member in group}
        infinite = {0}
        for number, group in enumerate(groups):  # sources come before what is made from them
            if any(
                source in infinite
                or (source in self._computed[member] and group_of[source] == number)
                for member in group
                for source in graph[member]
            ):
                infinite.update(group)
        return infinite
