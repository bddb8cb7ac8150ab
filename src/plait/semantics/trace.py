"""Traces: every executed edge with the values it changed."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from plait.data import dataclass, replace
from plait.model.actions import Allocate, Call, Origin, Return, target_of
from plait.model.layout import path_at, pointed_at, scalar_at
from plait.model.program import Edge, Function, Program, StaticObject
from plait.model.properties import Specification
from plait.model.types import Kind, Scalar
from plait.model.unset import Unset
from plait.semantics.actions import Actions, Limits
from plait.semantics.compile import Code, Fragment, Site
from plait.semantics.indeterminate import Indeterminate
from plait.semantics.machine import Machine
from plait.semantics.scalars import Number, Reader, Writer, from_bits, to_bits
from plait.semantics.state import Frame
from plait.semantics.visibility import Visibility

_PLAIN_CALL = re.compile(r"\w+\s*\(([\w\s&*.,>\[\]-]*)\)")


@dataclass(slots=True, eq=False)
class Change:
    """A variable or a part of an object in memory, by its source name, and its new value; or the
    value that was read there. `is_library`: an object that the program's author does not know.
    `address` is 0 for a register. `spelled`: what the source calls it there, if it is on the heap,
    where things have no names of their own."""

    name: str
    value: str
    is_read: bool = False
    is_library: bool = False
    address: int = 0
    size: int = 0
    is_on_heap: bool = False
    spelled: str = ""

    def __str__(self) -> str:
        return f"{self.name} is {self.value}" if self.is_read else f"{self.name} = {self.value}"


@dataclass(slots=True, eq=False)
class Event:
    """An executed edge. `step` counts the visible actions (atomic sections) of all threads;
    `caller` is the edge, outside of the library, whose call is being executed; `inputs` has the
    names and values of the inputs that were chosen."""

    thread: int
    step: int
    function: Function
    edge: Edge
    changes: tuple[Change, ...]
    caller: Edge | None
    called: Called | None = None
    inputs: tuple[Chosen, ...] = ()
    becomes_visible: bool = False  # what the edge has stored before, under a weak memory model


class Chosen(NamedTuple):
    """An input and the value that was chosen for it, as a number and as people read it. `unset`:
    it is that of bytes that nobody has set, from `offset` on."""

    name: str
    value: Number
    type: Scalar
    shown: str
    unset: Unset | None = None
    offset: int = 0


class Called(NamedTuple):
    """A function that is called, with the values of its arguments. `places` has the addresses and
    the names of what pointers among them point to, as exactly as the declared types say; `texts`
    what the source says there, if the statement has one such call."""

    function: Function
    arguments: tuple[str, ...]
    places: tuple[tuple[int, str], ...] = ()
    texts: tuple[str, ...] = ()


class TracingMachine(Machine):
    """A machine that notes each executed edge in `events`."""

    def __init__(
        self,
        program: Program,
        specification: Specification,
        is_visible: Visibility | None = None,
        limits: Limits | None = None,
    ) -> None:
        super().__init__(program, specification, is_visible, limits)
        self.events: list[Event] = []
        self.step_number = 0
        self._noting_fragments: dict[Code, list[Fragment | None]] = {}
        self._changes: list[Change] = []
        self._inputs: list[Chosen] = []
        self._heap_names: dict[int, str] = {}
        self._library_slots = {
            id(slot)
            for function in program.functions.values()
            if function.library
            for slot in function.slots
        }

    def _fragments(self, code: Code) -> list[Fragment | None]:
        found = self._noting_fragments.get(code)
        if found is None:
            found = self._noting_fragments[code] = [
                None if fragment is None else self._noting(code, location, fragment)
                for location, fragment in enumerate(self.compiler.singles(code))
            ]
        return found

    def _noting(self, code: Code, location: int, fragment: Fragment) -> Fragment:
        leaving = code.function.edges[location]

        def run(machine: Actions, r: list[Any]) -> int:
            self._changes = []
            called = None
            outer = self._user_edge(code)
            edge = leaving[0] if leaving else None
            caller = self.caller
            try:
                target = fragment(machine, r)
                edge = next((item for item in leaving if item.target == target), edge)
                if edge is not None:
                    self._note_register(code, edge, r, caller)
                    if isinstance(edge.action, Call):
                        text = "" if outer else self.program.text(edge.action.origin)
                        called = self._callee(text)
            finally:
                if edge is not None:
                    self.events.append(
                        Event(
                            self.number,
                            self.step_number,
                            code.function,
                            edge,
                            tuple(self._changes),
                            outer,
                            called,
                            tuple(self._inputs),
                        )
                    )
                    self._inputs = []  # values of uninitialised variables are chosen in between
            return target

        return run

    def _callee(self, text: str) -> Called:
        """The function that was just entered; `text` is the call in the source."""
        assert self.code is not None
        function = self.code.function
        types = [item.type for item in function.registers[: function.parameters]]
        arguments = list(zip(self.values, types, strict=False))
        return Called(
            function,
            tuple(self.shown(value, scalar) for value, scalar in arguments),
            self._named(tuple(self._pointee(value, scalar) for value, scalar in arguments), text),
            _words_of_arguments(function.display, text),
        )

    def _named(self, places: tuple[tuple[int, str], ...], text: str) -> tuple[tuple[int, str], ...]:
        """With the words of the source for what is on the heap: `pthread_mutex_lock(&queue->lock)`.
        Only of calls whose arguments are plain."""
        arguments = _arguments(text)
        if len(arguments) != len(places):
            return places
        return tuple(
            (address, argument.strip()[1:].strip())
            if name
            and self.first_page(address >> self.page_bits) in self._heap_names
            and argument.strip().startswith("&")
            else (address, name)
            for (address, name), argument in zip(places, arguments, strict=True)
        )

    def _pointee(self, value: Any, scalar: Scalar) -> tuple[int, str]:
        if scalar.kind is not Kind.POINTER or value.__class__ is Indeterminate or not value:
            return 0, ""
        address = int(value)
        is_known = self.first_page(address >> self.page_bits) != 0
        return address, self._place(address, 1)[0] if is_known else ""

    def choose(
        self,
        name: str,
        scalar: Scalar,
        count: int | None,
        origin: Origin,
        unset: Unset | None = None,
        offset: int = 0,
    ) -> Number:
        value = super().choose(name, scalar, count, origin, unset, offset)
        shown = self.shown(value, scalar)
        self._inputs.append(Chosen(name, value, scalar, shown, unset, offset))
        return value

    def _user_edge(self, code: Code) -> Edge | None:
        if not code.function.library:
            return None
        frame = self.caller
        while frame is not None and frame.code.function.library:
            frame = frame.caller
        return None if frame is None else frame.site.edge

    def _note_register(self, code: Code, edge: Edge, r: list[Any], caller: Frame | None) -> None:
        action = edge.action
        function, values = code.function, r
        if isinstance(action, Return):
            if caller is None or self.code is None:
                return
            # The frame has been switched: the change is in the caller.
            function, values = self.code.function, self.values
            call = caller.site.edge.action
            target = call.target if isinstance(call, Call) else None
        elif isinstance(action, Call):
            return
        else:
            target = target_of(action)
        if target is None:
            return
        declaration = function.registers[target.index]
        if isinstance(action, Allocate):
            page = int(r[target.index]) >> self.page_bits
            if self.is_own(page):
                self._heap_names[page] = f"heap{len(self._heap_names) + 1}"
        if declaration.name:
            value = self.shown(values[target.index], declaration.type)
            self._changes.append(Change(declaration.name, value, is_library=function.library))

    def load_shared(self, address: int, read: Reader, size: int, site: Site) -> Any:
        value = super().load_shared(address, read, size, site)
        self._note_memory(address, size, value, site, is_read=True)
        return value

    def store(self, address: int, write: Writer, size: int, value: Any, site: Site) -> None:
        super().store(address, write, size, value, site)
        self._note_memory(address, size, value, site, is_read=False)

    def accessed(
        self, address: int, size: int, value: Any, site: Site, *, is_read: bool, source: str = ""
    ) -> None:
        self._note_memory(address, size, value, site, is_read=is_read)
        if source:
            last = self._changes.pop()
            self._changes.append(replace(last, value=f"{last.value} ({source})"))

    def became_visible(self, page: int, offset: int, data: bytes, thread: int, site: Site) -> None:
        assert site.type is not None
        address = (page << self.page_bits) + offset
        name, scalar, is_library = self._place(address, len(data))
        declared = scalar or site.type
        value = self.shown(from_bits(int.from_bytes(data, "little"), declared), declared)
        change = Change(name, value, False, is_library, address, len(data))
        function, edge = site.function, site.edge
        self.events.append(
            Event(thread, self.step_number, function, edge, (change,), None, becomes_visible=True)
        )

    def _note_memory(
        self, address: int, size: int, value: Any, site: Site, *, is_read: bool
    ) -> None:
        assert site.type is not None
        name, scalar, is_library = self._place(address, size)
        is_known = value.__class__ is not Indeterminate
        if scalar is not None and scalar != site.type and is_known:
            value = from_bits(to_bits(value, site.type), scalar)
        shown = self.shown(value, scalar or site.type)
        is_on_heap = self.first_page(address >> self.page_bits) in self._heap_names
        spelled = ""
        if is_on_heap and not site.function.library:
            spelled = getattr(site.edge.action, "spelled", "")
        self._changes.append(
            Change(name, shown, is_read, is_library, address, size, is_on_heap, spelled)
        )

    def shown(self, value: Any, scalar: Scalar) -> str:
        """A value as people read it: addresses by the name of the object."""
        if value.__class__ is Indeterminate:
            return "(indeterminate)"
        if scalar.kind is not Kind.POINTER:
            return f"{value:g}" if scalar.kind is Kind.FLOAT else str(value)
        address = int(value)
        if address == 0:
            return "NULL"
        function = self.functions.get(address)
        if function is not None:
            return function.display
        page = self.first_page(address >> self.page_bits)
        if page == 0:
            return hex(address)
        item = self.static_pages.get(page) or self.slot_of_page.get(page)
        if item is not None and not isinstance(item, Function):
            return f"&{item.name}" + pointed_at(item.layout, address - (page << self.page_bits))
        return "&" + self._place(address, 1)[0]

    def _place(self, address: int, size: int) -> tuple[str, Scalar | None, bool]:
        """The source-level name of the bytes at an address, their declared type, and whether they
        belong to the library."""
        page = self.first_page(address >> self.page_bits)
        offset = address - (page << self.page_bits)
        item = self.static_pages.get(page) or self.slot_of_page.get(page)
        if item is None or isinstance(item, Function):
            name = self._heap_names.get(page) or self._thread_local_name(page) or f"{page:#x}"
            return (f"{name}+{offset}" if offset else name), None, not self.is_own(page)
        declared = scalar_at(item.layout, offset, size)
        name = item.name + path_at(item.layout, offset, size)
        if isinstance(item, StaticObject):
            is_library = item.library
        else:
            is_library = id(item) in self._library_slots
        return name, None if declared is None else declared.scalar, is_library

    def _thread_local_name(self, page: int) -> str:
        per_thread: list[StaticObject] = [
            item for item in self.program.objects if item.thread_local
        ]
        for number in range(1, len(self.threads) + 1):
            for item, address in zip(
                per_thread, self._addresses_of_thread_locals(number), strict=True
            ):
                if address >> self.page_bits == page:
                    return f"{item.name}@{number}"
        return ""


def _words_of_arguments(function: str, statement: str) -> tuple[str, ...]:
    """Empty where they are not easily told apart."""
    calls = re.findall(rf"\b{re.escape(function)}\s*\(([^()]*)\)", statement)
    return tuple(item.strip() for item in calls[0].split(",")) if len(calls) == 1 else ()


def _arguments(call: str) -> list[str]:
    """Of a call whose arguments are plain."""
    found = _PLAIN_CALL.fullmatch(call)
    return [] if found is None else found[1].split(",")
