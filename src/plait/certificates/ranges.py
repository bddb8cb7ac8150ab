"""Accesses as ranges of bytes, for rules that compare all those of some steps with all those of
others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from plait.certificates.document import Cell
from plait.model.actions import Origin


class Range(NamedTuple):
    start: int
    end: int
    is_write: bool
    lock: Cell | None = None  # in the critical section of which it is accessed


class Example(NamedTuple):
    """A thread that accesses a range, from a node on."""

    thread: int
    node: int
    origin: Origin


Ranges = Mapping[Range, Example]


def conflicts(ours: Ranges, others: Ranges, page_bits: int) -> Iterator[tuple[Range, Range]]:
    """All pairs that have a byte in common which one of the two writes."""
    pages: dict[int, list[Range]] = {}
    for one in ours:
        for page in _pages(one, page_bits):
            pages.setdefault(page, []).append(one)
    for other in others:
        for page in _pages(other, page_bits):
            for one in pages.get(page, ()):
                if (
                    one.start < other.end
                    and other.start < one.end
                    and (one.is_write or other.is_write)
                ):
                    yield one, other


def _pages(item: Range, page_bits: int) -> range:
    return range(item.start >> page_bits, (item.end - 1 >> page_bits) + 1)
