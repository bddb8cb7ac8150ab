"""The result of a verification as one self-contained object: what was asked, the verdict, and the
evidence for it. Every report is made from it alone; docs/json.md describes it as JSON.

Nothing here refers to the program model: places carry their text, values are shown as in C.
"""

from __future__ import annotations

from typing import Any

from plait.data import dataclass, field, replace

Numbers = dict[str, Any]

_BESIDE = {"is_stored": False}  # a field that is not part of the JSON


@dataclass(slots=True)
class Place:
    """A range of the source; lines and columns count from 1, the end is exclusive. An
    `end_column` of 0 is the end of the line."""

    file: str
    line: int
    column: int
    text: str
    end_line: int = 0
    end_column: int = 0
    function: str = ""


@dataclass(slots=True)
class Source:
    """A file of the program, as it was read."""

    path: str
    sha256: str
    lines: list[str]


@dataclass(slots=True)
class Change:
    """A variable, field, array element or pointee by its name in the source, and its new value; or
    (`read`) the value that was read there. `shared`: other threads can see it; `is_global`: a
    variable of file scope whose name means the same in all functions."""

    name: str
    value: str
    read: bool = False
    shared: bool = False
    is_global: bool = False


@dataclass(slots=True)
class Operation:
    """What a step means for other threads. `kind` is one of lock, trylock, unlock, read-lock,
    write-lock, wait, wake, signal, broadcast, create, join, post, barrier, begin, end, exit, free,
    once and visible (what the thread has stored before becomes visible to the others under a weak
    memory model: `object` is the assignment); `object` names what it is done to, `lock` the lock
    that a wait gives back until it wakes; `thread` is the thread that was created or joined;
    `succeeded` is False for a trylock that found the lock taken."""

    kind: str
    object: str = ""
    thread: int | None = None
    succeeded: bool = True
    lock: str = ""


@dataclass(slots=True)
class Row:
    """What one thread does without a break in one place. `step` is the number of the step in the
    schedule (one step may have several rows); `depth` counts the calls it is inside of; `branch` is
    the value of a condition that was decided here; `inputs` are the values of non-deterministic
    inputs that were chosen here; `entered` is the function that is called here, `returned` tells
    that the row ends with a return from its function."""

    step: int
    thread: int
    place: Place
    changes: list[Change] = field(default_factory=list)
    operation: Operation | None = None
    depth: int = 0
    branch: bool | None = None
    inputs: list[str] = field(default_factory=list)
    entered: str = ""
    returned: bool = False


@dataclass(slots=True)
class Thread:
    number: int  # from 1, the initial one
    function: str
    creator: int | None = None
    place: Place | None = None  # where it was created


@dataclass(slots=True)
class Input:
    step: int
    thread: int
    name: str
    value: str
    place: Place | None = None


@dataclass(slots=True)
class Synchronisation:
    """The last operation with which a thread has synchronised with others."""

    step: int
    operation: Operation
    place: Place


@dataclass(slots=True)
class Access:
    """One of the two accesses of a race. `locks` are those that the thread holds."""

    thread: int
    place: Place | None
    write: bool
    atomic: bool
    name: str
    locks: list[str] = field(default_factory=list)
    last: Synchronisation | None = None


@dataclass(slots=True)
class Waiting:
    """A thread that is blocked: for what, and who could end that (`holders`)."""

    thread: int
    what: str
    object: str
    place: Place | None
    holders: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Cause:
    """Where a value that the failing condition depends on comes from. The initial value has
    neither step nor thread."""

    name: str
    value: str
    step: int | None = None
    thread: int | None = None
    place: Place | None = None


@dataclass(slots=True)
class Violation:
    """`causes` are listed from the failing condition backwards. `accesses` are those of a race,
    `waiting` has the blocked threads of a deadlock, those of the cycle first and in its order."""

    property: str
    message: str
    thread: int
    place: Place | None
    other_place: Place | None = None
    causes: list[Cause] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    waiting: list[Waiting] = field(default_factory=list)


