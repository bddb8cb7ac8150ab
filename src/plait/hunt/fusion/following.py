"""A recorded run, repeated step by step by the interpreter of plait's model.

Each step of the run is matched with the visible action of the model that it is: the same kind of
access of as many bytes with the same value, at an address that belongs to the same object as
before, or a step of the same library function. What the compiled program does unseen between two
steps (a library function in several parts, say) the model does right behind the first of them, as
the program did. A run that cannot be repeated like this has no concurrent trace program.
"""

from __future__ import annotations

from collections.abc import Mapping

from plait.hunt.fusion.executed import (
    Executed,
    Followed,
    FollowingMachine,
    NotFollowed,
    Touch,
)
from plait.hunt.trace import CHOICE, PENDING, READ, SYNC, UPDATE, WRITE, Operation, Trace
from plait.model.actions import (
    AtomicBegin,
    Call,
    EndProcess,
    Free,
    Guard,
    Load,
    ReadModifyWrite,
    Return,
    Store,
    Wait,
)
from plait.model.program import Program
from plait.model.properties import Specification
from plait.semantics.outcome import Ending, InputRequest
from plait.semantics.scalars import Number
from plait.semantics.state import Frame

_STARTS = frozenset({"__plait_run_thread", "__plait_run_c11_thread"})
_EXITS = frozenset({"pthread_exit", "thrd_exit"})
_WAITS = frozenset(
    ("pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait", "cnd_wait")
    + ("cnd_timedwait",)
)
_ONCE = frozenset({"pthread_once", "call_once"})
# Of no effect but that others may go on; the model has no step for them.
_IDLE = frozenset({"sched_yield", "thrd_yield", "sleep", "usleep", "nanosleep", "thrd_sleep"})
_LOOK_AHEAD = 12  # operations among which the counterpart of a step is looked for
_MOST_IN_GROUP = 16
_MOST_SILENT = 2000  # steps of the model behind one operation
_ADDRESSES = 1 << 32  # numbers above may be addresses, which the program has others for


def follow(
    program: Program, specification: Specification, trace: Trace, lines: Mapping[int, int]
) -> Followed:
    """Repeat a recorded run. `lines` are those of the source, by the place in the program."""
    return _Follower(program, specification, trace, lines).follow()


