from __future__ import annotations

from xml.etree import ElementTree

from tests.analysis.builder import (
    FunctionBuilder,
    address,
    at,
    binary,
    less,
    number,
    program,
    static,
)

from plait.model.actions import NOWHERE, Check, CheckKind, Origin, ReadModifyWrite
from plait.model.dot import to_dot, to_svg
from plait.model.expressions import Const, Convert, Expr, Register, Unary, UnaryOp
from plait.model.layout import ArrayLayout, Field, RecordLayout, ScalarLayout
from plait.model.program import Program, SourceFile, StaticObject
from plait.model.show import show, show_action, show_expr, show_place
from plait.model.types import I32, I64, POINTER_64

INT = ScalarLayout(4, I32, "int")
PAIR = RecordLayout(8, "pair", (Field("a", 0, INT), Field("b", 4, INT)), False)


def sample() -> Program:
    x = static("x", 4)
    worker = FunctionBuilder("worker", [POINTER_64])
    worker.load(worker.register("seen"), address(x))
    worker.ret()
    hidden = FunctionBuilder("hidden", library=True)
    hidden.ret()
    main = FunctionBuilder("main")
    i = main.register("i")
    edge = main.assign(i, 0)
    edge.action.origin = Origin(0, 2, 3, 2, 9)
    head, body, end = main.here, main.location(), main.location()
    main.branch(less(i, 3), body, end)
    main.here = body
    main.spawn("worker")
    main.assign(i, binary("+", i, number(1)), to=head)
    main.here = end
    main.add(Check(NOWHERE, less(i, 4), CheckKind.ASSERTION, "small"))
    main.ret()
    made = program(main, worker, hidden, objects=[x])
    made.sources.append(SourceFile("a.c", ["int main() {", "  i = 0;", "}"]))
    return made


def test_expressions_have_as_few_parentheses_as_possible() -> None:
    a, b, c = (Register(I32, n, "abc"[n]) for n in range(3))

    def text(expr: Expr) -> str:
        return show_expr(expr)

    assert text(binary("+", a, binary("*", b, c))) == "a + b * c"
    assert text(binary("*", binary("+", a, b), c)) == "(a + b) * c"
    assert text(binary("-", a, binary("-", b, c))) == "a - (b - c)"
    assert text(binary("-", binary("-", a, b), c)) == "a - b - c"
    assert text(Unary(I32, UnaryOp.NEG, Unary(I32, UnaryOp.NEG, a))) == "-(-a)"
    assert text(Convert(I64, binary("+", a, b))) == "(i64)(a + b)"
    assert text(binary("+", a, number(-1))) == "a + -1"
    assert text(Const(POINTER_64, 0)) == "NULL"
    assert text(Register(I32, 7, "")) == "t7"


def test_places_have_their_names() -> None:
    layout = ArrayLayout(32, PAIR, 4)
    table = StaticObject("table", layout, bytes(32), (), NOWHERE, "struct pair[4]")
    p = Register(POINTER_64, 0, "p")
    assert show_place(address(table, 12)) == "table[1].b"
    assert show_place(p) == "*p"
    assert show_place(at(p, 8)) == "*(p + 8)"
    assert show_expr(at(p, -8)) == "p - 8"
    assert show_expr(address("main")) == "&main"


def test_actions() -> None:
    main = FunctionBuilder("main")
    old = main.register("old")
    x = static("x", 4)
    exchange = ReadModifyWrite(NOWHERE, old, address(x), number(1), binary("==", old, number(0)))
    text = show_action(main.function, exchange)
    assert text == "old = atomic x; x = 1 if old == 0  (seq_cst)".replace(
        "x;", f"{show_place(address(x))};"
    )


def test_show_lists_threads_functions_and_source() -> None:
    text = show(sample())
    assert "1 starts in main" in text and "worker starts in main" in text
    assert "// 2: i = 0" in text
    assert "[i < 3]" in text and "check i < 4  (assertions: small)" in text
    assert "hidden" not in text and "hidden" in show(sample(), verbose=True)


def test_drawings_are_well_formed() -> None:
    made = sample()
    dot = to_dot(made)
    assert dot.count("{") == dot.count("}") and '"i = 0"' in dot
    root = ElementTree.fromstring(to_svg(made))
    texts = [item.text for item in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "main" in texts and "i = 0" in texts and "[i < 3]" in texts
