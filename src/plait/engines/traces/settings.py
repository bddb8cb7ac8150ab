"""How the engine works; the defaults are the best, the others are there to compare."""

from __future__ import annotations

from enum import Enum

from plait.data import dataclass


class Claims(Enum):
    """Where the claims about a word that cannot be taken come from."""

    INTERPOLANTS = "interpolants"
    CORES = "cores"  # preconditions of assumptions that contradict each other (Transformation I)
    PRECONDITIONS = "preconditions"  # weakest preconditions of the whole word (section III-A)


class Commutativity(Enum):
    """Which of the words that differ by swaps of independent steps have to be accepted."""

    NONE = "none"  # all
    MONOTONIC = "monotonic"  # those in which no smaller thread could have come a step earlier
    SLEEP = "sleep"  # one of each class


class Explicit(Enum):
    """Which values are part of locations, and not left to claims."""

    POINTERS = "pointers"
    FEW = "few"  # also locks, flags and counters that only ever get a few values


@dataclass(frozen=True, slots=True)
class Settings:
    claims: Claims = Claims.INTERPOLANTS
    weakening: bool = True  # Transformation II
    commutativity: Commutativity = Commutativity.MONOTONIC
    explicit: Explicit = Explicit.FEW
    whole_sections: bool = True
    persistent: bool = True
    most_states: int = 1_000_000
