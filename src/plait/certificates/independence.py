"""Rule V: when the step of a thread need not be taken behind that of another one.

Of two neighbouring steps that are independent only the order in which the smaller thread comes
first has to be in the tree (peephole partial order reduction; docs/certificates.md has the proof).
"""

from __future__ import annotations

from plait.certificates.decide import Facts
from plait.certificates.outcomes import Ending, Step
from plait.certificates.state import Access
from plait.data import dataclass


@dataclass(slots=True, eq=False)
class Move:
    """What matters of one outcome that leads to a child."""

    facts: Facts
    accesses: list[Access]
    spawns: bool


@dataclass(slots=True, eq=False)
class Footprint:
    """What matters of a step of which any outcome may happen. `is_whole`: it never stops inside an
    atomic section and never ends the process. `is_lost`: some of it is not known.

    Violations and trouble are outcomes like others, with the accesses that they depend on: in the
    order that the tree contains, the step comes to the same end, and is rejected there.
    """

    accesses: list[Access]
    spawns: bool
    is_whole: bool
    is_lost: bool

    @staticmethod
    def of(step: Step) -> Footprint:
        may_exit = step.first(Ending.EXIT) is not None
        unfinished = any(outcome.path.is_inside for outcome in step.moves)
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
            step.first(Ending.LOST) is not None,
        )


def are_independent(step: Footprint, moves: list[Move]) -> bool:
    """Whether what is known of a step commutes with moves of another thread from the same states:
    where both access the same, they do so under conditions that exclude each other."""
    if not may_commute(step, moves):
        return False
    for move in moves:
        for theirs in move.accesses:
            for ours in step.accesses:
                if ours.conflicts_with(theirs):
                    if move.facts.with_all(ours.facts.items) is not None:
                        return False
    return True


def are_apart(step: Footprint, moves: list[Move]) -> bool:
    """Whether a step never accesses what the moves access. The step may be one from other states,
    whose conditions say nothing about the states of the moves."""
    if step.is_lost or not may_commute(step, moves):
        return False
    return not any(
        ours.conflicts_with(theirs)
        for move in moves
        for theirs in move.accesses
        for ours in step.accesses
    )


def may_commute(step: Footprint, moves: list[Move]) -> bool:
    return step.is_whole and not (step.spawns and any(move.spawns for move in moves))