class _Follower:
    def __init__(
        self, program: Program, specification: Specification, trace: Trace, lines: Mapping[int, int]
    ) -> None:
        self._program = program
        self._machine = FollowingMachine(program, specification)
        self._machine.supply = _the_only_one
        self._lines = lines
        self._operations: list[Operation] = []
        for operation in trace:
            if operation.kind == CHOICE:
                raise NotFollowed(f"the run makes a choice ({operation.name})")
            if operation.kind != PENDING:
                self._operations.append(operation)
        self._own: dict[int, list[Operation]] = {}
        for operation in self._operations:
            if operation.is_step:
                self._own.setdefault(operation.thread, []).append(operation)
        self._numbers: dict[int, list[int]] = {}
        for number, operation in enumerate(item for item in self._operations if item.is_step):
            self._numbers.setdefault(operation.thread, []).append(number)
        self._step = -1
        self._ahead: set[int] = set()
        self._rows: list[tuple[int, Executed]] = []
        self._place: dict[int, int] = {}  # of each thread: how many of its own are done
        self._bases: dict[int, int] = {}  # first page of an object: its address in the program
        self._pages: dict[int, int] = {}  # and the other way round
        self._call: dict[int, Frame | None] = {}  # the library call that each thread is in
        self._extra: list[Operation] = []
        self._unseen: list[tuple[int, Touch]] = []
        self._touched: dict[int, set[int]] = {}  # first page: threads
        self._sizes: dict[int, int] = {}

    def follow(self) -> Followed:
        machine = self._machine
        machine.start()
        self._begin()
        for operation in self._operations:
            if not operation.is_step:
                continue
            self._step += 1
            self._place[operation.thread] = self._place.get(operation.thread, 0) + 1
            if machine.exit is not None:
                raise NotFollowed("the program goes on where the model has ended")
            if self._is_ahead(operation):
                continue
            self._follow(operation)
        self._check_unmatched()
        ended = frozenset(
            number for number, thread in enumerate(machine.threads, 1) if thread.code is None
        )
        return Followed(self._rows, self._step + 1, ended, machine.exit is not None)

    def _begin(self) -> None:
        self._rows += [(-1, row) for row in self._silent(1)]

    def _follow(self, operation: Operation) -> None:
        """What the model does for one operation of the program."""
        thread = operation.thread
        for _ in range(_LOOK_AHEAD):
            tried = self._try(thread)
            if tried is not None and self._is(operation, tried):
                self._accept(operation, tried)
                self._add([*tried, *self._silent(thread)])
                return
            if tried is not None and self._may_be_unseen(thread, tried):
                self._note_unseen(tried)
                self._add(tried)
                continue
            if tried is not None:
                self._take_back()
                if self._follow_group(operation):
                    return
            if operation.kind in (READ, WRITE, UPDATE):
                if len(self._machine.threads) > 1:  # before, nobody else can notice it
                    self._extra.append(operation)
                return
            if operation.name in _IDLE:
                return
            break
        what = operation.name or ("a read", "a write", "an update")[operation.kind]
        line = self._lines.get(operation.pc, 0)
        raise NotFollowed(f"line {line}: the model has no step for {what} of thread {thread}")

    def _add(self, executed: list[Executed]) -> None:
        self._rows += [(self._step, row) for row in executed]

    # --- reads that the compiler has put into another order

    def _follow_group(self, operation: Operation) -> bool:
        """C leaves the order open in which operands and arguments are evaluated. If the next reads
        of the model, in one line, are made by the program in another order, each belongs to the
        step of the program in which it is made."""
        thread, place = operation.thread, self._place[operation.thread] - 1
        rest = dict(
            zip(
                self._numbers[thread][place : place + _MOST_IN_GROUP],
                self._own[thread][place : place + _MOST_IN_GROUP],
                strict=True,
            )
        )
        self._machine.commit()
        matched: list[tuple[int, Operation, list[Executed]]] = []
        edges: set[int] = set()
        while True:
            tried = self._make(thread, may_fail=True)
            found = None if tried is None else self._read_among(rest, tried)
            if tried is None or found is None or id(tried[0].edge) in edges:
                break
            edges.add(id(tried[0].edge))
            matched.append((found, rest.pop(found), tried))
            if any(isinstance(row.edge.action, (Guard, Call, Return)) for row in tried):
                break
        self._take_back()
        if self._step not in {number for number, _, _ in matched}:
            return False
        for number, item, _ in matched:
            tried = self._try(thread)
            assert tried is not None
            self._accept(item, tried)
            self._rows += [(number, row) for row in tried]
            self._ahead.add(number)
        self._ahead.discard(self._step)
        last = max(number for number, _, _ in matched)
        self._place[thread] += len(matched) - 1
        self._rows += [(last, row) for row in self._silent(thread)]
        self._place[thread] -= len(matched) - 1
        return True

    def _read_among(self, rest: dict[int, Operation], tried: list[Executed]) -> int | None:
        if not tried or not isinstance(tried[0].edge.action, Load):
            return None
        return next((number for number, item in rest.items() if self._is(item, tried)), None)

    def _is_ahead(self, operation: Operation) -> bool:
        """Whether the model has made the step already."""
        return self._step in self._ahead

    def _silent(self, thread: int) -> list[Executed]:
        """What the model does until the thread stands before its next operation."""
        done: list[Executed] = []
        for _ in range(_MOST_SILENT):
            tried = self._try(thread)
            if tried is None:
                return done
            if not self._may_be_unseen(thread, tried):
                self._take_back()
                return done
            self._note_unseen(tried)
            done += tried
        raise NotFollowed("the model does more between two operations than the program")

    # --- steps of the model

    def _try(self, thread: int) -> list[Executed] | None:
        """Make a step; None if the thread has ended or has to wait."""
        machine = self._machine
        if thread > len(machine.threads) or machine.threads[thread - 1].code is None:
            return None
        if machine.exit is not None:
            return None
        machine.commit()
        return self._make(thread)

    def _make(self, thread: int, *, may_fail: bool = False) -> list[Executed] | None:
        machine = self._machine
        if thread > len(machine.threads) or machine.threads[thread - 1].code is None:
            return None
        machine.executed = []
        outcome = machine.step(thread)
        if outcome.ending is Ending.MOVED:
            return machine.executed
        if may_fail:
            return None
        machine.take_back()
        if outcome.ending is Ending.BLOCKED:
            return None
        raise NotFollowed(f"{outcome.ending.value} in the model: {outcome.message}")

    def _take_back(self) -> None:
        self._machine.take_back()

    def _may_be_unseen(self, thread: int, tried: list[Executed]) -> bool:
        """Steps of the library need not show in the program, nor what it keeps in registers."""
        if not tried:
            return False
        first = tried[0]
        if isinstance(first.edge.action, EndProcess):
            return False
        if first.function.library:
            name = self._name(first)
            if name is not None and "/" not in name and self._is_in_same_call(first):
                return True  # a call in several sections is one operation
        elif isinstance(first.edge.action, (AtomicBegin, Wait, Free)):
            return False
        ahead = self._own.get(thread, [])[self._place.get(thread, 0) :][:_LOOK_AHEAD]
        return not any(self._is(operation, tried) for operation in ahead)

    # --- what is what

    def _is(self, operation: Operation, tried: list[Executed]) -> bool:
        if not tried:
            return False
        first = tried[0]
        if operation.kind == SYNC or operation.name:
            return self._name(first) == operation.name
        action = first.edge.action
        kind = {Load: READ, Store: WRITE, ReadModifyWrite: UPDATE}.get(type(action))
        if kind != operation.kind or not first.touched:
            return False
        touch = first.touched[0]
        if touch.size != operation.size or not self._has_address(operation.address, touch):
            return False
        line = self._lines.get(operation.pc, 0)
        place = first.context or first.edge
        if line and not first.function.library:
            origin = place.action.origin
            if not origin.line <= line <= max(origin.end_line, origin.line):
                return False
        return _same(operation.value, first.touched[-1].value)

    def _has_address(self, address: int, touch: Touch) -> bool:
        page, offset = self._first_page(touch.address)
        known = self._bases.get(page)
        if known is not None:
            return known + offset == address
        return self._pages.get(address - offset, page) == page

    def _first_page(self, address: int) -> tuple[int, int]:
        machine = self._machine
        page = machine.first_page(address >> machine.page_bits)
        return page, address - (page << machine.page_bits)

    def _accept(self, operation: Operation, tried: list[Executed]) -> None:
        first = tried[0]
        self._note(tried)
        if first.function.library:
            self._call[first.thread] = first.call
        else:
            self._call.pop(first.thread, None)
        if operation.kind != SYNC and first.touched and not operation.name:
            page, offset = self._first_page(first.touched[0].address)
            base = operation.address - offset
            self._bases[page], self._pages[base] = base, page

    def _note(self, tried: list[Executed]) -> None:
        for row in tried:
            for touch in row.touched:
                page, _ = self._first_page(touch.address)
                self._touched.setdefault(page, set()).add(row.thread)
                data = self._machine.memory.get(page)
                self._sizes[page] = max(self._sizes.get(page, 0), len(data or b""))

    def _note_unseen(self, tried: list[Executed]) -> None:
        self._note(tried)
        first = tried[0]
        if self._is_unused(first):
            first.is_unused = True
        elif not first.function.library:
            self._unseen += [(first.thread, touch) for touch in first.touched]
        elif isinstance(first.edge.action, AtomicBegin):
            self._call[first.thread] = first.call

    def _is_unused(self, row: Executed) -> bool:
        """A read of the user's code whose value nobody wants is left out by compilers."""
        action = row.edge.action
        if row.function.library or not isinstance(action, Load):
            return False
        kept = self._machine.code_of(row.function).kept[row.edge.target]
        return action.target.index not in kept

    def _name(self, row: Executed) -> str | None:
        """What the runtime calls such a step, as plans do (`plait.native.plan`)."""
        action, function = row.edge.action, row.function
        if isinstance(action, EndProcess):
            return "end"
        if not isinstance(action, (AtomicBegin, Free)):
            return None
        if not function.library:
            return "section" if isinstance(action, AtomicBegin) else None
        if function.name in _STARTS:
            return "start"
        call = None if row.context is None else row.context.action
        if not isinstance(call, Call):
            return "exit" if function.name in _EXITS else None
        name = call.callee if isinstance(call.callee, str) else function.name
        if name in _EXITS:
            return "exit"
        if name.startswith("__VERIFIER_atomic_"):
            return "section"
        if name in _ONCE and function.name in _ONCE and _number_of_section(row) > 0:
            return name + "/done"
        is_same_call = self._is_in_same_call(row)
        if is_same_call and name in _WAITS:
            return name + ("/lock" if function.name == "pthread_mutex_lock" else "/wake")
        if is_same_call and name == "pthread_barrier_wait":
            return name + "/leave"
        return name

    def _is_in_same_call(self, row: Executed) -> bool:
        return row.thread in self._call and self._call[row.thread] is row.call

    # --- what has no counterpart

    def _check_unmatched(self) -> None:
        """Operations without a step, and steps without an operation, concern nobody else."""
        owners: dict[int, set[int]] = {}
        for operation in self._extra:
            if self._others_touch(operation):
                line = self._lines.get(operation.pc, 0)
                raise NotFollowed(f"line {line}: the model does not make this access")
            for byte in range(operation.address, operation.address + min(operation.size, 64)):
                owners.setdefault(byte, set()).add(operation.thread)
        if any(len(threads) > 1 for threads in owners.values()):
            raise NotFollowed("threads share memory that the model does not access")
        for thread, touch in self._unseen:
            page, _ = self._first_page(touch.address)
            if self._touched.get(page, set()) - {thread}:
                raise NotFollowed("the program does not make an access of the model")

    def _others_touch(self, operation: Operation) -> bool:
        first, end = operation.address, operation.address + max(operation.size, 1)
        return any(
            base < end
            and first < base + max(self._sizes.get(page, 1), 1)
            and self._touched.get(page, set()) - {operation.thread}
            for page, base in self._bases.items()
        )


def _number_of_section(row: Executed) -> int:
    """Which of the sections of its function begins here."""
    starts = [
        edge.source for edge in row.function.all_edges() if isinstance(edge.action, AtomicBegin)
    ]
    return sorted(starts).index(row.edge.source) if row.edge.source in starts else 0


def _same(recorded: int | None, value: int | None) -> bool:
    if recorded is None or value is None:
        return True
    return recorded == value or (recorded >= _ADDRESSES and value >= _ADDRESSES)


def _the_only_one(request: InputRequest) -> Number:
    if request.count == 1:
        return 0
    raise NotFollowed(f"the run depends on an input ({request.name})")
