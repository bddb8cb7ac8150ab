"""A counterexample in terms that survive an edit of the program, and an attempt to follow it.

A schedule counts steps, and any edit changes how many there are. A portable schedule says
instead where in the source each thread was stopped: the function, the text there, and which of the
places in that function with this text it is. Lines may move, other code may change.

Nothing is claimed here: a portable schedule may come from anywhere. What it leads to is a schedule,
and whether that shows a violation is for others to find out (plait.evidence.reexecution).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from plait.data import dataclass
from plait.errors import InputError
from plait.model.memory_model import MemoryModel
from plait.model.program import Function, Program
from plait.model.properties import Property, Specification
from plait.model.types import Kind, Scalar
from plait.semantics.machine import Machine
from plait.semantics.outcome import Ending, Footprint, InputRequest
from plait.semantics.scalars import Number, to_single
from plait.semantics.schedule import Schedule, ScheduledStep

_LONGEST = 10_000  # turns; what is longer is not worth to be kept
_MORE_STEPS = 200  # that an edited program may need for a turn
_MOST_STEPS = 50_000
_STEPS_TO_RACE = 20

# The function, the text, which one of that text, and the text of the call into the library.
Stand = tuple[str, str, int, str]


@dataclass(slots=True, frozen=True)
class Turn:
    """A thread goes on until it stands somewhere for the so manieth time in this turn, which took
    `steps` steps. Without `stand`: to the end."""

    thread: int
    steps: int
    stand: Stand | None = None
    times: int = 1


@dataclass(slots=True, frozen=True)
class PortableSchedule:
    """`inputs` are those of each thread in order, by name. `racing`: the two threads whose next
    accesses race at the end."""

    turns: tuple[Turn, ...]
    inputs: dict[int, tuple[tuple[str, Number], ...]]
    racing: tuple[int, int] | None = None
    is_deadlock: bool = False


def portable_schedule_of(
    program: Program,
    specification: Specification,
    schedule: Schedule,
    racing: tuple[int, int] | None = None,
) -> PortableSchedule | None:
    """The schedule of a counterexample; of a race with both accesses at its end. None if it is too
    long or cannot be followed."""
    if specification.memory_model is not MemoryModel.SC:
        return None  # what becomes visible when is not a matter of places in the source
    recorder = _Recorder(program, specification)
    singles = [item.thread for item in schedule for _ in range(item.count)]
    if racing is not None:
        while len(singles) > 1 and singles[-1] in racing and len(recorder.dropped) < 2:
            recorder.dropped.append(singles.pop())
    if len(singles) > _MOST_STEPS:
        return None
    recorder.follow(schedule, len(singles))
    is_deadlock = Property.NO_DEADLOCK in specification
    turns = recorder.turns(ends_openly=racing is None and not is_deadlock)
    if len(turns) > _LONGEST:
        return None
    inputs = {thread: tuple(values) for thread, values in recorder.inputs.items()}
    return PortableSchedule(tuple(turns), inputs, racing, is_deadlock)


class _Places:
    """Where threads stand, in terms of the source."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[str, list[tuple[str, int]]] = {}

    def stand(self, machine: Machine, number: int) -> Stand | None:
        if number > len(machine.threads):
            return None
        thread = machine.threads[number - 1]
        if thread.code is None:
            return None
        function = thread.code.function
        if function.name not in self._known:
            self._known[function.name] = list(self._texts(function))
        text, which = self._known[function.name][thread.location]
        site, frame = "", thread.caller
        if function.library:
            while frame is not None and frame.code.function.library:
                frame = frame.caller
            site = "" if frame is None else self._program.text(frame.site.origin)
        return function.name, text, which, site

    def _texts(self, function: Function) -> Iterator[tuple[str, int]]:
        seen: dict[str, int] = {}
        for edges in function.edges:
            text = self._program.text(edges[0].action.origin) if edges else ""
            seen[text] = seen.get(text, 0) + 1
            yield text, seen[text]


