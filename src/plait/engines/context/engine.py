"""`verify`: templates, then invariants from more and more candidates until nothing bad is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from plait.analysis.graph import cyclic_nodes
from plait.analysis.sharing import Sharing, sharing_of
from plait.data import dataclass
from plait.engines import interface
from plait.engines.context import candidates, ghosts, races
from plait.engines.context.control_blocks import ControlBlocks
from plait.engines.context.giving_up import GaveUp
from plait.engines.context.invariants import Invariants, Universe
from plait.engines.context.templates import Templates, Transition
from plait.engines.context.variables import Variables
from plait.engines.interface import Answer, Outcome, OutOfTime, counted
from plait.errors import UnsupportedCode
from plait.logic.terms import Terms
from plait.model.actions import Call
from plait.model.program import Edge, Program
from plait.model.properties import Property, Specification
from plait.symbolic.blocks import Kind
from plait.symbolic.execute import Executor
from plait.symbolic.knowledge import Knowledge
from plait.symbolic.precision import Maker
from plait.symbolic.variables import cell_of

_LARGEST_TRACKED = 256  # bytes of an object
_MOST_PLACES = 600  # of a thread
_MOST_COUNTING_PLACES = 120


@dataclass(slots=True, eq=False)
class Statistics(interface.Statistics):
    templates: int = 0
    places: int = 0
    transitions: int = 0
    phases: int = 0
    candidates: int = 0
    facts: int = 0
    questions: int = 0


class ContextPrecision:
    """Only pointers are explicit, and all paths of a block are one step. In `counting` functions
    numbers in registers are explicit, too, so that their loops are unrolled."""

    most_paths = 0

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


def verify(
    program: Program,
    specification: Specification,
    deadline: float | None = None,
    progress: Callable[[Statistics, str], None] | None = None,
) -> Outcome:
    search = _Search(program, specification, deadline, progress)
    try:
        return search.run()
    except (GaveUp, UnsupportedCode) as error:
        return Outcome(Answer.UNKNOWN, str(error), search.statistics)
    except OutOfTime:
        return Outcome(
            Answer.UNKNOWN,
            "time is up",
            search.statistics,
            is_out_of_time=True,
            so_far=search.so_far,
        )


class _Search:
    def __init__(
        self,
        program: Program,
        specification: Specification,
        deadline: float | None,
        progress: Callable[[Statistics, str], None] | None,
    ) -> None:
        self._program = program
        self._specification = specification
        self._deadline = deadline
        self._progress = progress
        self.statistics = Statistics()
        self.so_far = ""

    def run(self) -> Outcome:
        OutOfTime.check(self._deadline)
        sharing = sharing_of(self._program)
        counting = _starting_functions(sharing)
        if counting:
            try:
                outcome = self._attempt(sharing, counting, _MOST_COUNTING_PLACES)
            except GaveUp:
                pass
            else:
                if outcome.answer is Answer.HOLDS:
                    return outcome
        return self._attempt(sharing, frozenset(), _MOST_PLACES)

    def _attempt(self, sharing: Sharing, counting: frozenset[str], most_places: int) -> Outcome:
        program, terms = self._program, Terms()
        knowledge = Knowledge(program, sharing, ContextPrecision(counting))
        executor = Executor(knowledge, terms, self._specification)
        templates = Templates(
            program, sharing, knowledge, executor, terms, self._deadline, most_places
        )
        ghosts.add_owners(templates, terms)
        ghosts.add_beginnings(templates, terms)
        variables = Variables(templates, terms)
        statistics = self.statistics
        statistics.templates = len(templates.all)
        statistics.places = sum(len(item.one.places) for item in templates.all)
        statistics.transitions = sum(len(item.one.transitions) for item in templates.all)

        def initial_value(variable: int) -> int | None:
            if variables.is_ghost(variable) or templates.is_in_unique_block(variable):
                return 0
            cell = cell_of(terms.name[variable])
            return None if cell is None else executor.memory.initial_value(cell)

        invariants = Invariants(templates, variables, terms, initial_value, self._deadline)
        left: list[Transition] = []
        race: races.Race | None = None
        for universe in _phases(templates, variables, terms, invariants):
            statistics.phases += 1
            statistics.candidates += sum(map(len, universe.values()))
            if self._progress is not None:
                self._progress(statistics, self.so_far)
            invariants.extend(universe)
            statistics.questions = invariants.questions
            statistics.facts = sum(map(len, invariants.facts.values()))
            left = list(_not_excluded(templates, invariants))
            race = None
            if not left and Property.NO_DATA_RACE in self._specification:
                race = next(races.not_excluded(templates, invariants), None)
            if not left and race is None:
                reason = "what each thread can rely on excludes every violation"
                return Outcome(Answer.HOLDS, reason, statistics)
            self.so_far = (
                f"{counted(len(left), 'violation')} not excluded by invariants of threads"
                if left
                else "races not excluded by invariants of threads"
            )
        if race is not None:
            first, second = (program.place(origin) for origin in race.origins)
            reason = f"invariants of single threads do not exclude: a race ({first}, {second})"
            return Outcome(Answer.UNKNOWN, reason, statistics)
        place = program.place(left[0].origin)
        reason = f"invariants of single threads do not exclude: {left[0].message} ({place})"
        return Outcome(Answer.UNKNOWN, reason, statistics)


def _starting_functions(sharing: Sharing) -> frozenset[str]:
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


def _phases(
    templates: Templates, variables: Variables, terms: Terms, invariants: Invariants
) -> Iterator[Universe]:
    """More and more candidates. What is proved in one phase is known in the next."""

    def at_all_places(make: Callable[[set[int], set[int]], Iterator[int]]) -> Universe:
        trivial = (terms.true, terms.false)
        return {
            (number, place): {
                item
                for item in make(variables.live[number][place], invariants.facts[number, place])
                if item not in trivial
            }
            for number, template in enumerate(templates.all)
            for place in range(len(template.one.places))
        }

    yield at_all_places(
        lambda own, facts: candidates.atoms(terms, variables, own, neighbours=False)
    )
    yield at_all_places(lambda own, facts: candidates.atoms(terms, variables, own, neighbours=True))
    yield at_all_places(lambda own, facts: candidates.differences(terms, variables, own))
    yield at_all_places(lambda own, facts: candidates.implications(terms, variables, own, facts))


def _not_excluded(templates: Templates, invariants: Invariants) -> Iterator[Transition]:
    """The ends without a verdict, and violations, that are possible as far as the facts say."""
    for number, template in enumerate(templates.all):
        for item in template.one.transitions:
            place = number, item.source
            if item.kind is not Kind.MOVE and invariants.is_reached(place):
                if invariants.may_be_taken(place, item):
                    yield item
