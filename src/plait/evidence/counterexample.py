"""Evidence of a violation, from a schedule that leads to it: the smallest one that can be found,
what happens in it, and why it is a violation."""

from __future__ import annotations

import re

from plait.data import dataclass, field, replace
from plait.errors import InputError
from plait.evidence.causes import causes_of
from plait.evidence.operations import Locks, is_synchronisation, known_part, operation_of
from plait.evidence.reduce import Goal, Inputs, reduced
from plait.evidence.result import (
    Access,
    Cause,
    Input,
    Operation,
    Row,
    Synchronisation,
    Thread,
    Violation,
    Waiting,
)
from plait.evidence.trace_rows import Objects, TraceRows, place_of, trace_rows
from plait.model.actions import NOWHERE, Origin, Spawn
from plait.model.memory_model import MemoryModel
from plait.model.program import Program
from plait.model.properties import Property, Specification
from plait.semantics.machine import Machine
from plait.semantics.outcome import Access as Accessed
from plait.semantics.outcome import AccessKind, Ending, Footprint, InputRequest, StepOutcome
from plait.semantics.run import Execution, run
from plait.semantics.scalars import Number
from plait.semantics.schedule import Schedule, ScheduledStep, merged
from plait.semantics.trace import Called

_RACE = Property.NO_DATA_RACE.value
_DEADLOCK = Property.NO_DEADLOCK.value
_LEAK = "valid-memtrack"
_INVALID = ("valid-deref", "valid-free")
_MOST_LOST = 4
_CREATE = ("pthread_create", "thrd_create")
_JOIN = ("pthread_join", "thrd_join")


class NotShown(Exception):
    """The schedule does not show the violation."""


@dataclass(slots=True, eq=False)
class Found:
    """What an engine has found. For a race `threads` are the two, and the schedule may go on with
    their accesses."""

    kind: str
    message: str
    thread: int
    origin: Origin
    other: Origin = NOWHERE
    threads: tuple[int, int] | None = None


@dataclass(slots=True, eq=False)
class Evidence:
    """The schedule makes both accesses of a race at its end."""

    schedule: Schedule
    execution: Execution
    violation: Violation
    threads: list[Thread] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    trace: list[Row] = field(default_factory=list)


def evidence_of(
    program: Program,
    specification: Specification,
    schedule: Schedule,
    found: Found,
    deadline: float | None = None,
) -> Evidence:
    """Raises NotShown if the reference interpreter does not come to the violation."""
    if found.threads is not None:
        racing = _before(program, specification, schedule, found.threads)
        goal = Goal(found.kind, found.origin, found.threads, racing.inputs)
        small = reduced(program, specification, racing.before, goal, deadline)
        racing = _Racing(program, specification, small, found.threads, racing.inputs)
        schedule = racing.whole
    else:
        racing = None
        goal = Goal(found.kind, found.origin)
        schedule = reduced(program, specification, schedule, goal, deadline)
    execution = run(program, specification, schedule=schedule, trace=True)
    _check(execution, found)
    if execution.ending == "violation":
        # In the smaller schedule another thread may do it, and to another object.
        end = execution.outcome
        found = replace(found, thread=end.thread, message=end.message)
    traced = trace_rows(program, execution.events)
    return Evidence(
        schedule,
        execution,
        _violation(program, specification, found, execution, traced, racing),
        traced.threads,
        traced.inputs,
        traced.rows,
    )


def _check(execution: Execution, found: Found) -> None:
    if found.kind in (_RACE, _DEADLOCK):
        return  # properties of the state that the schedule leads to, not of a step
    if execution.ending != "violation" or execution.outcome.kind != found.kind:
        raise NotShown(f"it ends in: {execution.ending}")


