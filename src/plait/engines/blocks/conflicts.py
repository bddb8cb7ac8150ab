"""Dependence of steps (Definition 4.1), conditional where addresses are symbolic (IV-D)."""

from __future__ import annotations

from plait.logic.terms import Terms
from plait.symbolic.blocks import Block, Way
from plait.symbolic.locations import Location


def dependence(terms: Terms, before: Location, after: Location, way: Way, block: Block) -> int:
    """When a step between two locations may depend on the next block of another thread at the first
    one, so that the other order has to be explored, too: as a term over the state before both."""
    if any(item.is_inside for item in (*before.threads, *after.threads)):
        return terms.true
    return terms.true if block.pauses_in_section else conflict(terms, way, block)


def conflict(terms: Terms, way: Way, block: Block) -> int:
    """When a way through one thread's block and the next block of another thread may depend on
    each other, as a term over the state before both."""
    if (way.spawns and block.spawns) or block.ends_process:
        return terms.true
    found = terms.false
    for mine in way.accesses:
        for other in block.accesses:
            if mine.conflicts_with(other):
                one = terms.true if mine.when is None else mine.when
                two = terms.true if other.when is None else other.when
                found = terms.or_(found, terms.and_(one, two))
                if found == terms.true:
                    return found
    return found
