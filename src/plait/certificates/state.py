"""States of symbolic execution: what a node says about them, and what one path of a step makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from plait.certificates.decide import Facts
from plait.certificates.document import (
    Cell,
    FrameShape,
    Location,
    Shape,
    Status,
    ThreadShape,
)
from plait.certificates.memory import Cells, KnownBytes, Memory
from plait.certificates.world import World
from plait.logic.terms import Terms
from plait.model.actions import Origin
from plait.model.program import Function

# The call stack as functions and locations, innermost last.
Stack = tuple[object, ...]


class Registers(dict[int, int]):
    """The terms of a frame's registers; those that nobody has asked for are made on demand."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[int], int]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, index: int) -> int:
        made = self[index] = self._make(index)
        return made

    def copy(self) -> Registers:
        made = Registers(self._make)
        made.update(self)
        return made


class ActiveFrame:
    """A frame in execution. Suspended frames are never changed: who returns to one copies it."""

    __slots__ = ("allocated", "base", "below", "function", "location", "registers", "slots")

    def __init__(
        self,
        function: Function,
        location: int,
        base: int,
        allocated: tuple[tuple[int, int], ...],
        registers: Registers,
        slots: dict[int, int],
        below: Stack,
    ) -> None:
        self.function = function
        self.location = location
        self.base = base
        self.allocated = allocated
        self.registers = registers
        self.slots = slots
        self.below = below  # the stack of its callers

    def copy(self) -> ActiveFrame:
        return ActiveFrame(
            self.function,
            self.location,
            self.base,
            self.allocated,
            self.registers.copy(),
            self.slots.copy(),
            self.below,
        )

    @property
    def stack(self) -> Stack:
        return self.below, self.function.name, self.location

    @property
    def shape(self) -> FrameShape:
        slots = tuple(sorted(self.slots.items()))
        return self.function.name, self.location, self.base, self.allocated, slots


class Live:
    """The objects that live: their sizes by their first pages."""

    __slots__ = ("_changes", "_given", "_static")

    def __init__(self, static: Mapping[int, int], given: Mapping[int, int]) -> None:
        self._static = static
        self._given = given
        self._changes: dict[int, int | None] = {}

    def copy(self) -> Live:
        made = Live(self._static, self._given)
        made._changes = self._changes.copy()
        return made

    def get(self, page: int) -> int | None:
        if page in self._changes:
            return self._changes[page]
        size = self._given.get(page)
        return self._static.get(page) if size is None else size

    def create(self, page: int, size: int) -> None:
        self._changes[page] = size

    def destroy(self, page: int) -> None:
        self._changes[page] = None


class Situation:
    """A location of the certificate, as symbolic execution starts from it."""

    def __init__(
        self,
        world: World,
        terms: Terms,
        cells: Cells,
        location: Location,
        initial: Mapping[Cell, int],
    ) -> None:
        self._world = world
        self._terms = terms
        self.location = location
        self.bytes = KnownBytes(terms, cells, initial, location.cells, self.known_value)
        self._live: dict[int, int] | None = None

    def register(self, thread: int, frame: int, index: int) -> int:
        """The term of a register: its known value, or the variable that stands for it."""
        entry = self.location.threads[thread - 1].frames[frame]
        function = self._world.program.functions[entry.function]
        bits = function.registers[index].type.bits
        value = entry.registers.get(index)
        if value is not None:
            return self.known_value(value, bits)
        return self._terms.variable(f"t{thread}.{frame}.{index}:{bits}", bits)

    def known_value(self, value: int, bits: int) -> int:
        """The term of a value that is known."""
        return self._terms.constant(value, bits)

    def truths_of_types(self) -> list[int]:
        """What holds of all states: a _Bool register is 0 or 1."""
        found = []
        for number in self.location.running:
            for depth, frame in enumerate(self.location.threads[number - 1].frames):
                function = self._world.program.functions[frame.function]
                for index, register in enumerate(function.registers):
                    if register.type.is_bool and index not in frame.registers:
                        term = self.register(number, depth, index)
                        one = self._terms.constant(1, register.type.bits)
                        found.append(self._terms.ule(term, one))
        return found

    def live(self) -> Live:
        if self._live is None:
            self._live = self._dynamic_objects()
        return Live(self._world.static_sizes, self._live)

    def _dynamic_objects(self) -> dict[int, int]:
        """Objects that are not static. Locals of a halted thread are left out although they live:
        an access to them is trouble, and therefore no certificate depends on them."""
        world = self._world
        found = {page: size for page, (size, _) in self.location.heap.items()}
        for number, thread in enumerate(self.location.threads, 1):
            if number > 1 and thread.status is not Status.ENDED:
                copies = world.space.thread_local_copies(number)
                found.update((page, item.size) for item, page in copies)
            for frame in thread.frames:
                function = world.program.functions[frame.function]
                for index, address in frame.slots.items():
                    found[address >> world.page_bits] = function.slots[index].size
                found.update(frame.allocated)
        return found

    def frames(self, thread: int) -> list[ActiveFrame]:
        made: list[ActiveFrame] = []
        below: Stack = ()
        for depth, frame in enumerate(self.location.threads[thread - 1].frames):

            def make(index: int, depth: int = depth) -> int:
                return self.register(thread, depth, index)

            function = self._world.program.functions[frame.function]
            active = ActiveFrame(
                function,
                frame.location,
                frame.base,
                frame.allocated,
                Registers(make),
                dict(frame.slots),
                below,
            )
            below = active.stack
            made.append(active)
        return made


