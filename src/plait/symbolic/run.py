"""One way through a block, up to some point."""

from __future__ import annotations

from collections.abc import Mapping

from plait.data import dataclass
from plait.logic.terms import Terms
from plait.model.actions import Origin
from plait.model.program import Edge
from plait.model.unset import Maker
from plait.symbolic.blocks import Access, InputUse, Manner
from plait.symbolic.knowledge import Shape
from plait.symbolic.locations import Cell, Frame, HeapObject
from plait.symbolic.surroundings import Item, Surroundings

# The calls that a stack of frames waits for: functions and sources of the calls' edges.
Stack = tuple[tuple[str, int], ...]
# Where a thread stands: the calls that it is in, the innermost function, the location there.
Standing = tuple[Stack, str, int]


class Trouble(Exception):
    """What the running thread does here has no verdict."""

    def __init__(self, message: str, origin: Origin) -> None:
        super().__init__(message)
        self.message = message
        self.origin = origin


class RunIsOver(Exception):
    """The run has come to its end, and what it came to is recorded."""


@dataclass(slots=True, eq=False)
class OpenFrame:
    """A frame whose values are at hand. `call` is the edge that it waits for."""

    shape: Shape
    base: int
    allocated: list[int]
    registers: dict[int, int]
    slots: dict[int, int]
    depth: int
    call: Edge | None = None
    laps: int = 0  # how often the run has gone back in this function

    def copy(self) -> OpenFrame:
        return OpenFrame(
            self.shape,
            self.base,
            self.allocated[:],
            dict(self.registers),
            dict(self.slots),
            self.depth,
            self.call,
            self.laps,
        )

    @property
    def live_while_waiting(self) -> int:
        assert self.call is not None
        return self.shape.live_while_waiting(self.call)


@dataclass(slots=True, eq=False)
class SpawnedThread:
    heap_page: int
    stack_page: int
    frame: OpenFrame

    def copy(self) -> SpawnedThread:
        return SpawnedThread(self.heap_page, self.stack_page, self.frame.copy())


class Run:
    """`frames` are those that the run has entered or come back to, `suspended` the ones around
    them, as the location has them."""

    def __init__(self, surroundings: Surroundings) -> None:
        thread = surroundings.thread
        self.surroundings = surroundings
        self.number = surroundings.number
        self.location = self.began = thread.frames[-1].location
        self.depth = thread.depth  # of atomic sections
        self.lock = thread.lock  # whose critical section goes on
        self.is_acquiring = False  # whether the atomic section may take a lock
        self.heap_page, self.stack_page = thread.heap_page, thread.stack_page
        self.is_alone = surroundings.is_alone()
        # Others can tell that it has done something: of a section that goes on, they can.
        self.is_noticed = thread.is_inside
        self.noticed_writes: set[Cell] = set()  # that others may read
        self.actions = 0
        self.stack: Stack = tuple((frame.function, frame.location) for frame in thread.frames[:-1])
        self.suspended: list[Frame] = list(thread.frames[:-1])
        self.frames: list[OpenFrame] = []
        self.conditions: list[int] = []
        self.memory: dict[Cell, int] = {}  # the values of cells that it has written
        self.ended: dict[int, int] = {}  # addresses and sizes of objects that died
        self.begun: dict[int, Item] = {}  # by their first pages
        self.allocated: dict[int, HeapObject] = {}
        self.freed: set[int] = set()
        self.spawned: list[SpawnedThread] = []
        self.accesses: list[Access] = []
        self.inputs: list[InputUse] = []
        self.visited: set[Standing] = set()
        # Whether it has been found out that it does not stop where it stands.
        self.goes_on = True
        # Whether others may come here by the same edge: it has returned, or an access has forked.
        self.may_meet = False

    def copy(self) -> Run:
        other = Run.__new__(Run)
        other.__dict__.update(self.__dict__)
        other.suspended = self.suspended[:]
        other.frames = [frame.copy() for frame in self.frames]
        other.conditions = self.conditions[:]
        other.memory = dict(self.memory)
        other.ended = dict(self.ended)
        other.begun = dict(self.begun)
        other.allocated = dict(self.allocated)
        other.freed = set(self.freed)
        other.spawned = [thread.copy() for thread in self.spawned]
        other.accesses = self.accesses[:]
        other.inputs = self.inputs[:]
        other.visited = set(self.visited)
        other.noticed_writes = set(self.noticed_writes)
        return other

    @property
    def has_changed(self) -> bool:
        """Whether others can tell that it has done something."""
        return self.is_noticed or bool(self.noticed_writes)

    @property
    def frame(self) -> OpenFrame:
        """The innermost one."""
        return self.frames[-1]

    @property
    def standing(self) -> Standing:
        return self.stack, self.frames[-1].shape.function.name, self.location

    @property
    def is_inside(self) -> bool:
        """Whether it is in the middle of a section, so that only it moves."""
        return self.depth > 0 or self.lock is not None

    def note_access(
        self, address: int, size: int, is_write: bool, when: int | None, manner: Manner
    ) -> None:
        lock = 0 if self.lock is None else self.lock[0]
        if self.depth and manner is Manner.PLAIN:
            manner = Manner.ATOMIC
        self.accesses.append(Access(address, size, is_write, when, lock, manner))

    def assume(self, condition: int, terms: Terms) -> None:
        if condition != terms.true and condition not in self.conditions:
            self.conditions.append(condition)

    def follow(self, edge: Edge) -> None:
        """Go on behind an action of the innermost frame."""
        rank = self.frames[-1].shape.rank
        if edge.target >= 0 and rank[edge.target] >= rank[edge.source]:
            self.frames[-1].laps += 1
        self.location = edge.target

    def input(self, terms: Terms, name: str, bits: int, when: int | None = None) -> int:
        """A variable for a value that nothing determines; it is asked for where `when` holds."""
        variable = terms.fresh("input", bits)
        self.inputs.append(InputUse(name, variable, when))
        return variable

    def unset(self, terms: Terms, maker: Maker, bits: int, offset: int = 0) -> int:
        """A variable for a value that nobody has set."""
        variable = terms.fresh("input", bits)
        self.inputs.append(InputUse("uninitialised", variable, None, (maker, offset)))
        return variable

    def registers(self, terms: Terms) -> Mapping[int, int]:
        """Values of the innermost frame; a register that was never assigned is an input."""
        return _Registers(self, terms)

    def heap_object(self, page: int) -> HeapObject | None:
        found = self.allocated.get(page)
        if found is not None or page in self.freed:
            return found
        return self.surroundings.heap_object(page)


class _Registers(Mapping[int, int]):
    def __init__(self, run: Run, terms: Terms) -> None:
        self._run, self._terms = run, terms

    def __getitem__(self, index: int) -> int:
        frame = self._run.frames[-1]
        found = frame.registers.get(index)
        if found is None:
            bits = frame.shape.function.registers[index].type.bits
            found = frame.registers[index] = self._run.input(self._terms, "uninitialised", bits)
        return found

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(self._run.frames[-1].registers)

    def __len__(self) -> int:
        return len(self._run.frames[-1].registers)
