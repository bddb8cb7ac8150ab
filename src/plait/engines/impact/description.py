"""What plait knows of the engine `impact` before it runs."""

from __future__ import annotations

from typing import TypedDict

from plait.engines.description import EngineDescription, EngineOption, Start
from plait.model.property_names import MONITOR_NAME

# The values are those of the enumerations in `settings`.
_POR = EngineOption(
    "por",
    "movers",
    "partial-order reduction: interleave at every access to memory (none), at accesses that other"
    " threads can see (static), of these only in orders that matter (dynamic), or with what is"
    " done under a lock as one step, too (movers, the default)",
    ("none", "static", "dynamic", "movers"),
)
_EXPLICIT = EngineOption(
    "explicit",
    "few",
    "which values tell nodes apart without a label: of pointers, or also of locks, flags and"
    " counters that only ever get a few values (few, the default)",
    ("pointers", "few"),
)
_FORCE_COVER = EngineOption(
    "force_cover",
    True,
    "do not try to strengthen the label of a node so that another one covers it",
)
_MAX_NODES = EngineOption(
    "max_nodes",
    1_000_000,
    "give up when the tree has more than N nodes (default: 1000000)",
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
        "no-data-race",
        "no-deadlock",
    }
)


class ImpactOptions(TypedDict, total=False):
    por: str | None
    explicit: str | None
    force_cover: bool
    max_nodes: int | None


IMPACT = EngineDescription(
    name="impact",
    module="plait.engines.impact.answer",
    start=Start.LATER,
    proves=_PROPERTIES,
    refutes=_PROPERTIES,
    summary="proves programs with unbounded loops",
    strength="proofs for any number of loop rounds, with certificates",
    weakness="leaks",
    beginning="growing the tree",
    nothing_yet="the tree has no nodes yet",
    numbers_line="{nodes} nodes, {covers} covers ({forced_covers} forced),"
    " {cover_expansions} cover expansions, {refinements} refinements",
    gives_certificates=True,
    uncertified=frozenset({"no-deadlock"}),
    options=(_POR, _EXPLICIT, _FORCE_COVER, _MAX_NODES),
)
