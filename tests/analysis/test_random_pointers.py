"""Whatever a plain interpreter of random pointer programs sees, the analyses must have foreseen."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.analysis.builder import FunctionBuilder, address, at, program, static

from plait.analysis.points_to import PointsTo
from plait.analysis.sharing import Sharing
from plait.model.actions import Allocate, Assign, Call, Load, Return, Skip, Spawn, Store
from plait.model.expressions import (
    Binary,
    BinaryOp,
    Conditional,
    Const,
    Convert,
    Expr,
    FrameAddress,
    FunctionAddress,
    PointerAdd,
    Register,
    StaticAddress,
)
from plait.model.program import Edge, FrameSlot, Function, Program, StaticObject
from plait.model.types import I32, I64, POINTER_64, U32, U64

OBJECT_SIZE = 24
PAGE = 32
# Pointers are not put together from parts of others: that is the analysis' one assumption.
OFFSETS = st.sampled_from([0, 8, 16])


class Stop(Exception):
    """The run ends: out of steps, or an access that is not valid."""


@dataclass
class Frame:
    function: Function
    registers: list[int]
    slots: dict[int, int]
    context: Edge | None


@dataclass
class Interpreter:
    """Runs spawned functions at once, as calls in a thread of their own."""

    program: Program
    points_to: PointsTo
    sharing: Sharing
    inputs: list[int]
    memory: dict[int, int] = field(default_factory=dict)
    pages: dict[int, tuple[StaticObject | FrameSlot | Edge | str, Edge | None]] = field(
        default_factory=dict
    )
    users: dict[int, dict[int, bool]] = field(default_factory=dict)
    steps: int = 300
    threads: int = 1
    has_spawned: bool = False

    def __post_init__(self) -> None:
        for item in self.program.objects:
            self.pages[item.page] = item, None
            for relocation in item.relocations:
                target = relocation.target
                found = self.program.functions[target] if isinstance(target, str) else target
                value = (found.page << PAGE) + relocation.addend
                self.write((item.page << PAGE) + relocation.offset, 8, value)
        for function in self.program.functions.values():
            self.pages[function.page] = function.name, None

    def write(self, place: int, size: int, value: int) -> None:
        for index in range(size):
            self.memory[place + index] = value >> 8 * index & 255

    def read(self, place: int, size: int) -> int:
        return sum(self.memory.get(place + index, 0) << 8 * index for index in range(size))

    def new_page(self, item: FrameSlot | Edge, context: Edge | None) -> int:
        page = max(self.pages) + 1
        self.pages[page] = item, context
        return page << PAGE

    def value(self, frame: Frame, expr: Expr) -> int:
        match expr:
            case Const():
                return int(expr.value)
            case Register():
                return frame.registers[expr.index]
            case StaticAddress():
                return (expr.object.page << PAGE) + expr.offset
            case FrameAddress():
                return frame.slots[expr.slot.index] + expr.offset
            case FunctionAddress():
                return self.program.functions[expr.function].page << PAGE
            case PointerAdd():
                moved = self.value(frame, expr.base) + self.value(frame, expr.offset)
                self.stay_inside(moved, self.value(frame, expr.base))
                return moved
            case Convert():
                return expr.type.wrap(self.value(frame, expr.operand))
            case Conditional():
                chosen = self.value(frame, expr.condition)
                return self.value(frame, expr.then if chosen else expr.otherwise)
            case Binary():
                left, right = self.value(frame, expr.left), self.value(frame, expr.right)
                assert expr.op in (BinaryOp.OR, BinaryOp.AND, BinaryOp.ADD, BinaryOp.MUL)
                match expr.op:
                    case BinaryOp.MUL:
                        return expr.type.wrap(left * right)
                    case BinaryOp.OR:
                        return left | right
                    case BinaryOp.AND:
                        return left & right
                return expr.type.wrap(left + right)
        raise AssertionError(expr)

    def stay_inside(self, moved: int, base: int) -> None:
        offset = moved - (base >> PAGE << PAGE)
        if base >> PAGE and not 0 <= offset <= OBJECT_SIZE:
            raise Stop

    def check_value(self, frame: Frame, expr: Expr, value: int) -> None:
        """A value that is an address in an object must be among the targets of its expression."""
        page = value >> PAGE
        if page not in self.pages:
            return
        known = self.points_to.locations(frame.function.name, expr)
        item, context = self.pages[page]
        expected = self.points_to.object_of(item, context)
        offset = value - (page << PAGE)
        assert any(
            found is expected and (place is None or place == offset) for found, place in known
        ), (frame.function.name, expr, item, offset, known)

    def access(self, frame: Frame, edge: Edge, place: Expr, size: int, thread: int) -> int:
        where = self.value(frame, place)
        page = where >> PAGE
        if page not in self.pages or where % size or where % (1 << PAGE) + size > OBJECT_SIZE:
            raise Stop
        item, context = self.pages[page]
        if isinstance(item, str):
            raise Stop
        self.check_value(frame, place, where)
        if self.has_spawned:
            is_write = isinstance(edge.action, Store)
            users = self.users.setdefault(page, {})
            users[thread] = users.get(thread, False) or is_write
            if len(users) > 1 and any(users.values()):
                found = self.points_to.object_of(item, context)
                assert found is not None and self.sharing.is_shared(found), (item, users)
                assert self.sharing.is_visible(edge)
        return where

    def run(self, name: str, arguments: list[int], context: Edge | None, thread: int) -> int:
        function = self.program.functions[name]
        frame = Frame(function, [0] * len(function.registers), {}, context)
        frame.registers[: function.parameters] = [*arguments, 0, 0][: function.parameters]
        for slot in function.slots:
            frame.slots[slot.index] = self.new_page(slot, context)
        location = 0
        while True:
            self.steps -= 1
            if self.steps < 0:
                raise Stop
            leaving = function.edges[location]
            edge = leaving[self.inputs.pop() % len(leaving)] if self.inputs else leaving[0]
            action = edge.action
            target: Register | None = None
            result = 0
            match action:
                case Assign():
                    target, result = action.target, self.value(frame, action.value)
                case Load():
                    size = action.target.type.size
                    where = self.access(frame, edge, action.address, size, thread)
                    target, result = action.target, self.read(where, size)
                case Store():
                    size = action.value.type.size
                    where = self.access(frame, edge, action.address, size, thread)
                    self.write(where, size, self.value(frame, action.value))
                case Allocate():
                    target, result = action.target, self.new_page(edge, context)
                case Call() | Spawn():
                    target, result = action.target, self.call(frame, edge, thread)
                case Return():
                    return 0 if action.value is None else self.value(frame, action.value)
                case Skip():
                    pass
            if target is not None:
                frame.registers[target.index] = result
                if target.type is POINTER_64:
                    self.check_value(frame, target, result)
            location = edge.target

    def call(self, frame: Frame, edge: Edge, thread: int) -> int:
        action = edge.action
        assert isinstance(action, Call | Spawn)
        callee = action.callee if isinstance(action, Call) else action.function
        if not isinstance(callee, str):
            where = self.value(frame, callee)
            found = self.pages.get(where >> PAGE, (None, None))[0]
            if not isinstance(found, str) or where & ((1 << PAGE) - 1):
                raise Stop
            callee = found
        assert callee in self.points_to.callees(frame.function.name, edge)
        context: Edge | None = None
        if self.program.functions[callee].library:
            context = frame.context if frame.function.library else edge
        if isinstance(action, Spawn):
            self.has_spawned = True
            self.threads += 1
            passed = [self.value(frame, action.argument)]
            self.run(callee, passed, context, self.threads)
            return self.threads
        passed = [self.value(frame, item) for item in action.arguments]
        return self.run(callee, passed, context, thread)


@st.composite
def functions(
    draw: st.DrawFn, name: str, others: list[str], objects: list[StaticObject]
) -> FunctionBuilder:
    made = FunctionBuilder(name, [POINTER_64, POINTER_64], library=name.startswith("lib"))
    registers = [*made.parameters, *(made.pointer(f"r{i}") for i in range(3))]
    word, half = made.register("word", U64), made.register("half", U32)
    slots = [made.slot(f"s{i}", OBJECT_SIZE) for i in range(2)]
    pick = st.sampled_from(registers)

    def pointer() -> Expr:
        match draw(st.integers(0, 4)):
            case 0:
                return address(draw(st.sampled_from(objects)), draw(OFFSETS))
            case 1:
                return address(draw(st.sampled_from(slots)), draw(OFFSETS))
            case 2:
                return at(draw(pick), draw(st.sampled_from([-16, -8, 8, 16])))
        return draw(pick)

    for _ in range(draw(st.integers(2, 9))):
        if draw(st.integers(0, 5)) == 0:
            other = made.location()
            made.function.edges[made.here].append(
                Edge(made.here, Skip(made.function.origin), other)
            )
        match draw(st.integers(0, 16)):
            case 0 | 1:
                made.assign(draw(pick), pointer())
            case 2 | 3 | 4:
                made.load(draw(pick), pointer())
            case 5 | 6 | 7:
                made.store(pointer(), pointer())
            case 8:
                made.allocate(draw(pick), OBJECT_SIZE)
            case 9:
                arguments = [pointer(), pointer()]
                made.call(draw(pick), draw(st.sampled_from(others)), *arguments)
            case 10:
                made.assign(draw(pick), address(draw(st.sampled_from(others))))
                made.call(draw(pick), draw(pick), pointer())
            case 11:
                made.spawn(draw(st.sampled_from(others)), pointer())
            case 12:
                made.assign(word, Convert(U64, pointer()))
                tag = Binary(U64, BinaryOp.OR, word, Const(U64, 2))
                made.assign(draw(pick), Convert(POINTER_64, tag))
            case 13:
                # A pointer goes through memory in two halves.
                source, goal = draw(pick), draw(pick)
                for offset in (0, 4):
                    made.load(half, at(source, offset))
                    made.store(at(goal, offset), half)
            case 14:
                chosen = Conditional(POINTER_64, Const(I32, 1), pointer(), pointer())
                distance = Conditional(
                    I64, Convert(I32, draw(pick)), Const(I64, 8), Const(I64, draw(OFFSETS))
                )
                made.assign(draw(pick), at(chosen, distance))
            case 15 | 16:
                index = Conditional(I32, Convert(I32, draw(pick)), Const(I32, 0), Const(I32, 1))
                step = Const(I64, draw(st.sampled_from([4, 8, 16])))
                scaled = Binary(I64, BinaryOp.MUL, Convert(I64, index), step)
                made.assign(draw(pick), at(pointer(), scaled))
    # Locations that nothing leaves get a way on.
    made.ret(draw(pick))
    for location, leaving in enumerate(made.function.edges):
        if not leaving:
            made.here = location
            made.ret(draw(pick))
    return made


@st.composite
def programs(draw: st.DrawFn) -> Program:
    names = ["main", "f", "g", "lib"]
    objects: list[StaticObject] = []
    for name in ("x", "y", "z"):
        relocations = []
        if objects and draw(st.booleans()):
            relocations.append((8, draw(st.sampled_from(objects)), draw(OFFSETS)))
        if draw(st.booleans()):
            relocations.append((16, draw(st.sampled_from(names[1:])), 0))
        objects.append(static(name, OBJECT_SIZE, relocations))
    made = [draw(functions(name, names[1:], objects)) for name in names]
    return program(*made, objects=objects)


@settings(max_examples=80, deadline=None)
@given(
    programs(),
    st.lists(st.integers(0, 1), max_size=40),
    st.sampled_from([0, 20, 10_000]),
    st.sampled_from([0, 2, 10_000]),
)
def test_concrete_pointers_are_foreseen(
    made: Program, inputs: list[int], copied_edges: int, places_apart: int
) -> None:
    points_to = PointsTo(made, copied_edges=copied_edges, places_apart=places_apart)
    interpreter = Interpreter(made, points_to, Sharing(points_to), inputs)
    try:
        interpreter.run("main", [], None, 1)
    except (Stop, RecursionError):
        pass
