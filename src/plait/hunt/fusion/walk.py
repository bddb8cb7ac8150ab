"""From a run in the model to its paths: each thread is executed symbolically along its run."""

from __future__ import annotations

from typing import Any

from plait.data import dataclass, field
from plait.errors import UnsupportedCode
from plait.hunt.fusion.executed import Executed, Followed, NotFollowed, Touch
from plait.hunt.fusion.memory import PathMemory, Step
from plait.hunt.fusion.objects import RunObjects
from plait.hunt.fusion.paths import LIFE, Branch, Cell, Failing, Paths, ThreadPath
from plait.hunt.fusion.source import Source
from plait.hunt.fusion.untaken import UNKNOWN, Untaken, UntakenBranches
from plait.hunt.fusion.values import RunValues
from plait.logic.terms import Terms
from plait.model.actions import (
    Allocate,
    Assign,
    Call,
    Check,
    CheckKind,
    EndProcess,
    EnterScope,
    Free,
    Guard,
    Input,
    LeaveScope,
    Load,
    ObjectSize,
    Prune,
    ReadModifyWrite,
    Return,
    Spawn,
    Store,
    Wait,
    target_of,
)
from plait.model.expressions import Expr
from plait.model.types import Scalar

# What a failing check violates, if a hunt looks for that; others mean that nothing is known.
_VIOLATED = {CheckKind.ASSERTION: "assertions", CheckKind.UNREACH_CALL: "assertions"}
_IGNORED = (CheckKind.OVERFLOW, CheckKind.LOCK_MISUSE, CheckKind.MONITOR)


def make_paths(source: Source, followed: Followed, branches: UntakenBranches) -> Paths:
    """Raises NotFollowed where the run has no such form."""
    _check_spawns(followed)
    objects = RunObjects(source, followed)
    shared: frozenset[Cell] = frozenset()
    mortal: frozenset[int] = frozenset()
    while True:
        walk = _Walk(source, followed, branches, objects, shared, mortal)
        walk.go()
        seen = walk.memory.seen
        more, ended = seen.shared(objects, walk.threads), seen.mortal()
        if more <= shared and ended <= mortal:
            return walk.paths()
        shared, mortal = shared | more, mortal | ended


def _check_spawns(followed: Followed) -> None:
    """Threads get their numbers in the order in which they are started, which must be the same in
    every execution: each start comes after the one before it by the program's own order."""
    last: set[int] = set()  # who may start the next one: the last to do so, and whom it has started
    for _, row in followed.rows:
        if row.spawned:
            if last and row.thread not in last:
                raise NotFollowed("threads are started by several threads in an order of their own")
            last = {row.thread, row.spawned}


@dataclass(slots=True, eq=False)
class _Open:
    """A branch whose ways have not met yet: the guard before it, the values of registers that are
    assigned along the way that was taken, and how many cells of its own the thread had written."""

    branch: Branch
    guard: int
    registers: dict[int, int]
    own_writes: int


@dataclass(slots=True, eq=False)
class _Frame:
    known: dict[int, int] = field(default_factory=dict)  # registers with symbolic values
    branches: list[_Open] = field(default_factory=list)
    call: Executed | None = None  # the call that it waits for


