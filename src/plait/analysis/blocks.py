"""The block view of a function: stretches of local computation between visible actions.

A thread need not be interrupted inside a block: its edges commute with whatever other threads do.
A block starts at the entry of the function, behind a visible edge, behind a call that may do
something visible, or at the head of a loop (so that blocks have no cycles), and it extends along
local edges up to the next such place. Edges may belong to several blocks where paths meet.
"""

from __future__ import annotations

from plait.analysis.sharing import Sharing
from plait.data import dataclass
from plait.model.actions import Call
from plait.model.dataflow import postorder
from plait.model.program import Edge, Function


@dataclass(slots=True, eq=False)
class Block:
    """`edges` are local, each after those that lead to it. `exits` are the visible edges (and the
    calls of functions with visible edges) at which it ends; `heads` the loop heads at which it
    ends. Return edges without effects on others are part of the block."""

    entry: int
    edges: tuple[Edge, ...]
    exits: tuple[Edge, ...]
    heads: tuple[int, ...]


class Blocks:
    """The blocks of all functions of a program, made for each function when it is asked for."""

    def __init__(self, sharing: Sharing) -> None:
        self._sharing = sharing
        self._blocks: dict[str, dict[int, Block]] = {}
        points_to = sharing.points_to
        callers: list[set[int]] = [set() for _ in points_to.instances]
        self._callees: dict[int, set[int]] = {}
        for arc in points_to.arcs:
            if not arc.is_spawn:
                callers[arc.callee].add(arc.caller)
                self._callees.setdefault(id(arc.edge), set()).add(arc.callee)
        visible = sharing.visible
        self._noticeable = {
            item.index
            for item in points_to.instances
            if any(id(edge) in visible for edge in item.template.edges)
        }
        pending = list(self._noticeable)
        while pending:
            new = callers[pending.pop()] - self._noticeable
            self._noticeable |= new
            pending += new

    def is_boundary(self, edge: Edge) -> bool:
        """Whether a thread can be interrupted before the edge, or inside the call that it makes."""
        if id(edge) in self._sharing.visible:
            return True
        if not isinstance(edge.action, Call):
            return False
        callees = self._callees.get(id(edge))
        return callees is None or not callees.isdisjoint(self._noticeable)

    def of(self, function: Function) -> dict[int, Block]:
        """The blocks of a function by their entries."""
        known = self._blocks.get(function.name)
        if known is None:
            known = self._blocks[function.name] = self._find(function)
        return known

    def _find(self, function: Function) -> dict[int, Block]:
        order = postorder(function)
        order.reverse()
        position = [-1] * len(function.edges)
        for place, location in enumerate(order):
            position[location] = place
        boundary: set[int] = set()
        entries = {0}
        heads: set[int] = set()
        for location in order:
            for edge in function.edges[location]:
                is_boundary = self.is_boundary(edge)
                if is_boundary:
                    boundary.add(id(edge))
                if edge.target >= 0:
                    if position[edge.target] <= position[location]:
                        heads.add(edge.target)
                    if is_boundary:
                        entries.add(edge.target)
        return {
            entry: _block(function, entry, heads, boundary, position)
            for entry in sorted(entries | heads)
        }


def _block(
    function: Function, entry: int, heads: set[int], boundary: set[int], position: list[int]
) -> Block:
    inside = {entry}
    pending = [entry]
    edges: list[Edge] = []
    exits: list[Edge] = []
    reached: set[int] = set()
    while pending:
        for edge in function.edges[pending.pop()]:
            if id(edge) in boundary:
                exits.append(edge)
                continue
            edges.append(edge)
            target = edge.target
            if target in heads:
                reached.add(target)
            elif target >= 0 and target not in inside:
                inside.add(target)
                pending.append(target)
    edges.sort(key=lambda edge: position[edge.source])
    exits.sort(key=lambda edge: position[edge.source])
    return Block(entry, tuple(edges), tuple(exits), tuple(sorted(reached)))