class _Recorder:
    def __init__(self, program: Program, specification: Specification) -> None:
        self._machine = Machine(program, specification)
        self._machine.supply = self._supply
        self._places = _Places(program)
        self._running = 1
        self._given: list[Number] = []
        self._taken: list[tuple[int, Stand | None]] = []
        self.inputs: dict[int, list[tuple[str, Number]]] = {}
        self.dropped: list[int] = []

    def follow(self, schedule: Schedule, most: int) -> None:
        machine = self._machine
        machine.start()
        for item in schedule:
            self._running, self._given = item.thread, list(item.inputs)
            for _ in range(item.count):
                if len(self._taken) == most or item.thread not in machine.runnable():
                    return
                machine.commit()
                outcome = machine.step(item.thread)
                if outcome.ending is Ending.BLOCKED:
                    machine.take_back()
                    return
                self._taken.append((item.thread, self._places.stand(machine, item.thread)))
                if outcome.ending is Ending.VIOLATION:
                    return

    def _supply(self, request: InputRequest) -> Number:
        value = self._given.pop(0) if self._given else 0
        self.inputs.setdefault(self._running, []).append((request.name, value))
        return value

    def turns(self, *, ends_openly: bool) -> list[Turn]:
        found: list[Turn] = []
        first = 0
        for position, (thread, stand) in enumerate(self._taken):
            is_last = position + 1 == len(self._taken)
            if not is_last and self._taken[position + 1][0] == thread:
                continue
            stands = [item for _, item in self._taken[first : position + 1]]
            first = position + 1
            end = None if is_last and ends_openly else stand
            times = stands.count(end) if end is not None else 1
            found.append(Turn(thread, len(stands), end, times))
        return found


def follow(
    program: Program, specification: Specification, portable: PortableSchedule, deadline: float
) -> Schedule | None:
    """A schedule that may end in a violation: of single steps, for a race without its accesses."""
    if portable.is_deadlock != (Property.NO_DEADLOCK in specification):
        return None
    if portable.racing is not None and Property.NO_DATA_RACE not in specification:
        return None
    try:
        return _Follower(program, specification, portable, deadline).run()
    except (_Late, InputError):
        return None


class _Late(Exception):
    """The time is up."""


class _Follower:
    def __init__(
        self,
        program: Program,
        specification: Specification,
        portable: PortableSchedule,
        deadline: float,
    ) -> None:
        self._portable = portable
        self._machine = Machine(program, specification)
        self._machine.supply = self._supply
        self._places = _Places(program)
        self._deadline = deadline
        self._inputs = {thread: list(items) for thread, items in portable.inputs.items()}
        self._running = 1
        self._given: list[Number] = []
        self._steps: list[ScheduledStep] = []
        self._is_over = False

    def run(self) -> Schedule | None:
        self._machine.start()
        self._machine.commit()
        for turn in self._portable.turns:
            self._wait_for(turn.thread)
            self._take(turn)
            if self._is_over or self._races():
                return self._result()
        if self._portable.is_deadlock:
            return self._result()
        if self._portable.racing is not None:
            return self._result() if self._comes_to_race() else None
        self._go_on()
        return self._result() if self._is_over else None

    def _result(self) -> Schedule | None:
        is_awaited = self._portable.racing is None and not self._portable.is_deadlock
        return Schedule(self._steps) if self._is_over == is_awaited else None

    def _wait_for(self, thread: int) -> None:
        """Let those that are there go on until a thread exists."""
        while len(self._machine.threads) < thread and not self._is_over:
            if not any(self._step(number) for number in self._machine.runnable()):
                return

    def _take(self, turn: Turn) -> None:
        """Go to where the turn has ended; if that place is not found, as far as it went."""
        machine = self._machine
        before, count = machine.state(), len(self._steps)
        inputs = {thread: items[:] for thread, items in self._inputs.items()}
        left = turn.times
        for _ in range(2 * turn.steps + _MORE_STEPS):
            if not self._step(turn.thread):
                break
            if self._is_over:
                return
            if turn.stand is not None and self._places.stand(machine, turn.thread) == turn.stand:
                left -= 1
                if not left:
                    return
        if turn.stand is None:
            return
        machine.restore(before)
        machine.commit()
        self._inputs = inputs
        del self._steps[count:]
        for _ in range(turn.steps):
            if not self._step(turn.thread) or self._is_over:
                return

    def _go_on(self) -> None:
        """To the end of all threads, one after the other."""
        threads = [turn.thread for turn in reversed(self._portable.turns)]
        while not self._is_over:
            order = dict.fromkeys([*threads[:1], *self._machine.runnable()])
            if not any(self._step(number) for number in order):
                return

    def _comes_to_race(self) -> bool:
        assert self._portable.racing is not None
        for number in self._portable.racing:
            machine, count = self._machine, len(self._steps)
            before = machine.state()
            for _ in range(_STEPS_TO_RACE):
                if not self._step(number) or self._is_over:
                    break
                if self._races():
                    return True
            machine.restore(before)
            machine.commit()
            self._is_over = False
            del self._steps[count:]
        return False

    def _races(self) -> bool:
        if self._portable.racing is None:
            return False
        footprints = [self._next_accesses(number) for number in self._portable.racing]
        one, other = footprints
        return one is not None and other is not None and one.race_with(other) is not None

    def _next_accesses(self, number: int) -> Footprint | None:
        machine = self._machine
        if number not in machine.runnable():
            return None
        inputs = {thread: items[:] for thread, items in self._inputs.items()}
        self._running, self._given = number, []
        machine.accesses = []
        outcome = machine.step(number)
        accesses, machine.accesses = machine.accesses, None
        machine.take_back()
        self._inputs = inputs
        if outcome.in_section or outcome.ending is Ending.BLOCKED:
            return None
        return Footprint(machine.page_bits, accesses or [], (False, False))

    def _step(self, number: int) -> bool:
        """Whether the thread could take one."""
        machine = self._machine
        if len(self._steps) >= _MOST_STEPS or time.monotonic() >= self._deadline:
            raise _Late
        if number not in machine.runnable():
            return False
        self._running, self._given = number, []
        outcome = machine.step(number)
        if outcome.ending is Ending.VIOLATION:
            self._is_over = True
        elif outcome.in_section or outcome.ending in (Ending.BLOCKED, Ending.NEEDS_INPUT):
            machine.take_back()
            return False
        self._steps.append(ScheduledStep(number, tuple(self._given)))
        if not self._is_over:
            machine.commit()
        return True

    def _supply(self, request: InputRequest) -> Number:
        values = self._inputs.get(self._running, [])
        place = next((i for i, (name, _) in enumerate(values) if name == request.name), None)
        value = _fitting(0 if place is None else values.pop(place)[1], request.type, request.count)
        self._given.append(value)
        return value


