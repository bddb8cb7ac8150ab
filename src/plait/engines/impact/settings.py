"""How the unbounded engine works; the defaults are the best, the others are there to compare."""

from __future__ import annotations

from enum import Enum

from plait.data import dataclass


class Reduction(Enum):
    """Which interleavings are explored."""

    NONE = "none"  # all, at every access to memory
    STATIC = "static"  # all, at accesses that other threads can see (sPOR)
    DYNAMIC = "dynamic"  # of these, monotonic ones (dPOR)
    MOVERS = "movers"  # of these, with critical sections as single steps

    @property
    def skips(self) -> bool:
        """Whether only monotonic paths are explored."""
        return self in (Reduction.DYNAMIC, Reduction.MOVERS)


class Explicit(Enum):
    """Which values are part of locations, and not left to labels."""

    POINTERS = "pointers"
    FEW = "few"  # also locks, flags and counters that only ever get a few values


@dataclass(frozen=True, slots=True)
class Settings:
    reduction: Reduction = Reduction.MOVERS
    explicit: Explicit = Explicit.FEW
    force_cover: bool = True
    # Only for tests, which show that an error is missed without them.
    cover_expansions: bool = True
    max_nodes: int = 1_000_000
