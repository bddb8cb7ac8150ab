"""Where a program looks at the numbers of threads, so that what it does may depend on them.

Locks keep the number of their owner. Functions of the library compare it with others; whoever else
reads the bytes of a lock may tell which number a thread has.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.analysis.objects import members
from plait.analysis.points_to import Instance, PointsTo
from plait.model.actions import (
    Assign,
    Call,
    Load,
    ReadModifyWrite,
    Return,
    Spawn,
    Store,
    expressions_of,
)
from plait.model.expressions import (
    COMPARISONS,
    Binary,
    BinaryOp,
    Convert,
    CurrentThread,
    Expr,
    Register,
    children,
)
from plait.model.program import Edge, Function

_OF_THREADS = ("pthread_", "mtx_", "cnd_", "thrd_", "call_once")

# An object, an offset in it (None: any) and a number of bytes.
_Span = tuple[int, int | None, int]


def thread_number_as_number(points_to: PointsTo) -> Edge | None:
    """A place outside of the functions for threads and locks that may read the number of a
    thread."""
    numbers = _Numbers(points_to)
    for name in points_to.reachable_functions:
        for instance in points_to.instances_of[name]:
            if _is_for_threads(instance.function):
                continue
            for edge in instance.template.edges:
                is_mentioned = any(map(_mentions_number, expressions_of(edge.action)))
                if is_mentioned or numbers.is_read(instance, edge):
                    return edge
    return None


def calculation_with_number(function: Function) -> Edge | None:
    """A place of a function that does more with the number of the running thread than to keep it,
    or to ask whether another number is the same."""
    registers: set[int] = set()
    has_grown = True
    while has_grown:
        has_grown = False
        for edge in function.all_edges():
            action = edge.action
            if isinstance(action, Assign) and action.target.index not in registers:
                if _is_copy(action.value, registers):
                    registers.add(action.target.index)
                    has_grown = True
    for edge in function.all_edges():
        pending = list(expressions_of(edge.action))
        while pending:
            item = pending.pop()
            operands = list(children(item))
            is_equality = isinstance(item, Binary) and item.op in (BinaryOp.EQ, BinaryOp.NE)
            if not is_equality and not isinstance(item, Convert):
                if any(_is_copy(operand, registers) for operand in operands):
                    return edge
            pending.extend(operands)
    return None


def _is_copy(expr: Expr, registers: set[int]) -> bool:
    """Of the number of the running thread, or of a register that may hold it."""
    while isinstance(expr, Convert):
        expr = expr.operand
    return isinstance(expr, CurrentThread) or (
        isinstance(expr, Register) and expr.index in registers
    )


def _is_for_threads(function: Function) -> bool:
    return function.library and (
        function.name.startswith(_OF_THREADS)
        or any(
            any(map(_mentions_number, expressions_of(edge.action))) for edge in function.all_edges()
        )
    )


def _mentions_number(expr: Expr) -> bool:
    pending = [expr]
    while pending:
        item = pending.pop()
        if isinstance(item, CurrentThread):
            return True
        pending.extend(children(item))
    return False


class _Numbers:
    """Registers and memory that may hold what is made of a thread's number, in whatever order
    things happen."""

    def __init__(self, points_to: PointsTo) -> None:
        self._points_to = points_to
        self._registers: set[tuple[str, int]] = set()
        self._returning: set[str] = set()
        self._spans: set[_Span] = set()
        while self._has_grown():
            pass

    def is_read(self, instance: Instance, edge: Edge) -> bool:
        action = edge.action
        if isinstance(action, Load):
            size = action.target.type.size
        elif isinstance(action, ReadModifyWrite):
            size = action.old.type.size
        else:
            return False
        return any(map(self._meets, self._spans_of(instance, edge, size)))

    def _has_grown(self) -> bool:
        before = len(self._registers), len(self._returning), len(self._spans)
        for name in self._points_to.reachable_functions:
            for instance in self._points_to.instances_of[name]:
                for edge in instance.template.edges:
                    self._follow(instance, edge)
        return before != (len(self._registers), len(self._returning), len(self._spans))

    def _follow(self, instance: Instance, edge: Edge) -> None:
        name, action = instance.function.name, edge.action
        if isinstance(action, Assign):
            if self._is_number(name, action.value):
                self._registers.add((name, action.target.index))
        elif isinstance(action, Store):
            if self._is_number(name, action.value):
                self._spans.update(self._spans_of(instance, edge, action.value.type.size))
        elif isinstance(action, Load):
            if self.is_read(instance, edge):
                self._registers.add((name, action.target.index))
        elif isinstance(action, ReadModifyWrite):
            if self.is_read(instance, edge):
                self._registers.add((name, action.old.index))
            if self._is_number(name, action.new):
                self._spans.update(self._spans_of(instance, edge, action.old.type.size))
        elif isinstance(action, Spawn):
            self._registers.add((name, action.target.index))
            if self._is_number(name, action.argument):
                self._registers.update((item, 0) for item in self._points_to.callees(name, edge))
        elif isinstance(action, Return):
            if action.value is not None and self._is_number(name, action.value):
                self._returning.add(name)
        elif isinstance(action, Call):
            self._call(name, edge, action)

    def _call(self, name: str, edge: Edge, action: Call) -> None:
        for called in self._points_to.callees(name, edge):
            for index, value in enumerate(action.arguments):
                if self._is_number(name, value):
                    self._registers.add((called, index))
            if action.target is not None and called in self._returning:
                self._registers.add((name, action.target.index))

    def _is_number(self, function: str, expr: Expr) -> bool:
        pending = [expr]
        while pending:
            item = pending.pop()
            if isinstance(item, CurrentThread):
                return True
            if isinstance(item, Register):
                if (function, item.index) in self._registers:
                    return True
            elif not (isinstance(item, Binary) and item.op in COMPARISONS):
                pending.extend(children(item))
        return False

    def _spans_of(self, instance: Instance, edge: Edge, size: int) -> Iterator[_Span]:
        memory = self._points_to.memory
        for item in members(self._points_to.address_mask(instance, edge)):
            yield memory.location_object[item], memory.location_offset[item], size

    def _meets(self, span: _Span) -> bool:
        index, offset, size = span
        for other, start, count in self._spans:
            if other == index:
                if start is None or offset is None:
                    return True
                if start < offset + size and offset < start + count:
                    return True
        return False
