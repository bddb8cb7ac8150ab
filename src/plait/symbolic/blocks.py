"""What executing a block comes to: ways through it with their formulas, and the accesses made."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from plait.data import dataclass, field
from plait.logic.interpolation.path import Step
from plait.model.actions import NOWHERE, Origin
from plait.model.unset import Maker
from plait.symbolic.locations import Cell, Location


class Kind(Enum):
    MOVE = "move"
    VIOLATION = "violation"
    TROUBLE = "trouble"  # what has no verdict: undefined behaviour, limits, unsupported code


class Manner(Enum):
    """What an access is in C: a plain one may race with each of another thread that is plain or
    atomic. Where an object's life begins, ends or is looked at there is none."""

    PLAIN = "plain"
    ATOMIC = "atomic"
    LIFE = "life"


class Access(NamedTuple):
    """Bytes that a block accesses. `when` is the term that says that a symbolic address is this
    one; None where it always is. Ends and beginnings of lives are writes. `lock` is the address of
    the lock in whose critical section, as one step, it happens; 0 if in none."""

    address: int
    size: int
    is_write: bool
    when: int | None
    lock: int = 0
    manner: Manner = Manner.LIFE

    def conflicts_with(self, other: Access) -> bool:
        return (
            (self.is_write or other.is_write)
            and self.address < other.address + other.size
            and other.address < self.address + self.size
        )


class InputUse(NamedTuple):
    """An input that a way asks for: its name and the variable that stands for its value. `when` is
    the term that says that it does; None where it always does. `unset`: it is the value, from some
    offset on, of what a maker makes without one, the offsets of which come in order from 0."""

    name: str
    variable: int
    when: int | None = None
    unset: tuple[Maker, int] | None = None


@dataclass(slots=True, eq=False)
class Way:
    """One way through a block: a path, or all paths that end alike. `target` is None where nothing
    can happen behind it. `inputs` are in the order in which each path asks for them."""

    kind: Kind
    step: Step
    target: Location | None
    accesses: tuple[Access, ...]
    inputs: tuple[InputUse, ...] = ()
    message: str = ""
    origin: Origin = NOWHERE
    spawns: bool = False


@dataclass(slots=True, eq=False)
class Block:
    """All that a thread's next block can do. `accesses` are those of all ways, also of such that
    are blocked or do not go on. `held` has the values that locks have in the middle of critical
    sections. `ends` has ways like those of moves, but without a target: to the end of the process,
    or to an assumption outside of sections that fails behind actions that nobody notices. `waits`
    are the conditions under which it waits in vain, `waits_by_inputs` says whether inputs of the
    block are among what they are about. `stuck_with` has the locks in the middle of
    whose critical sections it may stop for any reason."""

    ways: list[Way] = field(default_factory=list)
    accesses: dict[Access, None] = field(default_factory=dict)
    held: dict[tuple[Cell, int], None] = field(default_factory=dict)
    ends: list[Way] = field(default_factory=list)
    waits: list[int] = field(default_factory=list)
    waits_by_inputs: bool = False
    stuck_with: dict[Cell, None] = field(default_factory=dict)
    spawns: bool = False
    ends_process: bool = False
    may_block: bool = False  # whether it may come to nothing
    # Whether that may be by an assumption outside of sections, behind actions that nobody notices.
    may_stop: bool = False
    may_fail: bool = False  # whether any assumption may fail
    pauses_in_section: bool = False
