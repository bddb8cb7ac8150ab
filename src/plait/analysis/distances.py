"""How far a pointer is moved: by a number of bytes, or by steps of an array.

A distance (start, step) stands for all numbers that have the remainder of `start` modulo `step`;
if the step is 0, for `start` alone.
"""

from __future__ import annotations

from math import gcd

from plait.model.expressions import Binary, BinaryOp, Const, Convert, Expr
from plait.model.types import Kind, Scalar

Distance = tuple[int, int]

STAYS: Distance = (0, 0)
ANYWHERE: Distance = (0, 1)

# A pointer that is moved further has left its object, whatever that is: the number may be one that
# wraps around, of which no remainder is known.
_FARTHEST = 1 << 40


def added(one: Distance, other: Distance) -> Distance:
    step = gcd(one[1], other[1])
    start = one[0] + other[0]
    if step == 0:
        return start, 0
    if abs(start) > _FARTHEST:
        return ANYWHERE
    return start % step, step


def repeated(one: Distance) -> Distance:
    """This distance any number of times."""
    return ANYWHERE if abs(one[0]) > _FARTHEST else (0, gcd(*one))


def distance_of(offset: Expr) -> Distance:
    """The values of an expression that pointers are moved by."""
    start, step, _, _ = _progression(offset)
    return (start, 0) if step == 0 else (start % step, step)


# Start, step, and the smallest and the largest value.
_Progression = tuple[int, int, int, int]


def _progression(expr: Expr) -> _Progression:
    if isinstance(expr, Const) and isinstance(expr.value, int):
        return expr.value, 0, expr.value, expr.value
    if expr.type.kind is not Kind.INT or expr.type.is_bool:
        return _any(expr.type)
    if isinstance(expr, Convert) and expr.operand.type.kind is Kind.INT:
        return _wrapped(_progression(expr.operand), expr.type)
    if isinstance(expr, Binary):
        left, right = _progression(expr.left), _progression(expr.right)
        if expr.op is BinaryOp.ADD:
            return _wrapped(_sum(left, right), expr.type)
        if expr.op is BinaryOp.SUB:
            return _wrapped(_sum(left, _times(right, -1)), expr.type)
        if expr.op is BinaryOp.MUL and right[1] == 0:
            return _wrapped(_times(left, right[0]), expr.type)
        if expr.op is BinaryOp.MUL and left[1] == 0:
            return _wrapped(_times(right, left[0]), expr.type)
    return _any(expr.type)


def _any(type_: Scalar) -> _Progression:
    low = -(1 << type_.bits - 1) if type_.signed else 0
    return 0, 1, low, low + (1 << type_.bits) - 1


def _sum(one: _Progression, other: _Progression) -> _Progression:
    return one[0] + other[0], gcd(one[1], other[1]), one[2] + other[2], one[3] + other[3]


def _times(one: _Progression, factor: int) -> _Progression:
    ends = one[2] * factor, one[3] * factor
    return one[0] * factor, one[1] * abs(factor), min(ends), max(ends)


def _wrapped(one: _Progression, type_: Scalar) -> _Progression:
    """The values in a type. Where they wrap around, only the remainder modulo a power of two is
    what it was."""
    start, step, low, high = one
    _, _, least, most = _any(type_)
    if least <= low and high <= most:
        return one
    return start, gcd(step, 1 << type_.bits), least, most
