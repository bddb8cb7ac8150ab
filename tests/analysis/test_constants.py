from __future__ import annotations

from tests.analysis.builder import FunctionBuilder, address, binary, program, static

from plait.analysis.constants import Constants
from plait.analysis.points_to import PointsTo
from plait.analysis.sharing import Sharing
from plait.model.actions import NOWHERE, Unsupported
from plait.model.expressions import Const
from plait.model.program import Program
from plait.model.types import POINTER_64


def guarded(is_written: bool) -> Program:
    hook = static("hook")
    rare = FunctionBuilder("rare", [POINTER_64])
    value = rare.pointer()
    rare.load(value, address(hook))
    then, end = rare.location(), rare.location()
    rare.branch(binary("!=", value, Const(POINTER_64, 0)), then, end)
    rare.here = then
    rare.add(Unsupported(NOWHERE, "rare"))
    rare.ret()
    rare.here = end
    rare.ret()
    main = FunctionBuilder("main")
    if is_written:
        main.store(address(hook), address("main"))
    main.call(None, "rare", Const(POINTER_64, 0))
    main.ret()
    return program(main, rare, objects=[hook])


def test_what_a_never_written_object_guards_is_dead() -> None:
    constants = Constants(Sharing(PointsTo(guarded(False))))
    assert constants.unsupported() == []
    constants = Constants(Sharing(PointsTo(guarded(True))))
    assert [action.message for _, _, action in constants.unsupported()] == ["rare"]


def test_parameters_that_are_always_the_same() -> None:
    made = guarded(False)
    constants = Constants(Sharing(PointsTo(made)))
    assert constants.registers(made.functions["rare"])[0].value == 0
