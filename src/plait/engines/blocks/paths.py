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


NextInputs = tuple[int, tuple[InputUse, ...]]  # a thread and those of its next step


class Paths:
    def __init__(self, terms: Terms, executor: Executor, deadline: float | None) -> None:
        self._terms = terms
        self._executor = executor
        self._deadline = deadline
        self._interpolator = Interpolator(terms)
        self._vocabulary = Vocabulary(terms)

    def interpolate(self, steps: Sequence[Step], procedures: Sequence[str] | None = None) -> Result:
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
        played = self._played(path, (), model)
        excuse = ""
        last = path[-1]
        if any(name == NAN_BITS for rows in played.inputs.values() for name, _ in rows):
            program = self._executor.memory.knowledge.program
            excuse = f"{OPEN_NAN} ({program.user_place(last.way.origin)})"
        return Counterexample(
            tuple(map(_block_taken, path)),
            played.inputs,
            last.thread,
            last.way.message,
            last.way.origin,
            excuse=lambda: excuse,
            is_undefined=is_undefined,
            unset=played.unset,
        )

    def state_behind(
        self,
        path: Sequence[Occurrence],
        location: Location,
        model: Model,
        message: str,
        threads: tuple[int, ...],
        next_inputs: Sequence[NextInputs] = (),
    ) -> Counterexample:
        """A state, behind a path, that has a race between the next steps of two threads, or in
        which one waits for ever."""
        played = self._played(path, next_inputs, model)
        shape = self._executor.memory.knowledge.shape
        standing = tuple(
            _block_at(location, number, len(location.threads), None)
            for number, thread in enumerate(location.threads, 1)
            if thread.status is Status.RUNNING
            and shape(thread.frames[-1].function).is_switch[thread.frames[-1].location]
        )
        return Counterexample(
            tuple(map(_block_taken, path)),
            played.inputs,
            threads[0],
            message,
            race=(threads[0], threads[1]) if len(threads) > 1 else None,
            unset=played.unset,
            standing=standing,
        )

    def _played(
        self, path: Sequence[Occurrence], next_inputs: Sequence[NextInputs], model: Model
    ) -> _Played:
        # The state before each step says which of the step's inputs were asked for.
        uses = [use for item in path for use in item.inputs]
        uses += [use for _, inputs in next_inputs for use in inputs]
        guards = tuple(use.when for use in uses if use.when is not None)
        state = model.after(self.initial_step([*(item.step for item in path), Step(guards, {})]))
        played = _Played(self._initially_unset(state), self._terms)
        for item in path:
            played.take(item.thread, item.inputs, state)
            state = state.after(item.step)
        for thread, inputs in next_inputs:
            played.take(thread, inputs, state)
        return played

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


class _Played:
    """The values that the inputs of a path have in a model, and what nobody has set."""

    def __init__(self, unset: UnsetValues, terms: Terms) -> None:
        self.inputs: dict[int, list[tuple[str, int]]] = {}
        self.unset = unset
        self._terms = terms

    def take(self, thread: int, inputs: tuple[InputUse, ...], state: Model) -> None:
        for use in inputs:
            if use.when is not None and not state(use.when):
                continue
            value = state(use.variable)
            if use.unset is None:
                self.inputs.setdefault(thread, []).append((use.name, value))
                continue
            maker, offset = use.unset
            made = self.unset.latest if offset else self.unset.begin
            size = (self._terms.width[use.variable] + 7) // 8
            self.unset.put(made(thread, maker), offset, size, value)


def _block_taken(item: Occurrence) -> BlockTaken:
    after = item.before if item.way.target is None else item.way.target
    return _block_at(item.before, item.thread, len(after.threads), _lock_taken(item.way))


def _block_at(
    before: Location, number: int, threads: int, lock: tuple[int, int] | None
) -> BlockTaken:
    thread = before.threads[number - 1]
    return BlockTaken(
        number,
        thread.frames[-1].function,
        thread.frames[-1].location,
        thread.is_inside,
        sum(item.status is Status.RUNNING for item in before.threads) == 1,
        threads,
        lock,
    )


def _lock_taken(way: Way) -> tuple[int, int] | None:
    for access in way.accesses:
        if access.lock == access.address:
            return access.address, access.size
    return None
