"""Pointer arithmetic inside expressions: which there is, and under which conditions it happens.

Beyond the pages of its object a pointer would come to look like a pointer to something else, so
an execution that does that has no verdict (docs/semantics.md).
"""

from __future__ import annotations

from typing import NamedTuple

from plait.model.expressions import (
    Conditional,
    Expr,
    FrameAddress,
    PointerAdd,
    StaticAddress,
    children,
)


class Move(NamedTuple):
    """Arithmetic that happens where each of the conditions is (True) or is not (False) 0."""

    guards: tuple[tuple[Expr, bool], ...]
    expr: PointerAdd | StaticAddress | FrameAddress


class Moves:
    """The moves of each expression, remembered."""

    def __init__(self) -> None:
        # The expression is kept too: the number of one that is gone could be given out again.
        self._known: dict[int, tuple[Expr, tuple[Move, ...]]] = {}

    def __call__(self, expr: Expr) -> tuple[Move, ...]:
        found = self._known.get(id(expr))
        if found is None:
            found = self._known[id(expr)] = expr, tuple(_moves(expr))
        return found[1]


def _moves(expr: Expr) -> list[Move]:
    """In an order in which the parts of an expression come before the whole."""
    found: list[Move] = []
    pending: list[tuple[Expr, tuple[tuple[Expr, bool], ...]]] = [(expr, ())]
    while pending:
        item, guards = pending.pop()
        if _is_move(item):
            assert isinstance(item, PointerAdd | StaticAddress | FrameAddress)
            found.append(Move(guards, item))
        if isinstance(item, Conditional):
            pending.append((item.condition, guards))
            pending.append((item.then, (*guards, (item.condition, False))))
            pending.append((item.otherwise, (*guards, (item.condition, True))))
        else:
            pending.extend((part, guards) for part in children(item))
    found.reverse()
    return found


def _is_move(expr: Expr) -> bool:
    match expr:
        case PointerAdd():
            return True
        case StaticAddress():
            return not 0 <= expr.offset <= expr.object.size
        case FrameAddress():
            return not 0 <= expr.offset <= expr.slot.size
    return False
