"""`verify`: templates, then invariants from more and more candidates until nothing bad is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

from plait.analysis.sharing import Sharing, sharing_of
from plait.data import dataclass
from plait.engines import interface
from plait.engines.context import candidates, certificate, ghosts, races
from plait.engines.context.counters import Counters
from plait.engines.context.description import CONTEXT
from plait.engines.context.giving_up import GaveUp, outcome_of
from plait.engines.context.invariants import Facts, Invariants, Universe
from plait.engines.context.needed import needed_facts
from plait.engines.context.subject import Subject, starting_functions
from plait.engines.context.templates import Templates, Transition
from plait.engines.context.variables import Variables
from plait.engines.interface import Answer, Outcome, OutOfTime, Proof, counted
from plait.logic.terms import Terms
from plait.model.program import Program
from plait.model.properties import Property, Specification
from plait.symbolic.blocks import Kind


@dataclass(slots=True, eq=False)
class Statistics(interface.Statistics):
    templates: int = 0
    places: int = 0
    transitions: int = 0
    phases: int = 0
    candidates: int = 0
    facts: int = 0
    questions: int = 0


class _Ghosts(Enum):
    """Beside owners of locks, and which templates have begun."""

    FEW = "no more"
    PLACES = "where the only thread of a template is"
    COUNTERS = "how many threads have begun, and have left places"


# Whether loops that start or join threads are unrolled, and ghosts, one after the other: each makes
# more of what others do matter, and takes time.
_ATTEMPTS = (
    (True, (_Ghosts.FEW,)),
    (False, (_Ghosts.FEW, _Ghosts.COUNTERS)),
    (False, (_Ghosts.PLACES,)),
    (True, (_Ghosts.PLACES,)),
)


def verify(
    program: Program,
    specification: Specification,
    deadline: float | None = None,
    progress: Callable[[Statistics, str], None] | None = None,
) -> Outcome:
    return outcome_of(_Search(program, specification, deadline, progress))


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
        self._has_only_races = False

    def run(self) -> Outcome:
        OutOfTime.check(self._deadline)
        sharing = sharing_of(self._program)
        counting = starting_functions(sharing)
        outcome = None
        for unrolls, ghosts_added in _ATTEMPTS:
            if unrolls and not counting:
                continue
            functions = counting if unrolls else frozenset[str]()
            try:
                outcome = self._attempt(sharing, functions, ghosts_added)
            except GaveUp:
                if not unrolls:
                    raise
                counting = frozenset()
            else:
                if outcome.answer is Answer.HOLDS:
                    break
        assert outcome is not None
        return outcome

    def _attempt(
        self, sharing: Sharing, counting: frozenset[str], ghosts_added: tuple[_Ghosts, ...]
    ) -> Outcome:
        subject = Subject(self._program, sharing, self._specification, counting, self._deadline)
        terms, templates = subject.terms, subject.templates
        statistics = self.statistics
        statistics.templates = len(templates.all)
        statistics.places = sum(len(item.one.places) for item in templates.all)
        statistics.transitions = sum(len(item.one.transitions) for item in templates.all)

        facts: Facts | None = None
        counters: Counters | None = None
        for added in ghosts_added:
            if added is _Ghosts.PLACES:
                ghosts.add_places(templates, terms)
            elif added is _Ghosts.COUNTERS:
                counters = Counters(templates, terms)
                if self._has_only_races or not counters.is_useful:
                    break
            variables = Variables(templates, terms)
            invariants = Invariants(
                templates, variables, terms, subject.initial_value, self._deadline, counters, facts
            )
            outcome = self._search(templates, variables, terms, invariants, added)
            if outcome.answer is Answer.HOLDS:
                outcome.proof = proof(subject, self._specification, invariants)
                break
            facts = invariants.facts
        return outcome

    def _search(
        self,
        templates: Templates,
        variables: Variables,
        terms: Terms,
        invariants: Invariants,
        added: _Ghosts,
    ) -> Outcome:
        program, statistics = self._program, self.statistics
        left: list[Transition] = []
        race: races.Race | None = None
        for universe in _phases(templates, variables, terms, invariants, added):
            statistics.phases += 1
            statistics.candidates += sum(map(len, universe.values()))
            if self._progress is not None:
                self._progress(statistics, self.so_far)
            invariants.extend(universe)
            statistics.questions = invariants.questions
            statistics.facts = sum(map(len, invariants.facts.values()))
            left = list(not_excluded(templates, invariants))
            race = None
            self._has_only_races = not left
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
            first, second = (program.user_place(origin) for origin in race.origins)
            reason = f"invariants of single threads do not exclude: a race ({first}, {second})"
            return Outcome(Answer.UNKNOWN, reason, statistics)
        place = program.user_place(left[0].origin)
        reason = f"invariants of single threads do not exclude: {left[0].message} ({place})"
        return Outcome(Answer.UNKNOWN, reason, statistics)


def _phases(
    templates: Templates,
    variables: Variables,
    terms: Terms,
    invariants: Invariants,
    added: _Ghosts,
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

    def atoms(own: set[int], facts: set[int]) -> Iterator[int]:
        return candidates.atoms(terms, variables, own, neighbours=False)

    def neighbours(own: set[int], facts: set[int]) -> Iterator[int]:
        return candidates.atoms(terms, variables, own, neighbours=True)

    def everything(own: set[int], facts: set[int]) -> Iterator[int]:
        variables.kinship.is_ignored = True
        yield from candidates.atoms(terms, variables, own, neighbours=True)
        variables.kinship.is_ignored = False

    def differences(own: set[int], facts: set[int]) -> Iterator[int]:
        return candidates.differences(terms, variables, own)

    def implications(own: set[int], facts: set[int]) -> Iterator[int]:
        return candidates.implications(terms, variables, own, facts)

    def all_implications(own: set[int], facts: set[int]) -> Iterator[int]:
        variables.kinship.is_ignored = True
        yield from candidates.implications(terms, variables, own, facts)
        variables.kinship.is_ignored = False

    makers = {
        _Ghosts.FEW: (atoms, neighbours, everything, all_implications, differences),
        _Ghosts.COUNTERS: (atoms, differences),
        _Ghosts.PLACES: (atoms, implications),
    }
    for make in makers[added]:
        yield at_all_places(make)


def proof(subject: Subject, specification: Specification, invariants: Invariants) -> Proof:
    """Of invariants that exclude all violations."""
    templates, terms = subject.templates, subject.terms

    def document() -> dict[str, Any] | None:
        races_matter = Property.NO_DATA_RACE in specification
        try:
            facts = needed_facts(templates, invariants, terms, races_matter=races_matter)
        except OutOfTime:
            return None
        if facts is None:
            return None
        return certificate.write(
            CONTEXT.name,
            subject.knowledge,
            subject.executor,
            terms,
            specification,
            templates,
            facts,
            invariants.counters,
        )

    return Proof(document, False, lambda end: None, dict)


def not_excluded(templates: Templates, invariants: Invariants) -> Iterator[Transition]:
    """The ends without a verdict, and violations, that are possible as far as the facts say."""
    for number, template in enumerate(templates.all):
        for item in template.one.transitions:
            place = number, item.source
            if item.kind is not Kind.MOVE and invariants.is_reached(place):
                if invariants.may_be_taken(place, item):
                    yield item
