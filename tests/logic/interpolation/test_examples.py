"""Worked examples: which labels the procedures find, and what becomes of inputs."""

from __future__ import annotations

import sys
import time

import pytest
from tests.logic.interpolation.paths import (
    EXAMPLES,
    Maker,
    below_unknown,
    bounded_input,
    cells,
    count_to_ten,
    doubled,
    lock,
    peterson,
    two_counters,
)

from plait.logic.interpolation.interpolate import (
    Blame,
    Feasible,
    Interpolants,
    Interpolator,
    Unknown,
)
from plait.logic.interpolation.model import Model
from plait.logic.interpolation.path import Step
from plait.logic.interpolation.problem import Context, Path
from plait.logic.interpolation.slicing import _Search
from plait.logic.terms import Terms


def explained(
    terms: Terms, steps: list[Step], procedure: str, blame: Blame = Blame.LATE
) -> Interpolants:
    interpolator = Interpolator(terms, procedures=[procedure])
    result = interpolator.interpolate(steps, blame=blame)
    assert isinstance(result, Interpolants), interpolator.statistics
    assert result.procedure == procedure
    return result


@pytest.mark.parametrize("procedure", ["farkas", "spacer"])
def test_a_loop_to_ten_gives_a_bound(procedure: str) -> None:
    """Not `i == 7`: the last round alone explains the path."""
    terms = Terms()
    result = explained(terms, count_to_ten(terms), procedure)
    make = Maker(terms)
    i = make.variable("i")
    assert result.start == 19
    assert result.sequence[:20] == ((),) * 20
    assert result.sequence[20:] == (
        (make.less(i, 10),),
        (make.less(i, 11),),
        (make.is_(i, 10),),
        (terms.false,),
    )


def test_a_loop_to_ten_by_weakest_preconditions_says_the_same() -> None:
    terms = Terms()
    result = explained(terms, count_to_ten(terms), "weakest")
    make = Maker(terms)
    i = make.variable("i")
    (label,) = result.sequence[21]
    assert label == terms.or_(make.less(i, 10), make.is_(i, 10))


def test_the_number_of_rounds_does_not_matter() -> None:
    """So the labels of one unrolling of a loop hold for the next one."""
    terms = Terms()
    few = explained(terms, count_to_ten(terms, rounds=3), "farkas").sequence[-4:]
    many = explained(terms, count_to_ten(terms, rounds=8), "farkas").sequence[-4:]
    assert few == many


def test_y_is_twice_x() -> None:
    terms = Terms()
    result = explained(terms, doubled(terms), "weakest")
    make = Maker(terms)
    x, y = make.variable("x"), make.variable("y")
    invariant = (terms.eq(y, terms.mul(x, make.number(2))),)
    assert all(result.sequence[place] == invariant for place in range(1, 12, 2))


def test_constants_from_the_beginning() -> None:
    terms = Terms()
    result = explained(terms, doubled(terms), "strongest")
    make = Maker(terms)
    assert set(result.sequence[3]) == {
        make.is_(make.variable("x"), 1),
        make.is_(make.variable("y"), 2),
    }


def test_one_counter_never_overtakes_the_other() -> None:
    terms = Terms()
    result = explained(terms, two_counters(terms), "farkas")
    make = Maker(terms)
    label = terms.sle(make.variable("y"), make.variable("x"))
    assert label in result.sequence[15]
    assert label in result.sequence[12]


def test_an_unknown_bound() -> None:
    terms = Terms()
    result = explained(terms, below_unknown(terms), "farkas")
    make = Maker(terms)
    assert result.sequence[10] == (terms.sle(make.variable("i"), make.variable("n")),)


@pytest.mark.parametrize("procedure", ["weakest", "strongest", "spacer"])
def test_flags(procedure: str) -> None:
    terms = Terms()
    result = explained(terms, peterson(terms), procedure)
    make = Maker(terms)
    assert result.sequence[3] == (make.is_(make.variable("turn"), 2),)
    assert result.sequence[5] == (terms.false,)