def _violation(
    program: Program,
    specification: Specification,
    found: Found,
    execution: Execution,
    traced: TraceRows,
    racing: _Racing | None,
) -> Violation:
    place = place_of(program, found.origin, _function_at(traced, found.thread))
    result = Violation(found.kind, found.message, found.thread, place)
    if racing is not None:
        # In a smaller schedule other accesses of the two threads may race.
        racing.name = _name_of_accesses(execution, racing)
        first, second = result.accesses = _accesses(program, traced, racing)
        result.place, result.other_place = first.place, second.place
        result.message = racing.message(program)
    elif found.kind == _DEADLOCK:
        result.waiting = _waiting(program, specification, execution, traced, found.thread)
        result.message = _deadlock_message(result.waiting) or found.message
        if result.waiting and all(item.thread != found.thread for item in result.waiting):
            result.thread, result.place = result.waiting[0].thread, result.waiting[0].place
    else:
        result.message = _described(found, "" if place is None else place.text)
        if specification.memory_model is MemoryModel.SC:  # else the last write may not be the one
            result.causes = causes_of(execution.events, traced)
        if found.kind == _LEAK:
            result.causes = _lost(traced)[:_MOST_LOST]
            result.place = traced.rows[-1].place if traced.rows else None
        elif found.kind in _INVALID:
            result.causes = [*_freed(program, found, execution), *result.causes]
    return result


def _described(found: Found, text: str) -> str:
    if found.message != "assertion":
        return found.message
    condition = text.removeprefix("assert(").removesuffix(";").removesuffix(")")
    is_assert = text.startswith("assert(")
    return f"assertion failed: {condition}" if is_assert else "an assertion does not hold"


def _function_at(traced: TraceRows, thread: int) -> str:
    return next((row.place.function for row in reversed(traced.rows) if row.thread == thread), "")


# --- memory


def _freed(program: Program, found: Found, execution: Execution) -> list[Cause]:
    """Who has freed the object that was accessed."""
    address = re.search(r"address (0x[0-9a-f]+)", found.message)
    if address is None:
        return []
    bits = program.data_model.page_bits
    page = int(address[1], 16) >> bits
    for event in reversed(execution.events):
        called = event.called
        if called is not None and called.function.display == "free" and called.places:
            base, name = called.places[0]
            if base >> bits == page:
                place = place_of(program, event.edge.action.origin, event.function.display)
                return [Cause(name, "freed", event.step, event.thread, place)]
    return []


def _lost(traced: TraceRows) -> list[Cause]:
    """Where the heap objects come from that nobody has freed."""
    made: dict[str, Cause] = {}
    for row in traced.rows:
        for change in row.changes:
            name = change.value.removeprefix("&")
            if not change.read and re.fullmatch(r"&heap\d+", change.value):
                made.setdefault(name, Cause(name, "never freed", row.step, row.thread, row.place))
        if row.operation is not None and row.operation.kind == "free":
            made.pop(row.operation.object, None)
    return list(made.values())


# --- races


class _Racing:
    """Two threads whose next steps race, in the state that the schedule `before` leads to.
    `inputs` are those of these two steps: an atomic section may read some before its access."""

    def __init__(
        self,
        program: Program,
        specification: Specification,
        before: Schedule,
        threads: tuple[int, int],
        inputs: Inputs,
    ) -> None:
        self.before = before
        self.threads = threads
        self.inputs = inputs = dict(inputs)
        self._left: list[Number] = []
        self._machine = machine = Machine(program, specification)
        self._given: list[Number] = []
        machine.start()
        for item in before:
            left, unused = item.count, item.inputs
            while left:
                outcome = machine.step(item.thread, unused, left)
                unused = unused[machine.used_choices() :]
                left -= max(machine.steps, 1)
                is_pruned = outcome.ending is Ending.PRUNED and not outcome.in_section
                if outcome.ending is not Ending.MOVED and not is_pruned:
                    raise NotShown(f"the race is not reached: {outcome.ending.value}")
        if before.steps and unused:  # those of a step that was cut off
            inputs[before.steps[-1].thread] = unused
        machine.commit()
        machine.supply = self._supply
        first, second = (self._footprint(thread) for thread in threads)
        accesses = first.race_with(second)
        if accesses is None:
            raise NotShown("the next accesses of the two threads do not race")
        self.accesses: tuple[Accessed, Accessed] = accesses
        self.name = machine.name_of(accesses[0].address, accesses[0].size)
        self.whole = self._with_accesses()

    def message(self, program: Program) -> str:
        mine, theirs = self.accesses
        one, other = self.threads
        return (
            f"{mine.kind.value} of {self.name} by thread {one} at {program.place(mine.origin)}"
            f" and {theirs.kind.value} by thread {other} at {program.place(theirs.origin)}"
            " at the same time"
        )

    def _supply(self, request: InputRequest) -> Number:
        value = self._left.pop(0) if self._left else 0
        self._given.append(value)
        return value

    def _step(self, thread: int) -> StepOutcome:
        self._left, self._given = list(self.inputs.get(thread, ())), []
        try:
            return self._machine.step(thread)
        except InputError:
            raise NotShown(f"thread {thread} cannot have this input") from None

    def _footprint(self, thread: int) -> Footprint:
        machine = self._machine
        if thread not in machine.runnable():
            raise NotShown(f"thread {thread} has ended before the race")
        machine.accesses = []
        outcome = self._step(thread)
        accesses, machine.accesses = machine.accesses, None
        machine.take_back()
        if outcome.in_section or outcome.ending is Ending.BLOCKED:
            raise NotShown(f"thread {thread} cannot make its access yet")
        return Footprint(machine.page_bits, accesses or [], (False, False))

    def _with_accesses(self) -> Schedule:
        """The second one first: a value that is read then is what the first one overwrites."""
        steps = list(self.before)
        machine = self._machine
        for thread in reversed(self.threads):
            if thread not in machine.runnable():
                break
            outcome = self._step(thread)
            if outcome.ending not in (Ending.MOVED, Ending.PRUNED):
                break
            steps.append(ScheduledStep(thread, tuple(self._given)))
            machine.commit()
        return merged(steps)


