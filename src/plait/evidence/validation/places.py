"""Where in a program's model the waypoints of a witness are.

A place in the model is a function and a location. A statement begins at each location that is
entered from another statement; a branch is where a guard decides the controlling expression; a call
is an edge. Whether the source has them where the witness says is looked up in its text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath

from plait.data import dataclass, field
from plait.evidence.witness.content import Format, Kind, Location, Waypoint
from plait.evidence.witness.graphml_form import written
from plait.evidence.witness.source_text import Position, SourceText
from plait.model.actions import Call, EnterScope, Guard, Input, LeaveScope, Origin, Skip
from plait.model.program import Edge, Function, Program

Key = tuple[str, int]  # a function and a location
CREATORS = frozenset({"pthread_create", "thrd_create"})
_SILENT = (Skip, EnterScope, LeaveScope)


class NoSuchPlace(Exception):
    """The program has no such place at all."""


class Unresolved(Exception):
    """The source may have it, but the model has nothing there."""


@dataclass(slots=True, eq=False)
class _Found:
    """Something in the source. `places` are where witnesses may say it is; `lines` has those by
    which it can be found without a column."""

    key: Key
    places: tuple[Position, ...]
    lines: frozenset[int]
    name: str = ""


@dataclass(slots=True, eq=False)
class _File:
    text: SourceText
    statements: list[_Found] = field(default_factory=list)
    branches: list[_Found] = field(default_factory=list)
    calls: list[_Found] = field(default_factory=list)


class Places:
    def __init__(self, program: Program, form: Format) -> None:
        self._program = program
        self._takes_leftmost = form is not Format.GRAPHML
        self._files: dict[int, _File] = {}
        self._functions: dict[str, Function] = {}
        for function in program.functions.values():
            if not function.library:
                self._functions[function.name] = function
                self._read(function)

    def file_of(self, location: Location) -> _File:
        """Raises NoSuchPlace if the program has no such file or line."""
        named = [
            number
            for number in self._files
            if PurePath(self._program.sources[number].path) == PurePath(location.file)
        ]
        if not named:
            # Not every name can be written into a GraphML file.
            name = written(PurePath(location.file).name)
            named = [
                number
                for number in self._files
                if written(PurePath(self._program.sources[number].path).name) == name
            ]
        if len(named) != 1:
            raise NoSuchPlace(f"the program has no file '{location.file[:100]}' with code in it")
        found = self._files[named[0]]
        if not 1 <= location.line <= found.text.lines:
            raise NoSuchPlace(f"{location.file[:100]} has no line {location.line}")
        return found

    def is_at(self, origin: Origin, location: Location) -> bool:
        """Whether a violation at an origin is at the target's place."""
        if location.line == 0:
            return True
        if origin.file not in self._files:
            return True  # at the end of the program, which is no place in it
        if self._files[origin.file] is not self.file_of(location):
            return False
        if origin.line == location.line:
            return True
        return origin.line < location.line <= origin.end_line

    def resolve(self, waypoint: Waypoint) -> frozenset[Key]:
        """The keys of the locations at which a waypoint can be passed."""
        file = self.file_of(waypoint.location)
        match waypoint.kind:
            case Kind.ASSUMPTION:
                found = self._nearest(file.statements, waypoint.location)
                what = "statement"
            case Kind.BRANCHING:
                if waypoint.constraint not in ("true", "false"):
                    raise Unresolved("branchings of a switch are not supported")
                found = self._exact(file.branches, waypoint.location)
                what = "branch"
            case Kind.ENTER | Kind.RETURN:
                name = "" if waypoint.creates else waypoint.function
                calls = [
                    item for item in file.calls if not name or not item.name or item.name == name
                ]
                found = self._exact(calls, waypoint.location)
                what = "call"
            case Kind.TARGET:
                return frozenset()
        if not found:
            raise Unresolved(f"there is no {what} that the model knows at {waypoint.location}")
        return frozenset(item.key for item in found)

    def creates_thread(self, key: Key) -> bool:
        return any(name in CREATORS for name in self._called(self._functions[key[0]].edges[key[1]]))

    # --- looking up

    def _nearest(self, items: list[_Found], location: Location) -> list[_Found]:
        """At the column, or else the next ones after it in the line, or the last ones before."""
        here = [item for item in items if location.line in item.lines]
        here = self._of_function(here, location)
        if not here or (location.column == 0 and not self._takes_leftmost):
            return here
        columns = sorted({item.places[0][1] for item in here})
        chosen = next((item for item in columns if item >= location.column), columns[-1])
        return [item for item in here if item.places[0][1] == chosen]

    def _exact(self, items: list[_Found], location: Location) -> list[_Found]:
        """At the column; without one the leftmost; with one where nothing is, the only one in the
        line."""
        place = location.line, location.column
        exact = [item for item in items if place in item.places]
        if exact:
            return exact
        here = [item for item in items if location.line in item.lines]
        here = self._of_function(here, location)
        if location.column == 0:
            if not self._takes_leftmost or not here:
                return here
            columns = [
                min((p[1] for p in item.places if p[0] == location.line), default=0)
                for item in here
            ]
            return [
                item for item, column in zip(here, columns, strict=True) if column == min(columns)
            ]
        places = {item.places for item in here}
        return here if len(places) == 1 else []

    def _of_function(self, items: list[_Found], location: Location) -> list[_Found]:
        name = location.function
        mine = [item for item in items if self._functions[item.key[0]].display == name]
        return mine or items

    # --- reading the model

    def _read(self, function: Function) -> None:
        entering: list[set[Position]] = [set() for _ in function.edges]
        for edge in function.all_edges():
            if edge.target >= 0:
                is_silent = isinstance(edge.action, _SILENT)
                origin = edge.action.origin
                start = (0, 0) if is_silent else (origin.line, origin.column)
                entering[edge.target].add(start)
        entering[0].add((0, 0))
        for location, leaving in enumerate(function.edges):
            if not leaving or leaving[0].action.origin.file < 0:
                continue
            action = leaving[0].action
            if isinstance(action, _SILENT):
                continue
            origin = action.origin
            file = self._file(origin.file)
            key = function.name, location
            start = origin.line, origin.column
            if entering[location] - {start}:
                file.statements.append(_Found(key, (start,), frozenset({origin.line})))
            if _decides(leaving):
                self._add_branch(file, key, start)
            for name in self._called(leaving):
                self._add_call(file, key, name, origin)

    def _file(self, number: int) -> _File:
        if number not in self._files:
            self._files[number] = _File(SourceText(self._program.sources[number].lines))
        return self._files[number]

    def _add_branch(self, file: _File, key: Key, start: Position) -> None:
        found = file.text.keyword_of(*start)
        place = start if found is None else found[1]
        file.branches.append(_Found(key, (place,), frozenset({place[0], start[0]})))

    def _add_call(self, file: _File, key: Key, name: str, origin: Origin) -> None:
        begin = origin.line, origin.column
        end = origin.end_line, origin.end_column
        if not origin.end_column:
            end = origin.end_line + 1, 1
        places = file.text.calls(name, begin, end) if name else []
        lines = {origin.line, *(place[0] for place in places)}
        if not places:
            lines |= set(range(origin.line, origin.end_line + 1))
        file.calls.append(_Found(key, tuple(places), frozenset(lines), name))

    def _called(self, leaving: Iterable[Edge]) -> Iterator[str]:
        """The names of what is called; empty for a call through a pointer."""
        for edge in leaving:
            action = edge.action
            if isinstance(action, Call):
                is_named = isinstance(action.callee, str)
                yield self._program.functions[action.callee].display if is_named else ""  # type: ignore[index]
            elif isinstance(action, Input) and not action.indeterminate:
                yield action.name.removesuffix("()")


def _decides(leaving: list[Edge]) -> bool:
    """Whether guards decide a condition, in a way that can be seen from where they lead."""
    guards = [edge for edge in leaving if isinstance(edge.action, Guard)]
    if len({edge.target for edge in guards}) != len(guards):
        return False
    return any(
        isinstance(edge.action, Guard) and edge.action.decides is not None for edge in guards
    )
