"""What each action does to the state of a thread; checks that may fail are complained about."""

from __future__ import annotations

from plait.engines.modular import frames, locking, threads
from plait.engines.modular.frames import Frame
from plait.engines.modular.invariants import HANDING
from plait.engines.modular.memory import Memory
from plait.engines.modular.objects import Context, Kind, Object
from plait.engines.modular.outcome import GaveUp
from plait.engines.modular.state import Lock, State
from plait.engines.modular.values import (
    ZERO,
    Place,
    Value,
    constant,
    is_empty,
    may_be_zero,
    pointer,
    top,
)
from plait.model.actions import (
    Allocate,
    Assign,
    AtomicBegin,
    AtomicEnd,
    Check,
    CheckKind,
    EndProcess,
    EndThread,
    EnterScope,
    Free,
    Guard,
    Input,
    LeaveScope,
    Load,
    ObjectSize,
    Output,
    Prune,
    ReadModifyWrite,
    Spawn,
    Store,
    Unsupported,
    Wait,
    expressions_of,
)
from plait.model.expressions import Expr, Register
from plait.model.machine import LARGEST_ALLOCATION
from plait.model.program import Edge, Program
from plait.model.properties import Specification

# Those that write into the library's blocks for threads.
_KEEPERS = HANDING | {"__plait_finish", "pthread_join", "pthread_detach"}
_ALWAYS_CHECKED = {CheckKind.UNDEFINED, CheckKind.VALID_DEREF, CheckKind.VALID_FREE}


