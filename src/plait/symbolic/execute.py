"""Symbolic execution of blocks: a thread's visible action or atomic section, then local actions.

A block starts where a thread stands: before a visible action, or where it has paused. It ends
before the next visible action, or where it comes to a place it has been at in the same block, so
that blocks are finite and loops have nodes. A thread that is alone does not stop for anybody.
Where there are many paths through a block, those that meet are executed as one (`merging`).
The rules are those of docs/certificates.md, and the meaning of actions is that of the reference
interpreter (`plait.semantics`).
"""

from __future__ import annotations

from plait.data import replace
from plait.errors import UnsupportedCode
from plait.logic.terms import Terms
from plait.model.actions import (
    Allocate,
    Assign,
    AtomicBegin,
    AtomicEnd,
    Call,
    Check,
    EndProcess,
    EndThread,
    EnterScope,
    Fence,
    Free,
    Guard,
    Input,
    LeaveScope,
    Load,
    ObjectSize,
    Output,
    Prune,
    ReadModifyWrite,
    Return,
    Skip,
    Spawn,
    Store,
    Unsupported,
    Wait,
)
from plait.model.program import Edge
from plait.model.properties import Specification
from plait.symbolic.accesses import Accesses
from plait.symbolic.blocks import Block
from plait.symbolic.calls import Calls
from plait.symbolic.checks import Checks
from plait.symbolic.ends import Ends, Unplaced
from plait.symbolic.frontier import Frontier, Meetings, Paths
from plait.symbolic.heap import Heap
from plait.symbolic.knowledge import Knowledge
from plait.symbolic.known_blocks import KnownBlocks
from plait.symbolic.locations import Cell, Location
from plait.symbolic.locks import Locks
from plait.symbolic.memory import Memory
from plait.symbolic.merging import Merger
from plait.symbolic.run import Run, RunIsOver, Trouble
from plait.symbolic.surroundings import Lives, Surroundings, View
from plait.symbolic.threads import Threads, initial_location
from plait.symbolic.values import Values

_MOST_WAYS = 400
_MOST_ACTIONS = 50_000


class Executor:
    """Executes blocks of one program."""

    def __init__(self, knowledge: Knowledge, terms: Terms, specification: Specification) -> None:
        self.memory = Memory(knowledge, terms)
        self._knowledge = knowledge
        self._specification = specification
        self._known = KnownBlocks()
        self._lives = Lives(knowledge)
        self._view = View(self._lives, self.start())

    @property
    def locks(self) -> set[Cell]:
        """All that blocks have taken so far."""
        return self.memory.locks

    def start(self) -> Location:
        return initial_location(self._knowledge)

    def block(self, location: Location, number: int) -> Block:
        """The next block of a thread. It is executed once for all that it looks at."""
        if self._view.location is not location:
            self._view = View(self._lives, location)
        found = self._known.find(self._view, number)
        if found is None:
            surroundings = Surroundings(self._view, number)
            found = self._executed(surroundings)
            self._known.add(surroundings, found)
        return found.at(location, number)

    def is_blocked_by(self, location: Location, number: int, lock: Cell, value: int) -> bool:
        """Whether a thread can do nothing at a location if a lock has a certain value, and only
        because of that: so it is wherever the thread and the value are the same."""
        page = lock[0] >> self._knowledge.page_bits
        item = self.memory.objects.static_at(lock[0]) or View(self._lives, location).object_at(page)
        parts = None if item is None else self.memory.explicit_parts(item, lock, value)
        if parts is None:
            return False
        cells = tuple(sorted({**dict(location.cells), **parts}.items()))
        view = View(self._lives, replace(location, cells=cells))
        surroundings = Surroundings(view, number)
        if self._executed(surroundings).block.ways:
            return False
        reasons = {("known value", cell) for cell in parts}
        return surroundings.asked.keys() <= {*reasons, ("is alone", None), ("object", page)}

    def _executed(self, surroundings: Surroundings) -> Unplaced:
        found = _Execution(self.memory, self._specification, Paths()).result(
            Run(surroundings), self._knowledge.most_paths
        )
        if found is None:
            merger = Merger(self.memory)
            meetings = Meetings(self._knowledge, merger)
            execution = _Execution(self.memory, self._specification, meetings, merger)
            found = execution.result(Run(surroundings), _MOST_WAYS)
        if found is None:
            raise UnsupportedCode("too many ways through the code between two accesses")
        return found


