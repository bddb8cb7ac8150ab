"""Abstract posts: what is known behind a step, in terms of predicates (4, item 3).

What was found out for one cube is used for others. A contradiction holds in all cubes that have its
literals. A state before a step, with inputs, is one of all cubes whose literals it has; predicates
that two such states disagree about behind the step are not known there, without a solver.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.data import dataclass, field
from plait.engines.blocks.bitsets import as_set, numbers
from plait.engines.interface import OutOfTime
from plait.engines.predicates.cubes import NOTHING, Cube, Literals, Region, joined, merged
from plait.engines.predicates.settings import Abstraction
from plait.engines.predicates.statistics import Statistics
from plait.logic.interpolation.model import Model
from plait.logic.interpolation.path import Step
from plait.logic.interpolation.queries import Queries, Undecided
from plait.logic.substitute import Substitution, Vocabulary
from plait.logic.terms import Terms
from plait.symbolic.blocks import Block, Way

_MOST_SAMPLES = 48  # of a step
# More combinations of predicates than this behind one step are not told apart.
_MOST_CUBES = 64


@dataclass(slots=True, eq=False)
class _Sample:
    """A state before a step. `holds` has those of the literals in `seen` that it has."""

    model: Model
    seen: int = 0
    holds: int = 0
    behind: dict[int, bool] = field(default_factory=dict)  # which predicates hold behind the step


@dataclass(slots=True, eq=False)
class _Effect:
    """What is known of one step."""

    step: Step
    before: Substitution
    changed: frozenset[int]  # variables
    goals: dict[int, int] = field(default_factory=dict)  # predicates behind it as they are before
    samples: list[_Sample] = field(default_factory=list)
    # Cubes that suffice for a literal behind the step, or, under -1, for that it is not possible.
    reasons: dict[int, list[Cube]] = field(default_factory=dict)
    posts: dict[tuple[Cube, int], Region] = field(default_factory=dict)


_IMPOSSIBLE = -1


@dataclass(slots=True, eq=False)
class _Choice:
    """The ways through a block, and those that single literals exclude, a bit for each way."""

    block: Block
    excluded: dict[int, int] = field(default_factory=dict)


class Posts:
    def __init__(
        self,
        terms: Terms,
        literals: Literals,
        statistics: Statistics,
        abstraction: Abstraction,
        deadline: float | None,
    ) -> None:
        self._terms = terms
        self._literals = literals
        self._statistics = statistics
        self._is_boolean = abstraction is Abstraction.BOOLEAN
        self._deadline = deadline
        self._vocabulary = Vocabulary(terms)
        self._queries = Queries(terms, self._vocabulary)
        self._queries.deadline = deadline
        self._effects: dict[int, _Effect] = {}
        self._choices: dict[int, _Choice] = {}

    def possible(self, region: Region, block: Block) -> list[Way]:
        """The ways through a block that can be taken from a region."""
        choice = self._choices.get(id(block))
        if choice is None:
            choice = self._choices[id(block)] = _Choice(block)
        found: dict[int, None] = {}
        for cube in region:
            found.update(dict.fromkeys(self._possible(choice, cube)))
        return [block.ways[index] for index in sorted(found)]

    def _possible(self, choice: _Choice, cube: Cube) -> Iterator[int]:
        left = (1 << len(choice.block.ways)) - 1
        for literal in numbers(cube):
            left &= ~choice.excluded.get(literal, 0)
        for index in numbers(left):
            effect = self._effect(choice.block.ways[index].step)
            if self._samples(effect, cube):
                yield index
                continue
            for reason in effect.reasons[_IMPOSSIBLE]:
                if not reason & (reason - 1):
                    literal = reason.bit_length() - 1
                    choice.excluded[literal] = choice.excluded.get(literal, 0) | 1 << index

    def _effect(self, step: Step) -> _Effect:
        effect = self._effects.get(id(step))
        if effect is None:
            before = Substitution(self._terms, step.updates.get)
            changed = frozenset(step.updates)
            effect = self._effects[id(step)] = _Effect(step, before, changed)
        return effect

    def behind(self, region: Region, step: Step, tracked: int) -> Region:
        """The region behind a step, in terms of the tracked literals (both of each predicate); no
        cube at all if it cannot be taken."""
        effect = self._effect(step)
        found: list[Cube] = []
        for cube in region:
            found += self._behind_cube(effect, cube, tracked)
        return joined(found)

    def excludes(self, region: Region, fact: int) -> bool:
        """Whether no state of a region has a fact."""
        terms = self._terms
        if fact in (terms.true, terms.false):
            return fact == terms.false
        facts = [fact, *self._literals.conjuncts(region)]
        return not isinstance(self._answer(facts), Model)

    def _behind_cube(self, effect: _Effect, cube: Cube, tracked: int) -> Region:
        key = cube, tracked
        found = effect.posts.get(key)
        if found is None:
            self._statistics.posts += 1
            found = effect.posts[key] = self._computed(effect, cube, tracked)
        else:
            self._statistics.known_posts += 1
        return found

    def _computed(self, effect: _Effect, cube: Cube, tracked: int) -> Region:
        samples = self._samples(effect, cube)
        if not samples:
            return NOTHING
        result, open_ = 0, []
        for literal in numbers(tracked):
            if literal & 1:
                continue
            known = self._known_behind(effect, cube, literal, samples)
            if known is None:
                open_.append(literal)
            else:
                result |= 1 << known
        if self._is_boolean and len(open_) > 1:
            return self._combinations(effect, cube, result, open_, samples)
        return (result,)

    def _known_behind(
        self, effect: _Effect, cube: Cube, predicate: int, samples: list[_Sample]
    ) -> int | None:
        """The literal of a predicate that holds behind a step from all states of a cube."""
        goal = self._goal(effect, predicate)
        if goal == self._terms.true:
            return predicate
        if goal == self._terms.false:
            return predicate + 1
        if goal == self._literals.terms[predicate] and cube >> predicate & 3:
            return predicate + (not cube >> predicate & 1)
        value = self._holds_behind(effect, samples[0], predicate)
        if any(self._holds_behind(effect, item, predicate) != value for item in samples[1:]):
            return None
        literal = predicate + (not value)
        if any(not reason & ~cube for reason in effect.reasons.get(literal, ())):
            return literal
        wrong = self._terms.not_(goal) if value else goal
        sample = self._sample(effect, cube, wrong, literal)
        if sample is None:
            return literal
        samples.append(sample)
        return None

    def _combinations(
        self, effect: _Effect, cube: Cube, known: Cube, open_: list[int], samples: list[_Sample]
    ) -> Region:
        """Which combinations of predicates there are that are open by themselves: one after the
        other, until there are no others."""
        terms = self._terms
        goals = [self._goal(effect, predicate) for predicate in open_]
        found: dict[Cube, None] = {}
        others: list[int] = []

        def note(sample: _Sample) -> None:
            values = [self._holds_behind(effect, sample, predicate) for predicate in open_]
            signs = zip(open_, values, strict=True)
            combination = as_set(predicate + (not value) for predicate, value in signs)
            if combination not in found:
                found[combination] = None
                pairs = zip(goals, values, strict=True)
                others.append(
                    terms.any_of(terms.not_(goal) if value else goal for goal, value in pairs)
                )

        for sample in samples:
            note(sample)
        while len(found) <= _MOST_CUBES:
            answer = self._answer([*others, *effect.step.assumes, *self._literals.of_cube(cube)])
            if not isinstance(answer, Model):
                return tuple(known | item for item in merged(found))
            note(_Sample(answer))
        return (known,)

    # --- states

    def _has(self, sample: _Sample, cube: Cube) -> bool:
        for number in numbers(cube & ~sample.seen):
            sample.seen |= 1 << number
            if sample.model(self._literals.terms[number]):
                sample.holds |= 1 << number
        return not cube & ~sample.holds

    def _goal(self, effect: _Effect, predicate: int) -> int:
        found = effect.goals.get(predicate)
        if found is None:
            found = self._literals.terms[predicate]
            if not effect.changed.isdisjoint(self._vocabulary(found)):
                found = effect.before(found)
            effect.goals[predicate] = found
        return found

    def _holds_behind(self, effect: _Effect, sample: _Sample, predicate: int) -> bool:
        found = sample.behind.get(predicate)
        if found is None:
            found = sample.behind[predicate] = bool(sample.model(self._goal(effect, predicate)))
        return found

    def _samples(self, effect: _Effect, cube: Cube) -> list[_Sample]:
        """States of a cube that take a step; at least one, if there is one."""
        found = [item for item in effect.samples if self._has(item, cube)]
        if not found:
            sample = self._sample(effect, cube, self._terms.true, _IMPOSSIBLE)
            if sample is not None:
                found.append(sample)
        return found

    def _sample(self, effect: _Effect, cube: Cube, fact: int, literal: int) -> _Sample | None:
        """A state of a cube that takes the step and has a fact; if there is none, that is a reason
        for a literal behind the step."""
        reasons = effect.reasons.setdefault(literal, [])
        if fact == self._terms.true and any(not reason & ~cube for reason in reasons):
            return None
        answer = self._answer([fact, *effect.step.assumes, *self._literals.of_cube(cube)])
        if isinstance(answer, Model):
            sample = _Sample(answer)
            effect.samples.append(sample)
            del effect.samples[:-_MOST_SAMPLES]
            return sample
        core = set(answer)
        reasons.append(as_set(n for n in numbers(cube) if self._literals.terms[n] in core))
        return None

    def _answer(self, conjuncts: list[int]) -> Model | list[int]:
        true = self._terms.true
        before = self._queries.solved
        try:
            return self._queries.answer([item for item in conjuncts if item != true])
        except Undecided:
            OutOfTime.check(self._deadline)
            raise
        finally:
            self._statistics.solver_checks += self._queries.solved - before
