"""A run of one function: its locals, and what its end means for them."""

from __future__ import annotations

from plait.data import dataclass, field
from plait.engines.modular.evaluate import Evaluator
from plait.engines.modular.memory import Memory
from plait.engines.modular.objects import Context
from plait.engines.modular.state import State
from plait.engines.modular.values import Value, join
from plait.model.program import Edge, Function


@dataclass(slots=True, eq=False)
class Frame:
    """`user_edge` is the call in the user's code that led into the library, if it is there."""

    function: Function
    context: Context
    is_single: bool
    user_edge: Edge | None
    names: tuple[str, ...]  # of the functions on the way here
    slots: dict[int, int] = field(default_factory=dict)


def open_frame(memory: Memory, frame: Frame) -> None:
    """Its locals have addresses from the beginning; they are alive once their scope is entered."""
    number = memory.thread.number
    for slot in frame.function.slots:
        made = memory.objects.local(slot, frame.context, number, frame.is_single)
        frame.slots[slot.index] = made


def evaluator(memory: Memory, frame: Frame, state: State) -> Evaluator:
    return Evaluator(memory.objects, state.registers, frame.slots, memory.thread_numbers)


def enter_scope(memory: Memory, frame: Frame, state: State, slots: tuple[int, ...]) -> None:
    entered = [frame.slots[index] for index in slots]
    again = [number for number in entered if number in state.living]
    leave(memory, state, again)
    state.living |= frozenset(entered)
    for number in entered:
        begin_life(memory, state, number)


def begin_life(memory: Memory, state: State, number: int) -> None:
    """An object is made: it holds its initial values."""
    for cell in memory.invariants.cells_of(number):
        if not memory.is_own(state, cell):
            memory.invariants.publish(cell, memory.initial(cell))
            memory.invariants.settle(cell, memory.initial(cell))
        elif memory.objects[number].is_single or number in state.living | state.fresh:
            state.cells[cell] = memory.initial(cell)
        else:
            state.cells[cell] = join(memory.fetch(state, cell), memory.initial(cell))


def leave_scope(memory: Memory, frame: Frame, state: State, slots: tuple[int, ...]) -> None:
    leave(memory, state, [frame.slots[index] for index in slots])


def leave(memory: Memory, state: State, numbers: list[int]) -> None:
    """The life of locals is over. Pointers to them become numbers of unknown origin, so that no
    later local of the same place is taken for them; where such pointers may be in memory that
    others see, the local counts as dead for ever."""
    left = {number for number in numbers if number in state.living}
    if not left:
        return
    state.living -= left
    for number in left:
        if memory.objects[number].is_shared or number in memory.objects.exposed:
            state.dead |= {number}
            if not state.is_alone:
                memory.invariants.add(memory.invariants.outlived, number)
    state.written = frozenset(lock for lock in state.written if lock.object not in left)
    state.read = frozenset(lock for lock in state.read if lock.object not in left)
    state.tries = {r: held for r, held in state.tries.items() if held[0].object not in left}
    for cell in [item for item in state.cells if item[0] in left]:
        state.remove(cell)
    for cell, value in state.cells.items():
        if value is not None and value[2] and not left.isdisjoint(p[0] for p in value[2]):
            state.cells[cell] = without(memory, value, left)
    state.registers = [
        without(memory, value, left) if value is not None and value[2] else value
        for value in state.registers
    ]


def without(memory: Memory, value: Value, left: set[int]) -> Value:
    if value is None or left.isdisjoint(place[0] for place in value[2]):
        return value
    return (
        0,
        (1 << memory.objects.pointer_bits) - 1,
        tuple(place for place in value[2] if place[0] not in left),
    )


def end_frame(memory: Memory, frame: Frame, state: State) -> None:
    leave(memory, state, list(frame.slots.values()))


def end_thread(memory: Memory, state: State) -> None:
    """All locals of the thread die. The locks that it holds can be made free by others once it
    was joined, so what they protect is settled now."""
    for number in state.living:
        if memory.objects[number].is_shared and not state.is_alone:
            memory.invariants.add(memory.invariants.outlived, number)
    for cell in state.dirty:
        memory.invariants.settle(cell, state.cells[cell])
    state.depth = 0
    memory.end_section(state)
