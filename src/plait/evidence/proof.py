"""What a proof says, in C: the tree's labels, and invariants of places.

The tree of a proof comes as the document that `--certificate` saves (docs/certificates.md). An
invariant of a place has to hold whenever any thread is there, in all interleavings. A tree that
partial-order reduction has thinned out does not show all of them, so what it says about shared
variables is no invariant: then only what is said about the thread's own variables counts, of which
each thread goes through all values that it can have in every order of independent steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from plait.analysis.loops import find_loops
from plait.data import dataclass, field
from plait.evidence.cell_names import CellNames, shown
from plait.evidence.in_c import InC, Name
from plait.evidence.places_without_nodes import places_without_nodes
from plait.evidence.result import Invariant, Place, TreeNode
from plait.evidence.roles import is_of_roles, roles_of
from plait.evidence.trace_rows import place_of
from plait.model.actions import NOWHERE, Assign, EnterScope, Fence, LeaveScope, Skip
from plait.model.dataflow import live_registers
from plait.model.program import Edge, Function, Program, RegisterDecl, StaticObject
from plait.model.types import Kind, Scalar

Document = dict[str, Any]

MOST_TREE_NODES = 1_000
_MOST_ALTERNATIVES = 6
_MOST_VALUES = 4
_SILENT = (Skip, Fence, EnterScope, LeaveScope)  # they change no variable


@dataclass(slots=True, eq=False)
class Proof:
    invariants: list[Invariant] = field(default_factory=list)
    tree: list[TreeNode] = field(default_factory=list)


def proof_of(program: Program, document: Document, *, is_reduced: bool) -> Proof:
    if is_of_roles(document):
        return Proof(roles_of(program, document), [])
    reader = _Reader(program, document)
    tree = reader.tree() if len(document["nodes"]) <= MOST_TREE_NODES else []
    return Proof(reader.invariants(is_reduced=is_reduced), tree)


@dataclass(slots=True, eq=False)
class _Facts:
    """What holds at a place according to one node: values of names, and conditions."""

    values: dict[str, str]
    conditions: frozenset[str]


class _Reader:
    def __init__(self, program: Program, document: Document) -> None:
        self._program = program
        self._document = document
        self._terms = document["terms"]
        self._cell_names = CellNames(program)
        self._scopes: dict[str, _Scope] = {}
        self._globals = frozenset(item.name for item in program.objects)
        self._shadows = _inside_functions(program)
        self._passed = places_without_nodes(program, document)

    # --- the tree

    def tree(self) -> list[TreeNode]:
        nodes = self._document["nodes"]
        return [
            TreeNode(
                number,
                node["parent"],
                node["thread"],
                self._where(self._location(node)),
                self._label(node),
                node["cover"],
            )
            for number, node in enumerate(nodes)
        ]

    def _location(self, node: Document) -> Document:
        found: Document = self._document["locations"][node["location"]]
        return found

    def _threads(self, location: Document) -> list[Document]:
        return [self._document["threads"][index] for index in location["threads"]]

    def _where(self, location: Document) -> dict[str, str]:
        found = {}
        for number, thread in enumerate(self._threads(location), 1):
            if thread["status"] != "running":
                found[str(number)] = str(thread["status"])
                continue
            place = self._place(thread)
            found[str(number)] = "the library" if place is None else f"{place.file}:{place.line}"
        return found

    def _place(self, thread: Document) -> Place | None:
        """Of the innermost frame that the author of the program knows."""
        for frame in reversed(thread["frames"]):
            function = self._program.functions[frame["function"]]
            leaving = function.edges[frame["location"]]
            if not function.library and leaving:
                return place_of(self._program, leaving[0].action.origin, function.display)
        return None

    def _label(self, node: Document) -> str:
        location = self._location(node)

        def name(variable: str) -> Name | None:
            return self._any_name(variable, location)

        texts = InC(self._terms, name)
        conditions = [texts.condition(term) or "(a condition)" for term in node["label"]]
        for cell, value in sorted(location["cells"].items()):
            known = self._cell_names.of(cell)
            if known is not None:
                text = "unknown" if value is None else known.value(value)
                conditions.append(f"{known.text} == {text}")
        return " && ".join(dict.fromkeys(conditions))

    def _any_name(self, variable: str, location: Document) -> Name | None:
        if variable.startswith("m"):
            known = self._cell_names.of(variable[1:])
            return None if known is None else Name(known.text, known.is_signed)
        thread, frame, register = (int(item) for item in variable[1:].split("."))
        function = self._function(location, thread, frame)
        if function is None:
            return None
        declared = function.registers[register]
        return Name(f"{declared.name or f'value{register}'}@{thread}", declared.type.signed)

    def _function(self, location: Document, thread: int, frame: int) -> Function | None:
        frames = self._threads(location)[thread - 1]["frames"]
        return self._program.functions[frames[frame]["function"]] if frame < len(frames) else None

    # --- invariants

    def invariants(self, *, is_reduced: bool) -> list[Invariant]:
        found: dict[tuple[str, int], list[_Facts]] = {}
        for node in self._document["nodes"]:
            if self._is_false(node):
                continue
            location = self._location(node)
            for number, thread in enumerate(self._threads(location), 1):
                frames = thread["frames"]
                if thread["status"] != "running" or not frames:
                    continue
                key = frames[-1]["function"], frames[-1]["location"]
                if self._always_stops(*key) and self._scope(key[0]).begins_statement(key[1]):
                    facts = self._facts(node, location, number, is_reduced=is_reduced)
                    found.setdefault(key, []).append(facts)
        return list(self._said(found))

    def _always_stops(self, function: str, location: int) -> bool:
        """Whether there is a node whenever a thread comes here. A loop without switch points has
        nodes only from its second round on."""
        is_switch_point = location in self._document["switch_points"].get(function, ())
        return is_switch_point and location not in self._passed[function]

    def _is_false(self, node: Document) -> bool:
        rows = [self._terms[term] for term in node["label"]]
        return any(row[0] == "constant" and row[3] == 0 for row in rows)

    def _facts(
        self, node: Document, location: Document, thread: int, *, is_reduced: bool
    ) -> _Facts:
        frames = self._threads(location)[thread - 1]["frames"]
        scope, here = self._scope(frames[-1]["function"]), frames[-1]["location"]
        values: dict[str, str] = {}
        for index, value in frames[-1]["registers"].items():
            declared = scope.variable(int(index), here)
            if declared is not None:
                values[declared.name] = shown(value, declared.type)
        if not is_reduced:
            known = {**self._document["initial"], **location["cells"]}
            for cell, value in known.items():
                named = self._cell_names.of(cell)
                if named is not None and value is not None and scope.sees(named.object):
                    values[named.text] = named.value(value)

        def name(variable: str) -> Name | None:
            if variable.startswith("m"):
                known = None if is_reduced else self._cell_names.of(variable[1:])
                if known is None or not scope.sees(known.object):
                    return None
                return Name(known.text, known.is_signed)
            owner, frame, register = (int(item) for item in variable[1:].split("."))
            if (owner, frame) != (thread, len(frames) - 1):
                return None
            declared = scope.variable(register, here)
            return None if declared is None else Name(declared.name, declared.type.signed)

        texts = InC(self._terms, name)
        conditions = (texts.condition(term) for term in node["label"])
        return _Facts(values, frozenset(item for item in conditions if item is not None))

    def _said(self, found: dict[tuple[str, int], list[_Facts]]) -> Iterable[Invariant]:
        for (name, location), facts in sorted(found.items()):
            function = self._program.functions[name]
            leaving = function.edges[location]
            place = (
                place_of(self._program, leaving[0].action.origin, function.display)
                if leaving
                else None
            )
            text = _combined(facts)
            if place is not None and text:
                yield Invariant(place, text, self._scope(name).is_loop_head(location))

    def _scope(self, name: str) -> _Scope:
        if name not in self._scopes:
            function = self._program.functions[name]
            self._scopes[name] = _Scope(self._program, function, self._globals, self._shadows)
        return self._scopes[name]


class _Scope:
    """What can be said inside of a function, and where.

    A local is in scope where it is live: its value is still needed. Names that stand for several
    things are not used at all.
    """

    def __init__(
        self,
        program: Program,
        function: Function,
        objects: frozenset[str],
        hidden: frozenset[StaticObject],
    ) -> None:
        self._function = function
        self._hidden = hidden
        self._live = live_registers(function)
        names = [item.name for item in function.registers] + [item.name for item in function.slots]
        statics = {item.name for item in hidden if _is_inside(item, function)}
        self._locals = frozenset(names) | statics | _enumerators(program, function)
        self._unclear = objects | {name for name in names if names.count(name) > 1}
        self._loops = {loop.head: loop.body for loop in find_loops(program, function)}
        self._behind_heads: set[int] = set()
        self._beginnings = self._find_beginnings()

    def sees(self, item: StaticObject) -> bool:
        """Whether a global variable can be named here: it is declared above in the same file, and
        no local has its name."""
        here, there = self._function.origin, item.origin
        is_above = there.file == here.file and there.line < here.line
        return is_above and item not in self._hidden and item.name not in self._locals

    def variable(self, register: int, location: int) -> RegisterDecl | None:
        declared = self._function.registers[register]
        if not _is_sayable(declared.name, declared.type) or declared.name in self._unclear:
            return None
        return declared if self._live[location] >> register & 1 else None

    def begins_statement(self, location: int) -> bool:
        return location in self._beginnings

    def _find_beginnings(self) -> set[int]:
        """Locations that are entered from other lines only, or by going round a loop. Inside of a
        statement variables may have other values already than where it begins."""
        function = self._function
        if function.library:
            return set()
        incoming: list[list[Edge]] = [[] for _ in function.edges]
        for edge in function.all_edges():
            if edge.target >= 0:
                incoming[edge.target].append(edge)
        found = set()
        for location, leaving in enumerate(function.edges):
            origin = leaving[0].action.origin if leaving else NOWHERE
            if origin.file >= 0 and not any(
                edge.action.origin.file == origin.file
                and edge.action.origin.line <= origin.line <= edge.action.origin.end_line
                for edge in self._entering(incoming, location)
            ):
                found.add(location)
        return found

    def _entering(self, incoming: list[list[Edge]], location: int) -> Iterator[Edge]:
        """The last edges on the ways to a location that do something, but for those that go round
        a loop whose head it is (or stands right behind)."""
        inside: set[int] = set()
        seen = {location}
        pending = [location]
        found: list[Edge] = []
        while pending:
            place = pending.pop()
            if place in self._loops:
                inside |= self._loops[place]
                self._behind_heads.add(location)
            for edge in incoming[place]:
                if not self._is_silent(edge):
                    found.append(edge)
                elif edge.source not in seen:
                    seen.add(edge.source)
                    pending.append(edge.source)
        return (edge for edge in found if edge.source not in inside)

    def _is_silent(self, edge: Edge) -> bool:
        """Whether it changes no variable that has a name."""
        action = edge.action
        if isinstance(action, Assign):
            return not self._function.registers[action.target.index].name
        return isinstance(action, _SILENT)

    def is_loop_head(self, location: int) -> bool:
        return location in self._behind_heads


def _inside_functions(program: Program) -> frozenset[StaticObject]:
    """Static locals, which only their function can name."""
    functions = list(program.functions.values())
    return frozenset(
        item for item in program.objects if any(_is_inside(item, place) for place in functions)
    )


def _is_inside(item: StaticObject, function: Function) -> bool:
    here, place = item.origin, function.origin
    return here.file == place.file and place.line <= here.line <= place.end_line


def _enumerators(program: Program, function: Function) -> frozenset[str]:
    """Names of constants that are declared inside of a function (and some others: all words of
    such a declaration)."""
    lists = re.findall(r"\benum\b[^{};()]*\{([^}]*)\}", program.text(function.origin))
    return frozenset(word for item in lists for word in re.findall(r"\w+", item))


def _combined(facts: list[_Facts]) -> str:
    """What all nodes agree on; the alternatives themselves if they are few."""
    common = set(facts[0].values)
    for item in facts[1:]:
        common &= item.values.keys()
    alternatives = {
        (
            tuple((name, item.values[name]) for name in sorted(common)),
            item.conditions,
        )
        for item in facts
    }
    conditions = frozenset.intersection(*(item.conditions for item in facts))
    parts: list[str] = []
    varying = []
    for name in sorted(common):
        values = sorted({item.values[name] for item in facts}, key=_by_size)
        if len(values) == 1:
            parts.append(f"{name} == {values[0]}")
        else:
            varying.append((name, values))
    parts += sorted(conditions)
    if varying and len(alternatives) <= _MOST_ALTERNATIVES:
        names = [name for name, _ in varying]
        choices = []
        for values_of, own in sorted(alternatives, key=lambda item: (item[0], sorted(item[1]))):
            known = dict(values_of)
            terms = [f"{name} == {known[name]}" for name in names] + sorted(own - conditions)
            choices.append(" && ".join(terms))
        parts.append("(" + " || ".join(f"({item})" for item in dict.fromkeys(choices)) + ")")
    else:
        parts += [_range(name, values) for name, values in varying]
    return " && ".join(parts)


def _range(name: str, values: list[str]) -> str:
    if len(values) <= _MOST_VALUES:
        return "(" + " || ".join(f"{name} == {value}" for value in values) + ")"
    return f"{values[0]} <= {name} && {name} <= {values[-1]}"


def _by_size(value: str) -> int:
    return int(value.strip("()U"))


def _is_sayable(name: str, scalar: Scalar) -> bool:
    """Pointers have addresses here, which say nothing to others."""
    return name.isidentifier() and not name.startswith("__") and scalar.kind is Kind.INT
