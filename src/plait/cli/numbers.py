"""Statistics as lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from plait.engines import registry

if TYPE_CHECKING:
    from plait.evidence.result import Result


def summary(result: Result) -> str:
    """The most telling ones; where several engines have contributed, those of the last one."""
    numbers = result.statistics
    bound = numbers.get("last_bound")
    if bound is not None and result.verdict == "unknown" and bound != result.bound:
        numbers = {**numbers, "last_bound": f"{bound} not finished"}
    names = reversed(result.engine.split(" and "))
    known = [registry.engine(name) for name in names if registry.is_engine(name)]
    for item in (*known, *registry.engines()):
        try:
            return item.numbers_line.format_map(numbers)
        except KeyError:
            continue  # they are of another engine
    return f"{len(numbers)} numbers with --verbose"


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