class Access(NamedTuple):
    """Bytes that a path read or wrote. A change of an object's life is a write of all of it.

    `is_local`: the step goes on as if no other thread could notice. `facts` held when it happened.
    `lock` is the lock in whose critical section, as a part of one step, it happened. `is_atomic`:
    None for what is no access in C.
    """

    start: int
    end: int
    is_write: bool
    is_local: bool
    facts: Facts
    origin: Origin
    lock: Cell | None = None
    is_atomic: bool | None = None

    def conflicts_with(self, other: Access) -> bool:
        return (
            self.start < other.end and other.start < self.end and (self.is_write or other.is_write)
        )


class Path:
    """One way through a step, so far."""

    __slots__ = (
        "accesses",
        "acquires",
        "alone",
        "bases",
        "depth",
        "executed",
        "facts",
        "frames",
        "handed",
        "heap",
        "heap_page",
        "held",
        "is_first",
        "is_halted",
        "length",
        "live",
        "lock",
        "memory",
        "section_is_free",
        "situation",
        "spawned",
        "stack_page",
        "starts_free",
        "thread",
        "wrote",
    )

    def __init__(self, situation: Situation, thread: int, facts: Facts, memory: Memory) -> None:
        entry = situation.location.threads[thread - 1]
        self.situation = situation
        self.thread = thread
        self.facts = facts
        self.frames = situation.frames(thread)
        self.depth = entry.depth
        self.lock = entry.lock  # whose critical section goes on
        self.acquires = False  # whether the atomic section may take a lock
        self.held: list[tuple[Cell, int]] = []  # what locks hold in the middle of sections
        self.heap_page = entry.heap_page
        self.stack_page = entry.stack_page
        self.memory = memory
        self.live = situation.live()
        self.heap = dict(situation.location.heap)
        self.spawned: list[ActiveFrame] = []
        self.accesses: list[Access] = []
        # The addresses of objects by their pages, where these only stand for them (`templates`).
        self.bases: dict[int, int] = {}
        # The page of the object that a new thread got, with its size and storage.
        self.handed: tuple[int, tuple[int, str]] | None = None
        self.executed: set[Stack] = set()
        self.alone = False
        self.is_first = True
        self.starts_free = False
        self.section_is_free = entry.is_inside
        self.wrote = entry.is_inside  # whatever the section has done before this step
        self.is_halted = False
        self.length = 0

    def fork(self, facts: Facts) -> Path:
        made = Path.__new__(Path)
        for name in Path.__slots__:
            setattr(made, name, getattr(self, name))
        made.facts = facts
        made.frames = [*self.frames[:-1], self.frames[-1].copy()] if self.frames else []
        made.memory = self.memory.copy()
        made.live = self.live.copy()
        made.heap = self.heap.copy()
        made.spawned = self.spawned.copy()
        made.accesses = self.accesses.copy()
        made.held = self.held.copy()
        made.executed = self.executed.copy()
        return made

    @property
    def frame(self) -> ActiveFrame:
        return self.frames[-1]

    @property
    def is_free(self) -> bool:
        """Whether the next action may interact with other threads: see docs/certificates.md."""
        if self.alone or (self.is_first and self.starts_free):
            return True
        return self.section_is_free and self.is_inside

    @property
    def is_inside(self) -> bool:
        """Whether the thread is in the middle of a section, so that only it moves."""
        return self.depth > 0 or self.lock is not None

    def shape(self, world: World) -> Shape:
        """The structure of the location that the path leads to."""
        threads = list(self.situation.location.shape[0])
        threads[self.thread - 1] = self.own_shape()
        for frame in self.spawned:
            threads.append(new_thread_shape(world, len(threads) + 1, frame))
        heap = tuple(sorted((page, size, kind) for page, (size, kind) in self.heap.items()))
        return tuple(threads), heap

    def own_shape(self) -> ThreadShape:
        if self.is_halted:
            return Status.HALTED, 0, None, 0, 0, ()
        if not self.frames:
            return Status.ENDED, 0, None, 0, 0, ()
        frames = tuple(frame.shape for frame in self.frames)
        pages = self.heap_page, self.stack_page
        return Status.RUNNING, self.depth, self.lock, *pages, frames

    def register(self, thread: int, frame: int, index: int) -> int:
        """The term of a register in the state that the path leads to."""
        if thread == self.thread:
            return self.frames[frame].registers[index]
        old = len(self.situation.location.threads)
        if thread > old:
            return self.spawned[thread - old - 1].registers[index]
        return self.situation.register(thread, frame, index)


def new_thread_shape(world: World, number: int, frame: ActiveFrame) -> ThreadShape:
    """A thread before its first action; its thread-local objects take the first pages."""
    space = world.space
    stack_page = space.arena(number)[1] - space.frame_layout(frame.function).pages
    return Status.RUNNING, 0, None, space.heap_start(number), stack_page, (frame.shape,)
