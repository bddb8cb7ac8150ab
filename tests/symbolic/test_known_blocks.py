"""A block is executed once for all that it looks at, and placed at every location that looks so."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.symbolic.helpers import APART, executor_of, loaded, reachable

from plait.logic.terms import Terms
from plait.symbolic.blocks import Block
from plait.symbolic.execute import Executor
from plait.symbolic.locations import Location
from trust import pointers

TEXT = """
#include <pthread.h>
int flag, other, *p;
void *t(void *a) { flag = 1; flag = 2; flag = 3; return 0; }
void *u(void *a) { other = 1; if (other == flag) p = &flag; return 0; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, t, 0); pthread_create(&b, 0, u, 0);
  flag = 0; other = 0;
  return 0;
}
"""


def of_thread(executor: Executor, number: int) -> list[tuple[Location, Block]]:
    return [
        (place, executor.block(place, number))
        for place in reachable(executor, 400)
        if number in place.can_step()
    ]


def test_what_others_do_elsewhere_does_not_matter(tmp_path: Path) -> None:
    """A thread that looks at nothing has one block for each place where it stands."""
    executor = executor_of(loaded(TEXT, tmp_path), Terms(), APART)
    blocks: dict[object, set[int]] = {}
    locations = 0
    for place, block in of_thread(executor, 2):
        steps = blocks.setdefault(place.threads[1], set())
        steps.update(id(way.step) for way in block.ways)
        locations += 1
    assert locations > 3 * len(blocks)
    assert all(len(steps) == 1 for steps in blocks.values())


def test_what_was_looked_at_does(tmp_path: Path) -> None:
    """`other == flag` has one answer for each value of the flag, and none where it is read."""
    executor = executor_of(loaded(TEXT, tmp_path), Terms(), APART)
    seen: dict[object, set[object]] = {}
    for place, block in of_thread(executor, 3):
        known = dict(place.cells)
        for way in block.ways:
            values = seen.setdefault(id(way.step), set())
            values.add(tuple(sorted((cell, value) for cell, value in known.items())))
    assert any(len(values) > 1 for values in seen.values())
    assert len(seen) > 1


@pytest.mark.parametrize("seed", range(20, 26))
def test_as_if_executed_there(seed: int, tmp_path: Path) -> None:
    """Placed at another location, a block is the one that an execution there gives."""
    program = loaded(pointers.generate(seed), tmp_path)
    executor = executor_of(program, Terms(), APART)
    for place in reachable(executor, 60):
        for number in place.can_step():
            placed = executor.block(place, number)
            executed = executor_of(program, Terms(), APART).block(place, number)
            assert [way.target for way in placed.ways] == [way.target for way in executed.ways]
            assert [way.kind for way in placed.ways] == [way.kind for way in executed.ways]
            assert placed.accesses.keys() == executed.accesses.keys() or any(
                access.when is not None for access in placed.accesses
            )
