"""What the unbounded engine counts."""

from __future__ import annotations

from plait.data import dataclass
from plait.engines import interface


@dataclass(slots=True, eq=False)
class Statistics(interface.Statistics):
    names = {
        "executing": "executing_seconds",
        "covering": "covering_seconds",
        "refining": "refining_seconds",
    }

    threads: int = 0
    locations: int = 0
    nodes: int = 0
    open_nodes: int = 0
    covers: int = 0
    forced_covers: int = 0
    uncovered: int = 0  # covers that were taken back
    cover_expansions: int = 0  # nodes that exist for the sake of covered ones
    skipped: int = 0  # threads that the reduction did not expand
    conditional: int = 0  # of these, because of a fact in the label
    persistent: int = 0  # nodes at which one thread alone is expanded
    mistaken: int = 0  # nodes of which that had to be taken back
    refinements: int = 0
    suggested: int = 0  # conjuncts of labels that hints have suggested
    longest_path: int = 0
    syntactic_checks: int = 0
    sample_checks: int = 0
    known_checks: int = 0
    solver_checks: int = 0
    executing: float = 0.0
    covering: float = 0.0
    refining: float = 0.0
