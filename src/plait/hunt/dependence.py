"""Which steps of a run depend on each other: those whose order can matter.

A step is what the scheduler lets a thread do in one go: an operation, and in atomic sections all of
them. Two steps of different threads are dependent if they touch a common byte and one writes, or a
common lock or the like, or if both meet the world outside of the process. `hunt.c` has the same
relation, for what threads are about to do.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.data import dataclass, field
from plait.hunt.trace import CHOICE, PENDING, READ, SYNC, Operation, Trace

OUTSIDE = -1  # what all calls that meet the outside have in common
_LARGEST = 1 << 16  # bytes of an access that are told apart


@dataclass(slots=True, eq=False)
class Access:
    first: int
    end: int
    is_read: bool


@dataclass(slots=True, eq=False)
class Transition:
    """A step of a run, or one that a thread would have made next (`is_done` is false)."""

    thread: int
    name: str
    accesses: list[Access] = field(default_factory=list)
    enabled: int = 0
    creator: int = -1  # of the first step of a thread: the number of the step that has made it
    is_done: bool = True
    choices: list[tuple[int, int]] = field(default_factory=list)  # value and number of ways
    pc: int = 0
    kind: int = SYNC

    @property
    def is_sync(self) -> bool:
        return self.kind == SYNC


def transitions(trace: Trace) -> tuple[list[Transition], dict[int, Transition]]:
    """The steps of a run, and what each thread that has not ended would do next."""
    done: list[Transition] = []
    pending: dict[int, Transition] = {}
    step_of: list[int] = []
    last: dict[int, Transition] = {}
    for operation in trace:
        if operation.kind == PENDING:
            pending[operation.thread] = _transition(operation, step_of, is_done=False)
            continue
        if operation.kind == CHOICE:
            if operation.thread in last:
                last[operation.thread].choices.append((operation.value or 0, operation.other))
        elif operation.is_step or operation.thread not in last:
            done.append(_transition(operation, step_of, is_done=True))
            last[operation.thread] = done[-1]
        else:
            last[operation.thread].accesses += accesses(operation)
        step_of.append(len(done) - 1)
    return done, pending


def _transition(operation: Operation, step_of: list[int], *, is_done: bool) -> Transition:
    creator = -1
    if operation.name == "start" and operation.value is not None:
        born = operation.value - 1
        creator = step_of[born] if 0 <= born < len(step_of) else -1
    return Transition(
        operation.thread,
        operation.name,
        accesses(operation),
        operation.enabled,
        creator,
        is_done,
        pc=operation.pc,
        kind=operation.kind if is_done else operation.pending_kind,
    )


def accesses(operation: Operation) -> list[Access]:
    is_read = READ in (operation.kind, operation.pending_kind)
    found = []
    if operation.address:
        end = operation.address + min(operation.size, _LARGEST)
        found.append(Access(operation.address, end, is_read))
    if operation.other:
        found.append(Access(operation.other, operation.other + 1, False))
    if operation.is_outside:
        found.append(Access(OUTSIDE, OUTSIDE + 1, False))
    return found


def granules(access: Access) -> Iterator[int]:
    return iter(range(access.first >> 3, ((access.end - 1) >> 3) + 1))


def conflict(one: Access, other: Access) -> bool:
    return one.first < other.end and other.first < one.end and not (one.is_read and other.is_read)


def depend(one: Transition, other: Transition) -> bool:
    return any(conflict(a, b) for a in one.accesses for b in other.accesses)
