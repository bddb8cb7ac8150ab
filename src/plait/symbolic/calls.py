"""Calls, returns, and the locals whose lives they and scopes begin and end."""

from __future__ import annotations

from plait.model.actions import Call, EnterScope, LeaveScope, Return
from plait.model.program import Edge, Function
from plait.model.unset import local, made_at, missing_argument
from plait.symbolic.ends import Ends
from plait.symbolic.heap import Heap
from plait.symbolic.locations import Frame
from plait.symbolic.memory import Memory
from plait.symbolic.run import OpenFrame, Run, Trouble
from plait.symbolic.values import Values
from plait.symbolic.variables import register_variable

_DEEPEST_STACK = 200


class Calls:
    def __init__(self, memory: Memory, heap: Heap, values: Values, ends: Ends) -> None:
        self._memory = memory
        self._knowledge = memory.knowledge
        self._terms = memory.terms
        self._heap = heap
        self._values = values
        self._ends = ends

    # --- frames

    def resumed(self, run: Run, frame: Frame, depth: int, location: int) -> OpenFrame:
        """A frame of the location with its values, as far as they matter at a location."""
        shape = self._knowledge.shape(frame.function)
        known = dict(frame.registers)
        registers: dict[int, int] = {}
        live = shape.live[location]
        for index, declared in enumerate(shape.function.registers):
            if live >> index & 1:
                bits = declared.type.bits
                if index in known:
                    registers[index] = self._terms.constant(known[index], bits)
                else:
                    registers[index] = register_variable(
                        self._terms, run.number, depth, index, bits
                    )
        return OpenFrame(
            shape, frame.base, list(frame.allocated), registers, dict(frame.slots), depth
        )

    def end_all_frames(self, run: Run) -> None:
        for frame in run.frames:
            self._end_frame(run, frame)
        for suspended in run.suspended:
            shape = self._knowledge.shape(suspended.function)
            for index, address in suspended.slots:
                self._memory.end_life(run, address, shape.function.slots[index].size)
            for page in suspended.allocated:
                self._heap.end(run, page)

    def _end_frame(self, run: Run, frame: OpenFrame) -> None:
        for index in list(frame.slots):
            self._end_slot(run, frame, index)
        for page in frame.allocated:
            self._heap.end(run, page)

    def _end_slot(self, run: Run, frame: OpenFrame, index: int) -> None:
        address = frame.slots.pop(index, 0)
        if address:
            self._memory.end_life(run, address, frame.shape.function.slots[index].size)

    # --- actions

    def enter_scope(self, run: Run, action: EnterScope) -> None:
        frame = run.frame
        shape = frame.shape
        for index in action.slots:
            self._end_slot(run, frame, index)
            slot = shape.function.slots[index]
            page = frame.base - shape.frame_pages + shape.slot_pages[index]
            address = page << self._knowledge.page_bits
            frame.slots[index] = address
            unset = local(shape.function.name, index)
            self._memory.begin_life(run, address, slot.size, slot, unset, action.origin)

    def leave_scope(self, run: Run, action: LeaveScope) -> None:
        for index in action.slots:
            self._end_slot(run, run.frame, index)

    def call(self, run: Run, edge: Edge, action: Call) -> None:
        self._values.keep_in_objects(run, edge)
        arguments = [self._values.of(run, item) for item in action.arguments]
        if isinstance(action.callee, str):
            function = self._knowledge.program.functions[action.callee]
            self._enter(run, edge, function, arguments, action)
            return
        terms = self._terms
        address = self._values.of(run, action.callee)
        leaves = self._memory.objects.constants_in(address)
        if leaves is None:
            leaves = self._possible_callees(run, edge, address)
        for leaf in leaves[1:]:
            fork = run.copy()
            constant = terms.constant(leaf, terms.width[address])
            fork.assume(terms.eq(address, constant), terms)
            try:
                function = self.function_at(fork, leaf, edge)
                self._enter(fork, edge, function, arguments, action)
            except Trouble as trouble:
                self._ends.trouble(fork, trouble.message, trouble.origin)
                continue
            self._ends.frontier.add(fork)
        constant = terms.constant(leaves[0], terms.width[address])
        run.assume(terms.eq(address, constant), terms)
        self._enter(run, edge, self.function_at(run, leaves[0], edge), arguments, action)

    def _possible_callees(self, run: Run, edge: Edge, address: int) -> list[int]:
        """What points-to analysis says that a pointer may call; the run goes on only for these."""
        terms = self._terms
        names = self._knowledge.callees(run.frame.shape.function.name, edge)
        functions = self._knowledge.functions.items()
        found = [value for value, function in functions if function.name in names]
        constants = [terms.constant(value, terms.width[address]) for value in found]
        is_one = terms.any_of(terms.eq(address, item) for item in constants)
        message = "a call through a pointer that is not known"
        self._ends.require(run, is_one, message, edge.action.origin)
        return found

    def function_at(self, run: Run, address: int, edge: Edge) -> Function:
        function = self._knowledge.functions.get(address)
        origin = edge.action.origin
        if function is None:
            raise Trouble("a call through a pointer to no function", origin)
        caller = run.frame.shape.function.name
        if function.name not in self._knowledge.callees(caller, edge):
            raise Trouble("a function pointer whose origin is not known", origin)
        return function

    def _enter(
        self, run: Run, edge: Edge, function: Function, arguments: list[int], action: Call
    ) -> None:
        shape = self._knowledge.shape(function.name)
        caller = run.frame
        if caller.depth > _DEEPEST_STACK:
            raise Trouble("too deep recursion", action.origin)
        registers: dict[int, int] = {}
        for index in range(function.parameters):
            type_ = function.registers[index].type
            if index >= len(arguments):
                missing = missing_argument(function.name, index)
                registers[index] = run.unset(self._terms, missing, type_.bits)
            else:
                given = action.arguments[index].type
                registers[index] = self._values.passed(
                    arguments[index], given, type_, action.origin
                )
        caller.call = edge
        run.stack = (*run.stack, (caller.shape.function.name, edge.source))
        base = run.stack_page
        run.stack_page -= shape.frame_pages
        if run.stack_page < run.heap_page:
            raise Trouble("the thread's address space is used up", action.origin)
        run.frames.append(OpenFrame(shape, base, [], registers, {}, caller.depth + 1))
        run.location = 0

    def return_(self, run: Run, edge: Edge, action: Return) -> None:
        """To the caller. (The return of a thread's first function is the thread's end.)"""
        value = None if action.value is None else self._values.checked(run, action.value, edge)
        frame = run.frame
        self._end_frame(run, frame)
        run.stack_page = frame.base
        run.frames.pop()
        *rest, (_, source) = run.stack
        run.stack = tuple(rest)
        if not run.frames:
            suspended = run.suspended.pop()
            waiting = self._knowledge.shape(suspended.function).function.edges[source][0]
            caller = self.resumed(run, suspended, frame.depth - 1, waiting.target)
            caller.call = waiting
            run.frames.append(caller)
        caller = run.frame
        call = caller.call
        assert call is not None and isinstance(call.action, Call)
        target = call.action.target
        if target is not None:
            if value is None:
                missing = made_at(caller.shape.function.name, call.source)
                value = run.unset(self._terms, missing, target.type.bits)
            elif action.value is not None:
                value = self._values.passed(value, action.value.type, target.type, action.origin)
            caller.registers[target.index] = value
        caller.call = None
        rank = caller.shape.rank
        caller.laps += rank[call.target] >= rank[call.source]
        run.location = call.target
        run.may_meet = True
