"""Rule VIII: critical sections that are taken as one step cannot be told from such.

What a thread accesses in the critical section of a lock is compared with what others access from
nodes at which the thread stands where the section begins: there it is, as far as the tree knows,
while in the program it may be in the middle of the section. What others do in a critical section of
the same lock they cannot do then, if the lock keeps them out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from plait.certificates.document import Cell, Location, Status, Thread, ThreadShape
from plait.certificates.outcomes import Step
from plait.certificates.ranges import Example, Range, conflicts
from plait.certificates.state import Access
from plait.certificates.verdicts import Rejected


class Taker(NamedTuple):
    """A thread that takes a lock, at a location where it does."""

    number: int
    thread: Thread
    location: Location


# A thread, and where it stands; None: anywhere.
_Place = tuple[int, ThreadShape | None]


class CriticalSections:
    def __init__(self, page_bits: int) -> None:
        self._page_bits = page_bits
        self._inside: dict[_Place, dict[Range, Example]] = {}
        self._others: dict[_Place, dict[Range, Example]] = {}
        # What locks hold in the middle of sections, by the threads that hold them.
        self.held: dict[Cell, set[tuple[int, int]]] = {}
        self.takers: dict[Cell, dict[tuple[int, int], Taker]] = {}

    def note(self, node: int, location: Location, step: Step) -> None:
        """The accesses of one step, those of attempts that come to nothing included."""
        thread = location.threads[step.thread - 1]
        # In the middle of a section nobody else moves; where it began is not known any more.
        begins = thread.shape if thread.lock is None else None
        inside = self._inside.setdefault((step.thread, begins), {})
        seen = self._seen_by(location, step.thread)
        for outcome in step.outcomes:
            for taken, value in outcome.path.held:
                self.held.setdefault(taken, set()).add((step.thread, value))
                if thread.lock is None:
                    taker = Taker(step.thread, thread, location)
                    self.takers.setdefault(taken, {})[step.thread, id(thread)] = taker
            for access in outcome.path.accesses:
                range_ = _range(access)
                example = Example(step.thread, node, access.origin)
                for found in seen:
                    found.setdefault(range_, example)
                if access.lock is not None:
                    inside.setdefault(range_, example)

    def note_skipped(
        self, node: int, location: Location, thread: int, accesses: Iterable[Access]
    ) -> None:
        """A step that the tree leaves out here, since it is possible before: where the others
        stand it finds them all the same."""
        for found in self._seen_by(location, thread):
            for access in accesses:
                found.setdefault(_range(access), Example(thread, node, access.origin))

    def _seen_by(self, location: Location, thread: int) -> list[dict[Range, Example]]:
        """What is compared with critical sections of the other threads."""
        seen = []
        for number, other in enumerate(location.threads, 1):
            if number != thread and other.status is Status.RUNNING:
                seen.append(self._others.setdefault((number, other.shape), {}))
                seen.append(self._others.setdefault((number, None), {}))
        return seen

    def check(self) -> None:
        for place, ranges in self._inside.items():
            others = self._others.get(place, {})
            for mine, other in conflicts(ranges, others, self._page_bits):
                if mine.lock == other.lock:
                    continue
                thread, node, origin = ranges[mine]
                example = others[other]
                raise Rejected(
                    f"thread {thread} accesses {mine.start:#x} in a critical section,"
                    f" but thread {example.thread} does so elsewhere at node {example.node}",
                    node,
                    origin,
                )


def _range(access: Access) -> Range:
    lock = access.lock
    # A lock that is free as before has only been read, but not so in the middle.
    is_write = access.is_write or (lock is not None and access.start == lock.address)
    return Range(access.start, access.end, is_write, lock)
