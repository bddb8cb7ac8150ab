"""The running example of the thesis (5.1), step by step: a race on x is excluded by `state`.

A block of plait is a step: testing and setting is one, and which way a thread goes by `old` is
part of it. So the predicates about `old` that the thesis needs (iterations 2 and 3) are not needed
here, and what is left are its iterations 4 and 5, and the counter that is raised from 0 to 1.
"""

from __future__ import annotations

import pytest
from tests.engines.context.acfa.inference import circ_of
from tests.engines.context.test_races import PAIRS

from plait.engines.context.acfa.automata import AbstractThread
from plait.engines.context.acfa.circ import Circ, Safe
from plait.engines.context.acfa.reach import ContextStep
from plait.engines.context.acfa.refine import MoreCounted, MorePredicates
from plait.engines.context.subject import Subject

THREAD = 1  # the template of the threads that main starts
IS_ZERO, IS_NOT = 1, 0  # minterms over the one predicate, `state == 0`


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Circ, Subject, Safe]:
    text = PAIRS["a state that is tested and set"].text
    circ, subject = circ_of(text, tmp_path_factory.mktemp("example"), ["no-data-race"])
    found = circ.run()
    assert isinstance(found, Safe)
    return circ, subject, found


def writing(context: AbstractThread) -> list[int]:
    """The locations where a thread is about to write x: the one access that is not atomic."""
    return [
        number
        for number, location in enumerate(context.locations)
        if any(item.is_write and not item.is_atomic for item in location.accesses)
    ]


def test_three_iterations_are_enough(run: tuple[Circ, Subject, Safe]) -> None:
    circ, _, _ = run
    assert [len(item.predicates) for item in circ.iterations] == [0, 1, 1]
    assert [item.most for item in circ.iterations] == [0, 0, 1]


def test_at_first_contexts_do_nothing_and_then_what_threads_do(
    run: tuple[Circ, Subject, Safe],
) -> None:
    """Step 1 with the empty context finds nothing; then the thread that is started waits for main
    to do something, and only after that for others like itself."""
    circ, _, _ = run
    for iteration in circ.iterations:
        sizes = [
            [len(item.locations) > 0 for item in contexts.abstract_threads]
            for contexts in iteration.rounds
        ]
        assert sizes[:3] == [[False, False], [True, False], [True, True]]


def test_without_predicates_everybody_comes_to_x(run: tuple[Circ, Subject, Safe]) -> None:
    """Iterations 1 and 2 of the thesis: the context that is inferred has an abstract race."""
    circ, subject, _ = run
    first = circ.iterations[0]
    context = first.rounds[-1].abstract_threads[THREAD]
    assert len(writing(context)) == 1
    assert all(not move.effect.havoc for move in context.moves)  # nothing is tracked
    trace = first.trace
    assert trace is not None and trace.template == THREAD and trace.racing is not None
    assert any(isinstance(item, ContextStep) and item.is_birth for item in trace.operations)
    # Iteration 4: a thread waits at x, and another one tests `state` and comes there, too.
    assert isinstance(first.refinement, MorePredicates)
    [predicate] = circ.iterations[1].predicates
    terms = subject.terms
    zero = terms.constant(0, 32)
    [state] = [item for item in terms.parts((predicate,)) if terms.name.get(item, "")[:1] == "m"]
    assert predicate == terms.eq(state, zero)


def test_the_counter_is_raised(run: tuple[Circ, Subject, Safe]) -> None:
    """With `state == 0`, but only "nobody" and "many": one of many has left x and reset `state`,
    and another one is still there, who never came."""
    circ, _, _ = run
    second = circ.iterations[1]
    assert second.most == 0
    assert isinstance(second.refinement, MoreCounted)
    assert circ.iterations[2].most == 1


def test_the_last_context(run: tuple[Circ, Subject, Safe]) -> None:
    """Figure 5.1(c): where a thread may write x `state` is not 0; only from 0 does it get there."""
    circ, _, found = run
    last = circ.iterations[2]
    assert last.trace is None and last.refinement is None
    context = found.contexts.abstract_threads[THREAD]
    [at_x] = writing(context)
    assert context.locations[at_x].label == {IS_NOT}
    [state] = found.abstraction.tracked
    setting = [move for move in context.moves if move.effect.havoc]
    assert {move.effect.havoc for move in setting} == {frozenset({state})}
    # One sets it, from where it is 0; one resets it, from where it is not.
    assert {move.effect.guard for move in setting} == {frozenset({IS_ZERO}), frozenset({IS_NOT})}
    [resetting] = [move for move in setting if move.effect.guard == {IS_NOT}]
    assert IS_ZERO in context.locations[resetting.target].label
    # A ring: begin, test and set, read x, write x, reset. Whoever has not set `state` stays.
    assert [(move.source, move.target) for move in context.moves] == [
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 4),
        (4, 1),
    ]
    assert at_x == 3
