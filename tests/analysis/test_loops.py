from __future__ import annotations

import pytest
from tests.analysis.builder import (
    FunctionBuilder,
    address,
    binary,
    less,
    number,
    program,
    static,
)

from plait.analysis.loops import Loop, find_loops
from plait.model.expressions import Binary, BinaryOp, Const, Convert, Expr, Register
from plait.model.types import I8, I32, U32


def loops_of(builder: FunctionBuilder, *others: FunctionBuilder) -> list[Loop]:
    return find_loops(program(builder, *others), builder.function)


def plus(register: Register, amount: int) -> Expr:
    return Binary(register.type, BinaryOp.ADD, register, Const(register.type, amount))


def for_loop(start: int, condition, step: int, scalar=I32) -> FunctionBuilder:
    main = FunctionBuilder("main")
    i = main.register("i", scalar)
    main.assign(i, start)
    head, body, end = main.here, main.location(), main.location()
    main.branch(condition(i), body, end)
    main.here = body
    main.skip()
    main.assign(i, plus(i, step), to=head)
    main.here = end
    main.ret()
    return main


@pytest.mark.parametrize(
    ("start", "condition", "step", "bound"),
    [
        (0, lambda i: less(i, 10), 1, 10),
        (0, lambda i: binary("<=", i, number(10)), 3, 4),
        (0, lambda i: binary("<=", i, number(9)), 3, 4),
        (10, lambda i: binary("<=", number(0), i), -1, 11),
        (10, lambda i: binary("<", number(0), i), -1, 10),
        (0, lambda i: binary("!=", i, number(8)), 2, 4),
        (5, lambda i: less(i, 5), 1, 0),
        (0, lambda i: less(i, 1_000_000), 1, 1_000_000),
        (0, lambda i: binary("!=", i, number(7)), 2, None),
        (0, lambda i: less(i, 10), -1, None),
    ],
)
def test_bounds_of_counting_loops(start: int, condition, step: int, bound: int | None) -> None:
    (loop,) = loops_of(for_loop(start, condition, step))
    assert loop.bound == bound and loop.is_reducible and not loop.is_spin


def test_a_counter_that_wraps_is_counted_exactly() -> None:
    def below(i: Register) -> Expr:
        return less(Convert(I32, i), 5)

    (loop,) = loops_of(for_loop(100, lambda i: binary("!=", i, Const(I8, -100)), 7, I8))
    value, rounds = 100, 0
    while value != -100 and rounds < 1000:
        value = I8.wrap(value + 7)
        rounds += 1
    assert loop.bound == rounds
    (loop,) = loops_of(for_loop(0, below, 1, I8))
    assert loop.bound == 5


def test_a_counter_that_never_gets_beyond_its_limit() -> None:
    (loop,) = loops_of(for_loop(0, lambda i: binary("<=", i, Const(I8, 127)), 1, I8))
    assert loop.bound is None


def test_do_while_and_post_increment() -> None:
    main = FunctionBuilder("main")
    i = main.register("i", U32)
    main.assign(i, 0)
    head = main.here
    main.skip()
    main.assign(i, plus(i, 1))
    end = main.location()
    main.branch(binary("<", i, Const(U32, 4)), head, end)
    (loop,) = loops_of(main)
    assert loop.bound == 3

    main = FunctionBuilder("main")
    i, old = main.register("i"), main.register()
    main.assign(i, 0)
    head = main.here
    main.assign(old, i)
    main.assign(i, plus(old, 1))
    body, end = main.location(), main.location()
    main.branch(less(old, 4), body, end)
    main.here = body
    main.skip(head)
    (loop,) = loops_of(main)
    assert loop.bound == 4


def test_no_bound_if_the_counter_is_also_assigned_elsewhere() -> None:
    main = FunctionBuilder("main", [I32])
    i = main.register("i")
    main.assign(i, 0)
    head, body, end = main.here, main.location(), main.location()
    main.branch(less(i, 3), body, end)
    main.here = body
    again, on = main.location(), main.location()
    main.branch(main.parameters[0], again, on)
    main.here = again
    main.assign(i, 0, to=on)
    main.assign(i, plus(i, 1), to=head)
    (loop,) = loops_of(main)
    assert loop.bound is None


def test_no_bound_if_the_counter_is_set_back_in_each_round() -> None:
    main = FunctionBuilder("main")
    i = main.register("i")
    main.assign(i, 0)
    head, body, end = main.here, main.location(), main.location()
    main.branch(less(i, 3), body, end)
    main.here = body
    main.assign(i, plus(i, 1))
    main.skip()
    main.assign(i, plus(i, -1), to=head)
    (loop,) = loops_of(main)
    assert loop.bound is None


