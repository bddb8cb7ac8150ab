"""`verify` by context inference: contexts, predicates and counters until there is an answer.

A proof is said when the contexts simulate all threads. It has a certificate where what is known at
each place of a thread, as the disjunction of its minterms, is also kept by the steps of the others
as such, without counters: then it is a proof in the sense of the engine's other method, too.
"""

from __future__ import annotations

from collections.abc import Callable

from plait.analysis.sharing import Sharing, sharing_of
from plait.data import dataclass, replace
from plait.engines import interface
from plait.engines.blocks.paths import Paths
from plait.engines.context import engine, races
from plait.engines.context.acfa.circ import Circ, Safe
from plait.engines.context.acfa.refine import Real, Unclear
from plait.engines.context.giving_up import GaveUp, outcome_of
from plait.engines.context.invariants import Invariants, Universe
from plait.engines.context.subject import Subject, starting_functions
from plait.engines.context.variables import Variables
from plait.engines.interface import Answer, Counterexample, Outcome, OutOfTime, Proof
from plait.logic.operators import NOT
from plait.logic.terms import Terms
from plait.model.program import Program
from plait.model.properties import Property, Specification
from plait.symbolic.blocks import Kind

_MAY_BE_ELSEWHERE = "whether two threads access the same bytes next is not known exactly"
_MOST_DISJUNCTS = 64  # of what is claimed of a place


@dataclass(slots=True, eq=False)
class Statistics(interface.Statistics):
    templates: int = 0
    places: int = 0
    predicates: int = 0
    refinements: int = 0
    counted: int = 0
    abstract_locations: int = 0
    states: int = 0
    questions: int = 0


Told = Callable[[Statistics, str], None]
Confirm = Callable[[Counterexample], str]


def verify(
    program: Program,
    specification: Specification,
    deadline: float | None = None,
    progress: Told | None = None,
    confirm: Confirm | None = None,
) -> Outcome:
    return outcome_of(_Search(program, specification, deadline, progress, confirm))


