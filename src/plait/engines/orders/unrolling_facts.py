"""What one unrolling teaches the next one of the same program with the same bound.

Unrolling is deterministic: threads get the same numbers and objects the same addresses again,
pointers have the same known targets, and everything that is known only removes events, or adds a
round of a loop that repeats one that was there. So what holds of all events of one unrolling holds
of the next.
"""

from __future__ import annotations

from collections.abc import Mapping

from plait.data import dataclass, field
from plait.model.program import Edge

Cell = tuple[int, int]  # address, size
SectionKey = tuple[Edge, ...]  # the calls that lead to an atomic section, and where it begins


class Surprise(Exception):
    """An unrolling does not fit what was learned before."""


@dataclass(frozen=True, slots=True)
class UnrollingFacts:
    """Whoever reads one of the `constant` cells gets the same value (a term), so neither reads nor
    writes need events. `locks` and what is `protected` by which of them: see the module of that
    name. The atomic sections in `unblocked` can always be run through. Whoever reads one of the
    `awaited` cells does so in an atomic section that requires it to be 0. Of these, the `owned`
    ones are reset only by a thread that has set them, and set only where they were read before.
    Of the `tracked` cells, which have the awaited ones among them, it is looked at whether that is
    true. What is written to a cell in a section of `unseen` nobody reads, nor anything that is
    written to an `unread` one, which is constant for whoever reads it. The `semaphores` have their
    first values with them, see the module `tokens`."""

    constant: Mapping[Cell, int] = field(default_factory=dict)
    locks: frozenset[Cell] = frozenset()
    protected: Mapping[Cell, Cell] = field(default_factory=dict)
    unblocked: frozenset[SectionKey] = frozenset()
    awaited: frozenset[Cell] = frozenset()
    owned: frozenset[Cell] = frozenset()
    tracked: frozenset[Cell] = frozenset()
    unseen: frozenset[tuple[Cell, SectionKey]] = frozenset()
    unread: frozenset[Cell] = frozenset()
    semaphores: Mapping[Cell, int] = field(default_factory=dict)
