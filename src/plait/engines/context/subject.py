"""What proofs are about: the templates of a program, over one table of terms."""

from __future__ import annotations

from plait.analysis.graph import cyclic_nodes
from plait.analysis.sharing import Sharing
from plait.engines.context import ghosts
from plait.engines.context.control_blocks import ControlBlocks
from plait.engines.context.templates import Templates
from plait.engines.context.variables import Variables
from plait.logic.terms import Terms
from plait.model.actions import Call
from plait.model.program import Edge, Program
from plait.model.properties import Specification
from plait.symbolic.execute import Executor
from plait.symbolic.knowledge import Knowledge
from plait.symbolic.precision import Maker
from plait.symbolic.variables import cell_of

_LARGEST_TRACKED = 256  # bytes of an object
_MOST_PLACES = 600  # of a thread
_MOST_COUNTING_PLACES = 120


class ContextPrecision:
    """Only pointers are explicit, and all paths of a block are one step. In `counting` functions
    numbers in registers are explicit, too, so that their loops are unrolled."""

    most_paths = 0
    joins_bytes = True

    def __init__(self, counting: frozenset[str]) -> None:
        self._counting = counting

    def is_untracked(self, maker: Maker, size: int) -> bool:
        return size > _LARGEST_TRACKED

    def is_lock(self, address: int) -> bool:
        return False

    def is_switch(self, edge: Edge) -> bool:
        return False

    def is_explicit_place(self, maker: Maker, offset: int) -> bool:
        return False

    def is_explicit_register(self, function: str, index: int) -> bool:
        return function in self._counting


class Subject:
    """With ghosts for owners and beginnings. The loops of `counting` functions are unrolled."""

    def __init__(
        self,
        program: Program,
        sharing: Sharing,
        specification: Specification,
        counting: frozenset[str],
        deadline: float | None,
    ) -> None:
        self.terms = Terms()
        self.knowledge = Knowledge(program, sharing, ContextPrecision(counting))
        self.executor = Executor(self.knowledge, self.terms, specification)
        self.templates = Templates(
            program,
            sharing,
            self.knowledge,
            self.executor,
            self.terms,
            deadline,
            _MOST_COUNTING_PLACES if counting else _MOST_PLACES,
        )
        ghosts.add_owners(self.templates, self.terms)
        ghosts.add_beginnings(self.templates, self.terms)

    def initial_value(self, variable: int) -> int | None:
        """Of what threads share; None if that is not known."""
        if Variables.is_ghost(self.terms, variable) or self.templates.is_in_unique_block(variable):
            return 0
        cell = cell_of(self.terms.name[variable])
        return None if cell is None else self.executor.memory.initial_value(cell)


def starting_functions(sharing: Sharing) -> frozenset[str]:
    """Functions of the program that start or join threads in a loop."""
    points_to = sharing.points_to
    functions = points_to.program.functions
    library = ControlBlocks(sharing).functions()
    found = set()
    for name in points_to.reachable_functions:
        function = functions[name]
        cyclic = cyclic_nodes(
            [[edge.target for edge in edges if edge.target >= 0] for edges in function.edges]
        )
        if not function.library and any(
            isinstance(edge.action, Call)
            and edge.source in cyclic
            and not library.isdisjoint(points_to.callees(name, edge))
            for edge in function.all_edges()
        ):
            found.add(name)
    return frozenset(found)
