"""What executing a block comes to: ways through it with their formulas, and the accesses made."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from plait.data import dataclass, field
from plait.logic.interpolation.path import Step
from plait.model.actions import NOWHERE, Origin
from plait.symbolic.locations import Location


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


class InputUse(NamedTuple):
    """An input that a way asks for: its name and the variable that stands for its value. `when` is
    the term that says that it does; None where it always does."""

    name: str
    variable: int
    when: int | None = None


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
    are blocked or do not go on."""

    ways: list[Way] = field(default_factory=list)
    accesses: dict[Access, None] = field(default_factory=dict)
    spawns: bool = False
    ends_process: bool = False
    pauses_in_section: bool = False
