"""Small programs built by hand."""

from __future__ import annotations

from collections.abc import Sequence

from plait.model.actions import (
    NOWHERE,
    Action,
    Allocate,
    Assign,
    AtomicBegin,
    AtomicEnd,
    Call,
    EnterScope,
    Guard,
    LeaveScope,
    Load,
    Return,
    Skip,
    Spawn,
    Store,
)
from plait.model.expressions import (
    Binary,
    BinaryOp,
    Const,
    Expr,
    FrameAddress,
    FunctionAddress,
    PointerAdd,
    Register,
    StaticAddress,
)
from plait.model.layout import OpaqueLayout
from plait.model.program import (
    Edge,
    FrameSlot,
    Function,
    Program,
    RegisterDecl,
    Relocation,
    StaticObject,
)
from plait.model.types import I32, I64, POINTER_64, DataModel, Scalar


def number(value: int) -> Const:
    return Const(I32, value)


def binary(op: str, left: Expr, right: Expr) -> Binary:
    kind = BinaryOp(op)
    result = I32 if op in ("==", "!=", "<", "<=") else left.type
    return Binary(result, kind, left, right)


def less(left: Expr, right: Expr | int) -> Binary:
    return binary("<", left, number(right) if isinstance(right, int) else right)


def negated(expr: Expr) -> Binary:
    return binary("==", expr, number(0))


def at(base: Expr, offset: Expr | int) -> PointerAdd:
    moved = Const(I64, offset) if isinstance(offset, int) else offset
    return PointerAdd(POINTER_64, base, moved)


def address(item: StaticObject | FrameSlot | str, offset: int = 0) -> Expr:
    if isinstance(item, StaticObject):
        return StaticAddress(POINTER_64, item, offset)
    if isinstance(item, FrameSlot):
        return FrameAddress(POINTER_64, item, offset)
    return FunctionAddress(POINTER_64, item)


class FunctionBuilder:
    """Adds edges one after the other; `here` is the location where the next one starts."""

    def __init__(self, name: str, parameters: Sequence[Scalar] = (), library: bool = False) -> None:
        self.function = Function(name, name, NOWHERE, [], 0, [], [[]], None, library)
        self.parameters = [self.register(f"p{i}", item) for i, item in enumerate(parameters)]
        self.function.parameters = len(parameters)
        self.here = 0

    def register(self, name: str = "", scalar: Scalar = I32) -> Register:
        self.function.registers.append(RegisterDecl(name, scalar))
        return Register(scalar, len(self.function.registers) - 1, name)

    def pointer(self, name: str = "") -> Register:
        return self.register(name, POINTER_64)

    def slot(self, name: str, size: int = 8) -> FrameSlot:
        made = FrameSlot(len(self.function.slots), name, OpaqueLayout(size), NOWHERE, "bytes")
        self.function.slots.append(made)
        return made

    def location(self) -> int:
        self.function.edges.append([])
        return len(self.function.edges) - 1

    def add(self, action: Action, target: int | None = None) -> Edge:
        goal = self.location() if target is None else target
        edge = Edge(self.here, action, goal)
        self.function.edges[self.here].append(edge)
        self.here = goal
        return edge

    def branch(self, condition: Expr, then: int, otherwise: int) -> tuple[Edge, Edge]:
        pair = (
            Edge(self.here, Guard(NOWHERE, condition), then),
            Edge(self.here, Guard(NOWHERE, negated(condition)), otherwise),
        )
        self.function.edges[self.here].extend(pair)
        return pair

    def skip(self, target: int | None = None) -> Edge:
        return self.add(Skip(NOWHERE), target)

    def assign(self, target: Register, value: Expr | int, to: int | None = None) -> Edge:
        given = Const(target.type, value) if isinstance(value, int) else value
        return self.add(Assign(NOWHERE, target, given), to)

    def load(self, target: Register, place: Expr) -> Edge:
        return self.add(Load(NOWHERE, target, place))

    def store(self, place: Expr, value: Expr | int) -> Edge:
        given = number(value) if isinstance(value, int) else value
        return self.add(Store(NOWHERE, place, given))

    def call(self, target: Register | None, callee: str | Expr, *arguments: Expr) -> Edge:
        return self.add(Call(NOWHERE, target, callee, arguments))

    def allocate(self, target: Register, size: int = 16) -> Edge:
        return self.add(Allocate(NOWHERE, target, Const(I64, size), False, "heap"))

    def spawn(self, function: Expr | str, argument: Expr | int = 0) -> Edge:
        start = address(function) if isinstance(function, str) else function
        passed = Const(POINTER_64, argument) if isinstance(argument, int) else argument
        return self.add(Spawn(NOWHERE, self.register(), start, passed))

    def enter(self, *slots: FrameSlot) -> Edge:
        return self.add(EnterScope(NOWHERE, tuple(item.index for item in slots)))

    def leave(self, *slots: FrameSlot) -> Edge:
        return self.add(LeaveScope(NOWHERE, tuple(item.index for item in slots)))

    def atomic_begin(self) -> Edge:
        return self.add(AtomicBegin(NOWHERE))

    def atomic_end(self) -> Edge:
        return self.add(AtomicEnd(NOWHERE))

    def ret(self, value: Expr | None = None) -> Edge:
        if value is not None:
            self.function.returns = value.type
        return self.add(Return(NOWHERE, value), -1)


def static(
    name: str,
    size: int = 8,
    relocations: Sequence[tuple[int, StaticObject | str, int]] = (),
    thread_local: bool = False,
) -> StaticObject:
    moved = tuple(Relocation(*item) for item in relocations)
    layout = OpaqueLayout(size)
    return StaticObject(name, layout, bytes(size), moved, NOWHERE, "bytes", thread_local)


def program(
    *functions: FunctionBuilder, objects: Sequence[StaticObject] = (), entry: str = "main"
) -> Program:
    """Pages are given out as a linker would: one for each function and object."""
    made = Program(
        DataModel.LP64, {f.function.name: f.function for f in functions}, list(objects), entry, []
    )
    page = 1
    for item in [*made.objects, *made.functions.values()]:
        item.page = page
        page += 1
    made.first_free_page = page
    return made
