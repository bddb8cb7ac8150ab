"""The engine's statistics: names for the JSON result, lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plait.engines.impact import outcome as impact
    from plait.engines.orders.outcome import Statistics

_NAMES = {
    "bound": "last_bound",
    "links": "read_from_candidates",
    "unrolling": "unrolling_seconds",
    "encoding": "encoding_seconds",
    "solving": "solving_seconds",
    "graph": "graph_seconds",
    "executing": "executing_seconds",
    "covering": "covering_seconds",
    "refining": "refining_seconds",
}


def numbers_of(statistics: Statistics) -> dict[str, Any]:
    """All that the engine counts, and two means."""
    numbers = {
        _NAMES.get(item.name, item.name): _rounded(getattr(statistics, item.name))
        for item in fields(statistics)
    }
    literals = numbers.pop("reason_literals")
    numbers["reasons_per_refinement"] = _mean(numbers["reasons"], numbers["refinements"])
    numbers["mean_reason_length"] = _mean(literals, numbers["reasons"])
    return dict(sorted(numbers.items(), key=lambda item: item[0].endswith("_seconds")))


def numbers_of_impact(statistics: impact.Statistics) -> dict[str, Any]:
    return {
        _NAMES.get(item.name, item.name): _rounded(getattr(statistics, item.name))
        for item in fields(statistics)
    }


def _rounded(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value


def _mean(total: int, count: int) -> float:
    return round(total / count, 3) if count else 0.0


def summary(numbers: dict[str, Any]) -> str:
    if "nodes" in numbers:
        return (
            f"{numbers['nodes']} nodes, {numbers['covers']} covers"
            f" ({numbers['forced_covers']} forced), {numbers['cover_expansions']} cover expansions,"
            f" {numbers['refinements']} refinements"
        )
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
