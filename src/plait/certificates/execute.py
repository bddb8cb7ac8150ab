"""Symbolic execution of one step of one thread, by the rules of docs/certificates.md.

Actions mean what the reference interpreter makes of them; values that it leaves open until they
are used (of variables and memory without an initial value) are arbitrary from the beginning here.
A step forks where a branch, an address, the size or the target of something depends on values that
are not known; each path has the facts under which it is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from plait.certificates.decide import Decider, Facts
from plait.certificates.memory import Memory
from plait.certificates.outcomes import Ending, Outcome, Step, Trouble
from plait.certificates.pointers import Move, Moves
from plait.certificates.state import Access, ActiveFrame, Path, Registers, Situation, Stack
from plait.certificates.world import LARGEST_ALLOCATION, World, contents
from plait.errors import UnsupportedCode
from plait.logic.translate import Place, is_not_zero, translate, translate_condition
from plait.model.actions import (
    NOWHERE,
    Action,
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

MOST_VALUES = 256
MOST_PATHS = 4096
MOST_ACTIONS = 200_000

_ALWAYS_SWITCH_POINTS = (AtomicBegin, Wait, Spawn, EndThread, EndProcess, Free)


class Executor:
    """Executes steps of one program; `switch_points` are locations by function."""

    def __init__(
        self,
        world: World,
        specification: Specification,
        switch_points: Mapping[str, frozenset[int]],
        decider: Decider,
    ) -> None:
        self._world = world
        self._program = world.program
        self._violations = specification.checks - {CheckKind.UNDEFINED}
        self._switch_points = switch_points
        self._decider = decider
        self._terms = decider.terms
        self._moves = Moves()
        self._outcomes: list[Outcome] = []

    def step(self, situation: Situation, thread: int, facts: Facts) -> Step:
        """All paths of a thread's step from the states of a location in which the facts hold."""
        path = Path(situation, thread, facts, Memory(self._terms, situation.bytes))
        path.alone = situation.location.running == [thread]
        path.starts_free = path.depth > 0 or self._is_switch_point(path)
        self._outcomes = []
        pending = [path]
        while pending:
            path = pending.pop()
            if len(pending) + len(self._outcomes) > MOST_PATHS:
                self._end(path, Ending.TROUBLE, f"more than {MOST_PATHS} paths in one step")
                break
            pending += reversed(self._advance(path))
        return Step(thread, self._outcomes)

    # --- where a step stops

    def _advance(self, path: Path) -> list[Path]:
        """Execute actions up to the end of the path or to the first choice."""
        while True:
            if self._stops(path):
                self._end(path, Ending.MOVED)
                return []
            successors = self._execute(path)
            if len(successors) != 1:
                return successors
            path = successors[0]

    def _stops(self, path: Path) -> bool:
        if not path.frames or path.is_halted:
            return True
        if path.is_first:
            return False
        if path.depth == 0 and not path.alone and self._is_switch_point(path):
            return True
        return path.frame.stack in path.executed

    def _is_switch_point(self, path: Path) -> bool:
        frame = path.frame
        if frame.location in self._switch_points.get(frame.function.name, ()):
            return True
        for edge in frame.function.edges[frame.location]:
            if isinstance(edge.action, _ALWAYS_SWITCH_POINTS):
                return True
            if isinstance(edge.action, Return) and len(path.frames) == 1:
                return True
        return False

    def _end(self, path: Path, ending: Ending, message: str = "") -> None:
        self._outcomes.append(Outcome(ending, path, self._origin(path), message))

    def _origin(self, path: Path) -> Origin:
        """Where the path is, or the call of the library function that it is in."""
        for frame in reversed(path.frames):
            edges = frame.function.edges[frame.location]
            if edges and not frame.function.library:
                return edges[0].action.origin
        return NOWHERE

    # --- actions

    def _execute(self, path: Path) -> list[Path]:
        """Execute the action, or take the branches, at the path's location."""
        frame = path.frame
        path.length += 1
        if path.length % 256 == 0:
            self._decider.check_time()
        path.executed.add(frame.stack)
        edges = frame.function.edges[frame.location]
        try:
            if path.length > MOST_ACTIONS:
                raise Trouble(f"more than {MOST_ACTIONS} actions in one step")
            if not edges:
                raise Trouble("control comes to a location that nothing leaves")
            if len(edges) > 1 or isinstance(edges[0].action, Guard):
                successors = self._branch(path, edges)
            else:
                if isinstance(edges[0].action, AtomicBegin) and path.is_first:
                    path.section_is_free = True
                successors = self._act(path, edges[0])
        except Trouble as trouble:
            self._end(path, Ending.TROUBLE, trouble.message)
            return []
        except UnsupportedCode as error:
            self._end(path, Ending.TROUBLE, str(error))
            return []
        for item in successors:
            item.is_first = False
        return successors

    def _branch(self, path: Path, edges: list[Edge]) -> list[Path]:
        """The model promises that exactly one guard holds, so the last one needs no test."""
        successors: list[Path] = []
        facts: Facts | None = path.facts
        for edge in edges[:-1]:
            assert isinstance(edge.action, Guard)
            if facts is None:
                return successors
            path.facts = facts
            condition = self._condition(path, edge.action.condition)
            taken = facts.with_(condition)
            if taken is not None:
                fork = path.fork(taken)
                fork.frame.location = edge.target
                successors.append(fork)
            facts = facts.with_(self._terms.not_(condition))
        if facts is not None:
            path.facts = facts
            path.frame.location = edges[-1].target
            successors.append(path)
        return successors

    def _act(self, path: Path, edge: Edge) -> list[Path]:
        action = edge.action
        match action:
            case Skip() | Fence():
                return self._go(path, edge)
            case Assign():
                value = self._value(path, action.value)
                path.frame.registers[action.target.index] = value
                return self._go(path, edge)
            case Load() | Store() | ReadModifyWrite():
                return self._for_each(
                    path,
                    self._value(path, action.address),
                    lambda chosen, address: self._access(chosen, edge, action, address),
                )
            case Input():
                return self._input(path, edge, action)
            case Prune():
                return self._prune(path, edge, self._condition(path, action.condition))
            case Wait():
                if action.on is not None:
                    self._check_moves(path, action.on)
                condition = self._condition(path, action.condition)
                return self._unless(path, edge, condition, Ending.NOTHING, "blocked")
            case Check():
                return self._check(path, edge, action)
            case Call():
                return self._call(path, action)
            case Return():
                return self._return(path, action)
            case EnterScope():
                self._enter_scope(path, action.slots)
                return self._go(path, edge)
            case LeaveScope():
                for index in action.slots:
                    self._destroy_slot(path, path.frame, index)
                return self._go(path, edge)
            case Allocate():
                size = self._value(path, action.size)
                return self._for_each(
                    path, size, lambda chosen, bytes_: self._allocate(chosen, edge, action, bytes_)
                )
            case _:
                return self._rarer_action(path, edge, action)

    def _rarer_action(self, path: Path, edge: Edge, action: Action) -> list[Path]:
        match action:
            case Free():
                return self._for_each(
                    path,
                    self._value(path, action.address),
                    lambda chosen, address: self._free(chosen, edge, address),
                )
            case ObjectSize():
                return self._for_each(
                    path,
                    self._value(path, action.address),
                    lambda chosen, address: self._object_size(chosen, edge, action, address),
                )
            case AtomicBegin():
                path.depth += 1
                return self._go(path, edge)
            case AtomicEnd():
                path.depth -= 1
                if path.depth < 0:
                    raise Trouble("end of an atomic section that never began")
                if path.depth == 0:
                    path.section_is_free = False
                return self._go(path, edge)
            case Spawn():
                argument = self._value(path, action.argument)
                return self._for_each(
                    path,
                    self._value(path, action.function),
                    lambda chosen, address: self._spawn(chosen, edge, action, address, argument),
                )
            case EndThread():
                for frame in reversed(path.frames):
                    self._destroy_locals(path, frame)
                return self._end_thread(path)
            case EndProcess():
                self._value(path, action.status)
                self._end(path, Ending.EXIT)
                return []
            case Output():
                for expr in action.arguments:
                    self._check_moves(path, expr)
                return self._go(path, edge)
            case Unsupported():
                raise Trouble(f"unsupported: {action.message}")
        raise Trouble(f"{type(action).__name__} is not modelled")

    @staticmethod
    def _go(path: Path, edge: Edge) -> list[Path]:
        path.frame.location = edge.target
        return [path]

    def _for_each(
        self, path: Path, term: int, then: Callable[[Path, int], list[Path]]
    ) -> list[Path]:
        """Go on with every value that a term can have."""
        constant = self._terms.value(term)
        if constant is not None:
            return then(path, constant)
        choices = list(path.facts.values(term, MOST_VALUES))
        if len(choices) > MOST_VALUES:
            raise Trouble(f"an address or a size can have more than {MOST_VALUES} values")
        successors: list[Path] = []
        for value, facts in choices:
            chosen = path.fork(facts)
            try:
                successors += then(chosen, value)
            except Trouble as trouble:
                self._end(chosen, Ending.TROUBLE, trouble.message)
        return successors

    # --- memory

    def _access(
        self, path: Path, edge: Edge, action: Load | Store | ReadModifyWrite, address: int
    ) -> list[Path]:
        registers = path.frame.registers
        match action:
            case Load():
                scalar = action.target.type
                value = self._load(path, edge, address, scalar)
                registers[action.target.index] = value
            case Store():
                value = self._value(path, action.value)
                self._store(path, edge, address, value)
            case ReadModifyWrite():
                scalar = action.old.type
                registers[action.old.index] = self._load(path, edge, address, scalar)
                return self._modify(path, edge, action, address)
        return self._go(path, edge)

    def _modify(self, path: Path, edge: Edge, action: ReadModifyWrite, address: int) -> list[Path]:
        successors: list[Path] = []
        new = self._value(path, action.new)
        if action.guard is not None:
            guard = self._condition(path, action.guard)
            without = path.facts.with_(self._terms.not_(guard))
            if without is not None:
                successors += self._go(path.fork(without), edge)
            written = path.facts.with_(guard)
            if written is None:
                return successors
            path.facts = written
        self._store(path, edge, address, new)
        return successors + self._go(path, edge)

    def _load(self, path: Path, edge: Edge, address: int, scalar: Scalar) -> int:
        self._note(path, address, scalar.size, edge, is_write=False)
        page = self._object_of(path, address, scalar.size)
        constant = self._world.constants.get(page)
        if constant is None:
            value = path.memory.read(address, scalar.size)
        else:
            offset = address - (page << self._world.page_bits)
            data = constant[offset : offset + scalar.size]
            value = self._terms.constant(int.from_bytes(data, "little"), scalar.bits)
        return self._canonical(value, scalar)

    def _store(self, path: Path, edge: Edge, address: int, value: int) -> None:
        size = self._terms.width[value] // 8
        self._note(path, address, size, edge, is_write=True)
        if self._object_of(path, address, size) in self._world.constants:
            raise Trouble("write to a read-only object")
        path.memory.write(address, value)
        path.wrote = True

    def _object_of(self, path: Path, address: int, size: int) -> int:
        """The first page of the live object in which all accessed bytes are."""
        world = self._world
        page = world.first_page(path.live, address >> world.page_bits)
        if page is not None:
            room = path.live.get(page)
            assert room is not None
            if address - (page << world.page_bits) + size <= room:
                return page
        if address >> world.page_bits == 0:
            raise Trouble("access through a null pointer")
        raise Trouble(f"access to {size} bytes at {address:#x}, which is in no live object")

    def _note(self, path: Path, address: int, size: int, edge: Edge, *, is_write: bool) -> None:
        origin = edge.action.origin
        local = not path.is_free
        path.accesses.append(
            Access(address, address + max(size, 1), is_write, local, path.facts, origin)
        )

    def _canonical(self, value: int, scalar: Scalar) -> int:
        """A value of a type, given its bits: a _Bool is 0 or 1, whatever they are."""
        if scalar.is_bool:
            return self._terms.zero_extend(is_not_zero(self._terms, value), scalar.bits)
        return value

    # --- lifetimes

    def _create(self, path: Path, page: int, size: int, data: bytes | None) -> None:
        """`data` is None where the contents are arbitrary; zeros follow it."""
        path.live.create(page, size)
        path.memory.create(page << self._world.page_bits, size, data)
        self._note_life(path, page, size)

    def _destroy(self, path: Path, page: int) -> None:
        size = path.live.get(page)
        if size is None:
            raise Trouble("the life of an object ends that does not live")
        path.live.destroy(page)
        self._note_life(path, page, size)

    def _note_life(self, path: Path, page: int, size: int) -> None:
        edges = path.frame.function.edges[path.frame.location] if path.frames else []
        origin = edges[0].action.origin if edges else NOWHERE
        start = page << self._world.page_bits
        local = not path.is_free
        path.accesses.append(Access(start, start + max(size, 1), True, local, path.facts, origin))
        path.wrote = True

    def _enter_scope(self, path: Path, slots: tuple[int, ...]) -> None:
        frame = path.frame
        layout = self._world.layout(frame.function)
        for index in slots:
            self._destroy_slot(path, frame, index)
            page = frame.base - layout.pages + layout.slots[index]
            self._create(path, page, frame.function.slots[index].size, None)
            frame.slots[index] = page << self._world.page_bits

    def _destroy_slot(self, path: Path, frame: ActiveFrame, index: int) -> None:
        address = frame.slots.pop(index, None)
        if address is not None:
            self._destroy(path, address >> self._world.page_bits)

    def _destroy_locals(self, path: Path, frame: ActiveFrame) -> None:
        for address in frame.slots.values():
            self._destroy(path, address >> self._world.page_bits)
        for page, _ in frame.allocated:
            self._destroy(path, page)

    def _take_stack(self, path: Path, pages: int) -> None:
        path.stack_page -= pages
        if path.stack_page < path.heap_page:
            raise Trouble("the thread's address space is used up")

    def _allocate(self, path: Path, edge: Edge, action: Allocate, size: int) -> list[Path]:
        world = self._world
        scalar = action.size.type
        if scalar.signed and size >> (scalar.bits - 1):
            size -= 1 << scalar.bits
        if not 0 <= size <= LARGEST_ALLOCATION:
            raise Trouble(f"allocation of {size} bytes")
        if action.storage in ("heap", "library"):
            page = path.heap_page
            path.heap_page += world.pages_of(size)
            self._take_stack(path, 0)
            path.heap[page] = size, action.storage
        else:
            self._take_stack(path, world.pages_of(size))
            page = path.stack_page
            path.frame.allocated = (*path.frame.allocated, (page, size))
        self._create(path, page, size, b"" if action.zeroed else None)
        address = self._terms.constant(page << world.page_bits, action.target.type.bits)
        path.frame.registers[action.target.index] = address
        return self._go(path, edge)

    def _heap_object(self, path: Path, address: int) -> tuple[int, int]:
        page = address >> self._world.page_bits
        if page << self._world.page_bits != address or page not in path.heap:
            raise Trouble("free of a pointer that is not the start of a live heap object")
        return page, path.heap[page][0]

    def _free(self, path: Path, edge: Edge, address: int) -> list[Path]:
        if address:
            page, size = self._heap_object(path, address)
            self._note(path, address, size, edge, is_write=True)
            self._destroy(path, page)
            del path.heap[page]
        return self._go(path, edge)

    def _object_size(self, path: Path, edge: Edge, action: ObjectSize, address: int) -> list[Path]:
        _, size = self._heap_object(path, address)
        self._note(path, address, size, edge, is_write=False)
        value = self._terms.constant(size, action.target.type.bits)
        path.frame.registers[action.target.index] = value
        return self._go(path, edge)

    # --- inputs, conditions

    def _arbitrary(self, scalar: Scalar, name: str) -> int:
        if scalar.is_bool:
            return self._terms.zero_extend(self._terms.fresh(name, 1), scalar.bits)
        return self._terms.fresh(name, scalar.bits)

    def _input(self, path: Path, edge: Edge, action: Input) -> list[Path]:
        terms, scalar = self._terms, action.target.type
        value = self._arbitrary(scalar, "input")
        if action.count is None or action.indeterminate:
            path.frame.registers[action.target.index] = value
            return self._go(path, edge)
        # One bit more than either type has, so that both are read as the numbers they are.
        kind = action.count.type
        width = max(scalar.bits, kind.bits) + 1
        extend = terms.sign_extend if kind.signed else terms.zero_extend
        count = extend(self._value(path, action.count), width)
        chosen = (terms.sign_extend if scalar.signed else terms.zero_extend)(value, width)
        zero = terms.constant(0, width)
        some = terms.slt(zero, count)
        paths = self._prune(path, edge, some)
        for item in paths:
            if item.is_halted:
                continue
            inside = terms.and_(terms.sle(zero, chosen), terms.slt(chosen, count))
            facts = item.facts.with_(inside)
            if facts is None:
                raise Trouble("an input that has no value")
            item.facts = facts
            item.frame.registers[action.target.index] = value
        return paths

    def _prune(self, path: Path, edge: Edge, condition: int) -> list[Path]:
        """Where the condition fails, the thread stops for good. What it has done before counts; in
        a section, or without any effect, it is as if the step had not begun. Nobody is there to
        see anything if the thread is alone."""
        stopped = path.facts.with_(self._terms.not_(condition))
        successors: list[Path] = []
        if stopped is not None:
            fork = path.fork(stopped)
            if path.wrote and path.depth == 0 and not path.alone:
                fork.is_halted = True
                successors.append(fork)
            else:
                self._end(fork, Ending.NOTHING, "an assumption fails")
        held = path.facts.with_(condition)
        if held is not None:
            path.facts = held
            successors += self._go(path, edge)
        return successors

    def _unless(
        self, path: Path, edge: Edge, condition: int, ending: Ending, message: str
    ) -> list[Path]:
        """Go on where the condition holds; the path ends where it does not."""
        failed = path.facts.with_(self._terms.not_(condition))
        if failed is not None:
            self._end(path.fork(failed), ending, message)
        held = path.facts.with_(condition)
        if held is None:
            return []
        path.facts = held
        return self._go(path, edge)

    def _check(self, path: Path, edge: Edge, action: Check) -> list[Path]:
        condition = self._condition(path, action.condition)
        message = f"{action.kind.value}: {action.message}"
        if action.kind in self._violations:
            return self._unless(path, edge, condition, Ending.VIOLATION, message)
        if action.kind in (CheckKind.UNDEFINED, CheckKind.VALID_DEREF, CheckKind.VALID_FREE):
            return self._unless(path, edge, condition, Ending.TROUBLE, message)
        return self._go(path, edge)

    # --- calls and threads

    def _call(self, path: Path, action: Call) -> list[Path]:
        arguments = [(self._value(path, item), item.type) for item in action.arguments]
        if isinstance(action.callee, str):
            function = self._program.functions[action.callee]
            return self._enter(path, function, arguments)
        return self._for_each(
            path,
            self._value(path, action.callee),
            lambda chosen, address: self._enter(chosen, self._function_at(address), arguments),
        )

    def _function_at(self, address: int) -> Function:
        function = self._world.functions.get(address)
        if function is None:
            raise Trouble(f"a pointer to no function ({address:#x})")
        return function

    def _enter(
        self, path: Path, function: Function, arguments: list[tuple[int, Scalar]]
    ) -> list[Path]:
        frame = self._new_frame(function, path.stack_page, path.frame.stack)
        for index, (value, scalar) in enumerate(arguments[: function.parameters]):
            target = function.registers[index].type
            frame.registers[index] = self._reinterpreted(value, scalar, target)
        path.frames.append(frame)
        self._take_stack(path, self._world.layout(function).pages)
        return [path]

    def _new_frame(self, function: Function, base: int, below: Stack) -> ActiveFrame:
        """Nothing is said about registers that were not assigned."""

        def make(index: int) -> int:
            return self._arbitrary(function.registers[index].type, "unassigned")

        return ActiveFrame(function, 0, base, (), Registers(make), {}, below)

    def _reinterpreted(self, value: int, source: Scalar, target: Scalar) -> int:
        """The value of another type that has the same low bits."""
        if source == target:
            return value
        if target.bits <= source.bits:
            bits = self._terms.extract(value, 0, target.bits)
        else:
            bits = self._terms.zero_extend(value, target.bits)
        return self._canonical(bits, target)

    def _return(self, path: Path, action: Return) -> list[Path]:
        value = None if action.value is None else self._value(path, action.value)
        self._destroy_locals(path, path.frame)
        if len(path.frames) == 1:
            return self._end_thread(path)
        path.stack_page = path.frame.base
        path.frames.pop()
        caller = path.frames[-1] = path.frame.copy()
        edge = caller.function.edges[caller.location][0]
        call = edge.action
        assert isinstance(call, Call)
        if call.target is not None:
            target = call.target.type
            if value is None or action.value is None:
                result = self._arbitrary(target, "missing result")
            else:
                result = self._reinterpreted(value, action.value.type, target)
            caller.registers[call.target.index] = result
        return self._go(path, edge)

    def _end_thread(self, path: Path) -> list[Path]:
        if path.thread > 1:
            for _, page in self._world.thread_locals(path.thread):
                self._destroy(path, page)
        path.frames = []
        path.depth = 0
        return [path]

    def _spawn(
        self, path: Path, edge: Edge, action: Spawn, address: int, argument: int
    ) -> list[Path]:
        world = self._world
        function = self._function_at(address)
        number = len(path.situation.location.threads) + len(path.spawned) + 1
        if number > world.most_threads:
            raise Trouble(f"more than {world.most_threads} threads")
        if world.thread_local_pages() + world.layout(function).pages > world.arena_pages:
            raise Trouble("the thread's address space is used up")
        for item, page in world.thread_locals(number):
            self._create(path, page, item.size, contents(item))
        frame = self._new_frame(function, world.arena(number)[1], ())
        if function.parameters:
            target = function.registers[0].type
            frame.registers[0] = self._reinterpreted(argument, action.argument.type, target)
        path.spawned.append(frame)
        path.wrote = True
        if path.alone:
            # The rest of the section, if this is in one, belongs to the same moment.
            path.alone = False
            path.section_is_free = path.depth > 0
        value = self._terms.constant(number, action.target.type.bits)
        path.frame.registers[action.target.index] = value
        return self._go(path, edge)

    # --- expressions

    def _value(self, path: Path, expr: Expr) -> int:
        self._check_moves(path, expr)
        return self._translated(path, expr)

    def _translated(self, path: Path, expr: Expr) -> int:
        addresses = self._addresses(path)
        return translate(self._terms, expr, path.frame.registers, addresses)

    def _condition(self, path: Path, expr: Expr) -> int:
        self._check_moves(path, expr)
        return self._truth(path, expr)

    def _truth(self, path: Path, expr: Expr) -> int:
        addresses = self._addresses(path)
        return translate_condition(self._terms, expr, path.frame.registers, addresses)

    def _addresses(self, path: Path) -> Callable[[Place], int]:
        def address_of(place: Place) -> int:
            match place:
                case StaticAddress():
                    value = self._static_address(path, place)
                case FrameAddress():
                    value = path.frame.slots.get(place.slot.index, 0)
                case FunctionAddress():
                    value = self._program.address_of(self._program.functions[place.function])
                case CurrentThread():
                    value = path.thread
            return self._terms.constant(value, place.type.bits)

        return address_of

    def _static_address(self, path: Path, place: StaticAddress) -> int:
        if not place.object.thread_local:
            return self._program.address_of(place.object)
        for item, page in self._world.thread_locals(path.thread):
            if item is place.object:
                return page << self._world.page_bits
        raise Trouble("a thread-local object that the program does not have")

    def _check_moves(self, path: Path, expr: Expr) -> None:
        for move in self._moves(expr):
            self._check_move(path, move)

    def _check_move(self, path: Path, move: Move) -> None:
        """Trouble if a pointer can leave the pages of its object."""
        terms, bits = self._terms, self._world.page_bits
        facts: Facts | None = path.facts
        for guard, is_zero in move.guards:
            truth = self._truth(path, guard)
            assert facts is not None
            facts = facts.with_(terms.not_(truth) if is_zero else truth)
            if facts is None:
                return
        result = self._translated(path, move.expr)
        if isinstance(move.expr, PointerAdd):
            base = self._translated(path, move.expr.base)
        else:
            base = self._addresses(path)(move.expr)
        width = terms.width[base] - bits
        from_page = terms.extract(base, bits, width)
        to_page = terms.extract(result, bits, width)
        null = terms.eq(from_page, terms.constant(0, width))
        leaves = terms.and_(terms.ne(from_page, to_page), terms.not_(null))
        assert facts is not None
        outside = facts.with_(leaves)
        if outside is None:
            return
        choices = list(outside.values(from_page, MOST_VALUES))
        if len(choices) > MOST_VALUES:
            raise Trouble("pointer arithmetic on too many different objects")
        for page, chosen in choices:
            self._check_leaving(path, page, to_page, chosen)

    def _check_leaving(self, path: Path, page: int, to_page: int, facts: Facts) -> None:
        """That the move stays inside depends on the life of the object, as an access does."""
        terms, world = self._terms, self._world
        first = world.first_page(path.live, page)
        size = None if first is None else path.live.get(first)
        if first is None or size is None:
            raise Trouble("pointer arithmetic leaves its object")
        width = terms.width[to_page]
        low = terms.ule(terms.constant(first, width), to_page)
        high = terms.ult(to_page, terms.constant(first + world.pages_of(size), width))
        if facts.with_(terms.not_(terms.and_(low, high))) is not None:
            raise Trouble("pointer arithmetic leaves its object")
        start = first << world.page_bits
        local = not path.is_free
        path.accesses.append(Access(start, start + max(size, 1), False, local, facts, NOWHERE))
