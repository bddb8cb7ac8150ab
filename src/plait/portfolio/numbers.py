"""The engines' statistics by the names that they have in results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plait.data import fields

if TYPE_CHECKING:
    from plait.engines.impact import outcome as impact
    from plait.engines.modular import outcome as modular
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


def numbers_of_modular(statistics: modular.Statistics) -> dict[str, float]:
    numbers = {item.name: getattr(statistics, item.name) for item in fields(statistics)}
    return numbers | {"checking_seconds": _rounded(numbers.pop("seconds"))}


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _rounded(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value


def _mean(total: int, count: int) -> float:
    return round(total / count, 3) if count else 0.0
