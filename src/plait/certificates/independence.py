"""Rule V: when the step of a thread need not be taken behind that of another one.

Of two neighbouring steps that are independent only the order in which the smaller thread comes
first has to be in the tree (peephole partial order reduction; docs/certificates.md has the proof).
"""

from __future__ import annotations

from dataclasses import dataclass

from plait.certificates.decide import Facts
from plait.certificates.outcomes import Ending, Step
from plait.certificates.state import Access


@dataclass(slots=True, eq=False)
class Move:
    """What matters of one outcome that leads to a child."""

    facts: Facts
    accesses: list[Access]
    spawns: bool


@dataclass(slots=True, eq=False)
class Footprint:
    """What matters of a step of which any outcome may happen. `is_whole`: it never stops inside
    an atomic section and never ends the process.

    Trouble is an outcome like others, with the accesses up to there. Of a shortest execution that
    comes to trouble, all steps but the last one are fully known; an equivalent monotonic one is in
    the tree, and the step that comes to trouble is expanded in it and rejected.
    """

    accesses: list[Access]
    spawns: bool
    is_whole: bool

    @staticmethod
    def of(step: Step) -> Footprint:
        may_exit = step.first(Ending.EXIT) is not None
        unfinished = any(outcome.path.depth > 0 for outcome in step.moves)
        distinct: dict[tuple[object, ...], Access] = {}
        for outcome in step.outcomes:
            for access in outcome.path.accesses:
                # Paths that fork later share what they did before.
                key = (access.start, access.end, access.is_write, id(access.facts))
                distinct.setdefault(key, access)
        return Footprint(
            list(distinct.values()),
            any(outcome.path.spawned for outcome in step.outcomes),
            not may_exit and not unfinished,
        )


def are_independent(step: Footprint, moves: list[Move]) -> bool:
    """Whether a step commutes with the moves of another thread from the same states."""
    if not step.is_whole or (step.spawns and any(move.spawns for move in moves)):
        return False
    return not any(_conflict(step, move) for move in moves)


def _conflict(step: Footprint, move: Move) -> bool:
    for theirs in move.accesses:
        for ours in step.accesses:
            if ours.conflicts_with(theirs):
                if move.facts.with_all(ours.facts.items) is not None:
                    return True
    return False
