"""What the actions other than memory accesses do: frames, lifetimes, threads, inputs, endings.

The methods are called by generated code (see compile). They change the running frame, which is in
the attributes below while a thread runs, and raise StepEnds where the step cannot go on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plait.data import dataclass
from plait.errors import InputError
from plait.model.actions import CheckKind, Origin
from plait.model.machine import LARGEST_ALLOCATION, AddressSpace
from plait.model.memory_model import MemoryModel
from plait.model.program import Function, Program, StaticObject
from plait.model.properties import Specification
from plait.model.types import Kind, Scalar
from plait.model.unset import Maker, Unset, local, made_at, missing_argument
from plait.semantics import leaks, printf
from plait.semantics.compile import SWITCH, Callee, Code, Compiler, Site, shared_compiler
from plait.semantics.indeterminate import UNKNOWN, Indeterminate, UsedIndeterminate, fresh
from plait.semantics.memory import STACK, Memory
from plait.semantics.outcome import Ending, InputRequest, StepEnds, StepOutcome
from plait.semantics.scalars import Number, reinterpret
from plait.semantics.state import Frame, Status, Thread
from plait.semantics.visibility import Visibility


@dataclass(slots=True, frozen=True)
class Limits:
    """Counted at loop heads and visible actions; `frames` are those of one thread."""

    local_run: int = 20_000
    section: int = 1_000_000
    frames: int = 20_000


class Actions(Memory):
    """`supply` gives inputs that a step's choices do not (a step without it ends in NEEDS_INPUT);
    `output` collects what is printed, if it is not None."""

    def __init__(
        self,
        program: Program,
        specification: Specification,
        is_visible: Visibility | None = None,
        limits: Limits | None = None,
    ) -> None:
        super().__init__(program, specification)
        self.limits = limits or Limits()
        self._space = AddressSpace(program)
        is_weak = specification.memory_model is not MemoryModel.SC
        if is_visible is None:
            self.compiler = shared_compiler(program, self.finds_leaks, is_weak)
        else:
            self.compiler = Compiler(
                program, is_visible, keep_variables=self.finds_leaks, is_weak=is_weak
            )
        self.functions = program.functions_by_address()
        self._thread_locals: dict[int, list[int]] = {}
        self.supply: Callable[[InputRequest], Number] | None = None
        self.output: list[bytes] | None = None
        self.threads: list[Thread] = []
        self.exit: tuple[int, str] | None = None
        self.choices: list[Number] = []
        self._used = 0
        self.spawned: list[int] = []
        # The running frame; `location` is where a frame that was switched to goes on.
        self.code: Code | None = None
        self.values: list[Any] = []
        self.location = 0
        self.base = 0
        self.allocated: tuple[int, ...] = ()
        self.caller: Frame | None = None
        self.heap_page = 0
        self.stack_page = 0
        self.thread_locals: list[int] = []

    def user_origin(self, origin: Origin) -> Origin:
        """The place of the running action, or of the call that led into the library."""
        if self.code is None or not self.code.function.library:
            return origin
        frame = self.caller
        while frame is not None:
            if not frame.code.function.library:
                return frame.site.origin
            frame = frame.caller
        return origin

    def code_of(self, function: Function) -> Code:
        return self.compiler.code_of(function)

    def arena(self, thread: int) -> tuple[int, int]:
        """The first page of a thread's own and the one behind its last."""
        return self._space.arena(thread)

    def registers(self) -> list[Any]:
        return self.values

    # --- actions: calls and frames

    def call(self, site: Site, key: int | str, r: list[Any], arguments: tuple[Number, ...]) -> int:
        callee = site.callees.get(key)
        if callee is None:
            callee = self._resolve(site, key)
        code = callee.code
        assert self.code is not None
        values = code.blank[:]
        values[: len(arguments)] = arguments
        if callee.conversions:
            for index, _, _ in callee.conversions:
                _use(arguments[index])
        if callee.conversions or callee.missing or len(arguments) > code.function.parameters:
            self._adapt(values, arguments, callee, site)
        caller = Frame(self.code, site, r, self.base, self.allocated, self.caller)
        if caller.depth > self.limits.frames:
            self.stop(Ending.LIMIT, "too deep recursion", site.origin)
        self.caller = caller
        self.code, self.values, self.location = code, values, 0
        self.base, self.allocated = self.stack_page, ()
        if code.frame_pages and not self.keeps_dead_locals:
            self._take_stack(code.frame_pages, site.origin)
        return SWITCH

    def _resolve(self, site: Site, key: int | str) -> Callee:
        if isinstance(key, str):
            function = self.program.functions[key]
        else:
            function = self._function_at(key, site)
        types = [register.type for register in function.registers[: function.parameters]]
        pairs = zip(site.argument_types, types, strict=False)
        callee = Callee(
            self.code_of(function),
            tuple(
                (index, source, target)
                for index, (source, target) in enumerate(pairs)
                if source != target
            ),
            tuple(range(len(site.argument_types), function.parameters)),
        )
        site.callees[key] = callee
        return callee

    def _function_at(self, address: int, site: Site) -> Function:
        function = self.functions.get(address)
        if function is None:
            what = f"call through a pointer to no function (address {address:#x})"
            self.invalid("valid-deref", what, site.origin)
        return function

    def _adapt(
        self, values: list[Any], arguments: tuple[Number, ...], callee: Callee, site: Site
    ) -> None:
        """Pass arguments that do not fit the callee's parameters: by their bits."""
        code = callee.code
        parameters = code.function.parameters
        values[:] = [*arguments[:parameters], *code.blank[min(len(arguments), parameters) :]]
        for index, source, target in callee.conversions:
            values[index] = reinterpret(arguments[index], source, target)
        for index in callee.missing:
            scalar = code.function.registers[index].type
            unknown = UNKNOWN * scalar.size
            name = "missing argument"
            unset = self._new_unset(missing_argument(code.function.name, index))
            values[index] = fresh(values, bytes(scalar.size), unknown, name, name, unset)

    def leave(self, r: list[Any], value: Any, site: Site) -> int:
        code = self.code
        assert code is not None
        caller = self.caller
        if caller is not None and caller.site.target >= 0 and site.type != caller.site.type:
            _use(value)
        self._destroy_locals(code, r, self.allocated)
        if caller is None:
            return self._thread_is_over(site)
        if not self.keeps_dead_locals:
            self.stack_page = self.base
        call = caller.site
        values = caller.values[:]
        if call.target >= 0:
            assert call.type is not None
            if value is None or site.type is None:
                size = call.type.size
                name = "missing return value"
                unset = self._new_unset(made_at(caller.code.function.name, call.edge.source))
                value = fresh(values, bytes(size), UNKNOWN * size, name, name, unset)
            elif value.__class__ is Indeterminate:
                base = f"result {call.edge.source}"
                value = fresh(values, value.data, value.mask, base, value.name, value.unset)
            elif site.type is not call.type and site.type != call.type:
                value = reinterpret(value, site.type, call.type)
            values[call.target] = value
        self.code, self.values, self.location = caller.code, values, call.edge.target
        self.base, self.allocated, self.caller = caller.base, caller.allocated, caller.caller
        return SWITCH

    def enter_scope(self, r: list[Any], slots: tuple[int, ...]) -> None:
        code = self.code
        assert code is not None
        function = code.function
        first = len(function.registers)
        for index in slots:
            slot = function.slots[index]
            if r[first + index]:
                self.destroy(r[first + index] >> self.page_bits)
            if self.keeps_dead_locals:
                self._take_stack(self.pages_taken(slot.size), slot.origin)
                page = self.stack_page
            else:
                page = self.base - code.frame_pages + code.slot_pages[index]
            self.slot_of_page[page] = slot
            self.create(page, slot.size, is_defined=False)
            if self.unset_names is not None and slot.size:
                maker = local(function.name, index)
                self.unset_names.new_object(page, self.number, maker)
            r[first + index] = page << self.page_bits

    def leave_scope(self, r: list[Any], slots: tuple[int, ...]) -> None:
        assert self.code is not None
        first = len(self.code.function.registers)
        for index in slots:
            if r[first + index]:
                self.destroy(r[first + index] >> self.page_bits)
                r[first + index] = 0

    def _destroy_locals(self, code: Code, values: list[Any], allocated: tuple[int, ...]) -> None:
        if code.frame_pages:
            for address in values[len(code.function.registers) :]:
                if address:
                    self.destroy(address >> self.page_bits)
        for page in allocated:
            self.destroy(page)

    def _take_stack(self, pages: int, origin: Origin) -> None:
        self.stack_page -= pages
        if self.stack_page < self.heap_page:
            self.stop(Ending.LIMIT, "the thread's address space is used up", origin)

    def allocate(self, size: int, zeroed: bool, storage: str, site: Site) -> int:
        if not 0 <= size <= LARGEST_ALLOCATION:
            self.stop(Ending.LIMIT, f"allocation of {size} bytes", site.origin)
        if storage != STACK:
            page = self.heap_page
            self.heap_page += self.pages_taken(size)
            self._take_stack(0, site.origin)
            self.set_storage(page, storage)
        else:
            self._take_stack(self.pages_taken(size), site.origin)
            page = self.stack_page
            self.allocated = (*self.allocated, page)
            self.slot_of_page.pop(page, None)
            self.alloca_of_page[page] = site.edge
        self.create(page, size, is_defined=zeroed)
        if self.unset_names is not None and size and not zeroed:
            maker = made_at(site.function.name, site.edge.source)
            self.unset_names.new_object(page, self.number, maker)
        return page << self.page_bits

    # --- actions: threads and the process

    def spawn(self, function: int, argument: Number, site: Site) -> int:
        _use(argument)
        if self.weak is not None:
            self.weak.synchronise()
        start = self._function_at(function, site)
        space = self._space
        if len(self.threads) >= space.most_threads:
            self.stop(Ending.LIMIT, f"more than {space.most_threads} threads", site.origin)
        if space.thread_local_pages + self.code_of(start).frame_pages > space.arena_pages:
            self.stop(Ending.LIMIT, "the thread's address space is used up", site.origin)
        passed = (argument, site.argument_types[0])
        self.threads.append(self._new_thread(start, passed))
        number = len(self.threads)
        self.spawned.append(number)
        return number

    def _new_thread(self, function: Function, passed: tuple[Number, Scalar] | None) -> Thread:
        code = self.code_of(function)
        number = len(self.threads) + 1
        if number > 1:
            for item, page in self._space.thread_local_copies(number):
                self.create(page, item.size, is_defined=True, contents=item.contents)
        values = code.blank[:]
        if passed is not None and function.parameters:
            argument, scalar = passed
            values[0] = reinterpret(argument, scalar, function.registers[0].type)
        _, top = self._space.arena(number)
        heap_page = self._space.heap_start(number)
        stack_page = top if self.keeps_dead_locals else top - code.frame_pages
        return Thread(Status.RUNNING, code, 0, values, top, (), None, heap_page, stack_page)

    def thread_local_at(self, page: int) -> StaticObject | None:
        """The thread-local object, of some thread, that begins at a page."""
        if self._space.thread_locals:
            for number in range(1, len(self.threads) + 1):
                for item, place in self._space.thread_local_copies(number):
                    if place == page:
                        return item
        return None

    def _addresses_of_thread_locals(self, number: int) -> list[int]:
        found = self._thread_locals.get(number)
        if found is None:
            copies = self._space.thread_local_copies(number)
            found = self._thread_locals[number] = [page << self.page_bits for _, page in copies]
        return found

    def end_thread(self, r: list[Any], site: Site) -> int:
        assert self.code is not None
        self._destroy_locals(self.code, r, self.allocated)
        frame = self.caller
        while frame is not None:
            self._destroy_locals(frame.code, frame.values, frame.allocated)
            frame = frame.caller
        return self._thread_is_over(site)

    def _thread_is_over(self, site: Site) -> int:
        if self.weak is not None:
            self.weak.synchronise()
        if self.number > 1:
            for address in self.thread_locals:
                self.destroy(address >> self.page_bits)
        self.depth = 0
        self.code = None
        if self.finds_leaks and all(
            thread.code is None or number == self.number
            for number, thread in enumerate(self.threads, 1)
        ):
            self._check_leaks((), site)
        return SWITCH

    def end_process(self, r: list[Any], status: int, how: str, site: Site) -> int:
        if self.finds_leaks:
            assert self.code is not None
            self._check_leaks(self.code.pick[site.edge.source](r), site)
        self.exit = (status, how)
        self.depth = 0
        self.code = None
        return SWITCH

    def _check_leaks(self, running: tuple[Any, ...], site: Site) -> None:
        lost = leaks.lost_objects(self, running)
        if lost and not leaks.lost_objects(self, running, alignment=1):
            what = "memory is lost, unless a pointer at an unaligned place leads to it"
            self.stop(Ending.LIMIT, what, site.origin)
        if lost:
            what = f"{len(lost)} heap object(s) that nothing points to are never freed"
            kind = "valid-memtrack"
            raise StepEnds(StepOutcome(Ending.VIOLATION, what, site.origin, kind, self.number))

    def begin_section(self, site: Site) -> None:
        """Under a weak memory model; else it is no more than one more in `depth`."""
        if self.weak is not None:
            begin = self.weak.begin_inner_section if self.depth else self.weak.begin_section
            begin(site)
        self.depth += 1

    def end_section(self, site: Site) -> None:
        self.depth -= 1
        if self.depth < 0:
            self.stop(Ending.UNSUPPORTED, "end of an atomic section that never began", site.origin)
        if self.weak is not None and self.depth == 0:
            self.weak.end_section()

    # --- actions: inputs and endings

    def input(self, site: Site, count: int | None) -> Number:
        assert site.type is not None
        return self.choose(site.text, site.type, count, site.origin)

    def unknown(self, site: Site, count: int | None) -> Indeterminate:
        """An indeterminate value: it is chosen when it is used."""
        assert site.type is not None
        size = site.type.size
        unset = self._new_unset(made_at(site.function.name, site.edge.source))
        return fresh(self.registers(), bytes(size), UNKNOWN * size, site.text, site.text, unset)

    def _new_unset(self, maker: Maker) -> Unset | None:
        return None if self.unset_names is None else self.unset_names.new(self.number, maker)

    def choose(
        self,
        name: str,
        scalar: Scalar,
        count: int | None,
        origin: Origin,
        unset: Unset | None = None,
        offset: int = 0,
    ) -> Number:
        if count is not None and count <= 0:
            self.stop(Ending.PRUNED, f"no value to choose for {name}", origin)
        if self._used < len(self.choices):
            value = self.choices[self._used]
        else:
            request = InputRequest(name, scalar, count, unset, offset)
            if self.supply is None:
                raise StepEnds(
                    StepOutcome(Ending.NEEDS_INPUT, name, origin, thread=self.number, input=request)
                )
            value = self.supply(request)
            self.choices.append(value)
        _require_in_domain(value, name, scalar, count)
        self._used += 1
        return value

    def prune(self, site: Site) -> None:
        self.stop(Ending.PRUNED, "an assumption does not hold", site.origin)

    def block(self, site: Site, on: int | None) -> None:
        in_section = self.depth > 0
        raise StepEnds(
            StepOutcome(
                Ending.BLOCKED,
                site.text,
                site.origin,
                thread=self.number,
                on=on,
                in_section=in_section,
            )
        )

    def fail(self, site: Site) -> None:
        """A Check of a kind that the specification does not have says nothing, unless what comes
        behind it would be undefined."""
        kind = site.check
        assert kind is not None
        violated = self.specification.violated_by(kind)
        if violated is not None:
            raise StepEnds(
                StepOutcome(Ending.VIOLATION, site.text, site.origin, violated, self.number)
            )
        if kind in (CheckKind.UNDEFINED, CheckKind.VALID_DEREF, CheckKind.VALID_FREE):
            self.stop_undefined(site.text, site.origin)

    def unsupported(self, site: Site) -> None:
        self.stop(Ending.UNSUPPORTED, site.text, site.origin)

    def nowhere_to_go(self) -> None:
        assert self.code is not None
        origin = self.code.function.origin
        self.stop(Ending.UNSUPPORTED, "control comes to a location that nothing leaves", origin)

    def print(self, site: Site, values: tuple[Any, ...]) -> None:
        assert self.output is not None
        # Printing is no use of an indeterminate value: a run must not depend on being watched.
        known = tuple(0 if value.__class__ is Indeterminate else value for value in values)
        self.output.append(printf.formatted(self, site.argument_types, known))


def _use(value: Any) -> None:
    if value.__class__ is Indeterminate:
        raise UsedIndeterminate


def _require_in_domain(value: Number, name: str, scalar: Scalar, count: int | None) -> None:
    if scalar.kind is Kind.FLOAT:
        fits = isinstance(value, float)
    else:
        highest = scalar.maximum if count is None else count - 1
        lowest = scalar.minimum if count is None else 0
        fits = isinstance(value, int) and lowest <= value <= highest
    if not fits:
        raise InputError(f"the value {value!r} is not possible for the input '{name}' ({scalar})")
