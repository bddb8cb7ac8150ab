"""What plait knows of the engine `modular` before it runs."""

from __future__ import annotations

from plait.engines.description import EngineDescription, Start
from plait.model.property_names import PROPERTY_NAMES

MODULAR = EngineDescription(
    name="modular",
    module="plait.engines.modular.answer",
    start=Start.CHECKS,
    proves=frozenset(PROPERTY_NAMES),
    refutes=frozenset(),
    summary="looks at each thread alone, against a summary of the others: it proves easy cases soon"
    " and finds no violations",
    strength="proving easy cases in tens of milliseconds: locksets, ranges of values",
    weakness="find violations; [relied on](modular.md#where-it-is-relied-on) only where threads"
    " share static objects",
    beginning="static checks",
    nothing_yet="the static checks were not finished",
    numbers_line="{locations} locations, {passes} passes",
    proof_words="by a look at each thread alone",
)
