"""Conjunctions without some variables, quick answers, and z3's formulas as terms."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.logic.formulas import Formula, build, formulas
from tests.logic.interpolation.paths import Maker, random_paths, states

from plait.logic.interpolation.conjuncts import Conjuncts
from plait.logic.interpolation.elimination import Elimination
from plait.logic.interpolation.from_z3 import FromZ3
from plait.logic.interpolation.model import Model
from plait.logic.interpolation.path import Step
from plait.logic.interpolation.problem import Failed
from plait.logic.interpolation.propagation import propagated
from plait.logic.interpolation.queries import Queries
from plait.logic.second_opinion import Z3Translator
from plait.logic.substitute import Vocabulary
from plait.logic.terms import Terms


def elimination(terms: Terms) -> Elimination:
    return Elimination(terms, Vocabulary(terms), Conjuncts(terms))


def conjunction(terms: Terms, steps: list[Step]) -> list[int]:
    return [term for step in steps for term in step.assumes]


@settings(max_examples=60, deadline=None)
@given(random_paths())
def test_what_is_left_follows(given_path: tuple[Terms, list[Step]]) -> None:
    terms, steps = given_path
    parts = conjunction(terms, steps)
    a = terms.variable("a", 2)
    names = sorted(Vocabulary(terms).of(parts) | {a})
    if len(names) > 5:
        return
    left = elimination(terms).without([a], parts)
    replaced = elimination(terms).replaced([a], parts)
    assert a not in Vocabulary(terms).of(left)
    others = [name for name in names if name != a]
    for state in states(terms, others):
        possible = any(Model(terms, {**state, a: value}).satisfies(parts) for value in range(4))
        # Two bits are few enough to try all values: nothing is lost.
        assert Model(terms, state).satisfies(left) == possible
        if a not in Vocabulary(terms).of(replaced):
            assert Model(terms, state).satisfies(replaced) == possible


def test_a_definition_is_used() -> None:
    terms = Terms()
    make = Maker(terms)
    x, y, z = (make.variable(name) for name in "xyz")
    left = elimination(terms).without(
        [x], [terms.eq(x, make.plus(y, 1)), terms.slt(x, z), make.less(y, 3)]
    )
    assert set(left) == {terms.slt(make.plus(y, 1), z), make.less(y, 3)}


def test_bounds_are_joined() -> None:
    terms = Terms()
    make = Maker(terms)
    x, y, z = (make.variable(name) for name in "xyz")
    left = elimination(terms).without([x], [terms.sle(y, x), terms.slt(x, z)])
    assert terms.slt(y, z) in left


@pytest.mark.parametrize("bound", ["ult", "ule", "slt", "sle"])
def test_few_values_are_tried(bound: str) -> None:
    terms = Terms()
    make = Maker(terms)
    x, y = make.variable("x"), make.variable("y")
    bounds = {
        "ult": [terms.ult(x, make.number(2))],
        "ule": [terms.ule(x, make.number(1))],
        "slt": [terms.slt(make.number(-1), x), terms.slt(x, make.number(2))],
        "sle": [terms.sle(make.number(0), x), terms.sle(x, make.number(1))],
    }
    (label,) = elimination(terms).without([x], [*bounds[bound], terms.eq(terms.mul(x, x), y)])
    assert label == terms.or_(make.is_(y, 0), make.is_(y, 1))


def test_values_that_are_told_apart_are_tried() -> None:
    terms = Terms()
    x, y, flag = terms.variable("x", 8), terms.variable("y", 8), terms.variable("f", 1)
    is_zero, is_five = (terms.eq(x, terms.constant(value, 8)) for value in (0, 5))
    parts = [
        terms.any_of([is_zero, flag]),
        terms.eq(y, terms.ite(is_five, terms.constant(1, 8), terms.constant(2, 8))),
    ]
    left = elimination(terms).without([x], parts)
    assert x not in Vocabulary(terms).of(left)
    for state in states(terms, [flag]):
        for value in range(4):
            known = {**state, y: value}
            possible = any(Model(terms, {**known, x: n}).satisfies(parts) for n in range(256))
            assert Model(terms, known).satisfies(left) == possible


def test_values_that_are_otherwise_looked_at_are_not_tried() -> None:
    terms = Terms()
    x, y = terms.variable("x", 8), terms.variable("y", 8)
    is_zero = terms.eq(x, terms.constant(0, 8))
    product = terms.eq(terms.mul(x, y), terms.constant(6, 8))
    kept = terms.ult(y, terms.constant(9, 8))
    assert elimination(terms).without([x], [terms.or_(is_zero, product), kept]) == (kept,)


# --- answers without a solver


@settings(max_examples=80, deadline=None)
@given(random_paths())
def test_quick_answers_are_right(given_path: tuple[Terms, list[Step]]) -> None:
    terms, steps = given_path
    parts = conjunction(terms, steps)
    vocabulary = Vocabulary(terms)
    names = sorted(vocabulary.of(parts))
    if len(names) > 6:
        return
    is_possible = any(Model(terms, state).satisfies(parts) for state in states(terms, names))
    quick = propagated(terms, vocabulary, parts)
    if isinstance(quick, Model):
        assert quick.satisfies(parts)
    elif quick is not None:
        assert not is_possible
        assert not any(Model(terms, state).satisfies(quick) for state in states(terms, names))
    full = Queries(terms, vocabulary).answer(parts)
    assert isinstance(full, Model) == is_possible
    if isinstance(full, list):
        assert set(full) <= set(parts)
        assert not any(Model(terms, state).satisfies(full) for state in states(terms, names))


def test_constants_settle_it_without_a_solver() -> None:
    terms = Terms()
    make = Maker(terms)
    x, y, z = (make.variable(name) for name in "xyz")
    vocabulary = Vocabulary(terms)
    noise = terms.slt(z, terms.mul(z, z))
    parts = [noise, make.is_(x, 1), terms.eq(y, make.plus(x, 1)), make.less(y, 2)]
    assert propagated(terms, vocabulary, parts) == parts[1:]
    queries = Queries(terms, vocabulary)
    queries.answer(parts)
    assert (queries.asked, queries.solved) == (1, 0)


# --- z3's formulas


def test_there_and_back() -> None:
    """Some formulas have operators that z3's answers do not contain, or no variables: not all."""
    came_back: list[bool] = []

    @settings(max_examples=80, deadline=None)
    @given(formulas(width=1, depth=3), st.integers(0, 2**64 - 1))
    def goes_and_returns(formula: Formula, seed: int) -> None:
        terms = Terms()
        term = build(terms, formula)
        translator = Z3Translator(terms, z3)
        expression = z3.simplify(translator.truth(term))
        names = {terms.name[name]: name for name in translator.variables}
        try:
            back = FromZ3(terms, z3, names)(expression)
        except Failed:
            came_back.append(False)
            return
        came_back.append(len(translator.variables) > 0)

        def value(name: int) -> int:
            return seed * (name + 1) & ((1 << terms.width[name]) - 1)

        assert terms.evaluate(back, value) == terms.evaluate(term, value)

    goes_and_returns()
    assert 8 * sum(came_back) > len(came_back)


