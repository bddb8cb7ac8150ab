"""Farkas' lemma: multipliers that show that linear inequalities contradict each other.

The simplex method with Bland's rule, so that it ends. The systems of one path's core have a handful
of rows and columns. All numbers are integers: a row may be scaled by any positive number, and is
kept without a common divisor.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm

from plait.logic.interpolation.integers import Linear


def multipliers(constraints: Sequence[Linear]) -> list[int] | None:
    """Numbers >= 0 for constraints `expression <= 0`, such that the sum of the expressions times
    these numbers is a constant above 0. None if there are none: then there is a rational solution.
    """
    atoms = sorted({atom for one in constraints for atom in one.factors})
    # One row for each atom, whose factors must cancel out, and one for the constant, to be 1.
    table = [[*(one.factors.get(atom, 0) for one in constraints), 0] for atom in atoms]
    table.append([*(one.constant for one in constraints), 1])
    solution = _nonnegative_solution(table)
    if solution is None:
        return None
    scale = lcm(*(value.denominator for value in solution))
    numbers = [int(value * scale) for value in solution]
    divisor = gcd(*numbers)
    return [number // divisor for number in numbers]


def _nonnegative_solution(table: list[list[int]]) -> list[Fraction] | None:
    """x >= 0 such that each row times x is the row's last number, which is not negative.

    This is the first phase of the simplex method: each row has an artificial variable, and their
    sum is brought down to 0. Their columns need not be kept, as they never come back.
    """
    columns = len(table[0]) - 1
    basis = [columns + index for index in range(len(table))]
    cost = [sum(column) for column in zip(*table)]
    while cost[columns] > 0:
        entering = next((column for column in range(columns) if cost[column] > 0), None)
        if entering is None:
            return None
        leaving = _leaving_row(table, basis, entering)
        if leaving is None:
            return None
        _pivot(table, cost, leaving, entering)
        basis[leaving] = entering
    solution = [Fraction(0)] * columns
    for row, column in zip(table, basis):
        if column < columns:
            solution[column] = Fraction(row[columns], row[column])
    return solution


def _leaving_row(table: list[list[int]], basis: list[int], entering: int) -> int | None:
    """The row that limits the entering variable most; of several the one of the first variable."""
    best: int | None = None
    for index, row in enumerate(table):
        if row[entering] <= 0:
            continue
        if best is None:
            best = index
            continue
        left = row[-1] * table[best][entering]
        right = table[best][-1] * row[entering]
        if left < right or (left == right and basis[index] < basis[best]):
            best = index
    return best


def _pivot(table: list[list[int]], cost: list[int], leaving: int, entering: int) -> None:
    chosen = table[leaving]
    pivot = chosen[entering]
    for row in (*table, cost):
        factor = row[entering]
        if row is not chosen and factor:
            row[:] = [value * pivot - factor * other for value, other in zip(row, chosen)]
            divisor = gcd(*row)
            if divisor > 1:
                row[:] = [value // divisor for value in row]
