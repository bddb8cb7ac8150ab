"""A monitor as a part of the program: where its events happen, its functions are called.

- What the program defines is watched in its body: at its beginning, and where it returns.
- In place of a function without a body (of the library, of the system, undefined) the program calls
  one that calls it, and says so before and behind.
- Locks, threads and the end of the process are watched in the models of the library, inside of the
  atomic section that does it.
- An access to a variable becomes an atomic section of the event and the access. Accesses through
  pointers would be missed, so the address of such a variable must not be taken.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from plait.c import syntax as s
from plait.c import toolchain
from plait.c.adapters import has_width_of
from plait.c.tidy import prepend
from plait.c.types import CType, Shape
from plait.c.unit import Unit
from plait.errors import Diagnostic, InputError
from plait.files import read_regular
from plait.model.actions import (
    Action,
    Assign,
    AtomicBegin,
    AtomicEnd,
    Call,
    Load,
    Origin,
    ReadModifyWrite,
    Return,
    Store,
    expressions_of,
)
from plait.model.expressions import (
    Expr,
    PointerAdd,
    Register,
    StaticAddress,
    children,
)
from plait.model.program import Edge, Function, RegisterDecl, StaticObject
from plait.monitors.as_c import (
    Hook,
    Prototype,
    Translation,
    hook_name,
    observed,
    prelude,
    translated,
)
from plait.monitors.automaton import ABOUT_FUNCTIONS, ABOUT_VARIABLES, NEVER, EventKind
from plait.monitors.library import open_monitor

if TYPE_CHECKING:
    from plait.c.libclang import Cursor, Library, TranslationUnit
    from plait.c.linker import Linker

_IN_LIBRARY = {
    EventKind.LOCK: "PLAIT_WATCH_LOCK",
    EventKind.UNLOCK: "PLAIT_WATCH_UNLOCK",
    EventKind.CREATE: "PLAIT_WATCH_CREATE",
    EventKind.END: "PLAIT_WATCH_END",
    EventKind.JOIN: "PLAIT_WATCH_JOIN",
    EventKind.EXIT: "PLAIT_WATCH_EXIT",
}
_LIBRARY = -1


class _MonitorUnit(Unit):
    """C that was made from a monitor: its places are those of the monitor."""

    def __init__(
        self,
        linker: Linker,
        library: Library,
        parsed: TranslationUnit,
        path: str,
        monitor: str,
        made: Translation,
    ) -> None:
        self._monitor = monitor
        self._origins = made.origins
        super().__init__(linker, library, parsed, path, _LIBRARY)

    def source(self, path: str, line: int, column: int) -> tuple[int, int, int]:
        if path != self.path:
            return super().source(path, line, column)
        own = self._origins[line - 1] if 0 < line <= len(self._origins) else 0
        return self.linker.source_number(self._monitor), max(own, 1), 1


class Watching:
    """What the monitor of a program sees, while the program is lowered and linked."""

    def __init__(self, linker: Linker, library: Library, name: str) -> None:
        self._linker = linker
        self._library = library
        self._monitor = open_monitor(name)
        self._types: dict[str, CType] = {}
        self._unit = self._make_unit()

    @property
    def defines(self) -> dict[str, int]:
        """For the models of the library."""
        watched = {hook.kind for hook in self._hooks.values()}
        return {macro: int(kind in watched) for kind, macro in _IN_LIBRARY.items()}

    # The unit of the monitor

    def _make_unit(self) -> Unit:
        monitor = self._monitor
        functions = {
            item.event.subject: item.line
            for item in reversed(monitor.transitions)
            if item.event.kind in ABOUT_FUNCTIONS
        }
        prototypes: dict[str, Prototype] = {}
        if functions:
            known = self._parsed(prelude(monitor), "declarations")
            declared = {
                self._library.spelling(cursor): cursor
                for cursor in self._library.children(known.parsed.root())
                if cursor.kind == s.FUNCTION
            }
            for name, line in functions.items():
                if name not in declared:
                    message = (
                        f"'{name}' is not declared: a monitor needs `include <...>` or"
                        " `declare { ... }` for the functions that it watches"
                    )
                    raise InputError(Diagnostic(message, monitor.path, line))
                self._types[name] = known.types.of(declared[name])
                prototypes[name] = _prototype(self._types[name])
        self._without_body = frozenset(name for name in functions if not self._is_defined(name))
        made = translated(monitor, prototypes, self._without_body)
        self._hooks = {hook.name: hook for hook in made.hooks}
        unit = self._parsed(made, "functions")
        for item in monitor.transitions:
            if item.target == NEVER:
                self._linker.assume(f"monitor {monitor.name}: {item.message}")
        names = [*self._hooks, *map(observed, self._without_body)]
        for name in names:
            if name in unit.functions:
                self._linker.define(name, unit)
        return unit

    def _is_defined(self, name: str) -> bool:
        return self._linker.defines_function(name) or any(
            name in unit.functions for unit in self._linker.units
        )

    def _parsed(self, made: Translation, what: str) -> Unit:
        path = f"<{what} of monitor {self._monitor.name}>"
        folder = os.path.dirname(os.path.abspath(self._monitor.path))
        options = self._linker.options
        flags = toolchain.flags(path, options, self._library.resource_dir)
        text = made.text.encode("utf-8", "surrogateescape")
        parsed = self._library.parse(path, [*flags, f"-I{folder}"], {path: text})
        self._linker.keep(parsed)
        for message, file, line, column in parsed.errors():
            own = made.origins[line - 1] if file == path and 0 < line <= len(made.origins) else 0
            if file == path:
                file, line, column = self._monitor.path, own, 0
            raise InputError(
                Diagnostic(f"error: {message}", file, line, column, _line_of(file, line))
            )
        return _MonitorUnit(self._linker, self._library, parsed, path, self._monitor.path, made)

    # Calls and returns

    def is_observed(self, unit: Unit, name: str) -> bool:
        """Whether another function is called in place of this one."""
        return name in self._without_body and not unit.is_library and not self.is_variadic(name)

    def function_in_place_of(self, name: str) -> str:
        return observed(name)

    def is_variadic(self, name: str) -> bool:
        return name in self._types and self._types[name].variadic

    def hook(self, kind: EventKind, subject: str) -> Hook | None:
        return self._hooks.get(hook_name(kind, subject))

    def hooks_around(self, unit: Unit, name: str) -> tuple[Hook | None, Hook | None]:
        """What comes before and behind each call of a function with '...' that has no body."""
        if name not in self._without_body or unit.is_library or not self.is_variadic(name):
            return None, None
        return self.hook(EventKind.CALL, name), self.hook(EventKind.RETURN, name)

    def function(self, hook: Hook) -> str:
        return self._linker.library_function(hook.name)

    def watch_body(self, function: Function, name: str, unit: Unit, cursor: Cursor) -> None:
        """Events at the beginning of a function that the program defines, and at its returns."""
        entered, left = self.hook(EventKind.CALL, name), self.hook(EventKind.RETURN, name)
        if unit.is_library or (entered is None and left is None):
            return
        defined = unit.types.of(cursor)
        for hook in (entered, left):
            if hook is not None:
                self._check_types(hook, name, defined, unit.origin(cursor))
        # A struct is returned through an address that is passed first.
        hidden = int(defined.result is not None and defined.result.shape is Shape.RECORD)
        origin = function.origin
        if left is not None:
            kept = [self._kept(function, position + hidden) for position in left.positions]
            for edge in list(function.all_edges()):
                if isinstance(edge.action, Return):
                    values: list[Expr] = [new for _, new in kept]
                    if left.takes_result:
                        assert edge.action.value is not None
                        values.append(edge.action.value)
                    call = Call(edge.action.origin, None, self.function(left), tuple(values))
                    _put_before(function, edge, call)
            for old, new in kept:
                prepend(function, Assign(origin, new, old))
        if entered is not None:
            given = [_parameter(function, position + hidden) for position in entered.positions]
            prepend(function, Call(origin, None, self.function(entered), tuple(given)))

    def _kept(self, function: Function, position: int) -> tuple[Register, Register]:
        """A parameter, and where its value at the beginning is kept until the end."""
        old = _parameter(function, position)
        function.registers.append(RegisterDecl("", old.type))
        return old, Register(old.type, len(function.registers) - 1, "")

    def _check_types(self, hook: Hook, name: str, defined: CType, origin: Origin) -> None:
        declared = self._types[name]
        pairs = [
            (declared.parameters[position], _at(defined.parameters, position))
            for position in hook.positions
        ]
        if hook.takes_result:
            pairs.append((declared.result or declared, defined.result))
        for one, other in pairs:
            same = (
                other is not None
                and one.scalar is not None
                and other.scalar is not None
                and has_width_of(one.scalar, other.scalar)
            )
            if not same:
                place = self._linker.place(origin)
                message = f"the monitor declares '{name}' with other types than {place}"
                raise InputError(Diagnostic(message, self._monitor.path))

    # Accesses

    def watch_accesses(
        self, functions: list[Function], objects: dict[object, StaticObject]
    ) -> None:
        """When all of the program is lowered."""
        for item in self._monitor.transitions:
            if item.event.kind in ABOUT_VARIABLES:
                self._check_variable(item.event.subject, item.line, objects)
        subjects = {
            item.event.subject
            for item in self._monitor.transitions
            if item.event.kind in ABOUT_VARIABLES
        }
        for name in sorted(subjects):
            found = _named(name, objects)
            if not found:
                continue
            self._check_escape(name, found[0], functions, objects)
            for function in functions:
                if function.library:
                    continue
                for edge in list(function.all_edges()):
                    self._watch_access(function, edge, name, found[0])

    def prepare(self) -> None:
        """Before the program is lowered: what may be called when all else is there."""
        for hook in self._hooks.values():
            if hook.kind in ABOUT_VARIABLES:
                self.function(hook)

    def _check_variable(self, name: str, line: int, objects: dict[object, StaticObject]) -> None:
        found = _named(name, objects)
        if len(found) > 1:
            message = f"several variables of the program are called '{name}'"
            raise InputError(Diagnostic(message, self._monitor.path, line))
        if not found and not any(name in unit.variables for unit in self._linker.units):
            message = f"the program has no global variable '{name}'"
            raise InputError(Diagnostic(message, self._monitor.path, line))

    def _check_escape(
        self,
        name: str,
        item: StaticObject,
        functions: list[Function],
        objects: dict[object, StaticObject],
    ) -> None:
        for function in functions:
            for edge in function.all_edges():
                if any(_mentions(expr, item) for expr in _values_of(edge.action, item)):
                    place = self._linker.place(edge.action.origin)
                    self._refuse_address(name, place)
        for other in objects.values():
            if any(relocation.target is item for relocation in other.relocations):
                self._refuse_address(name, self._linker.place(other.origin))

    def _refuse_address(self, name: str, place: str) -> None:
        message = (
            f"the address of '{name}' is taken at {place}: accesses through pointers cannot be"
            " watched"
        )
        raise InputError(Diagnostic(message, self._monitor.path))

    def _watch_access(self, function: Function, edge: Edge, name: str, item: StaticObject) -> None:
        action = edge.action
        if not isinstance(action, (Load, Store, ReadModifyWrite)):
            return
        if _base(action.address) is not item:
            return
        kinds = [EventKind.ACCESS]
        if not isinstance(action, Store):
            kinds.append(EventKind.READ)
        if not isinstance(action, Load):
            kinds.append(EventKind.WRITE)
        hooks = [hook for kind in kinds if (hook := self.hook(kind, name)) is not None]
        if not hooks:
            return
        target = edge.target
        _put_before(function, edge, AtomicBegin(action.origin))
        for hook in hooks:
            _put_before(function, edge, Call(action.origin, None, self.function(hook), ()))
        last = len(function.edges)
        function.edges.append([Edge(last, AtomicEnd(action.origin), target)])
        edge.target = last


def _prototype(ctype: CType) -> Prototype:
    result = ctype.result
    return Prototype(
        tuple(item.spelling for item in ctype.parameters),
        tuple(item.scalar is not None for item in ctype.parameters),
        "" if result is None or result.scalar is None else result.spelling,
        ctype.variadic,
    )


def _line_of(path: str, line: int) -> str:
    try:
        lines = read_regular(path).decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return lines[line - 1] if 0 < line <= len(lines) else ""


def _at(types: tuple[CType, ...], position: int) -> CType | None:
    return types[position] if position < len(types) else None


def _parameter(function: Function, position: int) -> Register:
    declared = function.registers[position]
    return Register(declared.type, position, declared.name)


def _put_before(function: Function, edge: Edge, action: Action) -> None:
    """A new first half of an edge, which is the second one from then on."""
    between = len(function.edges)
    leaving = function.edges[edge.source]
    leaving[leaving.index(edge)] = Edge(edge.source, action, between)
    edge.source = between
    function.edges.append([edge])


def _named(name: str, objects: dict[object, StaticObject]) -> list[StaticObject]:
    """Global variables; those of one file are known by the file too."""
    return [
        item
        for key, item in objects.items()
        if key == name
        or (isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], str) and key[1] == name)
    ]


def _base(address: Expr) -> StaticObject | None:
    while isinstance(address, PointerAdd):
        address = address.base
    return address.object if isinstance(address, StaticAddress) else None


def _mentions(expr: Expr, item: StaticObject) -> bool:
    if isinstance(expr, StaticAddress):
        return expr.object is item
    return any(_mentions(inner, item) for inner in children(expr))


def _values_of(action: Action, item: StaticObject) -> Iterator[Expr]:
    """What an action uses as a value; of the address of a direct access only its offsets."""
    address = action.address if isinstance(action, (Load, Store, ReadModifyWrite)) else None
    for expr in expressions_of(action):
        if expr is address and _base(expr) is item:
            while isinstance(expr, PointerAdd):
                yield expr.offset
                expr = expr.base
        else:
            yield expr
