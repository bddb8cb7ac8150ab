"""`Refine` (the thesis, 5.5.4): what an abstract error trace comes to.

First the context's moves get threads, with exact numbers of them. If one is to leave a location at
which nobody is, the counters are too coarse. Then each thread's moves get transitions, from the
reachability graph that its abstract thread is the quotient of, and the interleaving a formula: it
is possible, or interpolants say why not, and their atoms are predicates.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from plait.data import dataclass, field
from plait.engines.context.acfa.automata import Move
from plait.engines.context.acfa.predicates import Predicates
from plait.engines.context.acfa.reach import ContextStep, Graph, Trace
from plait.engines.context.giving_up import GaveUp
from plait.engines.context.templates import Instance, SharedAccess, Templates, Transition
from plait.engines.context.variables import Variables
from plait.engines.interface import OutOfTime
from plait.logic.interpolation.interpolate import Feasible, Interpolants, Interpolator
from plait.logic.interpolation.model import Model
from plait.logic.interpolation.path import Step
from plait.logic.operators import AND, CONSTANT, ITE, NOT, OR, XOR
from plait.logic.substitute import Substitution
from plait.logic.terms import Terms

_CONNECTIVES = frozenset((NOT, AND, OR, XOR, ITE))


@dataclass(slots=True, frozen=True)
class MoreCounted:
    """The counters are too coarse."""


@dataclass(slots=True, frozen=True)
class MorePredicates:
    found: int


@dataclass(slots=True, frozen=True, eq=False)
class Real:
    """The error can happen: who takes which transition, with the state at first and all inputs."""

    steps: tuple[Taken, ...]
    model: Model
    transition: Transition | None  # the violation, or none for a race


@dataclass(slots=True, frozen=True)
class Unclear:
    reason: str


Refinement = MoreCounted | MorePredicates | Real | Unclear


@dataclass(slots=True, eq=False)
class Participant:
    """A thread of an interleaving: `moves` are those of its abstract thread, with when they are
    made; none of the thread that the trace is of, whose transitions are known."""

    template: int
    number: int  # in the order in which they begin
    location: int = -1  # of its abstract thread
    start: int = -1
    moves: list[tuple[int, Move]] = field(default_factory=list)


@dataclass(slots=True, frozen=True, eq=False)
class Taken:
    """A participant takes a transition; `begun` is the participant that this starts."""

    who: Participant
    transition: int
    begun: Participant | None = None


class Refine:
    """`graphs` are those that the abstract threads of the context are the quotients of, and
    `classes` say of their locations what they have become."""

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
        self._instances: dict[int, Instance] = {}  # of the participants, by their numbers
        self._further: dict[tuple[int, int], Instance] = {}

    def __call__(
        self, trace: Trace, graphs: Sequence[Graph | None], classes: Sequence[list[int]]
    ) -> Refinement:
        scheduled = self._participants(trace)
        if scheduled is None:
            return MoreCounted()
        main, others, begun = scheduled
        runs: dict[int, dict[int, list[int]]] = {}  # transitions of participants at each time
        for item in others:
            graph = graphs[item.template]
            assert graph is not None
            run = _concrete(graph, classes[item.template], item)
            if run is None:
                return Unclear("what the context does is not what threads do")
            runs[item.number] = run
        taken = list(_interleaved(trace, main, others, begun, runs))
        racing = None
        if trace.racing is not None:
            racing = self._standing(trace, others, taken)
        return self._analysed(trace, main, taken, racing)

    # --- computing an interleaving

    def _participants(
        self, trace: Trace
    ) -> tuple[Participant, list[Participant], dict[int, Participant]] | None:
        """Who makes the moves of a trace, and who begins at which time; None if there is nobody to
        make one of them."""
        context = trace.context
        main = Participant(trace.template, 1 if trace.start is None else 0)
        others: list[Participant] = []
        begun: dict[int, Participant] = {}
        count = 1

        def begin(at: int) -> Participant:
            template, location = _split(context.number, context.locations[at][0], at, trace)
            found = Participant(template, count, location, location)
            others.append(found)
            return found

        if trace.start is not None:
            begin(trace.start)
        for time, operation in enumerate(trace.operations):
            if isinstance(operation, ContextStep):
                template = context.locations[operation.location][0]
                source = operation.move.source
                mover = next(
                    (x for x in others if (x.template, x.location) == (template, source)), None
                )
                if mover is None:
                    return None
                mover.moves.append((time, operation.move))
                mover.location = operation.move.target
                if operation.is_birth:
                    count += 1
                    main.number = count
                    begun[time] = main
            if operation.begins_at is not None:
                count += 1
                begun[time] = begin(operation.begins_at)
        if trace.racing is not None:
            template, location = _split(
                context.number, context.locations[trace.racing][0], trace.racing, trace
            )
            if not any((x.template, x.location) == (template, location) for x in others):
                return None
        return main, others, begun

    def _standing(
        self, trace: Trace, others: list[Participant], taken: list[Taken]
    ) -> tuple[Participant, int]:
        """Who stands before the access that there is a race with, and at which place."""
        assert trace.racing is not None
        context = trace.context
        template, location = _split(
            context.number, context.locations[trace.racing][0], trace.racing, trace
        )
        who = next(x for x in others if (x.template, x.location) == (template, location))
        place = 0
        for item in taken:
            if item.who is who:
                target = self._templates.all[template].one.transitions[item.transition].target
                assert target is not None
                place = target
        return who, place

    # --- analysing it

    def _analysed(
        self,
        trace: Trace,
        main: Participant,
        taken: list[Taken],
        racing: tuple[Participant, int] | None,
    ) -> Refinement:
        self._assign_instances(main, taken, racing)
        steps = [self._fresh_inputs(self._step(item)) for item in taken]
        instance = self._instance(main)
        last: Transition | None = None
        if trace.violation is not None:
            last = instance.transitions[trace.violation]
            steps.append(self._fresh_inputs(Step(last.step.assumes, {}, last.step.inputs)))
        elif racing is not None:
            there = self._instance(racing[0]).accesses[racing[1]]
            condition = self._same_bytes(instance.accesses[trace.place], there)
            steps.append(Step((condition,), {}))
        found = self._interpolator.interpolate(
            [self._initial_step(steps), *steps], self._deadline
        )
        OutOfTime.check(self._deadline)
        if isinstance(found, Feasible):
            return Real(tuple(taken), found.model, last)
        roles = self._roles(main, taken, racing)
        new = 0
        if isinstance(found, Interpolants):
            new = self._learned((x for row in found.sequence for x in row), roles)
        if not new:
            new = self._learned((x for step in steps for x in step.assumes), roles)
        if new:
            return MorePredicates(new)
        return Unclear("no predicate about one thread says why an interleaving is impossible")

    def _assign_instances(
        self, main: Participant, taken: list[Taken], racing: tuple[Participant, int] | None
    ) -> None:
        """The thread that the trace is of is the one that facts are about."""
        self._instances = {}
        used: dict[int, int] = {}
        everybody = [main, *(item.who for item in taken)]
        everybody += [item.begun for item in taken if item.begun is not None]
        if racing is not None:
            everybody.append(racing[0])
        for who in everybody:
            if who.number in self._instances:
                continue
            position = used.get(who.template, 0)
            used[who.template] = position + 1
            self._instances[who.number] = self._known_instance(who.template, position)

    def _known_instance(self, template: int, position: int) -> Instance:
        item = self._templates.all[template]
        if position == 0:
            return item.one
        if position == 1 and item.other is not None:
            return item.other
        if item.other is None:
            raise GaveUp("there are two of a thread of which there is one")
        found = self._further.get((template, position))
        if found is None:
            found = self._templates.further_instance(template)
            self._further[template, position] = found
        return found

    def _instance(self, who: Participant) -> Instance:
        return self._instances[who.number]

    def _step(self, item: Taken) -> Step:
        """With the values that a thread which begins is handed."""
        transition = self._instance(item.who).transitions[item.transition]
        if item.begun is None or not transition.begins:
            return transition.step
        updates = dict(transition.step.updates)
        one = self._templates.all[item.begun.template].one.number
        born = self._instance(item.begun).number
        for variable, term in transition.begins[0].values.items():
            here = self._templates.of_other_thread(variable, one, born)
            updates[variable if here is None else here] = term
        return Step(transition.step.assumes, updates, transition.step.inputs)

    def _fresh_inputs(self, step: Step) -> Step:
        if not step.inputs:
            return step
        terms = self._terms
        renamed = {item: terms.fresh("input", terms.width[item]) for item in step.inputs}
        own = Substitution(terms, renamed.get)
        return Step(
            tuple(map(own, step.assumes)),
            {variable: own(term) for variable, term in step.updates.items()},
            frozenset(renamed.values()),
        )

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

    def _same_bytes(
        self, mine: Iterable[SharedAccess], theirs: Iterable[SharedAccess]
    ) -> int:
        terms, theirs = self._terms, tuple(theirs)
        return terms.any_of(
            terms.all_of(x.when for x in (one, other) if x.when is not None)
            for one in mine
            for other in theirs
            if one.races_with(other)
        )

    # --- predicates

    def _roles(
        self, main: Participant, taken: list[Taken], racing: tuple[Participant, int] | None
    ) -> Mapping[int, int]:
        """The templates of the participants, by the numbers of their instances."""
        everybody = [main, *(item.who for item in taken)]
        everybody += [item.begun for item in taken if item.begun is not None]
        if racing is not None:
            everybody.append(racing[0])
        return {self._instance(who).number: who.template for who in everybody}

    def _learned(self, formulas: Iterable[int], roles: Mapping[int, int]) -> int:
        """How many atoms are new predicates."""
        new = 0
        for atom in _atoms(self._terms, formulas):
            for number, template in roles.items():
                own = self._as_one(atom, number, template)
                if own is not None and self._predicates.add(own, template):
                    new += 1
                    break
        return new

    def _as_one(self, atom: int, number: int, template: int) -> int | None:
        """An atom about one thread in terms of the template's instance `one`."""
        terms, one = self._terms, self._templates.all[template].one.number
        if number == one:
            return atom

        def named(variable: int) -> int | None:
            return self._templates.of_other_thread(variable, number, one)

        if self._variables.vocabulary(atom) and not any(
            terms.value(part) == number for part in terms.parts((atom,))
        ):
            return Substitution(terms, named)(atom)
        renamed = _with_constant(terms, Substitution(terms, named)(atom), number, one)
        return renamed


