"""What plait knows of the engine `traces` before it runs."""

from __future__ import annotations

from typing import TypedDict

from plait.engines.description import EngineDescription, EngineOption, Start

# The values are those of the enumerations in `settings`.
_CLAIMS = EngineOption(
    "claims",
    "interpolants",
    "what is kept of the proof of a trace: interpolants (the default), weakest preconditions of"
    " what contradicts itself (cores), or of the whole trace (preconditions)",
    ("interpolants", "cores", "preconditions"),
)
_WEAKENING = EngineOption(
    "weakening",
    True,
    "accept a trace only where preconditions are literally among the claims, not where they follow",
)
_COMMUTATIVITY = EngineOption(
    "commutativity",
    "monotonic",
    "which of the traces that differ by swaps of independent steps are proved: all (none), those in"
    " which no smaller thread could have come a step earlier (monotonic, the default), or one"
    " (sleep)",
    ("none", "monotonic", "sleep"),
)
_LOCATIONS = EngineOption(
    "locations",
    "few",
    "which values tell locations apart without a claim: of pointers, or also of locks, flags and"
    " counters that only ever get a few values (few, the default)",
    ("pointers", "few"),
)
_WHOLE_SECTIONS = EngineOption(
    "whole_sections",
    True,
    "do not take what is done under a lock as one step",
)
_AHEAD = EngineOption(
    "ahead",
    True,
    "do not let a thread go ahead of the others where nothing that they may do disturbs its step",
)
_MAX_STATES = EngineOption(
    "most_states",
    1_000_000,
    "give up when the search has met more than N states (default: 1000000)",
)
_PROPERTIES = frozenset(
    {
        "assertions",
        "unreach-call",
        "no-overflow",
        "valid-access",
        "lock-misuse",
        "no-undefined",
    }
)


class TracesOptions(TypedDict, total=False):
    claims: str | None
    weakening: bool
    commutativity: str | None
    locations: str | None
    whole_sections: bool
    ahead: bool
    most_states: int | None


TRACES = EngineDescription(
    name="traces",
    module="plait.engines.traces.answer",
    start=Start.ON_REQUEST,
    proves=_PROPERTIES,
    refutes=_PROPERTIES,
    summary="proves one interleaving after the other, until what proves them accepts all",
    strength="programs where few reasons explain many interleavings, with certificates",
    weakness="races, deadlocks, leaks; many values that matter",
    beginning="looking for the first trace",
    nothing_yet="no trace was looked at yet",
    numbers_line="{traces} traces proved, {claims} claims, {triples} Hoare triples,"
    " {states} states, {covers} covers",
    gives_certificates=True,
    options=(_CLAIMS, _WEAKENING, _COMMUTATIVITY, _LOCATIONS, _WHOLE_SECTIONS, _AHEAD, _MAX_STATES),
)
