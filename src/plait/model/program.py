"""Programs: static objects, functions as control-flow automata, sources."""

from __future__ import annotations

from plait.data import dataclass, field
from plait.errors import Diagnostic
from plait.model.actions import Action, Call, Origin, expressions_of
from plait.model.expressions import Expr, FunctionAddress, children
from plait.model.layout import Layout
from plait.model.memory_model import MemoryModel
from plait.model.types import DataModel, Scalar

_MOST_PLACES = 3  # that are shown for one in the library


@dataclass(slots=True, eq=False)
class Relocation:
    """A pointer inside an initial value: the address of a static object or of a function."""

    offset: int
    target: StaticObject | str
    addend: int


@dataclass(slots=True, eq=False)
class StaticObject:
    """A global variable, static local or string literal; per thread if `thread_local`.

    `initial` holds final addresses already; `relocations` says which of its bytes are pointers.
    `page` is the number of its first page (for a thread-local object: of the initial thread's
    copy); see `Program.address_of`.
    """

    name: str
    layout: Layout
    initial: bytes
    relocations: tuple[Relocation, ...]
    origin: Origin
    spelling: str  # the C type as written
    thread_local: bool = False
    read_only: bool = False
    library: bool = False
    page: int = 0
    indeterminate: bool = False  # its initial contents are unknown: an undefined extern variable
    ends_early: bool = False  # the program has more of it than the model

    @property
    def size(self) -> int:
        return self.layout.size

    @property
    def contents(self) -> bytes:
        """All its bytes at the start of the program, or of the thread."""
        return self.initial.ljust(self.size, b"\0")


@dataclass(slots=True, eq=False)
class RegisterDecl:
    """`name` is the source's for variables and parameters, empty for temporaries."""

    name: str
    type: Scalar
    spelling: str = ""


@dataclass(slots=True, eq=False)
class FrameSlot:
    """A local that lives in memory: its address is taken, or it is a struct, union or array.

    Its life begins and ends with EnterScope and LeaveScope actions (and ends with the frame).
    """

    index: int
    name: str
    layout: Layout
    origin: Origin
    spelling: str

    @property
    def size(self) -> int:
        return self.layout.size


@dataclass(slots=True, eq=False)
class Edge:
    source: int
    action: Action
    target: int


@dataclass(slots=True, eq=False)
class Function:
    """A control-flow automaton. Location 0 is the entry; parameters are the first registers.

    `edges[l]` lists the edges that leave location l: several only if all are Guards.
    """

    name: str
    display: str
    origin: Origin
    registers: list[RegisterDecl]
    parameters: int
    slots: list[FrameSlot]
    edges: list[list[Edge]]
    returns: Scalar | None
    library: bool = False
    page: int = 0

    def all_edges(self) -> list[Edge]:
        return [edge for leaving in self.edges for edge in leaving]


@dataclass(slots=True, eq=False)
class SourceFile:
    path: str
    lines: list[str]


@dataclass(slots=True, eq=False, repr=False)
class Program:
    """A linked program. `entry` names the function in which the initial thread starts."""

    data_model: DataModel
    functions: dict[str, Function]
    objects: list[StaticObject]
    entry: str
    sources: list[SourceFile]
    assumptions: list[str] = field(default_factory=list)
    unsupported: list[Diagnostic] = field(default_factory=list)
    first_free_page: int = 0
    memory_model: MemoryModel = MemoryModel.SC  # for which its part of the library is made
    unused: list[Function] = field(default_factory=list)  # filled only where they are asked for

    def __repr__(self) -> str:
        own = [item for item in self.functions.values() if not item.library]
        actions = sum(1 for item in own for _ in item.all_edges())
        files = dict.fromkeys(self.place(item.origin).split(":")[0] for item in own)
        return f"<Program {', '.join(files)}: {len(own)} functions, {actions} actions>"

    def __str__(self) -> str:
        from plait.model.show import show

        return show(self)

    def _repr_html_(self) -> str:
        """In a notebook: what `plait show` prints."""
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"

    def address_of(self, item: StaticObject | Function) -> int:
        return item.page << self.data_model.page_bits

    def functions_by_address(self) -> dict[int, Function]:
        return {self.address_of(function): function for function in self.functions.values()}

    def place(self, origin: Origin) -> str:
        """`file:line:column` of an origin."""
        if origin.file < 0:
            return "(library)"
        return f"{self.sources[origin.file].path}:{origin.line}:{origin.column}"

    def user_place(self, origin: Origin) -> str:
        """As `place`; but what happens in the library is shown at the calls in the user's code that
        may lead there, and what happens before it, where the user's code begins."""
        functions = self.functions.values()
        inside = {
            item.name
            for item in functions
            if item.library
            and item.origin.file == origin.file
            and item.origin.line <= origin.line <= item.origin.end_line
        }
        places: dict[str, None] = {}
        pending = list(inside)
        while pending:
            name = pending.pop()
            for caller in functions:
                for edge in caller.all_edges():
                    if name not in _referred_to(edge.action):
                        continue
                    if not caller.library:
                        places[self.place(edge.action.origin)] = None
                    elif caller.name not in inside:
                        inside.add(caller.name)
                        pending.append(caller.name)
        if not places:
            begins = {name for item in inside for name in self._called_by(item)}
            first = [item for item in functions if not item.library and item.name in begins]
            places = dict.fromkeys(self.place(item.origin) for item in first)
        shown = list(places)[:_MOST_PLACES]
        more = ["..."] if len(places) > len(shown) else []
        return ", ".join(shown + more) or self.place(origin)

    def _called_by(self, name: str) -> list[str]:
        actions = (edge.action for edge in self.functions[name].all_edges())
        called = (action.callee for action in actions if isinstance(action, Call))
        return [callee for callee in called if isinstance(callee, str)]

    def text(self, origin: Origin) -> str:
        """The source text of an origin, its white space folded."""
        if origin.file < 0:
            return ""
        lines = self.sources[origin.file].lines[origin.line - 1 : origin.end_line]
        if not lines:
            return ""
        if origin.end_column:
            lines = [*lines[:-1], lines[-1][: origin.end_column - 1]]
        lines[0] = lines[0][origin.column - 1 :]
        return " ".join(" ".join(lines).split())

    def diagnostic(self, origin: Origin, message: str) -> Diagnostic:
        if origin.file < 0:
            return Diagnostic(message)
        source = self.sources[origin.file]
        line = source.lines[origin.line - 1] if origin.line <= len(source.lines) else ""
        return Diagnostic(message, source.path, origin.line, origin.column, line)


def _referred_to(action: Action) -> set[str]:
    """The functions that an action calls or has the address of."""
    found: set[str] = set()
    if isinstance(action, Call) and isinstance(action.callee, str):
        found.add(action.callee)
    pending: list[Expr] = list(expressions_of(action))
    while pending:
        item = pending.pop()
        if isinstance(item, FunctionAddress):
            found.add(item.function)
        else:
            pending.extend(children(item))
    return found