@pytest.mark.parametrize("procedure", ["weakest", "strongest", "farkas", "spacer"])
def test_inputs_do_not_occur(procedure: str) -> None:
    terms = Terms()
    steps = bounded_input(terms)
    result = explained(terms, steps, procedure)
    make = Maker(terms)
    inputs = {make.variable("in1"), make.variable("in2")}
    for label in result.sequence:
        assert not inputs.intersection(terms.parts(label))


def test_the_range_of_an_input_as_a_bound() -> None:
    terms = Terms()
    result = explained(terms, bounded_input(terms), "farkas")
    make = Maker(terms)
    x = make.variable("x")
    assert result.sequence[1] == (terms.ult(x, make.number(15)),)
    assert result.sequence[3] == (terms.ult(x, make.number(20)),)


def test_an_index_is_replaced_by_all_its_values() -> None:
    terms = Terms()
    steps = cells(terms)
    result = explained(terms, steps, "weakest")
    make = Maker(terms)
    before_choice = next(place for place, step in enumerate(steps) if step.inputs)
    assert set(result.sequence[before_choice]) == {
        make.less(make.variable(f"a{index}"), index + 1) for index in range(4)
    }


def test_a_variable_that_cannot_be_eliminated_stays() -> None:
    """x < 10; a square is x plus an input up to 3; the square is above 50."""
    terms = Terms()
    make = Maker(terms, width=8)
    x, y, given = make.variable("x"), make.variable("y"), make.variable("given")
    square = terms.mul(y, y)
    make.step(terms.ult(x, make.number(10)))
    make.step()
    make.step(
        terms.ule(given, make.number(3)), terms.eq(square, terms.add(x, given)), inputs=(given,)
    )
    make.step(terms.ult(make.number(50), square))
    result = explained(terms, make.steps, "weakest")
    for label in result.sequence:
        assert given not in terms.parts(label)


def test_what_has_nothing_to_do_with_it_is_left_out() -> None:
    terms = Terms()
    result = explained(terms, lock(terms), "strongest")
    make = Maker(terms)
    held = make.variable("held")
    for label in result.sequence[2:-1]:
        assert label == (make.is_(held, 1),)


def test_the_default_order_explains_all_examples() -> None:
    for name, example in EXAMPLES.items():
        terms = Terms()
        result = Interpolator(terms).interpolate(example(terms))
        assert isinstance(result, Interpolants), name


def test_early_assumptions_are_dropped_first() -> None:
    terms = Terms()
    make = Maker(terms)
    x, y, z = (make.variable(name) for name in "xyz")
    make.step(make.less(x, 10))
    make.step(terms.eq(y, x))
    make.step(terms.eq(z, x))
    make.step(terms.slt(make.number(20), y), terms.slt(make.number(20), z))
    context = Context(terms)
    path = Path(context, make.steps)
    search = _Search(context, path)
    found = search.some_contradiction()
    assert not isinstance(found, Model)
    place, _ = found
    everything = [(step, term) for step in range(4) for term in path.assumes[step]]
    kept = search.minimised(place, everything)
    assert [step for step, _ in kept] == [0, 2, 3]


def twice_infeasible(terms: Terms) -> list[Step]:
    """x is 1 and then 0; later y is 1 and then 0."""
    make = Maker(terms)
    x, y = make.variable("x"), make.variable("y")
    make.step(make.is_(x, 1))
    make.step(make.is_(x, 0))
    make.step(make.is_(y, 1))
    make.step(make.is_(y, 0))
    return make.steps


def test_which_part_is_to_blame() -> None:
    terms = Terms()
    make = Maker(terms)
    is_one = {name: make.is_(make.variable(name), 1) for name in "xy"}
    late = explained(terms, twice_infeasible(terms), "strongest")
    assert late.sequence == ((), (), (), (is_one["y"],), (terms.false,))
    early = explained(terms, twice_infeasible(terms), "strongest", Blame.EARLY)
    false = (terms.false,)
    assert early.sequence == ((), (is_one["x"],), false, false, false)


