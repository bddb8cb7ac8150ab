"""Plans: what the threads of a counterexample do, in order, where the compiled program shows it.

That are its accesses to memory that other threads can reach, and its calls of functions that the
runtime stands in for. The interpreter's trace has more (what the library does inside a call, local
actions) and less (accesses to what the model keeps in registers); the runtime copes with both.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Collection, Sequence

from plait.data import dataclass, field, replace
from plait.model.actions import (
    NOWHERE,
    AtomicBegin,
    AtomicEnd,
    Call,
    Free,
    Load,
    Origin,
    ReadModifyWrite,
    Store,
)
from plait.model.main_arguments import given_arguments, is_argument
from plait.model.program import Edge, Function, Program, StaticObject
from plait.model.properties import Specification
from plait.model.types import DataModel, Kind, Scalar
from plait.native.calls import GivenCall, GivenCalls
from plait.native.lines import PresumedLines
from plait.native.stubs import PRINTING
from plait.native.unset import Declaration, UnsetValue, declaration_of
from plait.semantics.run import Execution
from plait.semantics.scalars import Number, to_bits
from plait.semantics.trace import Event
from plait.semantics.visibility import conservative

VERSION = 1
NOTHING = "nothing"  # is violated: the execution is a test

_LARGE = 1 << 30  # more than any thread's number
_LOOK_AHEAD = 10_000
_SPACES = re.compile(r"\s", re.ASCII)

_AT_THE_END = "valid-memtrack"
_STARTS = frozenset({"__plait_run_thread", "__plait_run_c11_thread"})
_EXITS = frozenset({"pthread_exit", "thrd_exit"})
_WAITS = frozenset(
    {
        "pthread_cond_wait",
        "pthread_cond_timedwait",
        "pthread_cond_clockwait",
        "cnd_wait",
        "cnd_timedwait",
    }
)
_ONCE = {"pthread_once": "done", "call_once": "done"}
# Values of the model that no compiled program can be given.
_NOT_FORCED = ("uninitialised", "missing return value", "unsupported")


@dataclass(slots=True, frozen=True)
class Entry:
    """`kind` is read, write, update, weak (an update that may fail) or sync; `name` is that of the
    function or of the variable. The lines are those that the compiler knows. An offset or size of
    -1 can be anything. A read gets the same value at any time before the entry number `until` (-1:
    at any later time too). `unset`: what it finds there, if that was never set."""

    thread: int
    kind: str
    name: str
    file: str
    first_line: int
    last_line: int
    offset: int = -1
    size: int = -1
    until: int = -1
    unset: bytes = b""

    def __str__(self) -> str:
        return (
            f"do {self.thread} {self.kind} {self.name} {self.file}"
            f" {self.first_line} {self.last_line} {self.offset} {self.size} {self.until}"
            f" {self.unset.hex() or '-'}"
        )


@dataclass(slots=True, eq=False)
class Plan:
    """`thread` is the one that fails, 0 if the failure is not one thread's; `waiter` is one that
    waits for ever in a deadlock, otherwise 0; `place` is the file and lines in which a statement
    fails. `inputs` has, for each
    thread, names and bits of the values it gets, in order."""

    violated: str
    thread: int
    waiter: int
    place: tuple[str, int, int] | None
    entries: list[Entry]
    inputs: list[tuple[int, str, int]]
    error_functions: list[str]
    spurious_wakeups: bool
    arguments: tuple[int, list[bytes]] | None  # argc, and what is known of argv
    notes: list[str] = field(default_factory=list)
    unset: list[UnsetValue] = field(default_factory=list)  # of locals
    calls: list[GivenCall] = field(default_factory=list)

    def text(self, declarations: Sequence[Declaration] | None = None) -> str:
        """`declarations` are those that are compiled with values, if others than its own."""
        own = self.declarations() if declarations is None else declarations
        lines = [
            f"plait-plan {VERSION}",
            f"property {self.violated}",
            f"thread {self.thread}",
            f"waiter {self.waiter}",
            *([] if self.place is None else ["place {} {} {}".format(*self.place)]),
            f"spurious {int(self.spurious_wakeups)}",
            *self._argument_lines(),
            *(f"error-function {name}" for name in self.error_functions),
            *(f"input {thread} {bits:x} {name}" for thread, name, bits in self.inputs),
            *self._unset_lines(own),
            *map(str, self.calls),
            *map(str, self.entries),
        ]
        return "\n".join(lines) + "\n"

    def declarations(self) -> list[Declaration]:
        """Those that are compiled with values, by their numbers in the plan."""
        return list(dict.fromkeys(item.declaration for item in self.unset))

    def _unset_lines(self, declarations: Sequence[Declaration]) -> list[str]:
        numbers = {declaration: i for i, declaration in enumerate(declarations)}
        return [
            f"unset {item.thread} {numbers[item.declaration]} {item.number}"
            f" {item.offset} {item.data.hex()}"
            for item in self.unset
        ]

    def _argument_lines(self) -> list[str]:
        if self.arguments is None:
            return []
        count, known = self.arguments
        return [f"argc {count}", *(f"argument {data.hex() or '-'}" for data in known)]


def make_plan(
    program: Program,
    specification: Specification,
    execution: Execution,
    violated: str,
    thread: int,
    *,
    stands_in_for: frozenset[str],
    spurious_wakeups: bool,
    fixed_arguments: tuple[str, ...] | None = None,
    compiled: Collection[str] = (),
) -> Plan:
    """The plan of a counterexample that was executed with a trace; `stands_in_for` are the
    functions that the runtime replaces, `fixed_arguments` those of main if they are not inputs,
    `compiled` the files that the compiler gets by name."""
    maker = _Maker(program, stands_in_for, compiled)
    for event in execution.events:
        maker.take(event)
    is_of_state = violated in (NOTHING, "no-data-race", "no-deadlock")
    if not is_of_state:
        maker.entries.append(Entry(thread, "sync", "failure", "-", 0, 0))
    return Plan(
        violated,
        0 if is_of_state else thread,
        thread if violated == "no-deadlock" else 0,
        None if is_of_state or violated == _AT_THE_END else maker.lines(execution.outcome.origin),
        maker.finished(),
        maker.inputs,
        sorted(specification.error_functions) if violated == "unreach-call" else [],
        spurious_wakeups,
        _arguments(fixed_arguments, maker.arguments),
        maker.notes,
        maker.unset,
        maker.given.calls,
    )


def _arguments(
    fixed: tuple[str, ...] | None, inputs: list[tuple[str, int]]
) -> tuple[int, list[bytes]] | None:
    if fixed is not None:
        return len(fixed), [item.encode("utf-8", "surrogateescape") for item in fixed]
    return given_arguments(inputs)


class _Maker:
    def __init__(
        self, program: Program, stands_in_for: frozenset[str], compiled: Collection[str]
    ) -> None:
        self.entries: list[Entry] = []
        self.inputs: list[tuple[int, str, int]] = []
        self.arguments: list[tuple[str, int]] = []  # of main, as inputs
        self.notes: list[str] = []
        self.unset: list[UnsetValue] = []
        self.given = GivenCalls(given_names(program, stands_in_for))
        self._compiled = compiled
        self._program = program
        self._stands_in_for = stands_in_for
        self._is_visible = conservative()
        self._lines = PresumedLines(program.sources)
        self._same_layout = program.data_model is DataModel.LP64
        self._may_fail: set[int] = set()  # threads whose next access is a weak update
        self._depth: dict[int, int] = {}
        # The library call that each thread is in, and the place of its entry.
        self._call: dict[int, Edge | None] = {}
        self._entry_of_call: dict[int, int] = {}
        self._exit: dict[int, int] = {}
        self._objects = sorted(
            (item for item in program.objects if not item.thread_local), key=lambda item: item.page
        )
        self._pages = [item.page for item in self._objects]
        # Writes, also those inside of atomic sections: position, thread, first byte, last byte + 1.
        self._writes: list[tuple[int, int, int, int]] = []
        self._reads: dict[int, tuple[int, int]] = {}
        self._dropped: set[int] = set()
        self._unset = b""  # what the access that is being taken finds

    def finished(self) -> list[Entry]:
        """All entries but those that were dropped, with the time that reads have."""
        numbers: list[int] = []
        kept = 0
        for position in range(len(self.entries) + 1):
            numbers.append(kept)
            kept += position not in self._dropped
        entries: list[Entry] = []
        for position, entry in enumerate(self.entries):
            if position in self._dropped:
                continue
            until = self._until(position)
            entries.append(entry if until < 0 else replace(entry, until=numbers[until]))
        return entries

    def _until(self, position: int) -> int:
        if position not in self._reads:
            return -1
        thread = self.entries[position].thread
        first, end = self._reads[position]
        start = bisect_right(self._writes, (position, _LARGE, 0, 0))
        for at, other, low, high in self._writes[start : start + _LOOK_AHEAD]:
            if other != thread and low < end and first < high:
                return at
        return -1

    def take(self, event: Event) -> None:
        self._take_inputs(event)
        thread, action = event.thread, event.edge.action
        if not event.function.library:
            self._call.pop(thread, None)
        depth = self._depth.get(thread, 0)
        is_weak = thread in self._may_fail and isinstance(action, Load | ReadModifyWrite)
        if is_weak:
            self._may_fail.discard(thread)
        match action:
            case AtomicBegin():
                if depth == 0:
                    self._section(event)
                self._depth[thread] = depth + 1
            case AtomicEnd():
                self._depth[thread] = max(0, depth - 1)
            case Free() if depth == 0:
                self._section(event)
            case Load() | Store() | ReadModifyWrite() if depth == 0:
                self._access(event, is_weak=is_weak)
        if self._unset:
            self._note_not_forced(event)
            self._unset = b""
        if isinstance(action, (Store, ReadModifyWrite)) and self.entries:
            position = len(self.entries) - 1
            for change in event.changes:
                if change.address and not change.is_read:
                    end = change.address + change.size
                    self._writes.append((position, thread, change.address, end))

    def _take_inputs(self, event: Event) -> None:
        self._unset = b""
        if not self._take_unset_locals(event):
            self._unset = _unset_value(event) if self._same_layout else b""
            if not self._unset:
                self._note_not_forced(event)
        self.given.take(event, self._lines_of(event), None)
        for chosen in event.inputs:
            name, value, scalar, *_ = chosen
            if name.startswith(_NOT_FORCED):
                continue
            if self.given.take(event, self._lines_of(event), chosen):
                continue
            if is_argument(name) and event.function.library:
                self.arguments.append((name, int(value)))
                continue
            if self._is_inside_model(event, name):
                if value != 0:
                    self._note_model(event)
                continue
            self.inputs.append((event.thread, name, _bits(value, scalar)))
            if name == "spurious failure":
                self._may_fail.add(event.thread)

    def _lines_of(self, event: Event) -> tuple[str, int, int]:
        return self.lines(self._origin(event)) or ("-", 0, 0)

    def _take_unset_locals(self, event: Event) -> bool:
        """Whether the values that nobody has set are all of locals whose declarations give them."""
        found: list[UnsetValue] = []
        for chosen in event.inputs:
            if not chosen.name.startswith(_NOT_FORCED) or chosen.value == 0:
                continue
            if chosen.unset is None or not self._same_layout:
                return False
            declaration = declaration_of(self._program, chosen.unset, self._compiled)
            if declaration is None:
                return False
            bits = to_bits(chosen.value, chosen.type)
            data = bits.to_bytes(chosen.type.size, "little")
            thread, number = chosen.unset.thread, chosen.unset.number
            found.append(UnsetValue(thread, declaration, number, chosen.offset, data))
        self.unset += found
        return True

    def _is_inside_model(self, event: Event, name: str) -> bool:
        """Whether an input is what the model of a library function needs to say what that does
        (the bytes that `read` writes, say), and neither its result nor known to the runtime."""
        called = self._library_call(event)
        if called is None or called in self._stands_in_for or name.startswith("spurious"):
            return False
        return name != f"{called}()"

    def _library_call(self, event: Event) -> str | None:
        """The library function that the program has called and that is at work."""
        call = None if event.caller is None else event.caller.action
        if not isinstance(call, Call) or not event.function.library:
            return None
        return call.callee if isinstance(call.callee, str) else event.function.name

    def _note_model(self, event: Event) -> None:
        where, called = self._program.place(self._origin(event)), self._library_call(event)
        note = f"{where}: what {called} gives or writes in the counterexample is not forced"
        if note not in self.notes:
            self.notes.append(note)

    def _note_not_forced(self, event: Event) -> None:
        for name, value, *_ in event.inputs:
            if name.startswith(_NOT_FORCED) and value != 0:
                where = self._program.place(self._origin(event))
                note = f"{where}: {name} is {value} in the counterexample; that is not forced"
                self.notes.append(note)

    # --- steps of functions that the runtime stands in for

    def _section(self, event: Event) -> None:
        name = self._name(event)
        if name is None:
            return
        thread = event.thread
        is_same_call = thread in self._call and self._call[thread] is event.caller
        if event.function.library:
            self._call[thread] = event.caller
        if name == "exit":
            # Destructors may run between the first step of an exit and the end of the thread.
            self._drop(self._exit.get(thread))
            self._exit[thread] = len(self.entries)
        elif is_same_call and name in _WAITS:
            name += "/lock" if event.function.name == "pthread_mutex_lock" else "/wake"
        elif is_same_call and name == "pthread_barrier_wait":
            name += "/leave"
        elif name in _ONCE and _number_of_section(event) > 0:
            name += "/" + _ONCE[name]
        elif is_same_call and name != "section":
            # The last step of a call is the one that has its effect.
            self._drop(self._entry_of_call.get(thread))
        self._entry_of_call[thread] = len(self.entries)
        self._add(event, "sync", name)

    def _name(self, event: Event) -> str | None:
        if not event.function.library:
            return "section"
        if event.function.name in _STARTS:
            return "start"
        call = None if event.caller is None else event.caller.action
        if not isinstance(call, Call):
            return "exit" if event.function.name in _EXITS else None
        name = call.callee if isinstance(call.callee, str) else event.function.name
        if name in _EXITS:
            return "exit"
        if name.startswith("__VERIFIER_atomic_"):
            return "section"
        return name if name in self._stands_in_for else None

    def _drop(self, position: int | None) -> None:
        if position is not None:
            self._dropped.add(position)

    # --- accesses

    def _access(self, event: Event, *, is_weak: bool) -> None:
        function, edge = event.function, event.edge
        if not function.library and not self._is_visible(function, edge):
            return
        kind = {Load: "read", Store: "write"}.get(type(edge.action), "update")
        if is_weak:
            kind = "weak"  # which only reads if it fails
        change = next((item for item in event.changes if item.address), None)
        if change is None:
            if not function.library:
                self._add(event, kind, "-")
            return
        if change.is_library:
            return
        if kind == "read":
            self._reads[len(self.entries)] = (change.address, change.address + change.size)
        item = self._object_at(change.address)
        size = change.size if self._same_layout else -1
        if item is None:
            self._add(event, kind, "-", size=size)
            return
        offset = change.address - self._program.address_of(item)
        self._add(event, kind, item.name, offset if self._same_layout else -1, size)

    def _object_at(self, address: int) -> StaticObject | None:
        position = bisect_right(self._pages, address >> self._program.data_model.page_bits) - 1
        if position < 0:
            return None
        item = self._objects[position]
        is_inside = address - self._program.address_of(item) < max(item.size, 1)
        return item if is_inside else None

    def _add(self, event: Event, kind: str, name: str, offset: int = -1, size: int = -1) -> None:
        file, first, last = self.lines(self._origin(event)) or ("-", 0, 0)
        unset = b""
        if kind in ("read", "update") and len(self._unset) == size:
            unset, self._unset = self._unset, b""
        entry = Entry(event.thread, kind, name, file, first, last, offset, size, unset=unset)
        self.entries.append(entry)

    def lines(self, origin: Origin) -> tuple[str, int, int] | None:
        """File, first and last line as the compiler knows them."""
        if origin.file < 0:
            return None
        path, first = self._lines(origin.file, origin.line)
        last = max(first, self._lines(origin.file, origin.end_line)[1])
        file = os.path.basename(path)
        if not file or "\n" in file or "\r" in file:
            return None
        return _SPACES.sub("?", file), first, last  # the plan's fields are separated by spaces

    def _origin(self, event: Event) -> Origin:
        if event.caller is not None:
            return event.caller.action.origin
        return NOWHERE if event.function.library else event.edge.action.origin


def _number_of_section(event: Event) -> int:
    """Which of the sections of its function begins here."""
    starts = [
        edge.source for edge in event.function.all_edges() if isinstance(edge.action, AtomicBegin)
    ]
    return sorted(starts).index(event.edge.source) if event.edge.source in starts else 0


def _unset_value(event: Event) -> bytes:
    """What an access finds that nobody has set, if it is that as a whole; empty if it is 0."""
    action = event.edge.action
    if not isinstance(action, (Load, ReadModifyWrite)) or len(event.inputs) != 1:
        return b""
    name, value, scalar, *_ = event.inputs[0]
    type_ = action.target.type if isinstance(action, Load) else action.old.type
    if not name.startswith("uninitialised") or scalar.size != type_.size:
        return b""
    data = to_bits(value, scalar).to_bytes(scalar.size, "little")
    return data if any(data) else b""


def _bits(value: Number, scalar: Scalar) -> int:
    """As 64 bits: sign-extended, floats by their own bits."""
    if scalar.kind is Kind.FLOAT:
        return to_bits(value, scalar)
    return int(value) & 0xFFFF_FFFF_FFFF_FFFF


def given_names(program: Program, stands_in_for: frozenset[str]) -> frozenset[str]:
    """The functions whose calls are answered by the plan: nothing defines them, or the system does
    and the model takes what they do for inputs."""
    own = {item.name for item in program.functions.values() if not item.library}
    names = {
        name
        for name in inputs_of(program)
        if name.isidentifier() and not name.startswith("__VERIFIER_")
    }
    return frozenset(names - own - stands_in_for - PRINTING)


def inputs_of(program: Program) -> dict[str, Scalar]:
    """The types of the functions that the model takes for inputs, by name."""
    from plait.model.actions import Input

    found: dict[str, Scalar] = {}
    functions: list[Function] = list(program.functions.values())
    for function in functions:
        for edge in function.all_edges():
            action = edge.action
            if isinstance(action, Input) and action.name.endswith("()"):
                found[action.name.removesuffix("()")] = action.target.type
    return found
