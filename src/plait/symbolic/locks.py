"""Critical sections as single steps (`plait.analysis.critical_sections`): where they begin and end.

A block that takes a lock goes on to where the lock is free again, as if all that were an atomic
section. Whether that is justified is not known here: the accesses of the block say in which
critical section they are made.
"""

from __future__ import annotations

from plait.analysis.critical_sections import BrokenLock
from plait.symbolic.ends import Ends
from plait.symbolic.locations import Cell
from plait.symbolic.memory import Memory
from plait.symbolic.run import Run


class Locks:
    def __init__(self, memory: Memory, ends: Ends) -> None:
        self._memory = memory
        self._knowledge = memory.knowledge
        self._terms = memory.terms
        self._ends = ends

    def wait(self, run: Run) -> None:
        """An atomic section that waits may be one that takes a lock. The beginning of a section
        that is not inside another is a switch point, so that all the run does so far is in it."""
        before = run.surroundings
        if run.depth and not before.thread.is_inside and not before.is_alone():
            run.is_acquiring = run.lock is None

    def end_section(self, run: Run) -> None:
        if run.depth:
            return
        if run.lock:
            self.look_for_release(run)
        elif run.is_acquiring:
            run.is_acquiring = False
            cell = self._acquired(run)
            if cell is not None:
                run.lock = cell
                self._memory.locks.add(cell)
                run.accesses = [access._replace(lock=cell[0]) for access in run.accesses]
                self.look_for_release(run)

    def look_for_release(self, run: Run) -> None:
        """Behind a write: whether the critical section is over."""
        if not run.lock or run.depth:
            return
        value = self._memory.known(run, run.lock)
        if value is None:
            raise BrokenLock(run.lock[0], "what it holds is not known")
        if value:
            self._ends.hold(run.lock, value)
            return
        if not run.surroundings.thread.lock:
            # It is free as before: whoever looks at it before and afterwards sees no difference.
            run.accesses = [
                access._replace(is_write=False) if access[:2] == run.lock else access
                for access in run.accesses
            ]
            run.noticed_writes.discard(run.lock)
        run.lock = None

    def _acquired(self, run: Run) -> Cell | None:
        """The lock that an atomic section has taken: it was 0 before, which the section has seen,
        and is another constant now."""
        seen = {access[:2] for access in run.accesses if not access.is_write}
        for access in run.accesses:
            place = access[:2]
            if (
                access.is_write
                and place in seen
                and self._knowledge.is_lock(access.address)
                and self._memory.known(run, place)
                and self._memory.known_before(run, place) == 0
            ):
                return place
        return None
