"""Dropping what a linked program does not reach."""

from __future__ import annotations

from plait.model.actions import Call, expressions_of
from plait.model.expressions import Expr, FunctionAddress, StaticAddress, children
from plait.model.program import Function, Program, StaticObject


def keep_reachable(program: Program, functions: dict[str, Function]) -> None:
    """Keep the functions and objects that the entry reaches, in the order of first reference."""
    seen_objects: dict[StaticObject, None] = {}
    pending: list[str | StaticObject] = [program.entry]

    def refer(expr: Expr) -> None:
        if isinstance(expr, FunctionAddress):
            pending.append(expr.function)
        elif isinstance(expr, StaticAddress):
            pending.append(expr.object)
        else:
            for child in children(expr):
                refer(child)

    while pending:
        item = pending.pop()
        if isinstance(item, StaticObject):
            if item not in seen_objects:
                seen_objects[item] = None
                pending.extend(relocation.target for relocation in item.relocations)
            continue
        if item in program.functions:
            continue
        function = program.functions[item] = functions[item]
        for edge in function.all_edges():
            if isinstance(edge.action, Call) and isinstance(edge.action.callee, str):
                pending.append(edge.action.callee)
            for expr in expressions_of(edge.action):
                refer(expr)
    program.objects = list(seen_objects)


def refers_to(expr: Expr, function: str) -> bool:
    """Whether the address of a function is part of an expression."""
    if isinstance(expr, FunctionAddress):
        return expr.function == function
    return any(refers_to(child, function) for child in children(expr))
