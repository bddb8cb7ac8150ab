"""Calls of old C, whose caller and callee do not agree on types: what the ABI makes of them.

Arguments and results are passed in registers. One that is wider than expected loses its high bits.
Of one that is narrower the high bits are whatever the register held: of a result that is an input,
of an argument only what certainly has zeros there is passed on (constants; of what is unsigned
compilers leave the high bits as they are), everything else is unsupported.
"""

from __future__ import annotations

from plait.c.terms import binary, convert
from plait.c.types import CType, Shape
from plait.model.actions import Action, Assign, Call, Input, Origin, Prune, Return
from plait.model.expressions import BinaryOp, Const, Expr, Register
from plait.model.program import Edge, Function, RegisterDecl
from plait.model.types import Kind, Scalar


def has_width_of(one: Scalar, other: Scalar) -> bool:
    return one.bits == other.bits and (one.kind is Kind.FLOAT) == (other.kind is Kind.FLOAT)


def as_passed(value: Expr, parameter: CType) -> Expr | None:
    """The value that a parameter gets; None if the ABI does not tell."""
    scalar = parameter.scalar
    if scalar is None or has_width_of(value.type, scalar):
        return value
    if Kind.FLOAT in (value.type.kind, scalar.kind):
        return None
    if value.type.bits > scalar.bits or value.type.is_bool:
        return convert(scalar, value)
    if isinstance(value, Const) and value.value >= 0:
        return convert(scalar, value)
    return None


def fits(defined: CType, wanted: CType) -> bool:
    """Whether a function can be called as one of another type without further ado."""
    result, expected = defined.result, wanted.result
    assert result is not None and expected is not None
    if expected.scalar is not None:
        if result.scalar is None or not has_width_of(result.scalar, expected.scalar):
            return False
    return len(defined.parameters) <= len(wanted.parameters) and all(
        own.scalar is not None
        and given.scalar is not None
        and has_width_of(own.scalar, given.scalar)
        for own, given in zip(defined.parameters, wanted.parameters, strict=False)
    )


def adapter(
    name: str, linked: str, defined: CType, wanted: CType, origin: Origin
) -> Function | None:
    """A function of the type `wanted` that calls another one; None if the ABI does not tell."""
    result, expected = defined.result, wanted.result
    assert result is not None and expected is not None
    own, given = defined.parameters, wanted.parameters
    if len(own) > len(given) or wanted.variadic or defined.variadic:
        return None
    if any(item.scalar is None for item in (*own, *given)):
        return None
    if Shape.RECORD in (result.shape, expected.shape):
        return None
    registers = [RegisterDecl("", item.scalar) for item in given if item.scalar is not None]
    arguments = []
    for position, parameter in enumerate(own):
        passed = as_passed(Register(registers[position].type, position, ""), parameter)
        if passed is None:
            return None
        arguments.append(passed)

    def register(scalar: Scalar) -> Register:
        registers.append(RegisterDecl("", scalar))
        return Register(scalar, len(registers) - 1, "")

    target = None if result.scalar is None else register(result.scalar)
    actions: list[Action] = [Call(origin, target, linked, tuple(arguments))]
    value: Expr | None = None
    if expected.scalar is not None:
        if target is not None and Kind.FLOAT in (target.type.kind, expected.scalar.kind):
            return None
        found = register(expected.scalar)
        value = found
        if target is not None and target.type.bits >= found.type.bits:
            actions.append(Assign(origin, found, convert(found.type, target)))
        else:
            actions.append(Input(origin, found, "result beyond what a function returns"))
            if target is not None:
                same = binary(BinaryOp.EQ, convert(target.type, found), target)
                actions.append(Prune(origin, same))
    actions.append(Return(origin, value))
    last = len(actions) - 1
    edges = [
        [Edge(place, action, place + 1 if place < last else -1)]
        for place, action in enumerate(actions)
    ]
    return Function(
        name, name, origin, registers, len(given), [], edges, expected.scalar, library=True
    )
