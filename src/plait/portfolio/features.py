"""What a program is like, as far as the choice of engines depends on it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from plait.portfolio.strategy import Event

if TYPE_CHECKING:
    from plait.model.program import Program


def event_of(programs: Iterable[Program]) -> Event:
    """Whether unrolling can come to an end: every loop has a constant bound or only waits, and no
    function calls itself (calls through pointers are not looked at: nothing hangs on this but
    time)."""
    is_bounded = all(map(_is_bounded, programs))
    return Event.BOUNDED if is_bounded else Event.UNBOUNDED


def _is_bounded(program: Program) -> bool:
    from plait.analysis.graph import components
    from plait.analysis.loops import find_loops
    from plait.model.actions import Call

    index = {name: number for number, name in enumerate(program.functions)}
    calls: list[set[int]] = []
    for function in program.functions.values():
        loops = find_loops(program, function)
        if any(loop.bound is None and not loop.is_spin for loop in loops):
            return False
        actions = (edge.action for edge in function.all_edges())
        named = {item.callee for item in actions if isinstance(item, Call)}
        calls.append({index[name] for name in named if isinstance(name, str) and name in index})
    parts, _ = components([sorted(called) for called in calls])
    return all(len(part) == 1 and part[0] not in calls[part[0]] for part in parts)
