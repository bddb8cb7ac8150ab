"""Functions of the model as Python code: one Python function per fragment.

A fragment starts at a leader and runs through actions that follow each other without a choice up to
the next leader; it returns the location where to go on, or SWITCH when the running frame has
changed (a call, a return, the end of the thread). Every location at which a thread can stand
between two steps is a leader. For traces, and for functions that are hardly run, there is a second
table in which each location is a fragment of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from operator import itemgetter
from types import CodeType
from typing import TYPE_CHECKING, Any

from plait.data import dataclass, field
from plait.model.actions import (
    Action,
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
from plait.model.expressions import Expr
from plait.model.machine import AddressSpace
from plait.model.program import Edge, Function, Program
from plait.model.types import Kind, Scalar
from plait.semantics import scalars
from plait.semantics.expressions import HELPERS, ExpressionWriter
from plait.semantics.visibility import Visibility, conservative

if TYPE_CHECKING:
    from plait.semantics.actions import Actions

Fragment = Callable[["Actions", list[Any]], int]
Pick = Callable[[list[Any]], tuple[Any, ...]]

SWITCH = -1
# The file names of generated code, in fragments and one location at a time.
GENERATED, GENERATED_SINGLY = "<plait>", "<plait, one by one>"
PLAIN, VISIBLE, LOOP_HEAD = 0, 1, 2
_FEW_ENTRIES = 3000


@dataclass(slots=True, eq=False)
class Site:
    """An edge as generated code refers to it. `is_shared`: other threads may see its access."""

    function: Function
    edge: Edge
    origin: Origin
    is_shared: bool
    is_atomic: bool
    passes_on: bool  # an indeterminate value is not used by the access
    type: Scalar | None = None
    text: str = ""
    check: CheckKind | None = None
    # Of calls: the target register, argument types, and how to pass them to each callee met.
    target: int = -1
    argument_types: tuple[Scalar, ...] = ()
    callees: dict[int | str, Callee] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Callee:
    """What a call site knows about a function it calls."""

    code: Code
    conversions: tuple[tuple[int, Scalar, Scalar], ...]
    missing: tuple[int, ...]


@dataclass(slots=True, eq=False)
class Code:
    """A compiled function. `kept[l]` are the indices of the frame list that matter at location l:
    the live registers and all slot addresses; `pick[l]` selects their values."""

    function: Function
    stops: bytes
    kept: Kept
    pick: Picks
    blank: list[Any]
    slot_pages: tuple[int, ...]
    frame_pages: int
    floats: frozenset[int]
    # Tables of generated code, and the edge that each line of its text belongs to.
    fragments: list[Fragment | None] | None = None
    lines: list[Edge] = field(default_factory=list)
    singles: list[Fragment | None] | None = None
    single_lines: list[Edge] = field(default_factory=list)
    entries: int = 0  # how often it was run one location at a time

    def edge_at(self, error: BaseException) -> Edge:
        """The edge whose generated code raised an error."""
        trace = error.__traceback__
        while trace is not None:
            name = trace.tb_frame.f_code.co_filename
            if name in (GENERATED, GENERATED_SINGLY):
                lines = self.lines if name == GENERATED else self.single_lines
                return lines[trace.tb_lineno - 1]
            trace = trace.tb_next
        raise AssertionError("the error was not raised by generated code")


class Kept(dict[int, tuple[int, ...]]):
    """For a location the indices that matter, computed when asked for: a long function has many
    locations, and only those where a thread can stand between two steps are asked for."""

    def __init__(self, masks: list[int], slots: range) -> None:
        super().__init__()
        self._masks = masks
        self._slots = slots

    def __missing__(self, location: int) -> tuple[int, ...]:
        mask = self._masks[location]
        indices = [i for i in range(mask.bit_length()) if mask >> i & 1]
        found = self[location] = (*indices, *self._slots)
        return found


class Picks(dict[int, Pick]):
    def __init__(self, kept: Kept) -> None:
        super().__init__()
        self._kept = kept

    def __missing__(self, location: int) -> Pick:
        found = self[location] = _picker(self._kept[location])
        return found


class Compiler:
    def __init__(
        self,
        program: Program,
        is_visible: Visibility,
        *,
        keep_variables: bool = False,
        patience: int = 0,
        is_weak: bool = False,
    ) -> None:
        """`keep_variables`: named variables matter until their frame ends (memory leaks). Blocks
        of a function are written when it has been entered `patience` times: to write them takes
        longer than to run them a few times. `is_weak`: accesses go through a weak memory."""
        self._program = program
        self._space = AddressSpace(program)
        self._patience = patience
        self._is_visible = is_visible
        self._is_weak = is_weak
        self._keep_variables = keep_variables
        self._codes: dict[str, Code] = {}

    def code_of(self, function: Function) -> Code:
        code = self._codes.get(function.name)
        if code is None:
            code = self._codes[function.name] = self._compile(function)
        return code

    def _compile(self, function: Function) -> Code:
        stops = self._stops(function)
        kept = self._kept(function)
        frame = self._space.frame_layout(function)
        blank: list[Any] = [scalars.zero(register.type) for register in function.registers]
        return Code(
            function,
            stops,
            kept,
            Picks(kept),
            blank + [0] * len(function.slots),
            frame.slots,
            frame.pages,
            frozenset(
                index
                for index, register in enumerate(function.registers)
                if register.type.kind is Kind.FLOAT
            ),
        )

    def fragments(self, code: Code) -> list[Fragment | None]:
        """What to run the function with: one location at a time as long as that is enough."""
        if code.fragments is not None:
            return code.fragments
        if code.entries < self._patience:
            code.entries += 1
            return self.singles(code)
        leaders = _leaders(code.function, code.stops)
        code.fragments = self._generate(code.function, leaders, code.lines, GENERATED)
        return code.fragments

    def singles(self, code: Code) -> list[Fragment | None]:
        """One fragment per location, for traces and for actions that are executed again."""
        if code.singles is None:
            every = set(range(len(code.function.edges)))
            code.singles = self._generate(code.function, every, code.single_lines, GENERATED_SINGLY)
        return code.singles

    def _stops(self, function: Function) -> bytes:
        stops = bytearray(len(function.edges))
        if not function.edges:
            return bytes(stops)
        rank = {location: number for number, location in enumerate(postorder(function))}
        for location, leaving in enumerate(function.edges):
            for edge in leaving:
                # In a depth-first search exactly the retreating edges lead to a later postorder.
                if (
                    edge.target >= 0
                    and location in rank
                    and rank[edge.target] >= rank[location]
                    and not stops[edge.target]
                ):
                    stops[edge.target] = LOOP_HEAD
                if self._is_visible(function, edge):
                    stops[location] = VISIBLE
        return bytes(stops)

    def _kept(self, function: Function) -> Kept:
        count = len(function.registers)
        slots = range(count, count + len(function.slots))
        variables = 0
        if self._keep_variables:
            for index, register in enumerate(function.registers):
                variables |= (1 << index) if register.name else 0
        return Kept([mask | variables for mask in live_registers(function)], slots)

    def _generate(
        self, function: Function, leaders: set[int], edges: list[Edge], file: str
    ) -> list[Fragment | None]:
        names: dict[str, Any] = dict(HELPERS)
        lines: list[str] = []
        for leader in sorted(leaders):
            kind = WeakFragmentWriter if self._is_weak else FragmentWriter
            writer = kind(self._program, function, names, self._is_visible)
            lines.append(f"def fragment_{leader}(m, r):")
            lines += ["    " + line for line in writer.fragment(leader, leaders)]
            edges += [writer.edges[0], *writer.edges] if writer.edges else writer.edges
        exec(_compiled("\n".join(lines), file), names)
        table: list[Fragment | None] = [None] * len(function.edges)
        for leader in leaders:
            table[leader] = names[f"fragment_{leader}"]
        return table


@lru_cache(maxsize=4)
def shared_compiler(program: Program, keep_variables: bool, is_weak: bool = False) -> Compiler:
    """A counterexample goes through several machines, one after the other, and the one that tells
    what happens needs single locations. A program does not change once it is linked."""
    return Compiler(
        program,
        conservative(sees_fences=is_weak),
        keep_variables=keep_variables,
        patience=_FEW_ENTRIES,
        is_weak=is_weak,
    )


@lru_cache(maxsize=256)
def _compiled(text: str, file: str) -> CodeType:
    """Library functions have the same text in many programs."""
    return compile(text, file, "exec")


def _leaders(function: Function, stops: bytes) -> set[int]:
    """The entry, where a thread can stand, where control comes from several places, and where it
    comes back to after a call."""
    leaders = {0} if function.edges else set()
    arrivals = bytearray(len(function.edges))
    for location, leaving in enumerate(function.edges):
        if stops[location]:
            leaders.add(location)
        for edge in leaving:
            if edge.target < 0:
                continue
            if len(leaving) > 1 or isinstance(edge.action, Call) or arrivals[edge.target]:
                leaders.add(edge.target)
            arrivals[edge.target] = 1
    return leaders


def _picker(indices: tuple[int, ...]) -> Pick:
    if not indices:
        return lambda values: ()
    if len(indices) == 1:
        only = indices[0]
        return lambda values: (values[only],)
    return itemgetter(*indices)


class FragmentWriter(ExpressionWriter):
    """Writes the body of one fragment."""

    def __init__(
        self,
        program: Program,
        function: Function,
        names: dict[str, object],
        is_visible: Visibility,
    ) -> None:
        super().__init__(program, function, names)
        self._function = function
        self._is_visible = is_visible
        self.edges: list[Edge] = []  # of each line

    def _belongs_to(self, edge: Edge) -> None:
        """The lines written since the last call."""
        self.edges += [edge] * (len(self.lines) - len(self.edges))

    def fragment(self, start: int, leaders: set[int]) -> list[str]:
        location = start
        while True:
            leaving = self._function.edges[location]
            if len(leaving) != 1 or isinstance(leaving[0].action, Guard):
                self._branch(leaving)
                return self.lines
            edge = leaving[0]
            self._action(edge)
            self._belongs_to(edge)
            if edge.target < 0 or isinstance(edge.action, Call):
                return self.lines
            location = edge.target
            if location in leaders:
                self.lines.append(f"return {location}")
                self._belongs_to(edge)
                return self.lines

    def _branch(self, leaving: list[Edge]) -> None:
        """The model promises that exactly one guard holds, so the last one needs no test."""
        if not leaving:
            self.lines.append("m.nowhere_to_go()")
            return
        for edge in leaving[:-1]:
            assert isinstance(edge.action, Guard)
            condition = self.condition(edge.action.condition, self._site_of(edge))
            self.lines.append(f"if {condition}: return {edge.target}")
            self._belongs_to(edge)
        self.lines.append(f"return {leaving[-1].target}")
        self._belongs_to(leaving[-1])

    def _site_of(self, edge: Edge, **details: Any) -> str:
        index = self._function.edges[edge.source].index(edge)
        name = f"site_{edge.source}_{index}"
        if name not in self.names or details:
            order = getattr(edge.action, "order", None)
            self.names[name] = Site(
                self._function,
                edge,
                edge.action.origin,
                self._is_visible(self._function, edge),
                order is not None and order.is_atomic,
                self._passes_on(edge),
                **details,
            )
        return name

    def _passes_on(self, edge: Edge) -> bool:
        if isinstance(edge.action, ReadModifyWrite):
            return False
        return self._function.library or bool(getattr(edge.action, "copies", False))

    def _passed(self, expr: Expr, site: str, edge: Edge) -> str:
        """A value that is passed on, which uses it only outside of copies and of the library."""
        return self.value(expr, site) if self._passes_on(edge) else self.used(expr, site)

    def _format(self, kind: str, scalar: Scalar) -> str:
        name = f"{kind}_{scalar}{scalar.bits}"
        if name not in self.names:
            make = scalars.reader if kind == "read" else scalars.writer
            self.names[name] = make(scalar)
        return name

    def _load(self, address: str, scalar: Scalar, edge: Edge) -> str:
        site = self._site_of(edge, type=scalar)
        method = "load_shared" if self._is_visible(self._function, edge) else "load"
        return f"m.{method}({address}, {self._format('read', scalar)}, {scalar.size}, {site})"

    def _store(self, address: str, value: str, scalar: Scalar, edge: Edge) -> str:
        site = self._site_of(edge, type=scalar)
        method = "store_shared" if self._is_visible(self._function, edge) else "store"
        write = self._format("write", scalar)
        return f"m.{method}({address}, {write}, {scalar.size}, {value}, {site})"

    def _action(self, edge: Edge) -> None:
        action = edge.action
        site = self._site_of(edge)
        emit = self.lines.append
        match action:
            case Skip() | Fence() | Guard():
                pass
            case Assign():
                emit(f"r[{action.target.index}] = {self.value(action.value, site)}")
            case Load():
                address = self.used(action.address, site)
                emit(f"r[{action.target.index}] = {self._load(address, action.target.type, edge)}")
            case Store():
                address = self.used(action.address, site)
                value = self._passed(action.value, site, edge)
                emit(self._store(address, value, action.value.type, edge))
            case ReadModifyWrite():
                self._read_modify_write(action, edge, site)
            case Input():
                count = "None" if action.count is None else self.value(action.count, site)
                self._site_of(edge, type=action.target.type, text=action.name)
                method = "unknown" if action.indeterminate else "input"
                emit(f"r[{action.target.index}] = m.{method}({site}, {count})")
            case Prune():
                emit(f"if not ({self.condition(action.condition, site)}): m.prune({site})")
            case Wait():
                on = "None" if action.on is None else self.used(action.on, site)
                self._site_of(edge, text=action.what)
                emit(f"if not ({self.condition(action.condition, site)}): m.block({site}, {on})")
            case Check():
                self._site_of(edge, text=action.message, check=action.kind)
                emit(f"if not ({self.condition(action.condition, site)}): m.fail({site})")
            case Call() | Return():
                self._call_or_return(action, edge, site)
            case EnterScope():
                emit(f"m.enter_scope(r, {action.slots!r})")
            case LeaveScope():
                emit(f"m.leave_scope(r, {action.slots!r})")
            case _:
                self._rarer_action(action, edge, site)

    def _read_modify_write(self, action: ReadModifyWrite, edge: Edge, site: str) -> None:
        self.lines.append(f"a = {self.used(action.address, site)}")
        scalar = action.old.type
        self.lines.append(f"r[{action.old.index}] = {self._load('a', scalar, edge)}")
        # `new` is evaluated first, so that what it needs is not inside the `if`.
        new = self.used(action.new, site)
        store = self._store("a", new, scalar, edge)
        if action.guard is not None:
            store = f"if {self.condition(action.guard, site)}: {store}"
        self.lines.append(store)

    def _call_or_return(self, action: Call | Return, edge: Edge, site: str) -> None:
        if isinstance(action, Return):
            value = "None" if action.value is None else self.value(action.value, site)
            self._site_of(edge, type=None if action.value is None else action.value.type)
            self.lines.append(f"return m.leave(r, {value}, {site})")
            return
        arguments = "".join(self._passed(item, site, edge) + ", " for item in action.arguments)
        if isinstance(action.callee, str):
            callee = repr(action.callee)
        else:
            callee = self.used(action.callee, site)
        target = action.target
        self._site_of(
            edge,
            target=-1 if target is None else target.index,
            type=None if target is None else target.type,
            argument_types=tuple(item.type for item in action.arguments),
        )
        self.lines.append(f"return m.call({site}, {callee}, r, ({arguments}))")

    def _rarer_action(self, action: Action, edge: Edge, site: str) -> None:
        emit = self.lines.append
        match action:
            case AtomicBegin():
                emit("m.depth += 1")
            case AtomicEnd():
                emit(f"m.end_section({site})")
            case Allocate():
                size = self.used(action.size, site)
                made = f"m.allocate({size}, {action.zeroed!r}, {action.storage!r}, {site})"
                emit(f"r[{action.target.index}] = {made}")
            case Free():
                emit(f"m.free({self.used(action.address, site)}, {action.storage!r}, {site})")
            case ObjectSize():
                address = self.used(action.address, site)
                size = f"m.object_size({address}, {action.storage!r}, {site})"
                emit(f"r[{action.target.index}] = {size}")
            case Spawn():
                function = self.value(action.function, site)
                argument = self.value(action.argument, site)
                self._site_of(edge, argument_types=(action.argument.type,))
                emit(f"r[{action.target.index}] = m.spawn({function}, {argument}, {site})")
            case EndThread():
                emit(f"return m.end_thread(r, {site})")
            case EndProcess():
                status = self.value(action.status, site)
                emit(f"return m.end_process(r, {status}, {action.how!r}, {site})")
            case Output():
                arguments = "".join(self.value(item, site) + ", " for item in action.arguments)
                self._site_of(edge, argument_types=tuple(item.type for item in action.arguments))
                emit(f"v = ({arguments})")
                emit(f"if m.output is not None: m.print({site}, v)")
            case Unsupported():
                self._site_of(edge, text=action.message)
                emit(f"m.unsupported({site})")
            case _:
                raise AssertionError(f"no template for {type(action).__name__}")


class WeakFragmentWriter(FragmentWriter):
    """The same; accesses that others can notice, and what orders them, go to a weak memory."""

    def _load(self, address: str, scalar: Scalar, edge: Edge) -> str:
        return self._access("load", address, scalar, edge)

    def _access(self, method: str, address: str, scalar: Scalar, edge: Edge) -> str:
        if not self._is_visible(self._function, edge):
            return super()._load(address, scalar, edge)
        site = self._site_of(edge, type=scalar)
        return f"m.weak.{method}({address}, {self._format('read', scalar)}, {scalar.size}, {site})"

    def _store(self, address: str, value: str, scalar: Scalar, edge: Edge) -> str:
        return self._stored("store", address, value, scalar, edge)

    def _stored(self, method: str, address: str, value: str, scalar: Scalar, edge: Edge) -> str:
        if not self._is_visible(self._function, edge):
            return super()._store(address, value, scalar, edge)
        site = self._site_of(edge, type=scalar)
        write = self._format("write", scalar)
        return f"m.weak.{method}({address}, {write}, {scalar.size}, {value}, {site})"

    def _read_modify_write(self, action: ReadModifyWrite, edge: Edge, site: str) -> None:
        emit, scalar = self.lines.append, action.old.type
        emit(f"a = {self.used(action.address, site)}")
        emit(f"r[{action.old.index}] = {self._access('load_of_update', 'a', scalar, edge)}")
        new = self.used(action.new, site)
        store = self._stored("store_of_update", "a", new, scalar, edge)
        if action.guard is None:
            emit(store)
            return
        emit(f"if {self.condition(action.guard, site)}: {store}")
        if self._is_visible(self._function, edge):
            emit("else: m.weak.end_update()")

    def _action(self, edge: Edge) -> None:
        site = self._site_of(edge)
        match edge.action:
            case Fence():
                self.lines.append(f"m.weak.fence({site})")
            case AtomicBegin():
                self.lines.append(f"m.begin_section({site})")
            case Free():
                address = self.used(edge.action.address, site)
                self.lines.append(f"m.weak.free({address}, {site})")
                super()._action(edge)
            case _:
                super()._action(edge)
