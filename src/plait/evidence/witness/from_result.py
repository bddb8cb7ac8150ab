"""What a result says, as a witness: the waypoints that lead to a violation, or the invariants.

Of a counterexample only what matters is kept: calls that create threads, calls of the program's
functions, branches, inputs, and, where another thread goes on, a statement of it with the values
that shared variables have there. The values are what makes a witness quick to follow: a thread may
be interrupted in the middle of a statement, where no waypoint can be.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from plait.data import dataclass, field, replace
from plait.errors import InputError
from plait.evidence import result as r
from plait.evidence.witness.content import (
    MAIN,
    CorrectnessWitness,
    Format,
    Invariant,
    Kind,
    Location,
    Producer,
    Segment,
    Task,
    ViolationWitness,
    Waypoint,
    Witness,
)
from plait.evidence.witness.source_text import Position, SourceText
from plait.evidence.witness.specifications import formulas

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_INTEGER = re.compile(r"-?\d+", re.ASCII)
_LIBRARY_CALL = re.compile(r"\b(?:pthread|sem|mtx|cnd|tss|call_once)_?\w*\s*\(", re.ASCII)
_MOST_VALUES = 8


def witness_of(result: r.Result, form: Format) -> Witness:
    """Raises InputError for a result that has no witness of that format."""
    if result.verdict == "unknown":
        raise InputError("there is no witness of the verdict unknown")
    producer = Producer("plait", result.version, tuple(result.arguments))
    if result.verdict == "true":
        task = _task(result, result.properties)
        return CorrectnessWitness(form, task, producer, _invariants(result))
    violation = result.violation
    if violation is None:
        raise InputError("the result has no violation that a witness could show")
    task = _task(result, [violation.property])
    waypoints = _Waypoints(result, form)
    segments = waypoints.segments(violation)
    return ViolationWitness(form, task, producer, tuple(segments))


def _task(result: r.Result, properties: list[str]) -> Task:
    """The hashes are those of the files that were given; headers are not part of a task."""
    given = {str(PurePath(path)): path for path in result.files}
    hashes = {
        given[str(PurePath(source.path))]: source.sha256
        for source in result.sources
        if str(PurePath(source.path)) in given
    }
    missing = [path for path in result.files if path not in hashes]
    if missing or not result.files:
        what = missing[0] if missing else "the program"
        raise InputError(f"the result does not have the source text of {what}")
    text = formulas(result.entry, properties, result.error_functions)
    files = tuple(result.files)
    return Task(files, tuple(hashes[path] for path in files), text, result.data_model)


def _invariants(result: r.Result) -> tuple[Invariant, ...]:
    """Those of loops are at the loop's keyword, the others where a statement begins."""
    texts = {item.path: SourceText(item.lines) for item in result.sources}
    found = []
    for item in result.invariants:
        if item.role:
            continue  # a witness cannot say for which threads
        text = texts.get(item.place.file)
        position: Position | None = item.place.line, item.place.column
        is_loop = item.loop
        if text is not None:
            keyword = text.keyword_of(item.place.line, item.place.column)
            if is_loop and keyword is not None and keyword[0] in ("while", "for"):
                position = keyword[1]
            else:
                is_loop = False
                position = text.statement(item.place.line, item.place.column)
        if item.text.strip() and position is not None:
            place = _location(item.place, position)
            found.append(Invariant(place, " ".join(item.text.split()), is_loop))
    return tuple(dict.fromkeys(found)) or (_trivial(result),)


def _trivial(result: r.Result) -> Invariant:
    """A proof without invariants has a witness too, but no linter accepts an empty one."""
    for source in result.sources:
        position = SourceText(source.lines).body(result.entry)
        if position is not None:
            location = Location(source.path, *position, result.entry)
            return Invariant(location, "1", is_loop=False)
    raise InputError(
        f"the proof has no invariants, and the body of {result.entry}, where a trivial one could"
        " be, was not found in the sources"
    )


def _location(place: r.Place, position: Position | None = None) -> Location:
    line, column = position or (place.line, place.column)
    return Location(place.file, line, column, place.function)


@dataclass(slots=True)
class _Thread:
    """What is known of a thread while the trace is read: the place of its last row in each of the
    functions that it is in."""

    name: str
    at: dict[int, tuple[str, int, int]] = field(default_factory=dict)

    def note(self, row: r.Row) -> None:
        self.at = {depth: place for depth, place in self.at.items() if depth < row.depth}
        self.at[row.depth] = _start(row)


