"""Actions: the labels of control-flow edges.

An action is a total, deterministic function of the state and of named inputs, and it makes at most
one access to memory (Load, Store or ReadModifyWrite). Every access requires that its address lies
in a live object; where it does not, the execution ends with an invalid-access outcome.
"""

from __future__ import annotations

from enum import Enum

from plait.data import dataclass
from plait.model.expressions import Expr, Register


@dataclass(slots=True, frozen=True)
class Origin:
    """The source range an action stands for; lines and columns count from 1, in the file read.

    An `end_column` of 0 is the end of the line (the range ends inside a macro).
    """

    file: int
    line: int
    column: int
    end_line: int
    end_column: int


NOWHERE = Origin(-1, 0, 0, 0, 0)


class Order(Enum):
    """Memory order of an access. PLAIN and VOLATILE accesses are not atomic: they can race."""

    PLAIN = "plain"
    VOLATILE = "volatile"
    RELAXED = "relaxed"
    CONSUME = "consume"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQ_REL = "acq_rel"
    SEQ_CST = "seq_cst"

    @property
    def is_atomic(self) -> bool:
        return self not in (Order.PLAIN, Order.VOLATILE)


class CheckKind(Enum):
    """What a failing Check means. UNDEFINED ends the execution without a verdict on it."""

    ASSERTION = "assertions"
    UNREACH_CALL = "unreach-call"
    OVERFLOW = "no-overflow"
    LOCK_MISUSE = "lock-misuse"
    VALID_FREE = "valid-free"
    VALID_DEREF = "valid-deref"
    UNDEFINED = "undefined behaviour"
    MONITOR = "monitor"


@dataclass(slots=True, eq=False)
class Skip:
    """No effect."""

    origin: Origin


@dataclass(slots=True, eq=False)
class Assign:
    origin: Origin
    target: Register
    value: Expr


@dataclass(slots=True, eq=False)
class Load:
    """target := memory[address], a value of target's type.

    `copies`: part of the copy of a larger object, which may be initialised only in parts.
    `spelled`: what the source calls it (`p->value`), for people only.
    """

    origin: Origin
    target: Register
    address: Expr
    order: Order = Order.PLAIN
    copies: bool = False
    spelled: str = ""


@dataclass(slots=True, eq=False)
class Store:
    """memory[address] := value. `copies` and `spelled`: as in Load."""

    origin: Origin
    address: Expr
    value: Expr
    order: Order = Order.PLAIN
    copies: bool = False
    spelled: str = ""


@dataclass(slots=True, eq=False)
class ReadModifyWrite:
    """In one step: old := memory[address]; if guard then memory[address] := new.

    `new` and `guard` may read `old`; without a guard the write always happens. Where the guard is 0
    it is a read, of the memory order `failure_order`.
    """

    origin: Origin
    old: Register
    address: Expr
    new: Expr
    guard: Expr | None = None
    order: Order = Order.SEQ_CST
    failure_order: Order = Order.RELAXED


@dataclass(slots=True, eq=False)
class Fence:
    """No effect under sequential consistency; what weaker memory models order by."""

    origin: Origin
    order: Order


@dataclass(slots=True, eq=False)
class Input:
    """target := a non-deterministic value of its type, or one of 0 .. count-1 if `count` is given.

    A count of 0 or less ends the execution as Prune does: there is no value to choose. An
    `indeterminate` value (of a variable that was not initialised) need not be chosen before it is
    used.
    """

    origin: Origin
    target: Register
    name: str
    count: Expr | None = None
    indeterminate: bool = False


@dataclass(slots=True, eq=False)
class Guard:
    """A branch: the edge is taken where the condition is not 0. Exactly one guard of a location
    holds in each state. `decides` is the value that the controlling expression of an `if` or a loop
    in the source then has; None if the guard does not decide that alone."""

    origin: Origin
    condition: Expr
    decides: bool | None = None


@dataclass(slots=True, eq=False)
class Prune:
    """`__VERIFIER_assume`: executions in which the condition is 0 do not exist."""

    origin: Origin
    condition: Expr


@dataclass(slots=True, eq=False)
class Wait:
    """The thread is blocked while the condition is 0.

    `what` says for people what is waited for ("mutex", "join", ...), `on` is the address of the
    thing. Inside an atomic section the whole section is blocked: the thread cannot begin it.
    """

    origin: Origin
    condition: Expr
    what: str
    on: Expr | None = None


@dataclass(slots=True, eq=False)
class Check:
    """A property of the state: the execution ends in a violation where the condition is 0."""

    origin: Origin
    condition: Expr
    kind: CheckKind
    message: str


