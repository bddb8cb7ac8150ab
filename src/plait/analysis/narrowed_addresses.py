"""Addresses that are converted to integers that cannot hold them.

What is left of such an address depends on where objects are: with the addresses of the model it is
the same for all objects, with those of a machine it is not. So no execution that does it has a
verdict. Small numbers that are kept in pointers (`(int)(intptr_t)argument`) are no addresses, and
are converted as ever; nor does it matter what is left if it is only printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from plait.analysis.points_to import PointsTo
from plait.analysis.sharing import sharing_of
from plait.model.actions import (
    Action,
    Assign,
    Call,
    Guard,
    Origin,
    Output,
    ReadModifyWrite,
    Unsupported,
    expressions_of,
)
from plait.model.expressions import (
    FALSE,
    Binary,
    BinaryOp,
    Const,
    Convert,
    Expr,
    children,
    registers_of,
)
from plait.model.program import Edge, Function, Program
from plait.model.types import I32, DataModel, Kind, Scalar

MESSAGE = "not supported: an address is converted to an integer that cannot hold it"


def stop_at_narrowed_addresses(program: Program) -> None:
    """Put a stop before each conversion of what may be an address, for where it is one."""
    # Not only the user's functions, but also what calls them as functions of other types.
    files = {item.origin.file for item in program.functions.values() if not item.library}
    found = [
        (function, edge, item)
        for function in program.functions.values()
        if function.origin.file in files
        for edge in function.all_edges()
        for item in _narrowed(edge.action, program.data_model)
    ]
    if not found:
        return
    points_to = sharing_of(program).points_to
    stops: dict[tuple[str, int], list[tuple[Origin, Expr]]] = {}
    for function, edge, item in found:
        if not _may_be_address(points_to, function.name, item.operand):
            continue
        if _matters(program, function, edge, item):
            row = (edge.action.origin, _is_number(item, edge.action, program.data_model))
            stops.setdefault((function.name, edge.source), []).append(row)
    for (name, location), rows in stops.items():
        for origin, condition in rows:
            _stop_unless(program.functions[name], location, origin, condition)
    if stops:
        sharing_of.cache_clear()


def _narrowed(action: Action, data_model: DataModel) -> Iterator[Convert]:
    """The conversions of an action that lose bits of a number as wide as an address."""
    width = data_model.pointer.bits
    for item in (part for expr in expressions_of(action) for part in _parts(expr)):
        if isinstance(item, Convert) and item.type.kind is Kind.INT and not item.type.is_bool:
            source = item.operand.type
            if source.kind is not Kind.FLOAT and item.type.bits < width <= source.bits:
                yield item


def _may_be_address(points_to: PointsTo, function: str, operand: Expr) -> bool:
    instances = points_to.instances_of.get(function, ())
    return any(points_to.mask(instance, operand) for instance in instances)


def _is_number(item: Convert, action: Action, data_model: DataModel) -> Expr:
    """Whether what is converted is in the null page, or as far below it, as numbers are."""
    if isinstance(action, ReadModifyWrite) and action.old.index in registers_of(item.operand):
        return FALSE  # it is not known before
    unsigned = Scalar(Kind.INT, data_model.pointer.bits)
    limit = 1 << data_model.page_bits
    moved = Binary(unsigned, BinaryOp.ADD, Convert(unsigned, item.operand), Const(unsigned, limit))
    return Binary(I32, BinaryOp.LT, moved, Const(unsigned, 2 * limit))


def _stop_unless(function: Function, location: int, origin: Origin, condition: Expr) -> None:
    onward, stop = len(function.edges), len(function.edges) + 1
    leaving = function.edges[location]
    for edge in leaving:
        edge.source = onward
    function.edges.append(leaving)
    function.edges.append([Edge(stop, Unsupported(origin, MESSAGE), -1)])
    refused = Binary(I32, BinaryOp.EQ, condition, FALSE)
    function.edges[location] = [
        Edge(location, Guard(origin, condition), onward),
        Edge(location, Guard(origin, refused), stop),
    ]


def _matters(program: Program, function: Function, edge: Edge, item: Convert) -> bool:
    """Whether anything but output can depend on what a conversion gives."""
    pending: list[tuple[Function, int]] = []
    seen: set[tuple[str, int]] = set()

    def is_used(owner: Function, action: Action, depends: Callable[[Expr], bool]) -> bool:
        """Whether an action does more with a value than to keep or print it; what keeps it is
        looked at later."""
        if isinstance(action, Output):
            return False
        if isinstance(action, Assign):
            pending.append((owner, action.target.index))
            return False
        if not isinstance(action, Call) or not isinstance(action.callee, str):
            return True
        callee = program.functions.get(action.callee)
        if callee is None:
            return True
        for position, argument in enumerate(action.arguments):
            if depends(argument):
                if position >= callee.parameters:
                    return True
                pending.append((callee, position))
        return False

    if is_used(function, edge.action, lambda expr: item in _parts(expr)):
        return True
    while pending:
        owner, register = pending.pop()
        if (owner.name, register) in seen:
            continue
        seen.add((owner.name, register))

        def reads(expr: Expr, register: int = register) -> bool:
            return register in registers_of(expr)

        for other in owner.all_edges():
            if any(map(reads, expressions_of(other.action))):
                if is_used(owner, other.action, reads):
                    return True
    return False


def _parts(expr: Expr) -> list[Expr]:
    found = [expr]
    for item in found:
        found.extend(children(item))
    return found
