"""Races of any number of threads (the thesis, 5.5): conflicting accesses at places at which two
threads can be at the same time.

A race is a state in which two threads have conflicting accesses as their next actions, not both
atomic. Then each of them is at a place (an access that others can notice begins a block), outside
of atomic sections, and not before the first spawn. The invariants of both places hold in this
state, and so do the conditions under which a symbolic address leads to the common byte. If these
cannot hold together, for no pair of places, there is no race. A lock that both hold would be owned
by both.

`accesses` over-approximates what the next action at a place accesses: it has all that the block
there accesses in memory that threads share, whichever way it goes.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.data import dataclass
from plait.engines.context.giving_up import GaveUp
from plait.engines.context.invariants import Invariants, Place
from plait.engines.context.templates import Instance, Templates
from plait.model.actions import Origin


@dataclass(slots=True, frozen=True)
class Race:
    """That the invariants do not exclude."""

    places: tuple[Place, Place]
    origins: tuple[Origin, Origin]


Standing = tuple[Place, Instance]


def not_excluded(templates: Templates, invariants: Invariants) -> Iterator[Race]:
    for (first, one), (second, other), conditions in conflicts(templates, invariants):
        if invariants.may_be_together((first, one), (second, other), conditions):
            accesses = one.accesses[first[1]][0], other.accesses[second[1]][0]
            yield Race((first, second), (accesses[0].origin, accesses[1].origin))


def conflicts(
    templates: Templates, invariants: Invariants
) -> Iterator[tuple[Standing, Standing, tuple[int, ...]]]:
    """Where two threads stand before conflicting accesses, and under which conditions these are to
    the same bytes."""
    rows: list[tuple[Place, Instance, bool]] = []
    for number, template in enumerate(templates.all):
        for instance in filter(None, (template.one, template.other)):
            for place in range(len(instance.places)):
                own = instance.places[place].threads[instance.number - 1]
                if own.depth and invariants.is_reached((number, place)):
                    if instance.accesses[place] and not templates.is_alone(instance, place):
                        raise GaveUp("an atomic section is not one step: its races are unknown")
                if instance.is_open[place] and invariants.is_reached((number, place)):
                    if instance.accesses[place]:
                        rows.append(((number, place), instance, instance is template.other))
    for position, (first, one, is_other) in enumerate(rows):
        if is_other:
            continue
        for second, other, is_another in rows[position + 1 :]:
            if (first[0] == second[0]) is is_another:
                for conditions in _conditions((first, one), (second, other)):
                    yield (first, one), (second, other), conditions


def _conditions(first: Standing, second: Standing) -> set[tuple[int, ...]]:
    return {
        tuple(item.when for item in (mine, theirs) if item.when is not None)
        for mine in first[1].accesses[first[0][1]]
        for theirs in second[1].accesses[second[0][1]]
        if mine.races_with(theirs)
    }
