"""What goes into an engine and what comes out: a question in, events and an outcome out.

An engine is a function `answer(question, listener) -> Outcome` in a folder of its own. It knows
neither the other engines nor who asks. How to write one: docs/adding-an-engine.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Protocol

from plait.data import dataclass, field, fields
from plait.model.actions import NOWHERE, Origin
from plait.model.facts import Fact
from plait.model.program import Edge, FrameSlot, Program, StaticObject
from plait.model.properties import Specification
from plait.model.unset import Maker, Unset

# --- in


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """Whether a program has some properties. `deadline` is by the monotonic clock. `unwind`: loops
    are unrolled so many times and no more. `settings` has a value for each option of the engine.
    `known` gives the facts that others have proved by now. `previous` is what the proof of a
    program before an edit has left (`Proof.predicates`), which may be anything. Unless somebody
    `wants_facts`, nobody needs those that the engine could find on its way."""

    program: Program
    specification: Specification
    deadline: float | None = None
    unwind: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    known: Callable[[], tuple[Fact, ...]] = tuple
    previous: dict[str, Any] | None = None
    wants_facts: bool = True


# --- out


@dataclass(slots=True, eq=False)
class Statistics:
    """What an engine counts: the fields of a subclass. In results a field has its own name, or the
    one in `names`; seconds come last."""

    names = dict[str, str]()  # of the fields that have another one in results

    def numbers(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            name = self.names.get(item.name, item.name)
            found[name] = round(value, 6) if isinstance(value, float) else value
        return dict(sorted(found.items(), key=lambda entry: entry[0].endswith("_seconds")))


@dataclass(frozen=True, slots=True)
class Progress:
    """`doing` is for people who watch and claims nothing. `so_far` says how far the engine has
    come, should it get no further. `bound`: no execution with up to so many rounds of each loop
    violates a property."""

    doing: str
    numbers: dict[str, Any] = field(default_factory=dict)
    so_far: str = ""
    bound: int | None = None


def counted(number: int, noun: str) -> str:
    """For what an engine says of its progress."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


@dataclass(frozen=True, slots=True)
class AccessOrder:
    """The threads of the accesses to objects that are shared, in order (an atomic section counts
    once). The threads have numbers of the engine's own: `children` are those that each one starts,
    in order."""

    threads: list[int]
    children: dict[int, list[int]]
    is_shared: Callable[[StaticObject | FrameSlot | Edge], bool]


@dataclass(frozen=True, slots=True)
class WeakMove:
    """What is done next under a weak memory model: a thread takes the step of its next access (or
    atomic section), or the `store` of this number (from 0, of the thread's that are not in atomic
    sections or updates) becomes visible, or it `ends` locals that are shared. Under C11 accesses
    have numbers (an update has two): `reads` says of a move from which access of which thread it
    reads, 0 for the initial value, and `behind` behind which accesses it comes in modification
    order."""

    thread: int
    store: int | None = None
    reads: tuple[int, int] | None = None
    behind: frozenset[tuple[int, int]] = frozenset()
    ends: bool = False


@dataclass(frozen=True, slots=True)
class WeakOrder:
    """As an AccessOrder, under a weak memory model."""

    moves: list[WeakMove]
    children: dict[int, list[int]]
    is_shared: Callable[[StaticObject | FrameSlot | Edge], bool]


@dataclass(frozen=True, slots=True)
class BlockTaken:
    """A block that a thread has executed: the location it began at, whether it was in an atomic
    section or alone then, and how many threads there were at its end. `lock` is the address and the
    size of a cell whose critical section the block is: it goes on until the cell is 0 again."""

    thread: int
    function: str
    location: int
    in_section: bool
    is_alone: bool
    threads: int
    lock: tuple[int, int] | None = None