@dataclass(slots=True)
class Finding:
    """Undefined behaviour that nobody has asked for, in an execution of its own; the fields are
    those of a result."""

    violation: Violation
    schedule: dict[str, Any]
    threads: list[Thread] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    trace: list[Row] = field(default_factory=list)


@dataclass(slots=True)
class Reordered:
    """Two accesses of a thread that others see in another order than that of the program."""

    thread: int
    first: str
    first_text: str
    second: str
    second_text: str


@dataclass(slots=True)
class FenceSuggestion:
    """An access or fence at a place that gets a memory order, or a fence right behind it."""

    file: str
    line: int
    column: int
    text: str
    is_fence: bool
    order: str


@dataclass(slots=True)
class Fences:
    """What makes a program right under a memory model: all `suggestions` together; no smaller set
    of stronger orders and fences does. Or the `reason` why there are none. `reordered`: the pairs
    of accesses that are to blame, in the counterexample."""

    memory_model: str
    reordered: list[Reordered] = field(default_factory=list)
    suggestions: list[FenceSuggestion] = field(default_factory=list)
    reason: str = ""


@dataclass(slots=True)
class Invariant:
    """What holds whenever a thread is at a place, as a C expression over what is in scope there.
    `loop`: the place is the head of a loop. `role`: only for threads that begin with that function,
    and `holding` has the locks that they hold there; `text` may be empty then."""

    place: Place
    text: str
    loop: bool = False
    role: str = ""
    holding: str = ""


@dataclass(slots=True)
class TreeNode:
    """A node of the abstract reachability tree of a proof. `thread` is the one whose step led
    here; `where` has the place of each thread as `file:line`, `label` what holds in C syntax."""

    number: int
    parent: int | None
    thread: int | None
    where: dict[str, str]
    label: str
    cover: int | None = None


@dataclass(slots=True)
class Unsupported:
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    source_line: str = ""


@dataclass(slots=True)
class PropertyAnswer:
    """What is known of one of the properties: `answer` is violated, proved or open."""

    property: str
    answer: str


@dataclass(slots=True)
class Result:
    """`answers` has a row for each property. `findings` are what was found without being asked
    for. `unchecked` are properties that nothing checks in code that can be reached. `words` say in
    sentences what the verdict means and what it is good for; `history` has the statistics as they
    were in the course of the work, each with its `seconds`. `cached`: an earlier run has found
    this, at that time (`found`) and in so many `seconds`; if the program has changed since,
    `edited` is true."""

    version: str
    files: list[str]
    entry: str
    data_model: str
    properties: list[str]
    engine: str
    verdict: str
    reason: str
    error_functions: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    violated: str | None = None
    bound: int | None = None
    words: list[str] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    unsupported: list[Unsupported] = field(default_factory=list)
    statistics: Numbers = field(default_factory=dict)
    history: list[Numbers] = field(default_factory=list)
    violation: Violation | None = None
    schedule: dict[str, Any] | None = None
    threads: list[Thread] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    trace: list[Row] = field(default_factory=list)
    invariants: list[Invariant] = field(default_factory=list)
    tree: list[TreeNode] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    report: str | None = None
    cached: dict[str, Any] | None = None
    answers: list[PropertyAnswer] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    fences: Fences | None = None
    # Beside the JSON: the proof for `plait check`; what is needed to find a mistake of plait
    # itself; whether somebody has interrupted it; what the engines have written to standard output
    # and standard error.
    certificate: str | None = field(default=None, metadata=_BESIDE)
    failure: dict[str, Any] | None = field(default=None, metadata=_BESIDE)
    is_interrupted: bool = field(default=False, metadata=_BESIDE)
    noise: dict[str, str] = field(default_factory=dict, metadata=_BESIDE)

    @property
    def switches(self) -> int:
        """How often another thread than the last one goes on."""
        return sum(
            before.thread != after.thread for before, after in zip(self.trace, self.trace[1:])
        )

    def with_execution_of(self, finding: Finding) -> Result:
        """With what was found beside it in the place of the counterexample."""
        return replace(
            self,
            violation=finding.violation,
            schedule=finding.schedule,
            threads=finding.threads,
            inputs=finding.inputs,
            trace=finding.trace,
        )
