"""Equations in normal form, vectors as integers, and Farkas' lemma, against brute force."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.logic.formulas import Formula, build, formulas
from tests.logic.interpolation.paths import states

from plait.logic.interpolation.conjuncts import Conjuncts
from plait.logic.interpolation.inequalities import alternatives
from plait.logic.interpolation.integers import Linear, View
from plait.logic.interpolation.linear import Normal, equation, sum_of, term_of
from plait.logic.interpolation.model import Model
from plait.logic.interpolation.problem import Failed
from plait.logic.interpolation.simplex import multipliers
from plait.logic.operators import signed
from plait.logic.terms import Terms

WIDTH = 3


@st.composite
def sums(draw: st.DrawFn, terms: Terms, depth: int = 3) -> int:
    """Linear terms over x and y."""
    kind = draw(st.integers(0, 6)) if depth else draw(st.integers(0, 1))
    if kind == 0:
        return terms.variable(draw(st.sampled_from("xy")), WIDTH)
    if kind == 1:
        return terms.constant(draw(st.integers(0, 7)), WIDTH)
    left = draw(sums(terms, depth - 1))
    if kind == 2:
        return terms.mul(left, terms.constant(draw(st.integers(0, 7)), WIDTH))
    if kind == 3:
        return terms.not_(left)
    if kind == 4:
        return terms.neg(left)
    right = draw(sums(terms, depth - 1))
    return terms.add(left, right) if kind == 5 else terms.sub(left, right)


def all_states(terms: Terms) -> list[dict[int, int]]:
    return list(states(terms, [terms.variable(name, WIDTH) for name in "xy"]))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_equations_keep_their_meaning(data: st.DataObject) -> None:
    terms = Terms()
    left, right = data.draw(sums(terms)), data.draw(sums(terms))
    plain, normal = terms.eq(left, right), equation(terms, left, right)
    total = sum_of(terms, left)
    assert total is not None
    for state in all_states(terms):
        model = Model(terms, state)
        assert model(plain) == model(normal)
        assert model(left) == model(term_of(terms, total))


def test_equations_that_say_the_same_are_the_same() -> None:
    terms = Terms()
    x, y = terms.variable("x", 32), terms.variable("y", 32)
    one, two, four = (terms.constant(number, 32) for number in (1, 2, 4))
    first = equation(terms, y, terms.mul(x, two))
    assert first == equation(terms, terms.add(y, two), terms.mul(terms.add(x, one), two))
    assert first == equation(terms, terms.sub(terms.add(x, x), four), terms.sub(y, four))
    assert first != equation(terms, y, x)


def test_comparisons_that_say_the_same_are_the_same() -> None:
    terms = Terms()
    normal = Normal(terms)
    x = terms.variable("x", 8)
    nine, ten = terms.constant(9, 8), terms.constant(10, 8)
    assert normal(terms.sle(x, nine)) == normal(terms.slt(x, ten))
    assert normal(terms.ult(nine, x)) == normal(terms.ule(ten, x))


@settings(max_examples=80, deadline=None)
@given(st.lists(formulas(width=1, depth=2), max_size=4))
def test_conjuncts_keep_their_meaning(parts: list[Formula]) -> None:
    terms = Terms()
    given_terms = [build(terms, part) for part in parts]
    split = Conjuncts(terms).of(given_terms)
    whole = terms.all_of(given_terms)
    names = sorted(part for part in terms.parts(given_terms) if part in terms.name)
    for numbers in product((0, 1, 5, (1 << 64) - 1, 1 << 31), repeat=min(len(names), 4)):
        model = Model(
            terms, {name: value % (1 << terms.width[name]) for name, value in zip(names, numbers)}
        )
        assert model.satisfies([whole]) == model.satisfies(split)


def test_two_bounds_make_an_equation() -> None:
    terms = Terms()
    x, y = terms.variable("x", 8), terms.variable("y", 8)
    seven = terms.constant(7, 8)
    conjuncts = Conjuncts(terms)
    assert conjuncts.of([terms.ule(x, seven), terms.ule(seven, x)]) == (terms.eq(x, seven),)
    assert conjuncts.of([terms.sle(x, y), terms.sle(y, x)]) == (terms.eq(x, y),)
    assert len(conjuncts.of([terms.sle(x, y), terms.ule(y, x)])) == 2


# --- vectors as integers


def number(value: int, width: int, view: View) -> int:
    return signed(value, width) if view.is_signed and width > 1 else value


def value_of(terms: Terms, view: View, linear: Linear, state: dict[int, int]) -> int:
    return linear.constant + sum(
        factor * number(terms.evaluate(atom, state.__getitem__), terms.width[atom], view)
        for atom, factor in linear.factors.items()
    )


@pytest.mark.parametrize("is_signed", [False, True])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_expressions_are_exact_where_their_conditions_hold(
    is_signed: bool, data: st.DataObject
) -> None:
    terms = Terms()
    view = View(terms, is_signed=is_signed)
    term = data.draw(sums(terms))
    if data.draw(st.booleans()):
        extend = data.draw(st.sampled_from([terms.zero_extend, terms.sign_extend]))
        term = terms.add(extend(term, WIDTH + 2), terms.constant(data.draw(st.integers(0, 31)), 5))
    exact = view(term)
    for state in all_states(terms):
        if all(terms.evaluate(part, state.__getitem__) for part in exact.conditions):
            expected = number(terms.evaluate(term, state.__getitem__), terms.width[term], view)
            assert value_of(terms, view, exact.linear, state) == expected


@pytest.mark.parametrize("is_signed", [False, True])
@settings(max_examples=60, deadline=None)
@given(factors=st.tuples(*[st.integers(-5, 5)] * 2), constant=st.integers(-40, 40))
def test_inequalities_do_not_wrap(is_signed: bool, factors: tuple[int, int], constant: int) -> None:
    terms = Terms()
    view = View(terms, is_signed=is_signed)
    x, y = terms.variable("x", WIDTH), terms.variable("y", WIDTH)
    linear = Linear({x: 1}, 0).times(factors[0]).plus(Linear({y: 1}), factors[1])
    linear = linear.plus(Linear({}, constant))
    term = view.nonnegative(linear)
    for state in all_states(terms):
        expected = value_of(terms, view, linear, state) >= 0
        assert terms.evaluate(term, state.__getitem__) == expected


@pytest.mark.parametrize("is_signed", [False, True])
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_truth_values_as_inequalities(is_signed: bool, data: st.DataObject) -> None:
    terms = Terms()
    view = View(terms, is_signed=is_signed)
    compare = st.sampled_from([terms.eq, terms.ne, terms.ult, terms.ule, terms.slt, terms.sle])

    def comparison() -> int:
        return data.draw(compare)(data.draw(sums(terms, 1)), data.draw(sums(terms, 1)))

    join = data.draw(st.sampled_from([terms.and_, terms.or_]))
    term = join(comparison(), comparison())
    cases = alternatives(view, term)
    conditions = {part for case in cases for exact in case for part in exact.conditions}
    for state in all_states(terms):
        if all(terms.evaluate(part, state.__getitem__) for part in conditions):
            found = any(
                all(value_of(terms, view, exact.linear, state) <= 0 for exact in case)
                for case in cases
            )
            assert found == bool(terms.evaluate(term, state.__getitem__))


def test_too_many_cases() -> None:
    terms = Terms()
    x = terms.variable("x", 8)
    parts = [terms.ne(x, terms.constant(number, 8)) for number in range(1, 60, 2)]
    with pytest.raises(Failed):
        alternatives(View(terms, is_signed=False), terms.any_of(parts))
    with pytest.raises(Failed):
        alternatives(View(terms, is_signed=False), terms.all_of(parts))


# --- Farkas' lemma


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(-4, 4)),
        min_size=1,
        max_size=5,
    )
)
def test_multipliers_exist_exactly_if_there_is_no_solution(
    rows: list[tuple[int, int, int]],
) -> None:
    terms = Terms()
    x, y = terms.variable("x", 8), terms.variable("y", 8)
    constraints = [
        Linear({x: 1}).times(a).plus(Linear({y: 1}), b).plus(Linear({}, c)) for a, b, c in rows
    ]
    found = multipliers(constraints)
    if found is not None:
        total = Linear({})
        for constraint, factor in zip(constraints, found, strict=True):
            assert factor >= 0
            total = total.plus(constraint, factor)
        assert not total.factors
        assert total.constant > 0
    else:
        assert _has_rational_solution(rows)


def _has_rational_solution(rows: list[tuple[int, int, int]]) -> bool:
    """By z3, which shares nothing with the simplex method here."""
    import z3

    x, y = z3.Reals("x y")
    solver = z3.Solver()
    solver.add([a * x + b * y + c <= 0 for a, b, c in rows])
    return bool(solver.check() == z3.sat)


@pytest.mark.parametrize("is_choice", [False, True])
def test_shared_parts_are_not_unfolded_for_ever(is_choice: bool) -> None:
    """A term of a hundred nodes that would be 2**50 long."""
    terms = Terms()
    term = terms.ult(terms.variable("x", 8), terms.variable("y", 8))
    for number in range(50):
        one, other = (terms.variable(f"{name}{number}", 1) for name in "ab")
        if is_choice:
            term = terms.or_(terms.and_(term, one), terms.and_(term, other))
        else:
            term = terms.and_(terms.or_(term, one), terms.or_(term, other))
    with pytest.raises(Failed):
        alternatives(View(terms, is_signed=False), term)
