"""Terms of model expressions have the values that the reference semantics computes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.semantics.builder import ProgramBuilder, scalar_layout

from plait.logic.solver import Solver
from plait.logic.terms import Terms
from plait.logic.translate import Place, convert, translate, translate_condition
from plait.model.actions import NOWHERE, Assign, Store
from plait.model.expressions import (
    COMPARISONS,
    Binary,
    BinaryOp,
    Conditional,
    Const,
    Convert,
    CurrentThread,
    Expr,
    FunctionAddress,
    PointerAdd,
    Register,
    StaticAddress,
    Unary,
    UnaryOp,
)
from plait.model.program import Program, StaticObject
from plait.model.properties import Specification
from plait.model.types import (
    BOOL,
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
from plait.semantics.scalars import reader

INTEGERS = [I8, U8, I16, U16, I32, U32, I64, U64, I128, U128]
TYPES = [*INTEGERS, BOOL, POINTER_64]
VALUED = [*TYPES, I32, I32, U32]


class Sample:
    """A program with one register of each type and two objects, to evaluate expressions in."""

    def __init__(self, values: dict[Scalar, int]) -> None:
        self.values = values
        self.builder = ProgramBuilder()
        self.objects = [self.builder.object(name, scalar_layout(I64)) for name in "ab"]

    def evaluate(self, expr: Expr) -> tuple[int, Program]:
        result = self.builder.object("result", scalar_layout(expr.type))
        main = self.builder.function("main")
        for index, scalar in enumerate(TYPES):
            main.register(scalar, f"v{index}")
            constant = Const(scalar, self.values[scalar])
            main.emit(Assign(NOWHERE, Register(scalar, index, ""), constant))
        main.emit(Store(NOWHERE, StaticAddress(POINTER_64, result), expr))
        main.exit()
        program = self.builder.build()
        machine = Machine(program, Specification())
        machine.start()
        assert machine.step(1, most=100).ending is Ending.MOVED
        return int(reader(expr.type)(machine.memory[result.page], 0)[0]), program


def values_of(scalar: Scalar) -> st.SearchStrategy[int]:
    corners = [scalar.minimum, scalar.maximum, 0, 1, scalar.maximum // 2]
    return st.one_of(
        st.sampled_from(corners),
        st.integers(max(scalar.minimum, -40), 40 if scalar.maximum > 40 else 1),
        st.integers(scalar.minimum, scalar.maximum),
    )


@st.composite
def expressions(draw: st.DrawFn, scalar: Scalar, depth: int, objects: list[StaticObject]) -> Expr:
    def inner(kind: Scalar) -> Expr:
        return draw(expressions(kind, depth - 1, objects))

    shapes = ["register", "constant"]
    if depth:
        shapes += ["convert", "choice"]
        # There is no arithmetic on pointers and on _Bool but what is listed here.
        if scalar.kind is Kind.INT and not scalar.is_bool:
            shapes += ["binary"] * 4 + ["unary"]
        if scalar is I32:
            shapes += ["comparison"] * 3 + ["thread"]
    if scalar.kind is Kind.POINTER:
        shapes.append("address")
    match draw(st.sampled_from(shapes)):
        case "register":
            return Register(scalar, TYPES.index(scalar), "")
        case "constant":
            return Const(scalar, draw(values_of(scalar)))
        case "convert":
            return Convert(scalar, inner(draw(st.sampled_from(VALUED))))
        case "choice":
            condition = inner(draw(st.sampled_from(VALUED)))
            return Conditional(scalar, condition, inner(scalar), inner(scalar))
        case "unary":
            return Unary(scalar, draw(st.sampled_from(UnaryOp)), inner(scalar))
        case "comparison":
            op, operands = (
                draw(st.sampled_from(sorted(COMPARISONS, key=str))),
                draw(st.sampled_from(VALUED)),
            )
            return Binary(I32, op, inner(operands), inner(operands))
        case "thread":
            return CurrentThread(I32)
        case "address":
            if draw(st.booleans()):
                return FunctionAddress(scalar, "main")
            return StaticAddress(scalar, draw(st.sampled_from(objects)), draw(st.integers(0, 8)))
    op = draw(st.sampled_from([op for op in BinaryOp if op not in COMPARISONS]))
    is_shift = op in (BinaryOp.SHL, BinaryOp.SHR)
    right = draw(st.sampled_from(INTEGERS)) if is_shift else scalar
    return Binary(scalar, op, inner(scalar), inner(right))


def addresses_in(terms: Terms, program: Program):
    def address(place: Place) -> int:
        match place:
            case StaticAddress():
                return terms.constant(program.address_of(place.object), place.type.bits)
            case FunctionAddress():
                found = program.functions[place.function]
                return terms.constant(program.address_of(found), place.type.bits)
        return terms.constant(1, place.type.bits)

    return address


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_expressions_have_the_value_of_the_reference_semantics(data: st.DataObject) -> None:
    values = {scalar: data.draw(values_of(scalar)) for scalar in TYPES}
    sample = Sample(values)
    expr = data.draw(expressions(data.draw(st.sampled_from(VALUED)), 3, sample.objects))
    wanted, program = sample.evaluate(expr)
    terms = Terms()
    registers = {
        index: terms.variable(f"r{index}", scalar.bits) for index, scalar in enumerate(TYPES)
    }
    addresses = addresses_in(terms, program)
    term = translate(terms, expr, registers, addresses)
    assert terms.width[term] == expr.type.bits
    numbers = {registers[index]: values[scalar] for index, scalar in enumerate(TYPES)}
    found = terms.evaluate(term, lambda part: numbers[part] % (1 << terms.width[part]))
    assert expr.type.wrap(found) == wanted
    condition = translate_condition(terms, expr, registers, addresses)
    assert terms.width[condition] == 1
    truth = terms.evaluate(condition, lambda part: numbers[part] % (1 << terms.width[part]))
    assert truth == (wanted != 0)
    # With the registers' values given as constants it folds to the same.
    constants = {
        index: terms.constant(values[scalar], scalar.bits) for index, scalar in enumerate(TYPES)
    }
    folded = terms.value(translate(terms, expr, constants, addresses))
    assert folded is not None
    assert expr.type.wrap(folded) == wanted


@given(
    st.sampled_from([I8, U8, I16, U16, I32, U32, I64, U64]), st.sampled_from(BinaryOp), st.data()
)
@settings(max_examples=150, deadline=None)
def test_operators_in_the_solver(scalar: Scalar, op: BinaryOp, data: st.DataObject) -> None:
    """One operator, decided by the SAT solver, against the reference semantics."""
    values = dict.fromkeys(TYPES, 0)
    values[scalar] = left = data.draw(values_of(scalar))
    right = data.draw(values_of(scalar))
    kind = I32 if op in COMPARISONS else scalar
    index = TYPES.index(scalar)
    expr = Binary(kind, op, Register(scalar, index, ""), Const(scalar, right))
    wanted, program = Sample(values).evaluate(expr)
    general = Binary(kind, op, Register(scalar, 0, ""), Register(scalar, 1, ""))
    terms = Terms()
    x, y = terms.variable("x", scalar.bits), terms.variable("y", scalar.bits)
    term = translate(terms, general, {0: x, 1: y}, addresses_in(terms, program))
    with Solver(terms) as solver:
        solver.bits_of(term)
        assumptions = [
            bit if value >> place & 1 else -bit
            for variable, value in ((x, left), (y, right))
            for place, bit in enumerate(solver.bits_of(variable))
        ]
        assert solver.solve(assumptions)
        assert kind.wrap(solver.model_value(term)) == wanted


def test_conditions_stay_truth_values() -> None:
    """`(a < b) != 0` and `!(a < b)` must not become comparisons of 32-bit numbers."""
    terms = Terms()
    registers = {0: terms.variable("a", 32), 1: terms.variable("b", 32)}
    less = Binary(I32, BinaryOp.LT, Register(I32, 0, "a"), Register(I32, 1, "b"))
    truth = terms.slt(registers[0], registers[1])

    def condition(expr: Expr) -> int:
        return translate_condition(terms, expr, registers, lambda place: terms.true)

    assert condition(less) == truth
    assert condition(Binary(I32, BinaryOp.EQ, less, Const(I32, 0))) == terms.not_(truth)
    assert condition(Binary(I32, BinaryOp.NE, less, Const(I32, 0))) == truth
    assert condition(Convert(BOOL, less)) == truth
    assert condition(Convert(I32, Convert(BOOL, less))) == truth
    assert condition(Conditional(I32, less, Const(I32, 1), Const(I32, 0))) == truth


def test_pointer_arithmetic_wraps_and_adds_offsets() -> None:
    terms = Terms()
    builder = ProgramBuilder()
    item = builder.object("item", scalar_layout(I64))
    base = terms.variable("base", 64)
    registers = {0: terms.variable("i", 64)}
    address = StaticAddress(POINTER_64, item, 4)

    def term(expr: Expr) -> int:
        return translate(terms, expr, registers, lambda place: base)

    assert term(address) == terms.add(base, terms.constant(4, 64))
    moved = PointerAdd(POINTER_64, address, Const(I64, -4))
    assert term(moved) == base
    by_index = PointerAdd(POINTER_64, address, Register(I64, 0, "i"))
    assert term(by_index) == terms.add(term(address), registers[0])
    distance = Binary(I64, BinaryOp.SUB, address, StaticAddress(POINTER_64, item, 1))
    assert terms.value(term(distance)) == 3


def test_floats_are_copied_as_they_are() -> None:
    terms = Terms()
    registers = {0: terms.variable("x", 64), 1: terms.variable("c", 32)}
    one = translate(terms, Const(F64, 1.0), registers, lambda place: terms.true)
    assert terms.value(one) == 0x3FF0000000000000
    x = Register(F64, 0, "x")
    assert translate(terms, x, registers, lambda place: terms.true) == registers[0]
    chosen = Conditional(F64, Register(I32, 1, "c"), x, x)
    assert translate(terms, chosen, registers, lambda place: terms.true) == registers[0]


def test_deep_expressions() -> None:
    terms = Terms()
    expr: Expr = Register(I32, 0, "")
    for _ in range(5000):
        expr = Unary(I32, UnaryOp.NOT, Binary(I32, BinaryOp.MUL, expr, Register(I32, 0, "")))
    term = translate(terms, expr, {0: terms.variable("x", 32)}, lambda place: terms.true)
    assert terms.evaluate(term, lambda part: 0) == 2**32 - 1


INTEGERS = [I8, U8, I32, U32, I64, U64]


@pytest.mark.parametrize("source", INTEGERS, ids=repr)
@pytest.mark.parametrize("target", INTEGERS, ids=repr)
def test_conversions_between_integers(source: Scalar, target: Scalar) -> None:
    terms = Terms()
    for value in (source.minimum, -1, 0, 1, source.maximum):
        number = source.wrap(value)
        bits = number & ((1 << source.bits) - 1)
        found = convert(terms, terms.constant(bits, source.bits), source, target)
        assert terms.value(found) == target.wrap(number) & ((1 << target.bits) - 1)
