"""A certificate as data. What it claims is not yet checked, only that it is well formed."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from plait.data import dataclass, field
from plait.logic.terms import Terms

FORMAT = "plait-certificate"
VERSION = 1


class Status(Enum):
    RUNNING = "running"
    ENDED = "ended"
    # A failed assumption stopped it for good, after effects that others may have seen.
    HALTED = "halted"


class Cell(NamedTuple):
    """`size` bytes of memory from `address` on, as one little-endian value."""

    address: int
    size: int


class RegisterName(NamedTuple):
    """What a variable of a label stands for: a register of a frame (0 is the outermost)."""

    thread: int
    frame: int
    register: int


# Structures that are equal exactly if all but values of registers and memory is equal.
FrameShape = tuple[str, int, int, tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]
ThreadShape = tuple[Status, int, Cell | None, int, int, tuple[FrameShape, ...]]
Shape = tuple[tuple[ThreadShape, ...], tuple[tuple[int, int, str], ...]]


@dataclass(slots=True, eq=False)
class Frame:
    """`location` of the innermost frame is where it is, of a suspended one the source of its call.

    `allocated` has the first page and the size of each object from alloca; `registers` those whose
    value is known; `slots` the addresses of the locals in memory that are alive.
    """

    function: str
    location: int
    base: int
    allocated: tuple[tuple[int, int], ...]
    registers: Mapping[int, int]
    slots: Mapping[int, int]

    @property
    def shape(self) -> FrameShape:
        slots = tuple(sorted(self.slots.items()))
        return self.function, self.location, self.base, self.allocated, slots


@dataclass(slots=True, eq=False)
class Thread:
    """`lock` is the lock whose critical section it is in the middle of."""

    status: Status
    depth: int
    heap_page: int
    stack_page: int
    frames: tuple[Frame, ...]
    lock: Cell | None = None

    @property
    def shape(self) -> ThreadShape:
        frames = tuple(frame.shape for frame in self.frames)
        return self.status, self.depth, self.lock, self.heap_page, self.stack_page, frames

    @property
    def is_inside(self) -> bool:
        """Whether it is in the middle of a section, so that only it moves."""
        return self.depth > 0 or self.lock is not None


@dataclass(slots=True, eq=False)
class Location:
    """Where all threads are and which objects live, with the values that are known there.

    `cells` differs from the certificate's `initial` values: None is a cell that is not known.
    """

    threads: tuple[Thread, ...]
    heap: Mapping[int, tuple[int, str]]
    cells: Mapping[Cell, int | None]
    shape: Shape = field(init=False)

    def __post_init__(self) -> None:
        heap = tuple(sorted((page, size, kind) for page, (size, kind) in self.heap.items()))
        self.shape = tuple(thread.shape for thread in self.threads), heap

    def is_running(self, number: int) -> bool:
        return (
            1 <= number <= len(self.threads) and self.threads[number - 1].status is Status.RUNNING
        )

    @property
    def running(self) -> list[int]:
        return [number for number in range(1, len(self.threads) + 1) if self.is_running(number)]

    @property
    def in_section(self) -> int | None:
        """The thread that is inside an atomic or critical section."""
        for number, thread in enumerate(self.threads, 1):
            if thread.is_inside:
                return number
        return None

    @property
    def movable(self) -> list[int]:
        """The threads that may take a step (some may turn out to be blocked)."""
        inside = self.in_section
        return self.running if inside is None else [inside]


@dataclass(slots=True, eq=False)
class Node:
    """The states at `location` in which all terms of `label` hold. `persistent` is a thread whose
    step comes before all that the others do."""

    number: int
    parent: int | None
    thread: int | None
    location: Location
    label: tuple[int, ...]
    cover: int | None
    expanded: tuple[int, ...]
    persistent: int | None = None


@dataclass(slots=True, eq=False)
class Certificate:
    """`meanings` says what each variable of the labels stands for; `options` are the arguments of
    the command that made it, for people."""

    engine: str
    options: tuple[str, ...]
    fingerprint: str
    properties: tuple[str, ...]
    error_functions: tuple[str, ...]
    switch_points: Mapping[str, frozenset[int]]
    locks: frozenset[Cell]
    terms: Terms
    meanings: Mapping[int, RegisterName | Cell]
    initial: Mapping[Cell, int]
    nodes: tuple[Node, ...]
    cells: tuple[Cell, ...]  # all that are named anywhere, in the order of addresses

    @property
    def size(self) -> str:
        return f"{len(self.nodes)} nodes"
