"""Each operator means the same to z3 as to the table of terms, for all values of three bits."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
import z3

from plait.logic.second_opinion import Z3Translator
from plait.logic.terms import Terms

Operation = Callable[[Terms, int, int], int]

OPERATIONS: dict[str, Operation] = {
    "add": Terms.add,
    "sub": Terms.sub,
    "mul": Terms.mul,
    "udiv": Terms.udiv,
    "urem": Terms.urem,
    "sdiv": Terms.sdiv,
    "srem": Terms.srem,
    "shl": Terms.shl,
    "lshr": Terms.lshr,
    "ashr": Terms.ashr,
    "and": Terms.and_,
    "or": Terms.or_,
    "xor": Terms.xor,
    "eq": Terms.eq,
    "ult": Terms.ult,
    "slt": Terms.slt,
    "concat": Terms.concat,
    "neg": lambda terms, x, y: terms.neg(terms.xor(x, y)),
    "not": lambda terms, x, y: terms.not_(terms.add(x, y)),
    "ite": lambda terms, x, y: terms.ite(terms.ult(x, y), x, y),
    "extract": lambda terms, x, y: terms.extract(terms.concat(x, y), 2, 3),
    "zero extend": lambda terms, x, y: terms.zero_extend(terms.sub(x, y), 5),
    "sign extend": lambda terms, x, y: terms.sign_extend(terms.sub(x, y), 5),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operator(name: str) -> None:
    terms = Terms()
    x, y = (terms.variable(letter, 3) for letter in "xy")
    term = OPERATIONS[name](terms, x, y)
    translator = Z3Translator(terms, z3)
    expression = translator.expression(term)
    for values in product(range(8), repeat=2):
        known = dict(zip((x, y), values, strict=True))
        given = [
            (translator.variables[variable], z3.BitVecVal(value, 3))
            for variable, value in known.items()
        ]
        found = z3.simplify(z3.substitute(expression, *given)).as_long()
        assert found == terms.evaluate(term, known.__getitem__), values
