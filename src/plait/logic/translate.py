"""Expressions of the model as bit-vector terms.

A value of a scalar type is its bit pattern, as wide as the type; a `_Bool` has 8 bits of which
all but the lowest are 0. The terms of registers and addresses must keep to that. Floating-point
arithmetic is exact (`floats`), but for which NaN an operation gives: that is any.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

from plait.errors import UnsupportedCode
from plait.logic import floats
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

# A variable of so many bits that has any value, and matters where the condition holds.
Unknown = Callable[[int, int], int]
# What such a variable is called, and why nothing may follow from the value that a model has for it.
NAN_BITS = "the bits of a NaN"
OPEN_NAN = "it depends on the bits of a NaN, which C leaves open where an operation gives one"

_FLOAT_FORMATS = {32: "<f", 64: "<d"}


def translate(
    terms: Terms,
    expr: Expr,
    registers: Mapping[int, int],
    addresses: Addresses,
    unknown: Unknown | None = None,
) -> int:
    """The term of an expression's value, given the terms of the registers it reads. `unknown` makes
    variables for what the value does not determine: the bits of NaNs.

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
        if has_floats and parts:
            done[id(item)] = _with_floats(terms, item, done, unknown)
        else:
            done[id(item)] = _TRANSLATORS[type(item)](terms, item, registers, addresses, done)
    return done[id(expr)]


def translate_condition(
    terms: Terms,
    expr: Expr,
    registers: Mapping[int, int],
    addresses: Addresses,
    unknown: Unknown | None = None,
) -> int:
    """The truth value of an expression: whether it is not 0."""
    value = translate(terms, expr, registers, addresses, unknown)
    return truth_of(terms, value, expr.type)


def truth_of(terms: Terms, value: int, scalar: Scalar) -> int:
    """Whether a value of a type is not 0."""
    if scalar.kind is Kind.FLOAT:
        return terms.not_(floats.is_zero(terms, value, scalar))
    return is_not_zero(terms, value)


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
    return _choice(terms, expr, done)


def _choice(terms: Terms, expr: Conditional, done: _Done) -> int:
    condition = truth_of(terms, done[id(expr.condition)], expr.condition.type)
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


# --- floating point


def _with_floats(terms: Terms, expr: Expr, done: _Done, unknown: Unknown | None) -> int:
    """The term of an expression that has a floating-point value, or is made of one."""

    def nan(scalar: Scalar, when: int) -> int:
        bits = floats.open_bits(scalar)
        value = terms.fresh(NAN_BITS, bits) if unknown is None else unknown(bits, when)
        return floats.quiet_nan(terms, scalar, value)

    match expr:
        case Unary(op=UnaryOp.NEG):
            return floats.negate(terms, done[id(expr.operand)], expr.type)
        case Convert():
            return _float_conversion(terms, expr, done[id(expr.operand)], nan)
        case Conditional():
            return _choice(terms, expr, done)
        case Binary():
            left, right, operands = done[id(expr.left)], done[id(expr.right)], expr.left.type
            if expr.op in COMPARISONS:
                truth = floats.compare(terms, expr.op, operands, left, right)
                return terms.zero_extend(truth, expr.type.bits)
            return floats.arithmetic(terms, expr.op, operands, left, right, nan)
    raise UnsupportedCode("an operation that floating-point values do not have")


def _float_conversion(terms: Terms, expr: Convert, value: int, nan: floats.NaN) -> int:
    source, target = expr.operand.type, expr.type
    if target.is_bool:
        return terms.zero_extend(truth_of(terms, value, source), target.bits)
    if target.kind is not Kind.FLOAT:
        return floats.to_integer(terms, value, source, target)
    if source.kind is not Kind.FLOAT:
        return floats.from_integer(terms, value, source, target)
    return floats.resized(terms, value, source, target, nan)
