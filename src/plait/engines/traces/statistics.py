"""What the engine counts."""

from __future__ import annotations

from plait.data import dataclass
from plait.engines import interface


@dataclass(slots=True, eq=False)
class Statistics(interface.Statistics):
    names = {
        "executing": "executing_seconds",
        "proving": "proving_seconds",
        "interpolating": "interpolating_seconds",
    }

    threads: int = 0
    locations: int = 0
    states: int = 0
    traces: int = 0  # words that were proved one by one
    claims: int = 0
    suggested: int = 0  # of these, those that other engines have proved
    triples: int = 0  # edges of the automaton: claims before a step, and one behind it
    weakenings: int = 0  # of these, those that only a solver finds (Transformation II)
    covers: int = 0
    closed_covers: int = 0  # of these, by what was found out to be enough
    asleep: int = 0  # threads that were left out
    conditional: int = 0  # of these, because of claims
    persistent: int = 0  # states at which one thread alone is explored
    mistaken: int = 0  # of these, at so many it turned out not to be enough
    longest_word: int = 0
    solver_checks: int = 0
    executing: float = 0.0
    proving: float = 0.0
    interpolating: float = 0.0