class _Search:
    def __init__(
        self,
        program: Program,
        specification: Specification,
        deadline: float | None,
        progress: Told | None,
        confirm: Confirm | None,
    ) -> None:
        self._program = program
        self._specification = specification
        self._deadline = deadline
        self._told = progress
        self._confirm = confirm
        self.statistics = Statistics()
        self.so_far = ""

    def run(self) -> Outcome:
        """Loops that start threads are unrolled first."""
        sharing = sharing_of(self._program)
        counting = starting_functions(sharing)
        if counting:
            try:
                outcome = self._attempt(sharing, counting)
            except GaveUp:
                pass
            else:
                if outcome.answer is not Answer.UNKNOWN:
                    return outcome
        return self._attempt(sharing, frozenset())

    def _attempt(self, sharing: Sharing, counting: frozenset[str]) -> Outcome:
        subject = Subject(self._program, sharing, self._specification, counting, self._deadline)
        templates, terms = subject.templates, subject.terms
        variables = Variables(templates, terms)
        self.statistics.templates = len(templates.all)
        self.statistics.places = sum(len(item.one.places) for item in templates.all)
        circ = Circ(
            templates,
            variables,
            terms,
            subject.initial_value,
            self._deadline,
            are_racing=Property.NO_DATA_RACE in self._specification,
            progress=self._progressed,
        )
        found = circ.run()
        self._progressed(circ)
        if isinstance(found, Unclear):
            return Outcome(Answer.UNKNOWN, found.reason, self.statistics)
        if isinstance(found, Real):
            return self._refuted(subject, found)
        self.statistics.abstract_locations = sum(
            len(item.locations) for item in found.contexts.abstract_threads
        )
        reason = "contexts that do all that threads do lead to no violation"
        proof = self._proof(subject, variables, found)
        return Outcome(Answer.HOLDS, reason, self.statistics, proof=proof)

    def _progressed(self, circ: Circ) -> None:
        statistics = self.statistics
        statistics.predicates = len(circ.predicates)
        statistics.refinements = max(0, len(circ.iterations) - 1)
        statistics.counted = circ.iterations[-1].most
        statistics.states = circ.states
        statistics.questions = circ.questions
        self.so_far = "the contexts that were tried do not exclude every violation"
        if self._told is not None:
            self._told(statistics, self.so_far)

    def _refuted(self, subject: Subject, found: Real) -> Outcome:
        """Only if the interpreter shows it."""
        paths = Paths(subject.terms, subject.executor, self._deadline)
        if found.racing is None:
            way = found.path[-1].way
            is_undefined = way.kind is not Kind.VIOLATION
            claimed = paths.counterexample(found.path, found.model, is_undefined=is_undefined)
            message, place = way.message, self._program.user_place(way.origin)
        else:
            message, place = "a race", "between two threads"
            claimed = paths.state_behind(
                found.path, found.behind, found.model, message, found.racing
            )
            claimed = replace(claimed, excuse=lambda: _MAY_BE_ELSEWHERE)
        if self._confirm is not None and not self._confirm(claimed):
            return Outcome(Answer.VIOLATED, message, self.statistics, claimed)
        reason = f"not excluded, and not shown by an execution: {message} ({place})"
        return Outcome(Answer.UNKNOWN, reason, self.statistics)

    # --- certificates

    def _proof(self, subject: Subject, variables: Variables, found: Safe) -> Proof | None:
        """None if the proof needs what invariants of threads do not say, such as the counters."""
        templates = subject.templates
        try:
            invariants = Invariants(
                templates, variables, subject.terms, subject.initial_value, self._deadline
            )
            invariants.extend(_claims(subject, variables, found))
            if any(True for _ in engine.not_excluded(templates, invariants)):
                return None
            if Property.NO_DATA_RACE in self._specification:
                if any(True for _ in races.not_excluded(templates, invariants)):
                    return None
        except (GaveUp, OutOfTime):
            return None
        return engine.proof(subject, self._specification, invariants)


def _claims(subject: Subject, variables: Variables, found: Safe) -> Universe:
    """What holds at each place: the disjunction of the minterms, and what they have in common. With
    the ghosts of the other method, and what never changes."""
    terms = subject.terms
    ghosts = [item for item in variables.shared if Variables.is_ghost(terms, item)]
    begun = [item for item in ghosts if terms.width[item] == 1]
    mine = [terms.eq(item, variables.myself) for item in ghosts if terms.width[item] == 32]
    everywhere = {*begun, *mine, *map(terms.not_, (*begun, *mine))}
    for variable, value in found.constants.items():
        everywhere.add(terms.eq(variable, terms.constant(value, terms.width[variable])))
    universe: Universe = {}
    for number, template in enumerate(subject.templates.all):
        known = found.minterms(number)

        def said(literal: int, own_number: int = template.one.number) -> int:
            return _of_any(terms, literal, own_number, variables.myself)

        for place in range(len(template.one.places)):
            claims = set(everywhere)
            rows = [
                [said(item) for item in found.abstraction.literals(number, place, minterm)]
                for minterm in sorted(known.get(place, ()))
            ]
            if rows:
                claims |= set(rows[0]).intersection(*rows[1:])
            if 1 < len(rows) <= _MOST_DISJUNCTS:
                claims.add(terms.any_of(map(terms.all_of, rows)))
            universe[number, place] = claims - {terms.true}
    return universe


def _of_any(terms: Terms, literal: int, number: int, myself: int) -> int:
    """What is said of the number of one thread, as said of that of any."""
    if terms.operator[literal] == NOT:
        return terms.not_(_of_any(terms, terms.operands[literal][0], number, myself))
    operands = terms.operands[literal]
    if number > 1 and len(operands) == 2 and number in map(terms.value, operands):
        left, right = (
            terms.extract(myself, 0, terms.width[side]) if terms.value(side) == number else side
            for side in operands
        )
        return terms.eq(left, right)
    return literal
