"""What one function contributes to the points-to problem, written once for all its contexts.

The nodes of a template are numbered locally: registers first, then the return value, then
temporaries. `points_to` instantiates a template by adding a base to each number.
"""

from __future__ import annotations

from plait.analysis.distances import ANYWHERE, STAYS, Distance, added, distance_of, repeated
from plait.analysis.graph import components
from plait.analysis.reachable import reachable_edges
from plait.data import dataclass, field
from plait.model.actions import (
    Allocate,
    Assign,
    Call,
    Free,
    Load,
    ObjectSize,
    ReadModifyWrite,
    Return,
    Spawn,
    Store,
)
from plait.model.expressions import (
    COMPARISONS,
    Binary,
    BinaryOp,
    Conditional,
    Convert,
    Expr,
    FrameAddress,
    FunctionAddress,
    PointerAdd,
    Register,
    StaticAddress,
    Unary,
)
from plait.model.fold import constant
from plait.model.program import Edge, FrameSlot, Function, StaticObject
from plait.model.types import Kind, Scalar

# A term is a leaf of an expression that may carry a pointer, and how far the expression moves it.
# The leaf is a register's index or the thing whose address it is.
Leaf = int | StaticObject | FrameSlot | str
Term = tuple[Leaf, Distance]


def terms_of(expr: Expr, pointer_bits: int) -> list[Term]:
    """The leaves whose targets the expression's value may point to.

    Comparisons, and conversions to _Bool, yield 0 or 1 and carry no pointer. Other arithmetic
    carries those of all its operands; only adding a constant at full width keeps offsets known, and
    only an index into an array moves by known steps.
    """
    found: list[Term] = []
    if type(expr) is Register:
        found.append((expr.index, STAYS))
    else:
        _collect(expr, STAYS, pointer_bits, found)
    return found


def _collect(expr: Expr, delta: Distance, pointer_bits: int, found: list[Term]) -> None:
    kind = type(expr)
    if kind is Register:
        assert isinstance(expr, Register)
        found.append((expr.index, delta))
    elif isinstance(expr, StaticAddress):
        found.append((expr.object, added(delta, (expr.offset, 0))))
    elif isinstance(expr, Binary):
        if expr.op in COMPARISONS:
            return
        if delta != ANYWHERE and _keeps_offsets(expr.type, pointer_bits):
            if expr.op is BinaryOp.ADD or expr.op is BinaryOp.SUB:
                moved = constant(expr.right)
                if moved is not None:
                    moved = moved if expr.op is BinaryOp.ADD else -moved
                    _collect(expr.left, added(delta, (moved, 0)), pointer_bits, found)
                    return
                moved = constant(expr.left) if expr.op is BinaryOp.ADD else None
                if moved is not None:
                    _collect(expr.right, added(delta, (moved, 0)), pointer_bits, found)
                    return
        _collect(expr.left, ANYWHERE, pointer_bits, found)
        _collect(expr.right, ANYWHERE, pointer_bits, found)
    elif isinstance(expr, Convert):
        if not expr.type.is_bool:
            keeps = _keeps_offsets(expr.type, pointer_bits)
            _collect(expr.operand, delta if keeps else ANYWHERE, pointer_bits, found)
    elif isinstance(expr, PointerAdd):
        distance = constant(expr.offset)
        if distance is not None:
            _collect(expr.base, added(delta, (distance, 0)), pointer_bits, found)
        else:
            _collect(expr.base, added(delta, distance_of(expr.offset)), pointer_bits, found)
            _collect(expr.offset, ANYWHERE, pointer_bits, found)
    elif isinstance(expr, FrameAddress):
        found.append((expr.slot, added(delta, (expr.offset, 0))))
    elif isinstance(expr, FunctionAddress):
        found.append((expr.function, delta))
    elif isinstance(expr, Conditional):
        _collect(expr.then, delta, pointer_bits, found)
        _collect(expr.otherwise, delta, pointer_bits, found)
    elif isinstance(expr, Unary):
        _collect(expr.operand, ANYWHERE, pointer_bits, found)


def _keeps_offsets(scalar: Scalar, pointer_bits: int) -> bool:
    return scalar.bits >= pointer_bits and scalar.kind is not Kind.FLOAT


