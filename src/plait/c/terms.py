"""Constructors of model expressions that fold constants as they build."""

from __future__ import annotations

import math
import struct

from plait.model import fold
from plait.model.expressions import (
    COMPARISONS,
    FALSE,
    TRUE,
    Binary,
    BinaryOp,
    Conditional,
    Const,
    Convert,
    Expr,
    FrameAddress,
    FunctionAddress,
    PointerAdd,
    StaticAddress,
    Unary,
    UnaryOp,
)
from plait.model.types import I32, Kind, Scalar

_ADDRESSES = (StaticAddress, FrameAddress, FunctionAddress)


def constant(type_: Scalar, value: int) -> Const:
    return Const(type_, type_.wrap(value))


def round_single(value: float) -> float:
    """The nearest single-precision value (overflow gives an infinity, as the hardware does)."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def convert(type_: Scalar, operand: Expr) -> Expr:
    source = operand.type
    if source == type_:
        return operand
    if isinstance(operand, Const):
        folded = _convert_constant(type_, operand.value)
        if folded is not None:
            return folded
    if type_.is_bool and isinstance(operand, _ADDRESSES):
        return Const(type_, 1)
    if isinstance(operand, Convert) and _is_integral(source) and _is_integral(type_):
        inner = operand.operand.type
        if _is_integral(inner) and not (source.is_bool or type_.is_bool):
            # Narrowing twice, or narrowing what was only widened, is one conversion.
            if type_.bits <= source.bits and type_.kind is Kind.INT and inner.kind is Kind.INT:
                return convert(type_, operand.operand)
    return Convert(type_, operand)


def _is_integral(type_: Scalar) -> bool:
    return type_.kind is not Kind.FLOAT


def _convert_constant(type_: Scalar, value: int | float) -> Const | None:
    if type_.is_bool:
        return Const(type_, int(value != 0))
    if type_.kind is Kind.FLOAT:
        if isinstance(value, int) and type_.bits == 32:
            return None  # int to float must round once: the interpreter's conversion does
        try:
            wide = float(value)
        except OverflowError:
            return None
        return Const(type_, wide if type_.bits == 64 else round_single(wide))
    if isinstance(value, float):
        if not math.isfinite(value) or not type_.minimum <= int(value) <= type_.maximum:
            return None
        return Const(type_, int(value))
    return Const(type_, type_.wrap(value))


def unary(op: UnaryOp, operand: Expr) -> Expr:
    if isinstance(operand, Const):
        value = operand.value
        if op is UnaryOp.NEG:
            if isinstance(value, float):
                return Const(operand.type, -value)
            return constant(operand.type, -value)
        assert isinstance(value, int)
        return constant(operand.type, ~value)
    return Unary(operand.type, op, operand)


def binary(op: BinaryOp, left: Expr, right: Expr) -> Expr:
    type_ = I32 if op in COMPARISONS else left.type
    if isinstance(left, Const) and isinstance(right, Const):
        folded = _fold(op, type_, left, right)
        if folded is not None:
            return folded
    if isinstance(right, Const) and right.value == 0 and right.type.kind is Kind.INT:
        if op in (
            BinaryOp.ADD,
            BinaryOp.SUB,
            BinaryOp.OR,
            BinaryOp.XOR,
            BinaryOp.SHL,
            BinaryOp.SHR,
        ):
            return left
        if op is BinaryOp.NE and is_truth(left):
            return left
    if (
        op in (BinaryOp.EQ, BinaryOp.NE)
        and isinstance(right, Const)
        and right.value == 0
        and isinstance(left, _ADDRESSES)
    ):
        return TRUE if op is BinaryOp.NE else FALSE
    return Binary(type_, op, left, right)


def _fold(op: BinaryOp, type_: Scalar, left: Const, right: Const) -> Const | None:
    a, b = left.value, right.value
    if isinstance(a, float) or isinstance(b, float):
        return None  # IEEE corner cases are the interpreter's
    if b == 0 and op in (BinaryOp.DIV, BinaryOp.REM):
        return None  # a check comes before it
    return Const(type_, fold.binary(op, type_, left.type, a, b))


def is_truth(expr: Expr) -> bool:
    """Whether an expression is an I32 that can only be 0 or 1."""
    if isinstance(expr, Binary):
        return expr.op in COMPARISONS
    if isinstance(expr, Conditional):
        return is_truth(expr.then) and is_truth(expr.otherwise)
    return isinstance(expr, Const) and expr.type == I32 and expr.value in (0, 1)


def truth(expr: Expr) -> Expr:
    """An I32 that is 1 where `expr` is not zero, 0 elsewhere."""
    if is_truth(expr):
        return expr
    if isinstance(expr, Convert) and expr.type.kind is Kind.INT and is_truth(expr.operand):
        return expr.operand
    return binary(BinaryOp.NE, expr, zero(expr.type))


def negation(expr: Expr) -> Expr:
    """An I32 that is 1 where `expr` is zero, 0 elsewhere."""
    expr = truth(expr)
    if isinstance(expr, Const):
        return FALSE if expr.value else TRUE
    if isinstance(expr, Binary):
        if expr.op is BinaryOp.EQ:
            return Binary(I32, BinaryOp.NE, expr.left, expr.right)
        if expr.op is BinaryOp.NE:
            return Binary(I32, BinaryOp.EQ, expr.left, expr.right)
        if expr.op is BinaryOp.LT and expr.left.type.kind is not Kind.FLOAT:
            return Binary(I32, BinaryOp.LE, expr.right, expr.left)
        if expr.op is BinaryOp.LE and expr.left.type.kind is not Kind.FLOAT:
            return Binary(I32, BinaryOp.LT, expr.right, expr.left)
    return Binary(I32, BinaryOp.EQ, expr, Const(I32, 0))


def zero(type_: Scalar) -> Const:
    return Const(type_, 0.0 if type_.kind is Kind.FLOAT else 0)


def conditional(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    if isinstance(condition, Const):
        return then if condition.value else otherwise
    return Conditional(then.type, condition, then, otherwise)


def pointer_add(base: Expr, offset: Expr, array: int | None = None) -> Expr:
    """`base` plus a number of bytes; constant offsets of addresses merge."""
    if isinstance(offset, Const):
        amount = int(offset.value)
        if amount == 0:
            return base
        if isinstance(base, StaticAddress):
            return StaticAddress(base.type, base.object, base.offset + amount)
        if isinstance(base, FrameAddress):
            return FrameAddress(base.type, base.slot, base.offset + amount)
        if isinstance(base, Const):
            return constant(base.type, int(base.value) + amount)
        if isinstance(base, PointerAdd) and isinstance(base.offset, Const):
            return pointer_add(base.base, constant(offset.type, int(base.offset.value) + amount))
    return PointerAdd(base.type, base, offset, array)


def scaled(index: Expr, size: int, offset_type: Scalar) -> Expr:
    """index * size in the data model's offset type."""
    wide = convert(offset_type, index)
    if size == 1:
        return wide
    return binary(BinaryOp.MUL, wide, constant(offset_type, size))