def _before(
    program: Program,
    specification: Specification,
    schedule: Schedule,
    threads: tuple[int, int],
) -> _Racing:
    """The state before the race, without the accesses themselves if the schedule has them."""
    singles = [ScheduledStep(item.thread, (), 1) for item in schedule for _ in range(item.count)]
    for dropped in (2, 1, 0):
        if dropped > len(singles):
            continue
        try:
            before, inputs = _cut(schedule, dropped)
            return _Racing(program, specification, before, threads, inputs)
        except NotShown:
            if dropped == 0:
                raise
    raise NotShown("an empty schedule")


def _cut(schedule: Schedule, dropped: int) -> tuple[Schedule, Inputs]:
    """Without the last steps, and the inputs of those. A row of steps that loses only some of them
    keeps all its inputs: who executes it sees which ones are left over."""
    steps, inputs = list(schedule), dict[int, tuple[Number, ...]]()
    while dropped and steps:
        last = steps.pop()
        if last.count > dropped:
            steps.append(ScheduledStep(last.thread, last.inputs, last.count - dropped))
        else:
            inputs[last.thread] = last.inputs
        dropped = max(dropped - last.count, 0)
    return Schedule(steps), inputs


def _name_of_accesses(execution: Execution, racing: _Racing) -> str:
    """What the source calls the object of a race, which the execution ends with."""
    addresses = {access.address for access in racing.accesses}
    for event in reversed(execution.events):
        for change in event.changes:
            if change.is_on_heap and change.address in addresses:
                return f"'{change.name}'"
    return racing.name


def _accesses(program: Program, traced: TraceRows, racing: _Racing) -> list[Access]:
    # The accesses themselves are no synchronisation, so that all traced can be looked at.
    locks = Locks(traced.rows)
    found = []
    for thread, access in zip(racing.threads, racing.accesses, strict=True):
        found.append(
            Access(
                thread,
                place_of(program, access.origin, _function_at(traced, thread)),
                access.kind is AccessKind.WRITE,
                access.is_atomic,
                racing.name.strip("'"),
                list(locks.held.get(thread, [])),
                _last_synchronisation(traced, thread),
            )
        )
    return found


def _last_synchronisation(traced: TraceRows, thread: int) -> Synchronisation | None:
    for row in reversed(traced.rows):
        if row.thread == thread and row.operation is not None:
            if is_synchronisation(row.operation):
                return Synchronisation(row.step, row.operation, row.place)
    for row in traced.rows:
        if row.operation is not None and row.operation.kind == "create":
            if row.operation.thread == thread:
                return Synchronisation(row.step, Operation("start"), row.place)
    return None


# --- deadlocks