class UnsetValues:
    """The bytes that an engine has chosen where nobody had set any. Of each thread, what it makes
    comes in the order in which it does."""

    def __init__(self) -> None:
        self._bytes: dict[Unset, bytearray] = {}
        self._counts: dict[tuple[int, Maker], int] = {}

    def begin(self, thread: int, maker: Maker) -> Unset:
        """What a thread makes next by a maker."""
        number = self._counts.get((thread, maker), 0)
        self._counts[thread, maker] = number + 1
        return Unset(thread, maker, number)

    def latest(self, thread: int, maker: Maker) -> Unset:
        """What `begin` has given last."""
        return Unset(thread, maker, self._counts[thread, maker] - 1)

    def put(self, unset: Unset, offset: int, size: int, value: int) -> None:
        data = self._bytes.setdefault(unset, bytearray())
        data.extend(bytes(max(0, offset + size - len(data))))
        data[offset : offset + size] = value.to_bytes(size, "little")

    def get(self, unset: Unset, offset: int, size: int) -> int:
        """Bytes that nothing depends on are 0."""
        data = self._bytes.get(unset, b"")
        return int.from_bytes(data[offset : offset + size], "little")

    def rows(self) -> list[list[Any]]:
        """For a report of a mistake."""
        return [
            [item.thread, *item.maker, item.number, data.hex()]
            for item, data in self._bytes.items()
            if any(data)
        ]


def _nothing_explains_it() -> str:
    return ""


@dataclass(frozen=True, slots=True, eq=False)
class Counterexample:
    """An execution that the reference interpreter is to repeat: who did what in which order, the
    inputs of each thread in order, and the values of what was not initialised (`unset`, by the
    engine's numbers of threads). `race` has the threads whose next accesses then race. After
    blocks, `standing` has for a race or a deadlock the blocks that threads would execute next.
    `excuse` says why it may fail to replay without a mistake of plait; empty if nothing does.
    `is_undefined`: at its end is something that the engine has no verdict on, which may be
    undefined behaviour; the interpreter says whether it is, and whether that was asked for.
    `steps`: those of the interpreter itself, each of a thread with its inputs, if the engine has
    taken them there; then there is no order to follow."""

    order: AccessOrder | WeakOrder | tuple[BlockTaken, ...]
    inputs: dict[int, list[tuple[str, int]]]
    violator: int
    message: str
    origin: Origin = NOWHERE
    race: tuple[int, int] | None = None
    excuse: Callable[[], str] = _nothing_explains_it
    is_undefined: bool = False
    unset: UnsetValues = field(default_factory=UnsetValues)
    standing: tuple[BlockTaken, ...] = ()
    steps: tuple[tuple[int, tuple[int | float, ...]], ...] = ()


class Listener(Protocol):
    """Hears of what an engine does before it has an answer."""

    def progress(self, progress: Progress) -> None: ...

    def facts(self, facts: tuple[Fact, ...]) -> None:
        """What holds in all executions of the program."""

    def confirm(self, found: Counterexample) -> str:
        """Empty if the reference interpreter shows the violation, or else what is wrong. A
        violation that is not confirmed is no answer."""


class Answer(Enum):
    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, eq=False)
class Proof:
    """`certificate` makes a document for `plait check`, or none if that takes too long; it has
    labels of some interleavings only if it `is_reduced`, and `unreduced` tries to find one that has
    those of all, before the deadline.
    `predicates` are for the proof of the program after an edit."""

    certificate: Callable[[], dict[str, Any] | None]
    is_reduced: bool
    unreduced: Callable[[float], dict[str, Any] | None]
    predicates: Callable[[], dict[str, Any]]


@dataclass(slots=True, eq=False)
class Outcome:
    """How the work of an engine on one question ends. `bound`: what holds was examined with so many
    rounds of each loop, and what is unknown holds with so many. `so_far` is for an engine that is
    out of time, as in Progress."""

    answer: Answer
    reason: str
    statistics: Statistics = field(default_factory=Statistics)
    counterexample: Counterexample | None = None
    proof: Proof | None = None
    bound: int | None = None
    is_out_of_time: bool = False
    so_far: str = ""


class OutOfTime(Exception):
    """The deadline has passed."""

    @staticmethod
    def check(deadline: float | None) -> None:
        if deadline is not None and time.monotonic() >= deadline:
            raise OutOfTime
