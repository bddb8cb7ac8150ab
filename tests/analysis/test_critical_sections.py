"""What threads do under a lock and elsewhere, and what they may still do."""

from __future__ import annotations

import pytest

from plait.analysis.critical_sections import BrokenLock, Discipline, Touch
from plait.analysis.futures import Footprint, Futures, Granules

LOCK, OTHER_LOCK, DATA = 0x1000, 0x2000, 0x3000
TAKEN = Touch(LOCK, 4, True, LOCK)


def written(lock: int = LOCK) -> Touch:
    return Touch(DATA, 4, True, lock)


@pytest.mark.parametrize(
    "elsewhere",
    [written(0), Touch(DATA + 3, 1, False, 0), written(OTHER_LOCK), Touch(LOCK, 4, False, 0)],
    ids=["no lock", "one byte", "another lock", "the lock itself"],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_lock_is_broken(elsewhere: Touch, is_first: bool) -> None:
    discipline = Discipline(14)
    notes = [
        (1, "begin", [TAKEN, written()], [(2, "there")]),
        (2, "there", [elsewhere], [(1, "begin")]),
    ]
    with pytest.raises(BrokenLock) as broken:
        for note in notes if is_first else reversed(notes):
            discipline.note(*note)
    assert broken.value.address in (LOCK, OTHER_LOCK)


@pytest.mark.parametrize(
    "elsewhere",
    [written(), TAKEN, Touch(DATA + 4, 4, True, 0)],
    ids=["the same lock", "taking it", "next to it"],
)
def test_a_lock_is_kept(elsewhere: Touch) -> None:
    discipline = Discipline(14)
    discipline.note(1, "begin", [TAKEN, written()], [(2, "there")])
    discipline.note(2, "there", [elsewhere], [(1, "begin")])


def test_only_where_the_section_begins() -> None:
    discipline = Discipline(14)
    discipline.note(1, "begin", [written()], [(2, "there")])
    discipline.note(2, "there", [written(0)], [(1, "elsewhere")])
    with pytest.raises(BrokenLock):  # in the middle of a section it is not known where it began
        discipline.note(1, Discipline.ANYWHERE, [written()], [(2, "there")])


def test_conflicts() -> None:
    granules = Granules()

    def of(*touches: Touch) -> Footprint:
        return granules.footprint(touches)

    read, write = Touch(DATA, 4, False, 0), Touch(DATA, 4, True, 0)
    held, seen = Touch(LOCK, 4, False, LOCK), Touch(LOCK, 4, False, 0)
    assert of(read).conflicts_with(of(write)) and of(write).conflicts_with(of(write))
    assert not of(read).conflicts_with(of(read))
    assert not of(held).conflicts_with(of(held))
    assert of(held).conflicts_with(of(seen)) and of(seen).conflicts_with(of(held))
    assert of(Touch(DATA, 64, True, 0)).conflicts_with(of(Touch(DATA + 60, 1, False, 0)))


def test_futures_grow() -> None:
    futures = Futures()
    late = futures.granules.footprint([Touch(DATA, 4, True, 0)])
    futures.note((1, "a"), futures.granules.footprint([]), [(1, "b"), (2, "start")])
    assert not futures.of((1, "a")).conflicts_with(late)
    futures.note((2, "start"), late, [(2, "start")])
    assert futures.of((1, "a")).conflicts_with(late)  # by the thread that it has started
    assert not futures.of((1, "b")).conflicts_with(late)