@dataclass(slots=True, eq=False)
class Call:
    """Push a frame. `callee` is a linked function name, or a pointer value to look up. `inputs`
    is what those are called that a function of the library asks for, if they are not its own."""

    origin: Origin
    target: Register | None
    callee: str | Expr
    arguments: tuple[Expr, ...]
    inputs: str = ""


@dataclass(slots=True, eq=False)
class Return:
    """Pop the frame; the value goes to the target of the Call. A thread that returns from its
    first frame has ended. The edge's target location is -1."""

    origin: Origin
    value: Expr | None


@dataclass(slots=True, eq=False)
class EnterScope:
    """Locals of a block come alive with indeterminate contents; entering again makes them new."""

    origin: Origin
    slots: tuple[int, ...]


@dataclass(slots=True, eq=False)
class LeaveScope:
    """The lifetime of locals of a block ends: accesses to them are invalid from now on."""

    origin: Origin
    slots: tuple[int, ...]


@dataclass(slots=True, eq=False)
class Allocate:
    """target := the address of a new object. A `stack` object dies with its frame (alloca)."""

    origin: Origin
    target: Register
    size: Expr
    zeroed: bool
    storage: str  # one of plait.model.machine.STORAGES


@dataclass(slots=True, eq=False)
class Free:
    """End the life of the object that starts at `address` (0: no effect), if what ends objects of
    this `storage` may end it; else it is an invalid free."""

    origin: Origin
    address: Expr
    storage: str = "heap"


@dataclass(slots=True, eq=False)
class ObjectSize:
    """target := size of the object that starts at `address` and that a Free of this `storage` could
    end (an invalid free if there is none)."""

    origin: Origin
    target: Register
    address: Expr
    storage: str = "heap"


@dataclass(slots=True, eq=False)
class AtomicBegin:
    """From here to the matching AtomicEnd no other thread takes a step; sections nest."""

    origin: Origin


@dataclass(slots=True, eq=False)
class AtomicEnd:
    origin: Origin


@dataclass(slots=True, eq=False)
class Spawn:
    """Start a thread in `function` with one argument; target := its number."""

    origin: Origin
    target: Register
    function: Expr
    argument: Expr


@dataclass(slots=True, eq=False)
class EndThread:
    """The running thread ends, with all its frames. The edge's target location is -1."""

    origin: Origin


@dataclass(slots=True, eq=False)
class EndProcess:
    """The whole program ends (exit, abort, return from main). The edge's target is -1."""

    origin: Origin
    status: Expr
    how: str  # "exit" or "abort"


@dataclass(slots=True, eq=False)
class Output:
    """printf and its like: no effect on the state; what a run prints. `arguments[0]` is the
    address of the format string."""

    origin: Origin
    arguments: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Unsupported:
    """Code that plait does not model: an execution that gets here has no verdict."""

    origin: Origin
    message: str


Action = (
    Skip
    | Assign
    | Load
    | Store
    | ReadModifyWrite
    | Fence
    | Input
    | Guard
    | Prune
    | Wait
    | Check
    | Call
    | Return
    | EnterScope
    | LeaveScope
    | Allocate
    | Free
    | ObjectSize
    | AtomicBegin
    | AtomicEnd
    | Spawn
    | EndThread
    | EndProcess
    | Output
    | Unsupported
)


def expressions_of(action: Action) -> tuple[Expr, ...]:
    """The expressions that an action evaluates."""
    match action:
        case Assign():
            return (action.value,)
        case Load() | Free() | ObjectSize():
            return (action.address,)
        case Store():
            return (action.address, action.value)
        case ReadModifyWrite():
            return (action.address, action.new, *(() if action.guard is None else (action.guard,)))
        case Input():
            return () if action.count is None else (action.count,)
        case Guard() | Prune() | Check():
            return (action.condition,)
        case Wait():
            return (action.condition,) if action.on is None else (action.condition, action.on)
        case Call():
            callee = () if isinstance(action.callee, str) else (action.callee,)
            return (*callee, *action.arguments)
        case Return():
            return () if action.value is None else (action.value,)
        case Allocate():
            return (action.size,)
        case Spawn():
            return (action.function, action.argument)
        case EndProcess():
            return (action.status,)
        case Output():
            return action.arguments
    return ()


def target_of(action: Action) -> Register | None:
    """The register that an action assigns."""
    match action:
        case Assign() | Load() | Input() | Call() | Allocate() | ObjectSize() | Spawn():
            return action.target
        case ReadModifyWrite():
            return action.old
    return None