def _with_constant(terms: Terms, term: int, old: int, new: int) -> int | None:
    """A comparison with another number in place of one."""
    operands = terms.operands[term]
    if len(operands) != 2:
        return None
    sides = [
        terms.constant(new, terms.width[side]) if terms.value(side) == old else side
        for side in operands
    ]
    return terms.eq(*sides) if sides != list(operands) else None


def _atoms(terms: Terms, formulas: Iterable[int]) -> Iterator[int]:
    """The comparisons that truth values are made of."""
    pending = list(formulas)
    seen = set(pending)
    while pending:
        item = pending.pop()
        operator, operands = terms.operator[item], terms.operands[item]
        if operator == CONSTANT:
            continue
        is_made_of_truths = all(terms.width[part] == 1 for part in operands)
        if operands and is_made_of_truths and (operator in _CONNECTIVES or len(operands) == 2):
            for part in operands:
                if part not in seen:
                    seen.add(part)
                    pending.append(part)
        else:
            yield item


def _split(
    number: Callable[[int, int], int], template: int, at: int, trace: Trace
) -> tuple[int, int]:
    """The template and the location of its abstract thread of a location of the context."""
    count = len(trace.context.abstract_threads[template].locations)
    return template, next(item for item in range(count) if number(template, item) == at)


