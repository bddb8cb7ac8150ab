"""Which of the steps that were seen of other threads are possible while one thread stands still:
those that find the values that they need.

A step that was seen needs what it has read then. Another thread can do it again only if each of
these values is there now, or is written by a step that is possible itself. That is looked at cell
by cell: whether the values are there at the same time does not matter, nor how often a step is
taken, so that more counts as possible than is. What such a step needs of a cell that the thread
which stands still writes, is not known: it was seen behind that. Why nothing is lost is written
down in `futures`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from plait.semantics.memo import Span
from plait.semantics.state import State


class Range(NamedTuple):
    """Addresses from one to before another one."""

    start: int
    end: int


class Need(NamedTuple):
    """A value that a step has read, and where."""

    span: Span
    data: bytes
    place: Range


class PossibleValues:
    """What cells hold in a state, or may hold after steps that others can take."""

    def __init__(self, state: State, places: Mapping[int, int], unknown: Iterable[Range]) -> None:
        """`unknown` is what the thread writes that stands still."""
        self._contents = state.contents
        self._places = places
        self._unknown = tuple(unknown)
        self._written: set[tuple[Span, bytes]] = set()
        self._spans: dict[int, set[Span]] = {}
        self._pages: set[int] = set()

    def missing(self, needs: Iterable[Need]) -> Need | None:
        """The first of them that cannot be there."""
        for need in needs:
            if not self._is_possible(need):
                return need
        return None

    def _is_possible(self, need: Need) -> bool:
        span, data, place = need
        page, start, end = span
        held = self._places.get(page)
        if held is not None and self._contents[held][start:end] == data:
            return True
        if (span, data) in self._written or page in self._pages:
            return True
        # What is written in other pieces than it is read is not put together.
        if any(other != span and _overlap(other, span) for other in self._spans.get(page, ())):
            return True
        return any(item.start < place.end and place.start < item.end for item in self._unknown)

    def write(self, written: Iterable[tuple[Span, bytes]]) -> None:
        for span, data in written:
            self._written.add((span, data))
            self._spans.setdefault(span.page, set()).add(span)

    def change(self, pages: Iterable[int]) -> None:
        """In these objects everything is possible."""
        self._pages.update(pages)


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end