@dataclass(slots=True, eq=False)
class CallSite:
    """A call or spawn; `callee` is a name or the terms of a pointer to look up."""

    edge: Edge
    callee: str | list[Term]
    arguments: list[int | None]
    result: int | None
    is_spawn: bool


@dataclass(slots=True, eq=False)
class Template:
    """Constraints over local nodes; a place is a direct term or a node that holds addresses."""

    function: Function
    nodes: int
    targets: list[tuple[int, Leaf, Distance]] = field(default_factory=list)
    copies: list[tuple[int, int]] = field(default_factory=list)
    moves: list[tuple[int, int, Distance]] = field(default_factory=list)
    loads: list[tuple[int, Term, int]] = field(default_factory=list)
    stores: list[tuple[Term, int | None, int]] = field(default_factory=list)
    calls: list[CallSite] = field(default_factory=list)
    allocations: list[tuple[int, Edge, int | None]] = field(default_factory=list)
    addresses: dict[int, list[Term]] = field(default_factory=dict)  # by id of the edge
    edges: list[Edge] = field(default_factory=list)


def build_template(function: Function, pointer_bits: int) -> Template:
    template = Template(function, len(function.registers) + 1)
    result = len(function.registers)
    template.edges = reachable_edges(function)

    def terms(expr: Expr) -> list[Term]:
        return terms_of(expr, pointer_bits)

    def value_node(expr: Expr) -> int | None:
        """The node that holds an expression's targets; None if it cannot have any."""
        return node_of(terms(expr))

    def node_of(found: list[Term]) -> int | None:
        if not found:
            return None
        if len(found) == 1 and type(found[0][0]) is int and found[0][1] == STAYS:
            return found[0][0]
        node = template.nodes
        template.nodes += 1
        flow(found, node)
        return node

    def flow(found: list[Term], node: int) -> None:
        for leaf, delta in found:
            if type(leaf) is not int:
                template.targets.append((node, leaf, delta))
            elif delta == STAYS:
                if leaf != node:
                    template.copies.append((node, leaf))
            else:
                template.moves.append((node, leaf, delta))

    def place(edge: Edge, address: Expr) -> Term | None:
        """A direct address, or a node that stays; None for an address without targets."""
        found = template.addresses[id(edge)] = terms(address)
        if len(found) == 1 and (type(found[0][0]) is not int or found[0][1] == STAYS):
            return found[0]
        node = node_of(found)
        return None if node is None else (node, STAYS)

    for edge in template.edges:
        action = edge.action
        match action:
            case Assign():
                flow(terms(action.value), action.target.index)
            case Load():
                where = place(edge, action.address)
                if where is not None:
                    template.loads.append((action.target.index, where, action.target.type.size))
            case Store():
                where = place(edge, action.address)
                if where is not None:
                    node = value_node(action.value)
                    template.stores.append((where, node, action.value.type.size))
            case ReadModifyWrite():
                where = place(edge, action.address)
                if where is not None:
                    size = action.old.type.size
                    template.loads.append((action.old.index, where, size))
                    template.stores.append((where, value_node(action.new), size))
            case Free() | ObjectSize():
                template.addresses[id(edge)] = terms(action.address)
            case Call():
                callee = action.callee
                to = callee if isinstance(callee, str) else terms(callee)
                arguments = [value_node(item) for item in action.arguments]
                target = None if action.target is None else action.target.index
                template.calls.append(CallSite(edge, to, arguments, target, False))
            case Spawn():
                start = terms(action.function)
                passed = [value_node(action.argument)]
                template.calls.append(CallSite(edge, start, passed, None, True))
            case Return():
                if action.value is not None:
                    flow(terms(action.value), result)
            case Allocate():
                bytes_made = constant(action.size)
                template.allocations.append((action.target.index, edge, bytes_made))
    _widen_walks(template)
    return template


def _widen_walks(template: Template) -> None:
    """A pointer that walks in a loop comes to all places that are a number of steps away: to look
    at them one by one would gain nothing."""
    if not template.moves:
        return
    successors: list[list[int]] = [[] for _ in range(template.nodes)]
    for target, source in template.copies:
        successors[source].append(target)
    for target, source, _ in template.moves:
        successors[source].append(target)
    component = components(successors)[1]
    template.moves = [
        (target, source, repeated(distance))
        if component[target] == component[source]
        else (target, source, distance)
        for target, source, distance in template.moves
    ]
