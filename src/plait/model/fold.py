"""Constant folding of expressions: exact on integers and pointers, silent about floats."""

from __future__ import annotations

from plait.model.expressions import (
    Binary,
    BinaryOp,
    Conditional,
    Const,
    Convert,
    Expr,
    FrameAddress,
    FunctionAddress,
    PointerAdd,
    Register,
    StaticAddress,
    Unary,
    UnaryOp,
)
from plait.model.types import Kind, Scalar


def constant(expr: Expr) -> int | None:
    """The value of an integer or pointer expression that is the same in all states, if known."""
    match expr:
        case Const():
            return None if expr.type.kind is Kind.FLOAT else int(expr.value)
        case Binary():
            right = constant(expr.right)
            left = constant(expr.left) if right is not None else None
            if left is not None and right is not None:
                return binary(expr.op, expr.type, expr.left.type, left, right)
            if expr.op in (BinaryOp.EQ, BinaryOp.NE) and _is_null_test(expr):
                return int(expr.op is BinaryOp.NE)
            return None
        case Convert():
            if expr.type.kind is Kind.FLOAT or expr.operand.type.kind is Kind.FLOAT:
                return None
            value = constant(expr.operand)
            if value is None:
                return 1 if expr.type.is_bool and _is_object_address(expr.operand) else None
            return convert(expr.type, value)
        case Unary():
            value = constant(expr.operand)
            return None if value is None else unary(expr.op, expr.type, value)
        case PointerAdd():
            base, offset = constant(expr.base), constant(expr.offset)
            return None if base is None or offset is None else expr.type.wrap(base + offset)
        case Conditional():
            chosen = constant(expr.condition)
            if chosen is None:
                then = constant(expr.then)
                return then if then is not None and then == constant(expr.otherwise) else None
            return constant(expr.then if chosen else expr.otherwise)
    return None


def fold(expr: Expr) -> Expr:
    """An expression of equal value in which constant parts have become constants."""
    if isinstance(expr, Const):
        return expr
    value = constant(expr)
    if value is not None:
        return Const(expr.type, value)
    match expr:
        case Unary():
            return Unary(expr.type, expr.op, fold(expr.operand))
        case Binary():
            return Binary(expr.type, expr.op, fold(expr.left), fold(expr.right))
        case PointerAdd():
            return PointerAdd(expr.type, fold(expr.base), fold(expr.offset), expr.array)
        case Convert():
            return Convert(expr.type, fold(expr.operand))
        case Conditional():
            chosen = constant(expr.condition)
            if chosen is not None:
                return fold(expr.then if chosen else expr.otherwise)
            condition = fold(expr.condition)
            return Conditional(expr.type, condition, fold(expr.then), fold(expr.otherwise))
    return expr


def substitute(expr: Expr, register: int, value: Expr) -> Expr:
    """The expression with a register replaced."""
    match expr:
        case Register():
            return value if expr.index == register else expr
        case Unary():
            return Unary(expr.type, expr.op, substitute(expr.operand, register, value))
        case Convert():
            return Convert(expr.type, substitute(expr.operand, register, value))
        case Binary():
            left = substitute(expr.left, register, value)
            return Binary(expr.type, expr.op, left, substitute(expr.right, register, value))
        case PointerAdd():
            base = substitute(expr.base, register, value)
            offset = substitute(expr.offset, register, value)
            return PointerAdd(expr.type, base, offset, expr.array)
        case Conditional():
            return Conditional(
                expr.type,
                substitute(expr.condition, register, value),
                substitute(expr.then, register, value),
                substitute(expr.otherwise, register, value),
            )
    return expr


def convert(scalar: Scalar, value: int) -> int:
    """C's conversion of an integer to an integer or pointer type."""
    return int(value != 0) if scalar.is_bool else scalar.wrap(value)


def unary(op: UnaryOp, scalar: Scalar, value: int) -> int:
    return scalar.wrap(-value if op is UnaryOp.NEG else ~value)


def binary(op: BinaryOp, scalar: Scalar, operands: Scalar, left: int, right: int) -> int:
    """The value of an integer operator; `operands` is the type of the left operand."""
    match op:
        case BinaryOp.EQ:
            return int(left == right)
        case BinaryOp.NE:
            return int(left != right)
        case BinaryOp.LT:
            return int(left < right)
        case BinaryOp.LE:
            return int(left <= right)
        case BinaryOp.ADD:
            return scalar.wrap(left + right)
        case BinaryOp.SUB:
            return scalar.wrap(left - right)
        case BinaryOp.MUL:
            return scalar.wrap(left * right)
        case BinaryOp.AND:
            return scalar.wrap(left & right)
        case BinaryOp.OR:
            return scalar.wrap(left | right)
        case BinaryOp.XOR:
            return scalar.wrap(left ^ right)
        case BinaryOp.SHL:
            return scalar.wrap(left << (right % operands.bits))
        case BinaryOp.SHR:
            return scalar.wrap(left >> (right % operands.bits))
    if right == 0:
        return 0 if op is BinaryOp.DIV else left
    quotient = abs(left) // abs(right)
    if (left < 0) != (right < 0):
        quotient = -quotient
    return scalar.wrap(quotient if op is BinaryOp.DIV else left - quotient * right)


def _is_null_test(expr: Binary) -> bool:
    """Whether one side is the address inside an object and the other one the constant 0."""
    left, right = expr.left, expr.right
    if isinstance(left, Const):
        left, right = right, left
    return isinstance(right, Const) and right.value == 0 and _is_object_address(left)


def _is_object_address(expr: Expr) -> bool:
    match expr:
        case StaticAddress():
            return 0 <= expr.offset <= expr.object.size
        case FrameAddress():
            return 0 <= expr.offset <= expr.slot.size
        case FunctionAddress():
            return True
    return False
