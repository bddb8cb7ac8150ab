"""How the runs of a block end, and what the block as a whole comes to."""

from __future__ import annotations

from plait.data import dataclass, replace
from plait.logic.interpolation.path import Step
from plait.logic.terms import Terms
from plait.model.actions import Call, Origin
from plait.model.program import Edge
from plait.symbolic.blocks import Block, Kind, Way
from plait.symbolic.knowledge import Knowledge
from plait.symbolic.locations import ENDED, HALTED, Frame, Location, Status, Thread
from plait.symbolic.memory import Memory
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


class Ends:
    """Of the runs of one block: what they came to so far, and which are still to be followed."""

    def __init__(self, memory: Memory) -> None:
        self.pending: list[Run] = []
        self.result = Unplaced(Block(), [])
        self._memory = memory
        self._knowledge: Knowledge = memory.knowledge
        self._terms: Terms = memory.terms

    @property
    def count(self) -> int:
        """Of the ways so far, and of the runs that will make more of them."""
        return len(self.pending) + len(self.result.block.ways)

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
        self.result.block.accesses.update(dict.fromkeys(run.accesses))

    def end_process(self, run: Run) -> None:
        self.blocked(run)
        self.result.block.ends_process = True

    def _stop(self, run: Run, kind: Kind, message: str, origin: Origin) -> None:
        step = Step(tuple(run.conditions), {}, _variables(run))
        way = Way(kind, step, None, tuple(run.accesses), tuple(run.inputs), message)
        way.origin = self._user_origin(run, origin)
        self._add(way, None)

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
        if run.depth or not run.has_changed or run.is_alone:
            self.blocked(run)
        else:
            self._move(run, HALTED, {})

    def end_thread(self, run: Run) -> None:
        self._move(run, ENDED, {})

    def arrive(self, run: Run) -> None:
        """The block ends where the thread stands now."""
        frames = list(run.suspended)
        updates: dict[int, int] = {}
        for position, frame in enumerate(run.frames, len(frames)):
            if frame is not run.frame:
                assert frame.call is not None and isinstance(frame.call.action, Call)
                live = frame.shape.live[frame.call.target]
                target = frame.call.action.target
                if target is not None:
                    live &= ~(1 << target.index)
                location = frame.call.source
            else:
                live = frame.shape.live[run.location]
                location = run.location
            frames.append(
                self._closed(run, run.number, frame, position, live, location, updates)
            )
        if run.depth:
            self.result.block.pauses_in_section = True
        pages = run.heap_page, run.stack_page
        thread = Thread(Status.RUNNING, run.depth, *pages, tuple(frames))
        self._move(run, thread, updates)

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
                or self._knowledge.is_address(value, bits)
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

    def _move(self, run: Run, thread: Thread, updates: dict[int, int]) -> None:
        spawned: list[Thread] = []
        if run.spawned:
            first = run.surroundings.thread_count() + 1
            for number, new in enumerate(run.spawned, first):
                live = new.frame.shape.live[0]
                frame = self._closed(run, number, new.frame, 0, live, 0, updates)
                pages = new.heap_page, new.stack_page
                spawned.append(Thread(Status.RUNNING, 0, *pages, (frame,)))
        change = Change(
            thread,
            tuple(spawned),
            tuple(run.ended.items()),
            self._memory.changes(run, updates),
            frozenset(run.freed),
            tuple(run.allocated.values()),
        )
        step = Step(tuple(run.conditions), updates, _variables(run))
        way = Way(Kind.MOVE, step, None, tuple(run.accesses), tuple(run.inputs))
        way.spawns = bool(spawned)
        self._add(way, change)

    def _add(self, way: Way, change: Change | None) -> None:
        block = self.result.block
        block.accesses.update(dict.fromkeys(way.accesses))
        block.spawns = block.spawns or way.spawns
        block.ways.append(way)
        self.result.changes.append(change)


def library_call(knowledge: Knowledge, run: Run) -> Edge | None:
    """The call in the user's code that led into the library."""
    functions = knowledge.program.functions
    for name, source in reversed(run.stack):
        if not functions[name].library:
            return functions[name].edges[source][0]
    return None


def _variables(run: Run) -> frozenset[int]:
    return frozenset(use.variable for use in run.inputs)
