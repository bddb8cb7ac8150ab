"""A tiny builder of models, so that the semantics is tested without the C front end."""

from __future__ import annotations

from plait.model.actions import (
    NOWHERE,
    Action,
    Assign,
    AtomicBegin,
    AtomicEnd,
    Call,
    Check,
    CheckKind,
    EndProcess,
    Guard,
    Load,
    Order,
    Origin,
    Return,
    Skip,
    Spawn,
    Store,
    Wait,
)
from plait.model.expressions import (
    Binary,
    BinaryOp,
    Const,
    Convert,
    Expr,
    FunctionAddress,
    Register,
    StaticAddress,
)
from plait.model.layout import ArrayLayout, Layout, ScalarLayout
from plait.model.machine import FIRST_PAGE
from plait.model.program import (
    Edge,
    FrameSlot,
    Function,
    Program,
    RegisterDecl,
    SourceFile,
    StaticObject,
)
from plait.model.types import I32, POINTER_64, DataModel, Scalar

PTR = POINTER_64


def number(value: int, scalar: Scalar = I32) -> Const:
    return Const(scalar, value)


def binary(op: BinaryOp, left: Expr, right: Expr | int) -> Binary:
    if isinstance(right, int):
        right = Const(left.type, right)
    is_comparison = op in (BinaryOp.EQ, BinaryOp.NE, BinaryOp.LT, BinaryOp.LE)
    return Binary(I32 if is_comparison else left.type, op, left, right)


def add(left: Expr, right: Expr | int) -> Binary:
    return binary(BinaryOp.ADD, left, right)


def equals(left: Expr, right: Expr | int) -> Binary:
    return binary(BinaryOp.EQ, left, right)


def negated(condition: Expr) -> Expr:
    return binary(BinaryOp.EQ, condition, 0)


def scalar_layout(scalar: Scalar) -> ScalarLayout:
    return ScalarLayout(scalar.size, scalar, str(scalar))


def array_layout(scalar: Scalar, count: int) -> ArrayLayout:
    return ArrayLayout(scalar.size * count, scalar_layout(scalar), count)


class FunctionBuilder:
    """Appends actions at `here`, the current location."""

    def __init__(
        self, name: str, parameters: tuple[tuple[str, Scalar], ...] = (), *, library: bool = False
    ) -> None:
        self.function = Function(name, name, NOWHERE, [], len(parameters), [], [[]], None, library)
        self.here = 0
        self.line = 0
        self.arguments = [self.register(scalar, label) for label, scalar in parameters]

    def register(self, scalar: Scalar = I32, name: str = "") -> Register:
        self.function.registers.append(RegisterDecl(name, scalar))
        return Register(scalar, len(self.function.registers) - 1, name)

    def slot(self, layout: Layout, name: str = "local") -> FrameSlot:
        slot = FrameSlot(len(self.function.slots), name, layout, NOWHERE, "")
        self.function.slots.append(slot)
        return slot

    def location(self) -> int:
        self.function.edges.append([])
        return len(self.function.edges) - 1

    def edge(self, source: int, action: Action, target: int) -> None:
        self.function.edges[source].append(Edge(source, action, target))

    def emit(self, action: Action) -> None:
        target = self.location()
        self.edge(self.here, action, target)
        self.here = target

    def end(self, action: Action) -> None:
        self.edge(self.here, action, -1)

    def origin(self) -> Origin:
        self.line += 1
        return Origin(0, self.line, 1, self.line, 2)

    def assign(self, target: Register, value: Expr) -> None:
        self.emit(Assign(self.origin(), target, value))

    def load(
        self, item: StaticObject, order: Order = Order.PLAIN, offset: int = 0, name: str = ""
    ) -> Register:
        layout = item.layout
        scalar = layout.scalar if isinstance(layout, ScalarLayout) else I32
        target = self.register(scalar, name)
        self.emit(Load(self.origin(), target, StaticAddress(PTR, item, offset), order))
        return target

    def store(
        self, item: StaticObject, value: Expr | int, order: Order = Order.PLAIN, offset: int = 0
    ) -> None:
        layout = item.layout
        scalar = layout.scalar if isinstance(layout, ScalarLayout) else I32
        if isinstance(value, int):
            value = Const(scalar, value)
        self.emit(Store(self.origin(), StaticAddress(PTR, item, offset), value, order))

    def branch(self, condition: Expr) -> tuple[int, int]:
        then, otherwise = self.location(), self.location()
        self.edge(self.here, Guard(NOWHERE, condition), then)
        self.edge(self.here, Guard(NOWHERE, negated(condition)), otherwise)
        return then, otherwise

    def jump(self, target: int) -> None:
        self.edge(self.here, Skip(NOWHERE), target)

    def begin(self) -> None:
        self.emit(AtomicBegin(self.origin()))

    def finish(self) -> None:
        self.emit(AtomicEnd(self.origin()))

    def wait(self, condition: Expr, what: str = "condition", on: Expr | None = None) -> None:
        self.emit(Wait(self.origin(), condition, what, on))

    def check(self, condition: Expr, message: str = "assertion") -> None:
        self.emit(Check(self.origin(), condition, CheckKind.ASSERTION, message))

    def spawn(self, function: str, argument: Expr | int = 0) -> Register:
        if isinstance(argument, int):
            argument = Const(PTR, argument)
        target = self.register(I32)
        self.emit(Spawn(self.origin(), target, FunctionAddress(PTR, function), argument))
        return target

    def call(self, callee: str | Expr, *arguments: Expr, target: Register | None = None) -> None:
        self.emit(Call(self.origin(), target, callee, arguments))

    def leave(self, value: Expr | None = None) -> None:
        self.function.returns = None if value is None else value.type
        self.end(Return(self.origin(), value))

    def exit(self, status: Expr | int = 0) -> None:
        if isinstance(status, int):
            status = Const(I32, status)
        self.end(EndProcess(self.origin(), status, "exit"))

    def lock(self, mutex: StaticObject) -> None:
        self.begin()
        held = self.load(mutex)
        self.wait(negated(held), "mutex", StaticAddress(PTR, mutex))
        self.store(mutex, 1)
        self.finish()

    def unlock(self, mutex: StaticObject) -> None:
        self.begin()
        self.store(mutex, 0)
        self.finish()


