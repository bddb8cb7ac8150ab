"""Witnesses as GraphML, version 1.0, and back.

A violation witness is written as one path of an automaton, each edge a waypoint. Where the path
goes one way at a branch, the other way leads to the sink. Only such automata are read: from each
node one edge leads on, all others to sinks.
"""

from __future__ import annotations

from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from plait.data import dataclass, field, replace
from plait.errors import Diagnostic, InputError
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

_KEYS = (
    *(("witness-type", "string", "graph"), ("sourcecodelang", "string", "graph")),
    *(("producer", "string", "graph"), ("specification", "string", "graph")),
    *(("programfile", "string", "graph"), ("programhash", "string", "graph")),
    *(("architecture", "string", "graph"), ("creationtime", "string", "graph")),
    *(("entry", "boolean", "node"), ("sink", "boolean", "node")),
    *(("violation", "boolean", "node"), ("invariant", "string", "node")),
    *(("invariant.scope", "string", "node"), ("startline", "int", "edge")),
    *(("endline", "int", "edge"), ("originfile", "string", "edge")),
    *(("threadId", "string", "edge"), ("createThread", "string", "edge")),
    *(("enterFunction", "string", "edge"), ("returnFromFunction", "string", "edge")),
    *(("control", "string", "edge"), ("enterLoopHead", "boolean", "edge")),
    *(("assumption", "string", "edge"), ("assumption.scope", "string", "edge")),
    ("assumption.resultfunction", "string", "edge"),
)
_ARCHITECTURES = {"ILP32": "32bit", "LP64": "64bit"}
Data = list[tuple[str, str]]


# --- writing


def to_graphml(witness: Witness, now: str, entry: str) -> str:
    writer = _Writer()
    task = witness.task
    is_violation = isinstance(witness, ViolationWitness)
    head: Data = [
        ("witness-type", "violation_witness" if is_violation else "correctness_witness"),
        ("sourcecodelang", "C"),
        ("producer", f"{witness.producer.name} {witness.producer.version}"),
        ("specification", task.specification),
        ("programfile", task.files[0]),
        ("programhash", task.hashes[0]),
        ("architecture", _ARCHITECTURES[task.data_model]),
        ("creationtime", now),
    ]
    for key, value in head:
        writer.data(key, value, 2)
    if isinstance(witness, ViolationWitness):
        writer.path(witness, entry)
    else:
        writer.invariants(witness)
    return writer.text()


class _Writer:
    def __init__(self) -> None:
        self._lines = [
            '<?xml version="1.0" encoding="UTF-8" standalone="no"?>',
            '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"'
            ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">',
        ]
        for name, kind, where in _KEYS:
            begin = f' <key attr.name="{name}" attr.type="{kind}" for="{where}" id="{name}"'
            if kind == "boolean":
                self._lines += [f"{begin}>", "  <default>false</default>", " </key>"]
            else:
                self._lines.append(f"{begin}/>")
        self._lines.append(' <graph edgedefault="directed">')

    def text(self) -> str:
        return "\n".join([*self._lines, " </graph>", "</graphml>", ""])

    def data(self, key: str, value: str, depth: int) -> None:
        shown = escape(written(value))
        self._lines.append(f"{' ' * depth}<data key={quoteattr(key)}>{shown}</data>")

    def _node(self, name: str, *data: tuple[str, str]) -> None:
        self._lines.append(f"  <node id={quoteattr(name)}>")
        for key, value in data:
            self.data(key, value, 3)
        self._lines.append("  </node>")

    def _edge(self, source: str, target: str, data: Data) -> None:
        self._lines.append(f"  <edge source={quoteattr(source)} target={quoteattr(target)}>")
        for key, value in data:
            self.data(key, value, 3)
        self._lines.append("  </edge>")

    def path(self, witness: ViolationWitness, entry: str) -> None:
        steps: list[tuple[Data, Data]] = [([("threadId", MAIN), ("enterFunction", entry)], [])]
        for segment in witness.segments:
            for waypoint in segment.follow:
                steps.append((_edge_data(waypoint), _other_way(waypoint)))
                if waypoint.creates and waypoint.function:
                    # Without a line: the thread begins nowhere in the source.
                    begins = ("threadId", waypoint.creates), ("enterFunction", waypoint.function)
                    steps.append(([*begins], []))
        self._node("n0", ("entry", "true"))
        if any(other for _, other in steps):
            self._node("sink", ("sink", "true"))
        for number, (data, other) in enumerate(steps, 1):
            is_last = number == len(steps)
            self._node(f"n{number}", *([("violation", "true")] if is_last else []))
            self._edge(f"n{number - 1}", f"n{number}", data)
            if other:
                self._edge(f"n{number - 1}", "sink", other)

    def invariants(self, witness: CorrectnessWitness) -> None:
        self._node("n0", ("entry", "true"))
        for number, item in enumerate(witness.invariants, 1):
            scope = [("invariant.scope", item.location.function)] if item.location.function else []
            self._node(f"n{number}", ("invariant", item.value), *scope)
            data = _place(item.location)
            if item.is_loop:
                data.append(("enterLoopHead", "true"))
            self._edge("n0", f"n{number}", data)


