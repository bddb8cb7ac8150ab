"""Plots as SVG, to be put into a page that has colours for the classes `t0` to `t7`.

Engines differ in colour and in the shape of their points; each point says in a tooltip what it is.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from plait.bench.axes import Linear, Logarithmic, decades
from plait.bench.records import Record
from plait.bench.scores import engines_of, quantiles
from plait.data import dataclass
from plait.report.characters import one_line

_WIDTH, _HEIGHT = 560, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 20, 34, 50
_SIDE = 400  # of a scatter plot
_UNSOLVED = 24  # pixels between the axis and those that are not solved
_COLOURS = 8
_LEGEND_LINE = 18


def quantile_plot(records: Sequence[Record]) -> str:
    """How many tasks each engine solves within how much CPU time each: lower and further to the
    right is better."""
    curves = {
        engine: quantiles(r for r in records if r.engine == engine)
        for engine in engines_of(records)
    }
    times = [record.cpu_seconds for curve in curves.values() for _, record in curve]
    x = Linear(max([1, *map(len, curves.values())]), _LEFT, _WIDTH - _RIGHT)
    y = Logarithmic(*decades(times), _HEIGHT - _BOTTOM, _TOP)
    title = "CPU time of the n-th fastest correct result"
    parts = [_frame(x, y, "n-th fastest correct result", "CPU time (s)", title)]
    for number, (engine, curve) in enumerate(curves.items()):
        places = [(x.at(n), y.at(record.cpu_seconds)) for n, record in curve]
        path = " ".join(f"{across:.1f},{down:.1f}" for across, down in places)
        points = [
            _point(number, place, f"{n}. {record.task}: {record.cpu_seconds:.2f} s, {engine}")
            for place, (n, record) in zip(places, curve)
        ]
        parts.append(_series(number, f'<polyline class="curve" points="{path}"/>', points))
    places = [(_LEFT + 16, _TOP + 14 + n * _LEGEND_LINE) for n in range(len(curves))]
    parts.append(_legend(list(curves), places))
    return _svg(_WIDTH, _HEIGHT, title, parts)


@dataclass(frozen=True, slots=True)
class Pair:
    """The same task twice: by two engines, or before and now."""

    across: Record
    down: Record


def scatter_plot(pairs: Iterable[Pair], across: str, down: str) -> str:
    """CPU times of tasks that at least one side has solved; who has not is at the far end."""
    shown = [pair for pair in pairs if pair.across.is_solved or pair.down.is_solved]
    times = [
        side.cpu_seconds for pair in shown for side in (pair.across, pair.down) if side.is_solved
    ]
    low, high = decades(times)
    size = _LEFT + _SIDE + _RIGHT, _TOP + _SIDE + _BOTTOM
    x = Logarithmic(low, high, _LEFT, _LEFT + _SIDE - _UNSOLVED)
    y = Logarithmic(low, high, _TOP + _SIDE, _TOP + _UNSOLVED)
    ends = _LEFT + _SIDE - _UNSOLVED / 3, _TOP + _UNSOLVED / 3
    title = f"CPU time: {one_line(across)} and {one_line(down)}"
    parts = [_frame(x, y, f"{across}: CPU time (s)", f"{down}: CPU time (s)", title)]
    for factor in (1, 10):
        parts += [_guide(x, y, factor), _guide(x, y, 1 / factor)] if factor > 1 else [_guide(x, y)]
    points = []
    for pair in shown:
        place = (
            x.at(pair.across.cpu_seconds) if pair.across.is_solved else ends[0],
            y.at(pair.down.cpu_seconds) if pair.down.is_solved else ends[1],
        )
        is_true = (pair.across if pair.across.is_solved else pair.down).verdict == "true"
        says = f"{pair.across.task}: {across} {_said(pair.across)}, {down} {_said(pair.down)}"
        points.append((0 if is_true else 1, place, says))
    for number in (0, 1):
        parts.append(_series(number, "", [_point(*item) for item in points if item[0] == number]))
    parts.append(_unsolved(*ends, x, y))
    parts.append(_legend(["true", "false"], [(size[0] - 110, 14), (size[0] - 60, 14)]))
    return _svg(*size, title, parts)


def _said(record: Record) -> str:
    return f"{record.cpu_seconds:.2f} s" if record.is_solved else record.verdict


def _guide(x: Logarithmic, y: Logarithmic, factor: float = 1.0) -> str:
    """Where one side takes `factor` times as long as the other."""
    low, high = max(x.low, x.low / factor), min(x.high, x.high / factor)
    return (
        f'<line class="guide" x1="{x.at(low):.1f}" y1="{y.at(low * factor):.1f}"'
        f' x2="{x.at(high):.1f}" y2="{y.at(high * factor):.1f}"/>'
    )


def _frame(x: Linear | Logarithmic, y: Logarithmic, across: str, down: str, title: str) -> str:
    right, bottom = max(x.start, x.end), y.start
    left, top = x.start, y.end
    parts = [f'<text class="title" x="{left:.0f}" y="18">{_text(title)}</text>']
    for value in y.ticks():
        at = y.at(value)
        parts.append(f'<line class="grid" x1="{left}" y1="{at:.1f}" x2="{right}" y2="{at:.1f}"/>')
        parts.append(
            f'<text class="tick end" x="{left - 8}" y="{at + 4:.1f}">{_number(value)}</text>'
        )
    for value in x.ticks():
        at = x.at(value)
        parts.append(
            f'<line class="grid" x1="{at:.1f}" y1="{bottom}" x2="{at:.1f}" y2="{top}"/>'
            f'<text class="tick middle" x="{at:.1f}" y="{bottom + 18}">{_number(value)}</text>'
        )
    middle = (top + bottom) / 2
    parts.append(
        f'<path class="axis" d="M{left},{top} V{bottom} H{right}"/>'
        f'<text class="label middle" x="{(left + right) / 2:.0f}" y="{bottom + 40}">'
        f"{_text(across)}</text>"
        f'<text class="label middle" transform="translate(16,{middle:.0f}) rotate(-90)">'
        f"{_text(down)}</text>"
    )
    return "\n".join(parts)


def _unsolved(right: float, top: float, x: Logarithmic, y: Logarithmic) -> str:
    return (
        f'<text class="tick middle" x="{right:.0f}" y="{y.start + 34}">unsolved</text>'
        f'<text class="tick end" x="{x.start - 8}" y="{top + 4:.0f}">unsolved</text>'
    )


def _legend(names: Sequence[str], places: Sequence[tuple[float, float]]) -> str:
    parts = []
    for number, (name, (across, down)) in enumerate(zip(names, places)):
        mark = _shape(number, across, down)
        label = f'<text class="tick" x="{across + 12}" y="{down + 4}">{_text(name)}</text>'
        parts.append(f'<g class="t{number % _COLOURS}">{mark}{label}</g>')
    return f'<g class="legend">{"".join(parts)}</g>'


def _series(number: int, curve: str, points: Sequence[str]) -> str:
    return f'<g class="t{number % _COLOURS}">{curve}{"".join(points)}</g>'


def _point(number: int, place: tuple[float, float], title: str) -> str:
    return f"<g>{_shape(number, *place)}<title>{_text(title)}</title></g>"


def _shape(number: int, x: float, y: float) -> str:
    match number % 4:
        case 0:
            return f'<circle class="mark" cx="{x:.1f}" cy="{y:.1f}" r="3.2"/>'
        case 1:
            return f'<path class="mark" d="M{x:.1f},{y - 4:.1f} l4,7 h-8 z"/>'
        case 2:
            return f'<path class="mark" d="M{x - 3:.1f},{y - 3:.1f} h6 v6 h-6 z"/>'
    return f'<path class="mark" d="M{x:.1f},{y - 4.4:.1f} l4.4,4.4 l-4.4,4.4 l-4.4,-4.4 z"/>'


def _svg(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
        f' aria-label="{_text(title)}">\n{body}\n</svg>'
    )


def _number(value: float) -> str:
    return f"{value:g}" if value < 1e6 else f"{value:.0e}"


def _text(text: str) -> str:
    return html.escape(one_line(text))
