"""What plait knows of the engine `predicates` before it runs."""

from __future__ import annotations

from typing import TypedDict

from plait.engines.description import EngineDescription, EngineOption, Start
from plait.model.property_names import MONITOR_NAME

# The values are those of the enumerations in `settings`.
_ABSTRACTION = EngineOption(
    "abstraction",
    "cartesian",
    "what is known behind a step: of each predicate by itself whether it holds (cartesian, the"
    " default), or which combinations of predicates there are (boolean)",
    ("cartesian", "boolean"),
)
_MONOLITHIC = EngineOption(
    "monolithic",
    False,
    "track all predicates everywhere, and not each where it is needed",
)
_BY_LOCATION = EngineOption(
    "by_location",
    "few",
    "which values are known without a predicate: of pointers, or also of locks, flags and counters"
    " that only ever get a few values (few, the default)",
    ("pointers", "few"),
)
_REDUCED = EngineOption(
    "reduced",
    True,
    "explore all interleavings, at every access to memory",
)
_MOST_TREE_NODES = EngineOption(
    "most_tree_nodes",
    1_000_000,
    "give up when more than N nodes were made (default: 1000000)",
)
_PROPERTIES = frozenset(
    {
        "assertions",
        "unreach-call",
        "no-overflow",
        "valid-access",
        "lock-misuse",
        "no-undefined",
        MONITOR_NAME,
    }
)


class PredicatesOptions(TypedDict, total=False):
    abstraction: str | None
    monolithic: bool
    by_location: str | None
    reduced: bool
    most_tree_nodes: int | None


PREDICATES = EngineDescription(
    name="predicates",
    module="plait.engines.predicates.answer",
    start=Start.ON_REQUEST,
    proves=_PROPERTIES,
    refutes=_PROPERTIES,
    summary="proves programs by predicates, each where it is needed",
    strength="state machines in large sequential programs, with certificates",
    weakness="races, deadlocks, leaks; invariants that no finite set of predicates says",
    beginning="growing the tree",
    nothing_yet="the tree has no nodes yet",
    numbers_line="{predicates} predicates, {most_at_a_place} at one place, {kept} nodes,"
    " {refinements} refinements, {removed} nodes removed",
    gives_certificates=True,
    options=(_ABSTRACTION, _MONOLITHIC, _BY_LOCATION, _REDUCED, _MOST_TREE_NODES),
)
