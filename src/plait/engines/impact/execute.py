"""Symbolic execution of blocks: a thread's visible action or atomic section, then local actions.

A block starts where a thread stands: before a visible action, or where it has paused. It ends
before the next visible action, or where it comes to a place it has been at in the same block, so
that blocks are finite and loops have nodes. A thread that is alone does not stop for anybody.
The rules are those of docs/certificates.md, and the meaning of actions is that of the reference
interpreter (`plait.semantics`).
"""

from __future__ import annotations

from plait.data import dataclass, replace
from plait.engines.impact.blocks import Access, Block, Kind, Outcome
from plait.engines.impact.knowledge import Knowledge, Move
from plait.engines.impact.locations import (
    ENDED,
    HALTED,
    Cell,
    Frame,
    HeapObject,
    Location,
    Status,
    Thread,
)
from plait.engines.impact.memory import Memory, OpenFrame, Run, Trouble
from plait.errors import UnsupportedCode
from plait.logic.interpolation.path import Step
from plait.logic.terms import Terms
from plait.logic.translate import is_not_zero, translate
from plait.model.actions import (
    Allocate,
    Assign,
    AtomicBegin,
    AtomicEnd,
    Call,
    Check,
    CheckKind,
    EndProcess,
    EndThread,
    EnterScope,
    Fence,
    Free,
    Guard,
    Input,
    LeaveScope,
    Load,
    ObjectSize,
    Origin,
    Output,
    Prune,
    ReadModifyWrite,
    Return,
    Skip,
    Spawn,
    Store,
    Unsupported,
    Wait,
    expressions_of,
)
from plait.model.expressions import (
    CurrentThread,
    Expr,
    FrameAddress,
    FunctionAddress,
    PointerAdd,
    StaticAddress,
)
from plait.model.program import Edge, Function
from plait.model.properties import Specification
from plait.model.types import Scalar

_MOST_WAYS = 400
_MOST_ACTIONS = 50_000
_LARGEST_ALLOCATION = 1 << 26
_GUARDS_AGAINST_UNDEFINED = (CheckKind.UNDEFINED, CheckKind.VALID_DEREF, CheckKind.VALID_FREE)


class _Ends(Exception):
    """The way through the block is over, and has said what it came to."""


