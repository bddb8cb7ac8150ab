"""CIRC (the thesis, Algorithm 9): contexts are guessed, found to be too strong, and made weaker,
until they can do all that threads do; predicates and counters are refined on the way.

The thesis has one kind of thread. Here each template has an abstract thread, and is looked at in
the context of all of them (Theorem 9); threads begin when they are started, and not all at first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from plait.data import dataclass, field
from plait.engines.context.acfa.automata import AbstractThread, collapse, simulates
from plait.engines.context.acfa.contexts import Context
from plait.engines.context.acfa.predicates import UNBORN, Abstraction, Predicates
from plait.engines.context.acfa.reach import Graph, Order, Reachability, Reached, Trace
from plait.engines.context.acfa.refine import (
    MoreCounted,
    MorePredicates,
    Real,
    Refine,
    Unclear,
)
from plait.engines.context.fresh import OldNumbers
from plait.engines.context.giving_up import GaveUp
from plait.engines.context.templates import Templates
from plait.engines.context.variables import Variables
from plait.engines.interface import OutOfTime
from plait.logic.solver import Solver
from plait.logic.terms import Terms

_MOST_ROUNDS = 60
_MOST_REFINEMENTS = 60
_MOST_COUNTED = 4


@dataclass(slots=True, eq=False)
class Contexts:
    """A round: the abstract threads that are assumed, and the reachability graphs that they are the
    quotients of. In the round that is the last one, they do all that threads do beside them."""

    abstract_threads: list[AbstractThread]
    graphs: list[Graph | None]
    classes: list[list[int]]


@dataclass(slots=True, eq=False)
class Safe:
    """`graphs` say where the threads of each template can be, with which minterms, beside the
    `contexts`; `constants` are variables that nobody writes."""

    contexts: Contexts
    graphs: list[Graph]
    abstraction: Abstraction
    constants: Mapping[int, int]

    def minterms(self, template: int) -> dict[int, set[int]]:
        """Those that are possible at each place of a template's threads."""
        return self.graphs[template].minterms


@dataclass(slots=True, eq=False)
class Iteration:
    """One of the outer loop, for those who want to see how it goes: the predicates and what is
    counted, and either an abstract error trace with what came of it, or the contexts."""

    predicates: tuple[int, ...]
    most: int
    rounds: list[Contexts] = field(default_factory=list)
    trace: Trace | None = None
    refinement: MoreCounted | MorePredicates | Real | Unclear | None = None


class Circ:
    def __init__(
        self,
        templates: Templates,
        variables: Variables,
        terms: Terms,
        initial_value: Callable[[int], int | None],
        deadline: float | None,
        *,
        are_racing: bool,
        progress: Callable[[Circ], None] = lambda circ: None,
    ) -> None:
        self._templates = templates
        self.variables = variables
        self._terms = terms
        self._initial_value = initial_value
        self._deadline = deadline
        self._are_racing = are_racing
        self._progress = progress
        self._old_numbers = OldNumbers(templates, variables, terms, initial_value)
        self._solver = Solver(terms)
        self.predicates = Predicates(templates, variables, terms, initial_value)
        for variable, value in self.predicates.constants.items():
            constant = terms.constant(value, terms.width[variable])
            self._solver.assert_term(terms.eq(variable, constant))
        self._refine = Refine(templates, variables, terms, self.predicates, initial_value, deadline)
        self.iterations: list[Iteration] = []
        self.states = 0
        self.questions = 0

    def run(self) -> Safe | Real | Unclear:
        """`Safe` is only said of contexts that simulate all threads in these contexts."""
        if self._are_racing:
            self._check_sections()
        most = 0
        for _ in range(_MOST_REFINEMENTS):
            said = (*self.predicates.shared, *(x for row in self.predicates.own for x in row))
            iteration = Iteration(said, most)
            self.iterations.append(iteration)
            abstraction = Abstraction(
                self.predicates,
                self._templates,
                self.variables,
                self._terms,
                self._old_numbers,
                self._solver,
                self._deadline,
            )
            try:
                return self._inferred(abstraction, most, iteration)
            except Reached as reached:
                iteration.trace = reached.trace
                last = iteration.rounds[-1]
                found = self._refine(reached.trace, last.graphs, last.classes)
            finally:
                self.questions += abstraction.questions
            iteration.refinement = found
            self._progress(self)
            if isinstance(found, (Real, Unclear)):
                return found
            if isinstance(found, MoreCounted):
                most += 1
                if most > _MOST_COUNTED:
                    return Unclear(f"counting up to {_MOST_COUNTED} threads is too coarse")
        return Unclear("predicates are found without end")

    def _inferred(self, abstraction: Abstraction, most: int, iteration: Iteration) -> Safe:
        """The inner loop: weaker and weaker contexts, from those that do nothing."""
        count = len(self._templates.all)
        now = Contexts([AbstractThread() for _ in range(count)], [None] * count, [[]] * count)
        for _ in range(_MOST_ROUNDS):
            iteration.rounds.append(now)
            graphs = []
            following = Contexts(list(now.abstract_threads), list(now.graphs), list(now.classes))
            is_guaranteed = True
            for template in range(count):
                OutOfTime.check(self._deadline)
                graph = self._reachable(template, abstraction, most, now)
                graphs.append(graph)
                if not simulates(now.abstract_threads[template], graph.thread):
                    is_guaranteed = False
                    quotient, class_of = collapse(graph.thread)
                    following.abstract_threads[template] = quotient
                    following.graphs[template] = graph
                    following.classes[template] = class_of
            if is_guaranteed:
                return Safe(now, graphs, abstraction, self.predicates.constants)
            now = following
        raise GaveUp("contexts become weaker without end")

    def _reachable(
        self, template: int, abstraction: Abstraction, most: int, now: Contexts
    ) -> Graph:
        context = Context(now.abstract_threads, self._templates.all, template, most)
        initial = abstraction.initial(self._initial_value, UNBORN if template else 0)

        def searched(order: Order) -> Graph:
            search = Reachability(
                self._templates,
                template,
                abstraction,
                context,
                initial,
                order,
                are_racing=self._are_racing,
                deadline=self._deadline,
            )
            try:
                return search.run()
            finally:
                self.states += search.states
                self._progress(self)

        try:
            return searched(Order.COVERING)
        except Reached:
            # Short traces say more of what is missing.
            return searched(Order.SHORTEST)

    def _check_sections(self) -> None:
        for template in self._templates.all:
            one = template.one
            for place, location in enumerate(one.places):
                is_inside = location.threads[one.number - 1].depth
                if is_inside and one.accesses[place] and not self._templates.is_alone(one, place):
                    raise GaveUp("an atomic section is not one step: its races are unknown")
