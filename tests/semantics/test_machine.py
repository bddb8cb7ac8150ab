"""Steps: frames, memory, threads, sections, and what ends an execution."""

from __future__ import annotations

import pytest
from tests.semantics.builder import (
    PTR,
    FunctionBuilder,
    ProgramBuilder,
    add,
    array_layout,
    binary,
    equals,
    number,
    scalar_layout,
)

from plait.data import replace
from plait.model.actions import (
    NOWHERE,
    Allocate,
    EndThread,
    EnterScope,
    Free,
    Input,
    LeaveScope,
    Load,
    ObjectSize,
    Output,
    ReadModifyWrite,
    Skip,
    Store,
)
from plait.model.expressions import (
    BinaryOp,
    Const,
    CurrentThread,
    Expr,
    FrameAddress,
    FunctionAddress,
    PointerAdd,
    StaticAddress,
)
from plait.model.program import Program
from plait.model.properties import Property, Specification
from plait.model.types import F64, I8, I16, I32, I64, POINTER_32, U8, U64, DataModel, Scalar
from plait.semantics.actions import Limits
from plait.semantics.explore import ExploreOptions, Verdict, explore
from plait.semantics.machine import Machine
from plait.semantics.outcome import Ending, StepOutcome
from plait.semantics.run import Execution, run
from plait.semantics.visibility import conservative, escaping_slots

ASSERTIONS = Specification()
MEMORY = Specification(frozenset({Property.VALID_MEMSAFETY}))


def result_of(program: ProgramBuilder, specification: Specification = ASSERTIONS) -> Execution:
    return run(program.build(), specification, seed=1)


def stepped(program: Program, specification: Specification = ASSERTIONS) -> StepOutcome:
    machine = Machine(program, specification)
    machine.start()
    return machine.step(1, most=10_000)


def test_recursion_and_results() -> None:
    program = ProgramBuilder()
    main, fact = program.function("main"), program.function("fact", ("n", I32))
    n = fact.arguments[0]
    then, otherwise = fact.branch(binary(BinaryOp.LE, n, 1))
    fact.here = then
    fact.leave(number(1))
    fact.here = otherwise
    smaller = fact.register(I32)
    fact.call("fact", binary(BinaryOp.SUB, n, 1), target=smaller)
    fact.leave(binary(BinaryOp.MUL, n, smaller))
    value = main.register(I32)
    main.call("fact", number(10), target=value)
    main.exit(value)
    execution = result_of(program)
    assert (execution.ending, execution.status) == ("exit", 3628800)
    assert execution.exit_code == 3628800 & 0xFF


def test_calls_through_pointers_convert_arguments_by_bits() -> None:
    program = ProgramBuilder()
    main = program.function("main")
    low = program.function("low", ("value", I16))
    low.leave(low.arguments[0])
    value = main.register(I64)
    main.call(FunctionAddress(PTR, "low"), number(0x1FFFF, I32), number(5), target=value)
    main.exit(binary(BinaryOp.ADD, value, 0))
    # The bits of a 16-bit result, seen as a 64-bit value.
    assert result_of(program).status == 0xFFFF


def test_missing_arguments_are_inputs_and_wrong_pointers_undefined() -> None:
    program = ProgramBuilder()
    main = program.function("main")
    low = program.function("low", ("value", I8))
    result = main.register(I32)
    low.leave(low.arguments[0])
    main.call(FunctionAddress(PTR, "low"), target=result)
    main.exit()
    outcome = stepped(program.build())
    assert (outcome.ending, outcome.message) == (Ending.NEEDS_INPUT, "missing argument")

    program = ProgramBuilder()
    main = program.function("main")
    main.call(Const(PTR, 12345))
    main.exit()
    assert stepped(program.build()).ending is Ending.UNDEFINED
    assert stepped(program.build(), MEMORY).kind == "valid-deref"


def local_program(*, leave_first: bool) -> ProgramBuilder:
    """A function hands out the address of its local."""
    program = ProgramBuilder()
    main, give = program.function("main"), program.function("give")
    slot = give.slot(scalar_layout(I32))
    give.emit(EnterScope(NOWHERE, (0,)))
    give.emit(Store(NOWHERE, FrameAddress(PTR, slot), number(42)))
    if leave_first:
        give.emit(LeaveScope(NOWHERE, (0,)))
    give.leave(FrameAddress(PTR, slot))
    pointer, value = main.register(PTR), main.register(I32)
    main.call("give", target=pointer)
    main.emit(Load(main.origin(), value, pointer))
    main.exit(value)
    return program