class _Execution:
    """Of one block: of each path through it, or with a merger of all of them together."""

    def __init__(
        self,
        memory: Memory,
        specification: Specification,
        frontier: Frontier,
        merger: Merger | None = None,
    ) -> None:
        self._terms = memory.terms
        self._frontier = frontier
        self._ends = ends = Ends(memory, frontier, merger)
        self._values = values = Values(memory, ends)
        self._locks = Locks(memory, ends)
        self._accesses = Accesses(memory, values, ends, self._locks)
        self._heap = Heap(memory, values, ends)
        self._calls = Calls(memory, self._heap, values, ends)
        self._threads = Threads(memory, self._calls, values, ends)
        self._checks = Checks(specification, memory, values, ends)

    def result(self, run: Run, most_ways: int) -> Unplaced | None:
        """None if there are too many ways."""
        inner = run.surroundings.thread.frames[-1]
        run.frames = [self._calls.resumed(run, inner, len(run.suspended), inner.location)]
        run.visited.add(run.standing)
        self._frontier.add(run)
        while self._frontier:
            if self._ends.count > most_ways:
                return None
            self._finish(self._frontier.next())
        return self._ends.result()

    # --- the way through a block

    def _finish(self, run: Run) -> None:
        """Follow a run to its end, or to where it waits for others."""
        try:
            while True:
                if not run.goes_on:
                    if self._stops(run):
                        self._ends.arrive(run)
                        return
                    run.goes_on = True
                    if self._is_join(run) and self._frontier.keeps(run):
                        return
                run.goes_on = False
                self._act(run)
        except RunIsOver:
            return
        except Trouble as trouble:
            self._ends.trouble(run, trouble.message, trouble.origin)
        except UnsupportedCode as error:
            shape = run.frame.shape
            edges = shape.function.edges[run.location]
            origin = edges[0].action.origin if edges else shape.function.origin
            self._ends.trouble(run, str(error), origin)

    def _stops(self, run: Run) -> bool:
        shape = run.frame.shape
        if not run.is_inside and not run.is_alone and _is_switch(run):
            return True
        if shape.is_met[run.location] or run.location == run.began:
            standing = run.standing
            if standing in run.visited:
                return True
            run.visited.add(standing)
        return False

    def _is_join(self, run: Run) -> bool:
        """Whether other runs may come to the same place."""
        return bool(run.frame.shape.is_met[run.location]) or run.may_meet

    def _act(self, run: Run) -> None:
        run.actions += 1
        run.may_meet = False
        if run.actions > _MOST_ACTIONS:
            raise UnsupportedCode("too many actions between two accesses")
        function = run.frame.shape.function
        leaving = function.edges[run.location]
        if not leaving:
            raise Trouble("control comes to a location that nothing leaves", function.origin)
        if len(leaving) > 1 or isinstance(leaving[0].action, Guard):
            self._branch(run, leaving)
        else:
            self._execute(run, leaving[0])

    def _branch(self, run: Run, leaving: list[Edge]) -> None:
        """The model promises that exactly one guard holds."""
        terms = self._terms
        open_edges: list[tuple[Edge, int]] = []
        for edge in leaving:
            assert isinstance(edge.action, Guard)
            condition = self._values.condition(run, edge.action.condition, edge)
            if condition == terms.true or condition in run.conditions:
                open_edges = [(edge, condition)]
                break
            if condition != terms.false and terms.not_(condition) not in run.conditions:
                open_edges.append((edge, condition))
        if not open_edges:
            raise RunIsOver
        for edge, condition in open_edges[1:]:
            fork = run.copy()
            fork.assume(condition, terms)
            fork.follow(edge)
            self._frontier.add(fork)
        edge, condition = open_edges[0]
        run.assume(condition, terms)
        run.follow(edge)

    def _execute(self, run: Run, edge: Edge) -> None:
        action = edge.action
        match action:
            case Load():
                self._accesses.load(run, edge, action)
            case Store():
                self._accesses.store(run, edge, action)
            case ReadModifyWrite():
                self._accesses.read_modify_write(run, edge, action)
            case Call():
                self._calls.call(run, edge, action)
            case Return():
                self._return(run, edge, action)
            case _:
                self._execute_in_place(run, edge)
                run.follow(edge)

    def _return(self, run: Run, edge: Edge, action: Return) -> None:
        if run.frame.depth:
            self._calls.return_(run, edge, action)
            return
        if action.value is not None:
            self._values.checked(run, action.value, edge)
        self._threads.end(run)
        raise RunIsOver

    def _execute_in_place(self, run: Run, edge: Edge) -> None:
        """What goes on behind the edge, in the same run."""
        action = edge.action
        match action:
            case Skip() | Fence():
                pass
            case Output():
                self._values.keep_in_objects(run, edge)
            case Assign():
                value = self._values.checked(run, action.value, edge)
                run.frame.registers[action.target.index] = value
            case Input():
                self._checks.input(run, edge, action)
            case Check():
                self._checks.check(run, edge, action)
            case Prune():
                self._locks.wait(run)
                self._ends.halt_unless(run, self._values.condition(run, action.condition, edge))
            case Wait():
                self._locks.wait(run)
                condition = self._values.condition(run, action.condition, edge)
                if condition == self._terms.true:
                    return
                self._ends.waits(run, condition)
                if condition == self._terms.false:
                    raise RunIsOver
                run.assume(condition, self._terms)
            case EnterScope():
                self._calls.enter_scope(run, action)
            case LeaveScope():
                self._calls.leave_scope(run, action)
            case AtomicBegin():
                run.depth += 1
            case AtomicEnd():
                run.depth -= 1
                if run.depth < 0:
                    raise Trouble("end of an atomic section that never began", action.origin)
                self._locks.end_section(run)
            case Allocate():
                self._heap.allocate(run, edge, action)
            case Free():
                self._heap.free(run, edge, action)
            case ObjectSize():
                self._heap.object_size(run, edge, action)
            case Spawn():
                self._threads.spawn(run, edge, action)
            case EndThread():
                self._threads.end(run)
                raise RunIsOver
            case EndProcess():
                self._values.keep_in_objects(run, edge)
                self._ends.end_process(run)
                raise RunIsOver
            case Unsupported():
                raise Trouble(f"unsupported: {action.message}", action.origin)
            case _:
                raise Trouble(f"unsupported: {type(action).__name__}", action.origin)


def _is_switch(run: Run) -> bool:
    frame = run.frame
    if frame.shape.is_switch[run.location]:
        return True
    if frame.depth == 0:
        edges = frame.shape.function.edges[run.location]
        return any(isinstance(edge.action, Return) for edge in edges)
    return False
