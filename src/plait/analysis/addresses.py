"""Where a program looks at addresses as numbers, so that what it does may depend on them."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

from plait.analysis.objects import AbstractObject, ObjectKind, members
from plait.analysis.points_to import PointsTo
from plait.model.actions import Allocate, expressions_of
from plait.model.expressions import (
    Binary,
    BinaryOp,
    Const,
    Convert,
    Expr,
    PointerAdd,
    children,
)
from plait.model.program import Edge, Function, Program
from plait.model.types import Kind

_ORDER = (BinaryOp.LT, BinaryOp.LE)
# With a constant: as one marks pointers, and looks at the marks.
_MARKS = (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR)


def looks_at_addresses(program: Program) -> bool:
    """Whether the program orders pointers or makes integers of them, as far as its text says."""
    for function in program.functions.values():
        if function.library:
            continue
        for _, item in _expressions(function):
            if isinstance(item, Binary):
                if item.op in _ORDER and item.left.type.kind is Kind.POINTER:
                    return True
            elif isinstance(item, Convert):
                is_number = item.type.kind is Kind.INT and not item.type.is_bool
                if is_number and item.operand.type.kind is Kind.POINTER:
                    return True
    return False


class Seen(IntEnum):
    """How much of addresses a place can tell. `IDENTITY`: whether two are the same, and low bits,
    which say where in an object it is; `POSITION`: where objects are."""

    NOTHING = 0
    IDENTITY = 1
    POSITION = 2


def address_as_number(points_to: PointsTo) -> Edge | None:
    """A place where the program can tell which addresses objects have that are made while it runs:
    it calculates with a number that may be such an address, or with parts of it, or compares it;
    or it orders pointers to several objects. Of locals, whose addresses may be those of others
    that are gone, it must not even tell whether two are the same.

    However the address has become a number: points-to analysis follows its bytes through unions,
    copies and calls. Numbers that are only moved around do not matter, nor that one is not 0.
    """
    needed: dict[int, Seen] = {}
    page = 1 << points_to.program.data_model.page_bits
    for name in points_to.reachable_functions:
        instances = points_to.instances_of[name]
        for edge, item in _expressions(instances[0].function):
            operands, seen = _looked_at(item, page)
            if seen is Seen.NOTHING:
                continue
            for instance in instances:
                mask = 0
                for operand in operands:
                    mask |= points_to.mask(instance, operand)
                objects = members(points_to.object_mask(mask))
                if operands[0].type.kind is Kind.POINTER and len(objects) < 2:
                    continue  # to order places of one object is fine
                for number in objects:
                    if number not in needed:
                        needed[number] = _needed(points_to, points_to.objects[number])
                    if seen >= needed[number] > Seen.NOTHING:
                        return edge
    return None


def _looked_at(expr: Expr, page: int) -> tuple[tuple[Expr, ...], Seen]:
    """What an expression looks at the bits of, and what it can tell. Addresses are multiples of a
    page, plus an offset in the object: a constant that is smaller tells nothing of the former."""
    nothing: tuple[tuple[Expr, ...], Seen] = (), Seen.NOTHING
    if isinstance(expr, PointerAdd):
        return nothing if isinstance(expr.offset, Const) else ((expr.offset,), Seen.POSITION)
    if not isinstance(expr, Binary):
        return nothing
    sides = tuple(item for item in (expr.left, expr.right) if not isinstance(item, Const))
    if not sides:
        return nothing
    if expr.left.type.kind is Kind.POINTER:
        return (sides, Seen.POSITION) if expr.op in _ORDER else nothing
    if expr.left.type.kind is not Kind.INT:
        return nothing
    constant = expr.left if isinstance(expr.left, Const) else expr.right
    is_small = isinstance(constant, Const) and _is_small(constant, page)
    if expr.op in (BinaryOp.EQ, BinaryOp.NE):
        if isinstance(constant, Const) and constant.value == 0:
            return nothing
        return sides, Seen.IDENTITY if is_small or len(sides) == 2 else Seen.POSITION
    return sides, Seen.IDENTITY if is_small and expr.op in _MARKS else Seen.POSITION


def _is_small(constant: Const, page: int) -> bool:
    """Counted from 0 or, like a mask that leaves the low bits out, from -1."""
    if constant.type.kind is not Kind.INT or not isinstance(constant.value, int):
        return False
    value = constant.value % (1 << constant.type.bits)
    return min(value, (1 << constant.type.bits) - 1 - value) < page


def _needed(points_to: PointsTo, item: AbstractObject) -> Seen:
    """What a place must be able to tell of an object to matter. Objects of the library are its own
    business."""
    action = None if item.edge is None else item.edge.action
    if isinstance(action, Allocate) and action.storage == "stack":
        return Seen.IDENTITY
    match item.kind:
        case ObjectKind.SLOT:
            is_own = not points_to.program.functions[item.function].library
            return Seen.IDENTITY if is_own else Seen.NOTHING
        case ObjectKind.HEAP | ObjectKind.THREAD_LOCAL:
            return Seen.POSITION
    return Seen.NOTHING


def _expressions(function: Function) -> Iterator[tuple[Edge, Expr]]:
    for edge in function.all_edges():
        pending = list(expressions_of(edge.action))
        while pending:
            item = pending.pop()
            yield edge, item
            pending.extend(children(item))
