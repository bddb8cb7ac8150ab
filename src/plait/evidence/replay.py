"""Turning an engine's counterexample into a schedule that the reference interpreter has executed.

An engine knows the order of the accesses to objects that several threads share, and the inputs.
The interpreter takes smaller steps: between two such accesses a thread is driven on until it makes
the next one. What does not come to the violation that way is no counterexample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from plait.data import dataclass
from plait.engines.interface import AccessOrder, BlockTaken, Counterexample, UnsetValues, WeakOrder
from plait.model.actions import Origin
from plait.model.program import Program, StaticObject
from plait.model.properties import Specification
from plait.semantics.explore import ExploreOptions, Verdict, explore
from plait.semantics.machine import Machine
from plait.semantics.outcome import (
    HAS_NO_VERDICT,
    Access,
    AccessKind,
    Ending,
    Footprint,
    InputRequest,
    StepOutcome,
)
from plait.semantics.scalars import Number, from_bits
from plait.semantics.schedule import Schedule, ScheduledStep
from plait.semantics.state import State, Status
from plait.semantics.unset_names import UnsetNames
from plait.semantics.visibility import conservative

_MOST_PRIVATE_STEPS = 100_000
_BEHIND = ExploreOptions(max_states=2_000, max_seconds=5.0)


class ReplayFailed(Exception):
    """The plan does not lead to a violation."""


class Undecided(ReplayFailed):
    """The plan can be followed, but what that shows is left open. `beyond` is the name of an object
    that the program has more of than the model, if that is why."""

    def __init__(self, message: str, beyond: str = "") -> None:
        super().__init__(message)
        self.beyond = beyond


@dataclass(slots=True, eq=False)
class Race:
    """Two accesses that are next in the state that a schedule leads to; the schedule's last steps
    make them."""

    schedule: Schedule
    message: str
    threads: tuple[int, int]
    origins: tuple[Origin, Origin]


def replay_race(program: Program, specification: Specification, found: Counterexample) -> Race:
    """Follow the plan, then show that the next accesses of two threads race."""
    assert found.race is not None
    if isinstance(found.order, AccessOrder):
        return AccessReplay(program, specification, found).race(program, *found.race)
    return _BlockReplay(program, specification, found).race(found)


@dataclass(slots=True, eq=False)
class Deadlock:
    """A thread is blocked for ever in the state that a schedule leads to."""

    schedule: Schedule
    message: str
    thread: int
    origin: Origin


def replay_deadlock(
    program: Program, specification: Specification, found: Counterexample
) -> Deadlock:
    """Follow the plan to the ends of all threads, then show that nothing that can happen from
    there on unblocks a thread that is blocked."""
    if isinstance(found.order, AccessOrder):
        start = AccessReplay(program, specification, found).to_the_ends()
    else:
        start = _BlockReplay(program, specification, found).to_where_threads_stand(found)
    return deadlock_behind(program, specification, start)


def deadlock_behind(program: Program, specification: Specification, start: Schedule) -> Deadlock:
    """Show that nothing that can happen behind single steps unblocks a thread that is blocked."""
    found = explore(program, specification, _BEHIND, start=start)
    if found.verdict is Verdict.UNKNOWN:
        raise Undecided(f"it is not known whether a thread that waits can go on: {found.reason}")
    violation, schedule = found.violation, found.schedule
    if violation is None or schedule is None:
        raise ReplayFailed("no thread is blocked for ever")
    return Deadlock(schedule, violation.message, violation.thread, violation.origin)


def replay(program: Program, specification: Specification, found: Counterexample) -> Schedule:
    """A schedule whose last step is the violation."""
    try:
        return AccessReplay(program, specification, found).run()
    except ReplayFailed:
        if not specification.checks_accesses:
            raise
    return AccessReplay(program, specification, found).run(ending_lives=True)


def _race_message(
    program: Program, machine: Machine, threads: tuple[int, int], pair: tuple[Access, Access]
) -> str:
    mine, theirs = pair
    return (
        f"{mine.kind.value} of {machine.name_of(mine.address, mine.size)}"
        f" by thread {threads[0]} at {program.place(mine.origin)}"
        f" and {theirs.kind.value} by thread {threads[1]}"
        f" at {program.place(theirs.origin)} at the same time"
    )


class AccessReplay:
    def __init__(
        self, program: Program, specification: Specification, found: Counterexample
    ) -> None:
        if not isinstance(found.order, (AccessOrder, WeakOrder)):
            raise ReplayFailed("such a violation is replayed from an order of accesses only")
        self._is_shared = found.order.is_shared
        self._threads = found.order.threads if isinstance(found.order, AccessOrder) else []
        self._violator = found.violator
        self._machine = Machine(program, specification)
        self._machine.accesses = []
        self._machine.supply = self._supply
        self._machine.unset_names = UnsetNames(program)
        self._unset = found.unset
        self._number = {1: 1}  # the engine's numbers of threads to the machine's
        self._engine = {1: 1}
        self._unborn = {thread: list(items) for thread, items in found.order.children.items()}
        self._inputs = {thread: list(items) for thread, items in found.inputs.items()}
        self._running = 1
        self._given: list[Number] = []
        self._steps: list[ScheduledStep] = []

    def run(self, *, ending_lives: bool = False) -> Schedule:
        """The plan knows of accesses only. That a local or a thread-local object is gone may need
        more steps of its thread, which no other thread sees otherwise: `ending_lives`."""
        self._machine.start()
        self._machine.commit()
        for thread in self._threads:
            while not self._step(self._to_run(thread)):
                pass
            if self._is_over:
                return Schedule(self._steps)
        violator = self._to_run(self._violator)
        if ending_lives:
            self._go_on_unseen(item for item in self._machine.runnable() if item != violator)
        while not self._is_over:
            self._step(self._to_run(self._violator))
        return Schedule(self._steps)

    def race(self, program: Program, one: int, other: int) -> Race:
        self._machine.start()
        self._machine.commit()
        for thread in self._threads:
            while not self._step(self._to_run(thread)):
                pass
            if self._is_over:
                raise ReplayFailed("a violation comes before the race")
        numbers = self._to_run(one), self._to_run(other)
        footprints = [self._before_access(number) for number in numbers]
        found = footprints[0].race_with(footprints[1])
        if found is None:
            raise ReplayFailed("the next accesses of the two threads do not race")
        mine, theirs = found
        message = _race_message(program, self._machine, numbers, found)
        for number in (numbers[1], numbers[0]):
            try:
                self._step(number)
            except ReplayFailed:  # the first step may have been the end of something
                del self._steps[-1:]
                break
        return Race(Schedule(self._steps), message, numbers, (mine.origin, theirs.origin))

    def to_the_ends(self) -> Schedule:
        """Follow the plan, then take what is left of steps that no other thread sees."""
        self._machine.start()
        self._machine.commit()
        for thread in self._threads:
            while not self._step(self._to_run(thread)):
                pass
            if self._is_over:
                raise ReplayFailed("a violation comes before the deadlock")
        if any(thread.status is Status.PRUNED for thread in self._machine.threads):
            raise ReplayFailed("an assumption fails on the way")
        self._go_on_unseen(self._machine.runnable())
        return Schedule(self._steps)

    def _go_on_unseen(self, threads: Iterable[int]) -> None:
        for number in list(threads):
            seen = {self._machine.state()}
            while number in self._machine.runnable() and self._step_unseen(number, seen):
                pass

    def _step_unseen(self, number: int, seen: set[State]) -> bool:
        """Take a step if it accesses nothing that is shared and leads to a new state."""
        machine = self._machine
        if len(self._steps) > _MOST_PRIVATE_STEPS:
            raise ReplayFailed("too many steps")
        machine.accesses = []
        self._running, self._given = number, []
        inputs = {thread: items[:] for thread, items in self._inputs.items()}
        threads, heap = len(machine.threads), set(machine.heap)
        outcome = machine.step(number)
        if (
            outcome.ending is not Ending.MOVED
            or machine.exit is not None
            or len(machine.threads) > threads
            or self._makes_shared_access(heap)
            or machine.state() in seen
        ):
            machine.take_back()
            self._inputs = inputs
            return False
        seen.add(machine.state())
        machine.commit()
        self._steps.append(ScheduledStep(number, tuple(self._given)))
        return True

    def _before_access(self, number: int) -> Footprint:
        """Drive a thread on to where its next step makes a shared access; what that accesses."""
        machine = self._machine
        while True:
            inputs = {thread: items[:] for thread, items in self._inputs.items()}
            count = len(self._steps)
            if not self._try(number):
                continue
            accesses = machine.accesses
            del self._steps[count:]
            self._inputs = inputs
            machine.take_back()
            return Footprint(machine.page_bits, accesses or [], (False, False))

    def _try(self, number: int) -> bool:
        """Take a step, to be taken back if it makes a shared access; whether it does."""
        machine = self._machine
        machine.accesses = []
        self._running, self._given = number, []
        if number not in machine.runnable() or len(self._steps) > _MOST_PRIVATE_STEPS:
            raise ReplayFailed(f"thread {number} has ended too early")
        threads, heap = len(machine.threads), set(machine.heap)
        outcome = machine.step(number)
        if outcome.ending in (Ending.BLOCKED, Ending.NEEDS_INPUT):
            raise ReplayFailed(f"thread {number}: {outcome.ending.value} {outcome.message}")
        if self._makes_shared_access(heap):
            return True
        if outcome.ending is not Ending.MOVED or len(machine.threads) > threads:
            raise _not_followed(machine.program, number, outcome)
        self._steps.append(ScheduledStep(number, tuple(self._given)))
        machine.commit()
        return False

    _is_over = False

    def _to_run(self, thread: int) -> int:
        """The machine's number of a thread; while it does not exist yet, of one that starts it."""
        while thread not in self._number:
            parent = next((p for p, items in self._unborn.items() if thread in items), None)
            if parent is None:
                raise ReplayFailed(f"thread {thread} is never started")
            thread = parent
        return self._number[thread]

    def _step(self, number: int) -> bool:
        """Take a step; whether it made a shared access, or was the violation."""
        if len(self._steps) > _MOST_PRIVATE_STEPS:
            raise ReplayFailed("too many steps")
        machine = self._machine
        machine.accesses = []
        self._running, self._given = number, []
        threads, heap = len(machine.threads), set(machine.heap)
        if number not in machine.runnable():
            raise ReplayFailed(f"thread {number} has ended too early")
        outcome = machine.step(number)
        self._steps.append(ScheduledStep(number, tuple(self._given)))
        if outcome.ending is Ending.VIOLATION:
            self._is_over = True
            return True
        # A thread that fails an assumption behind its access is out of the way of the others.
        is_pruned = outcome.ending is Ending.PRUNED and not outcome.in_section
        if outcome.ending is not Ending.MOVED and not is_pruned:
            raise _not_followed(machine.program, number, outcome)
        machine.commit()
        for born in range(threads + 1, len(machine.threads) + 1):
            names = self._unborn.get(self._engine[number], [])
            if not names:
                raise ReplayFailed("a thread that the plan does not have")
            self._number[names[0]] = born
            self._engine[born] = names.pop(0)
        return self._makes_shared_access(heap)

    def _makes_shared_access(self, heap: set[int]) -> bool:
        """`heap`: the allocated objects before the step. To ask for the size of one counts; the end
        of memory of alloca does not."""
        machine = self._machine
        for access in machine.accesses or ():
            page = access.address >> machine.page_bits
            if access.kind is AccessKind.LIFETIME:
                if page in heap and page in machine.heap:
                    return True
            elif page in heap or self._counts(access.address):
                return True
        return False

    def _counts(self, address: int) -> bool:
        machine = self._machine
        page = machine.first_page(address >> machine.page_bits)
        item = machine.static_pages.get(page)
        if isinstance(item, StaticObject):
            return self._is_shared(item)
        if page in machine.heap:
            return True
        own = machine.thread_local_at(page)
        if own is not None:
            return self._is_shared(own)
        made = machine.slot_of_page.get(page) or machine.alloca_of_page.get(page)
        return made is not None and self._is_shared(made)

    def _supply(self, request: InputRequest) -> Number:
        thread = self._engine_number(self._machine.number)
        value = _value(request, self._unset, self._inputs.get(thread, []), self._engine_number)
        self._given.append(value)
        return value

    def _engine_number(self, number: int) -> int:
        """The engine's number of a thread, which the running step may have started just now."""
        known = self._engine.get(number)
        if known is None:
            place = number - len(self._engine) - 1
            names = self._unborn.get(self._engine[self._running], [])
            if place >= len(names):
                raise ReplayFailed("a thread that the plan does not have")
            known = names[place]
        return known


