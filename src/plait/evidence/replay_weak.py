"""Turning an engine's counterexample under a weak memory model into a schedule.

As for sequentially consistent memory, threads are driven on from access to access. What is new is
when stores become visible, which the engine says, and under C11 which write a read takes its value
from and where in modification order a write comes: the interpreter offers what the model allows
there, and one of these must be what the engine has chosen.
"""

from __future__ import annotations

from plait.engines.interface import Counterexample, WeakMove, WeakOrder
from plait.evidence.replay import AccessReplay, ReplayFailed
from plait.model.program import Program
from plait.model.properties import Specification
from plait.semantics.graph_memory import GraphMemory, Location, Ref
from plait.semantics.outcome import Ending, InputRequest
from plait.semantics.scalars import Number
from plait.semantics.schedule import Schedule, ScheduledStep
from plait.semantics.store_buffers import Entry, StoreBuffers
from plait.semantics.weak import BECOMES_VISIBLE, CHOICES, COMES_AFTER, READS_FROM

_INITIAL: Ref = (0, 0)


def replay_in_weak_memory(
    program: Program, specification: Specification, found: Counterexample
) -> Schedule:
    """A schedule whose last step is the violation."""
    return _WeakReplay(program, specification, found).follow()


class _WeakReplay(AccessReplay):
    """An access has a number, from 0, among those of its thread."""

    def __init__(
        self, program: Program, specification: Specification, found: Counterexample
    ) -> None:
        super().__init__(program, specification, found)
        assert isinstance(found.order, WeakOrder)
        self._moves = found.order.moves
        self._move = WeakMove(1)
        self._done: dict[int, int] = {}  # accesses of the machine's threads
        self._waiting: dict[tuple[int, int], Entry] = {}  # stores in buffers, by their numbers
        self._wanted: Entry | None = None
        self._refs: dict[tuple[int, int], Ref] = {}  # accesses in the graph, by threads and numbers
        self._actor = 1  # of the machine's threads, the one that takes the step
        self._known = 0  # its accesses in the graph before the step

    def follow(self) -> Schedule:
        self._machine.start()
        self._machine.commit()
        for move in self._moves:
            if self._is_over:
                break
            if move.ends:
                self._go_to_end(move)
            elif move.store is None:
                self._go_to_access(move)
            else:
                self._make_visible(move.thread, move.store)
        while not self._is_over:
            self._take(WeakMove(self._violator))
        return Schedule(self._steps)

    def _go_to_access(self, move: WeakMove) -> None:
        while not self._take(move):
            pass

    def _go_to_end(self, move: WeakMove) -> None:
        """Up to where shared locals die."""
        memory = self._machine.memory
        while not self._is_over:
            before = {page for page in memory if self._counts(page << self._machine.page_bits)}
            if self._take(move) and not self._is_over:
                raise ReplayFailed("an access comes before the end of a local")
            memory = self._machine.memory
            if before - memory.keys():
                return

    def _take(self, move: WeakMove) -> bool:
        """A step of a thread, or of who starts it; whether it was an access, or the end."""
        number = self._to_run(move.thread)
        weak = self._machine.weak
        self._move, self._actor = move, number
        before: tuple[Entry, ...] = ()
        if isinstance(weak, StoreBuffers):
            before = weak.waiting(number)
        elif isinstance(weak, GraphMemory):
            self._known = len(weak.accesses_of(number))
        has_accessed = self._step(number)
        if not has_accessed or self._is_over:
            return has_accessed
        done = self._done.get(number, 0)
        self._done[number] = done + 1
        if isinstance(weak, StoreBuffers):
            for entry in weak.waiting(number):
                if not any(entry is one for one in before) and self._counts_entry(entry):
                    self._waiting[number, done] = entry
        elif isinstance(weak, GraphMemory):
            for ref, location in weak.accesses_of(number)[self._known :]:
                if self._counts(self._address(location)):
                    # Of an update the write, which is last.
                    self._refs[self._engine[number], done] = ref
        return True

    def _makes_shared_access(self, heap: set[int]) -> bool:
        weak, number = self._machine.weak, self._actor
        if isinstance(weak, GraphMemory) and any(
            self._counts(self._address(location))
            for _, location in weak.accesses_of(number)[self._known :]
        ):
            return True
        return super()._makes_shared_access(heap)

    def _make_visible(self, thread: int, access: int) -> None:
        number = self._number[thread]
        weak = self._machine.weak
        assert isinstance(weak, StoreBuffers)
        self._wanted = self._waiting.get((number, access))
        while not self._is_over and any(one is self._wanted for one in weak.waiting(number)):
            self._given = []
            outcome = self._machine.step(-number)
            self._steps.append(ScheduledStep(-number, tuple(self._given)))
            if outcome.ending is not Ending.MOVED:
                raise ReplayFailed(f"a store of thread {number} does not become visible")
            self._machine.commit()

    def _counts_entry(self, entry: Entry) -> bool:
        return self._counts((entry.page << self._machine.page_bits) + entry.offset)

    def _address(self, location: Location) -> int:
        return (location.page << self._machine.page_bits) + location.offset

    def _supply(self, request: InputRequest) -> Number:
        if request.name not in CHOICES:
            return super()._supply(request)
        place = self._choice(request.name)
        self._given.append(place)
        return place

    def _choice(self, name: str) -> int:
        weak = self._machine.weak
        assert weak is not None
        offered = weak.offered
        if name == BECOMES_VISIBLE:
            places = [place for place, one in enumerate(offered) if one is self._wanted]
        elif name == READS_FROM:
            reads = self._move.reads
            source = _INITIAL if reads is None else self._refs.get(reads)
            places = [place for place, one in enumerate(offered) if one == source]
        else:
            assert name == COMES_AFTER
            places = self._places_behind(weak, offered)
        return places[0] if places else 0

    def _places_behind(self, weak: object, offered: tuple[Ref, ...]) -> list[int]:
        """Behind the last write that it has to come after."""
        assert isinstance(weak, GraphMemory)
        earlier = {self._refs.get(one) for one in self._move.behind}
        best = -1, 0
        for place, one in enumerate(offered):
            if one == _INITIAL:
                rank = 0
            elif one in earlier:
                rank = weak.rank(one)
            else:
                continue
            best = max(best, (rank, place))
        return [best[1]]
