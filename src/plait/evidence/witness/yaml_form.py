"""Witnesses as YAML, versions 2.0 to 2.2, and back.

Reading goes over PyYAML's nodes and not over what they would be loaded as: a node knows its line,
and every scalar stays the text that it is.
"""

from __future__ import annotations

import re
import shlex
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from plait.errors import Diagnostic, InputError
from plait.evidence.witness.content import (
    MAIN,
    CorrectnessWitness,
    Format,
    GhostUpdate,
    GhostVariable,
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

Mapping = dict[str, Any]

_DEEPEST = 500


# --- writing


def to_yaml(witness: Witness, uuid: str, now: str) -> str:
    metadata = _metadata(witness, uuid, now)
    if isinstance(witness, ViolationWitness):
        entries = [_entry("violation_sequence", metadata, _segments(witness))]
    else:
        entries = []
        if witness.ghosts:
            entries.append(_entry("ghost_instrumentation", metadata, _ghosts(witness)))
        entries.append(_entry("invariant_set", metadata, _invariants(witness)))
    return yaml.dump(entries, Dumper=_Dumper, sort_keys=False, allow_unicode=False, width=100)


class _Dumper(yaml.SafeDumper):
    """Without references: the same metadata are written again in each entry."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _entry(kind: str, metadata: Mapping, content: Any) -> Mapping:
    return {"entry_type": kind, "metadata": metadata, "content": content}


def _metadata(witness: Witness, uuid: str, now: str) -> Mapping:
    task, producer = witness.task, witness.producer
    made_by = {"name": producer.name, "version": producer.version}
    if producer.arguments:
        made_by["command_line"] = shlex.join(["plait", *producer.arguments])
    return {
        "format_version": witness.format.value,
        "uuid": uuid,
        "creation_time": now,
        "producer": made_by,
        "task": {
            "input_files": list(task.files),
            "input_file_hashes": dict(zip(task.files, task.hashes, strict=True)),
            "specification": task.specification,
            "data_model": task.data_model,
            "language": "C",
        },
    }


def _segments(witness: ViolationWitness) -> list[Mapping]:
    found = []
    for segment in witness.segments:
        waypoints = [_waypoint(item, "avoid", witness.format) for item in segment.avoid]
        waypoints += [_waypoint(item, "follow", witness.format) for item in segment.follow]
        found.append({"segment": waypoints})
    return found


def _waypoint(waypoint: Waypoint, action: str, form: Format) -> Mapping:
    row: Mapping = {"type": waypoint.kind.value, "action": action}
    if form is Format.YAML_2_2 and waypoint.thread:
        row["thread_id"] = int(waypoint.thread)
    if waypoint.constraint and waypoint.kind is not Kind.TARGET:
        row["constraint"] = {"value": waypoint.constraint}
        if waypoint.kind is Kind.ASSUMPTION:
            row["constraint"]["format"] = "c_expression"
        elif waypoint.kind is Kind.RETURN:
            row["constraint"]["format"] = "acsl_expression"
            if form is not Format.YAML_2_0:
                row["constraint"]["format"] = "ext_c_expression"
    row["location"] = _location(waypoint.location)
    return {"waypoint": row}


def _location(location: Location) -> Mapping:
    row: Mapping = {"file_name": location.file, "line": location.line}
    if location.column:
        row["column"] = location.column
    if location.function:
        row["function"] = location.function
    return row


def _invariants(witness: CorrectnessWitness) -> list[Mapping]:
    return [
        {
            "invariant": {
                "type": "loop_invariant" if item.is_loop else "location_invariant",
                "location": _location(item.location),
                "value": item.value,
                "format": "c_expression",
            }
        }
        for item in witness.invariants
    ]


def _ghosts(witness: CorrectnessWitness) -> Mapping:
    return {
        "ghost_variables": [
            {
                "name": item.name,
                "scope": "global",
                "type": item.type,
                "initial": {"value": item.initial, "format": "c_expression"},
            }
            for item in witness.ghosts
        ],
        "ghost_updates": [
            {
                "location": _location(item.location),
                "updates": [
                    {"variable": name, "value": value, "format": "c_expression"}
                    for name, value in item.updates
                ],
            }
            for item in witness.ghost_updates
        ],
    }


# --- reading


def from_yaml(text: str, path: str) -> Witness:
    """Which calls create threads is not said in the text: `creates` is empty."""
    return _Reader(path).witness(_composed(text, path))


def _composed(text: str, path: str) -> Node | None:
    if _depth(text) > _DEEPEST:
        raise InputError(Diagnostic("not a witness: nested too deeply", path))
    try:
        root: Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
        return root
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (0, 0) if mark is None else (mark.line + 1, mark.column + 1)
        what = f"not a witness: {error.problem or error.context or 'no YAML'}"
        raise InputError(Diagnostic(what, path, line, column)) from None
    except yaml.YAMLError as error:
        what = f"not a witness: {str(error).splitlines()[0]}"
        raise InputError(Diagnostic(what, path)) from None
    except RecursionError:
        raise InputError(Diagnostic("not a witness: nested too deeply", path)) from None


def _depth(text: str) -> int:
    """Of brackets, also those in quotes. The library is slow on deep ones, however short."""
    deepest = depth = 0
    for bracket in re.findall(r"[\[\]{}]", text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


class _Reader:
    def __init__(self, path: str) -> None:
        self._path = path

    def witness(self, root: Node | None) -> Witness:
        if root is None:
            raise InputError(Diagnostic("not a witness: the file is empty", self._path))
        entries = self._list(root, "a list of entries")
        if not entries:
            raise self._wrong(root, "a witness has at least one entry")
        kinds = [self._text(self._get(item, "entry_type")) for item in entries]
        metadata = [self._metadata(self._get(item, "metadata")) for item in entries]
        form, task, producer = metadata[0]
        for item, other in zip(entries, metadata, strict=True):
            if other[0] is not form:
                raise self._wrong(item, "the entries have different format versions")
        if "violation_sequence" in kinds:
            if len(entries) > 1:
                raise self._wrong(entries[1], "only one violation can be followed")
            content = self._get(entries[0], "content")
            return ViolationWitness(form, task, producer, self._segments(content, form))
        invariants: list[Invariant] = []
        ghosts: list[GhostVariable] = []
        updates: list[GhostUpdate] = []
        for item, kind in zip(entries, kinds, strict=True):
            content = self._get(item, "content")
            if kind == "invariant_set":
                invariants += [self._invariant(each) for each in self._list(content, "a list")]
            elif kind == "ghost_instrumentation" and form is not Format.YAML_2_0:
                self._ghosts(content, ghosts, updates)
            else:
                raise self._wrong(item, f"unknown entry_type '{kind[:40]}'")
        return CorrectnessWitness(
            form, task, producer, tuple(invariants), tuple(ghosts), tuple(updates)
        )

    def _metadata(self, node: Node) -> tuple[Format, Task, Producer]:
        version = self._get(node, "format_version")
        try:
            form = Format(self._text(version))
        except ValueError:
            form = Format.GRAPHML
        if form is Format.GRAPHML:
            what = f"format version '{self._text(version)[:20]}': 2.0, 2.1 or 2.2 expected"
            raise self._wrong(version, what)
        task = self._get(node, "task")
        files = tuple(self._text(item) for item in self._list(self._get(task, "input_files"), ""))
        listed = self._get(task, "input_file_hashes")
        hashes = dict(self._pairs(listed))
        for name in files:
            if name not in hashes:
                raise self._wrong(listed, f"no hash of '{name[:100]}'")
        model = self._get(task, "data_model")
        if self._text(model) not in ("ILP32", "LP64"):
            raise self._wrong(model, "ILP32 or LP64 expected")
        language = self._get(task, "language")
        if self._text(language) != "C":
            raise self._wrong(language, "only C is supported")
        maker = self._get(node, "producer")
        producer = Producer(
            self._text(self._get(maker, "name")), self._text(self._get(maker, "version"))
        )
        return (
            form,
            Task(
                files,
                tuple(self._text(hashes[name]).lower() for name in files),
                self._text(self._get(task, "specification")),
                self._text(model),
            ),
            producer,
        )

    def _segments(self, node: Node, form: Format) -> tuple[Segment, ...]:
        items = self._list(node, "a list of segments")
        if not items:
            raise self._wrong(node, "a violation needs at least one segment")
        found = []
        for index, item in enumerate(items, 1):
            inner = self._get(item, "segment")
            found.append(self._segment(inner, form, is_last=index == len(items)))
        return tuple(found)

    def _segment(self, node: Node, form: Format, *, is_last: bool) -> Segment:
        avoid: list[Waypoint] = []
        follow: list[Waypoint] = []
        for item in self._list(node, "a list of waypoints"):
            inner = self._get(item, "waypoint")
            action = self._get(inner, "action")
            if self._text(action) == "follow":
                follow.append(self._waypoint(inner, form))
            elif self._text(action) == "avoid" and not follow:
                avoid.append(self._waypoint(inner, form))
            else:
                raise self._wrong(action, "avoid or follow expected, and follow at the end")
        targets = [item.kind is Kind.TARGET for item in follow]
        if not follow or len(follow) > (2 if is_last else 1):
            raise self._wrong(node, "a segment follows one waypoint, or at the end two targets")
        if all(targets) is not is_last or any(targets) is not is_last:
            raise self._wrong(node, "the last segment, and no other, follows targets")
        if any(item.kind is Kind.TARGET for item in avoid):
            raise self._wrong(node, "a target cannot be avoided")
        return Segment(tuple(follow), tuple(avoid))

    def _waypoint(self, node: Node, form: Format) -> Waypoint:
        kind = self._get(node, "type")
        try:
            found = Kind(self._text(kind))
        except ValueError:
            raise self._wrong(kind, f"unknown type '{self._text(kind)[:40]}'") from None
        location = self._location(self._get(node, "location"))
        given = self._find(node, "constraint")
        constraint = "" if given is None else self._text(self._get(given, "value"))
        if found in (Kind.ASSUMPTION, Kind.BRANCHING) and not constraint:
            raise self._wrong(node, f"{found.value} needs a constraint")
        if found in (Kind.ENTER, Kind.TARGET) and constraint:
            raise self._wrong(node, f"{found.value} has no constraint")
        thread = self._find(node, "thread_id")
        name = MAIN if form is Format.YAML_2_2 else ""
        if thread is not None:
            name = str(self._number(thread, 0))
        return Waypoint(found, location, constraint, name)

    def _invariant(self, node: Node) -> Invariant:
        inner = self._get(node, "invariant")
        kind = self._get(inner, "type")
        if self._text(kind) not in ("loop_invariant", "location_invariant"):
            raise self._wrong(kind, "loop_invariant or location_invariant expected")
        return Invariant(
            self._location(self._get(inner, "location")),
            self._text(self._get(inner, "value")),
            self._text(kind) == "loop_invariant",
        )

    def _ghosts(self, node: Node, ghosts: list[GhostVariable], updates: list[GhostUpdate]) -> None:
        for item in self._list(self._get(node, "ghost_variables"), "a list"):
            initial = self._text(self._get(self._get(item, "initial"), "value"))
            name, kind = (self._text(self._get(item, key)) for key in ("name", "type"))
            ghosts.append(GhostVariable(name, kind, initial))
        for item in self._list(self._get(node, "ghost_updates"), "a list"):
            rows = self._list(self._get(item, "updates"), "a list")
            pairs = tuple(
                (self._text(self._get(row, "variable")), self._text(self._get(row, "value")))
                for row in rows
            )
            updates.append(GhostUpdate(self._location(self._get(item, "location")), pairs))

    def _location(self, node: Node) -> Location:
        column, function = self._find(node, "column"), self._find(node, "function")
        return Location(
            self._text(self._get(node, "file_name")),
            self._number(self._get(node, "line"), 1),
            0 if column is None else self._number(column, 0),
            "" if function is None else self._text(function),
        )

    # --- nodes

    def _wrong(self, node: Node, what: str) -> InputError:
        mark = node.start_mark
        line, column = (0, 0) if mark is None else (mark.line + 1, mark.column + 1)
        return InputError(Diagnostic(what, self._path, line, column))

    def _pairs(self, node: Node) -> list[tuple[str, Node]]:
        if not isinstance(node, MappingNode):
            raise self._wrong(node, "keys with values expected")
        return [(self._text(key), value) for key, value in node.value]

    def _find(self, node: Node, name: str) -> Node | None:
        return next((value for key, value in self._pairs(node) if key == name), None)

    def _get(self, node: Node, name: str) -> Node:
        found = self._find(node, name)
        if found is None:
            raise self._wrong(node, f"no '{name}' in it")
        return found

    def _list(self, node: Node, what: str) -> list[Node]:
        if not isinstance(node, SequenceNode):
            raise self._wrong(node, f"{what or 'a list'} expected")
        return list(node.value)

    def _text(self, node: Node) -> str:
        if not isinstance(node, ScalarNode):
            raise self._wrong(node, "a text expected")
        return str(node.value)

    def _number(self, node: Node, least: int) -> int:
        text = self._text(node)
        if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= least):
            raise self._wrong(node, f"a number from {least} expected")
        return int(text)