def _is_xml(sign: str) -> bool:
    return (
        sign in "\t\n"
        or " " <= sign <= "\ud7ff"
        or "\ue000" <= sign <= "\ufffd"
        or sign >= "\U00010000"
    )


def written(text: str) -> str:
    """A text as XML can express it."""
    return "".join(item if _is_xml(item) else "?" for item in text)


def _place(location: Location) -> Data:
    return [
        ("originfile", location.file),
        ("startline", str(location.line)),
        ("endline", str(location.line)),
    ]


def _edge_data(waypoint: Waypoint) -> Data:
    data: Data = [("threadId", waypoint.thread)] if waypoint.thread else []
    data += _place(waypoint.location)
    if waypoint.creates:
        data.append(("createThread", waypoint.creates))
    elif waypoint.kind is Kind.ENTER:
        data.append(("enterFunction", waypoint.function))
    elif waypoint.kind is Kind.RETURN:
        data.append(("assumption", waypoint.constraint))
        data.append(("assumption.resultfunction", waypoint.function))
    elif waypoint.kind is Kind.BRANCHING:
        data.append(("control", f"condition-{waypoint.constraint}"))
    elif waypoint.kind is Kind.ASSUMPTION and waypoint.constraint != "1":
        data.append(("assumption", waypoint.constraint))
        if waypoint.location.function:
            data.append(("assumption.scope", waypoint.location.function))
    return data


def _other_way(waypoint: Waypoint) -> Data:
    if waypoint.kind is not Kind.BRANCHING:
        return []
    other = "false" if waypoint.constraint == "true" else "true"
    return _edge_data(replace(waypoint, constraint=other))


# --- reading


def from_graphml(text: str, path: str) -> Witness:
    graph = _parsed(text, path)
    head = graph.head
    for key in ("witness-type", "specification", "programhash", "architecture"):
        if key not in head:
            raise InputError(Diagnostic(f"the graph has no '{key}'", path))
    models = {name: model for model, name in _ARCHITECTURES.items()}
    if head["architecture"] not in models:
        raise InputError(Diagnostic("the architecture is neither 32bit nor 64bit", path))
    if head.get("sourcecodelang", "C") != "C":
        raise InputError(Diagnostic("only C is supported", path))
    program = head.get("programfile", "")
    task = Task(
        (program,), (head["programhash"],), head["specification"], models[head["architecture"]]
    )
    name, _, version = head.get("producer", "").partition(" ")
    producer = Producer(name, version)
    if head["witness-type"] == "correctness_witness":
        invariants = _invariants(graph, program)
        return CorrectnessWitness(Format.GRAPHML, task, producer, invariants)
    if head["witness-type"] != "violation_witness":
        raise InputError(Diagnostic("witness-type: violation_witness expected", path))
    segments = _segments(graph, program, path)
    return ViolationWitness(Format.GRAPHML, task, producer, segments)


