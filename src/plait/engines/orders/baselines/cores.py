"""Constraint-based refinement (sections 4.3 and 5.2 of the paper): no order graph.

The order requirements of a model are given to a second solver, as clauses over clocks, and the
literals of the model as assumptions. If no schedule obeys them, the assumptions that the solver has
used, an unsatisfiable core, are the reason: one for each model, and not the smallest one.

One solver serves all models and keeps what it has learned. It gets the requirements of a link or
section when a model makes it true for the first time.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.engines.interface import OutOfTime
from plait.engines.orders.baselines.monolithic import Clocks, Requirement, Requirements
from plait.engines.orders.events import EventStructure, bits
from plait.engines.orders.exact import Feasible, Infeasible
from plait.logic.solver import Solver

# The paper's choice, and the faster one for many small questions with many assumptions.
CORE_SOLVER = "minisat22"


class Cores:
    """Decides whether models have schedules; `solver` is for nothing else."""

    def __init__(
        self, structure: EventStructure, solver: Solver, deadline: float | None = None
    ) -> None:
        self._structure = structure
        self._solver = solver
        self._deadline = deadline
        self._literal = {literal: solver.new_literal() for literal in structure.literals}
        self._literal_behind = {own: literal for literal, own in self._literal.items()}
        requirements = Requirements(structure, deadline)
        self._clocks = Clocks(structure, requirements.events(), solver, self._literal.__getitem__)
        self._not_given: dict[int, list[Iterator[Requirement]]] = {}
        for order in structure.orders:
            self._not_given.setdefault(order.literal, []).append(requirements.of_order(order))
        for link in structure.links:
            self._not_given.setdefault(link.literal, []).append(requirements.of_link(link))
        for number, section in enumerate(structure.sections):
            self._not_given.setdefault(section.literal, []).append(requirements.of_section(number))
        self._give(0)

    def decide(self, true: list[int]) -> Feasible | Infeasible:
        """Whether there is a schedule in which these literals (and what they imply) hold."""
        structure = self._structure
        mask = structure.closed_mask(true)
        literals = [structure.literals[number] for number in bits(mask)]
        for literal in literals:
            self._give(literal)
        answer = self._solver.solve(
            [self._literal[literal] for literal in literals], deadline=self._deadline
        )
        if answer is None:
            raise OutOfTime
        if answer:
            return Feasible(self._clocks.schedule(structure.occurring(mask)))
        core = [self._literal_behind[own] for own in self._solver.core()]
        # Guards that other literals of the core imply need not be said.
        return Infeasible(structure.literals_of(structure.closed_mask(core)))

    def _give(self, literal: int) -> None:
        for requirements in self._not_given.pop(literal, ()):
            for requirement in requirements:
                self._clocks.add(requirement)