def test_no_bound_if_an_inner_loop_counts() -> None:
    """It may count past the value that the outer loop waits for."""
    main = FunctionBuilder("main", [I32])
    i = main.register("i")
    main.assign(i, 0)
    outer, inner, end = main.here, main.location(), main.location()
    main.branch(binary("!=", i, number(3)), inner, end)
    main.here = inner
    main.assign(i, plus(i, 1))
    on = main.location()
    main.branch(main.parameters[0], inner, on)
    main.here = on
    main.skip(outer)
    assert [loop.bound for loop in loops_of(main)] == [None, None]


def test_no_bound_if_the_counter_comes_from_outside_on_one_way() -> None:
    main = FunctionBuilder("main", [I32, I32])
    i, chosen = main.parameters
    reset, loop_head = main.location(), main.location()
    main.branch(chosen, reset, loop_head)
    main.here = reset
    main.assign(i, 0, to=loop_head)
    main.here = loop_head
    body, end = main.location(), main.location()
    main.branch(less(i, 3), body, end)
    main.here = body
    main.assign(i, plus(i, 1), to=loop_head)
    (loop,) = loops_of(main)
    assert loop.bound is None


def test_no_bound_if_a_round_may_leave_out_the_step() -> None:
    main = FunctionBuilder("main", [I32])
    i = main.register("i")
    main.assign(i, 0)
    head, body, end = main.here, main.location(), main.location()
    main.branch(less(i, 3), body, end)
    main.here = body
    step = main.location()
    main.branch(main.parameters[0], step, head)
    main.here = step
    main.assign(i, plus(i, 1), to=head)
    (loop,) = loops_of(main)
    assert loop.bound is None


def test_nested_loops() -> None:
    main = FunctionBuilder("main")
    i, j = main.register("i"), main.register("j")
    main.assign(i, 0)
    outer, body, end = main.here, main.location(), main.location()
    main.branch(less(i, 3), body, end)
    main.here = body
    main.assign(j, 0)
    inner, work, on = main.here, main.location(), main.location()
    main.branch(less(j, 4), work, on)
    main.here = work
    main.assign(j, plus(j, 1), to=inner)
    main.here = on
    main.assign(i, plus(i, 1), to=outer)
    first, second = loops_of(main)
    assert (first.head, first.depth, first.bound) == (outer, 1, 3)
    assert (second.head, second.depth, second.bound) == (inner, 2, 4)
    assert second.parent is first and first.children == [second]


def test_two_entries_make_an_irreducible_loop() -> None:
    main = FunctionBuilder("main", [I32])
    left, right = main.location(), main.location()
    main.branch(main.parameters[0], left, right)
    main.here = left
    main.skip(right)
    main.here = right
    main.skip(left)
    (loop,) = loops_of(main)
    assert not loop.is_reducible and loop.bound is None
    assert loop.body == {left, right}


def waiting(change: bool, read_after: bool) -> FunctionBuilder:
    flag = static("flag")
    main = FunctionBuilder("main")
    seen, count = main.register("seen"), main.register("count")
    main.assign(count, 0)
    head = main.here
    main.load(seen, address(flag))
    if change:
        main.assign(count, plus(count, 1))
    again, end = main.location(), main.location()
    main.branch(binary("==", seen, number(0)), again, end)
    main.here = again
    main.skip(head)
    main.here = end
    main.ret(seen if read_after else None)
    return main


def test_spin_loops() -> None:
    assert loops_of(waiting(change=False, read_after=False))[0].is_spin
    assert loops_of(waiting(change=False, read_after=True))[0].is_spin
    assert not loops_of(waiting(change=True, read_after=False))[0].is_spin


def test_a_loop_that_stores_or_calls_a_storing_function_is_no_spin_loop() -> None:
    flag = static("flag")
    quiet = FunctionBuilder("quiet")
    quiet.skip()
    quiet.ret()
    loud = FunctionBuilder("loud")
    loud.store(address(flag), 1)
    loud.ret()
    for name, expected in (("quiet", True), ("loud", False)):
        main = FunctionBuilder("main")
        main.skip()
        head = main.here
        main.call(None, name)
        main.skip(head)
        assert loops_of(main, quiet, loud)[0].is_spin is expected


def test_atomic_sections_in_spin_loops_must_be_closed() -> None:
    flag = static("flag")
    for is_closed in (True, False):
        main = FunctionBuilder("main")
        seen = main.register("seen")
        main.skip()
        head = main.here
        main.atomic_begin()
        main.load(seen, address(flag))
        if is_closed:
            main.atomic_end()
        end = main.location()
        main.branch(seen, end, head)
        assert loops_of(main)[0].is_spin is is_closed
