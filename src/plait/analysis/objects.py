"""Abstract objects: finitely many names for all the objects an execution can have."""

from __future__ import annotations

from enum import Enum

from plait.data import dataclass
from plait.model.program import Edge, FrameSlot, StaticObject


class ObjectKind(Enum):
    STATIC = "static"
    THREAD_LOCAL = "thread-local"
    SLOT = "slot"
    HEAP = "heap"
    FUNCTION = "function"


@dataclass(slots=True, eq=False)
class AbstractObject:
    """All concrete objects of one declaration or one allocation site.

    `function` owns a slot or allocation site, or is the function itself. `context` is the call in
    the user's code that led into the library, so that each use of malloc is a site of its own.
    """

    index: int
    kind: ObjectKind
    size: int | None
    static: StaticObject | None = None
    function: str = ""
    slot: FrameSlot | None = None
    edge: Edge | None = None
    context: Edge | None = None

    @property
    def is_per_instance(self) -> bool:
        """Whether it stands for objects that each belong to the thread that created them."""
        return self.kind in (ObjectKind.THREAD_LOCAL, ObjectKind.SLOT, ObjectKind.HEAP)

    def __repr__(self) -> str:
        match self.kind:
            case ObjectKind.STATIC | ObjectKind.THREAD_LOCAL if self.static is not None:
                return self.static.name
            case ObjectKind.SLOT if self.slot is not None:
                return f"{self.function}.{self.slot.name or self.slot.index}"
            case ObjectKind.HEAP:
                site = self.context or self.edge
                line = site.action.origin.line if site is not None else 0
                return f"{self.function}@{line}"
        return self.function


Location = tuple[AbstractObject, int | None]
"""An object and a byte offset in it; None is any offset."""


def members(mask: int) -> list[int]:
    """The elements of a bit set, in ascending order."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found
