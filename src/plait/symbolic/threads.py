"""Threads: where the first one begins, spawns, ends."""

from __future__ import annotations

from plait.analysis.critical_sections import BrokenLock
from plait.model.actions import Spawn
from plait.model.program import Edge
from plait.symbolic.calls import Calls
from plait.symbolic.ends import Ends
from plait.symbolic.knowledge import Knowledge
from plait.symbolic.locations import Frame, Location, Status, Thread
from plait.symbolic.memory import Memory
from plait.symbolic.run import OpenFrame, Run, SpawnedThread, Trouble
from plait.symbolic.surroundings import address_of_static
from plait.symbolic.values import Values


def initial_location(knowledge: Knowledge) -> Location:
    """Where the initial thread begins."""
    entry = knowledge.program.entry
    first_page, top = knowledge.space.arena(1)
    frame = Frame(entry, 0, top, (), (), ())
    stack_page = top - knowledge.shape(entry).frame_pages
    thread = Thread(Status.RUNNING, 0, None, first_page, stack_page, (frame,))
    return Location((thread,), (), ())


class Threads:
    def __init__(self, memory: Memory, calls: Calls, values: Values, ends: Ends) -> None:
        self._memory = memory
        self._knowledge = memory.knowledge
        self._terms = memory.terms
        self._calls = calls
        self._values = values
        self._ends = ends

    def spawn(self, run: Run, edge: Edge, action: Spawn) -> None:
        knowledge = self._knowledge
        space = knowledge.space
        function = self._terms.value(self._values.checked(run, action.function, edge))
        if function is None:
            raise Trouble("a thread whose function is not known", action.origin)
        start = self._calls.function_at(run, function, edge)
        argument = self._values.of(run, action.argument)
        number = run.surroundings.thread_count() + len(run.spawned) + 1
        if number > space.most_threads:
            raise Trouble("too many threads", action.origin)
        shape = knowledge.shape(start.name)
        _, top = space.arena(number)
        for item, page in space.thread_local_copies(number):
            address = page << knowledge.page_bits
            self._memory.begin_life(run, address, item.size, item, item.contents, action.origin)
        heap_start = space.heap_start(number)
        if heap_start + shape.frame_pages > top:
            raise Trouble("the thread's address space is used up", action.origin)
        registers: dict[int, int] = {}
        if start.parameters:
            registers[0] = self._values.passed(
                argument, action.argument.type, start.registers[0].type, action.origin
            )
        frame = OpenFrame(shape, top, [], registers, {}, 0)
        if run.lock:
            # The new thread can act before the section ends, which then is not one step.
            raise BrokenLock(run.lock[0], "a thread is started in its critical section")
        run.spawned.append(SpawnedThread(heap_start, top - shape.frame_pages, frame))
        run.is_alone = False
        run.is_noticed = True
        self._ends.spawns()
        bits = action.target.type.bits
        run.frame.registers[action.target.index] = self._terms.constant(number, bits)

    def end(self, run: Run) -> None:
        """The running thread's end."""
        self._calls.end_all_frames(run)
        if run.number > 1:
            for item in self._knowledge.space.thread_locals:
                address = address_of_static(self._knowledge, item, run.number)
                self._memory.end_life(run, address, item.size)
        self._ends.end_thread(run)
