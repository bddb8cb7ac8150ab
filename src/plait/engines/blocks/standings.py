"""Where threads stand, without the values of their registers."""

from __future__ import annotations

from plait.symbolic.locations import Status, Thread

# Functions and locations of the frames; of a thread that does not run, its status.
Standing = tuple[tuple[str, int], ...] | Status


class Standings:
    def __init__(self) -> None:
        self._known: dict[Thread, Standing] = {}

    def of(self, thread: Thread) -> Standing:
        found = self._known.get(thread)
        if found is None:
            found = thread.status
            if found is Status.RUNNING:
                found = tuple((frame.function, frame.location) for frame in thread.frames)
            self._known[thread] = found
        return found
