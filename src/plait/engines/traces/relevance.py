"""Which claims can be about the variables that there are at a location."""

from __future__ import annotations

from plait.logic.substitute import Vocabulary
from plait.logic.terms import Terms
from plait.symbolic.knowledge import Knowledge
from plait.symbolic.locations import Location, Status
from plait.symbolic.memory import Memory
from plait.symbolic.variables import cell_of, register_of


class Relevance:
    """What a location knows by itself, and registers of frames that are not there, need no claims.
    Leaving out a claim is always allowed."""

    def __init__(self, terms: Terms, knowledge: Knowledge, memory: Memory) -> None:
        self._terms = terms
        self._knowledge = knowledge
        self._memory = memory
        self._vocabulary = Vocabulary(terms)

    def __call__(self, location: Location, claim: int) -> bool:
        return all(self._is_there(location, item) for item in self._vocabulary(claim))

    def _is_there(self, location: Location, variable: int) -> bool:
        name = self._terms.name[variable]
        cell = cell_of(name)
        if cell is not None:
            cells = dict(location.cells)
            if cell in cells:
                return cells[cell] is None
            return cell not in self._memory.initially_known
        register = register_of(name)
        if register is None:
            return True  # an input: the claim holds for all its values
        if register.thread > len(location.threads):
            return False
        thread = location.threads[register.thread - 1]
        if thread.status is not Status.RUNNING or register.depth >= len(thread.frames):
            return False
        frame = thread.frames[register.depth]
        shape = self._knowledge.shape(frame.function)
        declared = shape.function.registers
        index = register.register
        return (
            index < len(declared)
            and declared[index].type.bits == self._terms.width[variable]
            and bool(shape.live[frame.location] >> index & 1)
            and index not in dict(frame.registers)
        )
