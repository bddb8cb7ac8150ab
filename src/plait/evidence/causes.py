"""Where the failing condition got its values from: a dynamic slice, as far back as helps.

From the condition backwards through the registers of its thread, over calls and returns, to what
was read from memory or chosen as an input; from a value that was read to the step that wrote it,
and from there in the same way to what that step had read.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.data import dataclass, field
from plait.evidence.operations import known_part
from plait.evidence.result import Cause, Row
from plait.evidence.trace_rows import TraceRows
from plait.model.actions import (
    Call,
    Check,
    Guard,
    Input,
    Load,
    ReadModifyWrite,
    Return,
    Store,
    expressions_of,
    target_of,
)
from plait.model.expressions import Expr, Register, children
from plait.semantics.trace import Change, Event

_MOST_CAUSES = 8
_MOST_ROUNDS = 2


def causes_of(events: list[Event], traced: TraceRows) -> list[Cause]:
    """Of the failure that the last event is."""
    if not events:
        return []
    return _Slice(events, traced).causes


@dataclass(slots=True, eq=False)
class _Frame:
    """`call` is the index of the event that entered it."""

    caller: _Frame | None
    call: int


@dataclass(slots=True, eq=False)
class _Wanted:
    """Registers whose values matter, before the event `before`."""

    before: int
    registers: set[tuple[_Frame, int]] = field(default_factory=set)


class _Slice:
    def __init__(self, events: list[Event], traced: TraceRows) -> None:
        self._events = events
        self._traced = traced
        self._frames: list[_Frame] = []  # of each event
        self._entered: dict[int, _Frame] = {}  # by the event of the call
        self._left: dict[int, _Frame] = {}  # by the event of the return, the frame gone back to
        self._find_frames()
        self.causes: list[Cause] = []
        self._writers: list[int] = []
        pending = [self._start()]
        for _ in range(_MOST_ROUNDS):
            for wanted in pending:
                self._go_back(wanted)
            pending = [self._stored(index) for index in self._writers]
            self._writers = []

    def _find_frames(self) -> None:
        current: dict[int, _Frame] = {}
        for index, event in enumerate(self._events):
            frame = current.setdefault(event.thread, _Frame(None, -1))
            self._frames.append(frame)
            if event.called is not None:
                current[event.thread] = self._entered[index] = _Frame(frame, index)
            elif isinstance(event.edge.action, Return) and frame.caller is not None:
                current[event.thread] = self._left[index] = frame.caller

    def _start(self) -> _Wanted:
        """The condition of the check, and the branches that led to it in its place."""
        last = len(self._events) - 1
        thread = self._events[last].thread
        wanted = _Wanted(last)
        if isinstance(self._events[last].edge.action, Check):
            self._want(wanted, last)
        frame = self._user_frame(last)
        line = None
        for index in range(last, -1, -1):
            event = self._events[index]
            if event.thread != thread or not isinstance(event.edge.action, Guard):
                continue
            if self._frames[index] is not frame:
                continue
            here = event.edge.action.origin.line
            if line is not None and here != line:
                break
            line = here
            self._want(wanted, index)
        return wanted

    def _user_frame(self, index: int) -> _Frame | None:
        """The frame that the author of the program knows."""
        frame: _Frame | None = self._frames[index]
        is_library = self._events[index].function.library
        while frame is not None and is_library and frame.call >= 0:
            is_library = self._events[frame.call].function.library
            frame = frame.caller
        return frame

    def _want(self, wanted: _Wanted, index: int) -> None:
        frame = self._frames[index]
        for expr in expressions_of(self._events[index].edge.action):
            wanted.registers |= {(frame, item) for item in _registers(expr)}

    def _stored(self, index: int) -> _Wanted:
        wanted = _Wanted(index)
        action, frame = self._events[index].edge.action, self._frames[index]
        if isinstance(action, Store):
            wanted.registers = {(frame, item) for item in _registers(action.value)}
        elif isinstance(action, ReadModifyWrite):
            wanted.registers = {(frame, item) for item in _registers(action.new)}
            old = frame, action.old.index
            if old in wanted.registers:
                wanted.registers.discard(old)
                self._note_read(index)
        return wanted

    def _go_back(self, wanted: _Wanted) -> None:
        thread = self._events[wanted.before].thread
        registers = wanted.registers
        for index in range(wanted.before - 1, -1, -1):
            if not registers or len(self.causes) >= _MOST_CAUSES:
                return
            event = self._events[index]
            if event.thread == thread:
                self._through(index, event, registers)

    def _through(self, index: int, event: Event, registers: set[tuple[_Frame, int]]) -> None:
        """The registers that matter before an event."""
        action, frame = event.edge.action, self._frames[index]
        if isinstance(action, Call):
            inner = self._entered.get(index)
            for number, argument in enumerate(action.arguments):
                if inner is not None and (inner, number) in registers:
                    registers.discard((inner, number))
                    registers |= {(frame, item) for item in _registers(argument)}
            return
        if isinstance(action, Return):
            outer = self._left.get(index)
            call = self._events[frame.call].edge.action if frame.call >= 0 else None
            if outer is not None and isinstance(call, Call) and call.target is not None:
                if (outer, call.target.index) in registers:
                    registers.discard((outer, call.target.index))
                    if action.value is not None:
                        registers |= {(frame, item) for item in _registers(action.value)}
            return
        target = target_of(action)
        if target is None or (frame, target.index) not in registers:
            return
        registers.discard((frame, target.index))
        if isinstance(action, Load | ReadModifyWrite):
            self._note_read(index)
        elif isinstance(action, Input):
            for item in event.inputs:
                self._note(item.name, item.shown, index)
        else:
            for expr in expressions_of(action):
                registers |= {(frame, item) for item in _registers(expr)}

    def _note_read(self, index: int) -> None:
        for change in self._events[index].changes:
            if not change.address or change.is_library or known_part(change.name) != change.name:
                continue
            writer = self._writer(change, index)
            if change.is_read or writer is not None:
                self._note(change.name, change.value, writer)
            if writer is not None:
                self._writers.append(writer)
            return

    def _writer(self, read: Change, index: int) -> int | None:
        """The last event that wrote to the bytes that were read."""
        for earlier in range(index - 1, -1, -1):
            for change in self._events[earlier].changes:
                if (
                    not change.is_read
                    and change.address
                    and change.address < read.address + read.size
                    and read.address < change.address + change.size
                ):
                    return earlier
        return None

    def _note(self, name: str, value: str, writer: int | None) -> None:
        row = None if writer is None else self._row(writer)
        cause = Cause(name, value)
        if writer is not None:
            event = self._events[writer]
            cause.step, cause.thread = event.step, event.thread
            cause.place = None if row is None else row.place
        if cause not in self.causes and len(self.causes) < _MOST_CAUSES:
            self.causes.append(cause)

    def _row(self, index: int) -> Row | None:
        number = self._traced.rows_of[index]
        return None if number < 0 else self._traced.rows[number]


def _registers(expr: Expr) -> Iterator[int]:
    pending = [expr]
    while pending:
        item = pending.pop()
        if isinstance(item, Register):
            yield item.index
        pending.extend(children(item))
