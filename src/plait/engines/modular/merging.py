"""Two states of a thread in one that covers both."""

from __future__ import annotations

from plait.engines.modular.memory import Memory
from plait.engines.modular.outcome import GaveUp
from plait.engines.modular.state import Cell, State
from plait.engines.modular.values import Thresholds, Value, join


def merged(memory: Memory, one: State, other: State) -> State:
    """May change both."""
    if one.depth != other.depth:
        raise GaveUp("an atomic section that is open on one way only")
    if one.is_alone != other.is_alone:
        memory.publish_all(one if one.is_alone else other)
    fresh = one.fresh & other.fresh
    for state in (one, other):
        memory.spread(state, state.fresh - fresh)
    alive = None
    if one.alive is not None and other.alive is not None:
        alive = one.alive | other.alive
    written, read = one.written & other.written, one.read & other.read
    if (
        one.is_alone != other.is_alone
        or (written, read) != (one.written, one.read)
        or ((written, read) != (other.written, other.read))
    ):
        for state in (one, other):
            state.alive, state.written, state.read = alive, written, read
            memory.give_back(state)
    before = {
        cell: join(_at_beginning(memory, one, cell), _at_beginning(memory, other, cell))
        for cell in one.before.keys() | other.before.keys()
    }
    cells = {}
    for cell in one.cells.keys() | other.cells.keys():
        cells[cell] = join(memory.fetch(one, cell), memory.fetch(other, cell))
    return State(
        [a if a is b else join(a, b) for a, b in zip(one.registers, other.registers, strict=True)],
        {r: cell for r, cell in one.copies.items() if other.copies.get(r) == cell},
        {r: lock for r, lock in one.tries.items() if other.tries.get(r) == lock},
        cells,
        one.dirty | other.dirty,
        written,
        read,
        one.depth,
        alive,
        one.living & other.living,
        one.dead | other.dead,
        fresh,
        before,
    )


def _at_beginning(memory: Memory, state: State, cell: Cell) -> Value:
    """What was in a cell when the running section began."""
    return state.before[cell] if cell in state.before else memory.fetch(state, cell)


def widened(memory: Memory, thresholds: Thresholds, old: State, new: State) -> State:
    """At least both; after finitely many times the same."""
    result = merged(memory, old.copy(), new)
    widen = thresholds.widened
    result.registers = [widen(a, b) for a, b in zip(old.registers, result.registers, strict=True)]
    result.cells = {
        cell: widen(old.cells[cell], value) if cell in old.cells else value
        for cell, value in result.cells.items()
    }
    return result
