"""How the bounded engine works; the defaults are the fastest, the others are there to compare."""

from __future__ import annotations

from enum import Enum

from plait.data import dataclass
from plait.model.memory_model import MemoryModel


class Refinement(Enum):
    """Where the clauses come from that exclude impossible orders."""

    PROPAGATOR = "propagator"  # from order graphs while the solver searches
    GRAPH = "graph"  # from the order graph of each model, as in the paper: some reasons, cheaply
    KERNEL = "kernel"  # the same, but all core kernel reasons
    CORES = "cores"  # from unsatisfiable cores of the exact constraint


class OrderEncoding(Enum):
    ABSTRACT = "abstract"  # phi_0 says nothing about orders
    MONOLITHIC = "monolithic"  # clocks and the whole scheduling constraint from the beginning


@dataclass(frozen=True, slots=True)
class Settings:
    """`unwind` fixes the loop bound; None: 1, 2, 4, ..."""

    unwind: int | None = None
    finds_races: bool = False
    checks_memory: bool = False  # invalid accesses are violations, and leaks
    checks_lives: bool = False  # no pointer to a local is used after its life
    assumes_defined: bool = False  # what is undefined does not happen
    finds_deadlocks: bool = False  # and nothing else
    memory_model: MemoryModel = MemoryModel.SC
    race_is: str | None = None  # under C11: the property that a data race violates
    refinement: Refinement = Refinement.PROPAGATOR
    encoding: OrderEncoding = OrderEncoding.ABSTRACT
