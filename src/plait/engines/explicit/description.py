"""What plait knows of the engine `explicit` before it runs."""

from __future__ import annotations

from typing import TypedDict

from plait.engines.description import EngineDescription, EngineOption, Start
from plait.model.property_names import CHECKED_NAMES

_PERSISTENT_SETS = EngineOption(
    "persistent_sets",
    True,
    "go on with all threads that can move, also where the step of one commutes with all that the"
    " others may do",
)
_SECTIONS = EngineOption(
    "sections",
    True,
    "switch between threads in the middle of critical sections, also where all keep to their locks",
)
_COMMUTING = EngineOption(
    "commuting",
    True,
    "try steps that access the same in all orders, also where they commute because of what they"
    " compute",
)
_VALUES = EngineOption(
    "values",
    False,
    "what was seen of a thread counts only where the values that it needs can be there",
)
_MAX_STATES = EngineOption(
    "max_states",
    20_000_000,
    "give up with more than N states (default: 20000000)",
)


class ExplicitOptions(TypedDict, total=False):
    persistent_sets: bool
    sections: bool
    commuting: bool
    values: bool
    max_states: int | None


EXPLICIT = EngineDescription(
    name="explicit",
    module="plait.engines.explicit.answer",
    start=Start.SOON,
    proves=frozenset(CHECKED_NAMES),
    refutes=frozenset(CHECKED_NAMES),
    summary="enumerates states, of programs whose inputs have few values",
    strength="all properties of programs with few states, however they synchronise",
    weakness="inputs with many values, many states",
    beginning="exploring states",
    nothing_yet="no state was explored",
    numbers_line="{states} states, {steps} steps",
    proof_words="by exploring all states",
    memory_models=frozenset({"sc", "tso", "pso", "c11"}),
    options=(_PERSISTENT_SETS, _SECTIONS, _COMMUTING, _VALUES, _MAX_STATES),
)
