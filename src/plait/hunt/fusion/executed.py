"""What the interpreter of the model executes when it repeats a run: every edge, with its values."""

from __future__ import annotations

from typing import Any

from plait.data import dataclass, field
from plait.errors import PlaitError
from plait.model.actions import Call, EnterScope, target_of
from plait.model.program import Edge, Function, Program
from plait.model.properties import Specification
from plait.semantics.actions import Actions
from plait.semantics.compile import Code, Fragment, Site
from plait.semantics.indeterminate import Indeterminate
from plait.semantics.machine import Machine
from plait.semantics.scalars import Reader, Writer, to_bits
from plait.semantics.state import Frame


class NotFollowed(PlaitError):
    """The model does not repeat the run; the message says why."""


@dataclass(slots=True, eq=False)
class Touch:
    """Bytes that an edge has read or written, and their value."""

    address: int
    size: int
    value: Any
    is_read: bool


@dataclass(slots=True, eq=False)
class Executed:
    """An edge that a thread has executed. `before` has the registers of the frame and the addresses
    of its slots; `after` is the value that the edge has given to a register. `context` is the call
    in the user's code that led into the library, `call` its frame, another one for each call."""

    thread: int
    function: Function
    edge: Edge
    depth: int
    before: list[Any]
    context: Edge | None
    call: Frame | None
    touched: list[Touch] = field(default_factory=list)
    after: Any = None
    slots: tuple[int, ...] = ()  # addresses of locals that come alive
    entered: Function | None = None
    spawned: int = 0
    is_unused: bool = False  # a read that the program does not make, as its value is not used


@dataclass(slots=True, eq=False)
class Followed:
    """A run in the model: what was executed, in the order of the model, with the number of the
    step of the run that it belongs to (as in `dependence.transitions`; -1 before the first one),
    how many steps there are, and which threads came to their end."""

    rows: list[tuple[int, Executed]]
    steps: int
    ended: frozenset[int]
    is_over: bool  # the process has ended


class FollowingMachine(Machine):
    """Notes all that is executed."""

    def __init__(self, program: Program, specification: Specification) -> None:
        super().__init__(program, specification)
        self.executed: list[Executed] = []
        self._touched: list[Touch] = []
        self._noting_fragments: dict[Code, list[Fragment | None]] = {}

    def _fragments(self, code: Code) -> list[Fragment | None]:
        found = self._noting_fragments.get(code)
        if found is None:
            singles = self.compiler.singles(code)
            found = self._noting_fragments[code] = [
                None if fragment is None else self._noting(code, location, fragment)
                for location, fragment in enumerate(singles)
            ]
        return found

    def _noting(self, code: Code, location: int, fragment: Fragment) -> Fragment:
        leaving = code.function.edges[location]

        def run(machine: Actions, r: list[Any]) -> int:
            before, caller, number = list(r), self.caller, self.number
            call = _user_call(code, caller)
            context = None if call is None else call.site.edge
            spawned = len(self.threads)
            self._touched = []
            target = fragment(machine, r)
            edge = next((item for item in leaving if item.target == target), leaving[0])
            depth = 1 if caller is None else caller.depth + 1
            row = Executed(number, code.function, edge, depth, before, context, call, self._touched)
            if isinstance(edge.action, Call):
                assert self.code is not None
                row.entered = self.code.function
            elif target >= 0:
                register = target_of(edge.action)
                row.after = None if register is None else r[register.index]
                if isinstance(edge.action, EnterScope):
                    first = len(code.function.registers)
                    row.slots = tuple(r[first + index] for index in edge.action.slots)
            if len(self.threads) > spawned:
                row.spawned = len(self.threads)
            self.executed.append(row)
            return target

        return run

    def load(self, address: int, read: Reader, size: int, site: Site) -> Any:
        value = super().load(address, read, size, site)
        self._touched.append(Touch(address, size, _bits(value, site), True))
        return value

    def store(self, address: int, write: Writer, size: int, value: Any, site: Site) -> None:
        super().store(address, write, size, value, site)
        self._touched.append(Touch(address, size, _bits(value, site), False))


def _bits(value: Any, site: Site) -> int | None:
    if value.__class__ is Indeterminate or site.type is None:
        return None
    return to_bits(value, site.type)


def _user_call(code: Code, caller: Frame | None) -> Frame | None:
    """The frame of the user's code that has called into the library."""
    if not code.function.library:
        return None
    while caller is not None and caller.code.function.library:
        caller = caller.caller
    return caller
