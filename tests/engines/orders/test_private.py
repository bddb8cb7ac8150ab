"""Private memory against plain bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from plait.engines.orders.private import Memory, merge_memories, read_cell, write_cell
from plait.logic.terms import Terms

BYTES = 16
CELLS = st.tuples(st.integers(0, BYTES - 1), st.sampled_from([1, 2, 4, 8])).filter(
    lambda cell: sum(cell) <= BYTES
)
WRITES = st.lists(st.tuples(CELLS, st.integers(1, 2**64 - 1)), max_size=6)


class Both:
    """The same writes to cells of terms and to bytes."""

    def __init__(self, writes: list[tuple[tuple[int, int], int]]) -> None:
        self.terms = Terms()
        self.memory, self.bytes = self.after(writes)

    def after(self, writes: list[tuple[tuple[int, int], int]]) -> tuple[Memory, bytearray]:
        memory: Memory = {}
        plain = bytearray(BYTES)
        for (place, size), number in writes:
            value = number % 2 ** (8 * size)
            write_cell(self.terms, memory, place, size, self.terms.constant(value, 8 * size))
            plain[place : place + size] = value.to_bytes(size, "little")
        return memory, plain

    def initial(self, address: int, size: int) -> int:
        return self.terms.constant(0, 8 * size)

    def read(self, memory: Memory, place: int, size: int) -> bytes:
        value = self.terms.value(read_cell(self.terms, memory, place, size, self.initial))
        assert value is not None
        return value.to_bytes(size, "little")


@given(WRITES, CELLS)
def test_cells_that_overlap(
    writes: list[tuple[tuple[int, int], int]], cell: tuple[int, int]
) -> None:
    both = Both(writes)
    assert both.read(both.memory, *cell) == both.bytes[cell[0] : sum(cell)]


@given(WRITES, WRITES, st.booleans())
def test_memory_behind_a_branch(
    writes: list[tuple[tuple[int, int], int]],
    others: list[tuple[tuple[int, int], int]],
    is_first: bool,
) -> None:
    both = Both(writes)
    other, plain = both.after(others)
    chosen = both.terms.true if is_first else both.terms.false
    merged = merge_memories(both.terms, chosen, both.memory, other, both.initial)
    assert both.read(merged, 0, BYTES) == (both.bytes if is_first else plain)
