"""The strongest conjunctions of candidates that are closed under all that threads do.

For each template and place a set of candidates, or nothing as long as no thread can be there. From
below: what a step leads to is added to what is possible at its target, by dropping the candidates
that do not hold behind it, until nothing changes. Then, in every execution with any number of
instances, by induction on its length, each thread satisfies the candidates of its place:

- the initial thread does at first;
- a thread that takes a step does so behind it (`_own`), and so does one that begins (`_beginning`);
- if another thread takes a step, what is shared changes as that step says, from a state that
  satisfies the candidates of both (`_disturbance`). Nobody takes a step while a thread is inside an
  atomic section, and nobody else is there before the first spawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from plait.data import dataclass
from plait.engines.context.counters import Counters
from plait.engines.context.fresh import OldNumbers
from plait.engines.context.templates import (
    Beginning,
    Instance,
    Template,
    Templates,
    Transition,
)
from plait.engines.context.variables import Variables
from plait.engines.interface import OutOfTime
from plait.logic.interpolation.path import Step
from plait.logic.operators import EQ, NOT, VARIABLE
from plait.logic.solver import Solver
from plait.logic.substitute import Substitution
from plait.logic.terms import Terms

Place = tuple[int, int]  # a template and a place of it
Universe = dict[Place, set[int]]  # the candidates at each place
Facts = dict[Place, set[int]]
Post = Callable[[int], int | None]  # a candidate behind a step; None if that says nothing of it

_MOST_CONFLICTS = 20_000


@dataclass(slots=True, eq=False)
class Obligation:
    """`sources` are the places whose candidates hold before the step, with the instances that are
    there."""

    sources: tuple[tuple[Place, Instance], ...]
    step: Step
    target: Place
    post: Post
    seen: tuple[int, ...] = ()  # the versions of the sources' candidates when it was met last


class Invariants:
    def __init__(
        self,
        templates: Templates,
        variables: Variables,
        terms: Terms,
        initial_value: Callable[[int], int | None],
        deadline: float | None,
        counters: Counters | None = None,
        facts: Facts | None = None,
    ) -> None:
        """`facts` were proved when there were fewer ghosts."""
        self.counters = counters
        self._templates = templates
        self._variables = variables
        self._terms = terms
        self._initial_value = initial_value
        self.deadline = deadline
        self._solver = Solver(terms)
        self._assumed: dict[
            tuple[tuple[Place, int], ...],
            tuple[dict[int, set[tuple[Place, int]]], dict[int, set[tuple[Place, int]]]],
        ] = {}
        self.old_numbers = OldNumbers(templates, variables, terms, initial_value)
        self.questions = 0  # to the solver
        # What is proved, and what is still possible; None where no thread can be.
        self.facts: Facts = facts or {
            (number, place): set()
            for number, template in enumerate(templates.all)
            for place in range(len(template.one.places))
        }
        self.candidates: dict[Place, set[int] | None] = {}
        self._universe: Universe = {}
        self._version: dict[Place, int] = {}
        self.obligations = [*self._own(), *self._beginnings(), *self._disturbances()]

    # --- the search

    def extend(self, universe: Universe) -> None:
        """Find out which of the candidates hold, and add them to the facts."""
        self._universe = {place: items - self.facts[place] for place, items in universe.items()}
        self.candidates = dict.fromkeys(self.facts)
        self._version = dict.fromkeys(self.facts, 0)
        self.candidates[0, 0] = {
            item for item in self._universe[0, 0] if self._holds_initially(item)
        }
        for obligation in self.obligations:
            obligation.seen = ()
        changed = True
        while changed:
            changed = False
            for obligation in self.obligations:
                OutOfTime.check(self.deadline)
                changed |= self._meet(obligation)
        for place, found in self.candidates.items():
            if found is not None:
                self.facts[place] |= found

    def is_reached(self, place: Place) -> bool:
        return self.candidates[place] is not None

    def may_be_taken(self, place: Place, transition: Transition) -> bool:
        """Whether the facts allow that a transition is taken."""
        template = self._templates.all[place[0]]
        assumed = [*self._known(place, template.one), *transition.step.assumes]
        assumed += self._counted(place)
        return self._solve(assumed) is not False

    def may_be_together(
        self,
        first: tuple[Place, Instance],
        second: tuple[Place, Instance],
        conditions: tuple[int, ...],
    ) -> bool:
        """Whether the facts allow that two threads are at two places, under some conditions."""
        assumed = [*self._known(*first), *self._known(*second), *conditions]
        assumed += self._counted(first[0], second[0])
        return self._solve(assumed) is not False

    def _meet(self, obligation: Obligation) -> bool:
        """Drop what does not hold behind the obligation's step; whether that was anything."""
        if any(self.candidates[place] is None for place, _ in obligation.sources):
            return False
        target = obligation.target
        # What is dropped below may be at a source, too: then it must be met again without that.
        seen = tuple(self._version[place] for place, _ in obligation.sources)
        if seen == obligation.seen:
            return False
        obligation.seen = seen
        before = {
            term for place, instance in obligation.sources for term in self._known(place, instance)
        }
        before.update(obligation.step.assumes)
        before.update(self._counted(*(place for place, _ in obligation.sources)))
        version = self._version[target]
        while True:
            posts = self._open_posts(obligation, before)
            if posts is not None and not posts:
                break
            assumed = [*before]
            if posts is not None:
                terms = self._terms
                assumed.append(terms.any_of(terms.not_(post) for post in posts.values()))
            answer = self._solve(assumed)
            if answer is False:
                break
            self._version[target] += 1
            if answer is None:
                if self._drop_orders(target, posts or {}):
                    continue
                self._drop_all(obligation, before)
                break
            self._drop(obligation)
        return self._version[target] != version

    def _open_posts(self, obligation: Obligation, before: set[int]) -> dict[int, int] | None:
        """The candidates at the target that may not hold; None if nobody was there yet."""
        found = self.candidates[obligation.target]
        if found is None:
            return None
        posts: dict[int, int] = {}
        for item in list(found):
            post = obligation.post(item)
            if post is None:
                found.discard(item)
                self._version[obligation.target] += 1
            elif post != self._terms.true and post not in before:
                posts[item] = post
        return posts

    def _drop(self, obligation: Obligation) -> None:
        """What is false in the model behind the step."""
        solver, target = self._solver, obligation.target
        found = self.candidates[target]
        considered = self._universe[target] if found is None else found
        kept = set()
        for item in considered:
            post = obligation.post(item)
            if post is not None and solver.model_value(post):
                kept.add(item)
        self.candidates[target] = kept

    def _drop_orders(self, target: Place, posts: dict[int, int]) -> bool:
        """Too hard: which of two values is larger is not claimed. Whether that was anything."""
        found = self.candidates[target] or set()
        orders = {item for item in posts if not self._is_equality(item)}
        found -= orders
        return bool(orders)

    def _is_equality(self, item: int) -> bool:
        terms = self._terms
        if terms.operator[item] == NOT:
            [item] = terms.operands[item]
        return terms.operator[item] in (EQ, VARIABLE)

    def _drop_all(self, obligation: Obligation, before: set[int]) -> None:
        """Too hard: nothing is claimed but what is known without a question."""
        found = self.candidates[obligation.target] or set()
        self.candidates[obligation.target] = {
            item for item in found if obligation.post(item) in before | {self._terms.true}
        }

    def _known(self, place: Place, instance: Instance) -> list[int]:
        template = self._templates.all[place[0]]
        instantiate = self._variables.of(instance, template)
        items = self.facts[place] | (self.candidates[place] or set())
        return [instantiate(item) for item in items]

    # --- what a conclusion needs

    @property
    def myself(self) -> int:
        return self._variables.myself

    def live(self, place: Place) -> set[int]:
        """The variables of the thread itself that matter at a place."""
        return self._variables.live[place[0]][place[1]]

    def core(
        self, places: Iterable[tuple[Place, Instance]], conditions: Iterable[int]
    ) -> set[tuple[Place, int]] | None:
        """Facts of some places, at which different threads are, that suffice for conditions not to
        hold together; None if the solver does not find out. No more facts come behind this."""
        places = tuple(places)
        key = tuple((place, instance.number) for place, instance in places)
        known = self._assumed.get(key)
        if known is None:
            known = self._assumed[key] = self._assumptions(places)
        named, literals = known
        assumed = {*conditions}
        for term in assumed:
            negated = self._terms.not_(term)
            if negated in named:
                return named[negated]
        if self._terms.false in assumed:
            return set()
        self.questions += 1
        new = {self._solver.literal_of(item) for item in assumed}
        question = [*literals, *(new - literals.keys())]
        answer = self._solver.solve(question, conflicts=_MOST_CONFLICTS, deadline=self.deadline)
        if answer is not False:
            return None
        found: set[tuple[Place, int]] = set()
        for literal in self._solver.core():
            if literal not in new:
                found |= literals[literal]
        return found

    def _assumptions(
        self, places: tuple[tuple[Place, Instance], ...]
    ) -> tuple[dict[int, set[tuple[Place, int]]], dict[int, set[tuple[Place, int]]]]:
        """The facts that each term says, and each literal."""
        named: dict[int, set[tuple[Place, int]]] = {}
        for place, instance in places:
            template = self._templates.all[place[0]]
            instantiate = self._variables.of(instance, template)
            for item in self.facts[place]:
                named.setdefault(instantiate(item), set()).add((place, item))
        counted = self._counted(*(place for place, _ in places))
        literals: dict[int, set[tuple[Place, int]]] = {}
        for term in (*named, *counted):
            literals.setdefault(self._solver.literal_of(term), named.get(term, set()))
        for term in counted:
            literals[self._solver.literal_of(term)] = set()
        return named, literals

    def _counted(self, *places: Place) -> list[int]:
        return [] if self.counters is None else self.counters.known(places)

    def _solve(self, assumed: Iterable[int]) -> bool | None:
        self.questions += 1
        terms = set(assumed)
        if self._terms.false in terms:
            return False
        literals = [self._solver.literal_of(item) for item in terms]
        answer = self._solver.solve(literals, conflicts=_MOST_CONFLICTS, deadline=self.deadline)
        if answer is None:
            OutOfTime.check(self.deadline)
        return answer

    def _holds_initially(self, item: int) -> bool:
        for variable in self._variables.vocabulary(item):
            if self._initial_value(variable) is None:
                return False
        return bool(
            self._terms.evaluate(item, lambda variable: self._initial_value(variable) or 0, {})
        )

    # --- the obligations

    def _own(self) -> list[Obligation]:
        found = []
        for number, template in enumerate(self._templates.all):
            instantiate = self._variables.of(template.one, template)
            for item in template.one.transitions:
                if item.target is not None:
                    found.append(
                        Obligation(
                            (((number, item.source), template.one),),
                            item.step,
                            (number, item.target),
                            _after(self._terms, item.step.updates, instantiate),
                        )
                    )
        return found

    def _beginnings(self) -> list[Obligation]:
        found = []
        for number, template in enumerate(self._templates.all):
            for item in template.one.transitions:
                for begun in item.begins:
                    child = self._templates.all[begun.template]
                    # A thread is never the one that it starts.
                    born = child.one if child is not template else child.other
                    assert born is not None
                    found.append(
                        Obligation(
                            (((number, item.source), template.one),),
                            self._with_new_number(item.step, born),
                            (begun.template, begun.place),
                            self._at_beginning(item, begun, child, born),
                        )
                    )
        return found

    def _with_new_number(self, step: Step, born: Instance) -> Step:
        """A step that starts a thread: nothing that holds a number has held that one."""
        terms = self._terms
        new = terms.constant(born.number, 32)
        unequal = [terms.ne(item, new) for item in sorted(self.old_numbers.shared)]
        return Step((*step.assumes, *unequal), step.updates, step.inputs)

    def _at_beginning(
        self, item: Transition, begun: Beginning, child: Template, born: Instance
    ) -> Post:
        instantiate = self._variables.of(born, child)
        values = dict(item.step.updates)
        for variable, term in begun.values.items():
            here = self._templates.of_other_thread(variable, child.one.number, born.number)
            values[variable if here is None else here] = term
        substitution = Substitution(self._terms, values.get)

        def post(candidate: int) -> int | None:
            there = instantiate(candidate)
            for variable in self._variables.vocabulary(there):
                if variable not in values and not self._variables.is_shared(variable):
                    return None
            return substitution(there)

        return post

    def _disturbances(self) -> list[Obligation]:
        found = []
        for number, template in enumerate(self._templates.all):
            instantiate = self._variables.of(template.one, template)
            for source, other in enumerate(self._templates.all):
                if source == number:
                    if other.other is None:
                        continue
                    instance = other.other
                else:
                    instance = other.one
                for item in instance.transitions:
                    changes = {
                        variable: term
                        for variable, term in item.step.updates.items()
                        if self._variables.is_shared(variable)
                    }
                    if not changes or not self._may_disturb(instance, item):
                        continue
                    post = _after(self._terms, changes, instantiate)
                    for place, is_open in enumerate(template.one.is_open):
                        if is_open:
                            found.append(
                                Obligation(
                                    (
                                        ((number, place), template.one),
                                        ((source, item.source), instance),
                                    ),
                                    item.step,
                                    (number, place),
                                    post,
                                )
                            )
        return found

    def _may_disturb(self, instance: Instance, item: Transition) -> bool:
        """Before the first spawn nobody else is there."""
        return not self._templates.is_alone(instance, item.source)


def _after(terms: Terms, updates: Mapping[int, int], instantiate: Substitution) -> Post:
    substitution = Substitution(terms, updates.get)
    return lambda item: substitution(instantiate(item))
