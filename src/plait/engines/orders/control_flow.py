"""The control flow of functions, as unrolling needs it."""

from __future__ import annotations

from functools import lru_cache

from plait.analysis.bounds import Loop
from plait.analysis.loops import find_loops
from plait.data import dataclass, field
from plait.engines.orders.bounds import Bounds
from plait.errors import UnsupportedCode
from plait.model.actions import Assign, Check, Guard, Load, Skip, Store
from plait.model.dataflow import live_registers, postorder
from plait.model.program import Function, Program

_FEW = 20  # rounds of a loop
_FEW_MORE = 256
_MOST_COPIES = 4096


@dataclass(slots=True, eq=False)
class Shape:
    """What unrolling needs to know of a function's control flow."""

    rank: list[int]
    nests: list[tuple[Loop, ...]]  # for each location the loops it is in, outermost first
    live: list[int]
    is_met: bytes  # whether several edges lead to a location
    live_there: dict[int, list[int]] = field(default_factory=dict)  # `live` as indices

    def live_indices(self, location: int) -> list[int]:
        known = self.live_there.get(location)
        if known is None:
            mask = self.live[location]
            known = [index for index in range(mask.bit_length()) if mask >> index & 1]
            self.live_there[location] = known
        return known

    def key(self, location: int, rounds: tuple[int, ...]) -> tuple[int, ...]:
        """Sorts places so that all ways to a place come before it."""
        if not rounds:
            return (self.rank[location],)
        key: list[int] = []
        for loop, number in zip(self.nests[location], rounds, strict=True):
            key += [self.rank[loop.head], number]
        return (*key, self.rank[location])


def shape_of(program: Program, function: Function) -> Shape:
    order = postorder(function)
    order.reverse()
    rank = [0] * len(function.edges)
    for number, location in enumerate(order):
        rank[location] = number
    nests: list[list[Loop]] = [[] for _ in function.edges]
    for loop in find_loops(program, function):
        if not loop.is_reducible:
            raise UnsupportedCode(f"a loop with two entries in {function.display}()")
        for location in loop.body:
            nests[location].append(loop)
    sorted_nests = [tuple(sorted(nest, key=lambda loop: loop.depth)) for nest in nests]
    arrivals = bytearray(len(function.edges))
    for edge in function.all_edges():
        if edge.target >= 0:
            arrivals[edge.target] = min(2, arrivals[edge.target] + 1)
    is_met = bytes(count > 1 for count in arrivals)
    return Shape(rank, sorted_nests, live_registers(function), is_met)


def most_rounds(bounds: Bounds, function: Function, loop: Loop) -> int:
    """A loop with a known number of rounds is unrolled fully if that is few, or if it only
    copies or fills; else when executions have been found to go on."""
    key = function.name, loop.head
    bound = bounds.of(key)
    known = loop.bound
    if known is None:
        # A hint, to begin with: executions that exceed it show that it is wrong.
        known = bounds.hints.rounds.get(key)
        if known is None or key in bounds.raised:
            return bound
    most = _FEW_MORE if key in bounds.raised else _FEW
    is_short = known <= max(most, bound)
    is_copied = known <= _MOST_COPIES and _only_copies(function, loop)
    return known if is_short or is_copied else bound


@lru_cache(maxsize=256)
def fills(function: Function, loop: Loop) -> bool:
    """Whether a loop of the library only fills or copies memory."""
    return (
        function.library
        and _only_copies(function, loop)
        and any(
            isinstance(edge.action, Store)
            for location in loop.body
            for edge in function.edges[location]
        )
    )


def _only_copies(function: Function, loop: Loop) -> bool:
    return all(
        isinstance(edge.action, (Guard, Assign, Load, Store, Check, Skip))
        for location in loop.body
        for edge in function.edges[location]
        if edge.target in loop.body
    )