@dataclass(slots=True)
class _Edge:
    source: str
    target: str
    line: int
    data: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Graph:
    head: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: list[_Edge] = field(default_factory=list)


def _parsed(text: str, path: str) -> _Graph:
    parser = expat.ParserCreate("utf-8")  # whatever the text says: it was decoded already
    reader = _Reader(parser, path)
    parser.StartElementHandler = reader.begin
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.characters
    parser.StartDoctypeDeclHandler = reader.doctype
    try:
        parser.Parse(text.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        what = f"not a witness: {expat.ErrorString(error.code)}"
        raise InputError(Diagnostic(what, path, error.lineno, error.offset + 1)) from None
    return reader.graph


class _Reader:
    def __init__(self, parser: expat.XMLParserType, path: str) -> None:
        self._parser = parser
        self._path = path
        self.graph = _Graph()
        self._owner: dict[str, str] | None = None
        self._key: str | None = None
        self._parts: list[str] = []

    def wrong(self, what: str) -> InputError:
        return InputError(Diagnostic(what, self._path, self._parser.CurrentLineNumber))

    def doctype(self, *_: object) -> None:
        """A document type can define entities that grow without bound, or read other files."""
        raise self.wrong("not a witness: a document type is not allowed")

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        graph = self.graph
        match name.rpartition(":")[2]:
            case "graph":
                self._owner = graph.head
            case "node":
                number = attributes.get("id")
                if number is None or number in graph.nodes:
                    raise self.wrong("a node needs an id of its own")
                self._owner = graph.nodes[number] = {}
            case "edge":
                if "source" not in attributes or "target" not in attributes:
                    raise self.wrong("an edge needs a source and a target")
                line = self._parser.CurrentLineNumber
                edge = _Edge(attributes["source"], attributes["target"], line)
                graph.edges.append(edge)
                self._owner = edge.data
            case "data":
                self._key, self._parts = attributes.get("key"), []

    def end(self, name: str) -> None:
        match name.rpartition(":")[2]:
            case "data":
                if self._owner is not None and self._key is not None:
                    self._owner[self._key] = "".join(self._parts).strip()
                self._key = None
            case "node" | "edge":
                self._owner = self.graph.head

    def characters(self, text: str) -> None:
        if self._key is not None:
            self._parts.append(text)


def _segments(graph: _Graph, program: str, path: str) -> tuple[Segment, ...]:
    nodes = graph.nodes
    sinks = {name for name, data in nodes.items() if data.get("sink") == "true"}
    entries = [name for name, data in nodes.items() if data.get("entry") == "true"]
    if len(entries) != 1:
        raise InputError(Diagnostic("the graph needs exactly one entry node", path))
    leaving: dict[str, list[_Edge]] = {}
    for edge in graph.edges:
        leaving.setdefault(edge.source, []).append(edge)
    found: list[Segment] = []
    node, seen = entries[0], set()
    threads = _Threads()
    while nodes.get(node, {}).get("violation") != "true":
        if node in seen:
            raise InputError(Diagnostic("the path to the violation has a loop", path))
        seen.add(node)
        onward = [item for item in leaving.get(node, []) if item.target not in sinks]
        onward = [item for item in onward if item.target != node]
        if len(onward) != 1:
            line = onward[1].line if onward else 0
            what = "the graph branches" if onward else "no path leads to a violation node"
            raise InputError(Diagnostic(what, path, line))
        avoided = [item for item in leaving[node] if item.target in sinks]
        segment = threads.segment(onward[0], avoided, program, path)
        node = onward[0].target
        if segment is not None:
            found.append(segment)
    if not found:
        raise InputError(Diagnostic("no edge on the path to the violation has a line", path))
    # The last edge leads to the violation, whatever else it says.
    last = found[-1].follow[0]
    if last.kind is Kind.ASSUMPTION and last.constraint == "1":
        target = Segment((replace(last, kind=Kind.TARGET, constraint=""),), found[-1].avoid)
        found[-1] = target
        if len(found) > 1 and _is_race(graph.head["specification"]):
            before = found[-2].follow[0]
            if before.kind is Kind.ASSUMPTION and before.constraint == "1":
                both = (replace(before, kind=Kind.TARGET, constraint=""), target.follow[0])
                found[-2:] = [Segment(both, found[-2].avoid)]
    else:
        found.append(Segment((Waypoint(Kind.TARGET, Location("", 0), thread=""),)))
    return tuple(found)


def _is_race(specification: str) -> bool:
    return "data-race" in specification


class _Threads:
    """Which threads an automaton speaks of. The first one it names is the initial thread."""

    def __init__(self) -> None:
        self._main: str | None = None
        self._created: set[str] = set()

    def segment(self, edge: _Edge, avoided: list[_Edge], program: str, path: str) -> Segment | None:
        """None for an edge that says nothing more than that a function is entered that runs
        anyway: `main`, or the first one of a thread."""
        data = edge.data
        thread = self._name(data.get("threadId"))
        if "enterFunction" in data and thread in self._created and "createThread" not in data:
            self._created.discard(thread)
            return None
        if "startline" not in data:
            return None
        waypoint = _waypoint(edge, program, path, thread)
        created = data.get("createThread")
        if created is not None:
            # Some tools write the creation and the first function of the thread as one edge.
            name = self._name(created)
            self._created.add(name)
            waypoint = replace(waypoint, kind=Kind.ENTER, constraint="", creates=name, function="")
        avoid = tuple(
            _waypoint(item, program, path, self._name(item.data.get("threadId")))
            for item in avoided
            if "control" in item.data and "startline" in item.data
        )
        return Segment((waypoint,), avoid)

    def _name(self, name: str | None) -> str:
        if name is None:
            return ""
        if self._main is None:
            self._main = name
        return MAIN if name == self._main else f"t{name}"


def _waypoint(edge: _Edge, program: str, path: str, thread: str) -> Waypoint:
    data = edge.data
    line = data["startline"]
    if not (line.isascii() and line.isdigit() and len(line) < 10 and int(line) > 0):
        raise InputError(Diagnostic(f"startline '{line[:20]}' is no line", path, edge.line))
    file = data.get("originfile", program)
    location = Location(file, int(line), 0, data.get("assumption.scope", ""))
    if "control" in data:
        decided = data["control"].removeprefix("condition-")
        if decided not in ("true", "false"):
            raise InputError(Diagnostic("control: condition-true or -false", path, edge.line))
        return Waypoint(Kind.BRANCHING, location, decided, thread)
    if "enterFunction" in data:
        name = data["enterFunction"]
        return Waypoint(Kind.ENTER, location, thread=thread, function=name)
    constraint = " && ".join(
        f"({part})" for part in data.get("assumption", "").split(";") if part.strip()
    )
    if "assumption.resultfunction" in data:
        name = data["assumption.resultfunction"]
        return Waypoint(Kind.RETURN, location, constraint, thread, function=name)
    returned = data.get("returnFromFunction", data.get("returnFrom"))
    if returned is not None and not constraint:
        return Waypoint(Kind.ASSUMPTION, location, "1", thread)
    return Waypoint(Kind.ASSUMPTION, location, constraint or "1", thread)


def _invariants(graph: _Graph, program: str) -> tuple[Invariant, ...]:
    found = []
    for edge in graph.edges:
        data = graph.nodes.get(edge.target, {})
        line = edge.data.get("startline", "")
        if "invariant" in data and line.isdigit():
            file = edge.data.get("originfile", program)
            location = Location(file, int(line), 0, data.get("invariant.scope", ""))
            is_loop = edge.data.get("enterLoopHead") == "true"
            found.append(Invariant(location, data["invariant"], is_loop))
    return tuple(found)
