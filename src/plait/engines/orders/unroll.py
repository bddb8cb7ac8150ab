"""Unrolling: threads, calls and loops unfold into guarded events in SSA form.

Each thread is executed symbolically, once, over all its paths: paths that meet again are merged.
Objects that one thread alone accesses (by the sharing analysis) are part of the symbolic state;
accesses to the others become events. Executions are closed under prefixes for the properties
checked here, so a thread that waits may simply stop: inside an atomic section a fresh variable says
whether the section happens at all, and it can happen only if its waits and assumptions hold.
"""

from __future__ import annotations

import heapq

from plait.analysis.bounds import Loop
from plait.engines.interface import OutOfTime
from plait.engines.orders.bounds import (
    THREADS,
    Bounds,
    Key,
    entry_of,
    recursion_of,
    sizes_of,
)
from plait.engines.orders.compact import compact
from plait.engines.orders.control_flow import Shape, fills, most_rounds
from plait.engines.orders.evaluate import Evaluator
from plait.engines.orders.event_log import EventLog
from plait.engines.orders.idle import IdleRounds
from plait.engines.orders.knowledge import Knowledge
from plait.engines.orders.lives import ObjectLives
from plait.engines.orders.memory import UnrolledMemory
from plait.engines.orders.objects import Instance, Site
from plait.engines.orders.paths import Condition, Path, merged
from plait.engines.orders.possible_values import PossibleValues
from plait.engines.orders.shared import Latecomers, SharedMemory
from plait.engines.orders.unrolling import Access, Occurrence, ThreadRun, Unrolling
from plait.engines.orders.unrolling_facts import Cell, Surprise, UnrollingFacts
from plait.errors import UnsupportedCode
from plait.logic.terms import Terms
from plait.model.actions import (
    Allocate,
    Assign,
    AtomicBegin,
    AtomicEnd,
    Call,
    Check,
    CheckKind,
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
    Origin,
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
from plait.model.machine import LARGEST_ALLOCATION
from plait.model.memory_model import HAVE_A_MEANING_IN_C11, MemoryModel
from plait.model.program import Edge, Function, Program
from plait.model.types import Scalar
from plait.model.unset import local, made_at, missing_argument

MOST_SIZES = 16  # of one allocation that are known as numbers
# Of a loop that fills or copies and that nothing can leave yet, as it is so much, for each round of
# the bound: it is unrolled as one path.
_CERTAIN_ROUNDS = 64
LEAST_SIZES = 8  # of one allocation of any size that are looked at, whatever the bound


class Unroller:
    """Unrolls a program up to a number of loop rounds."""

    def __init__(
        self,
        program: Program,
        terms: Terms,
        bounds: Bounds,
        knowledge: Knowledge,
        known: UnrollingFacts,
        latecomers: Latecomers | None = None,
    ) -> None:
        self.program = program
        self.terms = terms
        self.bounds = bounds
        self.knowledge = knowledge
        self.known = known
        self.objects = knowledge.objects
        self._log = log = EventLog(program, terms, knowledge)
        self.result = log.result
        self.values = PossibleValues(log)
        self._shared = SharedMemory(log, known, self.values, latecomers or Latecomers())
        self._lives = ObjectLives(log, self.values, self._shared)
        self._evaluator = Evaluator(log)
        self._memory = UnrolledMemory(
            log, self.values, self._shared, self._lives, self._evaluator, bounds
        )
        self._idle = IdleRounds(log, known)
        self._pending: list[tuple[ThreadRun, Function, int, Scalar, Path]] = []
        self._started_at: dict[int, Origin] = {}  # threads by the calls that have started them
        self._pointer = program.data_model.pointer
        self._calls: list[str] = []
        self._stack: list[Edge] = []
        self._rounds: list[tuple[int, ...]] = []  # of the loops in each frame
        self._left: list[set[int]] = []  # heads of loops that some path has left, in each frame
        self._outer_slots: list[list[int | None]] = []  # of the frames below the running one

    def unroll(self) -> Unrolling:
        entry = self.program.functions[self.program.entry]
        first = ThreadRun(1, -1, -1, self.terms.true)
        start = Path(Condition.always(self.terms), [], [], {})
        self._pending.append((first, entry, 0, self._pointer, start))
        while self._pending:
            self._thread(*self._pending.pop(0))
        self._finish()
        compact(self.result, self.terms, is_weak=self.knowledge.is_weak)
        return self.result

    def _finish(self) -> None:
        """All threads have been unrolled."""

    def _thread(
        self, run: ThreadRun, function: Function, argument: int, type_: Scalar, start: Path
    ) -> None:
        self.result.threads.append(run)
        self._log.run, self._log.function = run, function
        self._log.library_call = self._started_at.get(run.number)
        self._calls, self._stack, self._rounds, self._left = [], [], [], []
        self._evaluator.thread_locals = {}
        arguments = [argument] if function.parameters else []
        if arguments and self.terms.width[argument] != function.registers[0].type.bits:
            raise UnsupportedCode("a thread whose function takes no pointer")
        self._function(function, arguments, start)

    # Functions: locations in an order in which all ways to a place come before it

    def _function(
        self, function: Function, arguments: list[int], entry: Path
    ) -> tuple[Path | None, int | None]:
        """The path behind the call, and the value returned; None where no path returns."""
        shape = self.knowledge.shape(function)
        registers: list[int | None] = [None] * len(function.registers)
        registers[: len(arguments)] = arguments
        slots: list[int | None] = [None] * len(function.slots)
        start = Path(
            entry.condition,
            registers,
            slots,
            entry.memory,
            entry.section,
            entry.held,
            entry.locks,
            entry.holds,
        )
        queue: list[tuple[tuple[int, ...], int, tuple[int, ...]]] = []
        first_rounds = tuple(0 for _ in shape.nests[0])
        waiting: dict[tuple[int, tuple[int, ...]], list[Path]] = {(0, first_rounds): [start]}
        heapq.heappush(queue, (shape.key(0, first_rounds), 0, first_rounds))
        returned: list[tuple[Path, int | None]] = []
        self._rounds.append(first_rounds)
        self._left.append(set())
        while queue:
            self._look_at_clock()
            _, location, rounds = heapq.heappop(queue)
            self._rounds[-1] = rounds
            paths = waiting.pop((location, rounds))
            path = merged(self.terms, paths, self._log.contents.of)
            for loop in shape.nests[location]:
                if loop.head == location:
                    self._come_to_head(loop, path)
            for edge, following in self._leave(function, location, path, returned):
                if edge.target < 0 or following is None:
                    continue
                place = self._next_place(function, shape, location, rounds, edge, following)
                if place is None:
                    continue
                if place not in waiting:
                    waiting[place] = []
                    heapq.heappush(queue, (shape.key(*place), *place))
                self._forget_dead(shape, place[0], following)
                waiting[place].append(following)
        self._rounds.pop()
        self._left.pop()
        if not returned:
            return None, None
        return self._join_returns(returned)

    def _site(self, edge: Edge) -> Site:
        """The step that is being unrolled."""
        return (*self._stack, edge), tuple(self._rounds)

    def _come_to_head(self, loop: Loop, path: Path) -> None:
        """A round of a loop begins."""
        self._idle.begin(len(self._rounds), loop, self._rounds[-1][-1] == 0, path)

    def _leave_loops(self, loops: list[Loop], path: Path) -> None:
        """The path leaves these loops."""

    def _look_at_clock(self) -> None:
        if self.knowledge.is_out_of_time():
            raise OutOfTime

    def _forget_dead(self, shape: Shape, location: int, path: Path) -> None:
        """So that nobody compares what nobody needs, where paths meet."""
        if not shape.is_met[location]:
            return
        values = path.registers
        path.registers = [None] * len(values)
        for index in shape.live_indices(location):
            path.registers[index] = values[index]

    def _next_place(
        self,
        function: Function,
        shape: Shape,
        location: int,
        rounds: tuple[int, ...],
        edge: Edge,
        path: Path,
    ) -> tuple[int, tuple[int, ...]] | None:
        """Where an edge leads, in which rounds of the loops there; None beyond the bound."""
        if self.bounds.is_closed(function.name, edge.target):
            self._log.cut(path, entry_of(function.name, edge.target), edge.action.origin)
            return None
        if not rounds and not shape.nests[edge.target]:
            return edge.target, ()
        here = dict(zip(shape.nests[location], rounds, strict=True))
        left = [loop for loop in here if edge.target not in loop.body]
        if left:
            self._leave_loops(left, path)
            self._left[-1] |= {loop.head for loop in left}
        there: list[int] = []
        for loop in shape.nests[edge.target]:
            number = here.get(loop)
            if number is None:
                there.append(0)
                continue
            if edge.target == loop.head:
                number += 1
                if loop.is_spin:
                    self._spin(path, edge.action.origin)
                    return None
                is_certain = loop.head not in self._left[-1] and fills(function, loop)
                if loop.bound is None and not is_certain:
                    live = shape.live[loop.head]
                    if self._idle.if_changed(len(self._rounds), loop, live, path) is None:
                        return None
                most = most_rounds(self.bounds, function, loop)
                if number > (most * _CERTAIN_ROUNDS if is_certain else most):
                    # Also where the analysis knows the bound: that is then easy to confirm.
                    self._log.cut(path, (function.name, loop.head), edge.action.origin)
                    return None
            there.append(number)
        return edge.target, tuple(there)

    def _spin(self, path: Path, origin: Origin) -> None:
        """A round that returns to the head can be left out; in an atomic section it means that the
        section does not happen, or never ends. Nobody sees a difference, but its accesses race."""
        if path.section is None:
            return
        if self.knowledge.finds_races:
            message = "an atomic section does not end"
            self._log.claim(self.result.troubles, path, "limit", message, origin)
        else:
            self._require(path, self.terms.false)

    def _end_process_in_section(self, path: Path, origin: Origin) -> None:
        """Nobody sees anything of a section that ends so, as if it did not happen. But its accesses
        race, and memory is lost at its end. If it happens for that, what the other threads do
        behind it is too much; it does not replay."""
        if self.knowledge.finds_races:
            self._shared.flush(path, origin)
        if self.knowledge.finds_races or self.knowledge.checks_memory:
            assert path.section is not None
            self._log.close_section(path.section[0], path, origin)
        else:
            self._require(path, self.terms.false)

    def _join_returns(self, returned: list[tuple[Path, int | None]]) -> tuple[Path, int | None]:
        """Merge the paths that return; the value rides along as one more register."""
        for path, value in returned:
            path.registers, path.slots = [value], []
        path = merged(self.terms, [path for path, _ in returned], self._log.contents.of)
        return path, path.registers[0]

    # Actions

    def _leave(
        self,
        function: Function,
        location: int,
        path: Path,
        returned: list[tuple[Path, int | None]],
    ) -> list[tuple[Edge, Path | None]]:
        leaving = function.edges[location]
        if path.condition.either_term(self.terms) == self.terms.false:
            return []
        self._evaluator.origin = leaving[0].action.origin
        if isinstance(leaving[0].action, Guard):
            truth, under = self._evaluator.truth, self._log.under
            return [
                (edge, under(path.copy(), truth(edge.action.condition, path)))
                for edge in leaving
                if isinstance(edge.action, Guard)
            ]
        [edge] = leaving
        action = edge.action
        if isinstance(action, Return):
            self._leave_slots(path.slots, path, action.origin)
            value = None if action.value is None else self._evaluator.value(action.value, path)
            returned.append((path, value))
            return []
        if isinstance(action, EndThread):
            self._end_of_thread(path, action.origin)
            path.locks.clear()
            self._shared.flush(path, action.origin)
            if path.section is not None:
                self._log.close_section(path.section[0], path, action.origin)
            return []
        if isinstance(action, EndProcess):
            if self.knowledge.checks_memory:
                self._lives.claim_leaks(path, action.origin)
            # It needs no order: up to a violation it has not happened, and nothing forces a thread
            # to take its last step.
            if path.section is not None:
                self._end_process_in_section(path, action.origin)
            return []
        try:
            return [(edge, self._act(edge, path))]
        except UnsupportedCode as error:
            if not error.diagnostic.file:  # not said further inside
                shown = self._log.shown(action.origin)
                place = self._log.program.diagnostic(shown, error.diagnostic.message)
                raise UnsupportedCode(place) from error
            raise

    def _act(self, edge: Edge, path: Path) -> Path | None:
        action = edge.action
        match action:
            case Skip() | Output():
                return path
            case Fence():
                if self.knowledge.is_weak:
                    self._log.order = action.order
                    self._log.fence(path, action.origin)
            case Assign():
                path.registers[action.target.index] = self._evaluator.value(action.value, path)
            case Load():
                self._log.order = action.order
                address = self._evaluator.value(action.address, path)
                target = action.target
                value = self._memory.load(address, action.address, target.type, path, action.origin)
                path.registers[action.target.index] = value
            case Store():
                self._log.order = action.order
                address = self._evaluator.value(action.address, path)
                value = self._evaluator.value(action.value, path)
                type_ = action.value.type
                self._memory.store(address, action.address, value, type_, path, action.origin)
            case ReadModifyWrite():
                count = len(self.result.events)
                self._log.order = action.order
                is_alone = path.section is None
                self._read_modify_write(action, path)
                if is_alone and self.knowledge.is_weak:
                    self._pair_parts_of_update(action, count)
            case Input():
                return self._input(action, edge, path)
            case Prune():
                holds = self._evaluator.truth(action.condition, path)
                return self._assume(path, holds, action.origin)
            case Wait():
                return self._wait(action, path)
            case Check():
                return self._check(action, path)
            case Call():
                return self._call(action, edge, path)
            case EnterScope():
                for index in action.slots:
                    self._enter(index, edge, path)
            case LeaveScope():
                self._leave_slots(
                    [path.slots[index] for index in action.slots], path, action.origin
                )
                if self.knowledge.is_weak:  # what has ended does not end once more
                    for index in action.slots:
                        path.slots[index] = None
            case Allocate():
                self._allocate(action, edge, path)
            case Free():
                address = self._evaluator.value(action.address, path)
                self._memory.free(address, action, path)
            case AtomicBegin():
                if not self._has_meaning(path, action.origin):
                    return None
                self._begin(path, edge)
            case AtomicEnd() if path.section is None:
                message = "the end of an atomic section that never began"
                self._log.claim(self.result.troubles, path, "unsupported", message, action.origin)
                return None
            case AtomicEnd():
                self._end(path, action.origin)
            case Spawn():
                return self._spawn(action, edge, path)
            case Unsupported():
                what = "unsupported"
                self._log.claim(self.result.troubles, path, what, action.message, action.origin)
                return None
            case ObjectSize():
                address = self._evaluator.value(action.address, path)
                value = self._memory.object_size(address, action, path)
                path.registers[action.target.index] = value
            case _:
                raise AssertionError(f"{type(action).__name__} is not unrolled")
        return path

    def _require(self, path: Path, condition: int) -> Path | None:
        """Go on only where a condition holds; an atomic section happens only if it does."""
        if path.section is not None:
            holds = self.terms.implies(path.condition.term, condition)
            self.result.facts.append(holds)
            path.condition = path.condition.with_late_part(self.terms, condition)
            if condition == self.terms.true:
                return path
            names = tuple(name for name, _ in path.section[0])
            if any(self.result.section_keys.get(n) in self.known.unblocked for n in names):
                raise Surprise
            self.result.required.append((path.condition.term, condition, names))
            return path if condition != self.terms.false else None
        return self._log.under(path, condition)

    def _assume(self, path: Path, condition: int, origin: Origin) -> Path | None:
        """Executions in which an assumption fails do not exist."""
        return self._require(path, condition)

    def _wait(self, action: Wait, path: Path) -> Path | None:
        if path.section is None:
            self._log.mark(path, action.origin)
        return self._require(path, self._evaluator.truth(action.condition, path))

    def _check(self, action: Check, path: Path) -> Path | None:
        condition = self._evaluator.truth(action.condition, path)
        if condition == self.terms.true:
            return path
        failing = path.copy()
        bad = self._log.under(failing, self.terms.not_(condition))
        if bad is not None:
            undefined = action.kind is CheckKind.UNDEFINED
            claims = self.result.troubles if undefined else self.result.violations
            self._log.claim(claims, bad, action.kind.value, action.message, action.origin)
        return self._log.under(path, condition)

    # Values

    def _input(self, action: Input, edge: Edge, path: Path) -> Path | None:
        type_ = action.target.type
        if action.indeterminate:
            term = self._log.unset(made_at(self._log.function.name, edge.source), type_.bits, path)
        else:
            term = self._log.unknown(action.name, type_, path.condition.term)
        if type_.is_bool:
            self.result.facts.append(self.terms.ult(term, self.terms.constant(2, type_.bits)))
        has_values = self.terms.true
        if action.count is not None:
            count = self._evaluator.value(action.count, path)
            has_values = self.terms.slt(self.terms.constant(0, self.terms.width[count]), count)
            is_one = self.terms.ult(term, count)
            self.result.facts.append(self.terms.implies(has_values, is_one))
        path.registers[action.target.index] = term
        return self._assume(path, has_values, action.origin)

    # Memory

    def _read_modify_write(self, action: ReadModifyWrite, path: Path) -> None:
        is_alone = path.section is None
        if is_alone:
            path.section = self._log.section_from(self._log.mark(path, action.origin))
        address = self._evaluator.value(action.address, path)
        type_ = action.old.type
        where = action.address
        old = self._memory.load(address, where, type_, path, action.origin)
        path.registers[action.old.index] = old
        new = self._evaluator.value(action.new, path)
        writing: Path | None = path
        happens = self.terms.true
        if action.guard is not None:
            happens = self._evaluator.truth(action.guard, path)
            writing = self._log.under(path.copy(), happens)
        if writing is not None:
            self._memory.store(address, where, new, type_, writing, action.origin)
            if writing is not path:
                skipped = self._log.under(path.copy(), self.terms.not_(happens))
                both = [item for item in (writing, skipped) if item is not None]
                met = merged(self.terms, both, self._log.contents.of)
                path.memory, path.held = met.memory, met.held
        if is_alone:
            self._end(path, action.origin)

    def _pair_parts_of_update(self, action: ReadModifyWrite, count: int) -> None:
        """The events from a number on are those of an update."""
        self.result.updates.add(count)
        reads: dict[Cell, Occurrence] = {}
        for event in self.result.events[count:]:
            event.in_update = True
            if event.kind is Access.READ and event.cell is not None:
                reads[event.cell] = event
                event.failure_order = None if action.guard is None else action.failure_order
            elif event.kind is Access.WRITE and event.cell is not None:
                event.update_of = reads[event.cell]

    # Sections, locals, threads

    def _has_meaning(self, path: Path, origin: Origin) -> bool:
        """Of an atomic section under the memory model: under C11 not every one synchronises."""
        function = self._log.function
        is_c11 = self.knowledge.memory_model is MemoryModel.C11
        is_inner = path.section is not None
        if not is_c11 or is_inner or (function.library and function.name in HAVE_A_MEANING_IN_C11):
            return True
        what = f"'{function.display}'" if function.library else "an atomic section"
        message = f"{what} has no meaning under the memory model c11"
        self._log.claim(self.result.troubles, path, "unsupported", message, origin)
        return False

    def _begin(self, path: Path, edge: Edge) -> None:
        if path.section is not None:
            path.section = (path.section[0], path.section[1] + 1)
            return
        key = (*self._stack, edge)
        if key not in self.known.unblocked:
            self._begin_or_stop(path, self.terms.fresh("section", 1))
        begin = self._log.mark(path, edge.action.origin)
        self.result.section_keys[begin] = key
        path.section = self._log.section_from(begin)

    def _begin_or_stop(self, path: Path, happens: int) -> None:
        path.condition = path.condition.with_part(self.terms, happens)

    def _end(self, path: Path, origin: Origin) -> None:
        assert path.section is not None
        begins, depth = path.section
        if depth > 1:
            path.section = (begins, depth - 1)
            return
        self._shared.flush(path, origin)
        self._log.close_section(begins, path, origin)
        path.section = None

    def _enter(self, index: int, edge: Edge, path: Path) -> None:
        slot = self._log.function.slots[index]
        instance = self.objects.local(self._log.run.number, slot, self._site(edge))
        self._begin_object(instance, path, edge.action.origin)
        self._log.unset_object(local(self._log.function.name, index), instance, path)
        path.slots[index] = self.terms.constant(instance.address, self._pointer.bits)

    def _begin_object(self, instance: Instance, path: Path, origin: Origin) -> None:
        """Under C11 an access to an object must know that it has begun."""
        if self.knowledge.memory_model is MemoryModel.C11 and instance.is_shared:
            self.result.beginnings[instance.address] = self._log.mark(path, origin)

    def _begin_heap_life(self, instance: Instance, path: Path, origin: Origin) -> None:
        instance.can_leak = True
        self._lives.set(instance, True, path, origin)

    def _leave_slots(self, slots: list[int | None], path: Path, origin: Origin) -> None:
        if self.knowledge.checks_lives:
            addresses = [address for address in slots if address is not None]
            self._lives.end_together(addresses, [], path, origin)

    def _end_of_thread(self, path: Path, origin: Origin) -> None:
        """All locals of the thread die, and its thread-local objects."""
        if not self.knowledge.checks_lives:
            return
        frames = (*self._outer_slots, path.slots)
        addresses = [address for slots in frames for address in slots if address is not None]
        is_created = self._log.run.number > 1
        own = list(self._evaluator.thread_locals.values()) if is_created else []
        self._lives.end_together(addresses, own, path, origin)
        if not is_created and self.objects.leakable():
            what = "the initial thread ends before the process: lost memory is not looked for"
            self._log.claim(self.result.troubles, path, "limit", what, origin)

    def _allocate(self, action: Allocate, edge: Edge, path: Path) -> None:
        """One object. If its size is not one number, the object is as large as it can be, and every
        access compares with the size."""
        terms, bits = self.terms, self._pointer.bits
        size = terms.zero_extend(self._evaluator.value(action.size, path), bits)
        known = self.values.numbers(size, MOST_SIZES, {})
        is_open = known is None or len(known) > 1
        most = LARGEST_ALLOCATION
        if is_open:  # on one page, so that it takes as many as in the reference interpreter
            most = min(most, (1 << self.program.data_model.page_bits) - 1)
        if known is not None:
            largest = max((item for item in known if item <= most), default=0)
        else:
            key = sizes_of(self._log.function.name, edge.source)
            largest = min(most, self._largest(size, key))
            cut = self._log.under(path.copy(), terms.ult(terms.constant(largest, bits), size))
            cut = cut and self._log.under(cut, terms.ule(size, terms.constant(most, bits)))
            if cut is not None:
                self._log.cut(cut, key, self._in_user_code(action.origin))
        is_allowed = terms.ule(size, terms.constant(largest, bits))
        if not is_open:  # `known` may be incomplete
            is_allowed = terms.eq(size, terms.constant(largest, bits))
        beyond = self._log.under(path.copy(), terms.not_(is_allowed))
        if known is None and beyond is not None:
            beyond = self._log.under(beyond, terms.ult(terms.constant(most, bits), size))
        if beyond is not None:
            message = f"an allocation of more than {most} bytes"
            if known is not None:
                message = "an allocation whose size is not known"
            origin = self._in_user_code(action.origin)
            self._log.claim(self.result.troubles, beyond, "unsupported", message, origin)
        path.condition = path.condition.with_part(terms, is_allowed)
        instance = self._made(action, edge, largest, is_open, path)
        self._begin_object(instance, path, action.origin)
        if not action.zeroed:
            maker = made_at(self._log.function.name, edge.source)
            self._log.unset_object(maker, instance, path)
        if is_open:
            is_so = terms.eq(instance.size_term(terms, bits), size)
            self.result.facts.append(terms.implies(path.condition.term, is_so))
        path.registers[action.target.index] = terms.constant(instance.address, bits)

    def _call_of_library(self) -> Edge | None:
        """The call in the user's code that led into the library, if the running function is there
        and was not the first one of its thread."""
        functions = self.program.functions
        name = self._log.function.name
        found: Edge | None = None
        for edge, caller in zip(reversed(self._stack), [*self._calls[-2::-1], None], strict=True):
            if not functions[name].library:
                break
            found = edge
            name = name if caller is None else caller
        return found

    def _in_user_code(self, origin: Origin) -> Origin:
        """The place of the call that led into the library, if the running function is there."""
        call = self._call_of_library()
        return origin if call is None else call.action.origin

    def _made(self, action: Allocate, edge: Edge, size: int, is_open: bool, path: Path) -> Instance:
        site, thread = self._site(edge), self._log.run.number
        if action.storage == "stack":
            if self.objects.can_dangle(edge):  # its end is not looked at: nothing is proved
                what, message = "unsupported", "alloca, with memory safety"
                self._log.claim(self.result.troubles, path, what, message, action.origin)
            return self.objects.from_alloca(thread, size, is_open, edge, site)
        instance = self.objects.allocated(
            thread, size, is_open, action, edge, site, self._call_of_library()
        )
        if self.knowledge.checks_memory and action.storage == "heap":
            self._begin_heap_life(instance, path, action.origin)
        return instance

    def _largest(self, size: int, key: Key) -> int:
        """Of the sizes that are looked at: so many steps, which mostly are elements of an array."""
        steps = max(self.bounds.of(key), LEAST_SIZES)
        return self.values.progressions.smallest(size, steps, LARGEST_ALLOCATION)[-1]

    def _spawn(self, action: Spawn, edge: Edge, path: Path) -> Path | None:
        value = self.terms.value(self._evaluator.value(action.function, path))
        function = None if value is None else self.objects.function_at(value)
        if function is None:
            raise UnsupportedCode("a thread whose function is not known")
        if self._log.run.depth > self.bounds.of(THREADS):
            self._log.cut(path, THREADS, action.origin)
            return None
        argument = self._evaluator.value(action.argument, path)
        self._shared.flush(path, action.origin)
        event = self._log.mark(path, action.origin)
        parent = self._log.run
        number = self.objects.thread(parent.number, self._site(edge))
        run = ThreadRun(number, parent.number, event, path.condition.term, parent.depth + 1)
        start = Path(path.condition.in_time(), [], [], path.memory.copy())
        self._pending.append((run, function, argument, action.argument.type, start))
        self._started_at[number] = self._log.shown(action.origin)
        self._log.is_alone = False
        path.registers[action.target.index] = self.terms.constant(number, 32)
        return path

    def _call(self, action: Call, edge: Edge, path: Path) -> Path | None:
        arguments = [self._evaluator.value(item, path) for item in action.arguments]
        if isinstance(action.callee, str):
            targets = [(self.program.functions[action.callee], self.terms.true)]
        else:
            targets = self._callees(self._evaluator.value(action.callee, path), path, edge)
        done: list[Path] = []
        for function, here in targets:
            entered = self._log.under(path.copy() if len(targets) > 1 else path, here)
            if entered is not None:
                self._stack.append(edge)
                following = self._enter_function(action, function, arguments, entered)
                self._stack.pop()
                if following is not None:
                    done.append(following)
        return merged(self.terms, done, self._log.contents.of) if done else None

    def _callees(self, address: int, path: Path, edge: Edge) -> list[tuple[Function, int]]:
        """What a pointer to a function can call: the values that it is known to have, or else what
        points-to analysis says. The path goes on only for these."""
        values = self.values.leaves(address)
        if values is None:
            values = self.objects.callees(self._log.function.name, edge)
        found = []
        covered = self.terms.false
        for value in values:
            function = self.objects.function_at(value)
            here = self.terms.eq(address, self.terms.constant(value, self.terms.width[address]))
            if function is not None:
                found.append((function, here))
                covered = self.terms.or_(covered, here)
        origin = edge.action.origin
        bad = self._log.under(path.copy(), self.terms.not_(covered))
        bad = bad and self._log.outside(bad, address, 0, origin)
        if bad is not None:
            message = "call through a pointer to no function"
            self._log.claim(self.result.troubles, bad, "undefined behaviour", message, origin)
        path.condition = path.condition.with_part(self.terms, covered)
        return found

    def _enter_function(
        self, action: Call, function: Function, arguments: list[int], path: Path
    ) -> Path | None:
        recursion = recursion_of(function.name)
        if self._calls.count(function.name) > self.bounds.of(recursion):
            self._log.cut(path, recursion, action.origin)
            return None
        # Extra arguments are dropped, missing ones unknown, as in the reference interpreter.
        arguments = arguments[: function.parameters]
        for index in range(len(arguments), function.parameters):
            missing = missing_argument(function.name, index)
            bits = function.registers[index].type.bits
            arguments.append(self._log.unset(missing, bits, path))
        for value, declared in zip(arguments, function.registers, strict=False):
            if self.terms.width[value] != declared.type.bits:
                raise UnsupportedCode("a call with arguments of other types than parameters")
        outer = path.registers, path.slots
        self._outer_slots.append(path.slots)
        caller = self._log.function
        call = self._log.library_call
        if function.library and not caller.library:
            self._log.library_call = action.origin
        elif not function.library:
            self._log.library_call = None
        self._calls.append(function.name)
        self._log.function = function
        following, returned = self._function(function, arguments, path)
        self._log.function, self._log.library_call = caller, call
        self._calls.pop()
        self._outer_slots.pop()
        if following is None:
            return None
        following.registers, following.slots = outer[0][:], outer[1][:]
        if action.target is not None:
            bits = action.target.type.bits
            result = returned
            if result is None:
                missing = made_at(caller.name, self._stack[-1].source)
                result = self._log.unset(missing, bits, following)
            if self.terms.width[result] != bits:
                raise UnsupportedCode("a result of another type than the call's")
            following.registers[action.target.index] = result
        return following