def test_dangling_pointers_to_locals() -> None:
    outcome = stepped(local_program(leave_first=False).build())
    assert outcome.ending is Ending.UNDEFINED and "no live object" in outcome.message
    outcome = stepped(local_program(leave_first=False).build(), MEMORY)
    assert (outcome.ending, outcome.kind) == (Ending.VIOLATION, "valid-deref")
    assert stepped(local_program(leave_first=True).build()).ending is Ending.UNDEFINED


def test_stack_pages_are_reused_so_that_loops_with_calls_are_finite() -> None:
    def build() -> Program:
        program = ProgramBuilder()
        x = program.variable("x")
        main, work = program.function("main"), program.function("work")
        slot = work.slot(scalar_layout(I32))
        work.emit(EnterScope(NOWHERE, (0,)))
        work.emit(Store(NOWHERE, FrameAddress(PTR, slot), number(1)))
        work.store(x, 1)
        work.leave()
        head = main.here
        main.call("work")
        main.jump(head)
        return program.build()

    found = explore(build(), ASSERTIONS, ExploreOptions(max_states=100))
    assert found.verdict is Verdict.TRUE and found.states < 10
    found = explore(build(), MEMORY, ExploreOptions(max_states=100))
    assert found.verdict is Verdict.UNKNOWN


def test_uninitialised_memory_is_an_input_until_written() -> None:
    program = ProgramBuilder()
    main = program.function("main")
    slot = main.slot(array_layout(U8, 2))
    main.emit(EnterScope(NOWHERE, (0,)))
    main.emit(Store(NOWHERE, FrameAddress(PTR, slot, 1), number(7, U8)))
    first, second = main.register(U8), main.register(U8)
    main.emit(Load(NOWHERE, second, FrameAddress(PTR, slot, 1)))
    main.check(equals(second, 7))
    main.emit(Load(NOWHERE, first, FrameAddress(PTR, slot, 0)))
    main.check(binary(BinaryOp.LE, first, 200))
    main.exit()
    outcome = stepped(program.build())
    assert (outcome.ending, outcome.message) == (
        Ending.NEEDS_INPUT,
        "uninitialised 'local[0]'",
    )
    found = explore(program.build(), ASSERTIONS)
    assert found.verdict is Verdict.FALSE
    assert found.schedule is not None and found.schedule.steps[0].inputs == (201,)


def access(offset: int, size: Scalar = I32, *, write: bool = False, read_only: bool = False) -> str:
    program = ProgramBuilder()
    item = program.object("item", array_layout(I32, 2), read_only=read_only)
    main = program.function("main")
    address = PointerAdd(PTR, StaticAddress(PTR, item), number(offset, I64))
    if write:
        main.emit(Store(NOWHERE, address, Const(size, 1)))
    else:
        main.emit(Load(NOWHERE, main.register(size), address))
    main.exit()
    return stepped(program.build(), MEMORY).ending.value


def test_bounds() -> None:
    assert access(4) == "moved"
    assert access(3) == "moved"  # misaligned accesses are allowed
    assert access(5) == "violation"
    assert access(8) == "violation"
    assert access(4, I64) == "violation"
    assert access(1 << 20) == "violation"
    assert access(-4) == "violation"
    assert access(-(1 << 32)) == "violation"
    assert access(-(1 << 32) - 4) == "limit"
    assert access(1 << 40) == "limit"
    assert access(0, read_only=True) == "moved"
    assert access(0, write=True, read_only=True) == "violation"
    assert access(0, write=True) == "moved"


def test_null_pointers() -> None:
    program = ProgramBuilder()
    main = program.function("main")
    main.emit(Load(NOWHERE, main.register(I32), Const(PTR, 16)))
    main.exit()
    assert "null pointer" in stepped(program.build(), MEMORY).message


def test_objects_of_several_pages() -> None:
    program = ProgramBuilder(DataModel.ILP32)
    item = program.object("item", array_layout(I32, 20_000))
    after = program.variable("after", 5)
    main = program.function("main")

    def at(offset: int) -> Expr:
        return PointerAdd(POINTER_32, StaticAddress(POINTER_32, item), number(offset))

    main.emit(Store(NOWHERE, at(70_000), number(9)))
    value = main.register(I32)
    main.emit(Load(NOWHERE, value, at(70_000)))
    main.exit(value)
    built = program.build()
    assert after.page == item.page + 12
    assert run(built, MEMORY, seed=1).status == 9
    main.function.edges[0][0].action = Store(NOWHERE, at(80_000), number(9))
    outcome = stepped(replace(built), MEMORY)  # another program: one that has run does not change
    assert outcome.kind == "valid-deref" and "80000" in outcome.message


