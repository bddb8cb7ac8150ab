"""What plait knows of the engine `context` before it runs."""

from __future__ import annotations

from enum import Enum
from typing import TypedDict

from plait.engines.description import EngineDescription, EngineOption, Start
from plait.model.property_names import MONITOR_NAME


class Method(Enum):
    """What stands for the other threads of a thread."""

    TEMPLATES = "templates"  # their own steps, from states that satisfy their invariants
    ACFA = "acfa"  # abstract control-flow automata, with counters (the thesis, chapter 5)


_PROPERTIES = frozenset(
    {
        "assertions",
        "unreach-call",
        "no-data-race",
        "no-overflow",
        "valid-access",
        "lock-misuse",
        "no-undefined",
        MONITOR_NAME,
    }
)


class ContextOptions(TypedDict, total=False):
    context: str | None


_CONTEXT = EngineOption(
    "context",
    "templates",
    "what stands for the other threads: their own steps under invariants (templates, the default),"
    " or automata with counters, found by refinement (acfa), which also finds violations",
    ("templates", "acfa"),
)

CONTEXT = EngineDescription(
    name="context",
    module="plait.engines.context.answer",
    start=Start.LATER,
    proves=_PROPERTIES,
    refutes=_PROPERTIES,
    summary="proves programs with any number of threads",
    strength="proofs for any number of threads, without looking at interleavings",
    weakness="find violations; deadlocks, leaks; joins of any number of threads",
    beginning="telling threads apart by how they begin",
    nothing_yet="no invariant is known yet",
    numbers_line="{templates} templates, {places} places, {candidates} candidates for invariants,"
    " {facts} facts",
    gives_certificates=True,
    needs_checking=True,
    options=(_CONTEXT,),
    proof_words="for any number of threads: each one keeps to invariants that no other breaks",
)
