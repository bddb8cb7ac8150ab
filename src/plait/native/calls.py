"""Calls of functions that are only declared, or that the system has and the model does not: what
they returned in the counterexample, and what they wrote to where their arguments point."""

from __future__ import annotations

from plait.data import dataclass, field
from plait.model.actions import Call, Input, Store
from plait.model.system_inputs import who_writes
from plait.semantics.scalars import Number, to_bits
from plait.semantics.trace import Chosen, Event

# What sets errno where a call has failed.
_NOTES_FAILURE = ("__plait_note_failure", "__plait_note_possible_failure")

Lines = tuple[str, int, int]  # a file, the first and the last line of a statement


@dataclass(slots=True, eq=False)
class GivenCall:
    """`result` is None if the program does not look at it; `writes` has arguments (from 1), offsets
    and bytes."""

    thread: int
    name: str
    lines: Lines
    result: int | None
    errno: int = 0
    writes: list[tuple[int, int, bytes]] = field(default_factory=list)

    def __str__(self) -> str:
        result = "-" if self.result is None else f"{self.result:x}"
        file, first, last = self.lines
        return "\n".join(
            (
                f"call {self.thread} {self.name} {file} {first} {last} {result} {self.errno}",
                *(f"writes {argument} {at} {data.hex()}" for argument, at, data in self.writes),
            )
        )


@dataclass(slots=True, eq=False)
class _Open:
    """The last call of a thread: where its arguments point, and which of its edges were seen."""

    call: GivenCall
    bases: dict[int, int] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)


class GivenCalls:
    """Collects calls of the functions with these names from the events of a trace."""

    def __init__(self, names: frozenset[str]) -> None:
        self.calls: list[GivenCall] = []
        self._names = names
        self._open: dict[int, _Open] = {}
        self._written: dict[int, tuple[int, bytes]] = {}  # by thread: what the next store writes

    def take(self, event: Event, lines: Lines, chosen: Chosen | None) -> bool:
        """Whether the value that was chosen in an event is one of such a call."""
        action = event.edge.action
        if isinstance(action, Call) and action.inputs and event.called is not None:
            self._begin_helper(event, action, lines)
        elif isinstance(action, Store) and event.thread in self._written:
            self._write(event.thread, event.changes[0].address if event.changes else 0)
        elif isinstance(action, Input) and chosen is not None:
            return self._take_input(event, chosen, lines)
        return False

    def _take_input(self, event: Event, chosen: Chosen, lines: Lines) -> bool:
        name = chosen.name
        function = name.removesuffix("()")
        if function != name and not event.function.library and function in self._names:
            self._begin(event.thread, function, lines, _bits(chosen))
            return True
        helper = None if event.caller is None else event.caller.action
        if isinstance(helper, Call) and event.function.library:
            if helper.callee in _NOTES_FAILURE and event.thread in self._open:
                self._open[event.thread].call.errno = int(chosen.value)
                return True
            name = helper.inputs
        written = who_writes(name)
        if written is None or written[0] not in self._names:
            return False
        if not event.function.library:
            self._go_on(event.thread, written[0], lines, event.edge.source)
        data = _bits(chosen) & (1 << 8 * chosen.type.size) - 1
        self._written[event.thread] = written[1], data.to_bytes(chosen.type.size, "little")
        return True

    def _begin(self, thread: int, name: str, lines: Lines, result: int | None) -> _Open:
        call = GivenCall(thread, name, lines, result)
        self.calls.append(call)
        found = self._open[thread] = _Open(call)
        return found

    def _go_on(self, thread: int, name: str, lines: Lines, edge: int) -> _Open:
        """The call that a thread is in; without a result that somebody looks at, one that comes to
        the same edge again is another one."""
        found = self._open.get(thread)
        if found is None or (found.call.name, found.call.lines) != (name, lines):
            found = None
        if found is None or edge in found.seen:
            found = self._begin(thread, name, lines, None)
        found.seen.add(edge)
        return found

    def _begin_helper(self, event: Event, action: Call, lines: Lines) -> None:
        written = who_writes(action.inputs)
        if written is None or written[0] not in self._names or event.called is None:
            return
        found = self._go_on(event.thread, written[0], lines, event.edge.source)
        if event.called.places:
            found.bases[written[1]] = event.called.places[0][0]

    def _write(self, thread: int, address: int) -> None:
        argument, data = self._written.pop(thread)
        found = self._open.get(thread)
        if found is None or not address:
            return
        base = found.bases.setdefault(argument, address)
        found.call.writes.append((argument, address - base, data))


def _bits(chosen: Chosen) -> int:
    value: Number = chosen.value
    if chosen.type.kind.value == "float":
        return to_bits(value, chosen.type)
    return int(value) & 0xFFFF_FFFF_FFFF_FFFF
