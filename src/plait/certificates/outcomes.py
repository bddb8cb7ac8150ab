"""What the step of a thread can come to."""

from __future__ import annotations

from enum import Enum

from plait.certificates.state import Path
from plait.data import dataclass
from plait.model.actions import Origin


class Ending(Enum):
    MOVED = "moved"
    VIOLATION = "violation"
    TROUBLE = "trouble"  # undefined behaviour or unsupported code, in all states of the path
    LOST = "a limit of the checker"  # what the states of the path do further is not known
    NOTHING = "nothing"  # blocked, or an assumption failed before any effect: as if not begun
    EXIT = "exit"  # the process has ended


@dataclass(slots=True, eq=False)
class StepOutcome:
    """The path holds what was accessed on the way, and after MOVED the new state."""

    ending: Ending
    path: Path
    origin: Origin
    message: str = ""


@dataclass(slots=True, eq=False)
class Step:
    """All that a thread can do in one step from the states of a node: each of these states with
    each choice of inputs is in one of the outcomes' paths."""

    thread: int
    outcomes: list[StepOutcome]

    def first(self, *endings: Ending) -> StepOutcome | None:
        return next((item for item in self.outcomes if item.ending in endings), None)

    @property
    def moves(self) -> list[StepOutcome]:
        return [item for item in self.outcomes if item.ending is Ending.MOVED]


class PathEnds(Exception):
    """Raised where all states of a path come to the same end; never leaves the execution of a
    step. Whatever the end depends on was noted as an access before."""

    def __init__(self, ending: Ending, message: str) -> None:
        self.ending = ending
        self.message = message
        super().__init__(message)


class Trouble(PathEnds):
    def __init__(self, message: str) -> None:
        super().__init__(Ending.TROUBLE, message)


class Lost(PathEnds):
    def __init__(self, message: str) -> None:
        super().__init__(Ending.LOST, message)
