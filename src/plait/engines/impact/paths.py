"""Paths of the tree as sequences of steps: from the initial values, and to a counterexample."""

from __future__ import annotations

from collections.abc import Sequence

from plait.engines.impact.tree import Node
from plait.engines.interface import BlockTaken, Counterexample, UnsetValues
from plait.logic.interpolation.interpolate import Interpolator, Result
from plait.logic.interpolation.model import Model
from plait.logic.interpolation.path import Step
from plait.logic.substitute import Vocabulary
from plait.logic.terms import Terms
from plait.logic.translate import NAN_BITS, OPEN_NAN
from plait.model.unset import of_static
from plait.symbolic.blocks import Way
from plait.symbolic.execute import Executor
from plait.symbolic.locations import Status
from plait.symbolic.variables import cell_of, cell_variable


class Paths:
    def __init__(self, terms: Terms, executor: Executor, deadline: float | None) -> None:
        self._terms = terms
        self._executor = executor
        self._deadline = deadline
        self._interpolator = Interpolator(terms)
        self._vocabulary = Vocabulary(terms)

    def interpolate(self, steps: Sequence[Step]) -> Result:
        return self._interpolator.interpolate(steps, self._deadline)

    def steps_to(self, node: Node) -> list[Step]:
        """From before the initial state to a node."""
        steps = [item.step for item in node.path()[1:]]
        return [self.initial_step(steps), *steps]

    def initial_step(self, steps: Sequence[Step]) -> Step:
        """The initial values of the variables that a path mentions."""
        terms = self._terms
        mentioned: set[int] = set()
        for step in steps:
            mentioned |= self._vocabulary.of(step.assumes)
            mentioned |= self._vocabulary.of(step.updates.values())
        updates: dict[int, int] = {}
        for variable in mentioned:
            value = self.initial_value(variable)
            if value is not None:
                updates[variable] = terms.constant(value, terms.width[variable])
        return Step((), updates)

    def initial_value(self, variable: int) -> int | None:
        cell = cell_of(self._terms.name[variable])
        return None if cell is None else self._executor.memory.initial_value(cell)

    def counterexample(
        self, node: Node, way: Way, model: Model, *, is_undefined: bool
    ) -> Counterexample:
        """What happens on the way to a node, with the values of a model."""
        blocks: list[BlockTaken] = []
        inputs: dict[int, list[tuple[str, int]]] = {}
        # The state before each step says which of the step's inputs were asked for.
        path = node.path()[1:]
        guards = [use.when for item in path for use in item.inputs if use.when is not None]
        steps = [*(item.step for item in path), Step(tuple(guards), {})]
        state = model.after(self.initial_step(steps))
        unset = self._initially_unset(state)
        for item in path:
            blocks.append(_block_taken(item))
            for use in item.inputs:
                if use.when is not None and not state(use.when):
                    continue
                value = state(use.variable)
                if use.unset is None:
                    inputs.setdefault(item.thread, []).append((use.name, value))
                    continue
                maker, offset = use.unset
                made = unset.latest if offset else unset.begin
                size = (self._terms.width[use.variable] + 7) // 8
                unset.put(made(item.thread, maker), offset, size, value)
            state = state.after(item.step)
        excuse = ""
        if any(name == NAN_BITS for rows in inputs.values() for name, _ in rows):
            program = self._executor.memory.knowledge.program
            excuse = f"{OPEN_NAN} ({program.place(way.origin)})"
        return Counterexample(
            tuple(blocks),
            inputs,
            node.thread,
            way.message,
            way.origin,
            excuse=lambda: excuse,
            is_undefined=is_undefined,
            unset=unset,
        )

    def _initially_unset(self, state: Model) -> UnsetValues:
        """What static objects that are defined nowhere hold at first."""
        knowledge = self._executor.memory.knowledge
        found = UnsetValues()
        for item in knowledge.program.objects:
            if item.indeterminate:
                address = item.page << knowledge.page_bits
                for offset, width in knowledge.cells_of(item, item.size) or ():
                    variable = cell_variable(self._terms, (address + offset, width))
                    found.put(of_static(item), offset, width, state(variable))
        return found


def _block_taken(node: Node) -> BlockTaken:
    """The block that led to a node."""
    assert node.parent is not None and node.parent.place is not None
    before = node.parent.place.location
    thread = before.threads[node.thread - 1]
    after = before if node.place is None else node.place.location
    return BlockTaken(
        node.thread,
        thread.frames[-1].function,
        thread.frames[-1].location,
        thread.is_inside,
        sum(item.status is Status.RUNNING for item in before.threads) == 1,
        len(after.threads),
        _lock_taken(node),
    )


def _lock_taken(node: Node) -> tuple[int, int] | None:
    for access in () if node.way is None else node.way.accesses:
        if access.lock == access.address:
            return access.address, access.size
    return None
