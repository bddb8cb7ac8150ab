"""Exploration: worked examples, and random small models against plain enumeration."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.semantics.builder import (
    PTR,
    FunctionBuilder,
    ProgramBuilder,
    add,
    binary,
    equals,
    negated,
    number,
)

from plait.model.actions import (
    NOWHERE,
    Allocate,
    CheckKind,
    Free,
    Input,
    Load,
    Order,
    Prune,
    Store,
    Unsupported,
)
from plait.model.expressions import BinaryOp, StaticAddress
from plait.model.program import Program, StaticObject
from plait.model.properties import Property, Specification
from plait.model.types import I32, I64, U8
from plait.semantics.explore import Exploration, ExploreOptions, Verdict, explore
from plait.semantics.machine import Machine
from plait.semantics.outcome import Ending
from plait.semantics.run import run
from plait.semantics.state import State

ASSERTIONS = Specification()
RACES = Specification(frozenset({Property.NO_DATA_RACE}))
DEADLOCKS = Specification(frozenset({Property.NO_DEADLOCK}))
MEMORY = Specification(frozenset({Property.VALID_MEMSAFETY}))


def with_threads(
    program: ProgramBuilder, *bodies: Callable[[FunctionBuilder], None]
) -> FunctionBuilder:
    """A main that starts a thread per body and waits for all; the caller completes it."""
    main = program.function("main")
    done = program.variable("done")
    for index, body in enumerate(bodies):
        worker = program.function(f"worker{index}")
        body(worker)
        worker.begin()
        count = worker.load(done)
        worker.store(done, add(count, 1))
        worker.finish()
        worker.leave()
        main.spawn(f"worker{index}")
    main.begin()
    count = main.load(done)
    main.wait(equals(count, len(bodies)), "join")
    main.finish()
    return main


def counter(*, locked: bool, threads: int = 2) -> Program:
    program = ProgramBuilder()
    x, mutex = program.variable("x"), program.variable("mutex")

    def body(worker: FunctionBuilder) -> None:
        if locked:
            worker.lock(mutex)
        value = worker.load(x)
        worker.store(x, add(value, 1))
        if locked:
            worker.unlock(mutex)

    main = with_threads(program, *[body] * threads)
    value = main.load(x)
    main.check(equals(value, threads), "no update is lost")
    main.exit()
    return program.build()


def outcomes(
    program: Program, *items: StaticObject, reduction: bool = True
) -> set[tuple[int, ...]]:
    """The final values of variables in all executions."""
    found = explore(program, ASSERTIONS, ExploreOptions(reduction=reduction, keep_states=True))
    assert found.verdict is Verdict.TRUE
    results = set()
    for state in found.reached:
        if state.exit is not None:
            contents = dict(zip(state.pages, state.contents, strict=True))
            results.add(
                tuple(int.from_bytes(contents[i.page], "little", signed=True) for i in items)
            )
    return results


@pytest.mark.parametrize("reduction", [True, False])
def test_lost_update(reduction: bool) -> None:
    found = explore(counter(locked=False), ASSERTIONS, ExploreOptions(reduction=reduction))
    assert found.verdict is Verdict.FALSE
    assert found.violation is not None and found.violation.kind == "assertions"
    assert found.schedule is not None
    # main: start two threads (3 steps with its beginning), join, load; workers: 3 steps each.
    assert len(found.schedule) == 10
    replayed = run(counter(locked=False), ASSERTIONS, schedule=found.schedule)
    assert replayed.ending == "violation"
    assert replayed.outcome.message == "no update is lost"


@pytest.mark.parametrize("reduction", [True, False])
@pytest.mark.parametrize("threads", [2, 3])
def test_a_lock_prevents_lost_updates(reduction: bool, threads: int) -> None:
    found = explore(
        counter(locked=True, threads=threads), ASSERTIONS, ExploreOptions(reduction=reduction)
    )
    assert found.verdict is Verdict.TRUE


@pytest.mark.parametrize("reduction", [True, False])
def test_store_buffering_under_sequential_consistency(reduction: bool) -> None:
    program = ProgramBuilder()
    x, y, a, b = (program.variable(name) for name in "xyab")

    def body(mine: StaticObject, other: StaticObject, seen: StaticObject) -> Callable[..., None]:
        def write(worker: FunctionBuilder) -> None:
            worker.store(mine, 1)
            worker.store(seen, worker.load(other))

        return write

    main = with_threads(program, body(x, y, a), body(y, x, b))
    main.exit()
    assert outcomes(program.build(), a, b, reduction=reduction) == {(0, 1), (1, 0), (1, 1)}


def test_message_passing() -> None:
    program = ProgramBuilder()
    data, flag, a, b = (program.variable(name) for name in ("data", "flag", "a", "b"))

    def send(worker: FunctionBuilder) -> None:
        worker.store(data, 1)
        worker.store(flag, 1)

    def receive(worker: FunctionBuilder) -> None:
        worker.store(a, worker.load(flag))
        worker.store(b, worker.load(data))

    with_threads(program, send, receive).exit()
    assert outcomes(program.build(), a, b) == {(0, 0), (0, 1), (1, 1)}


def two_locks(*, same_order: bool) -> Program:
    program = ProgramBuilder()
    first, second = program.variable("first"), program.variable("second")

    def body(*mutexes: StaticObject) -> Callable[[FunctionBuilder], None]:
        def write(worker: FunctionBuilder) -> None:
            for mutex in mutexes:
                worker.lock(mutex)
            for mutex in mutexes:
                worker.unlock(mutex)

        return write

    other = body(first, second) if same_order else body(second, first)
    with_threads(program, body(first, second), other).exit()
    return program.build()


def test_deadlock_of_two_locks() -> None:
    found = explore(two_locks(same_order=False), DEADLOCKS)
    assert found.verdict is Verdict.FALSE
    assert found.violation is not None and found.violation.kind == "no-deadlock"
    assert "mutex 'second'" in found.violation.message
    assert found.schedule is not None
    replayed = run(two_locks(same_order=False), DEADLOCKS, schedule=found.schedule)
    assert replayed.ending == "deadlock"
    assert sorted(replayed.blocked) == [1, 2, 3]


def test_locks_in_order_do_not_deadlock() -> None:
    assert explore(two_locks(same_order=True), DEADLOCKS).verdict is Verdict.TRUE


def test_partial_deadlock_beside_a_busy_thread() -> None:
    program = ProgramBuilder()
    never, x = program.variable("never"), program.variable("x")

    def wait(worker: FunctionBuilder) -> None:
        worker.begin()
        worker.wait(worker.load(never), "event")
        worker.finish()

    main = program.function("main")
    waiter = program.function("waiter")
    wait(waiter)
    waiter.leave()
    main.spawn("waiter")
    head = main.here
    value = main.load(x)
    main.store(x, binary(BinaryOp.XOR, value, 1))
    main.jump(head)
    found = explore(program.build(), DEADLOCKS)
    assert found.verdict is Verdict.FALSE
    assert found.violation is not None and found.violation.thread == 2


def test_a_thread_that_is_woken_in_some_continuation_is_no_deadlock() -> None:
    program = ProgramBuilder()
    event = program.variable("event")
    main, waiter = program.function("main"), program.function("waiter")
    waiter.begin()
    waiter.wait(waiter.load(event), "event")
    waiter.finish()
    waiter.leave()
    main.spawn("waiter")
    head = main.here
    choice = main.register(I32)
    main.emit(Input(NOWHERE, choice, "go on?", number(2)))
    then, otherwise = main.branch(choice)
    main.here = then
    main.begin()
    main.finish()
    main.jump(head)
    main.here = otherwise
    main.store(event, 1)
    main.leave()
    assert explore(program.build(), DEADLOCKS).verdict is Verdict.TRUE


def racy(first: Order, second: Order, *, locked: bool = False, write: bool = True) -> Exploration:
    program = ProgramBuilder()
    x, mutex = program.variable("x"), program.variable("mutex")

    def one(worker: FunctionBuilder) -> None:
        if locked:
            worker.lock(mutex)
        if write:
            worker.store(x, 1, first)
        else:
            worker.load(x, first)
        if locked:
            worker.unlock(mutex)

    def two(worker: FunctionBuilder) -> None:
        if locked:
            worker.lock(mutex)
        worker.load(x, second)
        if locked:
            worker.unlock(mutex)

    with_threads(program, one, two).exit()
    built = program.build()
    found = explore(built, RACES)
    assert found.verdict is explore(built, RACES, ExploreOptions(reduction=False)).verdict
    return found


def test_races() -> None:
    found = racy(Order.PLAIN, Order.PLAIN)
    assert found.verdict is Verdict.FALSE
    assert found.violation is not None and "'x'" in found.violation.message
    assert racy(Order.PLAIN, Order.SEQ_CST).verdict is Verdict.FALSE
    assert racy(Order.VOLATILE, Order.VOLATILE).verdict is Verdict.FALSE
    assert racy(Order.RELAXED, Order.SEQ_CST).verdict is Verdict.TRUE
    assert racy(Order.PLAIN, Order.PLAIN, locked=True).verdict is Verdict.TRUE
    assert racy(Order.PLAIN, Order.PLAIN, write=False).verdict is Verdict.TRUE


def test_accesses_to_different_bytes_do_not_race() -> None:
    program = ProgramBuilder()
    pair = program.variable("pair", 0, I64)
    with_threads(
        program,
        lambda worker: worker.emit(Store(NOWHERE, StaticAddress(PTR, pair, 0), number(1))),
        lambda worker: worker.emit(Store(NOWHERE, StaticAddress(PTR, pair, 4), number(1))),
    ).exit()
    assert explore(program.build(), RACES).verdict is Verdict.TRUE


def test_accesses_that_overlap_race_wherever_they_begin() -> None:
    program = ProgramBuilder()
    pair = program.variable("pair", 0, I64)
    with_threads(
        program,
        lambda worker: worker.emit(Store(NOWHERE, StaticAddress(PTR, pair, 0), number(1))),
        lambda worker: worker.emit(Store(NOWHERE, StaticAddress(PTR, pair, 2), number(1))),
    ).exit()
    for reduction in (True, False):
        found = explore(program.build(), RACES, ExploreOptions(reduction=reduction))
        assert found.verdict is Verdict.FALSE


def input_program(scalar: object, wrong: int) -> Program:
    program = ProgramBuilder()
    main = program.function("main")
    value = main.register(scalar, "value")  # type: ignore[arg-type]
    main.emit(Input(NOWHERE, value, "value"))
    main.check(negated(equals(value, wrong)))
    main.exit()
    return program.build()


def test_inputs() -> None:
    assert explore(input_program(U8, 77), ASSERTIONS).verdict is Verdict.FALSE
    assert explore(input_program(U8, 300), ASSERTIONS).verdict is Verdict.TRUE
    assert explore(input_program(I32, 77), ASSERTIONS).verdict is Verdict.UNKNOWN
    assert explore(input_program(I32, -1), ASSERTIONS).verdict is Verdict.FALSE
    in_range = explore(input_program(I32, 77), ASSERTIONS, ExploreOptions(inputs=(0, 100)))
    assert in_range.verdict is Verdict.FALSE
    assert in_range.schedule is not None and in_range.schedule.steps[0].inputs == (77,)
    restricted = explore(input_program(I32, 77), ASSERTIONS, ExploreOptions(inputs=(0, 10)))
    assert restricted.verdict is Verdict.UNKNOWN
    assert restricted.reason == "holds for inputs in 0..10"


def test_a_failed_assumption_does_not_hide_what_others_do_before_it() -> None:
    program = ProgramBuilder()
    x = program.variable("x")
    main, worker = program.function("main"), program.function("worker")
    worker.store(x, 1)
    worker.emit(Prune(NOWHERE, number(0)))
    worker.leave()
    main.spawn("worker")
    main.check(equals(main.load(x), 0))
    main.exit()
    assert explore(program.build(), ASSERTIONS).verdict is Verdict.FALSE


def test_no_verdict_beside_unsupported_code_but_violations_count() -> None:
    def build(expected: int) -> Program:
        program = ProgramBuilder()
        x = program.variable("x")
        main, worker = program.function("main"), program.function("worker")
        worker.store(x, 1)
        worker.emit(Unsupported(NOWHERE, "setjmp"))
        worker.leave()
        main.spawn("worker")
        main.check(negated(equals(main.load(x), expected)))
        main.exit()
        return program.build()

    assert explore(build(1), ASSERTIONS).verdict is Verdict.FALSE
    found = explore(build(2), ASSERTIONS)
    assert found.verdict is Verdict.UNKNOWN
    assert found.reason.startswith("unsupported: setjmp")


def test_budgets_give_unknown() -> None:
    found = explore(counter(locked=True, threads=3), ASSERTIONS, ExploreOptions(max_states=50))
    assert found.verdict is Verdict.UNKNOWN and "50 states" in found.reason
    found = explore(counter(locked=True, threads=3), ASSERTIONS, ExploreOptions(max_seconds=-1.0))
    assert found.verdict is Verdict.UNKNOWN and "time is up" in found.reason

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    found = explore(counter(locked=True), ASSERTIONS, progress=interrupt)
    assert (found.verdict, found.reason) == (Verdict.UNKNOWN, "interrupted")


def heap_program(*, freed: int, kept: bool, read_after: bool = False) -> Program:
    program = ProgramBuilder()
    root = program.variable("root", 0, PTR)
    main = program.function("main")
    pointer = main.register(PTR)
    main.emit(Allocate(NOWHERE, pointer, number(8, I64), True, "heap"))
    if kept:
        main.store(root, pointer)
    for _ in range(freed):
        main.emit(Free(NOWHERE, pointer))
    if read_after:
        main.emit(Load(NOWHERE, main.register(I32), pointer))
    main.exit()
    return program.build()


def test_memory_safety() -> None:
    def kind(**options: int) -> str:
        found = explore(heap_program(**options), MEMORY)  # type: ignore[arg-type]
        return found.violation.kind if found.violation else found.verdict.value

    assert kind(freed=1, kept=False) == "true"
    assert kind(freed=0, kept=False) == "valid-memtrack"
    assert kind(freed=0, kept=True) == "true"
    assert kind(freed=2, kept=False) == "valid-free"
    assert kind(freed=1, kept=True, read_after=True) == "valid-deref"
    plain = explore(heap_program(freed=2, kept=False), ASSERTIONS)
    assert plain.verdict is Verdict.UNKNOWN and plain.reason.startswith("undefined behaviour")


# --- random models against enumeration of all schedules

OPERATIONS = ["load", "store", "add", "check", "lock", "unlock", "choose", "assume", "signal"]


@st.composite
def models(draw: st.DrawFn) -> Program:
    program = ProgramBuilder()
    items = [program.variable("x"), program.variable("y")]
    mutex = program.variable("mutex")

    def body(operations: list[tuple[str, int, int]]) -> Callable[[FunctionBuilder], None]:
        def write(worker: FunctionBuilder) -> None:
            last = worker.register(I32, "last")
            for name, which, value in operations:
                item = items[which]
                match name:
                    case "load":
                        worker.emit(Load(worker.origin(), last, StaticAddress(PTR, item)))
                    case "store":
                        worker.store(item, value)
                    case "add":
                        worker.store(item, add(last, 1))
                    case "check":
                        worker.check(negated(equals(last, value)))
                    case "lock":
                        worker.lock(mutex)
                    case "unlock":
                        worker.unlock(mutex)
                    case "choose":
                        worker.emit(Input(NOWHERE, last, "choice", number(2)))
                    case "assume":
                        worker.emit(Prune(NOWHERE, negated(equals(last, value))))
                    case _:
                        worker.begin()
                        worker.wait(equals(worker.load(item), value), "signal")
                        worker.finish()

        return write

    operation = st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 1), st.integers(0, 2))
    bodies = draw(st.lists(st.lists(operation, max_size=4), min_size=1, max_size=3))
    main = with_threads(program, *[body(operations) for operations in bodies])
    main.exit()
    return program.build()


class Enumeration:
    """All executions by plain recursion: no hashing, no reduction, no code of explore."""

    def __init__(self, program: Program, specification: Specification) -> None:
        self.machine = Machine(program, specification)
        self.states: set[State] = set()
        self.shortest: int | None = None
        self.stuck = False
        self.races = False
        self.budget = 3_000

    def run(self) -> None:
        self.machine.start()
        self._from(self.machine.state(), 0)

    def _from(self, state: State, depth: int) -> None:
        self.states.add(state)
        self.budget -= 1
        if self.budget < 0:
            return
        moves: list[State] = []
        blocked = 0
        accesses = []
        self.machine.restore(state)
        for thread in self.machine.runnable():
            pending: list[tuple[int, ...]] = [()]
            mine = []
            moved = False
            while pending:
                choices = pending.pop()
                self.machine.restore(state)
                self.machine.accesses = []
                outcome = self.machine.step(thread, choices)
                if outcome.ending is Ending.NEEDS_INPUT:
                    pending += [(*choices, 0), (*choices, 1)]
                elif outcome.ending is Ending.VIOLATION:
                    if self.shortest is None or depth + 1 < self.shortest:
                        self.shortest = depth + 1
                    moved = True
                elif outcome.ending is not Ending.BLOCKED and not outcome.in_section:
                    moves.append(self.machine.state())
                    moved = True
                    mine += self.machine.accesses
                else:
                    blocked += 1
            if moved:
                accesses.append(mine)
        self.stuck = self.stuck or bool(blocked and not moves)
        for index, mine in enumerate(accesses):
            for theirs in accesses[index + 1 :]:
                for a in mine:
                    for b in theirs:
                        writes = "write" in (a.kind.value, b.kind.value)
                        overlap = max(a.address, b.address) < min(
                            a.address + a.size, b.address + b.size
                        )
                        if writes and overlap and not (a.is_atomic and b.is_atomic):
                            self.races = True
        for following in moves:
            self._from(following, depth + 1)


def described(states: list[State] | set[State]) -> set[tuple[object, ...]]:
    """States of different machines, comparable."""
    return {
        (
            state.contents,
            tuple(
                (t.status, t.location, tuple(t.values), t.code and t.code.function.name)
                for t in state.threads
            ),
            state.exit,
        )
        for state in states
    }


@settings(max_examples=150, deadline=None)
@given(models())
def test_against_enumeration(program: Program) -> None:
    plain = Enumeration(program, ASSERTIONS)
    plain.run()
    full = explore(program, ASSERTIONS, ExploreOptions(reduction=False, keep_states=True))
    reduced = explore(program, ASSERTIONS, ExploreOptions(reduction=True, keep_states=True))
    forgetful = explore(program, ASSERTIONS, ExploreOptions(remembers=False, keep_states=True))
    assert full.verdict is reduced.verdict is forgetful.verdict
    assert described(reduced.reached) == described(forgetful.reached)
    if full.verdict is Verdict.FALSE:
        assert full.schedule is not None and reduced.schedule is not None
        assert len(full.schedule) == len(reduced.schedule)
        for found in (full, reduced):
            assert run(program, ASSERTIONS, schedule=found.schedule).ending == "violation"
    else:
        assert described(full.reached) == described(reduced.reached)
        assert reduced.transitions <= full.transitions
    if plain.budget >= 0:
        assert (plain.shortest is None) == (full.verdict is Verdict.TRUE)
        if plain.shortest is None:
            assert described(plain.states) == described(full.reached)
        else:
            assert full.schedule is not None and len(full.schedule) == plain.shortest


@settings(max_examples=100, deadline=None)
@given(models())
def test_races_against_enumeration(program: Program) -> None:
    plain = Enumeration(program, RACES)
    plain.run()
    full = explore(program, RACES, ExploreOptions(reduction=False))
    assert full.verdict is explore(program, RACES, ExploreOptions(reduction=True)).verdict
    if plain.budget >= 0:
        assert plain.races == (full.verdict is Verdict.FALSE)


@settings(max_examples=60, deadline=None)
@given(models(), st.integers(0, 1000))
def test_random_runs_stay_inside_the_explored_states(program: Program, seed: int) -> None:
    execution = run(program, ASSERTIONS, seed=seed)
    found = explore(program, ASSERTIONS)
    if execution.ending == "violation":
        assert found.verdict is Verdict.FALSE
    replayed = run(program, ASSERTIONS, schedule=execution.schedule)
    assert replayed.ending == execution.ending or execution.ending == "step limit"
    assert replayed.steps == execution.steps


def test_check_kinds_outside_the_specification_say_nothing() -> None:
    program = ProgramBuilder()
    main = program.function("main")
    main.check(number(0))
    main.exit()
    assert explore(program.build(), RACES).verdict is Verdict.TRUE
    assert CheckKind.ASSERTION not in RACES.checks