def test_heap() -> None:
    program = ProgramBuilder()
    main = program.function("main")
    pointer, size = main.register(PTR), main.register(U64)
    main.emit(Allocate(NOWHERE, pointer, number(12, U64), False, "heap"))
    main.emit(ObjectSize(NOWHERE, size, pointer))
    main.emit(Free(NOWHERE, pointer))
    main.emit(Free(NOWHERE, Const(PTR, 0)))
    main.exit(binary(BinaryOp.ADD, size, 0))
    assert result_of(program, MEMORY).status == 12

    for address in (add(pointer, 4), number(1 << 40, PTR)):
        program = ProgramBuilder()
        main = program.function("main")
        pointer = main.register(PTR)
        main.emit(Allocate(NOWHERE, pointer, number(12, U64), False, "heap"))
        main.emit(Free(NOWHERE, address))
        main.exit()
        assert stepped(program.build(), MEMORY).kind == "valid-free"
        assert stepped(program.build()).ending is Ending.UNDEFINED


def test_absurd_allocations_are_a_limit() -> None:
    program = ProgramBuilder()
    main = program.function("main")
    main.emit(Allocate(NOWHERE, main.register(PTR), number(1 << 50, U64), False, "heap"))
    main.exit()
    assert stepped(program.build()).ending is Ending.LIMIT


def test_thread_local_objects() -> None:
    program = ProgramBuilder()
    mine = program.variable("mine", 5, thread_local=True)
    shared = program.variable("shared")
    main, worker = program.function("main"), program.function("worker")
    value = worker.load(mine)
    worker.store(mine, add(value, 1))
    worker.store(shared, worker.load(mine))
    worker.end(EndThread(NOWHERE))
    main.store(mine, 100)
    main.spawn("worker")
    main.begin()
    main.wait(main.load(shared), "worker")
    main.finish()
    main.check(equals(main.load(shared), 6))
    main.check(equals(main.load(mine), 100))
    main.exit()
    assert explore(program.build(), ASSERTIONS).verdict is Verdict.TRUE


def test_thread_numbers_and_arguments() -> None:
    program = ProgramBuilder()
    shared = program.variable("shared", 0, I64)
    main, worker = program.function("main"), program.function("worker", ("argument", PTR))
    worker.check(equals(CurrentThread(I32), 2))
    worker.store(shared, worker.arguments[0])
    worker.leave()
    number_of_worker = main.spawn("worker", 77)
    main.begin()
    main.wait(main.load(shared), "worker")
    main.finish()
    main.check(equals(number_of_worker, 2))
    main.check(equals(CurrentThread(I32), 1))
    main.check(equals(main.load(shared), 77))
    main.exit()
    assert explore(program.build(), ASSERTIONS).verdict is Verdict.TRUE


def test_read_modify_write() -> None:
    program = ProgramBuilder()
    x = program.variable("x", 3)
    main = program.function("main")
    old = main.register(I32, "old")
    address = StaticAddress(PTR, x)
    main.emit(ReadModifyWrite(NOWHERE, old, address, add(old, 4)))
    main.check(equals(old, 3))
    main.emit(ReadModifyWrite(NOWHERE, old, address, number(99), equals(old, 8)))
    main.check(equals(old, 7))
    main.exit(main.load(x))
    assert result_of(program).status == 7


def spinning(body: FunctionBuilder) -> None:
    head = body.location()
    body.jump(head)
    body.edge(head, Skip(NOWHERE), head)


def test_endless_local_loops_have_finitely_many_states() -> None:
    program = ProgramBuilder()
    main = program.function("main")
    spinning(main)
    found = explore(program.build(), ASSERTIONS, ExploreOptions(max_states=50))
    assert found.verdict is Verdict.TRUE
    execution = run(program.build(), ASSERTIONS, seed=1, max_steps=100)
    assert execution.ending == "step limit"


def test_endless_sections_are_a_limit() -> None:
    program = ProgramBuilder()
    main = program.function("main")
    main.begin()
    spinning(main)
    found = explore(program.build(), ASSERTIONS, ExploreOptions(limits=Limits(section=1000)))
    assert found.verdict is Verdict.UNKNOWN and found.reason.startswith("limit")


def test_endless_recursion_is_a_limit() -> None:
    program = ProgramBuilder()
    main = program.function("main")
    main.call("main")
    main.exit()
    found = explore(program.build(), ASSERTIONS)
    assert found.verdict is Verdict.UNKNOWN and "recursion" in found.reason


def test_a_section_that_blocks_has_not_begun() -> None:
    program = ProgramBuilder()
    x, y = program.variable("x"), program.variable("y")
    main, worker = program.function("main"), program.function("worker")
    worker.begin()
    worker.store(y, 1)
    worker.wait(worker.load(x), "x")
    worker.store(y, 2)
    worker.finish()
    worker.leave()
    main.spawn("worker")
    seen = main.load(y)
    main.check(equals(binary(BinaryOp.AND, seen, 1), 0), "nobody sees y = 1")
    main.store(x, 1)
    main.exit()
    assert explore(program.build(), ASSERTIONS).verdict is Verdict.TRUE
    for seed in range(20):
        assert run(program.build(), ASSERTIONS, seed=seed).ending == "exit"


