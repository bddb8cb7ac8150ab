"""Rule VI: what a step does as if nobody could notice, nobody can notice.

Accesses are collected over all nodes and compared at the end: a local access of a thread with all
accesses of others from nodes at which the thread exists and has not ended.
"""

from __future__ import annotations

from typing import NamedTuple

from plait.certificates.document import Location, Status
from plait.certificates.outcomes import Step
from plait.certificates.verdicts import Rejected
from plait.model.actions import Origin


class _Range(NamedTuple):
    start: int
    end: int
    is_write: bool


class _Example(NamedTuple):
    node: int
    origin: Origin


class Locality:
    def __init__(self, page_bits: int) -> None:
        self._page_bits = page_bits
        self._local: dict[int, dict[_Range, _Example]] = {}
        # For each thread that accesses and each thread that is there: what, and where.
        self._seen: dict[tuple[int, int], dict[_Range, _Example]] = {}

    def note(self, node: int, location: Location, step: Step) -> None:
        others = [
            number
            for number, thread in enumerate(location.threads, 1)
            if number != step.thread and thread.status is not Status.ENDED
        ]
        for outcome in step.outcomes:
            for access in outcome.path.accesses:
                range_ = _Range(access.start, access.end, access.is_write)
                example = _Example(node, access.origin)
                if access.is_local:
                    self._local.setdefault(step.thread, {}).setdefault(range_, example)
                for other in others:
                    self._seen.setdefault((step.thread, other), {}).setdefault(range_, example)

    def check(self) -> None:
        for thread, ranges in sorted(self._local.items()):
            pages: dict[int, list[_Range]] = {}
            for range_ in ranges:
                for page in self._pages(range_):
                    pages.setdefault(page, []).append(range_)
            for (other, present), accesses in sorted(self._seen.items()):
                if present == thread:
                    self._compare(thread, other, pages, accesses)

    def _compare(
        self,
        thread: int,
        other: int,
        pages: dict[int, list[_Range]],
        accesses: dict[_Range, _Example],
    ) -> None:
        for theirs, example in accesses.items():
            for page in self._pages(theirs):
                for ours in pages.get(page, ()):
                    if (
                        ours.start < theirs.end
                        and theirs.start < ours.end
                        and (ours.is_write or theirs.is_write)
                    ):
                        node, origin = self._local[thread][ours]
                        raise Rejected(
                            f"thread {thread} treats an access to {ours.start:#x} as local,"
                            f" but thread {other} can access that at node {example.node}",
                            node,
                            origin,
                        )

    def _pages(self, range_: _Range) -> range:
        return range(range_.start >> self._page_bits, (range_.end - 1 >> self._page_bits) + 1)
