"""The unrolled program: events with guards, and the conditions that decide a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from plait.data import dataclass, field
from plait.engines.orders.bounds import Key
from plait.engines.orders.unrolling_facts import Cell, SectionKey
from plait.model.actions import Order, Origin
from plait.model.types import Scalar
from plait.model.unset import Maker

# Of each byte that somebody has read before anybody has written it, and that has no known value:
# the address and the size of what was read, and the variable that stands for it.
UnsetBytes = dict[int, tuple[int, int, int]]


class Access(Enum):
    READ = "read"
    WRITE = "write"
    ACQUIRE = "acquire"  # of a lock, see `locks`
    RELEASE = "release"
    TAKE = "take"  # 1 from a semaphore, see `tokens`
    GIVE = "give"
    FENCE = "fence"  # only under weak memory models, as what follows
    MARK = "mark"  # a step without an access: a start, an end, a wait, an empty section


# The events that may have acquired a lock, each with a term that says when it is this one.
Holds = tuple[tuple["Occurrence", int], ...]


@dataclass(slots=True, eq=False)
class Occurrence:
    """An access to a cell (an address and a size), or a mark. It happens where `guard` holds.

    `is_access`: the reference interpreter counts it among the accesses of its step.
    `section` has the names of the atomic sections of which it is in one, each with a term that
    says when. A silent event has no place of its own in the order of events: it happens at any
    moment between its neighbours in the thread that are not. In a region `cell` names the region
    and `address` is a term, which is one of `places` where the event happens; then `initial` is
    what a read finds if nobody has written there. `locks` are those that the thread holds then, as
    in `paths.Path`; what ends with a release began with one of its `holds`, each with a term that
    says when. The memory `order` of an update is that of both its read and its write.
    """

    number: int
    thread: int
    kind: Access
    cell: tuple[int, int] | None
    guard: int
    value: int
    section: tuple[tuple[int, int], ...]
    is_access: bool
    origin: Origin
    is_silent: bool = False
    arrival: int = -1  # for data races: a mark just before a plain access, -1 for others
    address: int | None = None
    places: frozenset[int] = frozenset()
    initial: int = -1
    locks: Mapping[Cell, int | None] = field(default_factory=dict)
    holds: Holds = ()
    order: Order = Order.PLAIN
    failure_order: Order | None = None  # of the read of an update that may not write
    in_update: bool = False  # its section is an atomic update
    update_of: Occurrence | None = None  # of the write of an update, its read


@dataclass(slots=True, eq=False)
class Claim:
    """A condition that some execution may meet: a violation, or a reason to say nothing."""

    condition: int
    thread: int
    what: str
    message: str
    origin: Origin
    race: tuple[int, int] | None = None  # events: a plain access, and another one
    exceeded: Key | None = None  # which bound
    shown: Origin | None = None  # in the program, where `origin` is in the library


@dataclass(slots=True, eq=False)
class InputUse:
    """A named input, as the interpreter will ask for it."""

    thread: int
    name: str
    type: Scalar
    term: int
    guard: int


@dataclass(slots=True, eq=False)
class UnsetUse:
    """What a thread makes without a value, where the guard holds. `value` is a term; None for an
    object, which then is at `address`, `size` (a term) bytes long."""

    thread: int
    maker: Maker
    guard: int
    value: int | None
    address: int = 0
    size: int = 0


@dataclass(slots=True, eq=False)
class ThreadRun:
    """A thread of the unrolled program; `spawned_by` is the event that started it."""

    number: int
    parent: int
    spawned_by: int
    guard: int
    depth: int = 0  # how many threads had to start another one for this
    events: list[int] = field(default_factory=list)
    all_events: list[Occurrence] = field(default_factory=list)  # with the silent ones


@dataclass(slots=True, eq=False)
class Unrolling:
    """Everything the encoder needs to know about a bounded program."""

    threads: list[ThreadRun] = field(default_factory=list)
    events: list[Occurrence] = field(default_factory=list)
    initial: dict[tuple[int, int], int] = field(default_factory=dict)
    # Of each region the lowest bit and the number of bits that tell the addresses in it apart.
    regions: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    facts: list[int] = field(default_factory=list)
    # Conditions that atomic sections wait for or assume, each where the first term holds, with the
    # sections' names; they are among the facts.
    required: list[tuple[int, int, tuple[int, ...]]] = field(default_factory=list)
    # Cells that rounds of loops release and take again; and of the tracked ones (see
    # `unrolling_facts`) those that a thread may set or reset without owning them.
    waited_for: set[tuple[int, int]] = field(default_factory=set)
    unowned: set[tuple[int, int]] = field(default_factory=set)
    open_locks: list[int] = field(default_factory=list)  # variables: held or not, as is required
    section_keys: dict[int, SectionKey] = field(default_factory=dict)
    violations: list[Claim] = field(default_factory=list)
    # Violations if what lies beyond the loop bound does not prevent them; worth a look.
    suspicions: list[Claim] = field(default_factory=list)
    troubles: list[Claim] = field(default_factory=list)  # undefined, unsupported: no verdict
    leaks: list[Claim] = field(default_factory=list)  # heap objects that are alive at the end
    cuts: list[Claim] = field(default_factory=list)  # executions beyond the loop bound
    inputs: list[InputUse] = field(default_factory=list)
    unset: list[UnsetUse] = field(default_factory=list)
    unset_bytes: UnsetBytes = field(default_factory=dict)
    # Atomic sections: the first and the last event, and a term that says when they are that.
    sections: list[tuple[int, int, int]] = field(default_factory=list)
    # For weak memory models: the first events of the sections that are one update each; the events
    # at which objects begin, by their addresses; those at which shared objects end, with the
    # addresses of the objects, each with a term that says when it is this one.
    updates: set[int] = field(default_factory=set)
    beginnings: dict[int, int] = field(default_factory=dict)
    endings: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    end: int = -1  # an event of no thread behind all others, if that is needed
    # Reads that may also happen behind `end`, and when they do (see `maximal`); and what is made
    # of them: reads of no thread.
    late: list[tuple[Occurrence, int]] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
