from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.builder import FunctionBuilder, address, binary, number, static

from plait.analysis.reachable import reachable_edges
from plait.model.actions import NOWHERE, Check, CheckKind, ReadModifyWrite, Unsupported
from plait.model.dataflow import live_registers, maybe_unassigned
from plait.model.expressions import (
    FALSE,
    Binary,
    BinaryOp,
    Conditional,
    Const,
    Convert,
    Expr,
    Register,
    Unary,
    UnaryOp,
)
from plait.model.fold import constant, fold, substitute
from plait.model.types import BOOL, F64, I8, I32, POINTER_64, U8, U32


def test_maybe_unassigned_looks_at_all_paths() -> None:
    main = FunctionBuilder("main", [I32])
    both, one, old = main.register("both"), main.register("one"), main.register("old")
    left, right, join = main.location(), main.location(), main.location()
    main.branch(main.parameters[0], left, right)
    main.here = left
    main.assign(both, 1)
    main.assign(one, 1, to=join)
    main.here = right
    main.assign(both, 2, to=join)
    main.here = join
    main.assign(both, binary("+", both, one))
    x = static("x")
    main.add(ReadModifyWrite(NOWHERE, old, address(x), binary("+", old, both)))
    main.ret(old)
    assert maybe_unassigned(main.function) == {one.index}


def test_a_loop_assigns_too_late() -> None:
    main = FunctionBuilder("main")
    a = main.register("a")
    body, end = main.location(), main.location()
    main.branch(a, body, end)
    main.here = body
    main.assign(a, 0, to=0)
    assert maybe_unassigned(main.function) == {a.index}
    assert live_registers(main.function)[0] == 1 << a.index
    assert live_registers(main.function)[body] == 0


def test_reachable_edges_fold_guards_and_stop_at_failing_checks() -> None:
    main = FunctionBuilder("main")
    dead, alive = main.location(), main.location()
    closed, taken = main.branch(binary("<", number(2), number(1)), dead, alive)
    main.here = dead
    hidden = main.add(Unsupported(NOWHERE, "asm"))
    main.here = alive
    failing = main.add(Check(NOWHERE, FALSE, CheckKind.ASSERTION, "never"))
    after = main.add(Unsupported(NOWHERE, "setjmp"))
    main.ret()
    edges = reachable_edges(main.function)
    assert taken in edges and failing in edges
    assert closed not in edges and hidden not in edges and after not in edges


SCALARS = (I8, U8, I32, U32, BOOL)


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> Expr:
    scalar = draw(st.sampled_from(SCALARS))
    if depth == 0 or draw(st.booleans()):
        return Const(scalar, draw(st.integers(scalar.minimum, scalar.maximum)))
    left = draw(expressions(depth=depth - 1))
    match draw(st.integers(0, 3)):
        case 0:
            return Convert(scalar, left)
        case 1:
            return Unary(left.type, draw(st.sampled_from(list(UnaryOp))), left)
        case 2:
            other = draw(expressions(depth=depth - 1))
            return Conditional(left.type, other, left, left)
    op = draw(st.sampled_from(list(BinaryOp)))
    right = Convert(left.type, draw(expressions(depth=depth - 1)))
    result = I32 if op.value in ("==", "!=", "<", "<=") else left.type
    return Binary(result, op, left, right)


@given(expressions())
def test_constants_fold_into_their_type(expr: Expr) -> None:
    value = constant(expr)
    assert value is not None
    assert expr.type.minimum <= value <= (expr.type.maximum if not expr.type.is_bool else 255)
    folded = fold(expr)
    assert isinstance(folded, Const) and folded.value == value


@pytest.mark.parametrize(
    ("op", "left", "right", "expected"),
    [
        (BinaryOp.DIV, -7, 2, -3),
        (BinaryOp.REM, -7, 2, -1),
        (BinaryOp.DIV, 7, 0, 0),
        (BinaryOp.REM, 7, 0, 7),
        (BinaryOp.SHL, 1, 33, 2),
        (BinaryOp.SHR, -8, 1, -4),
        (BinaryOp.MUL, 2**31 - 1, 2, -2),
        (BinaryOp.DIV, -(2**31), -1, -(2**31)),
    ],
)
def test_operators_at_their_edges(op: BinaryOp, left: int, right: int, expected: int) -> None:
    assert constant(Binary(I32, op, number(left), number(right))) == expected


def test_addresses_are_not_null_and_floats_are_left_alone() -> None:
    x = static("x")
    assert constant(binary("==", address(x), Const(POINTER_64, 0))) == 0
    assert constant(binary("!=", Const(POINTER_64, 0), address("main"))) == 1
    assert constant(binary("==", address(x, 999), Const(POINTER_64, 0))) is None
    assert constant(Binary(F64, BinaryOp.ADD, Const(F64, 1), Const(F64, 2))) is None


def test_substitution() -> None:
    a, b = Register(I32, 0, "a"), Register(I32, 1, "b")
    changed = substitute(binary("+", a, b), 0, number(4))
    assert isinstance(changed, Binary) and changed.right is b
    assert constant(substitute(changed, 1, number(5))) == 9
