"""Registers that hold one value for ever, and what code is dead because of it.

Sources of constants: assignments of constants, loads from static objects that nothing ever writes,
and parameters for which every call passes the same constant. (The library guards rare features by
pointers that stay null in programs without them.)
"""

from __future__ import annotations

from plait.analysis.reachable import reachable_edges
from plait.analysis.sharing import Sharing
from plait.model.actions import Assign, Call, Load, Unsupported, target_of
from plait.model.expressions import Const, Expr, StaticAddress
from plait.model.fold import constant
from plait.model.program import Edge, Function
from plait.model.types import Kind, Scalar


class Constants:
    def __init__(self, sharing: Sharing) -> None:
        self._points_to = sharing.points_to
        self._written = 0
        for row in sharing.accesses:
            for access in row:
                self._written |= access.writes
        self._arguments = self._passed_arguments()
        self._known: dict[str, dict[int, Const]] = {}

    def registers(self, function: Function) -> dict[int, Const]:
        """The constant registers of a reachable function."""
        found = self._known.get(function.name)
        if found is None:
            found = self._known[function.name] = self._find(function)
        return found

    def feasible_edges(self, function: Function) -> list[Edge]:
        """The edges of a reachable function that its constants do not rule out."""
        return reachable_edges(function, self.registers(function))

    def unsupported(self) -> list[tuple[Function, Edge, Unsupported]]:
        """The Unsupported actions that the entry may reach."""
        pending = [self._points_to.program.entry]
        seen = set(pending)
        found: list[tuple[Function, Edge, Unsupported]] = []
        callees: dict[int, set[str]] = {}
        for arc in self._points_to.arcs:
            name = self._points_to.instances[arc.callee].function.name
            callees.setdefault(id(arc.edge), set()).add(name)
        while pending:
            function = self._points_to.program.functions[pending.pop()]
            for edge in self.feasible_edges(function):
                if isinstance(edge.action, Unsupported):
                    found.append((function, edge, edge.action))
                new = callees.get(id(edge), set()) - seen
                seen |= new
                pending += sorted(new)
        return found

    def _find(self, function: Function) -> dict[int, Const]:
        values: dict[int, Const | None] = dict(self._arguments.get(function.name, {}))
        for index in range(function.parameters):
            values.setdefault(index, None)
        for edge in self._points_to.instances_of[function.name][0].template.edges:
            target = target_of(edge.action)
            if target is None:
                continue
            value: int | None = None
            if isinstance(edge.action, Assign):
                value = constant(edge.action.value)
            elif isinstance(edge.action, Load):
                value = self._initial(edge.action.address, target.type)
            new = None if value is None else Const(target.type, value)
            _meet(values, target.index, new)
        return {index: value for index, value in values.items() if value is not None}

    def _initial(self, address: Expr, scalar: Scalar) -> int | None:
        """The value at an address in a static object that is never written."""
        if not isinstance(address, StaticAddress) or scalar.kind is Kind.FLOAT:
            return None
        item = address.object
        known = self._points_to.object_of(item)
        if known is None or self._written >> known.index & 1:
            return None
        end = address.offset + scalar.size
        if address.offset < 0 or end > item.size:
            return None
        data = item.initial[address.offset : end].ljust(scalar.size, b"\0")
        value = int.from_bytes(data, "little")
        return int(value != 0) if scalar.is_bool else scalar.wrap(value)

    def _passed_arguments(self) -> dict[str, dict[int, Const | None]]:
        passed: dict[str, dict[int, Const | None]] = {}
        for arc in self._points_to.arcs:
            function = self._points_to.instances[arc.callee].function
            values = passed.setdefault(function.name, {})
            action = arc.edge.action
            arguments = action.arguments if isinstance(action, Call) else ()
            for index in range(function.parameters):
                value = constant(arguments[index]) if index < len(arguments) else None
                scalar = function.registers[index].type
                same = index < len(arguments) and arguments[index].type == scalar
                new = Const(scalar, value) if value is not None and same else None
                _meet(values, index, new)
        return passed


def _meet(values: dict[int, Const | None], index: int, new: Const | None) -> None:
    if index not in values:
        values[index] = new
        return
    known = values[index]
    if known is not None and (new is None or new.value != known.value):
        values[index] = None
