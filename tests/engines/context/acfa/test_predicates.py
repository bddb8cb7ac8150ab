"""What may be a predicate: facts that are true of any thread when they are true of one."""

from __future__ import annotations

import pytest
from tests.engines.context.acfa.inference import circ_of
from tests.engines.context.pairs import PAIRS

from plait.engines.context.acfa.circ import Circ
from plait.engines.context.subject import Subject

THREAD = 1


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> tuple[Circ, Subject]:
    folder = tmp_path_factory.mktemp("mutex")
    return circ_of(PAIRS["a counter under a mutex"].text, folder, ["assertions"])


@pytest.fixture
def owner(example: tuple[Circ, Subject]) -> int:
    """The variable that holds the number of the thread that has the mutex."""
    circ, _ = example
    held = [item for item in circ.variables.numbers if circ.variables.is_shared(item)]
    return min(held)


def test_a_thread_may_know_its_own_number(example: tuple[Circ, Subject], owner: int) -> None:
    circ, subject = example
    terms, template = subject.terms, subject.templates.all[THREAD]
    mine = terms.eq(owner, terms.constant(template.one.number, 32))
    assert circ.predicates.add(mine, THREAD)
    assert mine in circ.predicates.own[THREAD]
    assert mine not in circ.predicates.shared  # of another thread it would be another number


def test_it_knows_no_other_number(example: tuple[Circ, Subject], owner: int) -> None:
    circ, subject = example
    terms, template = subject.terms, subject.templates.all[THREAD]
    assert template.other is not None
    theirs = terms.eq(owner, terms.constant(template.other.number, 32))
    circ.predicates.add(theirs, THREAD)
    assert theirs not in (*circ.predicates.own[THREAD], *circ.predicates.shared)


def test_numbers_are_not_compared(example: tuple[Circ, Subject], owner: int) -> None:
    """Which of two is larger may be different elsewhere; whether it is 0 may be said instead."""
    circ, subject = example
    terms = subject.terms
    large = terms.ult(terms.constant(0, 32), owner)
    circ.predicates.add(large, THREAD)
    assert large not in circ.predicates.shared
    assert terms.eq(owner, terms.constant(0, 32)) in circ.predicates.shared


def test_what_nobody_writes_is_known_anyway(example: tuple[Circ, Subject]) -> None:
    circ, subject = example
    terms = subject.terms
    constant = next(iter(circ.predicates.constants))
    zero = terms.constant(0, terms.width[constant])
    assert not circ.predicates.add(terms.eq(constant, zero), 0)
