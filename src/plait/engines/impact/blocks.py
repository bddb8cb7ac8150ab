"""What executing a block comes to: outcomes with their formulas, and the accesses made."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from plait.data import dataclass, field
from plait.engines.impact.locations import Location
from plait.logic.interpolation.path import Step
from plait.model.actions import NOWHERE, Origin


class Kind(Enum):
    MOVE = "move"
    VIOLATION = "violation"
    TROUBLE = "trouble"  # what has no verdict: undefined behaviour, limits, unsupported code


class Access(NamedTuple):
    """Bytes that a block accesses. `when` is the term that says that a symbolic address is this
    one; None where it always is. Ends and beginnings of lives are writes."""

    address: int
    size: int
    is_write: bool
    when: int | None


@dataclass(slots=True, eq=False)
class Outcome:
    """One way through a block. `target` is None where nothing can happen behind it."""

    kind: Kind
    step: Step
    target: Location | None
    accesses: tuple[Access, ...]
    inputs: tuple[tuple[str, int], ...] = ()  # names and variables, in order
    message: str = ""
    origin: Origin = NOWHERE
    # The thread has come back to the head of a loop.
    is_loop: bool = False
    spawns: bool = False
    ends_process: bool = False


@dataclass(slots=True, eq=False)
class Block:
    """All that a thread's next block can do. `accesses` are those of all ways, also of such that
    are blocked or do not go on."""

    outcomes: list[Outcome] = field(default_factory=list)
    accesses: dict[Access, None] = field(default_factory=dict)
    spawns: bool = False
    ends_process: bool = False
    pauses_in_section: bool = False
    begins_visibly: bool = False
