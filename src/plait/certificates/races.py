"""Rule X: no two threads race.

At each node all threads are looked at, whether they are expanded or not: where two of them stand
before accesses that race in some state of the program, they stand there at some node. What is in
critical sections that are one step is left to rule VIII.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

from plait.certificates.decide import Facts
from plait.certificates.outcomes import Ending, Step
from plait.certificates.state import Access
from plait.certificates.verdicts import Rejected


def check_races(node: int, steps: list[Step], known: dict[int, list[Access]]) -> None:
    """`steps` are those that the threads of a node can take, each by itself. `known` has what those
    can access at most of which the node does not say enough."""
    made = [(step.thread, _made(node, step, known.get(step.thread))) for step in steps]
    for (first, ours), (second, theirs) in combinations(made, 2):
        for mine in ours:
            for other in theirs:
                access = racing(mine.accesses, other.accesses)
                if access is not None and _are_together(mine, other):
                    what = f"threads {first} and {second} race for {access.start:#x}"
                    raise Rejected(what, node, access.origin)


class _Made(NamedTuple):
    """What a step accesses, and when it is that; None: perhaps always."""

    accesses: list[Access]
    facts: Facts | None


def _made(node: int, step: Step, known: list[Access] | None) -> list[_Made]:
    """The outcomes in which the step is made: also to the end of the process, or to an assumption
    that fails behind it. Violations and trouble are shown to be impossible by rule III."""
    if known is not None:
        return [_Made(known, None)]
    found = []
    for outcome in step.outcomes:
        match outcome.ending:
            case Ending.LOST:
                what = f"whether thread {step.thread} races is not known: {outcome.message}"
                raise Rejected(what, node, outcome.origin)
            case Ending.MOVED | Ending.EXIT:
                found.append(_Made(outcome.path.accesses, outcome.path.facts))
            case Ending.NOTHING if not outcome.path.is_inside:
                found.append(_Made(outcome.path.accesses, outcome.path.facts))
    return found


def _are_together(one: _Made, other: _Made) -> bool:
    if one.facts is None or other.facts is None:
        return True
    return one.facts.with_all(other.facts.items) is not None


def racing(one: list[Access], other: list[Access]) -> Access | None:
    for mine in one:
        for theirs in other:
            if (
                mine.is_atomic is not None
                and theirs.is_atomic is not None
                and not (mine.is_atomic and theirs.is_atomic)
                and mine.lock is theirs.lock is None
                and mine.conflicts_with(theirs)
            ):
                return mine
    return None