class Executor(Memory):
    """Executes blocks of one program."""

    def __init__(self, knowledge: Knowledge, terms: Terms, specification: Specification) -> None:
        super().__init__(knowledge, terms)
        self._checks = specification.checks
        self._block = Block()
        self._pending: list[Run] = []
        self._blocks: dict[_Surroundings, tuple[Location, Block]] = {}

    def start(self) -> Location:
        """Where the initial thread begins."""
        knowledge = self.knowledge
        top = knowledge.program.first_free_page + knowledge.arena_pages
        shape = knowledge.shape(knowledge.program.entry)
        frame = Frame(knowledge.program.entry, 0, top, (), (), ())
        first_page = knowledge.program.first_free_page
        thread = Thread(Status.RUNNING, 0, first_page, top - shape.frame_pages, (frame,))
        return Location((thread,), (), ())

    def block(self, location: Location, number: int) -> Block:
        """The next block of a thread. Where the other threads are does not matter to it."""
        key = _Surroundings.of(location, number)
        found = self._blocks.get(key)
        if found is None:
            found = self._blocks[key] = location, self._executed(location, number)
        similar, block = found
        if similar is location:
            return block
        return Block(
            [_moved(way, similar, location, number) for way in block.outcomes],
            block.accesses,
            block.spawns,
            block.ends_process,
            block.pauses_in_section,
            block.begins_visibly,
        )

    def _executed(self, location: Location, number: int) -> Block:
        self._block = Block()
        run = self._open(location, number)
        frame = run.frames[-1]
        self._block.begins_visibly = bool(run.depth) or self._is_switch(run)
        run.visited.add((run.stack, frame.shape.function.name, run.location))
        self._pending = [run]
        while self._pending:
            if len(self._pending) + len(self._block.outcomes) > _MOST_WAYS:
                raise UnsupportedCode("too many ways through the code between two accesses")
            self._finish(self._pending.pop())
        return self._block

    # --- the way through a block

    def _open(self, location: Location, number: int) -> Run:
        thread = location.threads[number - 1]
        run = Run(location, number)
        run.items = self.items_of(location)
        run.depth = thread.depth
        run.has_changed = thread.depth > 0  # nobody has seen yet what the section has done so far
        run.heap_page, run.stack_page = thread.heap_page, thread.stack_page
        run.is_alone = all(
            other.status is not Status.RUNNING or position == number
            for position, other in enumerate(location.threads, 1)
        )
        run.suspended = list(thread.frames[:-1])
        run.stack = tuple((frame.function, frame.location) for frame in thread.frames[:-1])
        inner = thread.frames[-1]
        run.location = inner.location
        run.frames = [self._resumed(run, inner, len(thread.frames) - 1, inner.location)]
        return run

    def _resumed(self, run: Run, frame: Frame, depth: int, location: int) -> OpenFrame:
        """A frame of the location with its values, as far as they matter at a location."""
        shape = self.knowledge.shape(frame.function)
        known = dict(frame.registers)
        registers: dict[int, int] = {}
        live = shape.live[location]
        for index, declared in enumerate(shape.function.registers):
            if live >> index & 1:
                bits = declared.type.bits
                if index in known:
                    registers[index] = self.terms.constant(known[index], bits)
                else:
                    registers[index] = self.register_variable(run.number, depth, index, bits)
        return OpenFrame(
            shape, frame.base, list(frame.allocated), registers, dict(frame.slots), depth
        )

    def _finish(self, run: Run) -> None:
        """Follow a run to its end; forks are left in `_pending`."""
        is_first = run.actions == 0
        try:
            while True:
                if not is_first and self._stops(run):
                    self._arrive(run)
                    return
                is_first = False
                self._act(run)
        except _Ends:
            return
        except Trouble as trouble:
            self._trouble(run, trouble.message, trouble.origin)
        except UnsupportedCode as error:
            shape = run.frames[-1].shape
            edges = shape.function.edges[run.location]
            origin = edges[0].action.origin if edges else shape.function.origin
            self._trouble(run, str(error), origin)

    def _is_switch(self, run: Run) -> bool:
        frame = run.frames[-1]
        if frame.shape.is_switch[run.location]:
            return True
        if frame.depth == 0:
            return any(
                isinstance(edge.action, Return)
                for edge in frame.shape.function.edges[run.location]
            )
        return False

    def _stops(self, run: Run) -> bool:
        frame = run.frames[-1]
        if run.depth == 0 and not run.is_alone and self._is_switch(run):
            return True
        if frame.shape.is_met[run.location] or run.location == run.began:
            key = run.stack, frame.shape.function.name, run.location
            if key in run.visited:
                run.is_loop = True
                return True
            run.visited.add(key)
        return False

    def _act(self, run: Run) -> None:
        run.actions += 1
        if run.actions > _MOST_ACTIONS:
            raise UnsupportedCode("too many actions between two accesses")
        frame = run.frames[-1]
        leaving = frame.shape.function.edges[run.location]
        if not leaving:
            raise Trouble(
                "control comes to a location that nothing leaves", frame.shape.function.origin
            )
        if len(leaving) > 1 or isinstance(leaving[0].action, Guard):
            self._branch(run, leaving)
        else:
            self._execute(run, leaving[0])

    def _branch(self, run: Run, leaving: list[Edge]) -> None:
        """The model promises that exactly one guard holds."""
        open_edges: list[tuple[Edge, int]] = []
        for edge in leaving:
            assert isinstance(edge.action, Guard)
            condition = self._condition(run, edge.action.condition, edge)
            if condition == self.terms.true:
                open_edges = [(edge, condition)]
                break
            if condition != self.terms.false:
                open_edges.append((edge, condition))
        if not open_edges:
            raise _Ends
        for edge, condition in open_edges[1:]:
            fork = run.copy()
            fork.assume(condition, self.terms)
            self._goto(fork, edge)
            self._pending.append(fork)
        edge, condition = open_edges[0]
        run.assume(condition, self.terms)
        self._goto(run, edge)

    def _goto(self, run: Run, edge: Edge) -> None:
        rank = run.frames[-1].shape.rank
        if edge.target >= 0 and rank[edge.target] >= rank[edge.source]:
            run.is_loop = True
        run.location = edge.target

    # --- expressions

    def _value(self, run: Run, expr: Expr, edge: Edge) -> int:
        self._keep_in_object(run, edge)
        return self._translated(run, expr)

    def _translated(self, run: Run, expr: Expr) -> int:
        frame = run.frames[-1]

        def address(place: StaticAddress | FrameAddress | FunctionAddress | CurrentThread) -> int:
            bits = place.type.bits
            match place:
                case StaticAddress():
                    value = self.address_of_static(place.object, run.number)
                case FrameAddress():
                    value = frame.slots.get(place.slot.index, 0)
                case FunctionAddress():
                    function = self.knowledge.program.functions[place.function]
                    value = self.knowledge.program.address_of(function)
                case CurrentThread():
                    value = run.number
            return self.terms.constant(value, bits)

        return translate(self.terms, expr, frame.lookup(self.terms, run), address)

    def _condition(self, run: Run, expr: Expr, edge: Edge) -> int:
        return is_not_zero(self.terms, self._value(run, expr, edge))

    def _keep_in_object(self, run: Run, edge: Edge) -> None:
        """Pointer arithmetic must not leave the pages of its object."""
        moves = self.knowledge.moves(expressions_of(edge.action), id(edge))
        self._keep_moves_in_object(run, moves, edge.action.origin)

    def _keep_moves_in_object(self, run: Run, moves: tuple[Move, ...], origin: Origin) -> None:
        for move in moves:
            result = self._translated(run, move)
            if isinstance(move, PointerAdd):
                base = self._translated(run, move.base)
            else:
                base = self.terms.sub(result, self.terms.constant(move.offset, move.type.bits))
            if base != result:
                inside = self.is_in_pages(run, base, result)
                self._fail_unless(run, inside, "pointer arithmetic leaves its object", origin)

    def _fail_unless(self, run: Run, condition: int, message: str, origin: Origin) -> None:
        """Trouble where the condition does not hold; the run goes on where it does."""
        terms = self.terms
        if condition == terms.true:
            return
        if condition == terms.false:
            raise Trouble(message, origin)
        fork = run.copy()
        fork.assume(terms.not_(condition), terms)
        self._trouble(fork, message, origin)
        run.assume(condition, terms)

    # --- actions

    def _execute(self, run: Run, edge: Edge) -> None:
        action = edge.action
        frame = run.frames[-1]
        terms = self.terms
        match action:
            case Skip() | Fence():
                pass
            case Output():
                self._keep_in_object(run, edge)
            case Assign():
                frame.registers[action.target.index] = self._value(run, action.value, edge)
            case Load():
                address = self._value(run, action.address, edge)
                size = action.target.type.size
                for fork, value in self._read(run, edge, action.address, address, size):
                    loaded = self._loaded(value, action.target.type)
                    fork.frames[-1].registers[action.target.index] = loaded
                    self._go_on(fork, run, edge)
                return
            case Store():
                address = self._value(run, action.address, edge)
                value = self._translated(run, action.value)
                size = action.value.type.size
                for fork, places in self._resolve(run, edge, action.address, address, size, True):
                    self.store(fork, places, size, value)
                    self._go_on(fork, run, edge)
                return
            case ReadModifyWrite():
                self._read_modify_write(run, edge, action)
                return
            case Input():
                self._input(run, edge, action)
            case Prune():
                self._prune_unless(run, self._condition(run, action.condition, edge))
            case Wait():
                condition = self._condition(run, action.condition, edge)
                if condition == terms.false:
                    self._block.accesses.update(dict.fromkeys(run.accesses))
                    raise _Ends
                run.assume(condition, terms)
                self._block.accesses.update(dict.fromkeys(run.accesses))
            case Check():
                self._check(run, edge, action)
            case Call():
                self._call(run, edge, action)
                return
            case Return():
                self._return(run, edge, action)
                return
            case EnterScope():
                self._enter(run, action)
            case LeaveScope():
                for index in action.slots:
                    self._end_slot(run, frame, index)
            case _:
                self._rarer(run, edge)
                return
        self._goto(run, edge)

    def _go_on(self, fork: Run, run: Run, edge: Edge) -> None:
        """Behind an access that may have forked the run."""
        self._goto(fork, edge)
        if fork is not run:
            self._pending.append(fork)

    def _loaded(self, value: int, type_: Scalar) -> int:
        """Whatever the byte of a `_Bool` holds, its value is 0 or 1."""
        if type_.is_bool:
            return self.terms.zero_extend(is_not_zero(self.terms, value), type_.bits)
        return value

    def _passed(self, value: int, source: Scalar, target: Scalar, origin: Origin) -> int:
        """An argument or a result where another type is expected."""
        if source.bits != target.bits:
            raise Trouble("an argument or a result that does not fit", origin)
        return value if source.is_bool else self._loaded(value, target)

    def _read(
        self, run: Run, edge: Edge, address: Expr, term: int, size: int
    ) -> list[tuple[Run, int]]:
        return [
            (fork, self.load(fork, places, size))
            for fork, places in self._resolve(run, edge, address, term, size, False)
        ]

    def _resolve(
        self, run: Run, edge: Edge, expr: Expr, address: int, size: int, is_write: bool
    ) -> list[tuple[Run, list[tuple[int, int]]]]:
        """Where an access goes: runs with conditions and addresses, of which one holds in each.
        Runs whose access is invalid are dealt with; the given run is among the results."""
        terms = self.terms
        origin = edge.action.origin
        function = run.frames[-1].shape.function.name
        leaves = self.constants_in(address)
        runs: list[tuple[Run, list[tuple[int, int]]]] = []
        if leaves is not None:
            for value in leaves[1:]:
                fork = run.copy()
                fork.assume(terms.eq(address, terms.constant(value, terms.width[address])), terms)
                self._add_place(runs, fork, edge, expr, value, size, is_write)
            if len(leaves) > 1:
                first = terms.eq(address, terms.constant(leaves[0], terms.width[address]))
                run.assume(first, terms)
            found = len(runs)
            self._add_place(runs, run, edge, expr, leaves[0], size, is_write)
            if len(runs) == found:
                # The run itself is over; one of the others takes its place.
                for fork, places in runs:
                    self._perform(fork, edge, places, size)
                raise _Ends
            return runs
        found_places = self.candidates(run, function, expr, address, size)
        if found_places is None:
            raise Trouble("an address that could be too many places", origin)
        inside = terms.any_of(condition for condition, _ in found_places)
        self._fail_unless(run, inside, "an access outside of its object", origin)
        for condition, place in found_places:
            self._require_valid(run, edge, expr, place, size, is_write)
            run.accesses.append(Access(place, size, is_write, condition))
        return [(run, found_places)]

    def _perform(
        self, fork: Run, edge: Edge, places: list[tuple[int, int]], size: int
    ) -> None:
        """The access of a fork whose original run has ended."""
        action = edge.action
        match action:
            case Load():
                value = self._loaded(self.load(fork, places, size), action.target.type)
                fork.frames[-1].registers[action.target.index] = value
            case Store():
                self.store(fork, places, size, self._translated(fork, action.value))
            case ReadModifyWrite():
                if not self._modify(fork, edge, places, size, action):
                    return
        self._goto(fork, edge)
        self._pending.append(fork)

    def _add_place(
        self,
        runs: list[tuple[Run, list[tuple[int, int]]]],
        run: Run,
        edge: Edge,
        expr: Expr,
        address: int,
        size: int,
        is_write: bool,
    ) -> None:
        try:
            self._require_valid(run, edge, expr, address, size, is_write)
        except Trouble as trouble:
            self._trouble(run, trouble.message, trouble.origin)
            return
        run.accesses.append(Access(address, size, is_write, None))
        runs.append((run, [(self.terms.true, address)]))

    def _require_valid(
        self, run: Run, edge: Edge, expr: Expr, address: int, size: int, is_write: bool
    ) -> None:
        origin = edge.action.origin
        item = self.object_at(run, address)
        if item is None or address - item.address + size > item.size:
            raise Trouble(f"an access to no object (address {address:#x})", origin)
        if is_write and item.read_only:
            raise Trouble("a write to a read-only object", origin)
        function = run.frames[-1].shape.function
        context = self._context(run) if function.library else None
        if self.knowledge.is_wild(edge) or (
            item.maker not in self.knowledge.expected(function.name, edge, expr, context)
        ):
            raise Trouble("a pointer whose origin is not known", origin)
        if self.knowledge.cells_of(item.maker, item.size) is None:
            raise Trouble("an object of too many parts", origin)

    def _read_modify_write(self, run: Run, edge: Edge, action: ReadModifyWrite) -> None:
        moves = self.knowledge.moves((action.address,), id(edge))
        self._keep_moves_in_object(run, moves, action.origin)
        address = self._translated(run, action.address)
        size = action.old.type.size
        is_over = False
        for fork, places in self._resolve(run, edge, action.address, address, size, True):
            if self._modify(fork, edge, places, size, action):
                self._go_on(fork, run, edge)
            else:
                is_over = is_over or fork is run
        if is_over:
            raise _Ends

    def _modify(
        self,
        run: Run,
        edge: Edge,
        places: list[tuple[int, int]],
        size: int,
        action: ReadModifyWrite,
    ) -> bool:
        """Whether the run goes on; what happens to it must not touch other ways."""
        try:
            self._modify_or_fail(run, edge, places, size, action)
        except Trouble as trouble:
            self._trouble(run, trouble.message, trouble.origin)
            return False
        except UnsupportedCode as error:
            self._trouble(run, str(error), action.origin)
            return False
        return True

    def _modify_or_fail(
        self,
        run: Run,
        edge: Edge,
        places: list[tuple[int, int]],
        size: int,
        action: ReadModifyWrite,
    ) -> None:
        raw = self.load(run, places, size)
        run.frames[-1].registers[action.old.index] = self._loaded(raw, action.old.type)
        # `new` and `guard` see what was loaded, and so does their pointer arithmetic.
        exprs = (action.new,) if action.guard is None else (action.new, action.guard)
        self._keep_moves_in_object(run, self.knowledge.moves(exprs, id(action)), action.origin)
        new = self._translated(run, action.new)
        old = raw
        if action.guard is not None:
            happens = is_not_zero(self.terms, self._translated(run, action.guard))
            new = self.terms.ite(happens, new, old)
        self.store(run, places, size, new)

    def _input(self, run: Run, edge: Edge, action: Input) -> None:
        terms = self.terms
        bits = action.target.type.bits
        if action.count is not None:
            count = self._value(run, action.count, edge)
            type_ = action.count.type
            zero = terms.constant(0, type_.bits)
            less = terms.slt if type_.signed else terms.ult
            self._prune_unless(run, less(zero, count))
        value = self.fresh_input(run, action.name, bits)
        if action.target.type.is_bool:
            run.assume(terms.ult(value, terms.constant(2, bits)), terms)
        if action.count is not None:
            wide = max(bits, terms.width[count]) + 1
            extend = terms.sign_extend if action.target.type.signed else terms.zero_extend
            extend_count = terms.sign_extend if action.count.type.signed else terms.zero_extend
            chosen, limit = extend(value, wide), extend_count(count, wide)
            run.assume(terms.slt(chosen, limit), terms)
            run.assume(terms.sle(terms.constant(0, wide), chosen), terms)
        run.frames[-1].registers[action.target.index] = value

    def _prune_unless(self, run: Run, condition: int) -> None:
        terms = self.terms
        if condition == terms.true:
            return
        if condition != terms.false:
            fork = run.copy()
            fork.assume(terms.not_(condition), terms)
            self._halt(fork)
            run.assume(condition, terms)
            return
        self._halt(run)
        raise _Ends

    def _halt(self, run: Run) -> None:
        """An assumption fails. What others have seen of the block stays; the thread is stuck."""
        self._block.accesses.update(dict.fromkeys(run.accesses))
        if run.depth or not run.has_changed or run.is_lonely:
            return
        self._move(run, HALTED)

    def _check(self, run: Run, edge: Edge, action: Check) -> None:
        is_checked = action.kind is not CheckKind.UNDEFINED and action.kind in self._checks
        if not is_checked and action.kind not in _GUARDS_AGAINST_UNDEFINED:
            self._keep_in_object(run, edge)
            return
        condition = self._condition(run, action.condition, edge)
        if not is_checked:
            self._fail_unless(run, condition, action.message, action.origin)
            return
        if condition == self.terms.true:
            return
        fork = run.copy()
        fork.assume(self.terms.not_(condition), self.terms)
        self._end(fork, Kind.VIOLATION, action.kind.value, action.origin)
        if condition == self.terms.false:
            raise _Ends
        run.assume(condition, self.terms)

    # --- calls

    def _call(self, run: Run, edge: Edge, action: Call) -> None:
        origin = action.origin
        self._keep_in_object(run, edge)
        arguments = [self._translated(run, item) for item in action.arguments]
        if isinstance(action.callee, str):
            function = self.knowledge.program.functions[action.callee]
        else:
            address = self._translated(run, action.callee)
            value = self.terms.value(address)
            if value is None:
                leaves = self.constants_in(address)
                if leaves is None:
                    raise Trouble("a call through a pointer that is not known", origin)
                for leaf in leaves[1:]:
                    fork = run.copy()
                    constant = self.terms.constant(leaf, self.terms.width[address])
                    fork.assume(self.terms.eq(address, constant), self.terms)
                    try:
                        self._enter_function(
                            fork, edge, self._function_at(fork, leaf, edge), arguments, action
                        )
                        self._pending.append(fork)
                    except Trouble as trouble:
                        self._trouble(fork, trouble.message, trouble.origin)
                constant = self.terms.constant(leaves[0], self.terms.width[address])
                run.assume(self.terms.eq(address, constant), self.terms)
                value = leaves[0]
            function = self._function_at(run, value, edge)
        self._enter_function(run, edge, function, arguments, action)

    def _function_at(self, run: Run, address: int, edge: Edge) -> Function:
        function = self.knowledge.functions.get(address)
        origin = edge.action.origin
        if function is None:
            raise Trouble("a call through a pointer to no function", origin)
        caller = run.frames[-1].shape.function.name
        if function.name not in self.knowledge.callees(caller, edge):
            raise Trouble("a function pointer whose origin is not known", origin)
        return function

    def _enter_function(
        self, run: Run, edge: Edge, function: Function, arguments: list[int], action: Call
    ) -> None:
        shape = self.knowledge.shape(function.name)
        caller = run.frames[-1]
        if caller.depth > 200:
            raise Trouble("too deep recursion", action.origin)
        registers: dict[int, int] = {}
        for index in range(function.parameters):
            bits = function.registers[index].type.bits
            if index >= len(arguments):
                registers[index] = self.fresh_input(run, "missing argument", bits)
            else:
                registers[index] = self._passed(
                    arguments[index],
                    action.arguments[index].type,
                    function.registers[index].type,
                    action.origin,
                )
        caller.call = edge
        run.stack = (*run.stack, (caller.shape.function.name, edge.source))
        base = run.stack_page
        run.stack_page -= shape.frame_pages
        if run.stack_page < run.heap_page:
            raise Trouble("the thread's address space is used up", action.origin)
        run.frames.append(OpenFrame(shape, base, [], registers, {}, caller.depth + 1))
        run.location = 0

    def _return(self, run: Run, edge: Edge, action: Return) -> None:
        value = None if action.value is None else self._value(run, action.value, edge)
        frame = run.frames[-1]
        self._end_frame(run, frame)
        if frame.depth == 0:
            self._end_thread(run)
        run.stack_page = frame.base
        run.frames.pop()
        *rest, (_, source) = run.stack
        run.stack = tuple(rest)
        if not run.frames:
            suspended = run.suspended.pop()
            waiting = self.knowledge.shape(suspended.function).function.edges[source][0]
            caller = self._resumed(run, suspended, frame.depth - 1, waiting.target)
            caller.call = waiting
            run.frames.append(caller)
        caller = run.frames[-1]
        call = caller.call
        assert call is not None and isinstance(call.action, Call)
        target = call.action.target
        if target is not None:
            if value is None:
                value = self.fresh_input(run, "missing return value", target.type.bits)
            elif action.value is not None:
                value = self._passed(value, action.value.type, target.type, action.origin)
            caller.registers[target.index] = value
        caller.call = None
        run.location = call.target

    def _end_frame(self, run: Run, frame: OpenFrame) -> None:
        for index in list(frame.slots):
            self._end_slot(run, frame, index)
        for page in frame.allocated:
            self.end_heap_object(run, page)

    def _end_slot(self, run: Run, frame: OpenFrame, index: int) -> None:
        address = frame.slots.pop(index, 0)
        if address:
            self.end_life(run, address, frame.shape.function.slots[index].size)

    def _enter(self, run: Run, action: EnterScope) -> None:
        frame = run.frames[-1]
        shape = frame.shape
        for index in action.slots:
            self._end_slot(run, frame, index)
            slot = shape.function.slots[index]
            page = frame.base - shape.frame_pages + shape.slot_pages[index]
            address = page << self.knowledge.page_bits
            frame.slots[index] = address
            self.begin_life(run, address, slot.size, slot, None, action.origin)

    # --- the rest

    def _rarer(self, run: Run, edge: Edge) -> None:
        action = edge.action
        frame = run.frames[-1]
        match action:
            case AtomicBegin():
                run.depth += 1
            case AtomicEnd():
                run.depth -= 1
                if run.depth < 0:
                    raise Trouble("end of an atomic section that never began", action.origin)
            case Allocate():
                size = self.terms.value(self._value(run, action.size, edge))
                if size is None:
                    raise Trouble("an allocation of unknown size", action.origin)
                if action.size.type.signed and size >> (action.size.type.bits - 1):
                    raise Trouble("an allocation of negative size", action.origin)
                if size > _LARGEST_ALLOCATION:
                    raise Trouble(f"an allocation of {size} bytes", action.origin)
                address = self.allocate(run, size, action.zeroed, action.storage, edge)
                frame.registers[action.target.index] = self.terms.constant(
                    address, action.target.type.bits
                )
            case Free():
                self._free(run, edge, action)
            case ObjectSize():
                item = self._heap_object(run, edge, action.address, action.origin)
                address = item.page << self.knowledge.page_bits
                run.accesses.append(Access(address, max(item.size, 1), False, None))
                frame.registers[action.target.index] = self.terms.constant(
                    item.size, action.target.type.bits
                )
            case Spawn():
                self._spawn(run, edge, action)
            case EndThread():
                for open_frame in run.frames:
                    self._end_frame(run, open_frame)
                for suspended in run.suspended:
                    self._end_suspended(run, suspended)
                self._end_thread(run)
            case EndProcess():
                self._keep_in_object(run, edge)
                self._block.accesses.update(dict.fromkeys(run.accesses))
                self._block.ends_process = True
                raise _Ends
            case Unsupported():
                raise Trouble(f"unsupported: {action.message}", action.origin)
            case _:
                raise Trouble(f"unsupported: {type(action).__name__}", action.origin)
        self._goto(run, edge)

    def _free(self, run: Run, edge: Edge, action: Free) -> None:
        if self.terms.value(self._value(run, action.address, edge)) == 0:
            return
        item = self._heap_object(run, edge, action.address, action.origin)
        self.end_heap_object(run, item.page)

    def _heap_object(self, run: Run, edge: Edge, expr: Expr, origin: Origin) -> HeapObject:
        value = self.terms.value(self._value(run, expr, edge))
        if value is None:
            raise Trouble("free of a pointer that is not known", origin)
        item = run.heap.get(value >> self.knowledge.page_bits)
        if item is None or value & self.knowledge.page_mask or item.storage == "stack":
            raise Trouble("free of a pointer that is not from malloc", origin)
        return item

    def _spawn(self, run: Run, edge: Edge, action: Spawn) -> None:
        knowledge = self.knowledge
        function = self.terms.value(self._value(run, action.function, edge))
        if function is None:
            raise Trouble("a thread whose function is not known", action.origin)
        start = self._function_at(run, function, edge)
        argument = self._translated(run, action.argument)
        number = len(run.source.threads) + len(run.spawned) + 1
        if number > knowledge.most_threads:
            raise Trouble("too many threads", action.origin)
        shape = knowledge.shape(start.name)
        page = knowledge.program.first_free_page + (number - 1) * knowledge.arena_pages
        top = page + knowledge.arena_pages
        for item in knowledge.thread_locals:
            address = page << knowledge.page_bits
            contents = item.initial.ljust(item.size, b"\0")
            self.begin_life(run, address, item.size, item, contents, action.origin)
            page += knowledge.pages_of(item.size)
        if page + shape.frame_pages > top:
            raise Trouble("the thread's address space is used up", action.origin)
        registers: dict[int, int] = {}
        if start.parameters:
            registers[0] = self._passed(
                argument, action.argument.type, start.registers[0].type, action.origin
            )
        frame = OpenFrame(shape, top, [], registers, {}, 0)
        run.spawned.append((page, top - shape.frame_pages, frame))
        run.is_alone = False
        run.is_lonely = False
        run.has_changed = True
        self._block.spawns = True
        run.frames[-1].registers[action.target.index] = self.terms.constant(
            number, action.target.type.bits
        )

    def _end_suspended(self, run: Run, frame: Frame) -> None:
        shape = self.knowledge.shape(frame.function)
        for index, address in frame.slots:
            self.end_life(run, address, shape.function.slots[index].size)
        for page in frame.allocated:
            self.end_heap_object(run, page)

    def _end_thread(self, run: Run) -> None:
        if run.number > 1:
            for item in self.knowledge.thread_locals:
                self.end_life(run, self.address_of_static(item, run.number), item.size)
        self._move(run, ENDED)
        raise _Ends

    # --- what a run comes to

    def _trouble(self, run: Run, message: str, origin: Origin) -> None:
        self._end(run, Kind.TROUBLE, message, origin)

    def _end(self, run: Run, kind: Kind, message: str, origin: Origin) -> None:
        self._block.accesses.update(dict.fromkeys(run.accesses))
        origin = self._user_origin(run, origin)
        step = Step(tuple(run.conditions), {}, frozenset(var for _, var in run.inputs))
        self._block.outcomes.append(
            Outcome(
                kind, step, None, tuple(run.accesses), tuple(run.inputs), message, origin
            )
        )

    def _context(self, run: Run) -> Edge | None:
        """The call in the user's code that led into the library."""
        functions = self.knowledge.program.functions
        for name, source in reversed(run.stack):
            if not functions[name].library:
                return functions[name].edges[source][0]
        return None

    def _user_origin(self, run: Run, origin: Origin) -> Origin:
        """The place of the running action, or of the call that led into the library."""
        if not run.frames or not run.frames[-1].shape.function.library:
            return origin
        functions = self.knowledge.program.functions
        for name, source in reversed(run.stack):
            if not functions[name].library:
                return functions[name].edges[source][0].action.origin
        return origin

    def _arrive(self, run: Run) -> None:
        """The block ends where the thread stands now."""
        frames = list(run.suspended)
        updates: dict[int, int] = {}
        first = len(frames)
        last = len(run.frames) - 1
        for position, frame in enumerate(run.frames):
            if position < last:
                assert frame.call is not None and isinstance(frame.call.action, Call)
                live = frame.shape.live[frame.call.target]
                target = frame.call.action.target
                if target is not None:
                    live &= ~(1 << target.index)
                location = frame.call.source
            else:
                live = frame.shape.live[run.location]
                location = run.location
            frames.append(
                self._closed(run, run.number, frame, first + position, live, location, updates)
            )
        if run.depth:
            self._block.pauses_in_section = True
        thread = Thread(
            Status.RUNNING, run.depth, run.heap_page, run.stack_page, tuple(frames)
        )
        self._move(run, thread, updates)

    def _closed(
        self,
        run: Run,
        number: int,
        frame: OpenFrame,
        depth: int,
        live: int,
        location: int,
        updates: dict[int, int],
    ) -> Frame:
        known: list[tuple[int, int]] = []
        function = frame.shape.function
        for index, declared in enumerate(function.registers):
            if not live >> index & 1:
                continue
            bits = declared.type.bits
            term = frame.registers.get(index)
            if term is None:
                term = self.fresh_input(run, "uninitialised", bits)
            value = self.terms.value(term)
            if value is not None and (
                self.knowledge.is_explicit_register(function.name, index, declared.type)
                or self.knowledge.is_address(value, bits)
            ):
                known.append((index, value))
                continue
            variable = self.register_variable(number, depth, index, bits)
            if variable != term:
                updates[variable] = term
        return Frame(
            function.name,
            location,
            frame.base,
            tuple(frame.allocated),
            tuple(known),
            tuple(sorted(frame.slots.items())),
        )

    def _move(self, run: Run, thread: Thread, updates: dict[int, int] | None = None) -> None:
        updates = {} if updates is None else updates
        threads = list(run.source.threads)
        threads[run.number - 1] = thread
        for position, (heap_page, stack_page, frame) in enumerate(run.spawned):
            number = len(run.source.threads) + position + 1
            live = frame.shape.live[0]
            closed = self._closed(run, number, frame, 0, live, 0, updates)
            threads.append(Thread(Status.RUNNING, 0, heap_page, stack_page, (closed,)))
        cells: tuple[tuple[Cell, int | None], ...] = self.closed_cells(run, updates)
        heap = tuple(run.heap[page] for page in sorted(run.heap))
        target = Location(tuple(threads), heap, cells)
        inputs = frozenset(variable for _, variable in run.inputs)
        self._block.accesses.update(dict.fromkeys(run.accesses))
        self._block.outcomes.append(
            Outcome(
                Kind.MOVE,
                Step(tuple(run.conditions), updates, inputs),
                target,
                tuple(run.accesses),
                tuple(run.inputs),
                is_loop=run.is_loop,
                spawns=bool(run.spawned),
            )
        )


@dataclass(slots=True, frozen=True)
class _Surroundings:
    """All of a location that a block of a thread depends on: the thread itself, what there is in
    memory, and who else is there."""

    number: int
    thread: Thread
    others: tuple[tuple[Status, tuple[tuple[str, tuple[tuple[int, int], ...]], ...]], ...]
    heap: tuple[HeapObject, ...]
    cells: tuple[tuple[Cell, int | None], ...]

    @staticmethod
    def of(location: Location, number: int) -> _Surroundings:
        others = tuple(
            (
                thread.status,
                tuple((frame.function, frame.slots) for frame in thread.frames if frame.slots),
            )
            for position, thread in enumerate(location.threads, 1)
            if position != number
        )
        thread = location.threads[number - 1]
        return _Surroundings(number, thread, others, location.heap, location.cells)


def _moved(way: Outcome, similar: Location, location: Location, number: int) -> Outcome:
    """A way through a block from another location, where the other threads stand elsewhere."""
    if way.target is None:
        return way
    threads = list(location.threads)
    threads[number - 1] = way.target.threads[number - 1]
    threads += way.target.threads[len(similar.threads) :]
    target = Location(tuple(threads), way.target.heap, way.target.cells)
    return replace(way, target=target)
