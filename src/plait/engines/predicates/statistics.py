"""What the engine counts."""

from __future__ import annotations

from plait.data import dataclass
from plait.engines import interface


@dataclass(slots=True, eq=False)
class Statistics(interface.Statistics):
    names = {
        "executing": "executing_seconds",
        "abstracting": "abstracting_seconds",
        "refining": "refining_seconds",
    }

    threads: int = 0
    locations: int = 0
    nodes: int = 0  # that were made
    kept: int = 0  # that are in the tree
    open_nodes: int = 0
    covers: int = 0
    removed: int = 0  # below pivots
    refinements: int = 0
    predicates: int = 0
    places: int = 0  # of the program that have predicates
    most_at_a_place: int = 0
    at_all_places: int = 0
    skipped: int = 0  # threads that the reduction did not expand
    persistent: int = 0  # nodes at which one thread alone is expanded
    mistaken: int = 0  # of these, at so many it turned out not to be enough
    longest_path: int = 0
    posts: int = 0  # abstract ones that were computed
    known_posts: int = 0
    solver_checks: int = 0
    executing: float = 0.0
    abstracting: float = 0.0
    refining: float = 0.0
