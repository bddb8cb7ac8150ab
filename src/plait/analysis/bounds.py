"""Constant bounds of loops: a counter that starts, steps and is tested by constants."""

from __future__ import annotations

from plait.data import dataclass, field
from plait.model.actions import Assign, Guard, target_of
from plait.model.expressions import Binary, BinaryOp, Const, Expr, Register, registers_of
from plait.model.fold import constant, substitute
from plait.model.program import Edge, Function

_ROUNDS_TRIED = 512
_LINE_LENGTH = 12
_BACKWARD_EDGES = 256


@dataclass(slots=True, eq=False)
class Loop:
    """`body` are its locations, `back_edges` return to `head`, `exits` leave it. A loop with
    several entries is not reducible: `head` is one of them, and it has no bound."""

    function: str
    head: int
    body: frozenset[int]
    back_edges: tuple[Edge, ...]
    exits: tuple[Edge, ...]
    is_reducible: bool
    parent: Loop | None = None
    depth: int = 1
    bound: int | None = None
    is_spin: bool = False
    children: list[Loop] = field(default_factory=list)


class Shape:
    """A function's graph with its dominators (Cooper, Harvey, Kennedy: A simple, fast dominance
    algorithm)."""

    def __init__(
        self, function: Function, order: list[int], position: list[int], incoming: list[list[Edge]]
    ) -> None:
        self.function = function
        self.incoming = incoming
        self.position = position
        dominator = [-1] * len(function.edges)
        dominator[0] = 0
        changed = True
        while changed:
            changed = False
            for location in order[1:]:
                new = -1
                for edge in incoming[location]:
                    other = edge.source
                    if dominator[other] < 0:
                        continue
                    if new < 0:
                        new = other
                        continue
                    while new != other:
                        while position[new] > position[other]:
                            new = dominator[new]
                        while position[other] > position[new]:
                            other = dominator[other]
                if dominator[location] != new:
                    dominator[location] = new
                    changed = True
        self.dominator = dominator
        self.definitions: dict[int, list[Edge]] = {}
        for location in order:
            for edge in function.edges[location]:
                target = target_of(edge.action)
                if target is not None:
                    self.definitions.setdefault(target.index, []).append(edge)

    def dominates(self, above: int, below: int) -> bool:
        position, dominator = self.position, self.dominator
        while position[below] > position[above]:
            below = dominator[below]
        return above == below


def loop_bound(shape: Shape, loop: Loop) -> int | None:
    """How often control can return to the head after entering a reducible loop, if constant."""
    return _Search(shape, loop).bound()


