"""A traced execution as its rows: what the program's author would say happened, step by step.

What the library does inside a call belongs to the call, and a call shows in the step in which it
has an effect, not in the one in which it was begun: a thread that is about to lock has not locked
yet.
"""

from __future__ import annotations

from bisect import bisect_right

from plait.data import dataclass, field
from plait.evidence.operations import Names, known_part, operation_of
from plait.evidence.result import Change, Input, Operation, Place, Row, Thread
from plait.model.actions import (
    Allocate,
    AtomicBegin,
    AtomicEnd,
    Call,
    Check,
    EndProcess,
    EndThread,
    EnterScope,
    Fence,
    Free,
    Guard,
    LeaveScope,
    Load,
    Origin,
    Output,
    Prune,
    ReadModifyWrite,
    Return,
    Skip,
    Spawn,
    Store,
    Wait,
)
from plait.model.actions import Input as InputAction
from plait.model.layout import path_at
from plait.model.program import Edge, Function, Program
from plait.semantics.trace import Called, Event
from plait.semantics.trace import Change as Noted
from plait.semantics.weak import CHOICES

SPURIOUS = "spurious failure"  # the input of a weak compare-and-swap

# Actions that stand for no text of their own, or for that of a whole block.
_NONDET = "__VERIFIER_nondet_"
_SILENT = (Skip, EnterScope, LeaveScope, AtomicBegin, AtomicEnd, Fence)
# What can be noticed of a library call.
_EFFECTS = (
    *(Load, Store, ReadModifyWrite, Allocate, Free, Spawn, Wait, InputAction, Check, Prune),
    *(EndThread, EndProcess, Output),
)
_CAN_FAIL = (Load, Store, ReadModifyWrite, Check)
# Operations that happen at a certain moment of the call, which may be a later one than its first.
_LATER = ("wait", "create", "join")


@dataclass(slots=True, eq=False)
class TraceRows:
    """`rows_of` has the row of each event, or -1; `names` those of locks and the like."""

    rows: list[Row] = field(default_factory=list)
    threads: list[Thread] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    rows_of: list[int] = field(default_factory=list)
    names: Names = field(default_factory=Names)


def place_of(program: Program, origin: Origin, function: str = "") -> Place | None:
    if origin.file < 0:
        return None
    return Place(
        program.sources[origin.file].path,
        origin.line,
        origin.column,
        program.text(origin),
        origin.end_line,
        origin.end_column,
        function,
    )


def trace_rows(program: Program, events: list[Event]) -> TraceRows:
    return _RowMaker(program, events).traced


class Objects:
    """The static objects of a program by address."""

    def __init__(self, program: Program) -> None:
        self._bits = program.data_model.page_bits
        self._objects = sorted(
            (item for item in program.objects if not item.thread_local), key=lambda item: item.page
        )
        self._pages = [item.page for item in self._objects]

    def has(self, address: int) -> bool:
        return bool(self.name(address))

    def name(self, address: int) -> str:
        """The name of what is there, without the parts that only the library knows."""
        index = bisect_right(self._pages, address >> self._bits) - 1
        if index < 0:
            return ""
        item = self._objects[index]
        offset = address - (item.page << self._bits)
        if offset >= max(item.size, 1):
            return ""
        return known_part(item.name + path_at(item.layout, offset))


@dataclass(slots=True, eq=False)
class _OpenCall:
    """A call of a library function that has not returned; `rows` counts those that it has."""

    edge: Edge
    called: Called
    operation: Operation | None
    rows: int = 0
    row: Row | None = None


