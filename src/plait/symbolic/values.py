"""The values of expressions in a run; pointer arithmetic must not leave its object."""

from __future__ import annotations

from plait.logic.translate import NAN_BITS, Place, is_not_zero, translate, truth_of
from plait.model.actions import Origin, expressions_of
from plait.model.expressions import (
    CurrentThread,
    Expr,
    FrameAddress,
    FunctionAddress,
    PointerAdd,
    StaticAddress,
)
from plait.model.program import Edge
from plait.model.types import Scalar
from plait.symbolic.ends import Ends
from plait.symbolic.knowledge import Move
from plait.symbolic.memory import Memory
from plait.symbolic.run import Run, Trouble
from plait.symbolic.surroundings import address_of_static


class Values:
    def __init__(self, memory: Memory, ends: Ends) -> None:
        self._knowledge = memory.knowledge
        self._terms = memory.terms
        self._objects = memory.objects
        self._ends = ends

    def of(self, run: Run, expr: Expr) -> int:
        """The value of an expression of an edge that `keep_in_objects` has seen."""
        frame = run.frame
        program = self._knowledge.program

        def address(place: Place) -> int:
            match place:
                case StaticAddress():
                    value = address_of_static(self._knowledge, place.object, run.number)
                case FrameAddress():
                    value = frame.slots.get(place.slot.index, 0)
                case FunctionAddress():
                    value = program.address_of(program.functions[place.function])
                case CurrentThread():
                    value = run.number
            return self._terms.constant(value, place.type.bits)

        def unknown(bits: int, when: int) -> int:
            return run.input(self._terms, NAN_BITS, bits, when)

        return translate(self._terms, expr, run.registers(self._terms), address, unknown)

    def checked(self, run: Run, expr: Expr, edge: Edge) -> int:
        self.keep_in_objects(run, edge)
        return self.of(run, expr)

    def condition(self, run: Run, expr: Expr, edge: Edge) -> int:
        return truth_of(self._terms, self.checked(run, expr, edge), expr.type)

    def keep_in_objects(self, run: Run, edge: Edge) -> None:
        moves = self._knowledge.moves(expressions_of(edge.action), id(edge))
        self.keep_moves_in_objects(run, moves, edge.action.origin)

    def keep_moves_in_objects(self, run: Run, moves: tuple[Move, ...], origin: Origin) -> None:
        terms = self._terms
        for move in moves:
            result = self.of(run, move)
            if isinstance(move, PointerAdd):
                base = self.of(run, move.base)
            else:
                base = terms.sub(result, terms.constant(move.offset, move.type.bits))
            if base != result:
                inside = self._objects.is_in_pages(run, base, result)
                self._ends.require(run, inside, "pointer arithmetic leaves its object", origin)

    def loaded(self, value: int, type_: Scalar) -> int:
        """Whatever the byte of a `_Bool` holds, its value is 0 or 1."""
        if type_.is_bool:
            return self._terms.zero_extend(is_not_zero(self._terms, value), type_.bits)
        return value

    def passed(self, value: int, source: Scalar, target: Scalar, origin: Origin) -> int:
        """An argument or a result where another type is expected."""
        if source.bits != target.bits:
            raise Trouble("an argument or a result that does not fit", origin)
        return value if source.is_bool else self.loaded(value, target)
