"""Where a program looks at addresses as numbers, so that what it does may depend on them."""

from __future__ import annotations

from collections.abc import Iterator

from plait.analysis.objects import ObjectKind
from plait.analysis.points_to import PointsTo
from plait.model.actions import expressions_of
from plait.model.expressions import Binary, BinaryOp, Convert, Expr, children
from plait.model.program import Edge, Function, Program
from plait.model.types import Kind


def looks_at_addresses(program: Program) -> bool:
    """Whether the program orders pointers or makes integers of them."""
    return any(True for _ in _looks(program))


def local_as_number(program: Program) -> Edge | None:
    """A place where the address of a local may become a number, which outlives it. Locals whose
    lives do not overlap may have the same address or not: it depends on who decides where they
    are. (To order pointers to different locals, or to those that are gone, is undefined.)"""
    points_to: PointsTo | None = None
    for function, edge, expr in _looks(program):
        if isinstance(expr, Convert):
            points_to = points_to or PointsTo(program)
            targets = points_to.targets(function.name, expr.operand)
            if any(item.kind is ObjectKind.SLOT for item in targets):
                return edge
    return None


def _looks(program: Program) -> Iterator[tuple[Function, Edge, Expr]]:
    for function in program.functions.values():
        if function.library:
            continue
        for edge in function.all_edges():
            pending = list(expressions_of(edge.action))
            while pending:
                item = pending.pop()
                if isinstance(item, Binary):
                    is_order = item.op in (BinaryOp.LT, BinaryOp.LE)
                    if is_order and item.left.type.kind is Kind.POINTER:
                        yield function, edge, item
                elif isinstance(item, Convert):
                    is_number = item.type.kind is Kind.INT and not item.type.is_bool
                    if is_number and item.operand.type.kind is Kind.POINTER:
                        yield function, edge, item
                pending.extend(children(item))
