"""Drawings of control-flow automata: DOT text, and SVG with a simple layered layout of our own."""

from __future__ import annotations

from plait.model.dataflow import postorder
from plait.model.program import Edge, Function, Program
from plait.model.show import show_action

_MADE_BY = "made by plait"  # so that a later drawing may replace it
_LABEL = 48
_ROW, _COLUMN, _RADIUS, _MARGIN = 56, 340, 13, 24


def _drawn(program: Program, verbose: bool) -> list[Function]:
    return [item for item in program.functions.values() if verbose or not item.library]


def _label(function: Function, edge: Edge) -> str:
    text = show_action(function, edge.action)
    return text if len(text) <= _LABEL else text[: _LABEL - 3] + "..."


def to_dot(program: Program, verbose: bool = False) -> str:
    """The automata as DOT text, one cluster per function."""
    lines = ["digraph program {", f"  // {_MADE_BY}"]
    lines.append('  node [shape=circle fontname="monospace" fontsize=10];')
    lines.append('  edge [fontname="monospace" fontsize=10];')
    for number, function in enumerate(_drawn(program, verbose)):
        lines.append(f"  subgraph cluster_{number} {{")
        lines.append(f"    label={_quoted(function.display)};")
        for location in sorted(postorder(function)):
            shape = " shape=doublecircle" if location == 0 else ""
            lines.append(f'    n{number}_{location} [label="{location}"{shape}];')
            for edge in function.edges[location]:
                goal = f"n{number}_{edge.target}"
                if edge.target < 0:
                    goal = f"n{number}_end"
                label = _quoted(_label(function, edge))
                lines.append(f"    n{number}_{location} -> {goal} [label={label}];")
        lines.append(f'    n{number}_end [label="end" shape=box];')
        lines.append("  }")
    lines.append("}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def to_svg(program: Program, verbose: bool = False) -> str:
    """The automata as one SVG, one function below the other."""
    parts: list[str] = []
    top, width = _MARGIN, 0
    for function in _drawn(program, verbose):
        drawing = _Drawing(function)
        parts.append(f'<g transform="translate({_MARGIN},{top})">')
        parts += drawing.parts
        parts.append("</g>")
        top += drawing.height + 2 * _MARGIN
        width = max(width, drawing.width)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + 2 * _MARGIN}" height="{top}" '
        'font-family="monospace" font-size="11">'
    )
    marker = (
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z"/></marker></defs>'
    )
    background = '<rect width="100%" height="100%" fill="white"/>'
    return "\n".join([head, f"<!-- {_MADE_BY} -->", marker, background, *parts, "</svg>"]) + "\n"


class _Drawing:
    """One function. A location's row is its longest distance from the entry over forward edges;
    in a row, locations stand below their predecessors as far as there is room."""

    def __init__(self, function: Function) -> None:
        self.parts: list[str] = []
        order = postorder(function)
        order.reverse()
        position = {location: place for place, location in enumerate(order)}
        row = dict.fromkeys(order, 0)
        parents: dict[int, list[int]] = {location: [] for location in order}
        for location in order:
            for edge in function.edges[location]:
                if edge.target >= 0 and position[edge.target] > position[location]:
                    row[edge.target] = max(row[edge.target], row[location] + 1)
                    parents[edge.target].append(location)
        column = _columns(order, row, parents)
        rows = max(row.values(), default=-1) + 1
        columns = max(column.values(), default=0) + 1
        self.height = rows * _ROW + 2 * _ROW
        self.width = columns * _COLUMN + _COLUMN // 2
        title = _escaped(function.display)
        self.parts.append(f'<text x="0" y="0" font-size="14" font-weight="bold">{title}</text>')
        place = {
            location: (30 + column[location] * _COLUMN, 30 + row[location] * _ROW)
            for location in order
        }
        for location in order:
            for number, edge in enumerate(function.edges[location]):
                x, y = place[location]
                goal = (x, y + _ROW) if edge.target < 0 else place[edge.target]
                self._edge((x, y), goal, _label(function, edge), number, edge.target < 0)
        for location, (x, y) in place.items():
            fill = "#dde8ff" if location == 0 else "white"
            circle = f'<circle cx="{x}" cy="{y}" r="{_RADIUS}" fill="{fill}" stroke="black"/>'
            self.parts.append(circle)
            text = f'<text x="{x}" y="{y + 4}" text-anchor="middle">{location}</text>'
            self.parts.append(text)

    def _edge(
        self, start: tuple[int, int], goal: tuple[int, int], label: str, number: int, ends: bool
    ) -> None:
        (x, y), (u, v) = start, goal
        if v > y:
            path = f"M{x},{y + _RADIUS} L{u},{v - _RADIUS}"
            if v - y > _ROW and u == x:
                # Pass by the locations in between.
                side = x + _COLUMN // 2
                path = f"M{x},{y + _RADIUS} C{side},{y + _ROW} {side},{v - _ROW} {u},{v - _RADIUS}"
        else:
            side = min(x, u) - _COLUMN // 10
            path = f"M{x - _RADIUS},{y} C{side},{y + 8} {side},{v - 8} {u - _RADIUS},{v}"
        arrow = ' marker-end="url(#arrow)"'
        self.parts.append(f'<path d="{path}" fill="none" stroke="#555"{arrow}/>')
        if ends:
            self.parts.append(f'<rect x="{u - 14}" y="{v - 13}" width="28" height="3"/>')
        middle = y + _RADIUS + 14 + 12 * number
        self.parts.append(f'<text x="{x + 8}" y="{middle}" fill="#036">{_escaped(label)}</text>')


def _columns(
    order: list[int], row: dict[int, int], parents: dict[int, list[int]]
) -> dict[int, int]:
    taken: dict[int, set[int]] = {}
    column: dict[int, int] = {}
    for location in sorted(order, key=lambda item: row[item]):
        used = taken.setdefault(row[location], set())
        wanted = min((column[item] for item in parents[location]), default=0)
        while wanted in used:
            wanted += 1
        used.add(wanted)
        column[location] = wanted
    return column


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
