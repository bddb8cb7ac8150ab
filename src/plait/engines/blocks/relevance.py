"""Which claims can be about the variables that there are at a location."""

from __future__ import annotations

from collections.abc import Sequence

from plait.logic.substitute import Vocabulary
from plait.logic.terms import Terms
from plait.symbolic.knowledge import Knowledge
from plait.symbolic.locations import Cell, Location, Status
from plait.symbolic.memory import Memory
from plait.symbolic.variables import RegisterName, cell_of, register_of


class Relevance:
    """What a location knows by itself, and registers of frames that are not there, need no claims.
    Leaving out a claim is always allowed."""

    def __init__(self, terms: Terms, knowledge: Knowledge, memory: Memory) -> None:
        self._terms = terms
        self._knowledge = knowledge
        self._memory = memory
        self._vocabulary = Vocabulary(terms)
        self._cells: tuple[Location | None, dict[Cell, int | None]] = None, {}  # of one location
        self._about: dict[int, int] = {}  # the claims of a list that mention a variable
        self._seen = 0  # so many claims

    def __call__(self, location: Location, claim: int) -> bool:
        return all(self._is_there(location, item) for item in self._vocabulary(claim))

    def at(self, location: Location, claims: Sequence[int]) -> int:
        """Those of a list that only grows, a bit for each."""
        for number in range(self._seen, len(claims)):
            for variable in self._vocabulary(claims[number]):
                self._about[variable] = self._about.get(variable, 0) | 1 << number
        self._seen = len(claims)
        found = (1 << len(claims)) - 1
        for variable, about in self._about.items():
            if about & found and not self._is_there(location, variable):
                found &= ~about
        return found

    def known_value(self, location: Location, variable: int) -> int | None:
        """What a location knows by itself of a variable."""
        name = self._terms.name[variable]
        cell = cell_of(name)
        if cell is not None:
            if self._cells[0] is not location:
                self._cells = location, dict(location.cells)
            cells = self._cells[1]
            return cells[cell] if cell in cells else self._memory.initially_known.get(cell)
        register = register_of(name)
        if register is None or not self._has_frame(location, register):
            return None
        frame = location.threads[register.thread - 1].frames[register.depth]
        return dict(frame.registers).get(register.register)

    def _is_there(self, location: Location, variable: int) -> bool:
        if self.known_value(location, variable) is not None:
            return False
        register = register_of(self._terms.name[variable])
        if register is None:
            return True  # a cell; or an input: the claim holds for all its values
        return self._has_frame(location, register) and self._is_live(location, register, variable)

    def _has_frame(self, location: Location, register: RegisterName) -> bool:
        if register.thread > len(location.threads):
            return False
        thread = location.threads[register.thread - 1]
        return thread.status is Status.RUNNING and register.depth < len(thread.frames)

    def _is_live(self, location: Location, register: RegisterName, variable: int) -> bool:
        frames = location.threads[register.thread - 1].frames
        frame, index = frames[register.depth], register.register
        shape = self._knowledge.shape(frame.function)
        declared = shape.function.registers
        if index >= len(declared) or declared[index].type.bits != self._terms.width[variable]:
            return False
        live = shape.live[frame.location]
        if register.depth < len(frames) - 1:
            live = shape.live_while_waiting(shape.function.edges[frame.location][0])
        return bool(live >> index & 1)
