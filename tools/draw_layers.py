"""Draw `docs/layers.svg` and fill in the last column of the table in `docs/architecture.md`, both
from `tools/layers.toml`.

    python tools/draw_layers.py

A layer stands one row above the highest that it may import. An arrow is drawn only where no chain
of other arrows says the same. Where an arrow passes a row, it gets a place of its own between the
boxes there. In each row the boxes and passing arrows are sorted by the average place of what they
are tied to, a few times down and up; everything is deterministic.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
TABLE = HERE / "layers.toml"
DOCS = HERE.parent / "docs"

Layers = dict[str, list[str]]

_WIDTH, _BOX, _HEIGHT, _GAP, _MARGIN, _PASSING = 900, 128, 38, 34, 20, 16
_SWEEPS = 8


@dataclass(slots=True, eq=False)
class _Place:
    """A box with a name, or without one the point where an arrow passes a row."""

    name: str
    row: int
    below: list[_Place]
    above: list[_Place]
    order: float = 0.0
    x: float = 0.0

    @property
    def width(self) -> int:
        return _BOX if self.name else _PASSING


def rows_of(layers: Layers) -> dict[str, int]:
    """For each layer how many others are at most below each other below it."""
    found: dict[str, int] = {}

    def row(name: str) -> int:
        if name not in found:
            found[name] = max((row(item) + 1 for item in layers[name]), default=0)
        return found[name]

    for name in layers:
        row(name)
    return found


def reduced(layers: Layers) -> Layers:
    """The imports that no chain of others implies."""
    below: dict[str, set[str]] = {}

    def reached(name: str) -> set[str]:
        if name not in below:
            below[name] = set(layers[name]).union(*map(reached, layers[name]))
        return below[name]

    return {
        name: [item for item in allowed if not any(item in reached(other) for other in allowed)]
        for name, allowed in layers.items()
    }


def picture(layers: Layers) -> str:
    used = {item for allowed in layers.values() for item in allowed}
    layers = {name: allowed for name, allowed in layers.items() if allowed or name in used}
    rows = _arranged(layers)
    height = len(rows) * (_HEIGHT + _GAP) - _GAP + 2 * _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="14">',
        "  <title>The layers of plait: imports point downwards</title>",
        f'  <rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        '  <defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#444444"/></marker>'
        "</defs>",
        '  <g stroke="#444444" stroke-width="1.3" fill="none">',
    ]
    for row in rows:
        parts += [f"    {line}" for place in row if place.name for line in _arrows(place, rows)]
    parts += ["  </g>", '  <g text-anchor="middle" fill="#1c2733">']
    for row in rows:
        parts += [f"    {_box(place, rows)}" for place in row if place.name]
    return "\n".join([*parts, "  </g>", "</svg>"]) + "\n"


def _arranged(layers: Layers) -> list[list[_Place]]:
    row_of = rows_of(layers)
    rows: list[list[_Place]] = [[] for _ in range(max(row_of.values()) + 1)]
    boxes = {name: _Place(name, row_of[name], [], []) for name in layers}
    for box in boxes.values():
        rows[box.row].append(box)
    for name, allowed in reduced(layers).items():
        for imported in allowed:
            above = boxes[name]
            for passed in range(above.row - 1, boxes[imported].row, -1):
                passing = _Place("", passed, [], [above])
                above.below.append(passing)
                rows[passed].append(passing)
                above = passing
            above.below.append(boxes[imported])
            boxes[imported].above.append(above)
    for row in rows:
        _number(row)
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        for row in reversed(rows) if downwards else rows:
            for place in row:
                tied = place.above if downwards else place.below
                if tied:
                    place.order = sum(item.order for item in tied) / len(tied)
            row.sort(key=lambda place: place.order)
            _number(row)
    for row in rows:
        _spread(row)
    for row in rows:
        for place in row:  # arrows that leave or reach a box do so in the order of their other ends
            place.below.sort(key=lambda item: item.x)
            place.above.sort(key=lambda item: item.x)
    return rows


def _number(row: list[_Place]) -> None:
    """Places between 0 and 1, so that those of rows of different lengths can be compared."""
    for number, place in enumerate(row):
        place.order = (number + 0.5) / len(row)


def _spread(row: list[_Place]) -> None:
    free = _WIDTH - 2 * _MARGIN - sum(place.width for place in row)
    left = _MARGIN + free / len(row) / 2
    for place in row:
        place.x = left + place.width / 2
        left += place.width + free / len(row)


def _top(place: _Place, rows: list[list[_Place]]) -> int:
    return _MARGIN + (len(rows) - 1 - place.row) * (_HEIGHT + _GAP)


def _arrows(box: _Place, rows: list[list[_Place]]) -> list[str]:
    found = []
    for number, first in enumerate(box.below, 1):
        start = box.x + _BOX * (number / (len(box.below) + 1) - 0.5)
        path = [f"M{start:.0f} {_top(box, rows) + _HEIGHT}"]
        above, place = box, first
        while not place.name:
            top = _top(place, rows)
            path.append(f"L{place.x:.0f} {top} L{place.x:.0f} {top + _HEIGHT}")
            above, place = place, place.below[0]
        number_above = place.above.index(above) + 1
        end = place.x + _BOX * (number_above / (len(place.above) + 1) - 0.5)
        path.append(f"L{end:.0f} {_top(place, rows)}")
        found.append(f'<path d="{" ".join(path)}" marker-end="url(#tip)"/>')
    return found


def _box(place: _Place, rows: list[list[_Place]]) -> str:
    top, left = _top(place, rows), place.x - _BOX / 2
    rectangle = (
        f'<rect x="{left:.0f}" y="{top}" width="{_BOX}" height="{_HEIGHT}" rx="6" '
        'fill="#e8eef7" stroke="#3b5b8c"/>'
    )
    name = place.name.replace(".", "/")
    return f'{rectangle}<text x="{place.x:.0f}" y="{top + 24}">{name}</text>'


def with_permissions(document: str, layers: Layers) -> str:
    """The document, with the last column of the table of layers as in `layers`."""

    def filled(row: re.Match[str]) -> str:
        allowed = layers[row["name"].replace("/", ".")]
        listed = ", ".join(f"`{name.replace('.', '/')}`" for name in allowed) or "nothing"
        return f"{row['start']}| {listed} |"

    names = "|".join(re.escape(name.replace(".", "/")) for name in layers)
    return re.sub(rf"^(?P<start>\| `(?P<name>{names})` \|.*)\|.*\|$", filled, document, flags=re.M)


def main() -> None:
    layers: Layers = tomllib.loads(TABLE.read_text("utf-8"))["layers"]
    (DOCS / "layers.svg").write_text(picture(layers), "utf-8")
    architecture = DOCS / "architecture.md"
    architecture.write_text(with_permissions(architecture.read_text("utf-8"), layers), "utf-8")


if __name__ == "__main__":
    main()
