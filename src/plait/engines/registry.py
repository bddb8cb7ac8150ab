"""The engines that there are: one line for each. Nothing else in plait names an engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from plait.engines.context.description import CONTEXT, ContextOptions
from plait.engines.description import EngineDescription, EngineOption, Start
from plait.engines.explicit.description import EXPLICIT, ExplicitOptions
from plait.engines.impact.description import IMPACT, ImpactOptions
from plait.engines.modular.description import MODULAR
from plait.engines.orders.description import ORDERS, OrdersOptions
from plait.engines.predicates.description import PREDICATES, PredicatesOptions
from plait.engines.traces.description import TRACES, TracesOptions

_ENGINES: dict[str, EngineDescription] = {
    item.name: item
    for item in (
        MODULAR,
        ORDERS,
        IMPACT,
        CONTEXT,
        EXPLICIT,
        TRACES,
        PREDICATES,
    )
}

# Ways to run several engines, beside the names of single ones.
AUTO = "auto"
PORTFOLIO = "portfolio"


class EngineOptions(
    OrdersOptions,
    ImpactOptions,
    ContextOptions,
    ExplicitOptions,
    TracesOptions,
    PredicatesOptions,
    total=False,
):
    """The options of all engines, for type checkers."""


def engines() -> tuple[EngineDescription, ...]:
    return tuple(_ENGINES.values())


def engine(name: str) -> EngineDescription:
    return _ENGINES[name]


def is_engine(name: str) -> bool:
    return name in _ENGINES


def choices() -> tuple[str, ...]:
    """What `--engine` takes."""
    return (AUTO, *_ENGINES, PORTFOLIO)


def starting(*starts: Start) -> tuple[EngineDescription, ...]:
    """Those that `auto` starts so."""
    return tuple(item for item in engines() if item.start in starts)


def options() -> Iterator[tuple[EngineDescription, EngineOption]]:
    for item in engines():
        for option in item.options:
            yield item, option


def names(found: Iterable[EngineDescription]) -> str:
    return " or ".join(item.name for item in found)


@contextmanager
def registered(extra: EngineDescription) -> Iterator[None]:
    """One engine more for a while. Processes that are forked meanwhile know it, too."""
    if extra.name in choices():
        raise ValueError(f"there is an engine {extra.name} already")
    known = {option.name for _, option in options()}
    taken = known.intersection(option.name for option in extra.options)
    if taken:
        raise ValueError(f"other engines have options {', '.join(sorted(taken))} already")
    _ENGINES[extra.name] = extra
    try:
        yield
    finally:
        del _ENGINES[extra.name]