@pytest.mark.parametrize(
    ("text", "values", "wanted"),
    [
        (b"%d %i|%5d|%-5d|%05d", [-1, 7, 42, 42, 42], b"-1 7|   42|42   |00042"),
        (b"%u %x %X %#x", [-1, 255, 255, 16], b"4294967295 ff FF 0x10"),
        (b"%hhd %hd %ld %lld", [300, 70000, -5, -6], b"44 4464 -5 -6"),
        (b"%c%c %% %s", [65, 66, 0], b"AB % (null)"),
        (b"%zu %lu %llx", [3, 4, 255], b"3 4 ff"),
        (b"%d %d", [1], b"1 %d"),
        (b"%.3d|%+d|%*d", [5, 5, 4, 5], b"005|+5|   5"),
        (b"100%", [], b"100%"),
    ],
)
def test_output(text: bytes, values: list[int], wanted: bytes) -> None:
    program = ProgramBuilder()
    form = program.object("format", array_layout(I8, len(text) + 1), text, read_only=True)
    main = program.function("main")
    arguments = tuple(number(value) for value in values)
    main.emit(Output(NOWHERE, (StaticAddress(PTR, form), *arguments)))
    main.exit()
    assert result_of(program).output == wanted


def test_output_of_floats_and_strings() -> None:
    program = ProgramBuilder()
    form = program.object("format", array_layout(I8, 20), b"%s: %.2f %g %e", read_only=True)
    text = program.object("text", array_layout(I8, 6), b"hello")
    main = program.function("main")
    floats = (Const(F64, 1.005), Const(F64, 0.5), Const(F64, 12345.678))
    main.emit(Output(NOWHERE, (StaticAddress(PTR, form), StaticAddress(PTR, text), *floats)))
    main.exit()
    assert result_of(program).output == b"hello: 1.00 0.5 1.234568e+04"


def test_floats_in_states_are_compared_by_bits() -> None:
    """0.0 and -0.0 are different states, and a NaN is the same state as itself."""
    program = ProgramBuilder()
    x = program.variable("x")
    main = program.function("main")
    value, choice = main.register(F64, "value"), main.register(I32)
    main.emit(Input(NOWHERE, choice, "which", number(3)))
    main.assign(value, Const(F64, float("nan")))
    head = main.here
    main.store(x, 1)
    main.store(x, 2)
    then, otherwise = main.branch(binary(BinaryOp.EQ, value, Const(F64, 1.0)))
    main.here = otherwise
    main.jump(head)
    main.here = then
    main.exit()
    assert (
        explore(program.build(), ASSERTIONS, ExploreOptions(max_states=30)).verdict is Verdict.TRUE
    )


def test_only_addresses_that_stay_in_accesses_do_not_escape() -> None:
    program = ProgramBuilder()
    keep = program.variable("keep", 0, PTR)
    main = program.function("main")
    hidden, given = main.slot(array_layout(I32, 4), "hidden"), main.slot(scalar_layout(I32))
    index = main.register(I64)
    inside = PointerAdd(PTR, FrameAddress(PTR, hidden), index)
    main.emit(EnterScope(NOWHERE, (0, 1)))
    main.emit(Store(NOWHERE, inside, number(1)))
    main.emit(Store(NOWHERE, FrameAddress(PTR, given), number(1)))
    main.store(keep, FrameAddress(PTR, given))
    main.exit()
    assert escaping_slots(main.function) == {given.index}
    is_visible = conservative()
    found = [is_visible(main.function, edge) for edge in main.function.all_edges()]
    assert found == [False, False, True, True, True]


def test_equal_states_are_equal_whatever_the_way_to_them() -> None:
    program = ProgramBuilder()
    x, y = program.variable("x"), program.variable("y")
    main = program.function("main")
    for index, item in enumerate((x, y)):
        worker = program.function(f"worker{index}")
        temporary = worker.load(item)
        worker.store(item, add(temporary, 1))
        worker.leave()
        main.spawn(f"worker{index}")
    main.leave()
    machine = Machine(program.build(), ASSERTIONS)
    results = []
    for order in ((2, 2, 3, 3), (3, 2, 3, 2)):
        machine.start()
        for thread in (1, 1, 1, *order):
            if thread in machine.runnable():
                assert machine.step(thread).ending is Ending.MOVED
        results.append(machine.state())
    assert results[0] == results[1] and hash(results[0]) == hash(results[1])
