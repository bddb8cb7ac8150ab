"""Predicate abstraction of one thread (the thesis, 5.5.2): minterms over the predicates of a place.

A predicate is about shared variables only, or about those of one template's thread, too. A minterm
says of each predicate of its place whether it holds: those about shared variables everywhere, the
thread's own where their variables matter. It is an integer with a bit for each predicate that does;
`shared` is the part of it that other threads can see.

What is known behind a step is enumerated with the solver: all minterms that there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from plait.engines.context.acfa.automata import Spawn
from plait.engines.context.fresh import OldNumbers
from plait.engines.context.giving_up import GaveUp
from plait.engines.context.templates import Beginning, Templates, Transition
from plait.engines.context.variables import Variables
from plait.engines.interface import OutOfTime
from plait.logic.operators import CONSTANT, EQ, NOT, VARIABLE
from plait.logic.solver import Solver
from plait.logic.substitute import Substitution
from plait.logic.terms import Terms

UNBORN = -1  # the place of a thread that has not begun
_MOST_MINTERMS = 400  # behind one step
_MOST_CONFLICTS = 20_000


class Predicates:
    """Those found so far: about shared variables, and for each template about its threads' own,
    too, in terms of its instance `one`."""

    def __init__(
        self,
        templates: Templates,
        variables: Variables,
        terms: Terms,
        initial_value: Callable[[int], int | None],
    ) -> None:
        self._templates = templates
        self._variables = variables
        self._terms = terms
        self.shared: dict[int, None] = {}
        self.own: list[dict[int, None]] = [{} for _ in templates.all]
        self.constants = self._find_constants(initial_value)

    def add(self, predicate: int, template: int) -> bool:
        """Whether a predicate in terms of a template's instance is one, and new; or what can be
        said in its place."""
        terms, variables = self._terms, self._variables
        if terms.operator[predicate] == NOT:
            [predicate] = terms.operands[predicate]
        vocabulary = variables.vocabulary(predicate)
        if vocabulary <= self.constants.keys():
            return False
        if not all(self._is_of(item, template) for item in vocabulary):
            return False
        if self._may_be_said(predicate, vocabulary, template):
            return self._add(predicate, vocabulary, template)
        found = False
        for item in sorted(vocabulary & variables.numbers):
            width = terms.width[item]
            for value in (0, self._templates.all[template].one.number):
                equal = terms.eq(item, terms.constant(value, width))
                found |= self._add(equal, frozenset((item,)), template)
        return found

    def _is_of(self, variable: int, template: int) -> bool:
        return self._variables.is_shared(variable) or self._templates.is_own(
            variable, self._templates.all[template]
        )

    def _find_constants(self, initial_value: Callable[[int], int | None]) -> dict[int, int]:
        """The values of shared variables that no thread writes."""
        variables = self._variables
        written: set[int] = set()
        read: set[int] = set()
        for template in self._templates.all:
            for item in template.one.transitions:
                written |= item.step.updates.keys()
                read |= variables.vocabulary.of(item.step.assumes)
                read |= variables.vocabulary.of(item.step.updates.values())
                for begun in item.begins:
                    written |= begun.values.keys()
        return {
            item: value
            for item in sorted(read - written)
            if variables.is_shared(item) and (value := initial_value(item)) is not None
        }

    def _add(self, predicate: int, vocabulary: frozenset[int], template: int) -> bool:
        own_number = self._templates.all[template].one.number
        names_itself = self._mentions(predicate, own_number)
        is_shared = not names_itself and all(map(self._variables.is_shared, vocabulary))
        known = self.shared if is_shared else self.own[template]
        if predicate in known:
            return False
        known[predicate] = None
        return True

    def __len__(self) -> int:
        return len(self.shared) + sum(map(len, self.own))

    def _mentions(self, predicate: int, number: int) -> bool:
        return number > 1 and any(
            self._terms.value(part) == number for part in self._terms.parts((predicate,))
        )

    def _may_be_said(self, predicate: int, vocabulary: frozenset[int], template: int) -> bool:
        """Of numbers of threads only whether they are the same: of others the rest need not be
        true. And nothing of addresses that another instance has somewhere else."""
        terms, variables, templates = self._terms, self._variables, self._templates
        mine = templates.all[template]
        values = {terms.value(part): terms.width[part] for part in terms.parts((predicate,))}
        numbers = variables.thread_numbers - {mine.one.number}
        for value, width in values.items():
            if value is None:
                continue
            if value in numbers and value > 1:
                return False
            if templates.is_address(value, width) and not templates.is_of_everybody(value):
                return False
        if vocabulary.isdisjoint(variables.numbers) and not self._mentions(
            predicate, mine.one.number
        ):
            return True
        if terms.operator[predicate] != EQ:
            return False
        return all(
            terms.operator[side] in (VARIABLE, CONSTANT) for side in terms.operands[predicate]
        )


class Abstraction:
    """What the predicates say before and behind steps. They do not change any more."""

    def __init__(
        self,
        predicates: Predicates,
        templates: Templates,
        variables: Variables,
        terms: Terms,
        old_numbers: OldNumbers,
        solver: Solver,
        deadline: float | None,
    ) -> None:
        self._templates = templates
        self._variables = variables
        self._terms = terms
        self._old_numbers = old_numbers
        self._solver = solver
        self._deadline = deadline
        self._shared = list(predicates.shared)
        self._own = [list(items) for items in predicates.own]
        self._all_shared = (1 << len(self._shared)) - 1
        # The shared variables that predicates are about; of others nothing is known anyway.
        everything = (*self._shared, *(item for items in self._own for item in items))
        self.tracked = frozenset(filter(variables.is_shared, variables.vocabulary.of(everything)))
        self._steps: dict[tuple[int, int], tuple[Transition, Substitution]] = {}
        self._places: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self._known: dict[object, object] = {}
        self.questions = 0

    def shared(self, minterm: int) -> int:
        return minterm & self._all_shared

    def at(self, template: int, place: int) -> list[tuple[int, int]]:
        """The predicates of a place, each with its bit."""
        found = self._places.get((template, place))
        if found is None:
            found = [(1 << number, item) for number, item in enumerate(self._shared)]
            if place != UNBORN:
                live = self._variables.live[template][place]
                for number, item in enumerate(self._own[template], len(self._shared)):
                    own = {
                        variable
                        for variable in self._variables.vocabulary(item)
                        if not self._variables.is_shared(variable)
                    }
                    if own <= live:
                        found.append((1 << number, item))
            self._places[template, place] = found
        return found

    def literals(self, template: int, place: int, minterm: int) -> list[int]:
        """A minterm as a conjunction."""
        return [
            item if minterm & bit else self._terms.not_(item)
            for bit, item in self.at(template, place)
        ]

    # --- where threads begin

    def initial(self, initial_value: Callable[[int], int | None], place: int) -> frozenset[int]:
        """At the beginning of an execution: of the initial thread, or before another begins."""
        predicates = self.at(0, place)
        assumed = []
        for variable in self._variables.vocabulary.of(item for _, item in predicates):
            value = initial_value(variable)
            if value is not None:
                assumed.append(self._equals(variable, value))
        return self._minterms(assumed, predicates)

    def newborn(self, template: int, spawn: Spawn, shared: int) -> frozenset[int]:
        """Of a new thread. Nothing that holds a number has held that of this one."""
        key = "newborn", template, spawn, shared
        found = self._known.get(key)
        if found is None:
            terms = self._terms
            myself = terms.constant(self._templates.all[template].one.number, 32)
            assumed = [terms.ne(item, myself) for item in sorted(self._old_numbers.shared)]
            assumed += [self._equals(variable, value) for variable, value in spawn.constants]
            assumed += self.literals(template, UNBORN, shared)
            found = self._known[key] = self._minterms(assumed, self.at(template, 0))
        assert isinstance(found, frozenset)
        return found

    def spawn(self, begun: Beginning) -> Spawn:
        constants = (
            (variable, value)
            for variable, term in begun.values.items()
            if not self._variables.is_shared(variable)
            and (value := self._terms.value(term)) is not None
        )
        return Spawn(begun.template, tuple(sorted(constants)))

    # --- steps

    def is_possible(self, template: int, index: int, minterm: int) -> bool:
        key = "possible", template, index, minterm
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._is_satisfiable(self._before(template, index, minterm))
        return bool(found)

    def behind(self, template: int, index: int, minterm: int) -> frozenset[int]:
        """The minterms behind a transition of a thread (`post`)."""
        key = "behind", template, index, minterm
        found = self._known.get(key)
        if found is None:
            transition, after = self._step(template, index)
            target = UNBORN if transition.target is None else transition.target
            goals = [(bit, after(item)) for bit, item in self.at(template, target)]
            found = self._minterms(self._before(template, index, minterm), goals)
            self._known[key] = found
        assert isinstance(found, frozenset)
        return found

    def written(self, template: int, index: int, minterm: int) -> frozenset[int]:
        """The shared variables that a transition may change (`Write`), of those that matter."""
        key = "written", template, index, minterm
        found = self._known.get(key)
        if found is None:
            transition, _ = self._step(template, index)
            before = self._before(template, index, minterm)
            found = frozenset(
                variable
                for variable, term in transition.step.updates.items()
                if variable in self.tracked
                and self._is_satisfiable([*before, self._terms.ne(variable, term)])
            )
            self._known[key] = found
        assert isinstance(found, frozenset)
        return found

    def havocked(
        self, template: int, place: int, minterm: int, variables: frozenset[int]
    ) -> frozenset[int]:
        """The minterms of the states that differ only in some variables (`Hvc`)."""
        if not variables:
            return frozenset((minterm,))
        kept, goals = [], []
        for bit, item in self.at(template, place):
            if variables.isdisjoint(self._variables.vocabulary(item)):
                kept.append((bit, item))
            else:
                goals.append((bit, item))
        same = sum(bit for bit, _ in kept) & minterm
        key = "havocked", template, place, same, variables
        found = self._known.get(key)
        if found is None:
            literals = [item if bit & same else self._terms.not_(item) for bit, item in kept]
            minterms = self._minterms(literals, goals)
            found = self._known[key] = frozenset(same | item for item in minterms)
        assert isinstance(found, frozenset)
        return found

    def may_hold(self, template: int, place: int, minterm: int, conditions: Iterable[int]) -> bool:
        conditions = tuple(conditions)
        key = "holds", template, place, minterm, conditions
        found = self._known.get(key)
        if found is None:
            literals = self.literals(template, place, minterm)
            found = self._known[key] = self._is_satisfiable([*literals, *conditions])
        return bool(found)

    def _step(self, template: int, index: int) -> tuple[Transition, Substitution]:
        found = self._steps.get((template, index))
        if found is None:
            transition = self._templates.all[template].one.transitions[index]
            after = Substitution(self._terms, transition.step.updates.get)
            found = self._steps[template, index] = transition, after
        return found

    def _before(self, template: int, index: int, minterm: int) -> list[int]:
        transition, _ = self._step(template, index)
        return [*self.literals(template, transition.source, minterm), *transition.step.assumes]

    def _equals(self, variable: int, value: int) -> int:
        return self._terms.eq(variable, self._terms.constant(value, self._terms.width[variable]))

    # --- the solver

    def _minterms(self, assumed: Sequence[int], goals: Sequence[tuple[int, int]]) -> frozenset[int]:
        """All combinations of the goals that are possible."""
        terms = self._terms
        known = set(assumed)
        same, open_ = 0, []
        for bit, goal in goals:
            if goal == terms.true or goal in known:
                same |= bit
            elif goal != terms.false and terms.not_(goal) not in known:
                open_.append((bit, goal))
        found: set[int] = set()
        others: list[int] = []
        while self._is_satisfiable([*assumed, *others]):
            holding = [bool(self._solver.model_value(goal)) for _, goal in open_]
            pairs = list(zip(open_, holding, strict=True))
            found.add(same | sum(bit for (bit, _), holds in pairs if holds))
            if not open_:
                break
            if len(found) > _MOST_MINTERMS:
                raise GaveUp("too many combinations of predicates are possible")
            others.append(
                terms.any_of(terms.not_(goal) if holds else goal for (_, goal), holds in pairs)
            )
        return frozenset(found)

    def _is_satisfiable(self, conjuncts: Iterable[int]) -> bool:
        items = set(conjuncts) - {self._terms.true}
        if self._terms.false in items:
            return False
        self.questions += 1
        literals = [self._solver.literal_of(item) for item in items]
        answer = self._solver.solve(literals, conflicts=_MOST_CONFLICTS, deadline=self._deadline)
        if answer is None:
            OutOfTime.check(self._deadline)
            raise GaveUp("it takes too long to find out what is known behind a step")
        return answer
