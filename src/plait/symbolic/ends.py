"""How the runs of a block end, and what the block as a whole comes to."""

from __future__ import annotations

from collections.abc import Hashable

from plait.data import dataclass, replace
from plait.logic.interpolation.path import Step
from plait.logic.terms import Terms
from plait.model.actions import NOWHERE, Origin
from plait.model.program import Edge
from plait.model.types import Kind as TypeKind
from plait.symbolic.blocks import Block, Kind, Way
from plait.symbolic.frontier import MANY_RUNS, Frontier
from plait.symbolic.knowledge import Knowledge
from plait.symbolic.locations import ENDED, HALTED, Cell, Frame, Location, Status, Thread
from plait.symbolic.memory import Memory
from plait.symbolic.merging import Merger, shape_of
from plait.symbolic.run import OpenFrame, Run, RunIsOver, Trouble
from plait.symbolic.surroundings import Change
from plait.symbolic.variables import register_variable


@dataclass(slots=True, eq=False)
class Unplaced:
    """A block and what each of its ways changes (None where a way leads nowhere), so that it can
    be placed at every location that looks alike to it."""

    block: Block
    changes: list[Change | None]

    def at(self, location: Location, number: int) -> Block:
        ways = [
            way if change is None else replace(way, target=change.applied_to(location, number))
            for way, change in zip(self.block.ways, self.changes, strict=True)
        ]
        return replace(self.block, ways=ways)


@dataclass(slots=True, eq=False)
class _End:
    """`status` is that of the thread behind it; None where nothing is."""

    run: Run
    kind: Kind
    status: Status | None
    message: str = ""
    origin: Origin = NOWHERE

    @property
    def key(self) -> Hashable:
        """Ends must have it in common to be one."""
        if self.status is None:
            return self.kind, self.message, self.origin
        return self.status, shape_of(self.run)


