"""Which functions pointers can point to, whatever happens: cheap, without points-to analysis."""

from __future__ import annotations

from plait.model.actions import expressions_of
from plait.model.expressions import Expr, FunctionAddress, children
from plait.model.program import Program


def pointed_to(program: Program) -> set[str]:
    """The functions whose addresses are taken somewhere, in code or in initial values."""
    found: set[str] = set()
    for function in program.functions.values():
        for edge in function.all_edges():
            for expr in expressions_of(edge.action):
                found |= _functions_in(expr)
    addresses = program.functions_by_address()
    size = program.data_model.pointer.size
    for item in program.objects:
        data = item.contents
        if any(data):
            for place in range(len(data) - size + 1):
                address = int.from_bytes(data[place : place + size], "little")
                if address in addresses:
                    found.add(addresses[address].name)
    return found


def _functions_in(expr: Expr) -> set[str]:
    found: set[str] = set()
    pending = [expr]
    while pending:
        item = pending.pop()
        if isinstance(item, FunctionAddress):
            found.add(item.function)
        pending.extend(children(item))
    return found
