"""What a witness says, whatever the format it is written in.

A violation witness is a sequence of segments. An execution is described by it if it passes the
segments' `follow` waypoints in order, and in each segment none of the `avoid` waypoints before
that. The last segment holds the target, or for a data race the two targets.
"""

from __future__ import annotations

from enum import Enum

from plait.data import dataclass, field


class Format(Enum):
    """`GRAPHML` is version 1.0; the others are YAML, and name their version."""

    GRAPHML = "graphml"
    YAML_2_0 = "2.0"
    YAML_2_1 = "2.1"
    YAML_2_2 = "2.2"


@dataclass(slots=True, frozen=True)
class Location:
    """Lines and columns count from 1; a column of 0 is the leftmost that fits."""

    file: str
    line: int
    column: int = 0
    function: str = ""

    def __str__(self) -> str:
        column = f":{self.column}" if self.column else ""
        return f"{self.file}:{self.line}{column}"


class Kind(Enum):
    ASSUMPTION = "assumption"  # holds before a statement
    BRANCHING = "branching"  # a condition is decided as the constraint says
    ENTER = "function_enter"
    RETURN = "function_return"
    TARGET = "target"


@dataclass(slots=True, frozen=True)
class Waypoint:
    """`thread` is the witness's name of the thread (main is "0"), empty if it does not say;
    `creates` names the thread that a call creates, `function` the one that is called. The
    constraint is a C expression, for a branching `true`, `false` or a case of a switch."""

    kind: Kind
    location: Location
    constraint: str = ""
    thread: str = ""
    creates: str = ""
    function: str = ""


@dataclass(slots=True, frozen=True)
class Segment:
    follow: tuple[Waypoint, ...]
    avoid: tuple[Waypoint, ...] = ()


@dataclass(slots=True, frozen=True)
class Task:
    """What a witness is about. `hashes` are those of `files`, in the same order."""

    files: tuple[str, ...]
    hashes: tuple[str, ...]
    specification: str
    data_model: str


@dataclass(slots=True, frozen=True)
class Producer:
    name: str
    version: str
    arguments: tuple[str, ...] = ()


@dataclass(slots=True, frozen=True)
class ViolationWitness:
    format: Format
    task: Task
    producer: Producer
    segments: tuple[Segment, ...]


@dataclass(slots=True, frozen=True)
class Invariant:
    location: Location
    value: str
    is_loop: bool


@dataclass(slots=True, frozen=True)
class GhostVariable:
    name: str
    type: str
    initial: str


@dataclass(slots=True, frozen=True)
class GhostUpdate:
    location: Location
    updates: tuple[tuple[str, str], ...]  # variables and their new values


@dataclass(slots=True, frozen=True)
class CorrectnessWitness:
    format: Format
    task: Task
    producer: Producer
    invariants: tuple[Invariant, ...]
    ghosts: tuple[GhostVariable, ...] = field(default_factory=tuple)
    ghost_updates: tuple[GhostUpdate, ...] = field(default_factory=tuple)


Witness = ViolationWitness | CorrectnessWitness
MAIN = "0"
