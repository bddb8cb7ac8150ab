"""Expressions of the model as bit-vector terms.

A value of a scalar type is its bit pattern, as wide as the type; a `_Bool` has 8 bits of which
all but the lowest are 0. The terms of registers and addresses must keep to that. Floating-point
values can be copied, but not computed with.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

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
        parts = children(item)
        has_floats = item.type.kind is Kind.FLOAT
        is_open = False
        for part in parts:
            if id(part) not in done:
                pending.append(part)
                is_open = True
            has_floats = has_floats or part.type.kind is Kind.FLOAT
        if is_open:
            continue
        pending.pop()
        if has_floats:
            _refuse_float_arithmetic(item)
        done[id(item)] = _TRANSLATORS[type(item)](terms, item, registers, addresses, done)
    return done[id(expr)]


def _refuse_float_arithmetic(expr: Expr) -> None:
    """Floating-point values are bit patterns that can be copied and chosen from, nothing else."""
    floats = [part for part in (expr, *children(expr)) if part.type.kind is Kind.FLOAT]
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


# The term of an expression whose parts are done.
_Done = Mapping[int, int]
_Translator = Callable[[Terms, Any, Mapping[int, int], Addresses, _Done], int]


def _constant(
    terms: Terms, expr: Const, registers: Mapping[int, int], addresses: Addresses, done: _Done
) -> int:
    if expr.type.kind is not Kind.FLOAT:
        return terms.constant(int(expr.value), expr.type.bits)
    try:
        data = struct.pack(_FLOAT_FORMATS[expr.type.bits], expr.value)
    except OverflowError:
        raise UnsupportedCode("a floating-point constant out of range") from None
    return terms.constant(int.from_bytes(data, "little"), expr.type.bits)


def _inside_object(
    terms: Terms,
    expr: StaticAddress | FrameAddress,
    registers: Mapping[int, int],
    addresses: Addresses,
    done: _Done,
) -> int:
    return terms.add(addresses(expr), terms.constant(expr.offset, expr.type.bits))


def _unary(
    terms: Terms, expr: Unary, registers: Mapping[int, int], addresses: Addresses, done: _Done
) -> int:
    operand = done[id(expr.operand)]
    return terms.neg(operand) if expr.op is UnaryOp.NEG else terms.not_(operand)


def _pointer_add(
    terms: Terms, expr: PointerAdd, registers: Mapping[int, int], addresses: Addresses, done: _Done
) -> int:
    offset = convert(terms, done[id(expr.offset)], expr.offset.type, expr.type)
    return terms.add(done[id(expr.base)], offset)


def _conversion(
    terms: Terms, expr: Convert, registers: Mapping[int, int], addresses: Addresses, done: _Done
) -> int:
    return convert(terms, done[id(expr.operand)], expr.operand.type, expr.type)


def _conditional(
    terms: Terms, expr: Conditional, registers: Mapping[int, int], addresses: Addresses, done: _Done
) -> int:
    condition = is_not_zero(terms, done[id(expr.condition)])
    return terms.ite(condition, done[id(expr.then)], done[id(expr.otherwise)])


def _binary(
    terms: Terms, expr: Binary, registers: Mapping[int, int], addresses: Addresses, done: _Done
) -> int:
    left, right = done[id(expr.left)], done[id(expr.right)]
    if expr.op in COMPARISONS:
        truth = _comparison(terms, expr.op, expr.left.type, left, right)
        return terms.zero_extend(truth, expr.type.bits)
    return _arithmetic(terms, expr.op, expr.left.type, left, right)


_TRANSLATORS: dict[type, _Translator] = {
    Const: _constant,
    Register: lambda terms, expr, registers, addresses, done: registers[expr.index],
    StaticAddress: _inside_object,
    FrameAddress: _inside_object,
    FunctionAddress: lambda terms, expr, registers, addresses, done: addresses(expr),
    CurrentThread: lambda terms, expr, registers, addresses, done: addresses(expr),
    Unary: _unary,
    PointerAdd: _pointer_add,
    Convert: _conversion,
    Conditional: _conditional,
    Binary: _binary,
}


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
