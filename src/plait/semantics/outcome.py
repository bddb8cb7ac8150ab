"""What a step can come to, and the accesses it made."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from plait.data import dataclass
from plait.model.actions import NOWHERE, Origin
from plait.model.types import Scalar
from plait.model.unset import Unset


class Ending(Enum):
    """How a step ended."""

    MOVED = "moved"
    BLOCKED = "blocked"
    VIOLATION = "violation"
    UNDEFINED = "undefined behaviour"
    PRUNED = "pruned"
    LIMIT = "limit"
    UNSUPPORTED = "unsupported"
    NEEDS_INPUT = "needs input"


HAS_NO_VERDICT = frozenset({Ending.UNDEFINED, Ending.LIMIT, Ending.UNSUPPORTED})


@dataclass(slots=True, eq=False)
class StepOutcome:
    """`kind` names the violated property part; `message` says for people what happened.

    `thread` is the thread in which it happened (a Spawn step also runs the new thread up to its
    first visible action). `in_section`: inside an atomic section, which therefore has not begun.
    `beyond` is the name of an object that the program has more of than the model, where that ended
    the step.
    """

    ending: Ending
    message: str = ""
    origin: Origin = NOWHERE
    kind: str = ""
    thread: int = 0
    on: int | None = None
    in_section: bool = False
    input: InputRequest | None = None
    beyond: str = ""


@dataclass(slots=True, eq=False)
class InputRequest:
    """A value that the step needs and that its choices do not give. `unset`: it is that of bytes
    that nobody has set, from `offset` on; None if it is none, or nobody has asked for such names
    (`Machine.unset_names`)."""

    name: str
    type: Scalar
    count: int | None
    unset: Unset | None = None
    offset: int = 0


MOVED = StepOutcome(Ending.MOVED)


class StepEnds(Exception):
    """Raised by an action that ends its step early; never leaves the machine."""

    def __init__(self, outcome: StepOutcome) -> None:
        self.outcome = outcome
        super().__init__(outcome.message)


class AccessKind(Enum):
    READ = "read"
    WRITE = "write"
    # Orders steps like a write, but is not an access in C: the object's life begins or ends, say.
    LIFETIME = "lifetime"


class Access(NamedTuple):
    """Bytes that a step read or wrote. Inside an atomic section every access is atomic."""

    address: int
    size: int
    kind: AccessKind
    is_atomic: bool
    origin: Origin


class Footprint:
    """All that decides whether two steps of different threads commute. `note` is for whoever looks
    at each one once: a step that is not executed again has the same one (see memo)."""

    __slots__ = (
        "accesses",
        "ends_process",
        "note",
        "pages",
        "racing",
        "spawns",
        "written_pages",
    )

    def __init__(self, page_bits: int, accesses: list[Access], flags: tuple[bool, bool]) -> None:
        self.accesses = accesses
        self.racing = accesses  # those that happen: not of a section that does not begin
        self.spawns, self.ends_process = flags
        self.note: object = None
        self.pages: set[int] = set()
        self.written_pages: set[int] = set()
        for address, size, kind, _, _ in accesses:
            last = (address + max(size, 1) - 1) >> page_bits
            pages = range(address >> page_bits, last + 1)
            self.pages.update(pages)
            if kind is not AccessKind.READ:
                self.written_pages.update(pages)

    @staticmethod
    def joined(
        page_bits: int, footprints: list[Footprint], taken: list[Footprint | None]
    ) -> Footprint:
        """Of a step that is one of several, depending on its inputs; `taken` are those of the
        steps that lead to a state."""
        if len(footprints) == 1:
            return footprints[0]
        accesses = [access for item in footprints for access in item.accesses]
        flags = (
            any(item.spawns for item in footprints),
            any(item.ends_process for item in footprints),
        )
        result = Footprint(page_bits, accesses, flags)
        result.racing = [access for item in taken if item is not None for access in item.accesses]
        return result

    def commutes_with(self, other: Footprint) -> bool:
        """Neither step writes what the other one accesses, nor do both number new threads."""
        if self.ends_process or other.ends_process or (self.spawns and other.spawns):
            return False
        if self.written_pages.isdisjoint(other.pages) and other.written_pages.isdisjoint(
            self.pages
        ):
            return True
        return _first_conflict(self.accesses, other.accesses, races_only=False) is None

    def race_with(self, other: Footprint) -> tuple[Access, Access] | None:
        """Two overlapping accesses, at least one a write, not both atomic."""
        if self.pages.isdisjoint(other.pages):
            return None
        return _first_conflict(self.racing, other.racing, races_only=True)


def _first_conflict(
    one: list[Access], other: list[Access], *, races_only: bool
) -> tuple[Access, Access] | None:
    for mine in one:
        for theirs in other:
            if (
                mine.address < theirs.address + theirs.size
                and theirs.address < mine.address + mine.size
                and not (mine.kind is AccessKind.READ and theirs.kind is AccessKind.READ)
                and not (races_only and _is_race_free(mine, theirs))
            ):
                return mine, theirs
    return None


def _is_race_free(mine: Access, theirs: Access) -> bool:
    if mine.kind is AccessKind.LIFETIME or theirs.kind is AccessKind.LIFETIME:
        return True
    return mine.is_atomic and theirs.is_atomic
