"""A monitor as data: states, and what an event does in each of them (BLAST, section 4.1)."""

from __future__ import annotations

from enum import Enum

from plait.data import dataclass


class EventKind(Enum):
    """What can be watched. `call` is the moment before a function begins, `return` the one after it
    has come back; all others are one step with the operation that they stand for."""

    CALL = "call"
    RETURN = "return"
    LOCK = "lock"
    UNLOCK = "unlock"
    READ = "read"
    WRITE = "write"
    ACCESS = "access"
    CREATE = "create"
    END = "end"
    JOIN = "join"
    EXIT = "exit"


ABOUT_FUNCTIONS = frozenset({EventKind.CALL, EventKind.RETURN})
ABOUT_VARIABLES = frozenset({EventKind.READ, EventKind.WRITE, EventKind.ACCESS})


@dataclass(slots=True, frozen=True)
class Event:
    """`subject` is the function or variable of those kinds that have one. `names` are what the
    arguments are called, None for one that is not looked at; `result` the same of a return.
    `has_pattern`: the arguments are written down, and so their number is."""

    kind: EventKind
    subject: str = ""
    names: tuple[str | None, ...] = ()
    result: str | None = None
    has_pattern: bool = False


@dataclass(slots=True, frozen=True)
class Code:
    """A piece of C in a monitor, and the line where it begins."""

    text: str
    line: int


# What a transition can lead to beside states: a violation, or the end of an execution that is taken
# not to exist.
ERROR = "error"
NEVER = "never"


@dataclass(slots=True, frozen=True)
class Transition:
    """Taken where the event matches and the guard holds; of several, the first one. `target` is a
    state, ERROR or NEVER; the last two have a message."""

    event: Event
    guard: Code | None
    action: Code | None
    target: str
    message: str
    line: int


@dataclass(slots=True, frozen=True)
class State:
    name: str
    transitions: tuple[Transition, ...]
    line: int


@dataclass(slots=True, frozen=True)
class Instance:
    """What there is one automaton for: each object that `name` stands for, or each thread. `most`
    objects are not in the first state at the same time."""

    type: str
    name: str
    most: int = 4

    @property
    def is_thread(self) -> bool:
        return not self.type


@dataclass(slots=True, frozen=True)
class Monitor:
    """The first state is the initial one: an instance that comes back to it begins anew. `prelude`
    is C at file scope, what is included and declared; `variables` are the monitor's own, one of
    each for each instance."""

    name: str
    path: str
    prelude: tuple[Code, ...]
    variables: tuple[Code, ...]
    instance: Instance | None
    states: tuple[State, ...]

    @property
    def transitions(self) -> list[Transition]:
        return [item for state in self.states for item in state.transitions]
