"""A certificate for any number of threads as data: well formed, but not yet checked."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from plait.certificates.document import Cell, RegisterName, Thread
from plait.data import dataclass
from plait.logic.terms import Terms

KIND = "templates"
NUMBER_BITS = 32  # of numbers of threads
PLACE_BITS = 16
NOWHERE = (1 << PLACE_BITS) - 1  # what the place of a template says that has ended


class GhostKind(Enum):
    """What a variable of labels says that no program mentions; `WIDTHS` has the bits of each."""

    SELF = "self"  # the number of the thread
    LAST = "last"  # the number that was given last
    BEGUN = "begun"  # whether a thread of a template has been started
    OWNER = "owner"  # who has last made a cell something else than 0
    STARTED = "started"  # how many threads of a template have been
    LEFT = "left"  # how many threads of a template have left a place
    PLACE = "place"  # of the one thread of a template


WIDTHS = {
    GhostKind.SELF: NUMBER_BITS,
    GhostKind.LAST: NUMBER_BITS,
    GhostKind.BEGUN: 1,
    GhostKind.OWNER: NUMBER_BITS,
    GhostKind.STARTED: NUMBER_BITS,
    GhostKind.LEFT: NUMBER_BITS,
    GhostKind.PLACE: PLACE_BITS,
}


class Ghost(NamedTuple):
    kind: GhostKind
    template: int = 0
    cell: Cell | None = None
    place: int = 0


class AddressName(NamedTuple):
    """What is at an address of the place: which address that really is differs between threads."""

    value: int


Meaning = RegisterName | Cell | Ghost | AddressName


@dataclass(slots=True, eq=False)
class Place:
    """Where a thread of a template can be between two steps, and what holds whenever it is there.
    `heap` has the objects that it may access, its own and the blocks of threads that there is one
    of. `is_alone`: no thread has been started yet."""

    thread: Thread
    heap: Mapping[int, tuple[int, str]]
    cells: Mapping[Cell, int | None]
    label: tuple[int, ...]
    is_alone: bool


@dataclass(slots=True, eq=False)
class Template:
    """`number` is the thread in whose arena the addresses of its places are. The first place is
    where it begins."""

    name: str
    number: int
    is_multiple: bool
    places: tuple[Place, ...]


class Counter(NamedTuple):
    """A place that a thread leaves at most once: at places `before` it has not, `behind` it has."""

    template: int
    place: int
    before: frozenset[int]
    behind: frozenset[int]

    @property
    def ghost(self) -> Ghost:
        return Ghost(GhostKind.LEFT, self.template, None, self.place)


@dataclass(slots=True, eq=False)
class TemplateCertificate:
    """`blocks` are the objects that are shared although they were allocated: by their first pages
    the template the one thread of which is started with each."""

    engine: str
    options: tuple[str, ...]
    fingerprint: str
    properties: tuple[str, ...]
    error_functions: tuple[str, ...]
    switch_points: Mapping[str, frozenset[int]]
    terms: Terms
    meanings: Mapping[int, Meaning]
    initial: Mapping[Cell, int]
    blocks: Mapping[int, int]
    counters: tuple[Counter, ...]
    templates: tuple[Template, ...]
    cells: tuple[Cell, ...]

    @property
    def size(self) -> str:
        count = sum(len(item.places) for item in self.templates)
        return f"{count} places of {len(self.templates)} templates"
