"""Paths as sequences of steps: from the initial values, why one is impossible, and what it is as a
counterexample."""

from __future__ import annotations

from collections.abc import Sequence

from plait.data import dataclass
from plait.engines.interface import BlockTaken, Counterexample, UnsetValues
from plait.logic.interpolation.interpolate import Interpolator, Result
from plait.logic.interpolation.model import Model
from plait.logic.interpolation.path import Step
from plait.logic.substitute import Substitution, Vocabulary
from plait.logic.terms import Terms
from plait.logic.translate import NAN_BITS, OPEN_NAN
from plait.model.unset import of_static
from plait.symbolic.blocks import InputUse, Way
from plait.symbolic.execute import Executor
from plait.symbolic.locations import Location, Status
from plait.symbolic.variables import cell_of, cell_variable


@dataclass(frozen=True, slots=True, eq=False)
class Occurrence:
    """A way through a block that a thread takes on a path, with inputs that no other step has."""

    before: Location
    thread: int
    way: Way
    step: Step
    inputs: tuple[InputUse, ...]


def own_step(terms: Terms, way: Way) -> tuple[Step, tuple[InputUse, ...]]:
    """The step of a way through a block, with inputs that no other step has."""
    if not way.inputs:
        return way.step, ()
    variables = [use.variable for use in way.inputs]
    renamed = {var: terms.fresh("input", terms.width[var]) for var in variables}
    own = Substitution(terms, renamed.get)
    step = Step(
        tuple(map(own, way.step.assumes)),
        {variable: own(item) for variable, item in way.step.updates.items()},
        frozenset(renamed.values()),
    )
    inputs = tuple(
        use._replace(
            variable=renamed[use.variable],
            when=None if use.when is None else own(use.when),
        )
        for use in way.inputs
    )
    return step, inputs


class Paths:
    def __init__(self, terms: Terms, executor: Executor, deadline: float | None) -> None:
        self._terms = terms
        self._executor = executor
        self._deadline = deadline
        self._interpolator = Interpolator(terms)
        self._vocabulary = Vocabulary(terms)

    def interpolate(
        self, steps: Sequence[Step], procedures: Sequence[str] | None = None
    ) -> Result:
        return self._interpolator.interpolate(steps, self._deadline, procedures=procedures)

    def from_start(self, steps: Sequence[Step]) -> list[Step]:
        """From before the initial state."""
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
        self, path: Sequence[Occurrence], model: Model, *, is_undefined: bool
    ) -> Counterexample:
        """What happens on a path, with the values of a model."""
        blocks: list[BlockTaken] = []
        inputs: dict[int, list[tuple[str, int]]] = {}
        # The state before each step says which of the step's inputs were asked for.
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
        last = path[-1]
        if any(name == NAN_BITS for rows in inputs.values() for name, _ in rows):
            program = self._executor.memory.knowledge.program
            excuse = f"{OPEN_NAN} ({program.place(last.way.origin)})"
        return Counterexample(
            tuple(blocks),
            inputs,
            last.thread,
            last.way.message,
            last.way.origin,
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


def _block_taken(item: Occurrence) -> BlockTaken:
    before = item.before
    thread = before.threads[item.thread - 1]
    after = before if item.way.target is None else item.way.target
    return BlockTaken(
        item.thread,
        thread.frames[-1].function,
        thread.frames[-1].location,
        thread.is_inside,
        sum(item.status is Status.RUNNING for item in before.threads) == 1,
        len(after.threads),
        _lock_taken(item.way),
    )


def _lock_taken(way: Way) -> tuple[int, int] | None:
    for access in way.accesses:
        if access.lock == access.address:
            return access.address, access.size
    return None
