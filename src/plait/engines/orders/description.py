"""What plait knows of the engine `orders` before it runs."""

from __future__ import annotations

from typing import TypedDict

from plait.engines.description import EngineDescription, EngineOption, Start
from plait.model.property_names import CHECKED_NAMES

# The values are those of the enumerations in `settings`.
_ORDER_ENCODING = EngineOption(
    "order_encoding",
    "abstract",
    "whether the formula leaves out the order of events and learns about it where it matters"
    " (abstract, the default), or states all of it from the beginning (monolithic)",
    ("abstract", "monolithic"),
)
_REFINEMENT = EngineOption(
    "refinement",
    "propagator",
    "where the abstract encoding learns: from event order graphs while the solver searches"
    " (propagator), from the event order graph of each model (graph, or kernel for all core kernel"
    " reasons), or from unsatisfiable cores of the exact constraint (cores); the default suits most"
    " programs best",
    ("propagator", "graph", "kernel", "cores"),
)


class OrdersOptions(TypedDict, total=False):
    order_encoding: str | None
    refinement: str | None


ORDERS = EngineDescription(
    name="orders",
    module="plait.engines.orders.answer",
    start=Start.FIRST,
    proves=frozenset(CHECKED_NAMES),
    refutes=frozenset(CHECKED_NAMES),
    summary="unrolls loops 1, 2, 4, ... times, decides for all schedules and all inputs at once,"
    " and is best at finding errors; it says `true` only if no execution exceeds the bound",
    strength="finding violations; proofs where every loop has a bound",
    weakness="prove loops without a bound",
    beginning="loop bound 1",
    nothing_yet="no loop bound was finished",
    numbers_line="{events} events, {read_from_candidates} links, {refinements} refinements,"
    " loop bound {last_bound}",
    bounds_loops=True,
    memory_models=frozenset({"sc", "tso", "pso", "c11"}),
    options=(_ORDER_ENCODING, _REFINEMENT),
)