class _RowMaker:
    def __init__(self, program: Program, events: list[Event]) -> None:
        self._program = program
        self._objects = Objects(program)
        self._globals = _names_of_globals(program)
        self._visitors = _visitors(program, events)
        self._places: dict[tuple[Origin, str], Place | None] = {}
        self._open: dict[int, _OpenCall] = {}
        self._frames: dict[int, list[Function]] = {}
        self._handles: dict[str, str] = {}
        self._depth = 0
        self.traced = TraceRows(threads=[Thread(1, "")])
        for event in events:
            before = len(self.traced.rows)
            row = self._tell(event)
            after = len(self.traced.rows)
            is_told = row is not None or after > before
            self.traced.rows_of.append(after - 1 if is_told else -1)
        if events:
            self._forget_unfinished(events[-1])

    def _forget_unfinished(self, last: Event) -> None:
        """Of a call that an error ends in nobody knows whether it would have succeeded."""
        call = self._open.get(last.thread)
        is_inside = last.function.library and isinstance(last.edge.action, _CAN_FAIL)
        if is_inside and call is not None and call.row is not None and call.operation is not None:
            if call.row.operation is call.operation and not call.operation.succeeded:
                call.row.operation = None

    def _tell(self, event: Event) -> Row | None:
        """The row that the event belongs to; None if it is nothing to speak of."""
        if event.becomes_visible:
            return self._visible(event)
        self._follow_frames(event)
        if isinstance(event.edge.action, Spawn):
            self._note_thread(event)
        if event.caller is not None:
            return self._in_library(event, event.caller)
        if event.function.library:
            return None  # before the thread's first function, and after it
        self._note_name(event)
        called = event.called
        if called is not None and called.function.library:
            operation = operation_of(called.function.display, called.places, self.traced.names)
            self._open[event.thread] = _OpenCall(event.edge, called, operation)
            return None
        row = self._row(event, event.edge, event.function.display)
        if row is None:
            return None
        if called is not None:
            row.entered = called.function.display
        action = event.edge.action
        if isinstance(action, Guard):
            row.branch = _decided(event)
        elif isinstance(action, Return):
            row.returned = True
        self._add(row, event)
        return row

    def _visible(self, event: Event) -> Row | None:
        """What a thread has stored before becomes visible to the others."""
        change = event.changes[0]
        if change.is_library or known_part(change.name) != change.name:
            return None
        place = place_of(self._program, event.edge.action.origin, event.function.display)
        if place is None or event.function.library:
            return None
        row = Row(event.step, event.thread, place, depth=self._depth)
        row.operation = Operation("visible", str(change))
        self.traced.rows.append(row)
        return row

    def _in_library(self, event: Event, outer: Edge) -> Row | None:
        call = self._open.get(event.thread)
        if call is None or call.edge is not outer:
            call = self._open[event.thread] = _OpenCall(outer, Called(event.function, ()), None)
        is_return = isinstance(event.edge.action, Return)
        has_news = any(not item.is_library for item in event.changes)
        if not isinstance(event.edge.action, _EFFECTS) and not (is_return and has_news):
            return None
        frames = self._frames.get(event.thread, [])
        function = next((item for item in reversed(frames) if not item.library), None)
        row = self._row(event, outer, "" if function is None else function.display)
        if row is None:
            return None
        if row is not call.row:
            call.row = row
            call.rows += 1
            row.operation = self._operation_now(call)
        if call.operation is not None:
            self._note_moment(call.operation, row, event)
        self._add(row, event)
        if row.operation is not None:
            self._complete(row.operation, event)
        return row

    def _operation_now(self, call: _OpenCall) -> Operation | None:
        operation = call.operation
        if operation is None:
            return None
        if call.rows == 1:
            if operation.kind in _LATER:
                return None
            if operation.kind in ("trylock", "lock", "read-lock", "write-lock", "unlock"):
                operation.succeeded = False  # until something is stored
            return operation
        return None

    def _note_moment(self, operation: Operation, row: Row, event: Event) -> None:
        """A wait begins where the lock is given back, and ends where it is taken again."""
        action = event.edge.action
        if operation.kind == "wait" and isinstance(action, Store):
            inside = {item.display for item in self._frames[event.thread]}
            if "pthread_mutex_unlock" in inside:
                row.operation = operation
            elif "pthread_mutex_lock" in inside:
                row.operation = Operation("wake", operation.object, lock=operation.lock)
        elif operation.kind == "create" and isinstance(action, Spawn):
            row.operation = operation
        elif operation.kind == "join" and isinstance(action, Wait):
            row.operation = operation
            operation.thread = self._joined(event.thread)

    def _joined(self, thread: int) -> int | None:
        arguments = self._open[thread].called.arguments
        shown = self._handles.get(arguments[0], "") if arguments else ""
        return int(shown.removeprefix("thread ")) if shown else None

    def _complete(self, operation: Operation, event: Event) -> None:
        """What only the events inside the call tell."""
        action = event.edge.action
        if isinstance(action, Spawn):
            operation.thread = len(self.traced.threads)
        if isinstance(action, Store):
            operation.succeeded = True

    def _row(self, event: Event, edge: Edge, function: str) -> Row | None:
        """The last row if the event goes on with it, or a new one."""
        action = edge.action
        if isinstance(action, _SILENT) and not event.changes:
            return None
        key = (action.origin, function)
        if key not in self._places:
            self._places[key] = place_of(self._program, action.origin, function)
        place = self._places[key]
        if place is None or not place.text:
            return None
        rows = self.traced.rows
        if rows:
            last = rows[-1]
            is_same = (last.step, last.thread, last.place) == (event.step, event.thread, place)
            if is_same and last.branch is None and not last.entered and not last.returned:
                return last
        row = Row(event.step, event.thread, place, depth=self._depth)
        rows.append(row)
        return row

    def _add(self, row: Row, event: Event) -> None:
        for name, _, _, value, *_ in event.inputs:
            name = _name_of_input(event, name)
            if (name == SPURIOUS and value == "0") or name in CHOICES:
                continue  # that nothing strange happens need not be said; the values tell the rest
            row.inputs.append(value)
            self.traced.inputs.append(Input(event.step, event.thread, name, value, row.place))
        for noted in event.changes:
            change = self._change(noted, row)
            if change is not None:
                _merge(row.changes, change)

    def _change(self, noted: Noted, row: Row) -> Change | None:
        if noted.is_library or known_part(noted.name) != noted.name:
            return None
        if noted.name.startswith("__plait") or self._is_inside_lock(noted, row):
            return None
        value = noted.value
        operation = row.operation
        if operation is not None and operation.kind == "create" and not noted.is_read:
            if operation.thread is not None:
                self._handles[value] = f"thread {operation.thread}"
        elif row.operation is None and not noted.is_read:
            call = self._open.get(row.thread)
            is_later = call is not None and call.row is row and call.operation is not None
            if is_later and call is not None and call.operation is not None:
                if call.operation.kind == "create" and call.operation.thread is not None:
                    self._handles[value] = f"thread {call.operation.thread}"
        return Change(
            noted.name,
            self._handles.get(value, value),
            noted.is_read,
            self._is_shared(noted),
            noted.name in self._globals and bool(noted.address),
        )

    def _is_inside_lock(self, noted: Noted, row: Row) -> bool:
        """Whether it is a part of what a call of the library is about, on the heap: memory without
        a declared type, so that its name does not tell."""
        call = self._open.get(row.thread)
        if call is None or call.row is not row or call.operation is None:
            return False
        bits = self._program.data_model.page_bits
        pages = {address >> bits for address, _ in call.called.places if address}
        return noted.is_on_heap and bool(call.operation.object) and noted.address >> bits in pages

    def _is_shared(self, noted: Noted) -> bool:
        if not noted.address:
            return False
        if self._objects.has(noted.address):
            return True
        page = noted.address >> self._program.data_model.page_bits
        return len(self._visitors.get(page, ())) > 1

    def _follow_frames(self, event: Event) -> None:
        """The functions that a thread is in, as the event finds them."""
        frames = self._frames.setdefault(event.thread, [])
        if not frames:
            frames.append(event.function)
        while len(frames) > 1 and frames[-1] is not event.function:
            frames.pop()
        self._depth = max(sum(not item.library for item in frames) - 1, 0)
        if event.called is not None:
            frames.append(event.called.function)
        elif isinstance(event.edge.action, Return):
            frames.pop()

    def _note_thread(self, event: Event) -> None:
        outer = event.caller or event.edge
        place = place_of(self._program, outer.action.origin)
        self.traced.threads.append(Thread(len(self.traced.threads) + 1, "", event.thread, place))

    def _note_name(self, event: Event) -> None:
        """A created thread is called by its first function outside of the library."""
        thread = self.traced.threads[event.thread - 1]
        if not thread.function:
            thread.function = event.function.display