@dataclass(slots=True)
class _Waypoints:
    result: r.Result
    form: Format
    _texts: dict[str, SourceText] = field(default_factory=dict)
    _threads: dict[int, _Thread] = field(default_factory=dict)
    _values: dict[str, str] = field(default_factory=dict)  # of globals, since they were last told
    _waypoints: list[Waypoint] = field(default_factory=list)
    _opaque: frozenset[str] = frozenset()
    _owes_switch: bool = False  # another thread goes on, which no waypoint tells yet
    # The last row that begins a statement, where that is, and how many waypoints there were then.
    _last: tuple[r.Row, Position | None, int] | None = None

    def segments(self, violation: r.Violation) -> list[Segment]:
        self._texts = {item.path: SourceText(item.lines) for item in self.result.sources}
        self._opaque = _opaque(self.result.trace)
        self._threads = {1: _Thread(MAIN)}
        running = 1
        inputs = list(self.result.inputs)
        for row in self._rows(violation):
            if row.thread not in self._threads:
                self._adopt(row.thread)
            begins = self._begins(row)
            if row.thread != running and self.tells_threads:
                self._tell_last_statement()
                self._owes_switch = True
            if self._owes_switch and begins is not None:
                self._tell_switch(row, begins)
                self._owes_switch = False
            count = len(self._waypoints)
            self._describe(row, _taken(inputs, row))
            if begins is not None or len(self._waypoints) > count:
                self._last = row, begins, len(self._waypoints)
            self._threads[row.thread].note(row)
            self._note_values(row)
            running = row.thread
        follow = self._targets(violation)
        return [*(Segment((item,)) for item in self._waypoints), Segment(follow)]

    def _rows(self, violation: r.Violation) -> list[r.Row]:
        """The accesses of a race are the last two steps, and its targets: whatever comes after
        the first one does not happen before the race."""
        rows = self.result.trace
        if violation.property != "no-data-race" or not rows:
            return rows
        last = max(row.step for row in rows)
        return [row for row in rows if row.step < last - 1]

    @property
    def tells_threads(self) -> bool:
        return self.form in (Format.YAML_2_2, Format.GRAPHML)

    def _adopt(self, number: int) -> None:
        """A thread whose creation no row tells: it cannot be named in the witness."""
        self._threads[number] = _Thread("")

    # --- rows

    def _begins(self, row: r.Row) -> Position | None:
        """Where the statement is that begins with a row, if one does."""
        thread = self._threads[row.thread]
        place = row.place
        text = self._texts.get(place.file)
        is_within = thread.at.get(row.depth) == _start(row)
        if is_within or not thread.name or text is None:
            return None
        return text.statement(place.line, place.column)

    def _tell_switch(self, row: r.Row, begins: Position) -> None:
        """Another thread goes on: told at the first statement of it that begins."""
        constraint = self._told_values() or "1"
        self._add(Waypoint(Kind.ASSUMPTION, _location(row.place, begins), constraint), row.thread)

    def _tell_last_statement(self) -> None:
        """How far the thread came that does not go on, unless a waypoint tells that already."""
        if self._last is None:
            return
        row, begins, count = self._last
        if begins is not None and count == len(self._waypoints) and not self._is_told(row):
            self._add(Waypoint(Kind.ASSUMPTION, _location(row.place, begins), "1"), row.thread)

    def _is_told(self, row: r.Row) -> bool:
        """Whether the last waypoint is in the same line, of the same thread."""
        last = self._waypoints[-1] if self._waypoints else None
        name = self._threads[row.thread].name
        return last is not None and (last.thread, last.location.line) == (name, row.place.line)

    def _told_values(self) -> str:
        parts = [f"{name} == {value}" for name, value in self._values.items()]
        self._values.clear()
        return " && ".join(parts[-_MOST_VALUES:])

    def _note_values(self, row: r.Row) -> None:
        for change in row.changes:
            if change.read or not change.is_global or change.name in self._opaque:
                continue
            self._values.pop(change.name, None)
            if _IDENTIFIER.fullmatch(change.name) and _INTEGER.fullmatch(change.value):
                self._values[change.name] = _literal(change.value)

    def _describe(self, row: r.Row, inputs: list[r.Input]) -> None:
        operation = row.operation
        if operation is not None and operation.kind == "create":
            self._creation(row, operation)
        elif row.entered:
            self._call(row)
        for item in inputs:
            self._input(row, item)
        if row.branch is not None:
            self._branch(row, row.branch)

    def _creation(self, row: r.Row, operation: r.Operation) -> None:
        if operation.thread is None or operation.thread in self._threads:
            return
        if not self._threads[row.thread].name:
            return
        name = str(sum(item.creates != "" for item in self._waypoints) + 1)
        function = next(
            (item.function for item in self.result.threads if item.number == operation.thread), ""
        )
        called = self._called(row) or "pthread_create"
        location = _location(row.place, self._closing(row, called))
        waypoint = Waypoint(Kind.ENTER, location, creates=name, function=function)
        self._add(waypoint, row.thread)
        self._threads[operation.thread] = _Thread(name)

    def _called(self, row: r.Row) -> str:
        text = row.place.text
        return next((name for name in ("pthread_create", "thrd_create") if name in text), "")

    def _call(self, row: r.Row) -> None:
        position = self._closing(row, row.entered)
        if position is not None:
            location = _location(row.place, position)
            self._add(Waypoint(Kind.ENTER, location, function=row.entered), row.thread)

    def _closing(self, row: r.Row, function: str) -> Position | None:
        """The closing parenthesis of the only call of a function in a row's place."""
        text = self._texts.get(row.place.file)
        if text is None:
            return None
        found = text.calls(function, (row.place.line, row.place.column), _end(row.place))
        return found[0] if len(found) == 1 else None

    def _input(self, row: r.Row, item: r.Input) -> None:
        """Inputs that are calls in the source; there is no place that stands for the others."""
        text = self._texts.get(row.place.file)
        name = item.name.removesuffix("()")
        if text is None or not _IDENTIFIER.fullmatch(name):
            return
        if not _INTEGER.fullmatch(item.value):
            return
        found = text.calls(name, (row.place.line, row.place.column), _end(row.place))
        if len(found) != 1:
            return
        location = _location(row.place, found[0])
        constraint = f"\\result == {_literal(item.value)}"
        waypoint = Waypoint(Kind.RETURN, location, constraint, function=name)
        self._add(waypoint, row.thread)

    def _branch(self, row: r.Row, value: bool) -> None:
        text = self._texts.get(row.place.file)
        found = None if text is None else text.keyword_of(row.place.line, row.place.column)
        if found is None or found[0] == "switch":
            return
        location = _location(row.place, found[1])
        self._add(Waypoint(Kind.BRANCHING, location, "true" if value else "false"), row.thread)

    def _add(self, waypoint: Waypoint, thread: int) -> None:
        name = self._threads[thread].name if thread in self._threads else ""
        if self.tells_threads and not name:
            return
        self._waypoints.append(replace(waypoint, thread=name if self.tells_threads else ""))

    # --- the end

    def _targets(self, violation: r.Violation) -> tuple[Waypoint, ...]:
        accesses = [item for item in violation.accesses if item.place is not None]
        if violation.property == "no-data-race" and self.tells_threads and len(accesses) == 2:
            return tuple(self._target(item.place, item.thread) for item in accesses)
        return (self._target(violation.place, violation.thread),)

    def _target(self, place: r.Place | None, thread: int) -> Waypoint:
        if place is None or place.file not in self._texts:
            # The end of the program, say: told by the last thing that the thread has done.
            rows = [row for row in self.result.trace if row.thread == thread]
            place = rows[-1].place if rows else None
        if place is None:
            raise InputError("the violation has no place in the program")
        name = self._threads[thread].name if thread in self._threads else ""
        return Waypoint(Kind.TARGET, _location(place), thread=name if self.tells_threads else "")


def _opaque(rows: list[r.Row]) -> frozenset[str]:
    """Objects of the library: what it writes there means nothing to another verifier."""
    return frozenset(
        change.name
        for row in rows
        if row.operation is not None or _LIBRARY_CALL.search(row.place.text)
        for change in row.changes
        if not change.read
    )


def _literal(value: str) -> str:
    """A whole number as C reads it: the largest need a suffix, the least has no literal."""
    number = int(value)
    if number > 2**63 - 1:
        return f"{number}U"
    return f"({number + 1} - 1)" if number == -(2**63) else value


def _start(row: r.Row) -> tuple[str, int, int]:
    return row.place.file, row.place.line, row.place.column


def _end(place: r.Place) -> Position:
    if place.end_column:
        return place.end_line, place.end_column
    return (place.end_line or place.line) + 1, 1


def _taken(inputs: list[r.Input], row: r.Row) -> list[r.Input]:
    """The inputs that belong to a row, taken away from those that are left."""
    mine: list[r.Input] = []
    while len(mine) < len(row.inputs):
        found = next(
            (item for item in inputs if item.thread == row.thread and item.step == row.step), None
        )
        if found is None:
            break
        inputs.remove(found)
        mine.append(found)
    return mine
