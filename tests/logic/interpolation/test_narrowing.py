"""One path of several that are one step: it is a part of the step, and has what the model does."""

from __future__ import annotations

import random

from plait.logic.interpolation.model import Model
from plait.logic.interpolation.narrowing import narrowed
from plait.logic.interpolation.path import Step
from plait.logic.operators import AND, ITE, NOT, OR, XOR
from plait.logic.terms import Terms

_WIDTH = 3


class Merged:
    """Random steps with choices and disjunctions."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.terms = Terms()
        self.variables = [self.terms.variable(name, _WIDTH) for name in "abc"]

    def value(self, depth: int) -> int:
        terms = self.terms
        if depth == 0:
            constant = terms.constant(self.random.randrange(1 << _WIDTH), _WIDTH)
            return self.random.choice([*self.variables, constant])
        if self.random.random() < 0.6:
            return terms.ite(self.fact(depth - 1), self.value(depth - 1), self.value(depth - 1))
        return terms.add(self.value(depth - 1), self.value(depth - 1))

    def fact(self, depth: int) -> int:
        terms = self.terms
        if depth == 0 or self.random.random() < 0.4:
            compare = self.random.choice([terms.eq, terms.ult, terms.ne])
            return compare(self.value(max(depth - 1, 0)), self.value(max(depth - 1, 0)))
        combine = self.random.choice([terms.and_, terms.or_, terms.xor])
        made = combine(self.fact(depth - 1), self.fact(depth - 1))
        return terms.not_(made) if self.random.random() < 0.3 else made

    def model(self) -> Model:
        values = {variable: self.random.randrange(1 << _WIDTH) for variable in self.variables}
        return Model(self.terms, values)


def test_it_is_a_part_of_the_step_with_the_model() -> None:
    taken = 0
    for seed in range(300):
        merged = Merged(seed)
        terms = merged.terms
        updates = {variable: merged.value(3) for variable in merged.variables[:2]}
        step = Step((merged.fact(3), merged.fact(2)), updates)
        model = merged.model()
        if not model.satisfies(step.assumes):
            continue
        taken += 1
        path = narrowed(terms, step, model)
        assert model.satisfies(path.assumes)
        parts = terms.parts([*path.assumes, *path.updates.values()])
        assert not any(terms.operator[part] == ITE for part in parts)
        for item in path.assumes:
            inner = terms.operands[item][0] if terms.operator[item] == NOT else item
            assert terms.operator[inner] not in (AND, OR, XOR)
        for _ in range(40):
            other = merged.model()
            if other.satisfies(path.assumes):
                assert other.satisfies(step.assumes)
                for variable, value in step.updates.items():
                    assert other(value) == other(path.updates[variable])
    assert taken > 50


def test_choices_become_assumptions() -> None:
    terms = Terms()
    a, b = terms.variable("a", 8), terms.variable("b", 8)
    one, two = terms.constant(1, 8), terms.constant(2, 8)
    is_one = terms.eq(a, one)
    step = Step((), {b: terms.ite(is_one, two, a)})
    assert narrowed(terms, step, Model(terms, {a: 1})) == Step((is_one,), {b: two})
    assert narrowed(terms, step, Model(terms, {a: 5})) == Step((terms.not_(is_one),), {b: a})
