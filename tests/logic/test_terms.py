"""Terms: hash-consing, and simplifications that keep every value."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.logic.formulas import (
    COMPARISONS,
    SAME_WIDTH,
    SHIFTS,
    Formula,
    build,
    value,
    valued_formulas,
)

from plait.logic.operators import NAMES
from plait.logic.substitute import substitute
from plait.logic.terms import Terms


@given(valued_formulas(depth=4))
@settings(max_examples=400, deadline=None)
def test_simplified_terms_have_the_same_value(case: tuple[Formula, dict[str, int]]) -> None:
    formula, assignment = case
    terms = Terms()
    term = build(terms, formula)
    assert terms.width[term] == formula.width
    found = terms.evaluate(term, lambda part: assignment[terms.name[part]])
    assert found == value(formula, assignment)


@given(valued_formulas(depth=4))
@settings(max_examples=200, deadline=None)
def test_terms_without_variables_become_constants(case: tuple[Formula, dict[str, int]]) -> None:
    formula, assignment = case

    def closed(item: Formula) -> Formula:
        if item.kind == "variable":
            return Formula("constant", item.width, number=assignment[item.name])
        return Formula(
            item.kind, item.width, tuple(closed(part) for part in item.parts), item.number
        )

    terms = Terms()
    assert terms.value(build(terms, closed(formula))) == value(formula, assignment)


@pytest.mark.parametrize("kind", [*SAME_WIDTH, *SHIFTS, *COMPARISONS])
@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_every_operator_with_a_constant_on_either_side(kind: str, width: int) -> None:
    """All values of narrow operands, so that every rule about constants is tried."""
    result = 1 if kind in COMPARISONS else width
    x = Formula("variable", width, name="x")
    for number in range(2**width):
        constant = Formula("constant", width, number=number)
        for parts in ((x, constant), (constant, x), (x, x)):
            formula = Formula(kind, result, parts)
            terms = Terms()
            term = build(terms, formula)
            for given_value in range(2**width):
                found = terms.evaluate(term, lambda part, v=given_value: v)
                assert found == value(formula, {"x": given_value}), (formula, given_value)


@pytest.mark.parametrize("kind", COMPARISONS)
@pytest.mark.parametrize("extension", ["zero_extend", "sign_extend"])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_comparisons_of_extended_terms(kind: str, extension: str, width: int) -> None:
    x = Formula("variable", width, name="x")
    wide = Formula(extension, width + 2, (x,))
    for number in range(2 ** (width + 2)):
        constant = Formula("constant", width + 2, number=number)
        for parts in ((wide, constant), (constant, wide)):
            formula = Formula(kind, 1, parts)
            terms = Terms()
            term = build(terms, formula)
            for given_value in range(2**width):
                found = terms.evaluate(term, lambda part, v=given_value: v)
                assert found == value(formula, {"x": given_value}), (formula, given_value)


@pytest.mark.parametrize("kind", COMPARISONS)
def test_comparisons_of_choices_and_sums(kind: str) -> None:
    p = Formula("variable", 1, name="p")
    x = Formula("variable", 3, name="x")
    constants = [Formula("constant", 3, number=number) for number in range(8)]
    for first, second, third in itertools.product(constants, repeat=3):
        for left in (
            Formula("ite", 3, (p, first, second)),
            Formula("ite", 3, (p, first, x)),
            Formula("sub", 3, (first, x)),
            Formula("add", 3, (x, first)),
        ):
            if left.kind != "ite" and first != second:
                continue
            for parts in ((left, third), (third, left)):
                formula = Formula(kind, 1, parts)
                terms = Terms()
                term = build(terms, formula)
                for values in ({"p": 0, "x": 5}, {"p": 1, "x": 5}, {"p": 0, "x": 0}):
                    found = terms.evaluate(term, lambda part, v=values: v[terms.name[part]])  # noqa: B023
                    assert found == value(formula, values), (formula, values)


def test_equal_terms_are_one_term() -> None:
    terms = Terms()
    x, y = terms.variable("x", 32), terms.variable("y", 32)
    for build_one in (terms.add, terms.mul, terms.and_, terms.or_, terms.xor, terms.eq):
        assert build_one(x, y) == build_one(y, x)
    assert terms.sub(x, y) != terms.sub(y, x)
    assert terms.variable("x", 32) == x
    assert terms.constant(-1, 8) == terms.constant(255, 8)
    assert terms.constant(1, 8) != terms.constant(1, 9)
    before = len(terms)
    terms.add(x, y)
    assert len(terms) == before
    assert terms.fresh("x", 8) != terms.fresh("x", 8)


def test_operands_come_before_their_users() -> None:
    terms = Terms()
    x = terms.variable("x", 8)
    term = terms.ite(terms.ult(x, terms.constant(9, 8)), terms.mul(x, x), terms.neg(x))
    order = list(terms.parts([term]))
    for part in order:
        assert all(operand in order and operand < part for operand in terms.operands[part])


Rule = tuple[str, Callable[[Terms, int, int, int, int], tuple[int, int]]]


def constant(terms: Terms, value: int) -> int:
    return terms.constant(value, 16)


# What each rule makes of terms over two vectors x, y of 16 bits and two truth values p, q.
RULES: list[Rule] = [
    ("x + 0", lambda t, x, y, p, q: (t.add(x, constant(t, 0)), x)),
    (
        "x + 3 + 4",
        lambda t, x, y, p, q: (
            t.add(t.add(x, constant(t, 3)), constant(t, 4)),
            t.add(constant(t, 7), x),
        ),
    ),
    ("x + -y", lambda t, x, y, p, q: (t.add(x, t.neg(y)), t.sub(x, y))),
    ("x - x", lambda t, x, y, p, q: (t.sub(x, x), constant(t, 0))),
    (
        "(x + 8) - (x + 2)",
        lambda t, x, y, p, q: (
            t.sub(t.add(x, constant(t, 8)), t.add(x, constant(t, 2))),
            constant(t, 6),
        ),
    ),
    ("(x + y) - x", lambda t, x, y, p, q: (t.sub(t.add(x, y), x), y)),
    ("x - (x + y)", lambda t, x, y, p, q: (t.sub(x, t.add(x, y)), t.neg(y))),
    ("-(x - y)", lambda t, x, y, p, q: (t.neg(t.sub(x, y)), t.sub(y, x))),
    ("- -x", lambda t, x, y, p, q: (t.neg(t.neg(x)), x)),
    ("x * 0", lambda t, x, y, p, q: (t.mul(x, constant(t, 0)), constant(t, 0))),
    ("1 * x", lambda t, x, y, p, q: (t.mul(constant(t, 1), x), x)),
    ("-1 * x", lambda t, x, y, p, q: (t.mul(constant(t, -1), x), t.neg(x))),
    (
        "x * 4",
        lambda t, x, y, p, q: (
            t.mul(x, constant(t, 4)),
            t.concat(t.extract(x, 0, 14), t.constant(0, 2)),
        ),
    ),
    ("x / 1", lambda t, x, y, p, q: (t.sdiv(x, constant(t, 1)), x)),
    ("x / -1", lambda t, x, y, p, q: (t.sdiv(x, constant(t, -1)), t.neg(x))),
    ("x / 0", lambda t, x, y, p, q: (t.sdiv(x, constant(t, 0)), constant(t, 0))),
    ("x % 0", lambda t, x, y, p, q: (t.srem(x, constant(t, 0)), x)),
    (
        "x % 8u",
        lambda t, x, y, p, q: (
            t.urem(x, constant(t, 8)),
            t.zero_extend(t.extract(x, 0, 3), 16),
        ),
    ),
    ("~~x", lambda t, x, y, p, q: (t.not_(t.not_(x)), x)),
    ("x & x", lambda t, x, y, p, q: (t.and_(x, x), x)),
    ("x & ~x", lambda t, x, y, p, q: (t.and_(x, t.not_(x)), constant(t, 0))),
    ("x | ~x", lambda t, x, y, p, q: (t.or_(x, t.not_(x)), constant(t, -1))),
    ("x & -1", lambda t, x, y, p, q: (t.and_(x, constant(t, -1)), x)),
    ("x | 0", lambda t, x, y, p, q: (t.or_(x, constant(t, 0)), x)),
    ("x & (x | y)", lambda t, x, y, p, q: (t.and_(x, t.or_(x, y)), x)),
    ("(x | y) & x", lambda t, x, y, p, q: (t.and_(t.or_(x, y), x), x)),
    ("(x & y) & x", lambda t, x, y, p, q: (t.and_(t.and_(x, y), x), t.and_(y, x))),
    ("(p & q) & ~p", lambda t, x, y, p, q: (t.and_(t.and_(p, q), t.not_(p)), t.false)),
    ("x ^ x", lambda t, x, y, p, q: (t.xor(x, x), constant(t, 0))),
    ("~x ^ y", lambda t, x, y, p, q: (t.xor(t.not_(x), y), t.not_(t.xor(x, y)))),
    ("x == x", lambda t, x, y, p, q: (t.eq(x, x), t.true)),
    ("x == ~x", lambda t, x, y, p, q: (t.eq(x, t.not_(x)), t.false)),
    ("p == true", lambda t, x, y, p, q: (t.eq(p, t.true), p)),
    ("p == false", lambda t, x, y, p, q: (t.eq(p, t.false), t.not_(p))),
    (
        "x + 1 == 5",
        lambda t, x, y, p, q: (
            t.eq(t.add(x, constant(t, 1)), constant(t, 5)),
            t.eq(x, constant(t, 4)),
        ),
    ),
    ("x == x + 1", lambda t, x, y, p, q: (t.eq(x, t.add(x, constant(t, 1))), t.false)),
    (
        "x - y == 0",
        lambda t, x, y, p, q: (t.eq(t.sub(x, y), constant(t, 0)), t.eq(x, y)),
    ),
    ("(int)p != 0", lambda t, x, y, p, q: (t.ne(t.zero_extend(p, 16), constant(t, 0)), p)),
    ("(int)p == 2", lambda t, x, y, p, q: (t.eq(t.zero_extend(p, 16), constant(t, 2)), t.false)),
    (
        "(int)p & (int)q",
        lambda t, x, y, p, q: (
            t.and_(t.zero_extend(p, 16), t.zero_extend(q, 16)),
            t.zero_extend(t.and_(p, q), 16),
        ),
    ),
    (
        "(p ? 3 : 5) == 3",
        lambda t, x, y, p, q: (
            t.eq(t.ite(p, constant(t, 3), constant(t, 5)), constant(t, 3)),
            p,
        ),
    ),
    (
        "(p ? 3 : x) == 5",
        lambda t, x, y, p, q: (
            t.eq(t.ite(p, constant(t, 3), x), constant(t, 5)),
            t.and_(t.not_(p), t.eq(x, constant(t, 5))),
        ),
    ),
    (
        "(p ? 3 : 5) < 4",
        lambda t, x, y, p, q: (
            t.ult(t.ite(p, constant(t, 3), constant(t, 5)), constant(t, 4)),
            p,
        ),
    ),
    ("x < 0u", lambda t, x, y, p, q: (t.ult(x, constant(t, 0)), t.false)),
    ("x < x", lambda t, x, y, p, q: (t.slt(x, x), t.false)),
    ("x < 0", lambda t, x, y, p, q: (t.slt(x, constant(t, 0)), t.extract(x, 15, 1))),
    ("x <= y", lambda t, x, y, p, q: (t.sle(x, y), t.not_(t.slt(y, x)))),
    (
        "(long)x < (long)y",
        lambda t, x, y, p, q: (t.slt(t.sign_extend(x, 32), t.sign_extend(y, 32)), t.slt(x, y)),
    ),
    (
        "(long)x < 100000",
        lambda t, x, y, p, q: (t.slt(t.sign_extend(x, 32), t.constant(100000, 32)), t.true),
    ),
    (
        "3 < (long)x",
        lambda t, x, y, p, q: (
            t.slt(t.constant(3, 32), t.sign_extend(x, 32)),
            t.not_(t.slt(x, constant(t, 4))),
        ),
    ),
    ("true ? x : y", lambda t, x, y, p, q: (t.ite(t.true, x, y), x)),
    ("p ? x : x", lambda t, x, y, p, q: (t.ite(p, x, x), x)),
    ("~p ? x : y", lambda t, x, y, p, q: (t.ite(t.not_(p), x, y), t.ite(p, y, x))),
    ("p ? (p ? x : y) : y", lambda t, x, y, p, q: (t.ite(p, t.ite(p, x, y), y), t.ite(p, x, y))),
    (
        "p ? x : (q ? x : y)",
        lambda t, x, y, p, q: (t.ite(p, x, t.ite(q, x, y)), t.ite(t.or_(p, q), x, y)),
    ),
    (
        "p ? 1 : 0",
        lambda t, x, y, p, q: (
            t.ite(p, constant(t, 1), constant(t, 0)),
            t.zero_extend(p, 16),
        ),
    ),
    ("p ? true : q", lambda t, x, y, p, q: (t.ite(p, t.true, q), t.or_(p, q))),
    ("p ? q : false", lambda t, x, y, p, q: (t.ite(p, q, t.false), t.and_(p, q))),
    ("p ? q : ~q", lambda t, x, y, p, q: (t.ite(p, q, t.not_(q)), t.eq(p, q))),
    ("extract of concat, low", lambda t, x, y, p, q: (t.extract(t.concat(x, y), 0, 16), y)),
    ("extract of concat, high", lambda t, x, y, p, q: (t.extract(t.concat(x, y), 16, 16), x)),
    (
        "extract of extract",
        lambda t, x, y, p, q: (t.extract(t.extract(x, 4, 8), 2, 3), t.extract(x, 6, 3)),
    ),
    (
        "extract of zero extension",
        lambda t, x, y, p, q: (
            t.extract(t.zero_extend(x, 32), 8, 16),
            t.zero_extend(t.extract(x, 8, 8), 16),
        ),
    ),
    (
        "extract of sign extension",
        lambda t, x, y, p, q: (t.extract(t.sign_extend(x, 32), 0, 16), x),
    ),
    (
        "concat of neighbours",
        lambda t, x, y, p, q: (t.concat(t.extract(x, 8, 8), t.extract(x, 0, 8)), x),
    ),
    ("x << 0", lambda t, x, y, p, q: (t.shl(x, constant(t, 0)), x)),
    ("x << 16", lambda t, x, y, p, q: (t.shl(x, constant(t, 16)), x)),
    (
        "x >> 3",
        lambda t, x, y, p, q: (t.lshr(x, constant(t, 3)), t.zero_extend(t.extract(x, 3, 13), 16)),
    ),
    ("p and p implies q", lambda t, x, y, p, q: (t.implies(p, p), t.true)),
    ("all_of()", lambda t, x, y, p, q: (t.all_of([]), t.true)),
    ("any_of(p, q, ~p)", lambda t, x, y, p, q: (t.any_of([p, q, t.not_(p)]), t.true)),
    ("all_of(p, true, p)", lambda t, x, y, p, q: (t.all_of([p, t.true, p]), p)),
]


@pytest.mark.parametrize(("name", "rule"), RULES, ids=[name for name, _ in RULES])
def test_rules(name: str, rule: Callable[[Terms, int, int, int, int], tuple[int, int]]) -> None:
    terms = Terms()
    x, y = terms.variable("x", 16), terms.variable("y", 16)
    p, q = terms.variable("p", 1), terms.variable("q", 1)
    found, wanted = rule(terms, x, y, p, q)
    assert found == wanted, (terms.show(found), terms.show(wanted))


def test_long_conjunctions_stay_small() -> None:
    """The guards of a long path: each is the conjunction of the one before and one more."""
    terms = Terms()
    guard = terms.true
    for index in range(2000):
        guard = terms.and_(guard, terms.variable(f"p{index}", 1))
    assert max(len(operands) for operands in terms.operands) <= 8
    assert sum(len(operands) for operands in terms.operands) < 20_000


def test_long_chains_of_choices_can_be_compared() -> None:
    terms = Terms()
    chain = terms.variable("x", 32)
    for index in range(5000):
        chain = terms.ite(terms.variable(f"p{index}", 1), terms.constant(index, 32), chain)
    same = terms.eq(chain, terms.constant(4999, 32))
    values = {"p4999": 1, "x": 7}
    assert terms.evaluate(same, lambda part: values.get(terms.name[part], 0)) == 1
    values = {"p4998": 1, "x": 7}
    assert terms.evaluate(same, lambda part: values.get(terms.name[part], 0)) == 0


@given(st.integers(1, 70), st.integers(1, 70), st.integers(0, 2**70))
@example(3, 2, 3)
def test_counts_are_reduced_modulo_the_width(width: int, size: int, count: int) -> None:
    terms = Terms()
    x, n = terms.variable("x", width), terms.variable("n", size)
    for shift in (terms.shl, terms.lshr, terms.ashr):
        term = shift(x, n)
        values = {"x": 2 ** (width - 1) | 1, "n": count % 2**size}
        found = terms.evaluate(term, lambda part, v=values: v[terms.name[part]])
        by_constant = shift(terms.constant(values["x"], width), terms.constant(values["n"], size))
        assert found == terms.value(by_constant)


def test_mistakes_are_reported() -> None:
    terms = Terms()
    x, y = terms.variable("x", 8), terms.variable("y", 16)
    for wrong in (
        lambda: terms.add(x, y),
        lambda: terms.ite(x, y, y),
        lambda: terms.extract(x, 4, 5),
        lambda: terms.zero_extend(y, 8),
        lambda: terms.variable("x", 9),
        lambda: terms.all_of([x]),
        lambda: terms.constant(0, 0),
    ):
        with pytest.raises(ValueError, match=r"."):
            wrong()


def test_show() -> None:
    terms = Terms()
    x = terms.variable("x", 8)
    term = terms.ult(
        terms.add(x, terms.constant(3, 8)), terms.zero_extend(terms.extract(x, 1, 2), 8)
    )
    assert terms.show(term) == "(ult (add x 3:8) (zero_extend:8 x[2:1]))"
    assert len(set(NAMES)) == len(NAMES) == 25


def test_all_truth_functions_of_two_conditions() -> None:
    """Choices between the four obvious truth values, nested once, in all ways."""
    for outer in itertools.product(range(6), repeat=3):
        terms = Terms()
        p, q = terms.variable("p", 1), terms.variable("q", 1)
        atoms = [terms.true, terms.false, p, q, terms.not_(p), terms.not_(q)]
        term = terms.ite(*(atoms[index] for index in outer))
        for p_value, q_value in itertools.product((0, 1), repeat=2):
            values = [1, 0, p_value, q_value, 1 - p_value, 1 - q_value]
            condition, then, otherwise = (values[index] for index in outer)
            found = terms.evaluate(term, lambda part, v={p: p_value, q: q_value}: v[part])
            assert found == (then if condition else otherwise)


def test_substitution_is_simultaneous() -> None:
    terms = Terms()
    x, y, z = (terms.variable(name, 8) for name in "xyz")
    for one, other in ((x, y), (y, x)):
        exchanged = substitute(terms, terms.sub(one, other), {x: y, y: x})
        assert exchanged == terms.sub(other, one)
        moved = substitute(terms, terms.sub(one, terms.mul(other, z)), {x: y, y: z, z: x})
        names = {x: y, y: z, z: x}
        assert moved == terms.sub(names[one], terms.mul(names[other], x))
