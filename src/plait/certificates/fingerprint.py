"""The identity of a program model: what a certificate is about, whatever the sources are called.

The text that is hashed has everything that decides what a program does: actions with the types of
all they compute, initial values, pages. Names and places in the source are for people and are left
out, except for names that the model itself uses to refer to functions and properties.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import Enum
from hashlib import sha256
from typing import Any

from plait.data import fields
from plait.model.expressions import (
    Binary,
    Const,
    Expr,
    FrameAddress,
    FunctionAddress,
    Register,
    StaticAddress,
    Unary,
    children,
)
from plait.model.program import Function, Program, StaticObject
from plait.model.types import Kind, Scalar

_NOT_HASHED = frozenset({"origin", "decides", "spelled"})


def fingerprint(program: Program) -> str:
    """64 hexadecimal digits; equal for two programs only if they are the same model."""
    digest = sha256()
    for line in _lines(program):
        digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def _lines(program: Program) -> Iterator[str]:
    yield f"program {program.data_model.value} {program.entry!r} {program.first_free_page}"
    for item in program.objects:
        yield _object(item)
    for name in sorted(program.functions):
        yield from _function(program.functions[name])


def _object(item: StaticObject) -> str:
    flags = "".join("01"[flag] for flag in (item.thread_local, item.read_only, item.indeterminate))
    return f"object {item.page} {item.size} {flags} {item.initial.hex()}"


def _function(function: Function) -> Iterator[str]:
    returns = "void" if function.returns is None else _scalar(function.returns)
    yield f"function {function.name!r} {function.page} {function.parameters} {returns}"
    yield "registers " + " ".join(_scalar(item.type) for item in function.registers)
    yield "slots " + " ".join(str(item.size) for item in function.slots)
    for location, leaving in enumerate(function.edges):
        for edge in leaving:
            yield f"edge {location} {edge.target} {_action(edge.action)}"


def _action(action: Any) -> str:
    parts = [type(action).__name__]
    for item in fields(action):
        if item.name not in _NOT_HASHED:
            parts.append(_value(getattr(action, item.name)))
    return " ".join(parts)


def _value(value: Any) -> str:
    if isinstance(value, Expr):
        return " ".join(_expression(value))
    if isinstance(value, tuple):
        return f"({len(value)} {' '.join(_value(item) for item in value)})"
    if isinstance(value, Enum):
        return repr(value.value)
    return repr(value)


def _expression(expr: Expr) -> Iterator[str]:
    """Operators before their operands, of which each has a fixed number."""
    pending = [expr]
    while pending:
        item = pending.pop()
        yield f"{type(item).__name__}:{_scalar(item.type)}{_detail(item)}"
        pending.extend(reversed(children(item)))


def _detail(expr: Expr) -> str:
    match expr:
        case Const():
            if expr.type.kind is Kind.FLOAT:
                return ":" + struct.pack("<d", expr.value).hex()
            return f":{int(expr.value)}"
        case Register():
            return f":{expr.index}"
        case StaticAddress():
            return f":{expr.object.page}:{expr.offset}"
        case FrameAddress():
            return f":{expr.slot.index}:{expr.offset}"
        case FunctionAddress():
            return f":{expr.function!r}"
        case Unary() | Binary():
            return f":{expr.op.value}"
    return ""


def _scalar(scalar: Scalar) -> str:
    return f"{scalar}{scalar.bits}"