class _Search:
    def __init__(self, shape: Shape, loop: Loop) -> None:
        self.shape = shape
        self.loop = loop
        self.function = shape.function

    def bound(self) -> int | None:
        best: int | None = None
        for leaving in self.loop.exits:
            if not isinstance(leaving.action, Guard) or not self._in_each_round(leaving.source):
                continue
            for staying in self.function.edges[leaving.source]:
                if staying.target in self.loop.body and isinstance(staying.action, Guard):
                    if len(self.function.edges[leaving.source]) == 2:
                        found = self._rounds(staying, staying.action.condition)
                        if found is not None and (best is None or found < best):
                            best = found
        return best

    def _in_each_round(self, location: int) -> bool:
        """Whether each round passes the location exactly once."""
        if any(location in inner.body for inner in self.loop.children):
            return False
        return all(self.shape.dominates(location, edge.source) for edge in self.loop.back_edges)

    def _rounds(self, staying: Edge, condition: Expr) -> int | None:
        condition = self._expanded(condition, staying.source)
        counters = registers_of(condition)
        if len(counters) != 1:
            return None
        counter = counters.pop()
        tests_old_value = counter < 0
        if tests_old_value:
            counter = ~counter
        register = Register(self.function.registers[counter].type, counter, "")
        condition = substitute(condition, ~counter, register)
        inside = [
            edge
            for edge in self.shape.definitions.get(counter, ())
            if edge.source in self.loop.body
        ]
        if len(inside) != 1:
            return None
        step = inside[0]
        if not isinstance(step.action, Assign) or not self._in_each_round(step.source):
            return None
        value = self._expanded(step.action.value, step.source)
        if registers_of(value) != {counter}:
            return None
        initial = self._initial_values(counter)
        if not initial:
            return None
        counting = _Counting(register, value, condition)
        is_before_step = tests_old_value or self.shape.dominates(staying.source, step.source)
        most = 0
        for start in initial:
            first = start if is_before_step else counting.next(start)
            rounds = None if first is None else counting.rounds(first)
            if rounds is None:
                return None
            most = max(most, rounds)
        return most

    def _initial_values(self, register: int) -> set[int] | None:
        """The constants that the register can hold when the loop is entered; None if others."""
        if register < self.function.parameters and not self.shape.definitions.get(register):
            return None
        values: set[int] = set()
        body = self.loop.body
        pending = [e for e in self.shape.incoming[self.loop.head] if e.source not in body]
        if self.loop.head == 0:
            return None
        seen = {id(edge) for edge in pending}
        while pending:
            edge = pending.pop()
            target = target_of(edge.action)
            if target is not None and target.index == register:
                if not isinstance(edge.action, Assign):
                    return None
                value = constant(self._expanded(edge.action.value, edge.source))
                if value is None:
                    return None
                values.add(value)
                continue
            if edge.source == 0:
                return None
            for before in self.shape.incoming[edge.source]:
                if id(before) not in seen:
                    seen.add(id(before))
                    pending.append(before)
            if len(seen) > _BACKWARD_EDGES:
                return None
        return values

    def _expanded(self, expr: Expr, location: int) -> Expr:
        """The expression at a location, with temporaries replaced by what the straight line before
        it assigned to them, and registers that are always the same by their values.

        A register of which it needs the value before an assignment on that line appears with the
        complement of its index.
        """
        changed: set[int] = set()
        for _ in range(_LINE_LENGTH):
            for register in registers_of(expr):
                known = self._constant_register(register)
                if known is not None:
                    expr = substitute(expr, register, known)
            arriving = self.shape.incoming[location]
            if len(arriving) != 1 or location == self.loop.head:
                break
            edge = arriving[0]
            target = target_of(edge.action)
            if target is not None:
                needed = registers_of(expr)
                if target.index in needed and target.index not in changed:
                    if not isinstance(edge.action, Assign):
                        break
                    value = edge.action.value
                    if target.index in registers_of(value):
                        break
                    for register in registers_of(value) & changed:
                        old = Register(self.function.registers[register].type, ~register, "")
                        value = substitute(value, register, old)
                    expr = substitute(expr, target.index, value)
                elif ~target.index in needed:
                    break
                changed.add(target.index)
            location = edge.source
        return expr

    def _constant_register(self, register: int) -> Const | None:
        edges = self.shape.definitions.get(register, ())
        if len(edges) != 1 or register < self.function.parameters:
            return None
        action = edges[0].action
        if not isinstance(action, Assign):
            return None
        value = constant(action.value)
        return None if value is None else Const(action.target.type, value)


class _Counting:
    """A register that takes the value of `step` in each round while `condition` holds."""

    def __init__(self, register: Register, step: Expr, condition: Expr) -> None:
        self.register = register
        self.step = step
        self.condition = condition

    def next(self, value: int) -> int | None:
        now = Const(self.register.type, value)
        return constant(substitute(self.step, self.register.index, now))

    def holds(self, value: int) -> bool | None:
        now = Const(self.register.type, value)
        result = constant(substitute(self.condition, self.register.index, now))
        return None if result is None else result != 0

    def rounds(self, start: int) -> int | None:
        """How many values from `start` on satisfy the condition before the first that does not."""
        found = self._computed_rounds(start)
        if found is not None:
            return found
        value: int | None = start
        for rounds in range(_ROUNDS_TRIED):
            if value is None:
                return None
            holds = self.holds(value)
            if holds is None:
                return None
            if not holds:
                return rounds
            value = self.next(value)
        return None

    def _computed_rounds(self, start: int) -> int | None:
        """The same in closed form, for a constant step that does not wrap around."""
        step, condition = self.step, self.condition
        if not isinstance(step, Binary) or not isinstance(step.left, Register):
            return None
        stride = constant(step.right)
        if stride is None or step.op not in (BinaryOp.ADD, BinaryOp.SUB):
            return None
        stride = stride if step.op is BinaryOp.ADD else -stride
        if not isinstance(condition, Binary) or stride == 0:
            return None
        limit = constant(condition.right)
        is_upper = limit is not None
        if limit is None:
            limit = constant(condition.left)
        counted = condition.left if is_upper else condition.right
        if limit is None or not isinstance(counted, Register):
            return None
        distance = limit - start
        match condition.op:
            case BinaryOp.NE:
                if distance % stride != 0:
                    return None
            case BinaryOp.LT | BinaryOp.LE:
                if is_upper != (stride > 0):
                    return None
                if condition.op is BinaryOp.LE:
                    distance += 1 if is_upper else -1
            case _:
                return None
        rounds = -(-distance // stride)
        if rounds < 0:
            return 0 if condition.op is not BinaryOp.NE else None
        scalar = self.register.type
        return rounds if scalar.minimum <= start + rounds * stride <= scalar.maximum else None
