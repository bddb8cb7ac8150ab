"""Paths as sequences of steps, and what a sequence of interpolants must be."""

from __future__ import annotations

from collections.abc import Mapping

from plait.data import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """First all `assumes` must hold, then all `updates` happen at once.

    Assumptions and new values are terms over the variables of the state before the step and over
    `inputs`: variables that have any value, and that no other step of the path mentions. A
    variable without an update keeps its value.
    """

    assumes: tuple[int, ...]
    updates: Mapping[int, int]
    inputs: frozenset[int] = frozenset()


# One conjunction (a tuple of truth values) for each place on a path of n steps, from the one before
# the first step to the one behind the last: n + 1 of them.
Sequence = tuple[tuple[int, ...], ...]
