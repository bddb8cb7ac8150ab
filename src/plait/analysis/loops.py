"""Loops of a function: nesting, constant bounds, and loops that only wait.

`bound` is an upper bound on how often control returns to the head of the loop after entering it
(so the head is passed at most `bound` + 1 times); None where none was found. It comes from one
register that counts: constant when the loop is entered, assigned once in each round by an
expression of its own value, and tested in each round by a guard that leaves the loop.

A loop `is_spin` if a round of it that returns to the head changes nothing: the body has only
Loads, Assigns, Guards, Checks, Prunes, Inputs, Skips, Fences, Outputs, the marks of atomic
sections, and direct calls of functions that are made of these too and have no frame slots; each
round and each such call closes exactly the sections that it opens; and no register that the body
assigns is live at the head. Then the state at the head after such a round
equals the state before it but for registers that are overwritten before they are read, so from
both states exactly the same continuations exist: in every execution the round can be left out, and
a thread in the loop may be treated as waiting until a round that leaves the loop is possible.
(Rounds in which a Check fails or a Prune ends the execution do not return to the head.)
"""

from __future__ import annotations

from plait.analysis.bounds import Loop, Shape, loop_bound
from plait.analysis.graph import components
from plait.analysis.sections import closes_its_sections, is_balanced_loop
from plait.model.actions import (
    Assign,
    AtomicBegin,
    AtomicEnd,
    Call,
    Check,
    Fence,
    Guard,
    Input,
    Load,
    Output,
    Prune,
    Return,
    Skip,
    target_of,
)
from plait.model.dataflow import live_registers, postorder
from plait.model.program import Edge, Function, Program

# What a round of a spin loop may do: none of these changes memory or threads.
_QUIET = (
    Load, Assign, Guard, Check, Prune, Input, Skip, Fence, Output, AtomicBegin, AtomicEnd
)  # fmt: skip


def find_loops(program: Program, function: Function) -> list[Loop]:
    """The loops of a function, outer ones before inner ones."""
    order = postorder(function)
    order.reverse()
    position = [-1] * len(function.edges)
    for place, location in enumerate(order):
        position[location] = place
    incoming: list[list[Edge]] = [[] for _ in function.edges]
    retreating: dict[int, list[Edge]] = {}
    for location in order:
        for edge in function.edges[location]:
            if edge.target >= 0:
                incoming[edge.target].append(edge)
                if position[edge.target] <= position[location]:
                    retreating.setdefault(edge.target, []).append(edge)
    if not retreating:
        return []
    shape = Shape(function, order, position, incoming)
    loops = _natural_loops(shape, retreating)
    loops += _irreducible_loops(shape, retreating)
    _nest(loops)
    loops.sort(key=lambda loop: (loop.depth, loop.head))
    live: list[int] = []
    for loop in loops:
        if _is_well_nested(loop):
            loop.bound = loop_bound(shape, loop)
        # A counter is live at the head: a loop with a bound does not only wait.
        assigned = _quietly_assigned(program, function, loop) if loop.bound is None else None
        if assigned is not None:
            live = live or live_registers(function)
            loop.is_spin = not assigned & live[loop.head]
    return loops


def _natural_loops(shape: Shape, retreating: dict[int, list[Edge]]) -> list[Loop]:
    loops = []
    for head, edges in retreating.items():
        back = [edge for edge in edges if shape.dominates(head, edge.source)]
        if not back:
            continue
        body = {head}
        pending = [edge.source for edge in back]
        while pending:
            location = pending.pop()
            if location not in body:
                body.add(location)
                pending.extend(edge.source for edge in shape.incoming[location])
        loops.append(_loop(shape.function, head, body, back, is_reducible=True))
    return loops


def _irreducible_loops(shape: Shape, retreating: dict[int, list[Edge]]) -> list[Loop]:
    """One loop for each component that is entered in several places."""
    odd = [
        edge
        for head, edges in retreating.items()
        for edge in edges
        if not shape.dominates(head, edge.source)
    ]
    if not odd:
        return []
    rows = [[edge.target for edge in row if edge.target >= 0] for row in shape.function.edges]
    groups, component = components(rows)
    found: dict[int, Loop] = {}
    for edge in odd:
        number = component[edge.target]
        if number not in found:
            body = set(groups[number])
            back = [item for item in odd if component[item.target] == number]
            found[number] = _loop(shape.function, edge.target, body, back, is_reducible=False)
    return list(found.values())


def _loop(
    function: Function, head: int, body: set[int], back: list[Edge], *, is_reducible: bool
) -> Loop:
    exits = tuple(
        edge
        for location in sorted(body)
        for edge in function.edges[location]
        if edge.target not in body
    )
    return Loop(function.name, head, frozenset(body), tuple(back), exits, is_reducible)


def _nest(loops: list[Loop]) -> None:
    loops.sort(key=lambda loop: (-len(loop.body), loop.is_reducible, loop.head))
    innermost: dict[int, Loop] = {}
    for loop in loops:
        parent = innermost.get(loop.head)
        if parent is not None:
            loop.parent = parent
            loop.depth = parent.depth + 1
            parent.children.append(loop)
        for location in loop.body:
            innermost[location] = loop


def _is_well_nested(loop: Loop | None) -> bool:
    while loop is not None:
        if not loop.is_reducible:
            return False
        loop = loop.parent
    return True


# Spin loops


def _quietly_assigned(program: Program, function: Function, loop: Loop) -> int | None:
    """The registers that a round may assign; None if it may change anything else."""
    assigned = 0
    has_sections = False
    for location in loop.body:
        for edge in function.edges[location]:
            if edge.target not in loop.body:
                continue
            action = edge.action
            if not isinstance(action, _QUIET) and not (
                isinstance(action, Call) and _is_quiet_call(program, action)
            ):
                return None
            has_sections = has_sections or isinstance(action, AtomicBegin | AtomicEnd)
            target = target_of(action)
            if target is not None:
                assigned |= 1 << target.index
    if has_sections and not is_balanced_loop(function, loop.head, loop.body):
        return None
    return assigned


def _is_quiet_call(program: Program, call: Call) -> bool:
    pending = [call.callee]
    seen = set()
    while pending:
        name = pending.pop()
        if not isinstance(name, str):
            return False
        if name in seen:
            continue
        seen.add(name)
        function = program.functions.get(name)
        if function is None or function.slots or not closes_its_sections(function):
            return False
        for edge in function.all_edges():
            if isinstance(edge.action, Call):
                pending.append(edge.action.callee)
            elif not isinstance(edge.action, (*_QUIET, Return)):
                return False
    return True
