"""Abstract posts against all states of small variables."""

from __future__ import annotations

import random
from itertools import product

import pytest

from plait.engines.predicates.cubes import NOTHING, Literals, Region, implies, merged
from plait.engines.predicates.posts import Posts
from plait.engines.predicates.settings import Abstraction
from plait.engines.predicates.statistics import Statistics
from plait.logic.interpolation.path import Step
from plait.logic.terms import Terms
from plait.symbolic.blocks import Block, Kind, Way

_WIDTH = 2

State = tuple[int, ...]


class Small:
    """Two variables and an input of two bits each, and some predicates about them."""

    def __init__(self, seed: int, abstraction: Abstraction) -> None:
        self.random = random.Random(seed)
        terms = self.terms = Terms()
        self.literals = Literals(terms)
        self.posts = Posts(terms, self.literals, Statistics(), abstraction, None)
        self.variables = [terms.variable(name, _WIDTH) for name in ("a", "b")]
        self.input = terms.variable("input", _WIDTH)
        self.tracked = 0
        for _ in range(4):
            term = self.fact([*self.variables])
            if terms.value(term) is None:
                self.tracked |= 3 << self.literals.of(term)

    def value(self, variables: list[int]) -> int:
        constant = self.terms.constant(self.random.randrange(1 << _WIDTH), _WIDTH)
        one, other = self.random.choice(variables), self.random.choice([*variables, constant])
        return self.random.choice([one, constant, self.terms.add(one, other)])

    def fact(self, variables: list[int]) -> int:
        compare = self.random.choice([self.terms.eq, self.terms.ult, self.terms.ne])
        return compare(self.value(variables), self.value(variables))

    def step(self) -> Step:
        known = [*self.variables, self.input]
        changed = self.random.sample(self.variables, self.random.randrange(3))
        updates = {variable: self.value(known) for variable in changed}
        assumes = tuple(self.fact(known) for _ in range(self.random.randrange(3)))
        return Step(assumes, updates, frozenset({self.input}))

    def states_of(self, region: Region) -> set[State]:
        conjunction = self.terms.all_of(self.literals.conjuncts(region)) if region else 0
        return {
            state
            for state in product(range(1 << _WIDTH), repeat=2)
            if region and self.evaluated(conjunction, (*state, 0))
        }

    def evaluated(self, term: int, values: State) -> int:
        known = dict(zip([*self.variables, self.input], values, strict=True))
        return self.terms.evaluate(term, known.__getitem__, {})

    def behind(self, states: set[State], step: Step) -> set[State]:
        found = set()
        for state, chosen in product(states, range(1 << _WIDTH)):
            values = (*state, chosen)
            if all(self.evaluated(item, values) for item in step.assumes):
                new = (step.updates.get(variable, variable) for variable in self.variables)
                found.add(tuple(self.evaluated(item, values) for item in new))
        return found

    def literals_of(self, state: State) -> int:
        """All that are tracked and hold in a state."""
        found = 0
        for number, term in enumerate(self.literals.terms):
            if self.tracked >> number & 1 and self.evaluated(term, (*state, 0)):
                found |= 1 << number
        return found


@pytest.mark.parametrize("abstraction", list(Abstraction), ids=lambda item: item.value)
def test_posts_are_what_they_should_be(abstraction: Abstraction) -> None:
    """Of each predicate it is known whether it holds in all states behind a step; boolean regions
    have the combinations that there are and no others."""
    for seed in range(60):
        small = Small(seed, abstraction)
        region: Region = (0,)
        steps = [small.step() for _ in range(3)]
        ways = [Way(Kind.MOVE, step, None, ()) for step in steps]
        for _ in range(4):
            states = small.states_of(region)
            reached = [small.behind(states, step) for step in steps]
            possible = small.posts.possible(region, block := Block(ways))
            assert possible == [way for way, some in zip(ways, reached, strict=True) if some]
            assert small.posts.possible(region, block) == possible
            index = small.random.randrange(len(steps))
            found = small.posts.behind(region, steps[index], small.tracked)
            there = [small.literals_of(state) for state in reached[index]]
            assert (found == NOTHING) == (not there)
            if not there:
                continue
            if abstraction is Abstraction.BOOLEAN:
                wanted = set(there)
                everywhere = product(range(1 << _WIDTH), repeat=2)
                known = {small.literals_of(state) for state in small.states_of(found)}
                assert known == wanted & {small.literals_of(state) for state in everywhere}
            elif len(region) == 1:
                common = there[0]
                for cube in there:
                    common &= cube
                assert found == (common,)
            region = found


def test_equal_states_are_merged() -> None:
    # Literals 0 and 1 are a predicate and its negation, 2 and 3 another one.
    assert merged([0b0101, 0b0110]) == (0b0100,)
    assert merged([0b0101, 0b1010]) == (0b0101, 0b1010)
    assert implies((0b0101,), (0b0100,))
    assert not implies((0b0100,), (0b0101,))
