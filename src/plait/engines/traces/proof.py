"""The proof so far: the union of the automata of all traces that were proved (section III).

A state of the paper's automaton has a formula, the negation of a *claim* here; it reads words
backwards. An edge on a step leads from the negation of a claim to the negations of claims A if all
of A before the step imply the claim behind it: a Hoare triple {A} step {claim}. The states of A are
all needed (the automaton branches universally), and there may be several triples for one claim (it
branches existentially). So a word leads backwards from a claim to claims that hold initially if and
only if, forwards, the claim is in the set that begins with those that hold initially and contains
behind each step whatever a triple adds. That set is a function of the word, so the automaton that
reads words forwards is deterministic, and it is never built: sets are computed when they are met.

A set of claims is an integer with a bit for each. Claim 0 is `false`: a word that leads to it
cannot be taken.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from plait.data import dataclass, field
from plait.engines.blocks.bitsets import as_set, numbers
from plait.engines.interface import OutOfTime
from plait.engines.traces.statistics import Statistics
from plait.logic.interpolation.conjuncts import Conjuncts
from plait.logic.interpolation.model import Model
from plait.logic.interpolation.path import Step
from plait.logic.interpolation.queries import Queries, Undecided
from plait.logic.operators import OR
from plait.logic.substitute import Substitution, Vocabulary
from plait.logic.terms import Terms

FALSE = 0
_REMEMBERED = 50_000  # sets behind one step
_MOST_SAMPLES = 30  # of one step


@dataclass(slots=True, eq=False)
class _Sample:
    """A state from which a step can be taken."""

    model: Model
    holding: int = 0  # claims
    seen: int = 1  # claims that were looked at

    def has(self, claims: int, known: list[int]) -> bool:
        """Whether the state satisfies some of all claims that are known."""
        for number in range(self.seen, len(known)):
            if self.model(known[number]):
                self.holding |= 1 << number
        self.seen = len(known)
        return not claims & ~self.holding


@dataclass(slots=True, eq=False)
class _Letter:
    """What is known of one step. `goals` are the claims that it may add or take away, as they must
    hold before it; all other claims stay as they are."""

    step: Step
    before: Substitution
    mentioned: frozenset[int]  # variables of its assumptions
    seen: int = 1  # claims that were looked at
    goals: dict[int, int] = field(default_factory=dict)
    kept: int = 0
    untouched: int = 0  # of the goals, those about variables that the step does not change
    # Sets of claims that suffice for a claim behind the step, and sets that do not.
    triples: dict[int, list[int]] = field(default_factory=dict)
    failures: dict[int, list[int]] = field(default_factory=dict)
    samples: list[_Sample] = field(default_factory=list)
    behind: dict[int, int] = field(default_factory=dict)


class Proof:
    def __init__(
        self, terms: Terms, statistics: Statistics, deadline: float | None, *, weakening: bool
    ) -> None:
        self.terms = terms
        self.vocabulary = Vocabulary(terms)
        self.claims: list[int] = [terms.false]
        self._number: dict[int, int] = {terms.false: FALSE}
        self._statistics = statistics
        self._conjuncts = Conjuncts(terms)
        self._queries = Queries(terms, self.vocabulary)
        self._queries.deadline = deadline
        self._deadline = deadline
        self._weakening = weakening
        self._letters: dict[int, _Letter] = {}
        self._initially = 0
        self._seen_initially = 1

    def add(self, claim: int) -> bool:
        """Whether it is a new one."""
        if claim == self.terms.true or claim in self._number:
            return False
        self._number[claim] = len(self.claims)
        self.claims.append(claim)
        self._statistics.claims = len(self.claims) - 1
        return True

    def terms_of(self, claims: int) -> list[int]:
        return [self.claims[number] for number in numbers(claims)]

    # --- reading words forwards

    def initially(self, value: Callable[[int], int | None]) -> int:
        """The claims that hold initially, where variables have these values if they have any."""
        terms = self.terms
        for number in range(self._seen_initially, len(self.claims)):
            claim = self.claims[number]
            values = {
                variable: terms.constant(known, terms.width[variable])
                for variable in self.vocabulary(claim)
                if (known := value(variable)) is not None
            }
            if Substitution(terms, values.get)(claim) == terms.true:
                self._initially |= 1 << number
        self._seen_initially = len(self.claims)
        return self._initially

    def after(self, claims: int, step: Step) -> int:
        """The claims behind a step that can be taken, apart from `false`."""
        letter = self._letter(step)
        found = letter.behind.get(claims)
        if found is None:
            found = claims & letter.kept
            for claim in letter.goals:
                if self._suffices(letter, claims, claim):
                    found |= 1 << claim
            if len(letter.behind) > _REMEMBERED:
                letter.behind.clear()
            letter.behind[claims] = found
        return found

    def reason(self, claims: int, step: Step, claim: int) -> int | None:
        """Claims that suffice for another one behind the step; None if these do not."""
        letter = self._letter(step)
        bit = 1 << claim
        if letter.kept & bit:
            return bit if claims & bit else None
        if not self._suffices(letter, claims, claim):
            return None
        fitting = [known for known in letter.triples[claim] if not known & ~claims]
        return min(fitting, key=int.bit_count)

    def _letter(self, step: Step) -> _Letter:
        letter = self._letters.get(id(step))
        if letter is None:
            before = Substitution(self.terms, step.updates.get)
            letter = _Letter(step, before, self.vocabulary.of(step.assumes))
            letter.goals[FALSE] = self.terms.false
            self._letters[id(step)] = letter
        if letter.seen < len(self.claims):
            for number in range(letter.seen, len(self.claims)):
                self._look_at(letter, number)
            letter.seen = len(self.claims)
            letter.behind.clear()
        return letter

    def _look_at(self, letter: _Letter, number: int) -> None:
        claim = self.claims[number]
        changed = not letter.step.updates.keys().isdisjoint(self.vocabulary(claim))
        if not changed and not letter.step.assumes:
            letter.kept |= 1 << number
            return
        letter.goals[number] = letter.before(claim) if changed else claim
        if not changed:
            letter.untouched |= 1 << number

    # --- triples

    def link(self, before: Iterable[int], step: Step, behind: Iterable[int]) -> None:
        """The edges of a trace's own automaton: its claims before a step give those behind it."""
        letter = self._letter(step)
        premises = [self._number[claim] for claim in before if claim in self._number]
        for claim in behind:
            number = self._number.get(claim)
            if number is None or letter.kept >> number & 1:
                continue
            if not self._suffices(letter, as_set(premises), number):
                found = self._asked(letter, as_set(premises), number, premises)
                if found is not None:
                    self._learn(letter, number, found)
                    letter.behind.clear()

    def _suffices(self, letter: _Letter, claims: int, claim: int) -> bool:
        if letter.untouched >> claim & 1 and claims >> claim & 1:
            self._learn(letter, claim, 1 << claim)
            return True
        if any(not known & ~claims for known in letter.triples.get(claim, ())):
            return True
        if any(not claims & ~known for known in letter.failures.get(claim, ())):
            return False
        found = self._triple(letter, claims, claim)
        if found is None:
            return False
        self._learn(letter, claim, found)
        return True

    def _learn(self, letter: _Letter, claim: int, premises: int) -> None:
        known = letter.triples.setdefault(claim, [])
        if premises not in known:
            known.append(premises)
            self._statistics.triples += 1

    def _triple(self, letter: _Letter, claims: int, claim: int) -> int | None:
        """The premises of a triple that were not known yet."""
        goal = letter.goals[claim]
        if goal == self.terms.true or goal in letter.step.assumes:
            return 0
        number = self._number.get(goal)
        if number is not None and claims >> number & 1:
            return 1 << number
        if not self._weakening:
            return self._exactly(letter, claims, goal)
        chosen = self._connected(letter, claims, claim)
        if chosen is None:
            letter.failures.setdefault(claim, []).append(claims)
            return None
        return self._asked(letter, claims, claim, chosen)

    def _exactly(self, letter: _Letter, claims: int, goal: int) -> int | None:
        """Without Transformation II: the precondition itself must be among the claims, or part of
        a disjunction, which is what Transformation I makes claims of."""
        terms = self.terms
        whole = terms.any_of((*map(terms.not_, letter.step.assumes), goal))
        found = 0
        for part in self._conjuncts(whole):
            members = terms.operands[part] if terms.operator[part] == OR else ()
            known = (self._number.get(item, FALSE) for item in (part, *members))
            premise = next((number for number in known if number and claims >> number & 1), None)
            if premise is None:
                return None
            found |= 1 << premise
        return found

    def _connected(self, letter: _Letter, claims: int, claim: int) -> list[int] | None:
        """The claims that have to do with the goal or the assumptions, through other claims
        perhaps; None if a claim that the step leaves alone has nothing to do with the assumptions:
        then it would have been there before."""
        goal = letter.goals[claim]
        reached = set(self.vocabulary(goal))
        rest = [(number, self.vocabulary(self.claims[number])) for number in numbers(claims)]
        found: list[int] = []
        has_assumptions = claim == FALSE
        if has_assumptions:
            reached |= letter.mentioned
        while True:
            if not has_assumptions and not reached.isdisjoint(letter.mentioned):
                has_assumptions = True
                reached |= letter.mentioned
            left = []
            for item in rest:
                if reached.isdisjoint(item[1]):
                    left.append(item)
                else:
                    found.append(item[0])
            if len(left) == len(rest):
                break
            for number in found[len(found) - (len(rest) - len(left)) :]:
                reached |= self.vocabulary(self.claims[number])
            rest = left
        if letter.untouched >> claim & 1 and not has_assumptions:
            return None
        return found

    def _asked(self, letter: _Letter, claims: int, claim: int, chosen: list[int]) -> int | None:
        goal = letter.goals[claim]
        for sample in letter.samples:
            if sample.has(claims, self.claims) and not sample.model(goal):
                letter.failures.setdefault(claim, []).append(sample.holding)
                return None
        began = time.perf_counter()
        terms = self.terms
        conjuncts = [terms.not_(letter.goals[claim]), *letter.step.assumes]
        conjuncts += [self.claims[number] for number in chosen]
        try:
            before = self._queries.solved
            answer = self._queries.answer([item for item in conjuncts if item != terms.true])
            self._statistics.solver_checks += self._queries.solved - before
        except Undecided:
            OutOfTime.check(self._deadline)
            return None
        finally:
            self._statistics.proving += time.perf_counter() - began
        if isinstance(answer, Model):
            # Nothing that holds in the model suffices, nor do claims about other variables.
            sample = _Sample(answer)
            sample.has(0, self.claims)
            letter.failures.setdefault(claim, []).append(sample.holding | claims)
            letter.samples.insert(0, sample)
            del letter.samples[_MOST_SAMPLES:]
            return None
        self._statistics.weakenings += 1
        core = set(answer)
        return as_set(number for number in chosen if self.claims[number] in core)
