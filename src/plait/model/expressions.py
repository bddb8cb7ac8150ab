"""Pure, total expressions over the registers of one frame.

An expression reads no memory and has no effect; whatever can go wrong (a zero divisor, an
over-long shift) is guarded by a Check action before it. So that each expression still has exactly
one value: `x / 0` is 0, `x % 0` is x, and a shift count is taken modulo the width of its left
operand. Integer arithmetic wraps; comparisons give I32 0 or 1. Both operands of an operator have
the same type, except in shifts.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from plait.data import dataclass
from plait.model.types import I32, Scalar

if TYPE_CHECKING:
    from plait.model.program import FrameSlot, StaticObject


class UnaryOp(Enum):
    NEG = "-"
    NOT = "~"


class BinaryOp(Enum):
    ADD = "+"
    SUB = "-"
    MUL = "*"
    DIV = "/"
    REM = "%"
    AND = "&"
    OR = "|"
    XOR = "^"
    SHL = "<<"
    SHR = ">>"
    EQ = "=="
    NE = "!="
    LT = "<"
    LE = "<="


COMPARISONS = frozenset({BinaryOp.EQ, BinaryOp.NE, BinaryOp.LT, BinaryOp.LE})


@dataclass(slots=True, eq=False)
class Const:
    type: Scalar
    value: int | float


@dataclass(slots=True, eq=False)
class Register:
    """A scalar that only its own frame can touch; `index` selects it in the frame."""

    type: Scalar
    index: int
    name: str


@dataclass(slots=True, eq=False)
class StaticAddress:
    """The address of a static object, or of the running thread's copy if it is thread-local."""

    type: Scalar
    object: StaticObject
    offset: int = 0


@dataclass(slots=True, eq=False)
class FrameAddress:
    """The address of the running frame's instance of a local that lives in memory."""

    type: Scalar
    slot: FrameSlot
    offset: int = 0


@dataclass(slots=True, eq=False)
class FunctionAddress:
    """The address of a function, by its linked name (a key of Program.functions)."""

    type: Scalar
    function: str


@dataclass(slots=True, eq=False)
class CurrentThread:
    """The running thread's number: 1 for the initial thread, then in order of creation."""

    type: Scalar


@dataclass(slots=True, eq=False)
class Unary:
    type: Scalar
    op: UnaryOp
    operand: Expr


@dataclass(slots=True, eq=False)
class Binary:
    type: Scalar
    op: BinaryOp
    left: Expr
    right: Expr


@dataclass(slots=True, eq=False)
class PointerAdd:
    """`base` moved by `offset` bytes (`offset` has the data model's offset type). If `base` is the
    start of an array: of how many bytes, 0 where its type does not say so."""

    type: Scalar
    base: Expr
    offset: Expr
    array: int | None = None


@dataclass(slots=True, eq=False)
class Convert:
    """C's conversion of a value to another scalar type."""

    type: Scalar
    operand: Expr


@dataclass(slots=True, eq=False)
class Conditional:
    """`then` if `condition` is not zero, otherwise `otherwise`."""

    type: Scalar
    condition: Expr
    then: Expr
    otherwise: Expr


Expr = (
    Const
    | Register
    | StaticAddress
    | FrameAddress
    | FunctionAddress
    | CurrentThread
    | Unary
    | Binary
    | PointerAdd
    | Convert
    | Conditional
)

TRUE = Const(I32, 1)
FALSE = Const(I32, 0)


# A table and no `match`, because this is asked more often than anything else.
_CHILDREN: dict[type, Callable[[Any], tuple[Expr, ...]]] = {
    Unary: lambda expr: (expr.operand,),
    Convert: lambda expr: (expr.operand,),
    Binary: attrgetter("left", "right"),
    PointerAdd: attrgetter("base", "offset"),
    Conditional: attrgetter("condition", "then", "otherwise"),
}


def children(expr: Expr) -> tuple[Expr, ...]:
    find = _CHILDREN.get(type(expr))
    return () if find is None else find(expr)


def registers_of(expr: Expr) -> set[int]:
    """The indices of the registers that an expression reads."""
    found: set[int] = set()
    pending = [expr]
    while pending:
        item = pending.pop()
        if isinstance(item, Register):
            found.add(item.index)
        else:
            pending.extend(children(item))
    return found