def _not_followed(program: Program, number: int, outcome: StepOutcome) -> ReplayFailed:
    """Why a thread does not take a step of the plan. A limit of the interpreter is no mistake."""
    if outcome.ending is Ending.LIMIT:
        place = program.user_place(outcome.origin)
        return Undecided(f"limit: {outcome.message} ({place})", outcome.beyond)
    if outcome.ending is Ending.UNDEFINED and outcome.message.startswith("access to no live"):
        # Where accesses are not checked, engines do not look at how long locals live.
        place = program.user_place(outcome.origin)
        return Undecided(f"undefined behaviour: {outcome.message} ({place})")
    return ReplayFailed(f"thread {number}: {outcome.ending.value} {outcome.message}")


def _value(
    request: InputRequest,
    unset: UnsetValues,
    inputs: list[tuple[str, int]],
    engine_number: Callable[[int], int],
) -> Number:
    """What the engine has chosen. Its inputs have names; those that it had no need of are 0."""
    scalar = request.type
    if request.unset is not None:
        made = request.unset
        if made.thread:
            made = made._replace(thread=engine_number(made.thread))
        bits = unset.get(made, request.offset, scalar.size)
        return int(bits != 0) if scalar.is_bool else from_bits(bits, scalar)
    place = next((i for i, (name, _) in enumerate(inputs) if name == request.name), None)
    return from_bits(0 if place is None else inputs.pop(place)[1], scalar)


