"""Floating-point terms have the values that the reference interpreter computes."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.semantics.builder import ProgramBuilder, scalar_layout

from plait.errors import UnsupportedCode
from plait.logic.solver import Solver
from plait.logic.terms import Terms
from plait.logic.translate import translate, translate_condition
from plait.model.actions import NOWHERE, Assign, Store
from plait.model.expressions import (
    COMPARISONS,
    Binary,
    BinaryOp,
    Conditional,
    Const,
    Convert,
    Expr,
    PointerAdd,
    Register,
    StaticAddress,
    Unary,
    UnaryOp,
)
from plait.model.properties import Specification
from plait.model.types import (
    BOOL,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    I128,
    POINTER_64,
    U8,
    U16,
    U32,
    U64,
    U128,
    Kind,
    Scalar,
)
from plait.semantics.machine import Machine
from plait.semantics.outcome import Ending
from plait.semantics.scalars import Number, from_bits, reader, to_bits

FLOATS = [F32, F64]
INTEGERS = [I8, U8, I16, U16, I32, U32, I64, U64, I128, U128, BOOL]
FRACTION = {32: 23, 64: 52}
OPERATORS = [BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.DIV]
OPERATORS += sorted(COMPARISONS, key=lambda op: op.name)


def reference(expr: Expr, values: list[tuple[Scalar, Number]]) -> Number:
    """What the interpreter makes of an expression over registers with these values."""
    builder = ProgramBuilder()
    result = builder.object("result", scalar_layout(expr.type))
    main = builder.function("main")
    for index, (scalar, value) in enumerate(values):
        main.register(scalar, f"v{index}")
        main.emit(Assign(NOWHERE, Register(scalar, index, ""), Const(scalar, value)))
    main.emit(Store(NOWHERE, StaticAddress(POINTER_64, result), expr))
    main.exit()
    machine = Machine(builder.build(), Specification())
    machine.start()
    assert machine.step(1, most=100).ending is Ending.MOVED
    found: Number = reader(expr.type)(machine.memory[result.page], 0)[0]
    return found


@st.composite
def patterns(draw: st.DrawFn, scalar: Scalar) -> int:
    """Bits of floating values, with those that rounding is about more often than they are."""
    fraction = FRACTION[scalar.bits]
    width = scalar.bits - 1 - fraction
    bias = (1 << (width - 1)) - 1
    exponent = draw(
        st.one_of(
            st.integers(bias - 60, bias + 66),
            st.sampled_from([0, 1, bias, bias + fraction, (1 << width) - 2, (1 << width) - 1]),
            st.integers(0, (1 << width) - 1),
        )
    )
    ones = (1 << fraction) - 1
    digits = draw(
        st.one_of(
            st.sampled_from([0, 1, ones, ones - 1, 1 << (fraction - 1), (1 << (fraction - 1)) - 1]),
            st.integers(0, ones),
        )
    )
    return draw(st.integers(0, 1)) << (scalar.bits - 1) | exponent << fraction | digits


@st.composite
def pairs(draw: st.DrawFn, scalar: Scalar) -> tuple[int, int]:
    left = draw(patterns(scalar))
    if draw(st.booleans()):
        return left, draw(patterns(scalar))
    # Numbers that are close to each other, or opposite, cancel.
    sign = draw(st.integers(0, 1)) << (scalar.bits - 1)
    return left, left ^ draw(st.integers(0, 7)) ^ sign


def same_value(scalar: Scalar, bits: int, wanted: Number) -> bool:
    if scalar.kind is Kind.FLOAT and math.isnan(wanted):
        return math.isnan(from_bits(bits, scalar))
    return bits == to_bits(wanted, scalar)


def check_value(expr: Expr, values: list[tuple[Scalar, int]]) -> None:
    """`values` are bit patterns of the registers."""
    wanted = reference(expr, [(scalar, from_bits(bits, scalar)) for scalar, bits in values])
    terms = Terms()
    variables = {
        index: terms.variable(f"r{index}", scalar.bits) for index, (scalar, _) in enumerate(values)
    }
    numbers = {variables[index]: bits for index, (_, bits) in enumerate(values)}
    term = translate(terms, expr, variables, lambda place: terms.true)
    assert terms.width[term] == expr.type.bits
    # Variables that are not registers are bits of NaNs: they have no say in whether it is one.
    for rest in (0, -1):
        chosen = {part: rest % (1 << terms.width[part]) for part in terms.name} | numbers
        found = terms.evaluate(term, chosen.__getitem__)
        assert same_value(expr.type, found, wanted)
    constants = {
        index: terms.constant(bits, scalar.bits) for index, (scalar, bits) in enumerate(values)
    }
    folded = terms.value(translate(terms, expr, constants, lambda place: terms.true))
    is_nan = expr.type.kind is Kind.FLOAT and math.isnan(wanted)
    assert is_nan or (folded is not None and same_value(expr.type, folded, wanted))
    truth = translate_condition(terms, expr, constants, lambda place: terms.true)
    assert terms.evaluate(truth, lambda part: 0) == (wanted != 0)


@given(st.sampled_from(FLOATS), st.sampled_from(OPERATORS), st.data())
@settings(max_examples=400, deadline=None)
def test_operators(scalar: Scalar, op: BinaryOp, data: st.DataObject) -> None:
    left, right = data.draw(pairs(scalar))
    kind = I32 if op in COMPARISONS else scalar
    expr = Binary(kind, op, Register(scalar, 0, ""), Register(scalar, 1, ""))
    check_value(expr, [(scalar, left), (scalar, right)])


def number(scalar: Scalar, value: float) -> tuple[Scalar, int]:
    return scalar, to_bits(value, scalar)


@pytest.mark.parametrize("scalar", FLOATS)
@pytest.mark.parametrize("sign", [1, -1])
def test_bits_that_are_shifted_out_decide_a_tie(scalar: Scalar, sign: int) -> None:
    """Half of the last place, and a little more or less: far below what the sum has room for."""
    places = FRACTION[scalar.bits]
    half = 2.0 ** -(places + 1)
    little = half * 2.0**-places if scalar is F64 else half * 2.0**-20
    for op in (BinaryOp.ADD, BinaryOp.SUB):
        expr = Binary(scalar, op, Register(scalar, 0, ""), Register(scalar, 1, ""))
        for other in (half, half + little, half - little / 2):
            check_value(expr, [number(scalar, sign * 1.0), number(scalar, sign * other)])
            check_value(expr, [number(scalar, sign * other), number(scalar, -sign * 1.0)])
    # A product of two significands that differs from a tie in its last bit alone.
    expr = Binary(scalar, BinaryOp.MUL, Register(scalar, 0, ""), Register(scalar, 1, ""))
    one = 1 + 2.0**-places
    tie = 1 + 2.0 ** -(places - 1) * (1 << (places // 2))
    check_value(expr, [number(scalar, sign * one), number(scalar, one)])
    check_value(expr, [number(scalar, sign * one), number(scalar, tie)])
    # Of numbers below the normal ones less is kept.
    least = 2.0 ** -(126 if scalar is F32 else 1022)
    for other in (1.5, 1.25 + 2.0**-20, 1.75 - 2.0**-20, 1 + half * 2):
        check_value(expr, [number(scalar, least * other), number(scalar, sign * 0.25)])
        check_value(expr, [number(scalar, least * (1 + 2.0**-places)), number(scalar, sign / 2)])


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_operators_on_special_values(op: BinaryOp) -> None:
    kind = I32 if op in COMPARISONS else F32
    expr = Binary(kind, op, Register(F32, 0, ""), Register(F32, 1, ""))
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, 2.0**-149]
    for left in special:
        for right in special:
            check_value(expr, [(F32, to_bits(left, F32)), (F32, to_bits(right, F32))])


@given(st.sampled_from(FLOATS), st.sampled_from([*INTEGERS, *FLOATS]), st.data())
@settings(max_examples=300, deadline=None)
def test_conversions_of_floats(source: Scalar, target: Scalar, data: st.DataObject) -> None:
    """Also of numbers that do not fit, for which a check comes before the conversion."""
    check_value(Convert(target, Register(source, 0, "")), [(source, data.draw(patterns(source)))])


@given(st.sampled_from(INTEGERS), st.sampled_from(FLOATS), st.data())
@settings(max_examples=200, deadline=None)
def test_conversions_of_integers(source: Scalar, target: Scalar, data: st.DataObject) -> None:
    top = source.maximum
    value = data.draw(
        st.one_of(
            st.integers(source.minimum, top),
            st.sampled_from([source.minimum, top, top - 1, 0, 1]),
            st.integers(1, top.bit_length()).map(lambda n: min(top, (1 << n) + (1 << n // 2) + 1)),
        )
    )
    check_value(Convert(target, Register(source, 0, "")), [(source, to_bits(value, source))])


@given(st.sampled_from(FLOATS), st.data())
@settings(max_examples=60, deadline=None)
def test_negation_and_choice(scalar: Scalar, data: st.DataObject) -> None:
    left, right = data.draw(pairs(scalar))
    x, y = Register(scalar, 0, ""), Register(scalar, 1, "")
    values = [(scalar, left), (scalar, right)]
    check_value(Unary(scalar, UnaryOp.NEG, x), values)
    check_value(Conditional(scalar, y, x, Unary(scalar, UnaryOp.NEG, y)), values)
    check_value(Conditional(I32, x, Const(I32, 4), Const(I32, 5)), values)


def decided(make: Callable[[Terms], int]) -> bool:
    """Whether a condition holds for all values of its variables, by the SAT solver."""
    terms = Terms()
    condition = make(terms)
    with Solver(terms) as solver:
        solver.assert_term(terms.not_(condition))
        return not solver.solve()


def term_of(terms: Terms, expr: Expr, *registers: int) -> int:
    return translate(terms, expr, dict(enumerate(registers)), lambda place: terms.true)


def test_what_the_solver_proves() -> None:
    def widened_and_back(terms: Terms) -> int:
        x = terms.variable("x", 32)
        register = Register(F32, 0, "")
        back = term_of(terms, Convert(F32, Convert(F64, register)), x)
        is_nan = term_of(terms, Binary(I32, BinaryOp.NE, register, register), x)
        return terms.or_(terms.ne(is_nan, terms.constant(0, 32)), terms.eq(back, x))

    def exact_up_to_24_bits(terms: Terms) -> int:
        x = terms.variable("x", 32)
        there = Convert(I32, Convert(F32, Register(I32, 0, "")))
        is_small = terms.ult(x, terms.constant((1 << 24) + 1, 32))
        return terms.implies(is_small, terms.eq(term_of(terms, there, x), x))

    def exact(terms: Terms) -> int:
        x = terms.variable("x", 32)
        there = Convert(I32, Convert(F32, Register(I32, 0, "")))
        return terms.eq(term_of(terms, there, x), x)

    def halves_are_exact(terms: Terms) -> int:
        """Half of a number and the same again is that number, unless the half is subnormal."""
        x = terms.variable("x", 32)
        half = Binary(F32, BinaryOp.MUL, Register(F32, 0, ""), Const(F32, 0.5))
        whole = term_of(terms, Binary(F32, BinaryOp.ADD, half, half), x)
        exponent = terms.extract(x, 23, 8)
        is_normal = terms.and_(
            terms.ult(terms.constant(1, 8), exponent), terms.ult(exponent, terms.constant(255, 8))
        )
        return terms.implies(is_normal, terms.eq(whole, x))

    assert decided(widened_and_back)
    assert decided(exact_up_to_24_bits)
    assert not decided(exact)
    assert decided(halves_are_exact)


def test_which_nan_an_operation_gives_is_open() -> None:
    """The sign of infinity - infinity differs between gcc's folding and the hardware."""
    infinity = 0x7F800000
    nothing = Binary(F32, BinaryOp.SUB, Register(F32, 0, ""), Register(F32, 0, ""))

    def is_positive(terms: Terms) -> int:
        value = term_of(terms, nothing, terms.constant(infinity, 32))
        return terms.eq(terms.extract(value, 31, 1), terms.false)

    def is_negative(terms: Terms) -> int:
        return terms.not_(is_positive(terms))

    def is_quiet(terms: Terms) -> int:
        value = term_of(terms, nothing, terms.constant(infinity, 32))
        return terms.eq(terms.extract(value, 22, 9), terms.constant(-1, 9))

    assert not decided(is_positive)
    assert not decided(is_negative)
    assert decided(is_quiet)


@pytest.mark.parametrize(
    "expr",
    [
        Binary(F64, BinaryOp.REM, Register(F64, 0, ""), Register(F64, 0, "")),
        Unary(F64, UnaryOp.NOT, Register(F64, 0, "")),
        PointerAdd(POINTER_64, Const(POINTER_64, 0), Register(F64, 0, "")),
        Convert(I32, Register(Scalar(Kind.FLOAT, 128, signed=True), 0, "")),
    ],
)
def test_what_c_does_not_have_is_unsupported(expr: Expr) -> None:
    terms = Terms()
    with pytest.raises(UnsupportedCode, match="floating"):
        term_of(terms, expr, terms.variable("x", 64))