def _fitting(value: Number, scalar: Scalar, count: int | None) -> Number:
    """A value that the input can have; it had another type once, perhaps."""
    if scalar.kind is Kind.FLOAT:
        try:
            wide = float(value)
        except OverflowError:
            wide = 0.0
        return to_single(wide) if scalar.bits == 32 else wide
    whole = int(value) if value == value and abs(value) != float("inf") else 0
    if count is not None:
        return min(max(whole, 0), count - 1)
    return int(whole != 0) if scalar.is_bool else scalar.wrap(whole)


# --- as JSON


def to_data(portable: PortableSchedule) -> dict[str, Any]:
    return {
        "turns": [
            [turn.thread, turn.steps, None if turn.stand is None else [*turn.stand], turn.times]
            for turn in portable.turns
        ],
        "inputs": [
            [thread, [[name, _plain(value)] for name, value in values]]
            for thread, values in portable.inputs.items()
        ],
        "racing": None if portable.racing is None else [*portable.racing],
        "is_deadlock": portable.is_deadlock,
    }


def from_data(data: Any) -> PortableSchedule | None:
    """None for anything that `to_data` has not made."""
    try:
        racing = data["racing"]
        return PortableSchedule(
            tuple(
                Turn(_number(thread), _number(steps), _stand(stand), _number(times))
                for thread, steps, stand, times in data["turns"][:_LONGEST]
            ),
            {
                _number(thread): tuple((_text(name), _value(value)) for name, value in values)
                for thread, values in data["inputs"]
            },
            None if racing is None else (_number(racing[0]), _number(racing[1])),
            data["is_deadlock"] is True,
        )
    except (TypeError, KeyError, ValueError, IndexError, OverflowError):
        return None


def _plain(value: Number) -> Any:
    return value.hex() if isinstance(value, float) else value


def _value(value: Any) -> Number:
    return float.fromhex(value) if isinstance(value, str) else _whole(value)


def _whole(value: Any) -> int:
    if type(value) is not int or abs(value) >= 1 << 128:
        raise ValueError
    return value


def _number(value: Any) -> int:
    if not 1 <= _whole(value) <= _MOST_STEPS:
        raise ValueError
    return int(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _stand(value: Any) -> Stand | None:
    if value is None:
        return None
    function, text, which, site = value
    return _text(function), _text(text), _number(which), _text(site)
