"""Checks, and values that nothing determines."""

from __future__ import annotations

from plait.model.actions import Check, CheckKind, Input
from plait.model.program import Edge
from plait.model.properties import Specification
from plait.model.unset import made_at
from plait.symbolic.ends import Ends
from plait.symbolic.memory import Memory
from plait.symbolic.run import Run, RunIsOver
from plait.symbolic.values import Values

_GUARDS_AGAINST_UNDEFINED = (CheckKind.UNDEFINED, CheckKind.VALID_DEREF, CheckKind.VALID_FREE)


class Checks:
    def __init__(
        self, specification: Specification, memory: Memory, values: Values, ends: Ends
    ) -> None:
        self._checked = specification.checks
        self._terms = memory.terms
        self._values = values
        self._ends = ends

    def check(self, run: Run, edge: Edge, action: Check) -> None:
        terms = self._terms
        is_checked = action.kind is not CheckKind.UNDEFINED and action.kind in self._checked
        if not is_checked and action.kind not in _GUARDS_AGAINST_UNDEFINED:
            self._values.keep_in_objects(run, edge)
            return
        condition = self._values.condition(run, action.condition, edge)
        if not is_checked:
            self._ends.require(run, condition, action.message, action.origin)
            return
        if condition == terms.true:
            return
        fork = run.copy()
        fork.assume(terms.not_(condition), terms)
        self._ends.violation(fork, action.kind.value, action.origin)
        if condition == terms.false:
            raise RunIsOver
        run.assume(condition, terms)

    def input(self, run: Run, edge: Edge, action: Input) -> None:
        terms = self._terms
        bits = action.target.type.bits
        if action.count is not None:
            count = self._values.checked(run, action.count, edge)
            type_ = action.count.type
            zero = terms.constant(0, type_.bits)
            less = terms.slt if type_.signed else terms.ult
            self._ends.halt_unless(run, less(zero, count))
        if action.indeterminate:
            value = run.unset(terms, made_at(run.frame.shape.function.name, edge.source), bits)
        else:
            value = run.input(terms, action.name, bits)
        if action.target.type.is_bool:
            run.assume(terms.ult(value, terms.constant(2, bits)), terms)
        if action.count is not None:
            wide = max(bits, terms.width[count]) + 1
            extend = terms.sign_extend if action.target.type.signed else terms.zero_extend
            extend_count = terms.sign_extend if action.count.type.signed else terms.zero_extend
            chosen, limit = extend(value, wide), extend_count(count, wide)
            run.assume(terms.slt(chosen, limit), terms)
            run.assume(terms.sle(terms.constant(0, wide), chosen), terms)
        run.frame.registers[action.target.index] = value
