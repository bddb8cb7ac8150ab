"""Lowering of the expressions that branch: `&&`, `||`, `!` and `?:`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plait.c import syntax as s
from plait.c.operators import Operators
from plait.c.syntax import Node, strip
from plait.c.terms import conditional, convert, negation, truth
from plait.errors import UnsupportedCode
from plait.model.actions import Assign, Skip
from plait.model.expressions import Const, Expr
from plait.model.types import I32, Scalar

if TYPE_CHECKING:
    from plait.c.unit import Unit


class Branches(Operators):
    """Branching expressions; other expressions are lowered by the subclass."""

    unit: Unit

    def rvalue(self, node: Node) -> Expr:
        raise NotImplementedError

    def effect(self, node: Node) -> None:
        raise NotImplementedError

    def _unary_kind(self, node: Node) -> int:
        return int(self.unit.library.getCursorUnaryOperatorKind(node.cursor))

    def _binary_kind(self, node: Node) -> int:
        return int(self.unit.library.getCursorBinaryOperatorKind(node.cursor))

    def condition(self, node: Node, then: int, otherwise: int) -> None:
        """Go to `then` if the expression is not zero, to `otherwise` if it is."""
        inner = strip(node)
        if inner.kind == s.BINARY:
            kind = self._binary_kind(inner)
            if kind in (s.LOGICAL_AND, s.LOGICAL_OR):
                middle = self.location()
                if kind == s.LOGICAL_AND:
                    self.condition(inner.children[0], middle, otherwise)
                else:
                    self.condition(inner.children[0], then, middle)
                self.at = middle
                self.condition(inner.children[1], then, otherwise)
                return
        if inner.kind == s.UNARY and self._unary_kind(inner) == s.LOGICAL_NOT:
            self.condition(inner.children[0], otherwise, then)
            return
        self.branch(truth(self.rvalue(node)), then, otherwise)

    def _logical(self, kind: int, left: Node, right: Node) -> Expr:
        first = truth(self.rvalue(left))
        start, emitted = self.at, self.emitted
        second = truth(self.rvalue(right))
        if kind == s.LOGICAL_AND:
            return self._choose(first, second, Const(I32, 0), start, emitted)
        return self._choose(negation(first), second, Const(I32, 1), start, emitted)

    def _choose(self, condition: Expr, second: Expr, other: Expr, start: int, emitted: int) -> Expr:
        """`condition ? second : other`, where `second` was lowered from location `start` on.

        What it emitted is made conditional; if it emitted nothing, no branch is needed.
        """
        if self.emitted == emitted:
            if second.type == I32 and other.type == I32:
                if isinstance(condition, Const):
                    return second if condition.value else other
            return conditional(condition, second, other)
        result = self.register(second.type)
        self.emit(Assign(self.origin, result, second))
        after = self.location()
        self.edge(self.at, Skip(self.origin), after)
        below = self.push_down(start)
        aside = self.location()
        self.at = start
        self.branch(condition, below, aside)
        self.at = aside
        self.emit(Assign(self.origin, result, other))
        self.start(after)
        return result

    def _conditional(self, node: Node) -> Expr:
        scalar = self.unit.type_of(node).scalar
        if scalar is None:
            return self._decayed_conditional(node)
        first, then, otherwise = node.children
        chosen = self._constant_condition(first)
        if chosen is not None:
            return convert(scalar, self.rvalue(then if chosen else otherwise))
        inner = strip(first)
        simple = inner.kind not in (s.BINARY,) or self._binary_kind(inner) not in (
            s.LOGICAL_AND,
            s.LOGICAL_OR,
        )
        if simple:
            test = truth(self.rvalue(first))
            start, emitted = self.at, self.emitted
            one = convert(scalar, self.rvalue(then))
            if self.emitted == emitted:
                two = convert(scalar, self.rvalue(otherwise))
                # `one` emitted nothing, so evaluating it after `two`'s actions is harmless unless
                # they assign what it reads; those run only when `one` is not wanted.
                return self._choose(negation(test), two, one, start, emitted)
            return self._branching(scalar, test, one, start, otherwise)
        ways = self.location(), self.location()
        after = self.location()
        result = self.register(scalar)
        self.condition(first, *ways)
        for start, child in zip(ways, (then, otherwise), strict=True):
            self.at = start
            self.emit(Assign(self.origin, result, convert(scalar, self.rvalue(child))))
            self.connect(after)
        self.at = after
        return result

    def _branching(
        self, scalar: Scalar, test: Expr, one: Expr, start: int, otherwise: Node
    ) -> Expr:
        result = self.register(scalar)
        after = self.location()
        self.emit(Assign(self.origin, result, one))
        self.edge(self.at, Skip(self.origin), after)
        below = self.push_down(start)
        aside = self.location()
        self.at = start
        self.branch(test, below, aside)
        self.at = aside
        self.emit(Assign(self.origin, result, convert(scalar, self.rvalue(otherwise))))
        self.start(after)
        return result

    def _constant_condition(self, node: Node) -> bool | None:
        inner = strip(node)
        if inner.kind == s.INTEGER:
            return bool(self.unit.tree.integer(inner))
        return None

    def _decayed_conditional(self, node: Node) -> Expr:
        raise UnsupportedCode("a conditional expression of this type")

    def _conditional_effect(self, node: Node) -> None:
        then, otherwise, after = self.location(), self.location(), self.location()
        self.condition(node.children[0], then, otherwise)
        for start, child in ((then, node.children[1]), (otherwise, node.children[2])):
            self.at = start
            self.effect(child)
            self.connect(after)
        self.at = after