def _waiting(
    program: Program,
    specification: Specification,
    execution: Execution,
    traced: TraceRows,
    victim: int,
) -> list[Waiting]:
    objects, locks = Objects(program), Locks(traced.rows)
    calls = _last_calls(execution)
    found: dict[int, Waiting] = {}
    blocked = execution.blocked or _blocked(program, specification, execution.schedule)
    for thread, outcome in sorted(blocked.items()):
        name = _argument(calls[thread], outcome.message, traced) if thread in calls else ""
        if not name and outcome.on is not None:
            name = traced.names((outcome.on, objects.name(outcome.on)))
        is_held = name and outcome.message != "semaphore"  # others may post that
        holders = locks.holders(name) if is_held else []
        if outcome.message == "join":
            joined = _joined(execution, thread)
            name, holders = "", [] if joined is None else [joined]
        place = place_of(program, outcome.origin, _function_at(traced, thread))
        found[thread] = Waiting(thread, outcome.message, known_part(name), place, holders)
    cycle = _cycle(found)
    others = [item for thread, item in found.items() if thread not in cycle]
    if not execution.blocked:
        # The rest goes on: of those outside of the cycle only one is known to wait for ever.
        others = [item for item in others if item.thread == victim]
    return [found[thread] for thread in cycle] + others


def _last_calls(execution: Execution) -> dict[int, Called]:
    """Of functions of the library, by the program: a thread that waits does so in the last one."""
    return {
        event.thread: event.called
        for event in execution.events
        if event.called is not None and event.called.function.library and event.caller is None
    }


def _argument(called: Called, what: str, traced: TraceRows) -> str:
    """The name of what a call waits for."""
    operation = operation_of(called.function.display, called.places, traced.names)
    if operation is None:
        return ""
    return operation.lock if operation.lock and what == "mutex" else operation.object


def _blocked(
    program: Program, specification: Specification, schedule: Schedule
) -> dict[int, StepOutcome]:
    """The threads that cannot move in the state that a schedule leads to."""
    machine = Machine(program, specification)
    machine.start()
    for item in schedule:
        left, inputs = item.count, item.inputs
        while left:
            machine.step(item.thread, inputs, left)
            inputs = inputs[machine.used_choices() :]
            left -= max(machine.steps, 1)
    machine.supply = lambda request: 0
    found = {}
    for thread in machine.runnable():
        machine.commit()
        outcome = machine.step(thread)
        machine.take_back()
        if outcome.ending is Ending.BLOCKED:
            found[thread] = outcome
    return found


def _deadlock_message(waiting: list[Waiting]) -> str:
    cycle = _cycle({item.thread: item for item in waiting})
    if len(cycle) > 1:
        names = ", ".join(str(thread) for thread in cycle[:-1])
        return f"threads {names} and {cycle[-1]} wait for each other for ever"
    if len(cycle) == 1:
        return f"thread {cycle[0]} waits for itself for ever"
    threads = [str(item.thread) for item in waiting]
    if len(threads) > 1:
        return f"threads {', '.join(threads[:-1])} and {threads[-1]} wait for ever"
    return f"thread {threads[0]} waits for ever" if threads else ""


def _joined(execution: Execution, thread: int) -> int | None:
    """The thread that a blocked thread waits for: the call of join was begun last, and its argument
    is among the handles that the creations have given."""
    handles: dict[str, int] = {}
    threads = 1
    started: dict[int, int] = {}  # by the thread that has started it last
    for event in execution.events:
        if isinstance(event.edge.action, Spawn):
            threads += 1
            started[event.thread] = threads
        elif event.caller is not None and event.function.display in _CREATE:
            for change in event.changes:
                if not change.is_read and not change.is_library and event.thread in started:
                    handles.setdefault(change.value, started[event.thread])
    for event in reversed(execution.events):
        if event.thread == thread and event.called is not None:
            if event.called.function.display in _JOIN:
                return handles.get(event.called.arguments[0])
    return None


def _cycle(waiting: dict[int, Waiting]) -> list[int]:
    """Threads of which each waits for the next one, and the last one for the first."""
    for start in waiting:
        path: list[int] = []
        thread = start
        while thread in waiting and thread not in path:
            path.append(thread)
            holders = waiting[thread].holders
            if not holders:
                break
            thread = holders[0]
            if thread == start:
                return path
    return []