class _Walk:
    """One pass over the run, for sets of cells and objects that are taken to be shared."""

    def __init__(
        self,
        source: Source,
        followed: Followed,
        branches: UntakenBranches,
        objects: RunObjects,
        shared: frozenset[Cell],
        mortal: frozenset[int],
    ) -> None:
        self.terms = Terms()
        self.threads: dict[int, ThreadPath] = {}
        self.memory = PathMemory(self.terms, objects, shared)
        self._values = RunValues(self.terms, source.program, objects)
        self._followed = followed
        self._branches = branches
        self._objects = objects
        self._mortal = mortal
        self._guard: dict[int, int] = {}
        self._path: dict[int, int] = {}
        self._frames: dict[int, list[_Frame]] = {}
        self._step = Step(-1, 1, self.terms.true)

    def paths(self) -> Paths:
        for thread, path in self.threads.items():
            path.events.sort(key=lambda event: event.step)
            path.final_guard = self._guard[thread]
            path.has_ended = thread in self._followed.ended
        objects, seen = self._objects, self.memory.seen
        return Paths(
            self.terms,
            self.threads,
            self.memory.initial,
            seen.by_step,
            objects.may_write,
            objects.may_access,
        )

    def go(self) -> None:
        self._begin_thread(1)
        for number, row in self._followed.rows:
            if number != self._step.number:
                self._step = Step(number, row.thread, self.terms.true)
                self.memory.is_parallel = len(self.threads) > 1
            self._step.guard = self._guard[row.thread]
            self.memory.seen.place += 1
            try:
                self._row(row)
            except UnsupportedCode as error:
                raise NotFollowed(str(error)) from None

    def _begin_thread(self, thread: int) -> None:
        self.threads[thread] = ThreadPath()
        self._guard[thread] = self._path[thread] = self.terms.true
        self._frames[thread] = [_Frame()]

    def _row(self, row: Executed) -> None:
        frames = self._frames[row.thread]
        del frames[row.depth :]
        frame = frames[row.depth - 1]
        while frame.branches and frame.branches[-1].branch.untaken.merge == row.edge.source:
            self._close(row, frame)
        action = row.edge.action
        match action:
            case Assign():
                self._set(frame, action.target.index, self._value(row, frame, action.value))
            case Load() if row.is_unused:
                self._set(frame, action.target.index, None)
            case Load():
                self._pin(row, frame, action.address)
                self._set(frame, action.target.index, self._read(row))
            case Store():
                self._pin(row, frame, action.address)
                self._write(row, row.touched[0], self._value(row, frame, action.value))
            case ReadModifyWrite():
                self._update(row, frame, action)
            case Guard():
                self._branch(row, frame, action)
            case Wait():
                self._wait(row, frame, action.condition)
            case Prune():
                raise NotFollowed("the program makes assumptions")
            case Check() if action.kind not in _IGNORED:
                condition = self._condition(row, frame, action.condition)
                self._check(row, condition, _VIOLATED.get(action.kind, ""), action.message)
            case Call():
                self._call(row, frames, frame, action)
            case Return():
                self._return(row, frames, frame, action)
            case Spawn():
                self._spawn(row, frame, action)
            case EndProcess():
                self._pin(row, frame, action.status)
                if self.memory.is_parallel:
                    self._step.event(self.threads[row.thread]).ends_process = True
            case _:
                self._row_of_lives(row, frame)

    def _row_of_lives(self, row: Executed, frame: _Frame) -> None:
        action = row.edge.action
        match action:
            case Allocate():
                self._pin(row, frame, action.size)
                page = int(row.after) >> self._objects.page_bits
                self.memory.create(page, is_zero=action.zeroed)
            case Free() | ObjectSize():
                self._pin(row, frame, action.address)
                if isinstance(action, Free):
                    self._end_lives(row, [self._recorded(row, action.address)])
            case EnterScope():
                first = len(row.function.registers)
                self._end_lives(row, [row.before[first + index] for index in action.slots])
                for address in row.slots:
                    self.memory.create(address >> self._objects.page_bits, is_zero=False)
            case LeaveScope():
                first = len(row.function.registers)
                self._end_lives(row, [row.before[first + index] for index in action.slots])
            case Input():
                if action.count is not None:
                    self._pin(row, frame, action.count)
        target = target_of(action)
        if target is not None:
            self._set(frame, target.index, None)

    def _set(self, frame: _Frame, register: int, term: int | None) -> None:
        if term is None or self.terms.is_constant(term):
            frame.known.pop(register, None)
        else:
            frame.known[register] = term

    # --- values

    def _value(self, row: Executed, frame: _Frame, expr: Expr) -> int | None:
        return self._values.term(row, frame.known, expr)

    def _recorded(self, row: Executed, expr: Expr) -> int:
        value = self.terms.value(self._values.recorded(row, expr))
        if value is None:
            raise NotFollowed("an address that was never set")
        return value

    def _condition(self, row: Executed, frame: _Frame, expr: Expr) -> int:
        return self._values.condition(row, frame.known, expr)

    def _pin(self, row: Executed, frame: _Frame, expr: Expr) -> None:
        """The value of an expression has to be that of the run; nothing is known otherwise."""
        term = self._value(row, frame, expr)
        if term is not None:
            self._check(row, self.terms.eq(term, self._values.recorded(row, expr)), "", "")

    # --- branches

    def _check(self, row: Executed, condition: int, violated: str, text: str) -> None:
        """What cannot go on unless a condition holds: it is a violation, or nothing is known."""
        if condition == self.terms.true:
            return
        if violated:
            self._fail(row, self.terms.not_(condition), violated, text)
        self._new_branch(row, condition, UNKNOWN)

    def _fail(self, row: Executed, condition: int, violated: str, text: str) -> None:
        path, guard = self.threads[row.thread], self._guard[row.thread]
        after, relied = len(path.events), self._path[row.thread]
        path.failing.append(Failing(row.thread, after, guard, relied, condition, violated, text))

    def _new_branch(self, row: Executed, condition: int, untaken: Untaken) -> Branch:
        thread, path = row.thread, self.threads[row.thread]
        guard = self._guard[thread]
        branch = Branch(thread, len(path.events), guard, condition, untaken)
        path.branches.append(branch)
        self._path[thread] = self.terms.and_(self._path[thread], condition)
        self._guard[thread] = self._step.guard = self.terms.and_(guard, condition)
        return branch

    def _branch(self, row: Executed, frame: _Frame, action: Guard) -> None:
        condition = self._condition(row, frame, action.condition)
        if condition == self.terms.true:
            return
        for edge in row.function.edges[row.edge.source]:
            if edge is row.edge or not isinstance(edge.action, Guard):
                continue
            text = self._branches.fails_at_once(row.function, edge.target)
            if text is not None:
                other = self._condition(row, frame, edge.action.condition)
                self._fail(row, other, "assertions", text)
        untaken = self._branches.beside(row.function, row.edge)
        guard = self._guard[row.thread]
        before = {index: self._register(row, frame, index) for index in untaken.taken_registers}
        branch = self._new_branch(row, condition, untaken)
        frame.branches.append(_Open(branch, guard, before, self.memory.own_writes(row.thread)))

    def _register(self, row: Executed, frame: _Frame, index: int) -> int:
        term = frame.known.get(index)
        if term is not None:
            return term
        return self._values.constant(row.before[index], row.function.registers[index].type)

    def _close(self, row: Executed, frame: _Frame) -> None:
        """The ways of the innermost branch have met: phi-functions for what the other one may have
        assigned."""
        opened = frame.branches.pop()
        branch = opened.branch
        self._guard[row.thread] = self._step.guard = opened.guard
        branch.until = len(self.threads[row.thread].events)
        for index in branch.untaken.registers | branch.untaken.taken_registers:
            term = self._register(row, frame, index)
            if index in branch.untaken.registers:
                other = self.terms.fresh("phi", self.terms.width[term])
            else:
                other = opened.registers[index]
            self._set(frame, index, self.terms.ite(branch.condition, term, other))
        self.memory.doubt(branch, row.thread, opened.own_writes)

    def _phi(self, branch: Branch, term: int, scalar: Scalar) -> int:
        return self.terms.ite(branch.condition, term, self.terms.fresh("phi", scalar.bits))

    # --- calls

    def _call(self, row: Executed, frames: list[_Frame], frame: _Frame, action: Call) -> None:
        if not isinstance(action.callee, str):
            self._pin(row, frame, action.callee)
        assert row.entered is not None
        frame.call = row
        inner = _Frame()
        for index, expr in enumerate(action.arguments[: row.entered.parameters]):
            term = self._value(row, frame, expr)
            if term is not None and expr.type != row.entered.registers[index].type:
                raise NotFollowed("an argument of another type than its parameter")
            self._set(inner, index, term)
        frames.append(inner)

    def _return(self, row: Executed, frames: list[_Frame], frame: _Frame, action: Return) -> None:
        term = None if action.value is None else self._value(row, frame, action.value)
        while frame.branches:
            if action.value is not None:
                known = self._values.recorded(row, action.value) if term is None else term
                term = self._phi(frame.branches[-1].branch, known, action.value.type)
            self._close(row, frame)
        frames.pop()
        self._end_lives(row, row.before[len(row.function.registers) :])
        if not frames or frames[-1].call is None:
            return
        call = frames[-1].call.edge.action
        assert isinstance(call, Call)
        if call.target is not None:
            scalar = None if action.value is None else action.value.type
            if term is not None and scalar != call.target.type:
                raise NotFollowed("a result of another type than it is used as")
            self._set(frames[-1], call.target.index, term)

    def _spawn(self, row: Executed, frame: _Frame, action: Spawn) -> None:
        self._pin(row, frame, action.function)
        self._pin(row, frame, action.argument)
        self._set(frame, action.target.index, None)
        if self.memory.is_parallel:
            self._step.event(self.threads[row.thread]).spawned = row.spawned
        seen = self.memory.seen
        seen.starts[row.spawned] = row.thread, seen.place
        self._begin_thread(row.spawned)

    # --- memory

    def _wait(self, row: Executed, frame: _Frame, condition: Expr) -> None:
        term = self._condition(row, frame, condition)
        if not self.memory.is_parallel or term == self.terms.true:
            return
        event = self._step.event(self.threads[row.thread])
        event.waits.append(self.terms.implies(self._guard[row.thread], term))
        self._path[row.thread] = self.terms.and_(self._path[row.thread], term)

    def _read(self, row: Executed) -> int | None:
        self._need_life(row, row.touched[0])
        self._be_in_own_step(row)
        return self.memory.read(row, row.touched[0], self.threads[row.thread], self._step)

    def _write(self, row: Executed, touch: Touch, term: int | None) -> None:
        self._need_life(row, touch)
        self._be_in_own_step(row)
        self.memory.write(row, touch, term, self.threads[row.thread], self._step)

    def _be_in_own_step(self, row: Executed) -> None:
        if row.thread != self._step.thread:
            raise NotFollowed("a thread does something before its start")

    def _update(self, row: Executed, frame: _Frame, action: ReadModifyWrite) -> None:
        self._pin(row, frame, action.address)
        old = self._read(row)
        self._set(frame, action.old.index, old)
        touch = row.touched[0]
        value = self._values.updated(row, frame.known, action, old)
        if self.terms.is_constant(value):
            if len(row.touched) > 1:
                self._write(row, row.touched[1], None)
        else:
            self._write(row, touch, value)

    # --- lives of objects

    def _need_life(self, row: Executed, touch: Touch) -> None:
        if not self.memory.is_parallel or not self._mortal:
            return
        for page in {cell.page for cell in self._objects.cells_at(touch.address, touch.size)}:
            if page in self._mortal:
                self._check_life(row, page, "an access to freed memory")

    def _check_life(self, row: Executed, page: int, text: str) -> None:
        self._be_in_own_step(row)
        life = self.memory.shared_read(Cell(page, LIFE, 0), self.threads[row.thread], self._step)
        self._check(row, life, "valid-access", text)

    def _end_lives(self, row: Executed, addresses: list[Any]) -> None:
        if not self.memory.is_parallel:
            return
        for address in addresses:
            page = int(address) >> self._objects.page_bits
            if not address:
                continue
            self.memory.seen.ended.setdefault(page, set()).add(row.thread)
            if page in self._mortal:
                self._check_life(row, page, "freed again")
                cell = Cell(page, LIFE, 0)
                path = self.threads[row.thread]
                self.memory.shared_write(cell, self.terms.false, path, self._step)
