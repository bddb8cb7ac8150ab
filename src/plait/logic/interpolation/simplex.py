"""Farkas' lemma: multipliers that show that linear inequalities contradict each other.

The simplex method on rationals, with Bland's rule so that it ends. The systems of one path's core
have a handful of rows and columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from plait.logic.interpolation.integers import Linear


def multipliers(constraints: Sequence[Linear]) -> list[int] | None:
    """Numbers >= 0 for constraints `expression <= 0`, such that the sum of the expressions times
    these numbers is a constant above 0. None if there are none: then there is a rational solution.
    """
    atoms = sorted({atom for one in constraints for atom in one.factors})
    # One row for each atom, whose factors must cancel out, and one for the constant, to be 1.
    rows = [[Fraction(one.factors.get(atom, 0)) for one in constraints] for atom in atoms]
    rows.append([Fraction(one.constant) for one in constraints])
    right = [Fraction(0)] * len(atoms) + [Fraction(1)]
    solution = _nonnegative_solution(rows, right)
    if solution is None:
        return None
    scale = lcm(*(value.denominator for value in solution))
    return [int(value * scale) for value in solution]


def _nonnegative_solution(
    rows: list[list[Fraction]], right: list[Fraction]
) -> list[Fraction] | None:
    """x >= 0 with rows * x == right, where right >= 0, by the first phase of the simplex method:
    one artificial variable for each row, whose sum is brought down to 0."""
    columns = len(rows[0])
    basis = [columns + index for index in range(len(rows))]  # artificial variables
    table = [[*row, value] for row, value in zip(rows, right)]
    cost = [sum((row[column] for row in table), Fraction(0)) for column in range(columns + 1)]
    while cost[columns] > 0:
        entering = next((column for column in range(columns) if cost[column] > 0), None)
        if entering is None:
            return None
        candidates = [
            (row[columns] / row[entering], basis[index], index)
            for index, row in enumerate(table)
            if row[entering] > 0
        ]
        if not candidates:
            return None
        leaving = min(candidates)[2]
        _pivot(table, cost, leaving, entering)
        basis[leaving] = entering
    solution = [Fraction(0)] * columns
    for index, column in enumerate(basis):
        if column < columns:
            solution[column] = table[index][columns]
    return solution


def _pivot(table: list[list[Fraction]], cost: list[Fraction], leaving: int, entering: int) -> None:
    row = table[leaving]
    scale = row[entering]
    row[:] = [value / scale for value in row]
    for other in (*table, cost):
        factor = other[entering]
        if other is not row and factor:
            other[:] = [value - factor * chosen for value, chosen in zip(other, row)]