def test_labels_are_false_as_soon_as_possible() -> None:
    """Both contradictions begin at the same place: the one that ends first counts."""
    terms = Terms()
    make = Maker(terms)
    x = make.variable("x")
    make.step(x=make.number(3))
    make.step(make.less(x, 2))
    make.step(make.less(x, 1))
    result = explained(terms, make.steps, "weakest")
    assert result.sequence == ((), (terms.not_(make.less(x, 2)),), (terms.false,), (terms.false,))


def test_a_feasible_path_has_a_model() -> None:
    terms = Terms()
    make = Maker(terms)
    x, given = make.variable("x"), make.variable("given")
    make.step(make.less(x, 5))
    make.step(terms.slt(x, given), make.less(given, 3), inputs=(given,), x=terms.add(x, given))
    make.step(make.is_(x, 4))
    result = Interpolator(terms).interpolate(make.steps)
    assert isinstance(result, Feasible)
    assert result.model(terms.add(x, given)) == 4
    assert result.model(make.less(given, 3)) == 1
    state = result.model.after(make.steps[0]).after(make.steps[1])
    assert state(x) == 4


def test_a_path_without_steps_is_feasible() -> None:
    assert isinstance(Interpolator(Terms()).interpolate([]), Feasible)


def test_an_assumption_that_is_false() -> None:
    terms = Terms()
    result = Interpolator(terms).interpolate([Step((), {}), Step((terms.false,), {})])
    assert isinstance(result, Interpolants)
    assert result.sequence == ((), (), (terms.false,))


def factors(terms: Terms) -> list[Step]:
    """Two factors of a prime of 31 bits: more than a moment's work."""
    make = Maker(terms, width=64)
    a, b = make.variable("a"), make.variable("b")
    small = [terms.ult(name, make.number(1 << 31)) for name in (a, b)]
    proper = [terms.ult(make.number(1), name) for name in (a, b)]
    make.step(*small, *proper)
    make.step(terms.eq(terms.mul(a, b), make.number(2305843009213693951)))
    return make.steps


def test_time_runs_out() -> None:
    terms = Terms()
    steps = factors(terms)
    begin = time.monotonic()
    result = Interpolator(terms).interpolate(steps, deadline=begin + 0.3)
    assert result == Unknown("out of time")
    assert time.monotonic() - begin < 3
    result = Interpolator(terms, timeout=0.2).interpolate(steps)
    assert result == Unknown("out of time")


def test_without_z3_spacer_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLAIT_SECOND_OPINION")
    monkeypatch.setitem(sys.modules, "z3", None)
    terms = Terms()
    interpolator = Interpolator(terms, procedures=["spacer", "weakest"])
    result = interpolator.interpolate(doubled(terms))
    assert isinstance(result, Interpolants)
    assert result.procedure == "weakest"
    assert interpolator.statistics.reasons == {"spacer: z3 is not installed": 1}


def test_procedures_can_be_chosen_for_one_path() -> None:
    terms = Terms()
    interpolator = Interpolator(terms, procedures=["weakest"])
    result = interpolator.interpolate(doubled(terms), procedures=["strongest"])
    assert isinstance(result, Interpolants)
    assert result.procedure == "strongest"
    assert interpolator.statistics.tried == {"strongest": 1}


def test_many_paths_share_one_solver_that_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLAIT_SECOND_OPINION")
    terms = Terms()
    interpolator = Interpolator(terms)
    for width in range(4, 40):
        make = Maker(terms, width)
        x, y = (terms.variable(f"{name}{width}", width) for name in "xy")
        make.step(terms.slt(x, y))
        make.step(terms.slt(terms.mul(y, y), x), terms.slt(y, x))
        assert isinstance(interpolator.interpolate(make.steps), Interpolants)
    interpolator.close()
    assert isinstance(interpolator.interpolate(doubled(terms)), Interpolants)
