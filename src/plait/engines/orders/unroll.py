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
from plait.analysis.loops import find_loops
from plait.data import dataclass, field
from plait.engines.orders.bounds import THREADS, Bounds, Key, entry_of, recursion_of
from plait.engines.orders.compact import compact
from plait.engines.orders.idle import Head, change, wait_in
from plait.engines.orders.knowledge import Knowledge
from plait.engines.orders.memory import UnrolledMemory
from plait.engines.orders.objects import Instance, Site
from plait.engines.orders.paths import Condition, Path, merged
from plait.engines.orders.places import is_one_of
from plait.engines.orders.unrolling import (
    Access,
    InputUse,
    OutOfTime,
    ThreadRun,
    Unrolling,
)
from plait.engines.orders.unrolling_facts import Cell, Surprise, UnrollingFacts
from plait.errors import UnsupportedCode
from plait.logic.terms import Terms
from plait.logic.translate import translate
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
from plait.model.dataflow import live_registers, postorder
from plait.model.expressions import (
    CurrentThread,
    Expr,
    FrameAddress,
    FunctionAddress,
    PointerAdd,
    StaticAddress,
    children,
)
from plait.model.program import Edge, Function, Program, StaticObject
from plait.model.types import Kind, Scalar

_FEW = 20  # rounds of a loop
_FEW_MORE = 256
_MOST_COPIES = 4096
MOST_SIZES = 16  # of one allocation: each gets an object of its own
LARGEST_ALLOCATION = 1 << 26  # as in the reference interpreter

_Move = PointerAdd | StaticAddress | FrameAddress


@dataclass(slots=True, eq=False)
class _Shape:
    """What unrolling needs to know of a function's control flow."""

    rank: list[int]
    nests: list[tuple[Loop, ...]]  # for each location the loops it is in, outermost first
    live: list[int]
    is_met: bytes  # whether several edges lead to a location
    live_there: dict[int, list[int]] = field(default_factory=dict)  # `live` as indices

    def live_indices(self, location: int) -> list[int]:
        known = self.live_there.get(location)
        if known is None:
            mask = self.live[location]
            known = [index for index in range(mask.bit_length()) if mask >> index & 1]
            self.live_there[location] = known
        return known


