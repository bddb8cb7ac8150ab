"""The interpreter: one step of one thread, executed in place.

A step is a thread's next visible action, or its whole next atomic section, plus the local actions
that follow, up to just before its next visible action. A step that starts a thread also takes the
new thread to its first visible action. A local run pauses at a loop head if it gets long, comes
back to the same register values or has met an input, so that `while (1);` has finitely many states.

A thread that meets undefined behaviour or a limit after its visible action is HALTED, one that
fails an assumption PRUNED, and the others may go on: executions in which they overtake it before
that point have the same future, because what it did since the visible action is invisible. If that
happens inside an atomic section, the section has not begun and the state does not change.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from plait.model.actions import Action, expressions_of
from plait.model.expressions import Register, children
from plait.model.memory_model import MemoryModel
from plait.model.program import Program
from plait.model.properties import Specification
from plait.semantics.actions import Actions, Limits
from plait.semantics.compile import VISIBLE, Code, Fragment
from plait.semantics.indeterminate import UNKNOWN, Indeterminate, UsedIndeterminate
from plait.semantics.outcome import HAS_NO_VERDICT, MOVED, Ending, Footprint, StepEnds, StepOutcome
from plait.semantics.scalars import Number
from plait.semantics.state import ENDED, State, StateTable, Status, Thread
from plait.semantics.visibility import Visibility

if TYPE_CHECKING:
    from plait.semantics.weak import WeakMemory

_HALTS = HAS_NO_VERDICT | {Ending.PRUNED}
_STOPPED = {
    status: Thread(status, None, 0, [], 0, (), None, 0, 0)
    for status in (Status.HALTED, Status.PRUNED)
}


class _LocalRun:
    """Where a run of local actions pauses: at a loop head, if it is long, has met an input, or has
    come back to equal registers. Pausing is always right. After an input it keeps the combinations
    of inputs per step few; equal registers (Brent's cycle detection) are likely to stay equal."""

    __slots__ = ("_checkpoint", "_left", "_location", "_registers", "_used", "_visits")

    def __init__(self, most: int, used: int) -> None:
        self._left = most
        self._used = used
        self._visits, self._checkpoint = 0, 1
        self._location = -1
        self._registers: list[Any] | None = None

    def pauses_at(self, location: int, r: list[Any], used: int) -> bool:
        self._left -= 1
        if self._left < 0 or used != self._used:
            return True
        if location == self._location and r == self._registers:
            return True
        self._visits += 1
        if self._visits == self._checkpoint:
            self._registers, self._location = r[:], location
            self._checkpoint *= 2
        return False


class Machine(Actions):
    """A program made executable, and its current state. `accesses` collects what a step accesses,
    if it is not None."""

    def __init__(
        self,
        program: Program,
        specification: Specification,
        is_visible: Visibility | None = None,
        limits: Limits | None = None,
    ) -> None:
        super().__init__(program, specification, is_visible, limits)
        self.table = StateTable()
        self.steps = 0
        self._base_state: State | None = None
        self._committed_threads: tuple[Thread, ...] = ()
        self._committed_weak: Hashable = None
        self.weak = _weak_memory(specification.memory_model, self)

    # --- states

    def start(self) -> None:
        """The state before the first step of the initial thread."""
        self.memory = {
            item.page: item.contents
            for item in sorted(self.program.objects, key=lambda item: item.page)
            if not item.read_only
        }
        self.undefined = {
            item.page: UNKNOWN * item.size for item in self.program.objects if item.indeterminate
        }
        self.heap = {}
        self.forget_journal()
        self.exit = None
        self.threads = []
        self._base_state = None
        self.weak = _weak_memory(self.specification.memory_model, self)
        self.threads.append(self._new_thread(self.program.functions[self.program.entry], None))

    def state(self) -> State:
        """The current state; equal states of one machine compare and hash equal."""
        self.freeze()
        base = self._base_state
        if base is None or self.reshaped:
            pages = tuple(sorted(self.memory))
            contents = tuple([self.memory[page] for page in pages])
            if base is not None and pages == base.pages:
                pages = base.pages
        else:
            pages = base.pages
            contents = tuple(self.memory.values())
        if base is not None and not self.undefined_before:
            undefined = base.undefined
        else:
            undefined = tuple(sorted(self.undefined.items()))  # type: ignore[arg-type]
        if base is not None and not self.heap_before:
            heap = base.heap
        else:
            heap = tuple(sorted(self.heap.items()))
        intern = self.table.thread
        threads = tuple(
            [item if item.identity or item.code is None else intern(item) for item in self.threads]
        )
        if self.weak is None:
            return State(pages, contents, undefined, heap, threads, self.exit)  # type: ignore[arg-type]
        weak, pending = self.weak.frozen(), self.weak.pending()
        return State(pages, contents, undefined, heap, threads, self.exit, weak, pending)  # type: ignore[arg-type]

    def restore(self, state: State) -> None:
        self.memory = dict(zip(state.pages, state.contents, strict=True))
        self.undefined = dict(state.undefined)
        self.heap = dict(state.heap)
        self.forget_journal()
        self.threads = list(state.threads)
        self.exit = state.exit
        self._base_state = state
        if self.weak is not None:
            self.weak.restore(state.weak)

    def undo(self) -> None:
        """Back to the state of the last `restore`."""
        state = self._base_state
        assert state is not None
        if self.reshaped:
            self.restore(state)
            return
        self.undo_memory()
        self.threads[:] = state.threads
        self.exit = state.exit
        if self.weak is not None:
            self.weak.restore(state.weak)

    def commit(self) -> None:
        """Make the current state the one that `take_back` goes back to."""
        self.commit_memory()
        if self.unset_names is not None:
            self.unset_names.commit()
        self._base_state = None
        self._committed_threads = tuple(self.threads)
        if self.weak is not None:
            self._committed_weak = self.weak.frozen()

    def take_back(self) -> None:
        """Back to the state of the last `commit`."""
        self.undo_memory()
        if self.unset_names is not None:
            self.unset_names.take_back()
        self.threads[:] = self._committed_threads
        self.exit = None
        if self.weak is not None:
            self.weak.restore(self._committed_weak)

    def used_choices(self) -> int:
        """How many of the given choices, and of those supplied, the last step has used."""
        return self._used

    def runnable(self) -> list[int]:
        """The numbers of the threads that have not ended; some may be blocked. -n stands for the
        store buffer of thread n: it moves when a store becomes visible."""
        if self.exit is not None:
            return []
        threads = [
            number
            for number, thread in enumerate(self.threads, 1)
            if thread.status is Status.RUNNING
        ]
        if self.weak is not None:
            threads += [-number for number in self.weak.pending()]
        return threads

    # --- steps

    def step(self, number: int, choices: Sequence[Number] = (), most: int = 1) -> StepOutcome:
        """Execute one step of a thread, or up to `most` steps as long as no thread is started.

        `choices` are the values of the inputs it meets, in order. After MOVED the state is the
        one after the step, after a halting outcome as well unless it was in an atomic section;
        otherwise it is no state at all and the caller must go back (`undo`).
        """
        self.choices = list(choices)
        self._used = 0
        self.steps = 0
        self.spawned = []
        if number < 0:
            return self._flush(-number)
        result = MOVED
        running = number
        position = 0
        while True:
            try:
                self._advance(running, most if position == 0 else 0)
            except StepEnds as end:
                outcome = end.outcome
                outcome.origin = self.user_origin(outcome.origin)
                if outcome.ending not in _HALTS or outcome.in_section:
                    return outcome
                self._halt(outcome.ending)
                if result.ending not in HAS_NO_VERDICT:
                    result = outcome
            if position == len(self.spawned):
                return result
            running = self.spawned[position]
            position += 1

    def _flush(self, thread: int) -> StepOutcome:
        """One of a thread's stores becomes visible to all."""
        assert self.weak is not None
        self.number = thread
        try:
            self.weak.flush(thread)
        except StepEnds as end:
            return end.outcome
        self.steps = 1
        return MOVED

    def footprint(self) -> Footprint:
        """Of the last step, which must have recorded its accesses."""
        assert self.accesses is not None
        flags = (bool(self.spawned), self.exit is not None)
        return Footprint(self.page_bits, self.accesses, flags)

    def _advance(self, number: int, most: int) -> None:
        """Up to `most` steps of a thread; with 0, its local actions up to its first visible one."""
        location = self._resume(number)
        code = self.code
        assert code is not None
        stops = code.stops
        steps = 1
        if most == 0:
            if stops[location] == VISIBLE:
                return
            steps = 0
        r = self.values
        fragments = self._fragments(code)
        section_left = self.limits.section
        run = _LocalRun(self.limits.local_run, self._used)
        try:
            while True:
                fragment = fragments[location] or self._single(code, location)
                try:
                    location = fragment(self, r)
                except UsedIndeterminate as use:
                    location = self._determine(use, code, r)
                    continue
                if location < 0:
                    code = self.code
                    if code is None:
                        self.threads[number - 1] = ENDED
                        self.steps += steps
                        return
                    r, location = self.values, self.location
                    fragments, stops = self._fragments(code), code.stops
                flag = stops[location]
                if not flag:
                    continue
                if self.depth:
                    section_left -= 1
                    if section_left < 0:
                        what = "an atomic section takes too many actions"
                        self.stop(Ending.LIMIT, what, code.function.origin)
                elif flag == VISIBLE:
                    if steps >= most or self.spawned:
                        break
                    steps += 1
                    # As if this step had been taken by a call of its own.
                    section_left = self.limits.section
                    run = _LocalRun(self.limits.local_run, self._used)
                elif run.pauses_at(location, r, self._used):
                    break
        except StepEnds:
            self.location, self.values = location, r
            self.steps += steps
            raise
        self.steps += steps
        self.location, self.values = location, r
        self.threads[number - 1] = self._suspended(Status.RUNNING)

    def _resume(self, number: int) -> int:
        """Make a thread the running one; returns where it goes on."""
        thread = self.threads[number - 1]
        assert thread.code is not None and thread.status is Status.RUNNING
        self.number = number
        self.depth = 0
        self.code = thread.code
        self.values = thread.values[:]
        self.base, self.allocated, self.caller = thread.base, thread.allocated, thread.caller
        self.heap_page, self.stack_page = thread.heap_page, thread.stack_page
        if self._space.thread_locals:
            self.thread_locals = self._addresses_of_thread_locals(number)
        return thread.location

    def _suspended(self, status: Status) -> Thread:
        """The running thread as part of a state."""
        return Thread(
            status,
            self.code,
            self.location,
            self.values,
            self.base,
            self.allocated,
            self.caller,
            self.heap_page,
            self.stack_page,
        )

    def _halt(self, ending: Ending) -> None:
        """The running thread stops for good where it is."""
        status = Status.PRUNED if ending is Ending.PRUNED else Status.HALTED
        stopped = _STOPPED[status]
        if self.finds_leaks and self.code is not None:
            # Its variables still point to memory that is therefore not lost.
            stopped = self._suspended(status)
        self.threads[self.number - 1] = stopped

    def _fragments(self, code: Code) -> list[Fragment | None]:
        return code.fragments or self.compiler.fragments(code)

    def _single(self, code: Code, location: int) -> Fragment:
        """The code of one location that does not start a fragment."""
        fragment = self.compiler.singles(code)[location]
        assert fragment is not None
        return fragment

    def _determine(self, use: UsedIndeterminate, code: Code, r: list[Any]) -> int:
        """Choose an indeterminate value that an action uses; returns where to execute it again."""
        edge = code.edge_at(use)
        action = edge.action
        for register in _registers_in_order(action):
            value = r[register.index]
            if value.__class__ is not Indeterminate:
                continue
            chosen = self.determined(
                value.data, value.mask, register.type, value.name, action.origin, value.unset
            )
            for index, other in enumerate(r):
                if other == value:
                    r[index] = chosen
            return edge.source
        raise AssertionError(f"no indeterminate operand in {action}")


def _weak_memory(model: MemoryModel, machine: Machine) -> WeakMemory | None:
    if model is MemoryModel.SC:
        return None
    if model is MemoryModel.C11:
        from plait.semantics.graph_memory import GraphMemory

        return GraphMemory(machine)
    from plait.semantics.store_buffers import StoreBuffers

    return StoreBuffers(machine, model)


def _registers_in_order(action: Action) -> list[Register]:
    found: list[Register] = []
    pending = list(reversed(expressions_of(action)))
    while pending:
        item = pending.pop()
        if isinstance(item, Register):
            found.append(item)
        else:
            pending.extend(reversed(children(item)))
    return found