def _concrete(
    graph: Graph, class_of: list[int], who: Participant
) -> dict[int, list[int]] | None:
    """Transitions for the moves of an abstract thread, by their times; silent ones in between are
    taken just before the next. A shortest such path through the graph."""
    moves_from = graph.thread.moves_from()
    start = [
        (0, number)
        for number in sorted(graph.thread.starts)
        if class_of[number] == who.start
    ]
    before: dict[tuple[int, int], tuple[tuple[int, int], Move] | None] = dict.fromkeys(start)
    pending = deque(start)
    while pending:
        node = pending.popleft()
        done, location = node
        if done == len(who.moves) and class_of[location] == who.location:
            return _path(graph, before, node, who)
        for move in moves_from[location]:
            following = []
            if graph.thread.is_silent(move):
                following.append((done, move.target))
            if done < len(who.moves):
                wanted = who.moves[done][1]
                if (class_of[location], move.effect, class_of[move.target]) == (
                    wanted.source,
                    wanted.effect,
                    wanted.target,
                ):
                    following.append((done + 1, move.target))
            for item in following:
                if item not in before:
                    before[item] = node, move
                    pending.append(item)
    return None


def _path(
    graph: Graph,
    before: Mapping[tuple[int, int], tuple[tuple[int, int], Move] | None],
    node: tuple[int, int],
    who: Participant,
) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    while (step := before[node]) is not None:
        earlier, move = step
        # Silent transitions behind the last move are taken at the end.
        time = who.moves[earlier[0]][0] if earlier[0] < len(who.moves) else -1
        found.setdefault(time, []).insert(0, min(graph.transitions[move]))
        node = earlier
    return found


def _interleaved(
    trace: Trace,
    main: Participant,
    others: Sequence[Participant],
    begun: Mapping[int, Participant],
    runs: Mapping[int, Mapping[int, list[int]]],
) -> Iterator[Taken]:
    for time, operation in enumerate(trace.operations):
        if not isinstance(operation, ContextStep):
            yield Taken(main, operation.transition, begun.get(time))
            continue
        for who in others:
            transitions = runs[who.number].get(time, [])
            for index in transitions[:-1]:
                yield Taken(who, index)
            for index in transitions[-1:]:
                yield Taken(who, index, begun.get(time))
    for who in others:
        for index in runs[who.number].get(-1, []):
            yield Taken(who, index)
