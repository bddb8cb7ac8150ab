"""The paths of a run's threads with symbolic values: what a concurrent trace program and its
abstraction are made of (sections 2.3, 4.1 and 5.1 of the Fusion paper). `walk` makes them.

Each read of a cell that several threads touch gets a fresh symbol (the paper's w, defined by a
pi-function); all else follows from the expressions of the model. Where a branch depends on symbols
it becomes a `Branch`, and where its ways meet again what the other way may have assigned is
`ite(condition, as in the run, fresh)`: the phi-function. On the path itself the conditions hold, so
that a phi-function is what the run has assigned.

All that happens before a second thread is there happens in each execution: the values at that
moment are the initial ones.
"""

from __future__ import annotations

from collections.abc import Callable

from plait.data import dataclass, field
from plait.hunt.fusion.untaken import Untaken
from plait.logic.terms import Terms

LIFE = -1  # the offset of the cell that says whether an object lives


@dataclass(slots=True, frozen=True)
class Cell:
    """Bytes that are always accessed together: of the object at a page, from an offset on. Or the
    life of that object: 1 until it ends."""

    page: int
    offset: int
    size: int

    @property
    def width(self) -> int:
        return 1 if self.offset == LIFE else self.size * 8


@dataclass(slots=True, eq=False)
class CellRead:
    """`symbol` is the value that the read finds, where `guard` holds. Its thread has been at so
    many branches before (`branches`)."""

    cell: Cell
    symbol: int
    guard: int
    branches: int


@dataclass(slots=True, eq=False)
class CellWrite:
    cell: Cell
    value: int
    guard: int


@dataclass(slots=True, eq=False)
class PathEvent:
    """A step of the run that other threads can notice: number `step` of the run. Where `guard`
    holds, the thread's path comes to it. `waits` are conditions without which it cannot be made."""

    thread: int
    step: int
    guard: int
    reads: list[CellRead] = field(default_factory=list)
    writes: list[CellWrite] = field(default_factory=list)
    waits: list[int] = field(default_factory=list)
    spawned: int = 0
    ends_process: bool = False


@dataclass(slots=True, eq=False)
class Branch:
    """A condition that was true in the run, behind so many events of its thread (`after`).
    `inside`: the last of these events goes on with effects behind the branch. `until` is the number
    of the thread's first event behind the merging point (there need be no such event); None if the
    run does not come to that point, so that nothing is known of what the thread does behind it."""

    thread: int
    after: int
    guard: int
    condition: int
    untaken: Untaken
    inside: bool = False
    until: int | None = None


@dataclass(slots=True, eq=False)
class Failing:
    """The thread violates a property behind so many of its events where `guard` and `condition`
    hold; `path` is the conjunction of what its path has relied on so far."""

    thread: int
    after: int
    guard: int
    path: int
    condition: int
    violated: str
    text: str


@dataclass(slots=True, eq=False)
class ThreadPath:
    events: list[PathEvent] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)
    failing: list[Failing] = field(default_factory=list)
    final_guard: int = 0
    has_ended: bool = False


@dataclass(slots=True, eq=False)
class Paths:
    """`initial` has the values of cells when a second thread appears. `touched` has, for each step
    of the run since then, the objects that it accesses, and whether it writes them. The functions
    say which of them the untaken side of a branch may write, or access."""

    terms: Terms
    threads: dict[int, ThreadPath]
    initial: dict[Cell, int]
    touched: dict[int, list[tuple[int, bool]]]
    may_write: Callable[[Branch, int], bool]
    may_access: Callable[[Branch, int], bool]