class ProgramBuilder:
    def __init__(self, data_model: DataModel = DataModel.LP64) -> None:
        self.data_model = data_model
        self.objects: list[StaticObject] = []
        self.functions: list[FunctionBuilder] = []

    def variable(
        self,
        name: str,
        value: int = 0,
        scalar: Scalar = I32,
        *,
        thread_local: bool = False,
        read_only: bool = False,
    ) -> StaticObject:
        initial = scalar.wrap(value) & ((1 << scalar.bits) - 1)
        return self.object(
            name,
            scalar_layout(scalar),
            initial.to_bytes(scalar.size, "little"),
            thread_local=thread_local,
            read_only=read_only,
        )

    def object(
        self,
        name: str,
        layout: Layout,
        initial: bytes = b"",
        *,
        thread_local: bool = False,
        read_only: bool = False,
    ) -> StaticObject:
        item = StaticObject(name, layout, initial, (), NOWHERE, "", thread_local, read_only)
        self.objects.append(item)
        return item

    def function(self, name: str, *parameters: tuple[str, Scalar]) -> FunctionBuilder:
        result = FunctionBuilder(name, parameters)
        self.functions.append(result)
        return result

    def build(self) -> Program:
        """Link: give pages to objects and functions; the first function is the entry."""
        page = FIRST_PAGE
        for item in self.objects:
            item.page = page
            page += self.data_model.pages_taken(item.size)
        functions = {}
        for builder in self.functions:
            builder.function.page = page
            page += self.data_model.pages_taken(1)
            functions[builder.function.name] = builder.function
        entry = self.functions[0].function.name
        source = SourceFile("model.c", [f"line {line}" for line in range(1, 60)])
        return Program(
            self.data_model, functions, self.objects, entry, [source], first_free_page=page
        )


def threads(*builders: FunctionBuilder, main: FunctionBuilder, then: bool = False) -> None:
    """Let `main` start the given functions; afterwards it ends, unless more follows."""
    for builder in builders:
        main.spawn(builder.function.name)
    if not then:
        main.leave()


def widened(expr: Expr, scalar: Scalar) -> Expr:
    return Convert(scalar, expr)