class Ends:
    """Of the runs of one block: what they came to so far, and in `frontier` those that are still
    to be followed. With a merger, ends that are alike become one."""

    def __init__(self, memory: Memory, frontier: Frontier, merger: Merger | None) -> None:
        self.frontier = frontier
        self._block = Block()
        self._ends: list[_End] = []
        self._alike: dict[Hashable, list[_End]] = {}
        self._merger = merger
        self._memory = memory
        self._knowledge: Knowledge = memory.knowledge
        self._terms: Terms = memory.terms

    @property
    def count(self) -> int:
        """Of the ways so far, and of the runs that will make more of them."""
        return len(self.frontier) + len(self._ends)

    def result(self) -> Unplaced:
        unplaced = Unplaced(self._block, [])
        for end in self._ends:
            way, change = self._closed_end(end)
            self._block.accesses.update(dict.fromkeys(way.accesses))
            self._block.ways.append(way)
            unplaced.changes.append(change)
        return unplaced

    def _add(self, end: _End) -> None:
        merger = self._merger
        if merger is None:
            self._ends.append(end)
            return
        alike = self._alike.setdefault(end.key, [])
        for other in alike:
            merged: Run | None
            if end.status is None:
                merged = merger.merged_ends(other.run, end.run)
            else:
                by_force = self.count > MANY_RUNS
                merged = merger.merged(other.run, end.run, by_force=by_force)
            if merged is not None:
                other.run = merged
                return
        alike.append(end)
        self._ends.append(end)

    # --- where nothing happens behind

    def trouble(self, run: Run, message: str, origin: Origin) -> None:
        """What the run does next has no verdict."""
        self._stop(run, Kind.TROUBLE, message, origin)

    def violation(self, run: Run, message: str, origin: Origin) -> None:
        self._stop(run, Kind.VIOLATION, message, origin)

    def require(self, run: Run, condition: int, message: str, origin: Origin) -> None:
        """Trouble where the condition does not hold; the run goes on where it does."""
        terms = self._terms
        if condition == terms.true:
            return
        if condition == terms.false:
            raise Trouble(message, origin)
        fork = run.copy()
        fork.assume(terms.not_(condition), terms)
        self.trouble(fork, message, origin)
        run.assume(condition, terms)

    def blocked(self, run: Run) -> None:
        """The run, or a part of it, waits for others; they depend on what it has looked at."""
        self._block.may_block = True
        self._block.accesses.update(dict.fromkeys(run.accesses))
        self._note_lock(run)

    def waits(self, run: Run, condition: int) -> None:
        """The run waits in vain where the condition does not hold."""
        self.blocked(run)
        terms = self._terms
        self._block.waits.append(terms.all_of((*run.conditions, terms.not_(condition))))
        self._block.waits_by_inputs |= bool(run.inputs)

    def _note_lock(self, run: Run) -> None:
        if run.lock:
            self._block.stuck_with[run.lock] = None

    def hold(self, lock: Cell, value: int) -> None:
        """Others may see this value of a lock in the middle of a critical section."""
        self._block.held[lock, value] = None

    def end_process(self, run: Run) -> None:
        self.blocked(run)
        self._block.ends_process = True
        self._end(run)

    def _end(self, run: Run) -> None:
        variables = frozenset(use.variable for use in run.inputs)
        step = Step(tuple(run.conditions), {}, variables)
        accesses, inputs = tuple(run.accesses), tuple(run.inputs)
        self._block.ends.append(Way(Kind.MOVE, step, None, accesses, inputs))

    def _stop(self, run: Run, kind: Kind, message: str, origin: Origin) -> None:
        self._add(_End(run, kind, None, message, self._user_origin(run, origin)))

    def _user_origin(self, run: Run, origin: Origin) -> Origin:
        """The place of the running action, or of the call that led into the library."""
        if not run.frames or not run.frame.shape.function.library:
            return origin
        call = library_call(self._knowledge, run)
        return origin if call is None else call.action.origin

    # --- where the thread is somewhere afterwards

    def halt_unless(self, run: Run, condition: int) -> None:
        """An assumption."""
        terms = self._terms
        if condition == terms.true:
            return
        if condition == terms.false:
            self._halt(run)
            raise RunIsOver
        fork = run.copy()
        fork.assume(terms.not_(condition), terms)
        self._halt(fork)
        run.assume(condition, terms)

    def _halt(self, run: Run) -> None:
        """What others have seen of the block stays; the thread is stuck."""
        self._block.may_fail = True
        if run.is_inside or not run.has_changed or run.is_alone:
            if not run.is_inside and not run.is_alone:
                self._block.may_stop = True
                self._end(run)
            self.blocked(run)
        else:
            self._leave(run, Status.HALTED)

    def end_thread(self, run: Run) -> None:
        self._leave(run, Status.ENDED)

    def _leave(self, run: Run, status: Status) -> None:
        """The thread will do nothing more: where it was does not matter."""
        self._note_lock(run)
        run.frames, run.suspended, run.stack, run.location = [], [], (), 0
        run.depth = run.heap_page = run.stack_page = 0
        run.lock = None
        self._add(_End(run, Kind.MOVE, status))

    def arrive(self, run: Run) -> None:
        """The block ends where the thread stands now."""
        self._note_lock(run)
        if run.is_inside:
            self._block.pauses_in_section = True
        self._add(_End(run, Kind.MOVE, Status.RUNNING))

    def spawns(self) -> None:
        """Some run has started a thread."""
        self._block.spawns = True

    # --- from runs to ways

    def _closed_end(self, end: _End) -> tuple[Way, Change | None]:
        run = end.run
        updates: dict[int, int] = {}
        change = None
        if end.status is Status.RUNNING:
            change = self._change(run, self._closed_thread(run, updates), updates)
        elif end.status is not None:
            change = self._change(run, _LEFT[end.status], updates)
        variables = frozenset(use.variable for use in run.inputs)
        step = Step(tuple(run.conditions), updates, variables)
        way = Way(end.kind, step, None, tuple(run.accesses), tuple(run.inputs))
        way.message, way.origin = end.message, end.origin
        if change is not None:
            way.spawns = bool(run.spawned)
        return way, change

    def _closed_thread(self, run: Run, updates: dict[int, int]) -> Thread:
        frames = list(run.suspended)
        for position, frame in enumerate(run.frames, len(frames)):
            if frame is run.frame:
                live, location = frame.shape.live[run.location], run.location
            else:
                assert frame.call is not None
                live, location = frame.live_while_waiting, frame.call.source
            frames.append(self._closed(run, run.number, frame, position, live, location, updates))
        pages = run.heap_page, run.stack_page
        return Thread(Status.RUNNING, run.depth, run.lock, *pages, tuple(frames))

    def _change(self, run: Run, thread: Thread, updates: dict[int, int]) -> Change:
        spawned: list[Thread] = []
        if run.spawned:
            first = run.surroundings.thread_count() + 1
            for number, new in enumerate(run.spawned, first):
                live = new.frame.shape.live[0]
                frame = self._closed(run, number, new.frame, 0, live, 0, updates)
                pages = new.heap_page, new.stack_page
                spawned.append(Thread(Status.RUNNING, 0, None, *pages, (frame,)))
        return Change(
            thread,
            tuple(spawned),
            tuple(run.ended.items()),
            self._memory.changes(run, updates),
            frozenset(run.freed),
            tuple(run.allocated.values()),
        )

    def _closed(
        self,
        run: Run,
        number: int,
        frame: OpenFrame,
        depth: int,
        live: int,
        location: int,
        updates: dict[int, int],
    ) -> Frame:
        """A frame as locations have it; the values that are not known go into the updates."""
        known: list[tuple[int, int]] = []
        function = frame.shape.function
        for index, declared in enumerate(function.registers):
            if not live >> index & 1:
                continue
            bits = declared.type.bits
            term = frame.registers.get(index)
            if term is None:
                term = run.input(self._terms, "uninitialised", bits)
            value = self._terms.value(term)
            if value is not None and (
                self._knowledge.is_explicit_register(function.name, index, declared.type)
                or (
                    declared.type.kind is not TypeKind.FLOAT
                    and self._knowledge.is_address(value, bits)
                )
            ):
                known.append((index, value))
                continue
            variable = register_variable(self._terms, number, depth, index, bits)
            if variable != term:
                updates[variable] = term
        return Frame(
            function.name,
            location,
            frame.base,
            tuple(frame.allocated),
            tuple(known),
            tuple(sorted(frame.slots.items())),
        )


_LEFT = {Status.ENDED: ENDED, Status.HALTED: HALTED}


def library_call(knowledge: Knowledge, run: Run) -> Edge | None:
    """The call in the user's code that led into the library."""
    functions = knowledge.program.functions
    for name, source in reversed(run.stack):
        if not functions[name].library:
            return functions[name].edges[source][0]
    return None
