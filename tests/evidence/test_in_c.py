"""Terms as C expressions: the C compiler computes the same values."""

from __future__ import annotations

import random

import pytest

from plait.evidence.in_c import InC, Name
from plait.logic.operators import NAMES, VARIABLE
from plait.logic.terms import Terms
from trust import native

_TYPES = {8: "char", 16: "short", 32: "int", 64: "long long"}


def rows(terms: Terms) -> list[list[object]]:
    return [
        [
            NAMES[terms.operator[term]],
            terms.width[term],
            list(terms.operands[term]),
            terms.parameter[term],
            terms.name[term] if terms.operator[term] == VARIABLE else "",
        ]
        for term in range(len(terms.operator))
    ]


WIDTHS = {"a": (32, True), "b": (32, False), "c": (8, True), "d": (8, False), "e": (64, True),
          "f": (64, False), "g": (16, True), "h": (16, False)}  # fmt: skip


def random_term(terms: Terms, dice: random.Random, width: int, depth: int) -> int:
    names = [name for name, (bits, _) in WIDTHS.items() if bits == width]
    if width == 1:
        operator = dice.choice(["eq", "ult", "slt", "and", "or", "not"] if depth else ["eq", "slt"])
        if operator in ("and", "or", "not"):
            parts = [random_term(terms, dice, 1, depth - 1) for _ in range(2)]
            if operator == "not":
                return terms.not_(parts[0])
            return terms.and_(*parts) if operator == "and" else terms.or_(*parts)
        inner = dice.choice([8, 16, 32, 64])
        left, right = (random_term(terms, dice, inner, depth - 1) for _ in range(2))
        return getattr(terms, {"eq": "eq", "ult": "ult", "slt": "slt"}[operator])(left, right)
    if depth <= 0 or dice.random() < 0.3:
        if dice.random() < 0.3:
            return terms.constant(dice.choice([0, 1, 2, -1, 1 << (width - 1), 5]), width)
        return terms.variable(dice.choice(names), width)
    operator = dice.choice(["add", "sub", "mul", "neg", "and_", "or_", "xor", "ite", "extend"])
    if operator == "extend":
        smaller = [item for item in (8, 16, 32) if item < width]
        if smaller:
            inner = random_term(terms, dice, dice.choice(smaller), depth - 1)
            extend = dice.choice([terms.zero_extend, terms.sign_extend])
            return extend(inner, width)
        operator = "add"
    if operator == "ite":
        return terms.ite(
            random_term(terms, dice, 1, depth - 1),
            *(random_term(terms, dice, width, depth - 1) for _ in range(2)),
        )
    if operator == "neg":
        return terms.neg(random_term(terms, dice, width, depth - 1))
    parts = [random_term(terms, dice, width, depth - 1) for _ in range(2)]
    return getattr(terms, operator)(*parts)


def test_the_compiler_agrees() -> None:
    if native.compiler() is None:
        pytest.skip("needs a C compiler")
    dice = random.Random(7)
    terms = Terms()
    conditions = [random_term(terms, dice, 1, dice.randint(0, 3)) for _ in range(300)]
    texts = InC(rows(terms), lambda name: Name(name, WIDTHS[name][1]))
    lines, expected = [], []
    for term in conditions:
        text = texts.condition(term)
        if text is None:
            continue
        for _ in range(4):
            values = {
                name: dice.choice(
                    [0, 1, 5, (1 << bits) - 1, 1 << (bits - 1), dice.getrandbits(bits)]
                )
                for name, (bits, _) in WIDTHS.items()
            }
            sets = "".join(
                f"{name} = ({'' if signed else 'un'}signed {_TYPES[bits]}){values[name]}ULL; "
                for name, (bits, signed) in WIDTHS.items()
            )
            lines.append(f"  {sets} putchar('0' + !!({text}));")
            found = terms.evaluate(term, lambda part, values=values: values[terms.name[part]])
            expected.append(str(found))
    assert len(expected) > 600
    declarations = "".join(
        f"{'' if signed else 'un'}signed {_TYPES[bits]} {name};\n"
        for name, (bits, signed) in WIDTHS.items()
    )
    body = "\n".join(lines)
    program = f"#include <stdio.h>\n{declarations}int main(void) {{\n{body}\n  return 0; }}\n"
    ran = native.compile_and_run(program)
    assert ran is not None
    assert ran.output == "".join(expected)


def test_what_cannot_be_named_is_not_said() -> None:
    terms = Terms()
    hidden = terms.eq(terms.variable("hidden", 32), terms.constant(1, 32))
    shown = terms.eq(terms.variable("a", 32), terms.constant(-1, 32))
    both = terms.and_(hidden, shown)
    texts = InC(rows(terms), lambda name: Name(name, True) if name == "a" else None)
    assert texts.condition(hidden) is None
    assert texts.condition(shown) == "a == (-1)"
    assert texts.condition(both) is None
