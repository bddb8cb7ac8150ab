"""Statistics as lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def summary(numbers: dict[str, Any]) -> str:
    if "nodes" in numbers:
        return (
            f"{numbers['nodes']} nodes, {numbers['covers']} covers"
            f" ({numbers['forced_covers']} forced), {numbers['cover_expansions']} cover expansions,"
            f" {numbers['refinements']} refinements"
        )
    if "passes" in numbers:
        return f"{numbers['locations']} locations, {numbers['passes']} passes"
    return (
        f"{numbers['events']} events, {numbers['read_from_candidates']} links,"
        f" {numbers['refinements']} refinements, loop bound {numbers['last_bound']}"
    )


def table(numbers: dict[str, Any]) -> Iterator[str]:
    """One line for each number, aligned."""
    width = max(map(len, numbers), default=0)
    for name, value in numbers.items():
        if name.endswith("_seconds"):
            shown = f"{value:.3f} s"
        elif name.endswith("_bytes"):
            shown = "not known" if value is None else f"{value / 2**20:,.1f} MiB"
        elif isinstance(value, int):
            shown = f"{value:,}"
        else:
            shown = f"{value}"
        title = name.removesuffix("_seconds").removesuffix("_bytes").replace("_", " ")
        yield f"  {title.ljust(width)} {shown}"
