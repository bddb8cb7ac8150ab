"""What workers tell the process that the user has started."""

from __future__ import annotations

from typing import Any

from plait.data import dataclass, field, fields

Row = dict[str, Any]
Numbers = dict[str, Any]


@dataclass(slots=True)
class Question:
    """What the options ask for, with their defaults filled in."""

    entry: str
    properties: list[str]
    error_functions: list[str]
    settings: Row


@dataclass(slots=True)
class Loaded:
    """The program was read: what a verdict about it assumes, what plait does not model, and which
    properties nothing checks that can be reached."""

    assumptions: list[str]
    unsupported: list[Row]
    unchecked: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Checking:
    """Static checks begin. They go on until the worker says anything else."""


@dataclass(slots=True)
class Failed:
    """Static checks have failed through a mistake of plait, and the engine goes on without them.
    `failure` is as in a Result."""

    reason: str
    failure: Row


@dataclass(slots=True)
class Features:
    """What the program is like: the name of an event of the strategy."""

    event: str


@dataclass(slots=True)
class Proved:
    """Facts for all engines (plait.model.facts)."""

    facts: list[Row]


@dataclass(slots=True)
class Progress:
    """What the engine is at, in a few words for people who watch; and if there is anything to say,
    how far it has come. `bound`: no execution with up to so many loop rounds violates one of the
    properties."""

    doing: str
    statistics: Numbers = field(default_factory=dict)
    so_far: str = ""
    bound: int | None = None
    properties: list[str] = field(default_factory=list)


@dataclass(slots=True)
class OutOfTime:
    """The worker has noticed itself that its time is up."""

    statistics: Numbers
    so_far: str = ""


@dataclass(slots=True)
class Mistake:
    """The input cannot be used; a row for each diagnostic."""

    diagnostics: list[Row]


@dataclass(slots=True)
class Result:
    """The verdict and its evidence: fields of plait.evidence.result.Result, as JSON. `failure` is
    there if plait itself has failed, and has what is needed to find out why; `cached` if an earlier
    run has found this, and says when and how (see plait.portfolio.cache). `predicates`
    are what the labels of a proof consist of, for a later run. `doubted` is the key of an entry of
    the cache that must go: a counterexample does not replay, so no answer may be believed, or one
    shows undefined behaviour, so no proof. `beyond`: without a verdict because some execution needs
    more of this object than the model has."""

    verdict: str
    reason: str
    violated: str | None = None
    bound: int | None = None
    statistics: Numbers = field(default_factory=dict)
    evidence: Row = field(default_factory=dict)
    failure: Row | None = None
    certificate: str | None = None
    engine: str = ""  # where it is not the one that the worker was started for
    cached: Row | None = None
    predicates: Row | None = None
    doubted: str = ""
    beyond: str = ""

    @property
    def raises_doubt(self) -> bool:
        return self.failure is not None and "plan" in self.failure


@dataclass(slots=True)
class Holds:
    """Some of several properties hold: `result` is a Result that says why, as JSON. `about` is the
    identity of all that was asked and of the program as this worker has read it: only proofs about
    the same add up. `key` is that of the answer to the whole question in the cache."""

    properties: list[str]
    engine: str
    result: Row
    about: str
    key: str


Message = (
    Question
    | Loaded
    | Checking
    | Failed
    | Features
    | Proved
    | Progress
    | OutOfTime
    | Mistake
    | Result
    | Holds
)

_KINDS: dict[str, type[Message]] = {
    kind.__name__: kind
    for kind in (
        Question,
        Loaded,
        Checking,
        Failed,
        Features,
        Proved,
        Progress,
        OutOfTime,
        Mistake,
        Result,
        Holds,
    )
}


def encode(message: Message) -> dict[str, Any]:
    values = {item.name: getattr(message, item.name) for item in fields(message)}
    return {"kind": type(message).__name__, **values}


def decode(data: dict[str, Any]) -> Message:
    values = dict(data)
    return _KINDS[values.pop("kind")](**values)
