"""Threads: how they start, and when one is known to be over."""

from __future__ import annotations

from plait.engines.modular.invariants import Invariants, Thread
from plait.engines.modular.memory import Memory
from plait.engines.modular.objects import Context, Kind
from plait.engines.modular.outcome import GaveUp
from plait.engines.modular.state import State
from plait.engines.modular.values import Value, join


def start(
    memory: Memory, state: State, function: Value, argument: Value, context: Context,
    is_single: bool,
) -> Value:  # fmt: skip
    """A thread starts: what it can read goes into the table. Returns its number."""
    invariants = memory.invariants
    thread = _thread(invariants, context)
    before = (thread.argument, len(thread.functions), thread.is_many, thread.beside)
    thread.functions |= _functions(memory, function)
    thread.argument = join(thread.argument, argument)
    thread.block = _block(thread.argument)
    if not is_single or memory.thread.is_many:
        thread.is_many = True
        memory.objects.many.add(thread.number)
    if thread.beside is not None:
        thread.beside = None if state.alive is None else thread.beside | state.alive
    if before != (thread.argument, len(thread.functions), thread.is_many, thread.beside):
        invariants.has_changed = True
    invariants.add(memory.thread.children, thread.number)
    for number in state.dead:
        invariants.add(invariants.outlived, number)
    if thread.block is not None:
        for cell in invariants.cells_of(thread.block):
            invariants.hand(thread, cell, memory.fetch(state, cell))
    memory.publish_all(state)
    state.fresh = frozenset()
    if state.alive is not None:
        state.alive |= invariants.descendants(thread)
    memory.give_back(state)
    return invariants.numbers_of(thread)


def _functions(memory: Memory, function: Value) -> set[str]:
    if function is None or function[0] <= function[1]:
        raise GaveUp("a thread starts in a function that is not known")
    found = set()
    for number, low, high, _ in function[2]:
        item = memory.objects[number]
        if item.kind is not Kind.FUNCTION or (low, high) != (0, 0):
            raise GaveUp("a thread starts in a function that is not known")
        found.add(item.function)
    return found


def _block(argument: Value) -> int | None:
    """The one object that the thread gets."""
    if argument is None or argument[0] <= argument[1] or len(argument[2]) != 1:
        return None
    [(number, low, high, _)] = argument[2]
    return number if (low, high) == (0, 0) else None


def _thread(invariants: Invariants, context: Context) -> Thread:
    found = invariants.threads.get(context)
    if found is None:
        found = Thread(len(invariants.threads) + 1)
        invariants.threads[context] = found
        invariants.has_changed = True
    return found


def joined(memory: Memory, state: State, identity: Value) -> None:
    """pthread_join has returned: the thread with this control block is over, and with it all that
    it has started if it has started none."""
    block = _block(identity)
    if state.alive is None or block is None or not memory.objects.is_one(block):
        return
    for thread in memory.invariants.threads.values():
        if thread.block == block and not thread.is_many and not thread.children:
            state.alive -= {thread.number}
