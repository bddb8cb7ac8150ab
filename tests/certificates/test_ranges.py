"""Accesses of two threads: which of them conflict."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from plait.certificates.ranges import Example, Range, conflicts
from plait.model.actions import NOWHERE

RANGES = st.dictionaries(
    st.builds(
        lambda start, size, is_write: Range(start, start + size, is_write),
        st.integers(0, 40),
        st.integers(1, 20),
        st.booleans(),
    ),
    st.just(Example(1, 0, NOWHERE)),
    max_size=5,
)


@given(RANGES, RANGES)
def test_bytes_in_common(ours: dict[Range, Example], others: dict[Range, Example]) -> None:
    """Pages of 16 bytes: many go over their ends."""
    expected = {
        (one, other)
        for one in ours
        for other in others
        if {*range(one.start, one.end)} & {*range(other.start, other.end)}
        and (one.is_write or other.is_write)
    }
    assert set(conflicts(ours, others, 4)) == expected
