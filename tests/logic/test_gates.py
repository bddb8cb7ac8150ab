"""Gates: their clauses allow exactly the right output, for all inputs, also degenerate ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from plait.logic.gates import FALSE, TRUE, Gates

INPUTS = (TRUE, FALSE, 2, -2, 3, -3, 4, -4)

GATES: dict[str, tuple[int, Callable[[Gates], Callable[..., int]], Callable[..., bool]]] = {
    "and": (2, lambda g: g.and_, lambda a, b: a and b),
    "or": (2, lambda g: g.or_, lambda a, b: a or b),
    "xor": (2, lambda g: g.xor, lambda a, b: a != b),
    "xor3": (3, lambda g: g.xor3, lambda a, b, c: (a + b + c) % 2 == 1),
    "majority": (3, lambda g: g.majority, lambda a, b, c: a + b + c >= 2),
    "ite": (3, lambda g: g.ite, lambda a, b, c: b if a else c),
    "all_of": (3, lambda g: lambda *x: g.all_of(x), lambda a, b, c: a and b and c),
    "any_of": (3, lambda g: lambda *x: g.any_of(x), lambda a, b, c: a or b or c),
}


def holds(literal: int, assignment: dict[int, bool]) -> bool:
    return assignment[abs(literal)] == (literal > 0)


def solutions(clauses: list[list[int]], variables: int) -> list[dict[int, bool]]:
    found = []
    for values in itertools.product((False, True), repeat=variables):
        assignment = dict(enumerate(values, 1))
        if all(any(holds(literal, assignment) for literal in clause) for clause in clauses):
            found.append(assignment)
    return found


@pytest.mark.parametrize("name", GATES)
def test_outputs(name: str) -> None:
    arity, method, function = GATES[name]
    for inputs in itertools.product(INPUTS, repeat=arity):
        clauses: list[list[int]] = []
        gates = Gates(clauses.append)
        assert [gates.new_literal() for _ in range(3)] == [2, 3, 4]
        output = method(gates)(*inputs)
        assert gates.clauses == len(clauses)
        models = solutions(clauses, gates.variables)
        # Each of the 8 assignments of the inputs remains possible, and in exactly one way.
        assert len(models) == 8
        for model in models:
            wanted = function(*(holds(literal, model) for literal in inputs))
            assert holds(output, model) == wanted, inputs


@pytest.mark.parametrize("name", GATES)
def test_equal_gates_are_shared(name: str) -> None:
    arity, method, function = GATES[name]
    gates = Gates(lambda clause: None)
    for _ in range(3):
        gates.new_literal()
    outputs: dict[tuple[bool, ...], set[int]] = {}
    for inputs in itertools.product((2, -2, 3, -3, 4, -4), repeat=arity):
        if len({abs(literal) for literal in inputs}) < arity:
            continue
        output = method(gates)(*inputs)
        table = []
        for values in itertools.product((False, True), repeat=3):
            model = dict(enumerate(values, 2))
            table.append(bool(function(*(holds(literal, model) for literal in inputs))))
        outputs.setdefault(tuple(table), set()).add(output)
    assert all(len(literals) == 1 for literals in outputs.values())


def test_trivial_clauses_are_dropped() -> None:
    clauses: list[list[int]] = []
    gates = Gates(clauses.append)
    a = gates.new_literal()
    gates.add_clause([a, -a])
    gates.add_clause([a, TRUE])
    assert clauses == [[TRUE]]
    gates.add_clause([a, FALSE, a])
    assert clauses == [[TRUE], [a]]
    gates.add_clause([FALSE])
    assert clauses[-1] == []
