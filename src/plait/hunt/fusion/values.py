"""The terms of expressions along a run: constants, but for what depends on symbols."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plait.hunt.fusion.executed import Executed, NotFollowed
from plait.hunt.fusion.objects import RunObjects
from plait.logic.terms import Terms
from plait.logic.translate import Place, translate, translate_condition
from plait.model.actions import ReadModifyWrite
from plait.model.expressions import (
    CurrentThread,
    Expr,
    FrameAddress,
    FunctionAddress,
    StaticAddress,
    registers_of,
)
from plait.model.program import Program
from plait.model.types import Scalar
from plait.semantics.indeterminate import Indeterminate
from plait.semantics.scalars import to_bits


class RunValues:
    """`known` are the registers of a frame that have symbolic values."""

    def __init__(self, terms: Terms, program: Program, objects: RunObjects) -> None:
        self._terms = terms
        self._program = program
        self._objects = objects

    def constant(self, value: Any, scalar: Scalar) -> int:
        if value.__class__ is Indeterminate:
            return self._terms.fresh("unset", scalar.bits)
        return self._terms.constant(to_bits(value, scalar), scalar.bits)

    def term(self, row: Executed, known: Mapping[int, int], expr: Expr) -> int | None:
        """None if the expression has the value that it had in the run."""
        if not registers_of(expr) & known.keys():
            return None
        registers = _Registers(self, known, row)
        return translate(self._terms, expr, registers, lambda place: self._address(row, place))

    def recorded(self, row: Executed, expr: Expr) -> int:
        """The value that an expression had in the run."""
        registers = _Registers(self, {}, row)
        return translate(self._terms, expr, registers, lambda place: self._address(row, place))

    def condition(self, row: Executed, known: Mapping[int, int], expr: Expr) -> int:
        """The truth of a condition that held in the run; true if it depends on nothing else."""
        if not registers_of(expr) & known.keys():
            return self._terms.true
        registers = _Registers(self, known, row)
        return translate_condition(
            self._terms, expr, registers, lambda place: self._address(row, place)
        )

    def updated(
        self, row: Executed, known: Mapping[int, int], action: ReadModifyWrite, old: int | None
    ) -> int:
        """What memory holds behind an update; `old` is what it has read, None if as in the run."""
        registers = _Registers(self, known, row)
        if old is None:
            recorded = row.touched[0].value
            if recorded is None:
                raise NotFollowed("an update of what was never set")
            old = self._terms.constant(recorded, action.old.type.bits)
        registers[action.old.index] = old

        def address(place: Place) -> int:
            return self._address(row, place)

        value = translate(self._terms, action.new, registers, address)
        if action.guard is None:
            return value
        holds = translate_condition(self._terms, action.guard, registers, address)
        return self._terms.ite(holds, value, old)

    def _address(self, row: Executed, place: Place) -> int:
        bits = place.type.bits
        match place:
            case StaticAddress():
                address = self._objects.static_address(place, row.thread)
                return self._terms.constant(address, bits)
            case FrameAddress():
                first = len(row.function.registers)
                return self._terms.constant(row.before[first + place.slot.index], bits)
            case FunctionAddress():
                function = self._program.functions[place.function]
                return self._terms.constant(self._program.address_of(function), bits)
            case CurrentThread():
                return self._terms.constant(row.thread, bits)
        raise NotFollowed("an address of an unknown kind")


class _Registers(dict[int, int]):
    """The terms of a frame's registers: constants, unless they are known to be symbolic."""

    def __init__(self, values: RunValues, known: Mapping[int, int], row: Executed) -> None:
        super().__init__(known)
        self._values = values
        self._row = row

    def __missing__(self, index: int) -> int:
        scalar = self._row.function.registers[index].type
        value = self._values.constant(self._row.before[index], scalar)
        self[index] = value
        return value
