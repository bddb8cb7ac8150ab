"""Rule VI: what a step does as if nobody could notice, nobody can notice.

A local access of a thread is compared with the accesses that others make from nodes at which the
thread stands where the step of the access begins or ends: just before and just after it, as far as
others can tell. All nodes are compared with all, because the tree need not contain both orders of
two steps.
"""

from __future__ import annotations

from collections.abc import Iterable

from plait.certificates.document import Location, Status, ThreadShape
from plait.certificates.outcomes import Ending, Step, StepOutcome
from plait.certificates.ranges import Example, Range, conflicts
from plait.certificates.state import Access
from plait.certificates.verdicts import Rejected

# A thread, and where it stands.
_Place = tuple[int, ThreadShape]


class Locality:
    def __init__(self, page_bits: int) -> None:
        self._page_bits = page_bits
        self._local: dict[_Place, dict[Range, Example]] = {}
        self._others: dict[_Place, dict[Range, Example]] = {}

    def note(self, node: int, location: Location, step: Step) -> None:
        """The accesses of one step, those of attempts that come to nothing included."""
        shapes = location.shape[0]
        seen = self._seen_by(location, step.thread)
        before = self._local.setdefault((step.thread, shapes[step.thread - 1]), {})
        for outcome in step.outcomes:
            local = [before]
            if outcome.ending is Ending.MOVED:
                after = outcome.path.own_shape()
                if after[0] is not Status.ENDED:
                    local.append(self._local.setdefault((step.thread, after), {}))
            for access in outcome.path.accesses:
                range_ = Range(access.start, access.end, access.is_write)
                example = Example(step.thread, node, access.origin)
                for found in seen:
                    found.setdefault(range_, example)
                if access.is_local:
                    for found in local:
                        found.setdefault(range_, example)

    def note_skipped(
        self, node: int, location: Location, thread: int, accesses: Iterable[Access]
    ) -> None:
        """A step that the tree leaves out here, since it is possible before: its accesses are
        made here all the same."""
        for found in self._seen_by(location, thread):
            for access in accesses:
                range_ = Range(access.start, access.end, access.is_write)
                found.setdefault(range_, Example(thread, node, access.origin))

    def _seen_by(self, location: Location, thread: int) -> list[dict[Range, Example]]:
        """What the other threads may notice from where they stand."""
        return [
            self._others.setdefault((number, shape), {})
            for number, shape in enumerate(location.shape[0], 1)
            if number != thread and shape[0] is not Status.ENDED
        ]

    def note_quiet(self, location: Location, step: Step, outcome: StepOutcome) -> None:
        """A thread is stopped by an assumption behind writes, as if it had not moved."""
        found = self._local.setdefault((step.thread, location.shape[0][step.thread - 1]), {})
        for access in outcome.path.accesses:
            if access.is_write:
                example = Example(step.thread, -1, access.origin)
                found.setdefault(Range(access.start, access.end, True), example)

    def check(self) -> None:
        for place, ranges in self._local.items():
            others = self._others.get(place, {})
            for mine, other in conflicts(ranges, others, self._page_bits):
                thread, node, origin = ranges[mine]
                example = others[other]
                raise Rejected(
                    f"thread {thread} treats an access to {mine.start:#x} as local,"
                    f" but thread {example.thread} accesses that at node {example.node}",
                    node,
                    origin,
                )
