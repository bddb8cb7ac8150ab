"""How the engine works; the defaults are the best, the others are there to compare."""

from __future__ import annotations

from enum import Enum

from plait.data import dataclass


class Abstraction(Enum):
    """What is known behind a step, in terms of the predicates of the place there."""

    CARTESIAN = "cartesian"  # of each predicate by itself whether it holds (4, item 3)
    BOOLEAN = "boolean"  # which combinations of them there are


class Explicit(Enum):
    """Which values are part of locations, and not left to predicates."""

    POINTERS = "pointers"
    FEW = "few"  # also locks, flags and counters that only ever get a few values


@dataclass(frozen=True, slots=True)
class Settings:
    abstraction: Abstraction = Abstraction.CARTESIAN
    monolithic: bool = False  # all predicates everywhere
    explicit: Explicit = Explicit.FEW
    reduced: bool = True  # not all interleavings
    most_nodes: int = 1_000_000
    # Only for a test, which shows that the search may not come to an end with it (Example 7).
    keep_subtree: bool = False