class Unroller(UnrolledMemory):
    """Unrolls a program up to a number of loop rounds."""

    def __init__(
        self,
        program: Program,
        terms: Terms,
        bounds: Bounds,
        knowledge: Knowledge,
        known: UnrollingFacts,
    ) -> None:
        super().__init__(program, terms, bounds, knowledge, known)
        self._shapes: dict[str, _Shape] = knowledge.shapes
        self._pending: list[tuple[ThreadRun, Function, int, Scalar, Path]] = []
        self._pointer = program.data_model.pointer
        self._thread_locals: dict[StaticObject, Instance] = {}
        self._calls: list[str] = []
        self._stack: list[Edge] = []
        self._rounds: list[tuple[int, ...]] = []  # of the loops in each frame
        # In each frame: where rounds of a loop began, and when rounds have ended in a wait.
        self._heads: dict[tuple[int, int], Head] = {}
        self._waited: dict[tuple[int, int], dict[Cell, int]] = {}
        self._outer_slots: list[list[int | None]] = []  # of the frames below the running one
        self._moves: dict[int, list[_Move]] = {}

    def unroll(self) -> Unrolling:
        entry = self.program.functions[self.program.entry]
        first = ThreadRun(1, -1, -1, self.terms.true)
        start = Path(Condition((), self.terms.true), [], [], {})
        self._pending.append((first, entry, 0, self._pointer, start))
        while self._pending:
            self._thread(*self._pending.pop(0))
        self._finish()
        compact(self.result, self.terms)
        return self.result

    def _finish(self) -> None:
        """All threads have been unrolled."""

    def _thread(
        self, run: ThreadRun, function: Function, argument: int, type_: Scalar, start: Path
    ) -> None:
        self.result.threads.append(run)
        self._run, self._current, self._calls, self._stack = run, function, [], []
        self._rounds = []
        self._thread_locals = {}
        arguments = [argument] if function.parameters else []
        if arguments and self.terms.width[argument] != function.registers[0].type.bits:
            raise UnsupportedCode("a thread whose function takes no pointer")
        self._function(function, arguments, start)

    # Functions: locations in an order in which all ways to a place come before it

    def _shape(self, function: Function) -> _Shape:
        known = self._shapes.get(function.name)
        if known is None:
            order = postorder(function)
            order.reverse()
            rank = [0] * len(function.edges)
            for number, location in enumerate(order):
                rank[location] = number
            nests: list[list[Loop]] = [[] for _ in function.edges]
            for loop in find_loops(self.program, function):
                if not loop.is_reducible:
                    raise UnsupportedCode(f"a loop with two entries in {function.display}()")
                for location in loop.body:
                    nests[location].append(loop)
            sorted_nests = [tuple(sorted(nest, key=lambda loop: loop.depth)) for nest in nests]
            arrivals = bytearray(len(function.edges))
            for edge in function.all_edges():
                if edge.target >= 0:
                    arrivals[edge.target] = min(2, arrivals[edge.target] + 1)
            is_met = bytes(count > 1 for count in arrivals)
            known = _Shape(rank, sorted_nests, live_registers(function), is_met)
            self._shapes[function.name] = known
        return known

    def _function(
        self, function: Function, arguments: list[int], entry: Path
    ) -> tuple[Path | None, int | None]:
        """The path behind the call, and the value returned; None where no path returns."""
        shape = self._shape(function)
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
        )
        queue: list[tuple[tuple[int, ...], int, tuple[int, ...]]] = []
        first_rounds = tuple(0 for _ in shape.nests[0])
        waiting: dict[tuple[int, tuple[int, ...]], list[Path]] = {(0, first_rounds): [start]}
        heapq.heappush(queue, (self._key(shape, 0, first_rounds), 0, first_rounds))
        returned: list[tuple[Path, int | None]] = []
        self._rounds.append(first_rounds)
        while queue:
            self._look_at_clock()
            _, location, rounds = heapq.heappop(queue)
            self._rounds[-1] = rounds
            paths = waiting.pop((location, rounds))
            path = merged(self.terms, paths, self._initial)
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
                    heapq.heappush(queue, (self._key(shape, *place), *place))
                self._forget_dead(shape, place[0], following)
                waiting[place].append(following)
        self._rounds.pop()
        if not returned:
            return None, None
        return self._join_returns(returned)

    def _site(self, edge: Edge) -> Site:
        """The step that is being unrolled."""
        return (*self._stack, edge), tuple(self._rounds)

    def _come_to_head(self, loop: Loop, path: Path) -> None:
        """A round of a loop begins."""
        place = len(self._rounds), loop.head
        if loop.bound is None and not loop.is_spin and path.section is None:
            is_first = self._rounds[-1][-1] == 0  # of the innermost loop, which is this one
            waited = {} if is_first else self._waited[place]
            self._heads[place] = Head.of(path, len(self.result.events), self.objects.made, waited)
        else:
            self._heads.pop(place, None)
        self._waited[place] = {}

    def _is_alone(self) -> bool:
        return len(self.result.threads) == 1 and not self._pending

    def _if_changed(self, loop: Loop, shape: _Shape, path: Path) -> Path | None:
        """The path back to the head, as far as its round has changed anything."""
        head = self._heads.get((len(self._rounds), loop.head))
        if head is None:
            return path
        events = self.result.events[head.events :]
        live, made = shape.live[loop.head], self.objects.made
        # Threads that the round has started would have to wait with it.
        taken = wait_in(self.terms, events) if made == head.made else None
        lock = None if taken is None else taken.cell
        if taken is not None and taken.kind is Access.WRITE and lock is not None:
            if lock not in self.known.owned:
                self.result.waited_for.add(lock)
                taken = None
        if taken is None or lock is None:
            return self._under(path, change(self.terms, head, path, live, events, made))
        has_changed = change(self.terms, head, path, live, [], made)
        has_waited = head.waited.get(lock, self.terms.false)
        following = self._under(path, self.terms.or_(has_changed, self.terms.not_(has_waited)))
        if following is not None:
            waits = self._waited[len(self._rounds), loop.head]
            now = self.terms.and_(following.condition.term, taken.guard)
            waits[lock] = self.terms.or_(waits.get(lock, self.terms.false), now)
        return following

    def _leave_loops(self, loops: list[Loop], path: Path) -> None:
        """The path leaves these loops."""

    def _look_at_clock(self) -> None:
        if self.knowledge.is_out_of_time():
            raise OutOfTime

    def _forget_dead(self, shape: _Shape, location: int, path: Path) -> None:
        """So that nobody compares what nobody needs, where paths meet."""
        if not shape.is_met[location]:
            return
        values = path.registers
        path.registers = [None] * len(values)
        for index in shape.live_indices(location):
            path.registers[index] = values[index]

    def _key(self, shape: _Shape, location: int, rounds: tuple[int, ...]) -> tuple[int, ...]:
        if not rounds:
            return (shape.rank[location],)
        key: list[int] = []
        for loop, number in zip(shape.nests[location], rounds, strict=True):
            key += [shape.rank[loop.head], number]
        return (*key, shape.rank[location])

    def _next_place(
        self,
        function: Function,
        shape: _Shape,
        location: int,
        rounds: tuple[int, ...],
        edge: Edge,
        path: Path,
    ) -> tuple[int, tuple[int, ...]] | None:
        """Where an edge leads, in which rounds of the loops there; None beyond the bound."""
        if self.bounds.is_closed(function.name, edge.target):
            self._cut(path, entry_of(function.name, edge.target), edge.action.origin)
            return None
        if not rounds and not shape.nests[edge.target]:
            return edge.target, ()
        here = dict(zip(shape.nests[location], rounds, strict=True))
        left = [loop for loop in here if edge.target not in loop.body]
        if left:
            self._leave_loops(left, path)
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
                if loop.bound is None and self._if_changed(loop, shape, path) is None:
                    return None
                if number > self._most_rounds(function, loop):
                    # Also where the analysis knows the bound: that is then easy to confirm.
                    self._cut(path, (function.name, loop.head), edge.action.origin)
                    return None
            there.append(number)
        return edge.target, tuple(there)

    def _cut(self, path: Path, exceeded: Key, origin: Origin) -> None:
        """Executions that come here are not unrolled any further."""
        known = len(self.result.cuts)
        self._claim(self.result.cuts, path, "bound", "", origin)
        for claim in self.result.cuts[known:]:
            claim.exceeded = exceeded

    def _spin(self, path: Path, origin: Origin) -> None:
        """A round that returns to the head can be left out; in an atomic section it means that the
        section does not happen, or never ends. Nobody sees a difference, but its accesses race."""
        if path.section is None:
            return
        if self.knowledge.finds_races:
            message = "an atomic section does not end"
            self._claim(self.result.troubles, path, "limit", message, origin)
        else:
            self._require(path, self.terms.false)

    def _end_process_in_section(self, path: Path, origin: Origin) -> None:
        """Nobody sees anything of a section that ends so, as if it did not happen. But its accesses
        race, and memory is lost at its end. If it happens for that, what the other threads do
        behind it is too much; it does not replay."""
        if self.knowledge.finds_races:
            self._flush(path, origin)
        if self.knowledge.finds_races or self.knowledge.checks_memory:
            assert path.section is not None
            self._close_section(path.section[0], path, origin)
        else:
            self._require(path, self.terms.false)

    def _most_rounds(self, function: Function, loop: Loop) -> int:
        """A loop with a known number of rounds is unrolled fully if that is few, or if it only
        copies or fills; else when executions have been found to go on."""
        key = function.name, loop.head
        bound = self.bounds.of(key)
        known = loop.bound
        if known is None:
            # A hint, to begin with: executions that exceed it show that it is wrong.
            known = self.bounds.hints.rounds.get(key)
            if known is None or key in self.bounds.raised:
                return bound
        most = _FEW_MORE if key in self.bounds.raised else _FEW
        is_short = known <= max(most, bound)
        is_copied = known <= _MOST_COPIES and self._only_copies(function, loop)
        return known if is_short or is_copied else bound

    def _only_copies(self, function: Function, loop: Loop) -> bool:
        return all(
            isinstance(edge.action, (Guard, Assign, Load, Store, Check, Skip))
            for location in loop.body
            for edge in function.edges[location]
            if edge.target in loop.body
        )

    def _join_returns(self, returned: list[tuple[Path, int | None]]) -> tuple[Path, int | None]:
        """Merge the paths that return; the value rides along as one more register."""
        for path, value in returned:
            path.registers, path.slots = [value], []
        path = merged(self.terms, [path for path, _ in returned], self._initial)
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
        if isinstance(leaving[0].action, Guard):
            return [
                (edge, self._under(path.copy(), self._truth(edge.action.condition, path)))
                for edge in leaving
                if isinstance(edge.action, Guard)
            ]
        [edge] = leaving
        action = edge.action
        if isinstance(action, Return):
            self._leave_frame(path.slots, path, action.origin)
            value = None if action.value is None else self._value(action.value, path)
            returned.append((path, value))
            return []
        if isinstance(action, EndThread):
            self._end_of_thread(path, action.origin)
            path.locks.clear()
            self._flush(path, action.origin)
            if path.section is not None:
                self._close_section(path.section[0], path, action.origin)
            return []
        if isinstance(action, EndProcess):
            if self.knowledge.checks_memory:
                self._claim_leaks(path, action.origin)
            # It needs no order: up to a violation it has not happened, and nothing forces a thread
            # to take its last step.
            if path.section is not None:
                self._end_process_in_section(path, action.origin)
            return []
        return [(edge, self._act(edge, path))]

    def _act(self, edge: Edge, path: Path) -> Path | None:
        action = edge.action
        match action:
            case Skip() | Fence() | Output():
                return path
            case Assign():
                path.registers[action.target.index] = self._value(action.value, path)
            case Load():
                self.is_plain = not action.order.is_atomic
                address = self._value(action.address, path)
                target = action.target
                value = self._load(address, action.address, target.type, path, action.origin)
                path.registers[action.target.index] = value
            case Store():
                self.is_plain = not action.order.is_atomic
                address = self._value(action.address, path)
                value = self._value(action.value, path)
                type_ = action.value.type
                self._store(address, action.address, value, type_, path, action.origin)
            case ReadModifyWrite():
                self._read_modify_write(action, path)
            case Input():
                return self._input(action, path)
            case Prune():
                return self._assume(path, self._truth(action.condition, path), action.origin)
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
                for index in action.slots:
                    self._leave_slot(path.slots, index, path, action.origin)
            case Allocate():
                self._allocate(action, edge, path)
            case Free():
                address = self._value(action.address, path)
                self._free(address, action.address, path, action.origin)
            case AtomicBegin():
                self._begin(path, edge)
            case AtomicEnd():
                self._end(path, action.origin)
            case Spawn():
                return self._spawn(action, edge, path)
            case Unsupported():
                what = "unsupported"
                self._claim(self.result.troubles, path, what, action.message, action.origin)
                return None
            case ObjectSize():
                address = self._value(action.address, path)
                bits = action.target.type.bits
                value = self._object_size(address, action.address, bits, path, action.origin)
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
        return self._under(path, condition)

    def _assume(self, path: Path, condition: int, origin: Origin) -> Path | None:
        """Executions in which an assumption fails do not exist."""
        return self._require(path, condition)

    def _wait(self, action: Wait, path: Path) -> Path | None:
        if path.section is None:
            self._mark(path, action.origin)
        return self._require(path, self._truth(action.condition, path))

    def _check(self, action: Check, path: Path) -> Path | None:
        condition = self._truth(action.condition, path)
        if condition == self.terms.true:
            return path
        failing = path.copy()
        bad = self._under(failing, self.terms.not_(condition))
        if bad is not None:
            undefined = action.kind is CheckKind.UNDEFINED
            claims = self.result.troubles if undefined else self.result.violations
            self._claim(claims, bad, action.kind.value, action.message, action.origin)
        return self._under(path, condition)

    # Values

    def _value(self, expr: Expr, path: Path) -> int:
        for move in self._moves_in(expr):
            self._claim_inside(move, path)
        return translate(self.terms, expr, _Registers(path), _Addresses(self, path))

    def _moves_in(self, expr: Expr) -> list[_Move]:
        """The parts of an expression that move pointers."""
        known = self._moves.get(id(expr))
        if known is None:
            known = self._moves[id(expr)] = []
            pending = [expr]
            while pending:
                item = pending.pop()
                if isinstance(item, (PointerAdd, StaticAddress, FrameAddress)):
                    known.append(item)
                pending.extend(children(item))
        return known

    def _claim_inside(self, move: _Move, path: Path) -> None:
        """A pointer that leaves its page could come to look like one to another object: as in the
        reference interpreter such an execution has no verdict. Page 0 has plain integers."""
        terms, bits = self.terms, self.program.data_model.page_bits
        registers, addresses = _Registers(path), _Addresses(self, path)
        if isinstance(move, PointerAdd):
            before = translate(terms, move.base, registers, addresses)
        elif move.offset == 0:
            return
        else:
            before = addresses(move)
        after = translate(terms, move, registers, addresses)
        count = terms.width[before] - bits
        pages = [terms.extract(item, bits, count) for item in (before, after)]
        stays = terms.or_(terms.eq(*pages), terms.eq(pages[0], terms.constant(0, count)))
        for first, length in self.objects.large:
            offsets = [terms.sub(page, terms.constant(first, count)) for page in pages]
            inside = [terms.ult(item, terms.constant(length, count)) for item in offsets]
            stays = terms.or_(stays, terms.and_(*inside))
        if stays == terms.true:
            return
        leaving = self._under(path.copy(), terms.not_(stays))
        if leaving is not None:
            message = "pointer arithmetic leaves its object"
            origin = self._current.origin
            self._claim(self.result.troubles, leaving, "limit", message, origin)

    def _truth(self, expr: Expr, path: Path) -> int:
        if expr.type.kind is Kind.FLOAT:
            raise UnsupportedCode("floating-point arithmetic is not supported here")
        value = self._value(expr, path)
        zero = self.terms.constant(0, self.terms.width[value])
        return self.terms.not_(self.terms.eq(value, zero))

    def constant(self, value: int, type_: Scalar) -> int:
        return self.terms.constant(value, type_.bits)

    def static_address(self, item: StaticObject) -> int:
        if not item.thread_local:
            return self.program.address_of(item)
        instance = self._thread_locals.get(item)
        if instance is None:
            instance = self._thread_locals[item] = self.objects.thread_local(self._run.number, item)
        return instance.address

    def _input(self, action: Input, path: Path) -> Path | None:
        type_ = action.target.type
        if type_.kind is Kind.FLOAT:
            raise UnsupportedCode("floating-point inputs are not supported here")
        term = self.terms.fresh("input", type_.bits)
        if type_.is_bool:
            self.result.facts.append(self.terms.ult(term, self.terms.constant(2, type_.bits)))
        has_values = self.terms.true
        if action.count is not None:
            count = self._value(action.count, path)
            has_values = self.terms.slt(self.terms.constant(0, self.terms.width[count]), count)
            is_one = self.terms.ult(term, count)
            self.result.facts.append(self.terms.implies(has_values, is_one))
        path.registers[action.target.index] = term
        self.result.inputs.append(
            InputUse(self._run.number, action.name, type_, term, path.condition.term)
        )
        return self._assume(path, has_values, action.origin)

    # Memory

    def _read_modify_write(self, action: ReadModifyWrite, path: Path) -> None:
        is_alone = path.section is None
        if is_alone:
            path.section = self._section_from(self._mark(path, action.origin))
        address = self._value(action.address, path)
        type_ = action.old.type
        where = action.address
        old = self._load(address, where, type_, path, action.origin)
        path.registers[action.old.index] = old
        new = self._value(action.new, path)
        writing: Path | None = path
        if action.guard is not None:
            writing = self._under(path.copy(), self._truth(action.guard, path))
        if writing is not None:
            self._store(address, where, new, type_, writing, action.origin)
            if writing is not path:
                skipped = self._under(path.copy(), self.terms.not_(self._truth(action.guard, path)))  # type: ignore[arg-type]
                both = [item for item in (writing, skipped) if item is not None]
                met = merged(self.terms, both, self._initial)
                path.memory, path.held = met.memory, met.held
        if is_alone:
            self._end(path, action.origin)

    # Sections, locals, threads

    def _begin(self, path: Path, edge: Edge) -> None:
        if path.section is not None:
            path.section = (path.section[0], path.section[1] + 1)
            return
        key = (*self._stack, edge)
        if key not in self.known.unblocked:
            self._begin_or_stop(path, self.terms.fresh("section", 1))
        begin = self._mark(path, edge.action.origin)
        self.result.section_keys[begin] = key
        path.section = self._section_from(begin)

    def _begin_or_stop(self, path: Path, happens: int) -> None:
        path.condition = path.condition.with_part(self.terms, happens)

    def _end(self, path: Path, origin: Origin) -> None:
        if path.section is None:
            raise UnsupportedCode("the end of an atomic section that never began")
        begins, depth = path.section
        if depth > 1:
            path.section = (begins, depth - 1)
            return
        self._flush(path, origin)
        self._close_section(begins, path, origin)
        path.section = None

    def _enter(self, index: int, edge: Edge, path: Path) -> None:
        slot = self._current.slots[index]
        instance = self.objects.local(self._run.number, slot, self._site(edge))
        path.slots[index] = self.terms.constant(instance.address, self._pointer.bits)

    def _begin_heap_life(
        self, instance: Instance, path: Path, origin: Origin, sizes: int
    ) -> None:
        if sizes > 1:
            raise UnsupportedCode("an allocation whose size is not constant, with memory safety")
        instance.can_leak = True
        self._set_life(instance, True, path, origin)

    def _leave_slot(
        self, slots: list[int | None], index: int, path: Path, origin: Origin
    ) -> None:
        address = slots[index]
        if self.knowledge.checks_memory and address is not None:
            self._end_lives(address, path, origin)

    def _leave_frame(self, slots: list[int | None], path: Path, origin: Origin) -> None:
        for index in range(len(slots)):
            self._leave_slot(slots, index, path, origin)

    def _end_of_thread(self, path: Path, origin: Origin) -> None:
        """All locals of the thread die, and its thread-local objects."""
        if not self.knowledge.checks_memory:
            return
        for slots in (*self._outer_slots, path.slots):
            self._leave_frame(slots, path, origin)
        if self._run.number > 1:
            for instance in self._thread_locals.values():
                self._set_life(instance, False, path, origin)
        elif self.objects.leakable():
            what = "the initial thread ends before the process: lost memory is not looked for"
            self._claim(self.result.troubles, path, "limit", what, origin)

    def _allocate(self, action: Allocate, edge: Edge, path: Path) -> None:
        size = self._value(action.size, path)
        sizes = self._numbers(size, MOST_SIZES, {})
        if sizes is None:
            raise UnsupportedCode("an allocation whose size is not constant")
        allowed = [item for item in sorted(sizes) if item <= LARGEST_ALLOCATION]
        width = self.terms.width[size]
        is_allowed = is_one_of(self.terms, size, allowed)
        other = path.copy()
        if self._under(other, self.terms.not_(is_allowed)) is not None:
            message = "an allocation of this size"
            self._claim(self.result.troubles, other, "limit", message, action.origin)
        path.condition = path.condition.with_part(self.terms, is_allowed)
        address = self.terms.constant(0, self._pointer.bits)
        site = self._site(edge)
        for item in allowed:
            if action.storage == "stack":
                if self.knowledge.checks_memory:
                    raise UnsupportedCode("alloca, with memory safety")
                instance = self.objects.block(self._run.number, item, edge, site)
            else:
                instance = self.objects.heap(self._run.number, item, action.zeroed, edge, site)
                if self.knowledge.checks_memory and action.storage == "heap":
                    self._begin_heap_life(instance, path, action.origin, len(allowed))
            here = self.terms.eq(size, self.terms.constant(item, width))
            start = self.terms.constant(instance.address, self._pointer.bits)
            address = start if len(allowed) == 1 else self.terms.ite(here, start, address)
        path.registers[action.target.index] = address

    def _spawn(self, action: Spawn, edge: Edge, path: Path) -> Path | None:
        value = self.terms.value(self._value(action.function, path))
        function = None if value is None else self.objects.function_at(value)
        if function is None:
            raise UnsupportedCode("a thread whose function is not known")
        if self._run.depth > self.bounds.of(THREADS):
            self._cut(path, THREADS, action.origin)
            return None
        argument = self._value(action.argument, path)
        self._flush(path, action.origin)
        event = self._mark(path, action.origin)
        number = self.objects.thread(self._run.number, self._site(edge))
        run = ThreadRun(number, self._run.number, event, path.condition.term, self._run.depth + 1)
        start = Path(path.condition.in_time(), [], [], path.memory.copy())
        self._pending.append((run, function, argument, action.argument.type, start))
        path.registers[action.target.index] = self.terms.constant(number, 32)
        return path

    def _call(self, action: Call, edge: Edge, path: Path) -> Path | None:
        arguments = [self._value(item, path) for item in action.arguments]
        if isinstance(action.callee, str):
            targets = [(self.program.functions[action.callee], self.terms.true)]
        else:
            targets = self._callees(self._value(action.callee, path), path, action.origin)
        done: list[Path] = []
        for function, here in targets:
            entered = self._under(path.copy() if len(targets) > 1 else path, here)
            if entered is not None:
                self._stack.append(edge)
                following = self._enter_function(action, function, arguments, entered)
                self._stack.pop()
                if following is not None:
                    done.append(following)
        return merged(self.terms, done, self._initial) if done else None

    def _callees(self, address: int, path: Path, origin: Origin) -> list[tuple[Function, int]]:
        values = self._leaves(address)
        if values is None:
            raise UnsupportedCode("a call through a pointer that is not known")
        found = []
        covered = self.terms.false
        for value in values:
            function = self.objects.function_at(value)
            here = self.terms.eq(address, self.terms.constant(value, self.terms.width[address]))
            if function is not None:
                found.append((function, here))
                covered = self.terms.or_(covered, here)
        bad = path.copy()
        if self._under(bad, self.terms.not_(covered)) is not None:
            message = "call through a pointer to no function"
            self._claim(self.result.troubles, bad, "undefined behaviour", message, origin)
        path.condition = path.condition.with_part(self.terms, covered)
        return found

    def _enter_function(
        self, action: Call, function: Function, arguments: list[int], path: Path
    ) -> Path | None:
        recursion = recursion_of(function.name)
        if self._calls.count(function.name) > self.bounds.of(recursion):
            self._cut(path, recursion, action.origin)
            return None
        # Extra arguments are dropped, missing ones unknown, as in the reference interpreter.
        arguments = arguments[: function.parameters]
        for declared in function.registers[len(arguments) : function.parameters]:
            arguments.append(self.terms.fresh("missing argument", declared.type.bits))
        for value, declared in zip(arguments, function.registers, strict=False):
            if self.terms.width[value] != declared.type.bits:
                raise UnsupportedCode("a call with arguments of other types than parameters")
        outer = path.registers, path.slots
        self._outer_slots.append(path.slots)
        caller = self._current
        self._calls.append(function.name)
        self._current = function
        following, returned = self._function(function, arguments, path)
        self._current = caller
        self._calls.pop()
        self._outer_slots.pop()
        if following is None:
            return None
        following.registers, following.slots = outer[0][:], outer[1][:]
        if action.target is not None:
            bits = action.target.type.bits
            result = self.terms.fresh("no result", bits) if returned is None else returned
            if self.terms.width[result] != bits:
                raise UnsupportedCode("a result of another type than the call's")
            following.registers[action.target.index] = result
        return following


class _Registers(dict[int, int]):
    """The registers that an expression reads; one that was never assigned is unknown."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def __missing__(self, index: int) -> int:
        value = self._path.registers[index]
        if value is None:
            raise UnsupportedCode("a register that is read before it is assigned")
        return value


class _Addresses:
    """Addresses of objects and functions, and the number of the running thread."""

    def __init__(self, unroller: Unroller, path: Path) -> None:
        self._unroller = unroller
        self._path = path

    def __call__(self, expr: Expr) -> int:
        unroller = self._unroller
        match expr:
            case StaticAddress():
                return unroller.constant(unroller.static_address(expr.object), expr.type)
            case FunctionAddress():
                function = unroller.program.functions[expr.function]
                return unroller.constant(unroller.program.address_of(function), expr.type)
            case FrameAddress():
                base = self._path.slots[expr.slot.index]
                if base is None:
                    raise UnsupportedCode("a local that is used outside of its block")
                return base
            case CurrentThread():
                return unroller.constant(unroller._run.number, expr.type)
        raise AssertionError(f"{type(expr).__name__} is no address")
