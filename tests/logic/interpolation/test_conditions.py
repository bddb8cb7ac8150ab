"""The conditions of interpolants, for every procedure, and that their violation is noticed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.logic.interpolation.paths import (
    EXAMPLES,
    linear_paths,
    random_paths,
    state_variables,
    states,
    successors,
)

from plait.logic.interpolation.conditions import complaint
from plait.logic.interpolation.interpolate import (
    PROCEDURES,
    Feasible,
    Interpolants,
    Interpolator,
    Unknown,
)
from plait.logic.interpolation.path import Sequence, Step
from plait.logic.interpolation.problem import Context, Failed, Path, Slice
from plait.logic.terms import Terms

ALL = tuple(PROCEDURES)


def holds(terms: Terms, label: tuple[int, ...], state: dict[int, int]) -> bool:
    return all(terms.evaluate(term, state.__getitem__) for term in label)


def violations(terms: Terms, steps: list[Step], sequence: Sequence) -> list[str]:
    """What is wrong with the sequence, by trying all states."""
    problems: list[str] = []
    if len(sequence) != len(steps) + 1:
        problems.append("length")
    if sequence[0]:
        problems.append("first")
    if terms.false not in sequence[-1]:
        problems.append("last")
    inputs = frozenset().union(*(step.inputs for step in steps))
    for label in sequence:
        if inputs.intersection(terms.parts(label)):
            problems.append("input")
    mentioned: set[int] = set()
    for step, label in zip(steps, sequence[1:]):
        mentioned.update(step.updates)
        mentioned.update(terms.parts((*step.assumes, *step.updates.values())))
        if not mentioned.issuperset(term for term in terms.parts(label) if term in terms.name):
            problems.append("new variable")
    for place, step in enumerate(steps):
        for state in states(terms, state_variables(terms)):
            if holds(terms, sequence[place], state):
                for after in successors(terms, step, state):
                    if not holds(terms, sequence[place + 1], after):
                        problems.append(f"step {place}")
    return problems


def can_be_taken(terms: Terms, steps: list[Step]) -> bool:
    current = list(states(terms, state_variables(terms)))
    for step in steps:
        current = [after for state in current for after in successors(terms, step, state)]
        current = [dict(items) for items in {tuple(state.items()) for state in current}]
    return bool(current)


@pytest.mark.parametrize("procedure", ALL)
@settings(max_examples=40, deadline=None)
@given(given_path=st.one_of(random_paths(), linear_paths()))
def test_random_paths(procedure: str, given_path: tuple[Terms, list[Step]]) -> None:
    terms, steps = given_path
    interpolator = Interpolator(terms, procedures=[procedure])
    result = interpolator.interpolate(steps)
    feasible = can_be_taken(terms, steps)
    assert isinstance(result, Feasible) == feasible
    if isinstance(result, Feasible):
        model = result.model
        for step in steps:
            assert model.satisfies(step.assumes)
            model = model.after(step)
    elif isinstance(result, Interpolants):
        assert not violations(terms, steps, result.sequence)


@pytest.mark.parametrize("procedure", ALL)
@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_are_explained_or_given_up(example: str, procedure: str) -> None:
    terms = Terms()
    interpolator = Interpolator(terms, procedures=[procedure])
    interpolator.interpolate(EXAMPLES[example](terms))
    assert not interpolator.statistics.rejected, interpolator.statistics.last_complaint


def test_a_disjunct_that_holds_refutes_nothing() -> None:
    """What follows without a solver: a disjunction whose members are all refuted, or wanted."""
    terms = Terms()
    a, b, c = (terms.variable(name, 1) for name in "abc")
    either = terms.or_(a, b)
    for facts, goal, expected in (
        ((terms.not_(a), terms.not_(b)), terms.false, True),
        ((a, b), terms.false, False),
        ((terms.not_(a),), b, True),
        ((a,), b, False),
        ((), terms.any_of((a, b, c)), True),
        ((), terms.or_(a, c), False),
    ):
        context = Context(terms)
        steps = [
            Step(facts, {}),
            Step((either,), {}),
            Step((terms.not_(goal), a, b, c), {}),
        ]
        sequence = ((), facts, (goal,), (terms.false,))
        found = complaint(context, Path(context, steps), sequence)
        assert (found is None) is expected, found


# --- procedures that are wrong


class Wrong:
    """Returns what weakest preconditions give, with one mistake."""

    name = "wrong"

    def __init__(self, terms: Terms, mistake: str) -> None:
        self._terms = terms
        self._mistake = mistake

    def __call__(self, slice_: Slice) -> Sequence:
        terms, places = self._terms, len(slice_.steps) + 1
        x, other = terms.variable("x", 8), terms.variable("dead", 8)
        is_one = terms.eq(x, terms.constant(1, 8))
        right = ((),) + ((is_one,),) * (places - 2) + ((terms.false,),)
        if self._mistake == "none":
            return right
        if self._mistake == "short":
            return right[:-1]
        if self._mistake == "first":
            return ((is_one,), *right[1:])
        if self._mistake == "last":
            return (*right[:-1], (is_one,))
        if self._mistake == "weak":
            return (*right[:1], (), *right[2:])
        if self._mistake == "strong":
            return (*right[:1], (terms.eq(x, terms.constant(2, 8)),), *right[2:])
        if self._mistake == "dead":
            return (*right[:1], (is_one, terms.eq(other, other_value(terms))), *right[2:])
        if self._mistake == "input":
            return (
                *right[:1],
                (is_one, terms.ult(terms.variable("in", 8), terms.constant(9, 8))),
                *right[2:],
            )
        raise Failed("on purpose")


def other_value(terms: Terms) -> int:
    return terms.constant(7, 8)


def set_and_test(terms: Terms) -> list[Step]:
    """x = 1; dead = 7; skip; an input below 9 is written to y, and then x is not 1."""
    x, y, dead = (terms.variable(name, 8) for name in ("x", "y", "dead"))
    fresh = terms.variable("in", 8)
    return [
        Step((), {x: terms.constant(1, 8), dead: other_value(terms)}),
        Step((), {}),
        Step((terms.ult(fresh, terms.constant(9, 8)),), {y: fresh}, frozenset((fresh,))),
        Step((terms.ne(x, terms.constant(1, 8)),), {}),
    ]


@pytest.mark.parametrize(
    ("mistake", "complaint"),
    [
        ("short", "4 labels for 4 steps"),
        ("first", "first label is not true"),
        ("last", "last label is not false"),
        ("weak", "step 1 does not lead"),
        ("strong", "step 0 does not lead"),
        ("dead", "dead in the label of place 1"),
        ("input", "in in the label of place 1"),
    ],
)
def test_wrong_sequences_are_rejected(mistake: str, complaint: str) -> None:
    terms = Terms()
    wrong = Wrong(terms, mistake)
    interpolator = Interpolator(terms, procedures=[wrong, "weakest"])
    result = interpolator.interpolate(set_and_test(terms))
    assert isinstance(result, Interpolants)
    assert result.procedure == "weakest"
    statistics = interpolator.statistics
    assert statistics.rejected == {"wrong": 1}
    assert complaint in statistics.last_complaint
    assert statistics.tried == {"wrong": 1, "weakest": 1}
    assert statistics.succeeded == {"weakest": 1}


def test_the_right_sequence_is_accepted() -> None:
    terms = Terms()
    result = Interpolator(terms, procedures=[Wrong(terms, "none")]).interpolate(set_and_test(terms))
    assert isinstance(result, Interpolants)
    assert result.procedure == "wrong"


def test_procedures_that_fail_are_counted() -> None:
    terms = Terms()
    interpolator = Interpolator(terms, procedures=[Wrong(terms, "fails")])
    assert isinstance(interpolator.interpolate(set_and_test(terms)), Unknown)
    assert interpolator.statistics.failed == {"wrong": 1}
    assert not interpolator.statistics.succeeded