def _merge(changes: list[Change], change: Change) -> None:
    """The last value counts; a value that was written is more than the same one that was read."""
    for index, known in enumerate(changes):
        if known.name == change.name:
            if known.read or not change.read:
                changes[index] = change
            return
    changes.append(change)


def _name_of_input(event: Event, name: str) -> str:
    """What a model of the library asks for is called after what the program calls."""
    call = None if event.caller is None else event.caller.action
    if not isinstance(call, Call) or not event.function.library or not name.startswith(_NONDET):
        return name
    if call.inputs:
        return call.inputs
    called = call.callee if isinstance(call.callee, str) else event.function.display
    return "errno" if called.startswith("__plait_note") else f"value from {called}()"


def _decided(event: Event) -> bool | None:
    """The value of the condition in the source, if this guard decides it. Where both ways lead to
    the same place, the event does not tell which one was taken."""
    action = event.edge.action
    assert isinstance(action, Guard)
    leaving = event.function.edges[event.edge.source]
    if len({edge.target for edge in leaving}) < len(leaving):
        return None
    return action.decides


def _names_of_globals(program: Program) -> frozenset[str]:
    """Variables that are called the same in every function: no local hides them."""
    names = [item.name for item in program.objects if not item.thread_local]
    found = {name for name in names if names.count(name) == 1}
    for function in program.functions.values():
        if not function.library:
            found -= {item.name for item in function.registers}
            found -= {item.name for item in function.slots}
    return frozenset(found)


def _visitors(program: Program, events: list[Event]) -> dict[int, set[int]]:
    """The threads that access a page in the course of a trace."""
    bits = program.data_model.page_bits
    found: dict[int, set[int]] = {}
    for event in events:
        for change in event.changes:
            if change.address:
                found.setdefault(change.address >> bits, set()).add(event.thread)
    return found
