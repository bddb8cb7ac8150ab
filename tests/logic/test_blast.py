"""Bit-blasting: the SAT solver gives every term the value that an independent evaluator gives."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.logic.formulas import (
    COMPARISONS,
    SAME_WIDTH,
    SHIFTS,
    Formula,
    build,
    formulas,
    numbers,
    value,
    valued_formulas,
    variables,
)

from plait.logic.second_opinion import SecondOpinion
from plait.logic.solver import Solver
from plait.logic.terms import Terms


def fixed(solver: Solver, term: int, wanted: int) -> list[int]:
    """Assumptions that give a term a value."""
    bits = solver.bits_of(term)
    return [bit if wanted >> place & 1 else -bit for place, bit in enumerate(bits)]


@given(valued_formulas())
@settings(max_examples=150, deadline=None)
def test_terms_have_one_value(case: tuple[Formula, dict[str, int]]) -> None:
    formula, assignment = case
    terms = Terms()
    term = build(terms, formula)
    wanted = value(formula, assignment)
    with Solver(terms) as solver:
        bits = solver.bits_of(term)
        inputs: list[int] = []
        for name, width in variables(formula).items():
            inputs += fixed(solver, terms.variable(name, width), assignment[name])
        assert solver.solve([*inputs, *fixed(solver, term, wanted)])
        assert solver.model_value(term) == wanted
        for name, width in variables(formula).items():
            assert solver.model_value(terms.variable(name, width)) == assignment[name]
        differs = [-bit for bit in fixed(solver, term, wanted)]
        switch = solver.new_literal()
        solver.add_clause([-switch, *differs])
        assert solver.solve([*inputs, switch]) is False
        assert switch in solver.core()
        assert len(bits) == formula.width


@given(valued_formulas(), st.data())
@settings(max_examples=100, deadline=None)
def test_equations_with_values(case: tuple[Formula, dict[str, int]], data: st.DataObject) -> None:
    """The same by assertions of terms, which take other ways: definitions and clauses."""
    formula, assignment = case
    wanted = value(formula, assignment)
    is_wrong = data.draw(st.booleans())
    terms = Terms()
    equations = [
        terms.eq(terms.variable(name, width), terms.constant(assignment[name], width))
        for name, width in variables(formula).items()
    ]
    result = terms.constant(wanted, formula.width)
    compare = terms.ne if is_wrong else terms.eq
    equations.append(compare(build(terms, formula), result))
    with Solver(terms, second_opinion=SecondOpinion(terms)) as solver:
        for equation in data.draw(st.permutations(equations)):
            solver.assert_term(equation)
        assert solver.solve() is not is_wrong


@given(st.lists(formulas(width=1), min_size=1, max_size=4), st.data())
@settings(max_examples=120, deadline=None)
def test_conditions_against_z3(conditions: list[Formula], data: st.DataObject) -> None:
    """Random truth values asserted, assumed, or put into clauses; z3 checks models and cores."""
    terms = Terms()
    opinion = SecondOpinion(terms, timeout_seconds=5)
    with Solver(terms, second_opinion=opinion) as solver:
        assumptions = []
        for condition in conditions:
            term = build(terms, condition)
            match data.draw(st.sampled_from(["assert", "assume", "clause"])):
                case "assert":
                    solver.assert_term(term)
                case "assume":
                    assumptions.append(solver.literal_of(term))
                case _:
                    other = solver.new_literal()
                    solver.add_clause([solver.literal_of(term), other])
                    assumptions.append(-other)
            answer = solver.solve(assumptions, conflicts=2000)
            if answer is None:
                return
        assert opinion.confirmed + opinion.undecided == len(conditions)
        if answer:
            names = {name: width for item in conditions for name, width in variables(item).items()}
            found = {n: solver.model_value(terms.variable(n, w)) for n, w in names.items()}
            for condition in conditions:
                # All conditions are true in it: the alternative in a clause is assumed false.
                assert value(condition, found) == 1


@pytest.mark.parametrize("kind", [*SAME_WIDTH, *SHIFTS, *COMPARISONS])
@pytest.mark.parametrize("width", [2, 3, 4])
def test_narrow_operators_completely(kind: str, width: int) -> None:
    x, y = Formula("variable", width, name="x"), Formula("variable", width, name="y")
    formula = Formula(kind, 1 if kind in COMPARISONS else width, (x, y))
    terms = Terms()
    term = build(terms, formula)
    with Solver(terms) as solver:
        bits = solver.bits_of(term)
        for a, b in itertools.product(range(2**width), repeat=2):
            inputs = fixed(solver, build(terms, x), a) + fixed(solver, build(terms, y), b)
            assert solver.solve(inputs)
            wanted = value(formula, {"x": a, "y": b})
            assert solver.model_value(term) == wanted
            # The circuit leaves no choice: each output bit is determined.
            for place, bit in enumerate(bits):
                other = -bit if wanted >> place & 1 else bit
                assert solver.solve([*inputs, other]) is False


@given(st.integers(1, 64), st.data())
@settings(max_examples=60, deadline=None)
def test_constant_multiples(width: int, data: st.DataObject) -> None:
    factor, number = data.draw(numbers(width)), data.draw(numbers(width))
    terms = Terms()
    x = terms.variable("x", width)
    product = terms.mul(x, terms.constant(factor, width))
    with Solver(terms) as solver:
        assert solver.solve([*fixed(solver, x, number), *fixed(solver, product, 0)][:width])
        assert solver.model_value(product) == factor * number % 2**width


@pytest.mark.parametrize("width", [8, 16, 32])
def test_laws(width: int) -> None:
    """Identities over all values: what the solver finds no counterexample to."""
    terms = Terms()
    x, y = terms.variable("x", width), terms.variable("y", width)
    laws = [
        terms.eq(terms.add(x, y), terms.sub(x, terms.neg(y))),
        terms.eq(terms.add(x, y), terms.add(terms.xor(x, y), terms.mul(terms.constant(2, width), terms.and_(x, y)))),
        terms.eq(terms.slt(x, y), terms.ult(*(terms.xor(v, terms.constant(1 << (width - 1), width)) for v in (x, y)))),
        terms.implies(terms.ult(x, y), terms.ne(x, y)),
        terms.eq(terms.mul(x, terms.constant(7, width)), terms.sub(terms.shl(x, terms.constant(3, width)), x)),
        terms.eq(terms.not_(x), terms.sub(terms.neg(x), terms.constant(1, width))),
        terms.implies(
            terms.ult(x, terms.constant(200, width)),
            terms.eq(terms.udiv(x, terms.constant(10, width)), terms.sub(terms.udiv(terms.add(x, terms.constant(10, width)), terms.constant(10, width)), terms.constant(1, width))),
        ) if width > 8 else terms.true,
    ]  # fmt: skip
    with Solver(terms, second_opinion=SecondOpinion(terms)) as solver:
        for law in laws:
            assert solver.solve([-solver.literal_of(law)]) is False


def test_division_is_shared_and_right() -> None:
    terms = Terms()
    x, y = terms.variable("x", 8), terms.variable("y", 8)
    quotient, remainder = terms.udiv(x, y), terms.urem(x, y)
    law = terms.eq(terms.add(terms.mul(quotient, y), remainder), x)
    with Solver(terms) as solver:
        solver.bits_of(quotient)
        before = solver.gates.variables
        solver.bits_of(remainder)
        assert solver.gates.variables == before
        assert solver.solve([-solver.literal_of(law)]) is False
        smaller = solver.literal_of(terms.ult(remainder, y))
        assert (
            solver.solve([-smaller, solver.literal_of(terms.ne(y, terms.constant(0, 8)))]) is False
        )


def test_definitions_cost_nothing() -> None:
    terms = Terms()
    with Solver(terms) as solver:
        x, y = terms.variable("x", 32), terms.variable("y", 32)
        total = terms.add(x, y)
        solver.bits_of(total)
        before = solver.statistics()
        copy = terms.variable("copy", 32)
        solver.assert_term(terms.eq(copy, total))
        assert solver.statistics() == before
        solver.assert_term(terms.ult(copy, terms.constant(10, 32)))
        solver.assert_term(terms.ne(x, terms.constant(0, 32)))
        assert solver.solve()
        assert solver.model_value(copy) == solver.model_value(total) < 10
        # A second definition is an equation like any other.
        solver.assert_term(terms.eq(copy, terms.constant(11, 32)))
        assert solver.solve() is False


def test_circular_definitions_are_equations() -> None:
    terms = Terms()
    x = terms.variable("x", 8)
    with Solver(terms, second_opinion=SecondOpinion(terms)) as solver:
        solver.assert_term(terms.eq(x, terms.mul(x, terms.constant(3, 8))))
        solver.assert_term(terms.ne(x, terms.constant(0, 8)))
        assert solver.solve()
        assert solver.model_value(x) == 128


SMALL = {"p": 1, "q": 1, "x": 2, "y": 2}


@st.composite
def conditions(draw: st.DrawFn, depth: int) -> Formula:
    """Truth values with few variables and much structure, for what assertions look at."""
    if depth == 0:
        kind = draw(st.sampled_from(["p", "q", "eq", "ult", "constant"]))
        if kind == "constant":
            return Formula("constant", 1, number=draw(st.integers(0, 1)))
        if kind in SMALL:
            return Formula("variable", 1, name=kind)
        left = Formula("variable", 2, name="x")
        right = draw(
            st.sampled_from([Formula("variable", 2, name="y"), Formula("constant", 2, number=2)])
        )
        if draw(st.booleans()):
            right = Formula("add", 2, (right, Formula("variable", 2, name="y")))
        return Formula(kind, 1, (left, right))
    kind = draw(st.sampled_from(["not", "and", "or", "xor", "eq", "ite", "all_of", "any_of"]))
    count = {"not": 1, "ite": 3}.get(kind, 2)
    if kind in ("all_of", "any_of"):
        count = draw(st.integers(2, 6))
    depths = st.integers(0, depth - 1)
    return Formula(kind, 1, tuple(draw(conditions(draw(depths))) for _ in range(count)))


@given(st.lists(conditions(3), min_size=1, max_size=3))
@settings(max_examples=300, deadline=None)
def test_assertions_allow_exactly_their_models(asserted: list[Formula]) -> None:
    terms = Terms()
    with Solver(terms) as solver:
        for condition in asserted:
            solver.assert_term(build(terms, condition))
        for values in itertools.product(range(2), range(2), range(4), range(4)):
            assignment = dict(zip(SMALL, values))
            inputs: list[int] = []
            for name, width in SMALL.items():
                inputs += fixed(solver, terms.variable(name, width), assignment[name])
            wanted = all(value(condition, assignment) for condition in asserted)
            assert solver.solve(inputs) is wanted
