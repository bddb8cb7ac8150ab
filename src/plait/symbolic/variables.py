"""The variables of formulas: registers of frames (`t2.0.5:32`) and cells of memory (`m4096.4`).

Functions that take turns at one depth of a stack may have registers of different widths, so the
width is part of a register's name.
"""

from __future__ import annotations

from typing import NamedTuple

from plait.logic.terms import Terms
from plait.symbolic.locations import Cell


class RegisterName(NamedTuple):
    """`depth` counts the frames of the thread from the outermost, 0."""

    thread: int
    depth: int
    register: int


def register_variable(terms: Terms, thread: int, depth: int, index: int, bits: int) -> int:
    return terms.variable(f"t{thread}.{depth}.{index}:{bits}", bits)


def cell_variable(terms: Terms, cell: Cell) -> int:
    return terms.variable(f"m{cell[0]}.{cell[1]}", 8 * cell[1])


def cell_of(name: str) -> Cell | None:
    """The cell that a variable stands for, if it does for one."""
    if not name.startswith("m"):
        return None
    address, size = name[1:].split(".")
    return int(address), int(size)


def register_of(name: str) -> RegisterName | None:
    if not name.startswith("t"):
        return None
    thread, depth, index = name[1:].split(":")[0].split(".")
    return RegisterName(int(thread), int(depth), int(index))
