"""States that are kept are given back, and different ones have different numbers."""

from __future__ import annotations

from plait.engines.explicit.storage import StateStore
from plait.semantics.state import ENDED, State, Status, Thread

OTHER = Thread(Status.HALTED, None, 0, [], 0, (), None, 0, 0)
PLAIN = State((1, 2), (b"ab", b"cd"), (), (), (ENDED, OTHER), None)
VARIANTS = [
    PLAIN,
    PLAIN._replace(contents=(b"ab", b"ce")),
    PLAIN._replace(contents=(b"bb", b"cd")),
    PLAIN._replace(pages=(1, 3)),
    PLAIN._replace(undefined=((1, b"\1\0"),)),
    PLAIN._replace(heap=((2, "heap"),)),
    PLAIN._replace(threads=(OTHER, ENDED)),
    PLAIN._replace(threads=(ENDED, OTHER, ENDED)),
    PLAIN._replace(exit=(0, "exit")),
    PLAIN._replace(exit=(1, "exit")),
]


def test_each_state_has_its_number() -> None:
    store = StateStore()
    assert [store.add(item) for item in VARIANTS] == [(i, True) for i in range(len(VARIANTS))]
    assert [store.add(item) for item in VARIANTS] == [(i, False) for i in range(len(VARIANTS))]
    assert [store.state(number) for number in range(len(store))] == VARIANTS