def replay_blocks(
    program: Program, specification: Specification, found: Counterexample
) -> Schedule:
    """Execute blocks in the given order; the last one ends in the violation. Threads have the
    numbers that the interpreter gives them. Returns a schedule whose last step is the violation."""
    assert isinstance(found.order, tuple)
    return _BlockReplay(program, specification, found).run(found.order, found.violator)


class _BlockReplay:
    """The interpreter stops more often than a block does: before every access that it takes for
    visible. It is driven on to the place where a block began, and one step further."""

    def __init__(
        self, program: Program, specification: Specification, found: Counterexample
    ) -> None:
        self._program = program
        self._machine = Machine(program, specification)
        self._machine.supply = self._supply
        self._machine.unset_names = UnsetNames(program)
        self._is_visible = conservative()
        self._inputs = {thread: list(items) for thread, items in found.inputs.items()}
        self._unset = found.unset
        self._given: list[Number] = []
        self._steps: list[ScheduledStep] = []
        self._is_over = False
        self._before: dict[int, bytes | None] = {}  # what the last step has written to
        self._stopped: dict[int, StepOutcome] = {}  # how threads have come to where they stay

    def run(self, blocks: Sequence[BlockTaken], violator: int) -> Schedule:
        self._follow(blocks)
        while not self._is_over:
            self._step(violator)
        return Schedule(self._steps)

    def race(self, found: Counterexample) -> Race:
        """Two threads are where they stand, and their next accesses race."""
        assert found.race is not None
        self._to_where_threads_stand(found)
        footprints = [self._next_step(number) for number in found.race]
        pair = footprints[0].race_with(footprints[1])
        if pair is None:
            raise ReplayFailed("the next accesses of the two threads do not race")
        message = _race_message(self._program, self._machine, found.race, pair)
        for number in found.race:
            try:
                self._step(number)
            except ReplayFailed:  # the first step may have been the end of something
                del self._steps[-1:]
                break
            if self._is_over:
                break
        origins = pair[0].origin, pair[1].origin
        return Race(Schedule(self._steps), message, found.race, origins)

    def to_where_threads_stand(self, found: Counterexample) -> Schedule:
        self._to_where_threads_stand(found)
        if any(thread.status is Status.PRUNED for thread in self._machine.threads):
            raise ReplayFailed("an assumption fails on the way")
        return Schedule(self._steps)

    def _to_where_threads_stand(self, found: Counterexample) -> None:
        assert isinstance(found.order, tuple)
        self._follow(found.order)
        for block in found.standing:
            while not self._is_over and not self._is_at(block):
                self._step(block.thread)
        if self._is_over:
            raise ReplayFailed("a violation comes first")

    def _next_step(self, number: int) -> Footprint:
        """What a thread's next step accesses; it is taken back."""
        machine = self._machine
        inputs = {thread: items[:] for thread, items in self._inputs.items()}
        machine.accesses = []
        self._running, self._given = number, []
        outcome = machine.step(number)
        accesses, machine.accesses = machine.accesses, None
        if outcome.ending in (Ending.BLOCKED, Ending.NEEDS_INPUT) or outcome.in_section:
            raise ReplayFailed(f"thread {number} cannot make its next access there")
        self._inputs = inputs
        machine.take_back()
        return Footprint(machine.page_bits, accesses, (False, False))

    def _follow(self, blocks: Sequence[BlockTaken]) -> None:
        self._machine.start()
        self._machine.commit()
        for block in blocks:
            if block.is_alone:
                # Nobody else is there: when its steps happen matters only for whom it starts.
                while len(self._machine.threads) < block.threads and not self._is_over:
                    self._step(block.thread)
            elif not block.in_section and self._counts(block.function, block.location):
                while not self._is_over:
                    is_there = self._is_at(block)
                    self._step(block.thread)
                    if is_there:
                        self._release(block)
                        break
            if self._is_over:
                break

    def _release(self, block: BlockTaken) -> None:
        """Go on to the end of the critical section that the block is, behind its first step."""
        place = self._taken(block)
        while place is not None and not self._is_over:
            page, part = place
            if not any(self._machine.memory.get(page, b"")[part]):
                return
            if block.thread not in self._machine.runnable():
                return  # it has ended, and keeps the lock
            self._step(block.thread)

    def _taken(self, block: BlockTaken) -> tuple[int, slice] | None:
        """Where the lock is that the last step has taken. The addresses of locals are not those of
        the engine, but they are at the same place in their pages."""
        if block.lock is None:
            return None
        address, size = block.lock
        bits = self._machine.page_bits
        for page, before in sorted(self._before.items(), key=lambda row: row[0] != address >> bits):
            offset = address - (page << bits) if page == address >> bits else address % (1 << bits)
            part = slice(offset, offset + size)
            now = self._machine.memory.get(page, b"")
            if before is not None and not any(before[part]) and any(now[part]):
                return page, part
        return None

    def _counts(self, name: str, location: int) -> bool:
        """Whether the interpreter stops before what leaves a location."""
        function = self._program.functions[name]
        return any(self._is_visible(function, edge) for edge in function.edges[location])

    def _ended_too_early(self, number: int) -> ReplayFailed:
        if number in self._stopped:
            return _not_followed(self._program, number, self._stopped[number])
        return ReplayFailed(f"thread {number} has ended too early")

    def _is_at(self, block: BlockTaken) -> bool:
        if block.thread > len(self._machine.threads):
            raise ReplayFailed(f"thread {block.thread} is not there yet")
        thread = self._machine.threads[block.thread - 1]
        if thread.code is None:
            raise self._ended_too_early(block.thread)
        return (thread.code.function.name, thread.location) == (block.function, block.location)

    def _step(self, number: int) -> None:
        machine = self._machine
        if len(self._steps) > _MOST_PRIVATE_STEPS:
            raise ReplayFailed("too many steps")
        if number not in machine.runnable():
            raise self._ended_too_early(number)
        self._given = []
        outcome = machine.step(number)
        self._steps.append(ScheduledStep(number, tuple(self._given)))
        if outcome.ending is Ending.VIOLATION:
            self._is_over = True
            return
        # A thread that goes no further behind its access is out of the way of the others.
        stops = outcome.ending is Ending.PRUNED or outcome.ending in HAS_NO_VERDICT
        if outcome.ending is not Ending.MOVED and (outcome.in_section or not stops):
            raise _not_followed(machine.program, number, outcome)
        if stops:
            self._stopped[number] = outcome
        self._before = dict(machine.memory_before)
        machine.commit()

    def _supply(self, request: InputRequest) -> Number:
        inputs = self._inputs.get(self._machine.number, [])
        value = _value(request, self._unset, inputs, lambda number: number)
        self._given.append(value)
        return value
