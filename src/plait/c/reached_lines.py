"""Lines of the program: which have code, and checks that some of them are never reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from plait.errors import InputError
from plait.model.actions import Check, CheckKind, EnterScope, LeaveScope, Skip
from plait.model.expressions import FALSE
from plait.model.program import Edge, Function, SourceFile

Line = tuple[str, int]  # a file, as the program names it, and a line of it


def lines_of(function: Function, sources: Sequence[SourceFile]) -> set[Line]:
    """The lines that have code of a function; braces are none."""
    return {line for edge in function.all_edges() if (line := line_of(edge, sources)) is not None}


def check_lines(
    functions: Iterable[Function], sources: Sequence[SourceFile], wanted: Sequence[str]
) -> None:
    """Where a thread comes to one of the lines (each `FILE:LINE`) is a violation."""
    own = [function for function in functions if not function.library]
    known = {line for function in own for line in lines_of(function, sources)}
    chosen: set[Line] = set()
    for text in wanted:
        found = set(_named(text, known))
        if not found:
            raise InputError(f"--reach {text}: no code of the program stands there")
        chosen |= found
    for function in own:
        _check_function(function, sources, chosen)


def _named(text: str, known: set[Line]) -> Iterator[Line]:
    path, _, number = text.rpartition(":")
    for line in known:
        if str(line[1]) == number and (line[0] == path or line[0].endswith("/" + path)):
            yield line


def _check_function(function: Function, sources: Sequence[SourceFile], chosen: set[Line]) -> None:
    for location in range(len(function.edges)):
        leaving = function.edges[location]
        edge = next((edge for edge in leaving if line_of(edge, sources) in chosen), None)
        if edge is None:
            continue
        behind = len(function.edges)
        origin = edge.action.origin
        for item in leaving:
            item.source = behind
        function.edges.append(leaving)
        message = f"line {origin.line} is reached"
        check = Check(origin, FALSE, CheckKind.UNREACH_CALL, message)
        function.edges[location] = [Edge(location, check, behind)]


def line_of(edge: Edge, sources: Sequence[SourceFile]) -> Line | None:
    """The line that has an edge's code; None for what is none."""
    origin = edge.action.origin
    if origin.file < 0 or isinstance(edge.action, (Skip, EnterScope, LeaveScope)):
        return None
    source = sources[origin.file]
    text = source.lines[origin.line - 1] if origin.line <= len(source.lines) else ""
    if not text.strip(" \t{};"):
        return None
    return source.path, origin.line
