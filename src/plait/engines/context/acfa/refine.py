"""`Refine` (the thesis, 5.5.4): what an abstract error trace comes to.

The interleaving that it stands for is a formula. Either it is possible, or interpolants say why
not, and their atoms are predicates; if there is no such interleaving because nobody is there to
make a move, more threads have to be counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from plait.data import dataclass, replace
from plait.engines.blocks.paths import Occurrence
from plait.engines.context.acfa.interleaving import (
    Interleaving,
    Participant,
    Taken,
    TooCoarse,
    Unrelated,
    interleaving,
)
from plait.engines.context.acfa.predicates import Predicates
from plait.engines.context.acfa.reach import Graph, Trace
from plait.engines.context.giving_up import GaveUp
from plait.engines.context.templates import Instance, SharedAccess, Templates, Transition
from plait.engines.context.variables import Variables
from plait.engines.interface import OutOfTime
from plait.logic.interpolation.interpolate import Feasible, Interpolants, Interpolator
from plait.logic.interpolation.model import Model
from plait.logic.interpolation.path import Step
from plait.logic.operators import CONSTANT
from plait.logic.substitute import Substitution
from plait.logic.terms import Terms
from plait.symbolic.locations import ENDED, Location, Thread


@dataclass(slots=True, frozen=True)
class MoreCounted:
    """The counters are too coarse."""


@dataclass(slots=True, frozen=True)
class MorePredicates:
    found: int


@dataclass(slots=True, frozen=True, eq=False)
class Real:
    """The error can happen as far as formulas say: on this path, whose last step is the violation,
    or behind it, where two threads race at a location. The model has the state at first and all
    inputs."""

    path: tuple[Occurrence, ...]
    model: Model
    behind: Location
    racing: tuple[int, int] | None = None


@dataclass(slots=True, frozen=True)
class Unclear:
    reason: str


Refinement = MoreCounted | MorePredicates | Real | Unclear


class Refine:
    def __init__(
        self,
        templates: Templates,
        variables: Variables,
        terms: Terms,
        predicates: Predicates,
        initial_value: Callable[[int], int | None],
        deadline: float | None,
    ) -> None:
        self._templates = templates
        self._variables = variables
        self._terms = terms
        self._predicates = predicates
        self._initial_value = initial_value
        self._deadline = deadline
        self._interpolator = Interpolator(terms)
        self._further: dict[tuple[int, int], Instance] = {}

    def __call__(
        self, trace: Trace, graphs: Sequence[Graph | None], classes: Sequence[list[int]]
    ) -> Refinement:
        try:
            found = interleaving(trace, self._templates, graphs, classes)
        except TooCoarse:
            return MoreCounted()
        except Unrelated:
            return Unclear("what the context does is not what threads do")
        instances = self._instances(found)
        performance = _Performance(self._templates, self._terms, found, instances)
        for item in found.taken:
            performance.take(item)
        steps = [item.step for item in performance.path]
        one = instances[found.main.number]
        if trace.violation is not None:
            performance.fail(found.main, one.transitions[trace.violation])
            steps.append(performance.path[-1].step)
        elif found.racing is not None:
            who, place = found.racing
            there = instances[who.number].accesses[place]
            steps.append(Step((self._same_bytes(one.accesses[trace.place], there),), {}))
        initial = self._initial_step(steps)
        answer = self._interpolator.interpolate([initial, *steps], self._deadline)
        OutOfTime.check(self._deadline)
        if isinstance(answer, Feasible):
            return performance.real(answer.model.after(initial))
        roles = {instances[who.number].number: who.template for who in found.participants()}
        new = 0
        if isinstance(answer, Interpolants):
            new = self._learned((term for row in answer.sequence for term in row), roles)
        # What the program compares itself is the next best.
        new = new or self._learned((term for step in steps for term in step.assumes), roles)
        if new:
            return MorePredicates(new)
        return Unclear("no predicate about one thread says why an interleaving is impossible")

    def _instances(self, found: Interleaving) -> dict[int, Instance]:
        """Of the participants, by their numbers. That of the trace is the one that predicates are
        about."""
        instances: dict[int, Instance] = {}
        used: dict[int, int] = {}
        for who in found.participants():
            position = used.get(who.template, 0)
            used[who.template] = position + 1
            instances[who.number] = self._instance(who.template, position)
        return instances

    def _instance(self, template: int, position: int) -> Instance:
        item = self._templates.all[template]
        if position == 0:
            return item.one
        if item.other is None:
            raise GaveUp("there are two of a thread of which there is one")
        if position == 1:
            return item.other
        found = self._further.get((template, position))
        if found is None:
            found = self._templates.further_instance(template)
            self._further[template, position] = found
        return found

    def _initial_step(self, steps: Iterable[Step]) -> Step:
        mentioned: set[int] = set()
        for step in steps:
            mentioned |= self._variables.vocabulary.of((*step.assumes, *step.updates.values()))
        updates = {}
        for variable in sorted(mentioned):
            value = self._initial_value(variable)
            if value is not None:
                updates[variable] = self._terms.constant(value, self._terms.width[variable])
        return Step((), updates)

    def _same_bytes(self, mine: Iterable[SharedAccess], theirs: Sequence[SharedAccess]) -> int:
        terms = self._terms
        return terms.any_of(
            terms.all_of(item.when for item in (one, other) if item.when is not None)
            for one in mine
            for other in theirs
            if one.races_with(other)
        )

    # --- predicates

    def _learned(self, formulas: Iterable[int], roles: Mapping[int, int]) -> int:
        """How many atoms are new predicates; `roles` are templates, by the numbers of instances."""
        new = 0
        for atom in _atoms(self._terms, formulas):
            for number, template in roles.items():
                own = self._as_one(atom, number, template)
                if self._predicates.add(own, template):
                    new += 1
                    break
        return new

    def _as_one(self, atom: int, number: int, template: int) -> int:
        """An atom about one thread in terms of the template's instance `one`."""
        terms, one = self._terms, self._templates.all[template].one.number
        if number == one:
            return atom

        def named(variable: int) -> int | None:
            return self._templates.of_other_thread(variable, number, one)

        found = Substitution(terms, named)(atom)
        operands = terms.operands[found]
        if number in map(terms.value, operands) and len(operands) == 2:
            left, right = (
                terms.constant(one, terms.width[side]) if terms.value(side) == number else side
                for side in operands
            )
            return terms.eq(left, right)
        return found


