"""Places that a step of a proof's tree may run over without a node: inside of atomic sections, and
where a thread is the only one that is left, until it starts another one. The nodes do not tell all
that can hold there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from plait.model.actions import AtomicBegin, AtomicEnd, Call, Return, Spawn
from plait.model.program import Edge, Function, Program

Passed = dict[str, set[int]]

_DEEPEST = 4  # deeper sections are no longer told apart


class _Entry(NamedTuple):
    """A function, and in how many sections it was called."""

    function: str
    depth: int


def places_without_nodes(program: Program, document: dict[str, Any]) -> Passed:
    """Locations by function; `document` is the tree as --certificate saves it."""
    passed: Passed = {name: set() for name in program.functions}
    sections = _Flood(program, is_alone=False)
    for name in program.functions:
        sections.visit(_Entry(name, 0), 0, 0)
    alone = _Flood(program, is_alone=True)
    for location in document["locations"]:
        threads = [document["threads"][index] for index in location["threads"]]
        running = [thread for thread in threads if thread["status"] == "running"]
        if len(running) == 1:
            alone.start(running[0]["frames"])
    for flood in (sections, alone):
        for entry, place, depth in flood.run():
            if depth or flood is alone:
                passed[entry.function].add(place)
    return passed


class _Flood:
    """Follows all ways, also into functions that are called. A thread that is alone does so up to
    where it starts another one, and sections do not matter then."""

    def __init__(self, program: Program, *, is_alone: bool) -> None:
        self._program = program
        self._is_alone = is_alone
        self._seen: set[tuple[_Entry, int, int]] = set()
        self._pending: list[tuple[_Entry, int, int]] = []
        self._behind: dict[_Entry, set[tuple[_Entry, int]]] = {}  # where calls return to
        self._returned: dict[_Entry, set[int]] = {}  # in how many sections they do

    def visit(self, entry: _Entry, location: int, depth: int) -> None:
        item = entry, location, depth
        if location >= 0 and item not in self._seen:
            self._seen.add(item)
            self._pending.append(item)

    def start(self, frames: list[dict[str, Any]]) -> None:
        """With a thread that has a node where it is."""
        entries = [_Entry(frame["function"], 0) for frame in frames]
        for index, frame in enumerate(frames):
            function = self._program.functions[frame["function"]]
            for edge in function.edges[frame["location"]]:
                if index + 1 < len(frames):
                    self._call(entries[index], edge, entries[index + 1])
                else:
                    self._follow(entries[index], edge, 0)

    def run(self) -> set[tuple[_Entry, int, int]]:
        while self._pending:
            entry, location, depth = self._pending.pop()
            for edge in self._function(entry).edges[location]:
                self._follow(entry, edge, depth)
        return self._seen

    def _function(self, entry: _Entry) -> Function:
        return self._program.functions[entry.function]

    def _follow(self, entry: _Entry, edge: Edge, depth: int) -> None:
        action = edge.action
        if isinstance(action, Return):
            self._returned.setdefault(entry, set()).add(depth)
            for outer, target in self._behind.get(entry, ()):
                self.visit(outer, target, depth)
        elif isinstance(action, Call):
            for callee in self._callees(action):
                inner = _Entry(callee, depth)
                self.visit(inner, 0, depth)
                self._call(entry, edge, inner)
        elif isinstance(action, AtomicBegin | AtomicEnd) and not self._is_alone:
            if depth == _DEEPEST:
                self.visit(entry, edge.target, depth)
            change = 1 if isinstance(action, AtomicBegin) else -1
            self.visit(entry, edge.target, min(max(depth + change, 0), _DEEPEST))
        elif not (isinstance(action, Spawn) and self._is_alone):
            self.visit(entry, edge.target, depth)

    def _call(self, entry: _Entry, edge: Edge, inner: _Entry) -> None:
        self._behind.setdefault(inner, set()).add((entry, edge.target))
        for depth in self._returned.get(inner, ()):
            self.visit(entry, edge.target, depth)

    def _callees(self, action: Call) -> Iterable[str]:
        if isinstance(action.callee, str):
            return [action.callee] if action.callee in self._program.functions else []
        count = len(action.arguments)
        functions = self._program.functions.values()
        return [item.name for item in functions if item.parameters == count]
