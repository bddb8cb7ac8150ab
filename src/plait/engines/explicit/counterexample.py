"""A path of the search as the blocks that threads have executed, for the reference interpreter:
that one stops more often on the way."""

from __future__ import annotations

from plait.engines.explicit.attempts import Violation
from plait.engines.explicit.search import Search
from plait.engines.interface import BlockTaken, Counterexample, UnsetValues
from plait.semantics.compile import VISIBLE
from plait.semantics.machine import Machine
from plait.semantics.outcome import InputRequest
from plait.semantics.scalars import Number, to_bits
from plait.semantics.unset_names import UnsetNames


def counterexample(
    search: Search, violation: Violation, *, is_undefined: bool = False
) -> Counterexample:
    path = _Path(search.machine)
    for thread, choices in violation.steps:
        path.step(thread, choices)
    standing = path.standing() if violation.is_of_state else ()
    for thread, choices in violation.racing:
        path.try_step(thread, choices)
    return Counterexample(
        tuple(path.blocks),
        path.inputs,
        violation.thread,
        violation.message,
        violation.origin,
        race=(violation.racing[0][0], violation.racing[1][0]) if violation.racing else None,
        is_undefined=is_undefined,
        standing=standing,
        unset=path.unset,
    )


class _Path:
    """Executes steps once more, to see where each of them begins and which inputs it asks for."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.blocks: list[BlockTaken] = []
        self.inputs: dict[int, list[tuple[str, int]]] = {}
        self.unset = UnsetValues()
        self._choices: list[Number] = []
        self._running = 1
        machine.accesses = None
        machine.supply = self._supply
        machine.unset_names = UnsetNames(machine.program)
        machine.start()
        machine.commit()

    def step(self, thread: int, choices: tuple[Number, ...]) -> None:
        machine = self._machine
        block = self._block(thread)
        self._running, self._choices = thread, list(choices)
        machine.step(thread)
        if block is not None:
            self.blocks.append(block)
        machine.commit()

    def try_step(self, thread: int, choices: tuple[Number, ...]) -> None:
        """For its inputs: the state stays as it is."""
        self._running, self._choices = thread, list(choices)
        self._machine.step(thread)
        self._machine.take_back()

    def standing(self) -> tuple[BlockTaken, ...]:
        """Where the threads are that have not ended."""
        found = map(self._block, self._machine.runnable())
        return tuple(block for block in found if block is not None)

    def _block(self, number: int) -> BlockTaken | None:
        """What a thread does next, unless it has only paused between two visible actions."""
        thread = self._machine.threads[number - 1]
        assert thread.code is not None
        if thread.code.stops[thread.location] != VISIBLE:
            return None
        threads = len(self._machine.threads)
        name = thread.code.function.name
        return BlockTaken(number, name, thread.location, False, False, threads)

    def _supply(self, request: InputRequest) -> Number:
        value = self._choices.pop(0)
        bits = to_bits(value, request.type)
        if request.unset is None:
            self.inputs.setdefault(self._running, []).append((request.name, bits))
        else:
            self.unset.put(request.unset, request.offset, request.type.size, bits)
        return value
