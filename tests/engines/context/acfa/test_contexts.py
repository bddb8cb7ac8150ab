"""Counter abstraction (the thesis, 5.3.3): 0, 1, ..., k and any number."""

from __future__ import annotations

import pytest

from plait.engines.context.acfa.automata import AbstractLocation, AbstractThread
from plait.engines.context.acfa.contexts import MANY, Context, covers
from plait.engines.context.templates import Instance, Template

ONE_OF_IT = Template("main", None, Instance(1))
MANY_OF_IT = Template("run", None, Instance(2), other=Instance(3), is_multiple=True)


def context(most: int, label: frozenset[int] = frozenset({0})) -> Context:
    """Of one location for the initial thread, and one for the others."""
    threads = [
        AbstractThread([AbstractLocation(frozenset({0, 1}))], [], frozenset({0})),
        AbstractThread([AbstractLocation(label)], [], frozenset({0})),
    ]
    return Context(threads, [ONE_OF_IT, MANY_OF_IT], 1, most)


@pytest.mark.parametrize(("most", "seen"), [(0, [MANY, MANY]), (1, [1, MANY]), (2, [1, 2, MANY])])
def test_numbers_up_to_k_are_exact(most: int, seen: list[int]) -> None:
    found = context(most)
    counts = found.empty
    for expected in seen:
        counts = found.entered(counts, 1)
        assert counts[1] == expected


def test_nobody_counts_how_many_of_many_leave() -> None:
    found = context(1)
    counts = found.entered(found.entered(found.empty, 1), 1)
    assert found.left(counts, 1) == counts
    assert found.left(found.entered(found.empty, 1), 1) == found.empty


def test_of_a_single_thread_it_is_known_where_it_is() -> None:
    found = context(0)
    assert found.entered(found.empty, 0) == (1, 0)
    assert not found.may_begin((1, 0), 0)
    assert found.may_begin((1, 1), 1)


def test_a_label_holds_where_somebody_surely_is() -> None:
    found = context(1)
    assert not found.allows((0, 1), 1)
    assert found.allows((0, 1), 0)
    assert found.allows((0, MANY), 1)
    assert found.allows((0, 0), 1)


def test_a_thread_inside_a_section_is_the_only_one_to_move() -> None:
    inside = AbstractLocation(frozenset({0}), is_atomic=True)
    outside = AbstractLocation(frozenset({0}))
    threads = [AbstractThread(), AbstractThread([outside, inside], [], frozenset({0}))]
    found = Context(threads, [ONE_OF_IT, MANY_OF_IT], 1, 0)
    assert found.occupied((MANY, 0)) == [0]
    assert found.occupied((MANY, 1)) == [1]


def test_more_is_possible_with_any_number_than_with_one() -> None:
    """But not with two instead of one: that would be known of both."""
    assert covers((MANY, 1), (0, 1))
    assert covers((1, 1), (1, 1))
    assert not covers((1, 1), (0, 1))
    assert not covers((0, 1), (1, 1))
