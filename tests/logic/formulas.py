"""Random bit-vector formulas with an evaluator that shares no code with plait.logic.

A formula is a tree of tuples; its value is computed on lists of bits and on fractions, so that a
mistake in the operators of plait.logic is not repeated here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st

from plait.logic.terms import Terms

SAME_WIDTH = ["and", "or", "xor", "add", "sub", "mul", "udiv", "urem", "sdiv", "srem"]
SHIFTS = ["shl", "lshr", "ashr"]
COMPARISONS = ["eq", "ne", "ult", "ule", "slt", "sle"]
METHODS = {"and": "and_", "or": "or_", "not": "not_"}


@dataclass(frozen=True)
class Formula:
    kind: str
    width: int
    parts: tuple[Formula, ...] = ()
    number: int = 0
    name: str = ""


def build(terms: Terms, formula: Formula) -> int:
    parts = [build(terms, part) for part in formula.parts]
    match formula.kind:
        case "constant":
            return terms.constant(formula.number, formula.width)
        case "variable":
            return terms.variable(formula.name, formula.width)
        case "extract":
            return terms.extract(parts[0], formula.number, formula.width)
        case "zero_extend":
            return terms.zero_extend(parts[0], formula.width)
        case "sign_extend":
            return terms.sign_extend(parts[0], formula.width)
        case "all_of":
            return terms.all_of(parts)
        case "any_of":
            return terms.any_of(parts)
    term = getattr(terms, METHODS.get(formula.kind, formula.kind))(*parts)
    assert isinstance(term, int)
    return term


def bits(value: int, width: int) -> list[int]:
    return [value // 2**place % 2 for place in range(width)]


def number(digits: list[int]) -> int:
    return sum(digit * 2**place for place, digit in enumerate(digits))


def signed(value: int, width: int) -> int:
    digits = bits(value, width)
    return number(digits[:-1]) - digits[-1] * 2 ** (width - 1)


def value(formula: Formula, assignment: dict[str, int]) -> int:
    result = _value(formula, assignment)
    return result % 2**formula.width


def _value(formula: Formula, assignment: dict[str, int]) -> int:
    width = formula.width
    v = [value(part, assignment) for part in formula.parts]
    w = [part.width for part in formula.parts]
    both = [bits(item, size) for item, size in zip(v, w)]
    match formula.kind:
        case "constant":
            return formula.number
        case "variable":
            return assignment[formula.name]
        case "not":
            return number([1 - digit for digit in both[0]])
        case "and" | "all_of":
            return number([int(all(column)) for column in zip(*both)]) if v else 1
        case "or" | "any_of":
            return number([int(any(column)) for column in zip(*both)])
        case "xor":
            return number([int(x != y) for x, y in zip(*both)])
        case "neg":
            return 2**width - v[0]
        case "add":
            return v[0] + v[1]
        case "sub":
            return v[0] - v[1]
        case "mul":
            return v[0] * v[1]
        case "udiv":
            return math.floor(Fraction(v[0], v[1])) if v[1] else 0
        case "urem":
            return v[0] - v[1] * math.floor(Fraction(v[0], v[1])) if v[1] else v[0]
        case "sdiv" | "srem":
            x, y = signed(v[0], w[0]), signed(v[1], w[1])
            quotient = math.trunc(Fraction(x, y)) if y else 0
            return quotient if formula.kind == "sdiv" else x - y * quotient
        case "shl":
            return v[0] * 2 ** (v[1] % w[0])
        case "lshr":
            return number(both[0][v[1] % w[0] :])
        case "ashr":
            return math.floor(Fraction(signed(v[0], w[0]), 2 ** (v[1] % w[0])))
        case "eq":
            return int(both[0] == both[1])
        case "ne":
            return int(both[0] != both[1])
        case "ult":
            return int(v[1] - v[0] > 0)
        case "ule":
            return int(v[1] - v[0] >= 0)
        case "slt":
            return int(signed(v[1], w[1]) - signed(v[0], w[0]) > 0)
        case "sle":
            return int(signed(v[1], w[1]) - signed(v[0], w[0]) >= 0)
        case "ite":
            return v[2 - v[0]]
        case "concat":
            return number(both[1] + both[0])
        case "extract":
            return number(both[0][formula.number : formula.number + width])
        case "zero_extend":
            return number(both[0])
        case "sign_extend":
            return number(both[0] + both[0][-1:] * (width - w[0]))
    raise AssertionError(formula.kind)


def variables(formula: Formula) -> dict[str, int]:
    """The widths of the variables that occur."""
    if formula.kind == "variable":
        return {formula.name: formula.width}
    found: dict[str, int] = {}
    for part in formula.parts:
        found |= variables(part)
    return found


widths = st.one_of(st.sampled_from([1, 2, 3, 8, 32, 64]), st.integers(1, 64))


def numbers(width: int) -> st.SearchStrategy[int]:
    top = 2**width - 1
    corners = [0, 1, top, top // 2, top // 2 + 1, width % (top + 1), 2 ** (width // 2)]
    return st.one_of(st.sampled_from(corners), st.integers(0, min(top, 9)), st.integers(0, top))


@st.composite
def formulas(draw: st.DrawFn, width: int | None = None, depth: int = 3) -> Formula:
    if width is None:
        width = draw(widths)
    if depth == 0 or draw(st.integers(0, 7)) == 0:
        if draw(st.booleans()):
            return Formula("constant", width, number=draw(numbers(width)))
        name = draw(st.sampled_from("xy"))
        return Formula("variable", width, name=f"{name}{width}")
    kinds = [*SAME_WIDTH, *SHIFTS, "not", "neg", "ite", "extract"]
    if width == 1:
        kinds += COMPARISONS * 2 + ["all_of", "any_of"]
    else:
        kinds += ["concat", "zero_extend", "sign_extend"]
    kind = draw(st.sampled_from(kinds))

    def inner(size: int) -> Formula:
        return draw(formulas(size, depth - 1))

    if kind in SAME_WIDTH:
        left = inner(width)
        # The same operand twice, or once negated, is what many rules look for.
        right = draw(st.sampled_from([left, Formula("not", width, (left,)), None, None, None]))
        return Formula(kind, width, (left, right or inner(width)))
    if kind in SHIFTS:
        return Formula(kind, width, (inner(width), inner(draw(st.sampled_from([width, 1, 6, 32])))))
    if kind in COMPARISONS:
        size = draw(widths)
        return Formula(kind, 1, (inner(size), inner(size)))
    if kind in ("all_of", "any_of"):
        count = draw(st.integers(0, 5))
        return Formula(kind, 1, tuple(inner(1) for _ in range(count)))
    if kind == "ite":
        return Formula(kind, width, (inner(1), inner(width), inner(width)))
    if kind == "extract":
        whole = draw(st.integers(width, 64))
        low = draw(st.integers(0, whole - width))
        return Formula(kind, width, (inner(whole),), number=low)
    if kind == "concat":
        low = draw(st.integers(1, width - 1))
        return Formula(kind, width, (inner(width - low), inner(low)))
    if kind in ("zero_extend", "sign_extend"):
        return Formula(kind, width, (inner(draw(st.integers(1, width))),))
    return Formula(kind, width, (inner(width),))


@st.composite
def valued_formulas(draw: st.DrawFn, depth: int = 3) -> tuple[Formula, dict[str, int]]:
    """A formula and values for its variables."""
    formula = draw(formulas(depth=depth))
    names = variables(formula)
    return formula, {name: draw(numbers(width)) for name, width in sorted(names.items())}
