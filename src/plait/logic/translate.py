"""Expressions of the model as bit-vector terms.

A value of a scalar type is its bit pattern, as wide as the type; a `_Bool` has 8 bits of which
all but the lowest are 0. The terms of registers and addresses must keep to that. Floating-point
values can be copied, but not computed with.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

from plait.errors import UnsupportedCode
from plait.logic.terms import Terms
from plait.model.expressions import (
    COMPARISONS,
    Binary,
    BinaryOp,
    Conditional,
    Const,
    Convert,
    CurrentThread,
    Expr,
    FrameAddress,
    FunctionAddress,
    PointerAdd,
    Register,
    StaticAddress,
    Unary,
    UnaryOp,
    children,
)
from plait.model.types import Kind, Scalar

Place = StaticAddress | FrameAddress | FunctionAddress | CurrentThread
# The term of the object's or function's own address, or of the thread's number, as wide as the
# expression's type; an offset is added by `translate`.
Addresses = Callable[[Place], int]

_FLOAT_FORMATS = {32: "<f", 64: "<d"}


def translate(terms: Terms, expr: Expr, registers: Mapping[int, int], addresses: Addresses) -> int:
    """The term of an expression's value, given the terms of the registers it reads.

    Pointer arithmetic wraps; that a pointer stays inside its object is not this function's concern.
    """
    done: dict[int, int] = {}
    pending = [expr]
    while pending:
        item = pending[-1]
        missing = [part for part in children(item) if id(part) not in done]
        if missing:
            pending += missing
            continue
        pending.pop()
        _refuse_float_arithmetic(item)
        done[id(item)] = _translate(terms, item, registers, addresses, done)
    return done[id(expr)]


def _refuse_float_arithmetic(expr: Expr) -> None:
    """Floating-point values are bit patterns that can be copied and chosen from, nothing else."""
    floats = [part for part in (expr, *children(expr)) if part.type.kind is Kind.FLOAT]
    if not floats:
        return
    if any(part.type.bits not in _FLOAT_FORMATS for part in floats):
        raise UnsupportedCode("floating-point values of this size are not supported here")
    is_copied = isinstance(expr, (Const, Register))
    if isinstance(expr, Conditional):
        is_copied = expr.condition.type.kind is not Kind.FLOAT
    if not is_copied:
        raise UnsupportedCode("floating-point arithmetic is not supported here")


def translate_condition(
    terms: Terms, expr: Expr, registers: Mapping[int, int], addresses: Addresses
) -> int:
    """The truth value of an expression: whether it is not 0."""
    if expr.type.kind is Kind.FLOAT:
        raise UnsupportedCode("floating-point arithmetic is not supported here")
    return is_not_zero(terms, translate(terms, expr, registers, addresses))


def is_not_zero(terms: Terms, value: int) -> int:
    return terms.ne(value, terms.constant(0, terms.width[value]))


def convert(terms: Terms, value: int, source: Scalar, target: Scalar) -> int:
    """C's conversion between integer and pointer types."""
    if target.is_bool:
        return terms.zero_extend(is_not_zero(terms, value), target.bits)
    if target.bits <= source.bits:
        return terms.extract(value, 0, target.bits)
    if source.signed:
        return terms.sign_extend(value, target.bits)
    return terms.zero_extend(value, target.bits)


def _translate(
    terms: Terms,
    expr: Expr,
    registers: Mapping[int, int],
    addresses: Addresses,
    done: Mapping[int, int],
) -> int:
    """The term of an expression whose parts are done."""
    match expr:
        case Const():
            if expr.type.kind is Kind.FLOAT:
                try:
                    data = struct.pack(_FLOAT_FORMATS[expr.type.bits], expr.value)
                except OverflowError:
                    raise UnsupportedCode("a floating-point constant out of range") from None
                return terms.constant(int.from_bytes(data, "little"), expr.type.bits)
            return terms.constant(int(expr.value), expr.type.bits)
        case Register():
            return registers[expr.index]
        case StaticAddress() | FrameAddress():
            return terms.add(addresses(expr), terms.constant(expr.offset, expr.type.bits))
        case FunctionAddress() | CurrentThread():
            return addresses(expr)
        case Unary():
            operand = done[id(expr.operand)]
            return terms.neg(operand) if expr.op is UnaryOp.NEG else terms.not_(operand)
        case PointerAdd():
            offset = convert(terms, done[id(expr.offset)], expr.offset.type, expr.type)
            return terms.add(done[id(expr.base)], offset)
        case Convert():
            return convert(terms, done[id(expr.operand)], expr.operand.type, expr.type)
        case Conditional():
            condition = is_not_zero(terms, done[id(expr.condition)])
            return terms.ite(condition, done[id(expr.then)], done[id(expr.otherwise)])
        case Binary():
            left, right = done[id(expr.left)], done[id(expr.right)]
            if expr.op in COMPARISONS:
                truth = _comparison(terms, expr.op, expr.left.type, left, right)
                return terms.zero_extend(truth, expr.type.bits)
            return _arithmetic(terms, expr.op, expr.left.type, left, right)


def _comparison(terms: Terms, op: BinaryOp, operands: Scalar, left: int, right: int) -> int:
    if op is BinaryOp.EQ:
        return terms.eq(left, right)
    if op is BinaryOp.NE:
        return terms.ne(left, right)
    if op is BinaryOp.LT:
        return terms.slt(left, right) if operands.signed else terms.ult(left, right)
    return terms.sle(left, right) if operands.signed else terms.ule(left, right)


def _arithmetic(terms: Terms, op: BinaryOp, operands: Scalar, left: int, right: int) -> int:
    match op:
        case BinaryOp.ADD:
            return terms.add(left, right)
        case BinaryOp.SUB:
            return terms.sub(left, right)
        case BinaryOp.MUL:
            return terms.mul(left, right)
        case BinaryOp.AND:
            return terms.and_(left, right)
        case BinaryOp.OR:
            return terms.or_(left, right)
        case BinaryOp.XOR:
            return terms.xor(left, right)
        case BinaryOp.SHL:
            return terms.shl(left, right)
        case BinaryOp.SHR:
            return terms.ashr(left, right) if operands.signed else terms.lshr(left, right)
        case BinaryOp.DIV:
            return terms.sdiv(left, right) if operands.signed else terms.udiv(left, right)
        case BinaryOp.REM:
            return terms.srem(left, right) if operands.signed else terms.urem(left, right)
    raise ValueError(f"{op} is no arithmetic operator")
