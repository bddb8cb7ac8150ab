"""Vectors of thread locations: the explicit part of an abstract state.

Beside the call stacks a location has what decides where accesses go and who can move: which objects
live, and the values of pointers, locks and other variables that only ever get a few values (see
`knowledge`). All the rest is in the labels of the tree's nodes. Hashes are computed once: locations
are looked up all the time.
"""

from __future__ import annotations

from enum import Enum

from plait.data import dataclass, field
from plait.model.program import Edge

# An address and a number of bytes.
Cell = tuple[int, int]


class Status(Enum):
    RUNNING = "running"
    ENDED = "ended"
    # It has failed an assumption behind something that others may have seen: it stays there.
    HALTED = "halted"


@dataclass(slots=True, frozen=True)
class Frame:
    """Of the innermost frame `location` is where it is, of the others the source of the call that
    they wait for. `registers` and `slots` are sorted: known values, addresses of live locals."""

    function: str
    location: int
    base: int
    allocated: tuple[int, ...]
    registers: tuple[tuple[int, int], ...]
    slots: tuple[tuple[int, int], ...]
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        place = self.function, self.location, self.base, self.allocated
        values = (*place, self.registers, self.slots)
        object.__setattr__(self, "_hash", hash(values))

    def __hash__(self) -> int:
        return self._hash


@dataclass(slots=True, frozen=True)
class Thread:
    """`depth` is how many atomic sections it is in, `lock` the lock whose critical section
    it is in the middle of, where that counts as one step."""

    status: Status
    depth: int
    lock: Cell | None
    heap_page: int
    stack_page: int
    frames: tuple[Frame, ...]
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        place = self.status.value, self.depth, self.lock
        values = (*place, self.heap_page, self.stack_page, self.frames)
        object.__setattr__(self, "_hash", hash(values))

    def __hash__(self) -> int:
        return self._hash

    @property
    def is_inside(self) -> bool:
        """Whether it is in the middle of a section, so that only it moves."""
        return self.depth > 0 or self.lock is not None


ENDED = Thread(Status.ENDED, 0, None, 0, 0, ())
HALTED = Thread(Status.HALTED, 0, None, 0, 0, ())


@dataclass(slots=True, frozen=True)
class HeapObject:
    page: int
    size: int
    storage: str
    edge: Edge  # that has allocated it


@dataclass(slots=True, frozen=True)
class Location:
    """`cells` has the values of known cells where they are not the initial ones; None where a
    cell that is known at first is not known any more."""

    threads: tuple[Thread, ...]
    heap: tuple[HeapObject, ...]
    cells: tuple[tuple[Cell, int | None], ...]
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        values = (self.threads, self.heap, self.cells)
        object.__setattr__(self, "_hash", hash(values))

    def __hash__(self) -> int:
        return self._hash

    def can_step(self) -> list[int]:
        """The numbers of the threads that may take a step; some may be blocked."""
        inside = [n for n, thread in enumerate(self.threads, 1) if thread.is_inside]
        if inside:
            return inside
        running = Status.RUNNING
        return [n for n, thread in enumerate(self.threads, 1) if thread.status is running]
