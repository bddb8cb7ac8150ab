"""What follows from the last pass: whether the specification holds, and facts."""

from __future__ import annotations

from collections import Counter

from plait.engines.modular.interpret import MANY, Interpreter
from plait.engines.modular.objects import Kind
from plait.engines.modular.races import find_race
from plait.engines.modular.values import converted
from plait.model import types
from plait.model.facts import Fact, Range, Rounds, Unreachable
from plait.model.layout import scalar_at
from plait.model.program import Program
from plait.model.properties import Property, Specification


def doubt(specification: Specification, interpreter: Interpreter) -> str:
    """Why the specification may not hold; empty if it does."""
    memory = interpreter.memory
    for complaint in memory.complaints:
        return f"not excluded: {complaint}"
    if Property.NO_DATA_RACE in specification:
        race = find_race(memory.invariants, list(memory.accesses))
        if race:
            return f"not excluded: {race}"
    if Property.NO_DEADLOCK in specification and interpreter.has_waits:
        return "not proved: a thread may wait for ever"
    if Property.VALID_MEMSAFETY in specification and interpreter.allocates:
        return "not proved: memory that is allocated may be lost"
    return ""


def explanation(specification: Specification, interpreter: Interpreter) -> str:
    threads = len(interpreter.memory.invariants.threads)
    reason = f"each of {threads} threads keeps to bounds that all others rely on"
    if threads == 1:
        reason = "bounds of all variables, in the only thread"
    if Property.NO_DATA_RACE in specification:
        reason += "; locks, atomics or joins keep conflicting accesses apart"
    return reason


def facts(program: Program, interpreter: Interpreter) -> tuple[Fact, ...]:
    ranges = _ranges(program, interpreter)
    return (*ranges, *_unreachable(program, interpreter), *_rounds(interpreter))


def _ranges(program: Program, interpreter: Interpreter) -> list[Fact]:
    """Of objects whose name is theirs alone: static ones of functions and files may share one."""
    memory = interpreter.memory
    names = Counter(item.name for item in program.objects)
    found: list[Fact] = []
    for cell, value in sorted(memory.invariants.ever.items()):
        number, offset, size = cell
        item = memory.objects[number]
        if (
            item.static is None
            or item.kind is not Kind.STATIC
            or names[item.static.name] > 1
            or number in memory.invariants.opaque
        ):
            continue
        layout = scalar_at(item.static.layout, offset, size)
        if layout is None or layout.scalar.kind is not types.Kind.INT:
            continue
        scalar = layout.scalar
        known = None if value is None else converted(value, scalar)
        if known is None or known[2] or (known[0], known[1]) == (scalar.minimum, scalar.maximum):
            continue
        found.append(Range(item.static.name, offset, size, scalar.signed, known[0], known[1]))
    return found


def _unreachable(program: Program, interpreter: Interpreter) -> list[Fact]:
    found: list[Fact] = []
    for name, function in program.functions.items():
        reached = interpreter.reached.get(name, set())
        if function.library and not reached:
            continue
        found += [
            Unreachable(name, location)
            for location in range(len(function.edges))
            if location not in reached
        ]
    return found


def _rounds(interpreter: Interpreter) -> list[Fact]:
    found: list[Fact] = []
    for (name, head), most in sorted(interpreter.rounds.items()):
        order = interpreter.order(interpreter.program.functions[name])
        if most != MANY and head in order.loops:
            found.append(Rounds(name, head, most))
    return found