OPERATIONS: dict[str, Callable[[Terms, int, int], int]] = {
    "=": lambda terms, x, y: terms.eq(x, y),
    "u<": lambda terms, x, y: terms.ult(x, y),
    "u<=": lambda terms, x, y: terms.ule(x, y),
    "s<": lambda terms, x, y: terms.slt(x, y),
    "s<=": lambda terms, x, y: terms.sle(x, y),
    "+": lambda terms, x, y: terms.eq(terms.add(x, y), terms.constant(3, 4)),
    "-": lambda terms, x, y: terms.eq(terms.sub(x, y), terms.constant(3, 4)),
    "*": lambda terms, x, y: terms.eq(terms.mul(x, y), terms.constant(3, 4)),
    "neg": lambda terms, x, y: terms.ult(terms.neg(x), y),
    "bits": lambda terms, x, y: terms.eq(terms.extract(x, 1, 2), terms.extract(y, 2, 2)),
    "concat": lambda terms, x, y: terms.ult(terms.concat(x, y), terms.constant(77, 8)),
    "zero": lambda terms, x, y: terms.ult(terms.zero_extend(x, 8), terms.sign_extend(y, 8)),
    "or": lambda terms, x, y: terms.or_(terms.ult(x, y), terms.not_(terms.slt(x, y))),
    "choice": lambda terms, x, y: terms.eq(terms.ite(terms.slt(x, y), x, y), y),
}


@pytest.mark.parametrize("simplified", [False, True])
@pytest.mark.parametrize("name", OPERATIONS)
def test_each_operation_there_and_back(name: str, simplified: bool) -> None:
    terms = Terms()
    x, y = (terms.variable(letter, 4) for letter in "xy")
    term = OPERATIONS[name](terms, x, y)
    expression = Z3Translator(terms, z3).truth(term)
    if simplified:
        expression = z3.simplify(expression)
    back = FromZ3(terms, z3, {"x": x, "y": y})(expression)
    for state in states(terms, [x, y]):
        assert terms.evaluate(back, state.__getitem__) == terms.evaluate(term, state.__getitem__)
