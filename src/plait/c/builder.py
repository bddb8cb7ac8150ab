"""Growing the control-flow automaton of one function."""

from __future__ import annotations

from plait.c.terms import negation, truth
from plait.model.actions import (
    Action,
    Assign,
    EnterScope,
    Guard,
    LeaveScope,
    Origin,
    Skip,
    target_of,
)
from plait.model.expressions import (
    Const,
    Expr,
    FrameAddress,
    Register,
    registers_of,
)
from plait.model.layout import Layout
from plait.model.program import Edge, FrameSlot, RegisterDecl
from plait.model.types import Scalar


class Scope:
    """A block; `slots` are its locals in memory, alive between entering and leaving it."""

    __slots__ = ("depth", "parent", "slots", "variables")

    def __init__(self, parent: Scope | None) -> None:
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.slots: list[int] = []
        self.variables: list[Register] = []  # to be forgotten at its end (memory leaks)


class Builder:
    """Locations and edges; `at` is the location where the next action will start."""

    def __init__(self, pointer: Scalar, origin: Origin) -> None:
        self.pointer = pointer
        self.origin = origin
        self.registers: list[RegisterDecl] = []
        self.slots: list[FrameSlot] = []
        self.edges: list[list[Edge]] = [[]]
        self.at = 0
        self.emitted = 0
        self.decided: dict[int, bool] = {}  # of the condition being lowered: where it leads to
        self.scope = Scope(None)
        self._jumps: list[tuple[int, Scope, int, Scope | None, int | None, Origin]] = []
        self._labels: dict[int, tuple[int, Scope]] = {}
        self._label_locations: dict[int, int] = {}

    # Locations and edges

    def location(self) -> int:
        self.edges.append([])
        return len(self.edges) - 1

    def edge(self, source: int, action: Action, target: int) -> None:
        self.edges[source].append(Edge(source, action, target))
        self.emitted += 1

    def emit(self, action: Action) -> None:
        """Append an action at the current location."""
        target = self.location()
        self.edge(self.at, action, target)
        self.at = target

    def finish(self, action: Action) -> None:
        """Append an action after which this control flow does not go on."""
        self.edge(self.at, action, -1)
        self.at = self.location()

    def connect(self, target: int) -> None:
        """Go on at `target`; what follows here is unreachable until a label."""
        self.edge(self.at, Skip(self.origin), target)
        self.at = self.location()

    def start(self, location: int) -> None:
        """Fall through to `location` and go on there."""
        self.edge(self.at, Skip(self.origin), location)
        self.at = location

    def branch(self, condition: Expr, then: int, otherwise: int) -> None:
        """Leave the current location by a condition; the caller continues elsewhere."""
        if isinstance(condition, Const):
            self.edge(self.at, Skip(self.origin), then if condition.value else otherwise)
            return
        decided = self.decided
        self.edge(self.at, Guard(self.origin, truth(condition), decided.get(then)), then)
        guard = Guard(self.origin, negation(condition), decided.get(otherwise))
        self.edge(self.at, guard, otherwise)

    def push_down(self, location: int) -> int:
        """Move the edges that leave `location` to a new one, to put an action before them.

        Only for locations that no edge enters from later code: what was emitted since then.
        """
        below = self.location()
        self.edges[below] = self.edges[location]
        for edge in self.edges[below]:
            edge.source = below
        self.edges[location] = []
        if self.at == location:
            self.at = below
        return below

    # Registers and slots

    def register(self, type_: Scalar, name: str = "", spelling: str = "") -> Register:
        self.registers.append(RegisterDecl(name, type_, spelling))
        return Register(type_, len(self.registers) - 1, name)

    def temporary(self, value: Expr) -> Register:
        target = self.register(value.type)
        self.emit(Assign(self.origin, target, value))
        return target

    def slot(
        self, name: str, layout: Layout, spelling: str, declarator: Origin | None = None
    ) -> FrameSlot:
        """A local in memory, alive while the current scope is."""
        slot = FrameSlot(len(self.slots), name, layout, declarator or self.origin, spelling)
        self.slots.append(slot)
        self.scope.slots.append(slot.index)
        return slot

    def slot_address(self, slot: FrameSlot) -> FrameAddress:
        return FrameAddress(self.pointer, slot)

    def keep(self, value: Expr, since: int, emitted: int) -> Expr:
        """`value`, which was computed at location `since`, safe from what was emitted later.

        Operands are evaluated left to right: where the right one assigns a variable that the left
        one reads, the left value is saved before.
        """
        if self.emitted == emitted:
            return value
        read = registers_of(value)
        if not read or not self._assigned_since(since, read):
            return value
        saved = self.register(value.type)
        below = self.push_down(since)
        self.edge(since, Assign(self.origin, saved, value), below)
        return saved

    def _assigned_since(self, since: int, read: set[int]) -> bool:
        pending, seen = [since], {since}
        while pending:
            for edge in self.edges[pending.pop()]:
                target = target_of(edge.action)
                if target is not None and target.index in read:
                    return True
                if edge.target >= 0 and edge.target not in seen:
                    seen.add(edge.target)
                    pending.append(edge.target)
        return False

    # Scopes and jumps

    def enter_scope(self) -> tuple[int, int]:
        """Open a block; the result goes to `leave_scope`."""
        self.emit(Skip(self.origin))
        self.scope = Scope(self.scope)
        before = self.at
        self.at = self.location()
        return before, self.at

    def leave_scope(self, opened: tuple[int, int]) -> None:
        """Close a block: now its locals are known, and entering and leaving it can be written."""
        before, body = opened
        scope = self.scope
        slots = tuple(scope.slots)
        self.edge(before, EnterScope(self.origin, slots) if slots else Skip(self.origin), body)
        for variable in scope.variables:
            self.emit(Assign(self.origin, variable, Const(variable.type, 0)))
        if slots:
            self.emit(LeaveScope(self.origin, slots))
        assert scope.parent is not None
        self.scope = scope.parent

    def jump(self, target: int, scope: Scope) -> None:
        """Jump to a location of an enclosing (or, with goto, any) scope."""
        self.emit(Skip(self.origin))
        self._jumps.append((self.at, self.scope, target, scope, None, self.origin))
        self.at = self.location()

    def jump_to_label(self, name: int) -> None:
        self.emit(Skip(self.origin))
        self._jumps.append((self.at, self.scope, -1, None, name, self.origin))
        self.at = self.location()

    def label(self, name: int) -> None:
        location = self.label_location(name)
        self.start(location)
        self._labels[name] = (location, self.scope)

    def label_location(self, name: int) -> int:
        known = self._label_locations.get(name)
        if known is None:
            known = self._label_locations[name] = self.location()
        return known

    def resolve_jumps(self) -> None:
        """Write the jumps, now that the locals of every scope are known."""
        for source, scope, target, target_scope, name, origin in self._jumps:
            if name is not None:
                target, target_scope = self._labels[name]
            assert target_scope is not None
            left, entered, forgotten = _between(scope, target_scope)
            actions: list[Action] = [
                Assign(origin, variable, Const(variable.type, 0)) for variable in forgotten
            ]
            if left:
                actions.append(LeaveScope(origin, left))
            if entered:
                actions.append(EnterScope(origin, entered))
            here = source
            for action in actions[:-1]:
                there = self.location()
                self.edge(here, action, there)
                here = there
            self.edge(here, actions[-1] if actions else Skip(origin), target)
        self._jumps.clear()


def _between(
    source: Scope, target: Scope
) -> tuple[tuple[int, ...], tuple[int, ...], list[Register]]:
    """The slots left and entered, and the variables left, when control goes from one scope to
    another."""
    left: list[int] = []
    entered: list[int] = []
    forgotten: list[Register] = []
    up, down = source, target
    while up.depth > down.depth:
        left += up.slots
        forgotten += up.variables
        assert up.parent is not None
        up = up.parent
    while down.depth > up.depth:
        entered[:0] = down.slots
        assert down.parent is not None
        down = down.parent
    while up is not down:
        left += up.slots
        forgotten += up.variables
        entered[:0] = down.slots
        assert up.parent is not None and down.parent is not None
        up, down = up.parent, down.parent
    return tuple(left), tuple(entered), forgotten
