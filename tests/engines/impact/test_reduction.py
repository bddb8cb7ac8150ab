"""When two steps depend on each other (Definition 4.1, and IV-D where addresses are symbolic)."""

from __future__ import annotations

import pytest

from plait.engines.blocks.conflicts import conflict
from plait.logic.interpolation.path import Step
from plait.logic.terms import Terms
from plait.symbolic.blocks import Access, Block, Kind, Way


def way(*accesses: Access, **more: bool) -> Way:
    return Way(Kind.MOVE, Step((), {}), None, accesses, **more)


def block(*accesses: Access, **more: bool) -> Block:
    return Block(accesses=dict.fromkeys(accesses), **more)


def read(address: int, size: int = 4, when: int | None = None) -> Access:
    return Access(address, size, False, when)


def write(address: int, size: int = 4, when: int | None = None) -> Access:
    return Access(address, size, True, when)


DEPENDENT = {
    "write and read": (way(write(8)), block(read(8))),
    "read and write": (way(read(8)), block(write(8))),
    "two writes": (way(write(8)), block(write(8))),
    "a byte inside": (way(write(8)), block(read(9, 1))),
    "the last byte": (way(read(11, 1)), block(write(8))),
    "one of several": (way(read(0), write(8)), block(write(16), read(8))),
    "two threads start": (way(spawns=True), block(spawns=True)),
    "the process may end": (way(), block(ends_process=True)),
}
INDEPENDENT = {
    "two reads": (way(read(8)), block(read(8))),
    "neighbours": (way(write(8)), block(write(12), write(4))),
    "one thread starts": (way(spawns=True), block(write(8))),
    "another thread starts": (way(write(8)), block(spawns=True)),
}


@pytest.mark.parametrize("name", DEPENDENT)
def test_dependent(name: str) -> None:
    terms = Terms()
    assert conflict(terms, *DEPENDENT[name]) == terms.true


@pytest.mark.parametrize("name", INDEPENDENT)
def test_independent(name: str) -> None:
    terms = Terms()
    assert conflict(terms, *INDEPENDENT[name]) == terms.false


def test_dependent_where_both_addresses_are_the_same() -> None:
    terms = Terms()
    i, j = (terms.variable(name, 8) for name in "ij")
    mine = [terms.eq(i, terms.constant(n, 8)) for n in range(2)]
    theirs = [terms.eq(j, terms.constant(n, 8)) for n in range(2)]
    found = conflict(
        terms,
        way(*(write(4 * n, when=mine[n]) for n in range(2))),
        block(*(read(4 * n, when=theirs[n]) for n in range(2))),
    )
    for left in range(3):
        for right in range(3):
            values = {i: left, j: right}
            assert terms.evaluate(found, values.__getitem__) == (left == right < 2)