class _Performance:
    """An interleaving as a path of the program: threads get the numbers that they have there, also
    those that do nothing."""

    def __init__(
        self,
        templates: Templates,
        terms: Terms,
        found: Interleaving,
        instances: Mapping[int, Instance],
    ) -> None:
        self._templates = templates
        self._terms = terms
        self._found = found
        self._instances = instances
        self._threads: list[Thread] = []
        self._numbers: dict[int, int] = {}  # of participants
        self.path: list[Occurrence] = []
        initial = next(who for who in found.participants() if who.template == 0)
        self._numbers[initial.number] = 1
        self._threads.append(self._standing(templates.all[0].one, 0))

    def take(self, item: Taken) -> None:
        instance = self._instances[item.who.number]
        transition = instance.transitions[item.transition]
        before = Location(tuple(self._threads), (), ())
        step = self._with_handed(transition, item.begun)
        for begun in transition.begins:
            self._threads.append(self._standing(self._templates.all[begun.template].one, 0))
            if item.begun is not None:
                self._numbers[item.begun.number] = len(self._threads)
        number = self._numbers[item.who.number]
        target = transition.target
        self._threads[number - 1] = ENDED if target is None else self._standing(instance, target)
        self._add(number, transition, step, before)

    def fail(self, who: Participant, transition: Transition) -> None:
        step = Step(transition.step.assumes, {}, transition.step.inputs)
        before = Location(tuple(self._threads), (), ())
        self._add(self._numbers[who.number], transition, step, before)

    def real(self, model: Model) -> Real:
        racing = None
        if self._found.racing is not None:
            both = self._found.main, self._found.racing[0]
            racing = self._numbers[both[0].number], self._numbers[both[1].number]
        behind = Location(tuple(self._threads), (), ())
        return Real(tuple(self.path), model, behind, racing)

    @staticmethod
    def _standing(instance: Instance, place: int) -> Thread:
        return instance.places[place].threads[instance.number - 1]

    def _with_handed(self, transition: Transition, begun: Participant | None) -> Step:
        """With the values that a thread which begins is handed."""
        step = transition.step
        if begun is None:
            return step
        updates = dict(step.updates)
        one = self._templates.all[begun.template].one.number
        born = self._instances[begun.number].number
        for variable, term in transition.begins[0].values.items():
            here = self._templates.of_other_thread(variable, one, born)
            updates[variable if here is None else here] = term
        return Step(step.assumes, updates, step.inputs)

    def _add(self, number: int, transition: Transition, step: Step, before: Location) -> None:
        """With inputs that no other step has."""
        terms, way = self._terms, transition.way
        variables = {*step.inputs, *(use.variable for use in way.inputs)}
        renamed = {item: terms.fresh("input", terms.width[item]) for item in sorted(variables)}
        own = Substitution(terms, renamed.get)
        step = Step(
            tuple(map(own, step.assumes)),
            {variable: own(term) for variable, term in step.updates.items()},
            frozenset(renamed.values()),
        )
        inputs = tuple(
            use._replace(
                variable=renamed[use.variable], when=None if use.when is None else own(use.when)
            )
            for use in way.inputs
        )
        behind = Location(tuple(self._threads), (), ())
        target = None if way.target is None else behind
        taken = replace(way, step=step, target=target, inputs=inputs)
        self.path.append(Occurrence(before, number, taken, step, inputs))


def _atoms(terms: Terms, formulas: Iterable[int]) -> Iterator[int]:
    """The comparisons, and other truth values, that truth values are made of."""
    pending = list(formulas)
    seen = set(pending)
    while pending:
        item = pending.pop()
        operands = terms.operands[item]
        if terms.operator[item] == CONSTANT:
            continue
        if operands and all(terms.width[part] == 1 for part in operands):
            new = [part for part in operands if part not in seen]
            seen.update(new)
            pending += new
        else:
            yield item
