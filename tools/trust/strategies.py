"""Generated programs as hypothesis strategies (needs the package's `dev` extra).

A strategy draws a seed and sizes; hypothesis makes those small, and `trust.shrink` then
makes the program small.
"""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies

from trust import concurrent, scope, sequential

SEEDS = strategies.integers(0, 2**32 - 1)


def sequential_programs(
    max_size: int = 10, features: Iterable[str] = scope.FEATURES
) -> strategies.SearchStrategy[str]:
    chosen = frozenset(features)
    return strategies.builds(
        lambda seed, size: sequential.generate(seed, size, chosen),
        SEEDS,
        strategies.integers(1, max_size),
    )


def concurrent_programs(
    max_threads: int = 3, max_steps: int = 6, features: Iterable[str] = concurrent.FEATURES
) -> strategies.SearchStrategy[str]:
    chosen = frozenset(features)
    return strategies.builds(
        lambda seed, threads, steps: concurrent.generate(seed, threads, steps, chosen),
        SEEDS,
        strategies.integers(1, max_threads),
        strategies.integers(1, max_steps),
    )