class Actions:
    def __init__(self, program: Program, specification: Specification, memory: Memory) -> None:
        self.program = program
        self.memory = memory
        self.invariants = memory.invariants
        self.objects = memory.objects
        self._checked = specification.checks | _ALWAYS_CHECKED
        self.has_waits = False
        self.allocates = False
        self.suspended: list[list[Value]] = []  # the registers of the frames below
        self._places: dict[int, str] = {}

    def where(self, frame: Frame, edge: Edge) -> str:
        if frame.function.library and frame.user_edge is not None:
            edge = frame.user_edge
        place = self._places.get(id(edge))
        if place is None:
            place = self._places[id(edge)] = self.program.user_place(edge.action.origin)
        return place

    def value(self, frame: Frame, state: State, expr: Expr, edge: Edge) -> Value:
        if type(expr) is Register:
            return state.registers[expr.index]
        evaluator = frames.evaluator(self.memory, frame, state)
        value = evaluator.value(expr)
        if evaluator.leaves_object:
            where = self.where(frame, edge)
            self.memory.complain(f"{where}: pointer arithmetic that may leave its object")
        return value

    def assume(self, frame: Frame, state: State, condition: Expr, edge: Edge) -> bool:
        """Whether the condition can hold; the state is then what it is where it does."""
        evaluator = frames.evaluator(self.memory, frame, state)
        found = evaluator.assume(condition, True)
        if evaluator.leaves_object:
            where = self.where(frame, edge)
            self.memory.complain(f"{where}: pointer arithmetic that may leave its object")
        if found is None:
            return False
        for register, value in found.items():
            state.registers[register] = value
            cell = state.copies.get(register)
            if cell is not None and cell in state.cells and value is not None:
                state.cells[cell] = value
            if register in state.tries and value == (0, 0, ()):
                locking.refine(self.memory, state, register)
        return True

    def act(
        self, frame: Frame, state: State, edge: Edge, context: Context, is_single: bool
    ) -> bool:
        """Whether the execution can go on. Calls and returns are not for here."""
        action = edge.action
        match action:
            case Assign():
                value = self.value(frame, state, action.value, edge)
                source = action.value
                state.assign(action.target.index, value)
                if isinstance(source, Register) and source.index in state.copies:
                    state.copies[action.target.index] = state.copies[source.index]
                if isinstance(source, Register) and source.index in state.tries:
                    state.tries[action.target.index] = state.tries[source.index]
            case Load() | Store() | ReadModifyWrite():
                return self._access(frame, state, edge, action)
            case Guard() | Prune() | Wait():
                if isinstance(action, Wait):
                    self.has_waits = True
                return self.assume(frame, state, action.condition, edge)
            case Check():
                return self._check(frame, state, edge, action)
            case Input():
                return self._input(frame, state, edge, action)
            case EnterScope():
                frames.enter_scope(self.memory, frame, state, action.slots)
            case LeaveScope():
                frames.leave_scope(self.memory, frame, state, action.slots)
            case AtomicBegin():
                state.depth += 1
            case AtomicEnd():
                if state.depth == 0:
                    self._complain(frame, edge, "an atomic section ends that never began")
                    return False
                state.depth -= 1
                self.memory.end_section(state)
            case Allocate():
                return self._allocate(frame, state, edge, action, context, is_single)
            case Spawn():
                start = self.value(frame, state, action.function, edge)
                argument = self.value(frame, state, action.argument, edge)
                number = threads.start(self.memory, state, start, argument, context, is_single)
                state.assign(action.target.index, number)
            case Free() | ObjectSize():
                return self._free(frame, state, edge, action)
            case EndThread():
                frames.end_thread(self.memory, state)
                return False
            case Output() | EndProcess():
                for item in expressions_of(action):
                    self.value(frame, state, item, edge)
                return isinstance(action, Output)
            case Unsupported():
                self._complain(frame, edge, action.message)
                return False
        return True

    def _complain(self, frame: Frame, edge: Edge, text: str) -> None:
        self.memory.complain(f"{self.where(frame, edge)}: {text}")

    def _check(self, frame: Frame, state: State, edge: Edge, action: Check) -> bool:
        if action.kind not in self._checked:
            return True
        if may_be_zero(self.value(frame, state, action.condition, edge)):
            self._complain(frame, edge, action.message)
        return self.assume(frame, state, action.condition, edge)

    def _input(self, frame: Frame, state: State, edge: Edge, action: Input) -> bool:
        value = top(action.target.type)
        if action.count is not None:
            count = self.value(frame, state, action.count, edge)
            if count is not None and not count[2]:
                if count[1] <= 0:
                    return False
                value = (0, count[1] - 1, ())
        state.assign(action.target.index, value)
        return True

    # --- memory

    def _access(
        self, frame: Frame, state: State, edge: Edge, action: Load | Store | ReadModifyWrite
    ) -> bool:
        memory, invariants = self.memory, self.invariants
        where = self.where(frame, edge)
        scalar = (
            action.value.type
            if isinstance(action, Store)
            else (action.target.type if isinstance(action, Load) else action.old.type)
        )
        address = self.value(frame, state, action.address, edge)
        writes = not isinstance(action, Load)
        places = memory.places(state, address, scalar.size, writes, where)
        if not places:
            return False
        for place in places:
            memory.note_access(state, place, scalar.size, writes, action.order.is_atomic, where)
        if isinstance(action, Store):
            value = self.value(frame, state, action.value, edge)
            self._note_stray(frame, state, places, scalar.size, value)
            for place in places:
                if self.objects[place[0]].is_of_library:
                    for cell in memory.cells(place, scalar.size) or ():
                        invariants.note_writer(cell, frame.function.name, memory.thread)
            memory.store(state, places, scalar.size, top(scalar) if value is None else value)
            self._remember(state, action.value, places, scalar.size)
            return True
        loaded = memory.load(state, places, scalar)
        if loaded is None:
            if isinstance(action, Load) and (frame.function.library or action.copies):
                memory.complain(f"{where}: a copy of what may have no value")
            loaded = top(scalar)
        if is_empty(loaded):
            return False
        if isinstance(action, Load):
            state.assign(action.target.index, loaded)
            self._remember(state, action.target, places, scalar.size)
            return True
        self._note_stray(frame, state, places, scalar.size, None)
        state.assign(action.old.index, loaded)
        new = self.value(frame, state, action.new, edge)
        guard = constant(1)
        if action.guard is not None:
            guard = self.value(frame, state, action.guard, edge)
        new = top(scalar) if new is None else new
        if guard != ZERO:
            memory.store(state, places, scalar.size, new, not may_be_zero(guard))
            self._try(frame, state, edge, action, places)
        return True

    def _try(
        self, frame: Frame, state: State, edge: Edge, action: ReadModifyWrite, places: list[Place]
    ) -> None:
        """If the old value was 0 and the new one never is then, the cell is now held as a lock."""
        item = self.objects[places[0][0]]
        if state.depth or not item.is_shared or item.kind is not Kind.STATIC or len(places) > 1:
            return
        if places[0][1] != places[0][2]:
            return
        if self.memory.cells(places[0], action.old.type.size) is None:
            return
        old = state.registers[action.old.index]
        state.registers[action.old.index] = ZERO
        writes = not may_be_zero(self.value(frame, state, action.new, edge))
        if action.guard is not None:
            writes &= not may_be_zero(self.value(frame, state, action.guard, edge))
        state.registers[action.old.index] = old
        lock = Lock(places[0][0], places[0][1], "cell")
        if writes and self.invariants.is_trusted(lock):
            state.tries[action.old.index] = lock, True

    def _remember(self, state: State, expr: Expr, places: list[Place], size: int) -> None:
        """The register now holds what is in the cell."""
        if not isinstance(expr, Register) or len(places) != 1:
            return
        if places[0][1] == places[0][2] and self.memory.is_strong(
            state, self.objects[places[0][0]]
        ):
            cell = (places[0][0], places[0][1], size)
            value = state.cells.get(cell)
            if value is not None and value == state.registers[expr.index]:
                state.copies[expr.index] = cell

    def _note_stray(
        self, frame: Frame, state: State, places: list[Place], size: int, value: Value
    ) -> None:
        """Writes into what only certain functions should write."""
        name = frame.function.name if frame.function.library else ""
        for number, low, high, _ in places:
            if self.objects[number].is_of_library and name not in _KEEPERS:
                raise GaveUp("the program writes into an object of the library")
            if name in locking.WRITERS:
                continue
            if any(lock.object == number for lock in self.invariants.locks):
                held = any(lock.object == number for lock in state.written | state.read)
                makes_free = value == ZERO or name in locking.DESTROYERS
                if held or not state.is_alone or not makes_free:
                    self.invariants.stray.add((number, low, high + size))

    def _allocate(
        self, frame: Frame, state: State, edge: Edge, action: Allocate, context: Context,
        is_single: bool,
    ) -> bool:  # fmt: skip
        size = self.value(frame, state, action.size, edge)
        if size is None or size[2] or not (0 <= size[0] and size[1] <= LARGEST_ALLOCATION):
            self._complain(frame, edge, "an allocation that may be too large")
            size = (0, LARGEST_ALLOCATION, ())
        self.allocates = self.allocates or action.storage == "heap"
        exact = size[0] if size[0] == size[1] else None
        kind = Kind.STACK if action.storage == "stack" else Kind.HEAP
        like = Object(
            -1, kind, "allocated memory", exact, False, is_single,
            is_zeroed=action.zeroed, is_of_library=action.storage == "library",
        )  # fmt: skip
        number = self.objects.allocated(
            edge, context, self.memory.thread.number, is_single, exact, like
        )
        if self.objects[number].size is None:
            self.invariants.add(self.invariants.unsized, number)
        if self._is_only_one_known(state, number):
            state.fresh |= {number}
        frames.begin_life(self.memory, state, number)
        state.assign(action.target.index, pointer(number))
        return True

    def _is_only_one_known(self, state: State, number: int) -> bool:
        """Whether all pointers to what an edge allocates, that the thread gets without a look into
        memory, are to the new object: there is no other one, or no register points to another one
        (an earlier one, or that of another thread that started at the same place)."""
        if not self.objects[number].is_shared:
            return self.objects[number].is_single
        if self.objects.is_one(number):
            return True
        values = list(state.registers)
        for registers in self.suspended:
            values += registers
        return not any(
            place[0] == number for value in values if value is not None for place in value[2]
        )

    def _free(self, frame: Frame, state: State, edge: Edge, action: Free | ObjectSize) -> bool:
        address = self.value(frame, state, action.address, edge)
        if isinstance(action, Free) and address == (0, 0, ()):
            return True
        self._complain(frame, edge, "memory that is freed")
        if address is None:
            raise GaveUp("free of an address of unknown origin")
        if isinstance(action, ObjectSize):
            state.assign(action.target.index, top(action.target.type))
            return True
        if address[1] >= self.objects.page or address[0] < 0:
            raise GaveUp("free of an address of unknown origin")
        for place in address[2]:
            self.invariants.add(self.invariants.freed, place[0])
        return True
