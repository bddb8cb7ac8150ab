"""Symbolic execution of one step of one thread, by the rules of docs/certificates.md.

Actions mean what the reference interpreter makes of them; values that it leaves open until they
are used (of variables and memory without an initial value) are arbitrary from the beginning here.
A step forks where a branch, an address, the size or the target of something depends on values that
are not known; each path has the facts under which it is taken.
"""

from __future__ import annotations

from collections.abc import Mapping

from plait.certificates.decide import Decider, Facts
from plait.certificates.document import Cell
from plait.certificates.evaluate import MOST_VALUES
from plait.certificates.memory import Memory
from plait.certificates.objects import Objects
from plait.certificates.outcomes import Ending, Lost, PathEnds, Step, Trouble
from plait.certificates.state import ActiveFrame, Path, Registers, Situation, Stack
from plait.certificates.world import World
from plait.model.actions import (
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
from plait.model.machine import ALWAYS_VISIBLE
from plait.model.program import Edge, Function
from plait.model.properties import Specification
from plait.model.types import Scalar

MOST_PATHS = 4096
MOST_ACTIONS = 200_000


class Executor(Objects):
    """Executes steps of one program; `switch_points` are locations by function."""

    def __init__(
        self,
        world: World,
        specification: Specification,
        switch_points: Mapping[str, frozenset[int]],
        decider: Decider,
        most_values: int = MOST_VALUES,
        locks: frozenset[Cell] = frozenset(),
    ) -> None:
        super().__init__(world, decider, most_values)
        self._locks = locks
        self._violations = specification.checks - {CheckKind.UNDEFINED}
        self._switch_points = switch_points

    def step(
        self, situation: Situation, thread: int, facts: Facts, *, alone: bool | None = None
    ) -> Step:
        """All paths of a thread's step from the states of a location in which the facts hold.
        `alone` says whether there is no other thread, where the location does not."""
        path = Path(situation, thread, facts, Memory(self._terms, situation.bytes))
        path.alone = situation.location.running == [thread] if alone is None else alone
        path.starts_free = path.is_inside or self._is_switch_point(path)
        self._outcomes = []
        pending = [path]
        while pending:
            path = pending.pop()
            if len(pending) + len(self._outcomes) > MOST_PATHS:
                self._end(path, Ending.LOST, f"more than {MOST_PATHS} paths in one step")
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
        if not path.is_inside and not path.alone and self._is_switch_point(path):
            return True
        return path.frame.stack in path.executed

    def _is_switch_point(self, path: Path) -> bool:
        frame = path.frame
        if frame.location in self._switch_points.get(frame.function.name, ()):
            return True
        for edge in frame.function.edges[frame.location]:
            if isinstance(edge.action, ALWAYS_VISIBLE):
                return True
            if isinstance(edge.action, Return) and len(path.frames) == 1:
                return True
        return False

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
                raise Lost(f"more than {MOST_ACTIONS} actions in one step")
            if not edges:
                raise Trouble("control comes to a location that nothing leaves")
            if len(edges) > 1 or isinstance(edges[0].action, Guard):
                successors = self._branch(path, edges)
            else:
                if isinstance(edges[0].action, AtomicBegin) and path.is_first:
                    path.section_is_free = True
                successors = self._act(path, edges[0])
        except PathEnds as end:
            self._end(path, end.ending, end.message)
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
            try:
                condition = self._condition(path, edge.action.condition)
            except PathEnds as end:
                self._end(path, end.ending, end.message)
                return successors
            taken = path.facts.with_(condition)
            if taken is not None:
                fork = path.fork(taken)
                fork.frame.location = edge.target
                successors.append(fork)
            facts = path.facts.with_(self._terms.not_(condition))
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
                return self._at_each_place(
                    path,
                    self._value(path, action.address),
                    lambda chosen, address: self._access(chosen, edge, action, address),
                )
            case Input():
                return self._input(path, edge, action)
            case Prune():
                self._may_acquire(path)
                return self._prune(path, edge, self._condition(path, action.condition))
            case Wait():
                self._may_acquire(path)
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
                    path, size, lambda chosen, number: self._made(chosen, edge, action, number)
                )
            case _:
                return self._rarer_action(path, edge, action)

    def _rarer_action(self, path: Path, edge: Edge, action: Action) -> list[Path]:
        match action:
            case Free():
                return self._at_each_place(
                    path,
                    self._value(path, action.address),
                    lambda chosen, address: self._freed(chosen, edge, action, address),
                )
            case ObjectSize():
                return self._at_each_place(
                    path,
                    self._value(path, action.address),
                    lambda chosen, address: self._measured(chosen, edge, action, address),
                )
            case AtomicBegin():
                path.depth += 1
                return self._go(path, edge)
            case AtomicEnd():
                path.depth -= 1
                if path.depth < 0:
                    raise Trouble("end of an atomic section that never began")
                if path.depth == 0:
                    self._end_section(path)
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
        raise Lost(f"{type(action).__name__} is not modelled")

    @staticmethod
    def _go(path: Path, edge: Edge) -> list[Path]:
        path.frame.location = edge.target
        return [path]

    # --- critical sections

    def _may_acquire(self, path: Path) -> None:
        """An atomic section that waits, and is all of the step so far, may take a lock."""
        location = path.situation.location
        if path.depth and location.in_section is None and location.running != [path.thread]:
            path.acquires = path.lock is None

    def _end_section(self, path: Path) -> None:
        """Of an atomic section, which may have taken or released a lock."""
        if path.acquires:
            path.acquires = False
            path.lock = self._taken(path)
            path.accesses = [access._replace(lock=path.lock) for access in path.accesses]
        self._look_for_release(path)
        if path.lock is None:
            path.section_is_free = False

    def _taken(self, path: Path) -> Cell | None:
        """The first lock that the section, which is all of the step so far, has read and written:
        it was 0 before and holds another number now."""
        read = {(item.start, item.end) for item in path.accesses if not item.is_write}
        before = Memory(self._terms, path.situation.bytes)
        for item in path.accesses:
            lock = Cell(item.start, item.end - item.start)
            if item.is_write and lock in self._locks and (item.start, item.end) in read:
                was = self._terms.value(before.read(*lock))
                if was == 0 and self._terms.value(path.memory.read(*lock)):
                    return lock
        return None

    def _look_for_release(self, path: Path) -> None:
        lock = path.lock
        if lock is None or path.depth:
            return
        value = self._terms.value(path.memory.read(*lock))
        if value is None:
            raise Lost(f"what the lock at {lock.address:#x} holds is not known")
        if value:
            path.held.append((lock, value))
            return
        if path.situation.location.threads[path.thread - 1].lock is None:
            # Before and behind the step it is free: for others the step has only read it.
            path.accesses = [
                item._replace(is_write=False) if item[:2] == (lock[0], sum(lock)) else item
                for item in path.accesses
            ]
        path.lock = None

    # --- memory

    def _access(
        self, path: Path, edge: Edge, action: Load | Store | ReadModifyWrite, address: int
    ) -> list[Path]:
        registers = path.frame.registers
        match action:
            case Load():
                registers[action.target.index] = self._load(path, address, action.target.type)
            case Store():
                self._store(path, address, self._value(path, action.value))
                self._look_for_release(path)
            case ReadModifyWrite():
                registers[action.old.index] = self._load(path, address, action.old.type)
                return self._modify(path, edge, action, address)
        return self._go(path, edge)

    def _modify(self, path: Path, edge: Edge, action: ReadModifyWrite, address: int) -> list[Path]:
        new = self._value(path, action.new)
        if action.guard is None:
            self._store(path, address, new)
            self._look_for_release(path)
            return self._go(path, edge)
        guard = self._condition(path, action.guard)
        successors: list[Path] = []
        without = path.facts.with_(self._terms.not_(guard))
        if without is not None:
            successors += self._go(path.fork(without), edge)
        written = path.facts.with_(guard)
        if written is not None:
            path.facts = written
            try:
                self._store(path, address, new)
                self._look_for_release(path)
                successors += self._go(path, edge)
            except PathEnds as end:
                self._end(path, end.ending, end.message)
        return successors

    def _made(self, path: Path, edge: Edge, action: Allocate, size: int) -> list[Path]:
        self._allocate(path, action, size)
        return self._go(path, edge)

    def _freed(self, path: Path, edge: Edge, action: Free, address: int) -> list[Path]:
        if address:
            self._free(path, address, action.storage)
        return self._go(path, edge)

    def _measured(self, path: Path, edge: Edge, action: ObjectSize, address: int) -> list[Path]:
        _, size = self._allocated(path, address, action.storage, is_write=False)
        value = self._terms.constant(size, action.target.type.bits)
        path.frame.registers[action.target.index] = value
        return self._go(path, edge)

    # --- inputs, conditions

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
                raise Lost("an input that has no value")
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
            if path.wrote and not path.is_inside and not path.alone:
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
        self._take_stack(path, self._world.space.frame_layout(function).pages)
        return [path]

    def _new_frame(self, function: Function, base: int, below: Stack) -> ActiveFrame:
        """Nothing is said about registers that were not assigned."""
        if not function.edges:
            raise Trouble(f"{function.name} has no body")

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
            for _, page in self._world.space.thread_local_copies(path.thread):
                self._destroy(path, page)
        path.frames = []
        path.depth = 0
        path.lock = None
        return [path]

    def _spawn(
        self, path: Path, edge: Edge, action: Spawn, address: int, argument: int
    ) -> list[Path]:
        space = self._world.space
        function = self._function_at(address)
        number = len(path.situation.location.threads) + len(path.spawned) + 1
        if number > space.most_threads:
            raise Trouble(f"more than {space.most_threads} threads")
        if space.thread_local_pages + space.frame_layout(function).pages > space.arena_pages:
            raise Trouble("the thread's address space is used up")
        for item, page in space.thread_local_copies(number):
            self._create(path, page, item.size, item.contents)
        frame = self._new_frame(function, space.arena(number)[1], ())
        if function.parameters:
            target = function.registers[0].type
            frame.registers[0] = self._reinterpreted(argument, action.argument.type, target)
        if path.lock is not None:
            raise Lost("a thread is started in a critical section")
        path.spawned.append(frame)
        path.wrote = True
        if path.alone:
            # The rest of the section, if this is in one, belongs to the same moment.
            path.alone = False
            path.section_is_free = path.depth > 0
        value = self._terms.constant(number, action.target.type.bits)
        path.frame.registers[action.target.index] = value
        return self._go(path, edge)
