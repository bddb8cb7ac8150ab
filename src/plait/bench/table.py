"""The table by folder and engine as Markdown, which is readable as text too."""

from __future__ import annotations

from collections.abc import Sequence

from plait.bench.records import Record
from plait.bench.scores import TOTAL, Tally, tallies
from plait.report.characters import one_line

HEAD = (
    "folder",
    "engine",
    "tasks",
    "solved",
    "true",
    "false",
    "wrong",
    "unknown",
    "score",
    "CPU median",
    "CPU total",
)
_NAMES = 2  # columns with names, on the left


def to_markdown(records: Sequence[Record]) -> str:
    rows = [HEAD, *(cells(row) for row in tallies(records))]
    widths = [max(3, *(len(_escaped(row[n])) for row in rows)) for n in range(len(HEAD))]
    rule = [
        "-" * width if n < _NAMES else "-" * (width - 1) + ":" for n, width in enumerate(widths)
    ]
    lines = [_line(HEAD, widths), f"| {' | '.join(rule)} |"]
    return "\n".join([*lines, *(_line(row, widths) for row in rows[1:])]) + "\n"


def cells(row: Tally) -> tuple[str, ...]:
    return (
        row.folder or ".",
        row.engine,
        str(row.tasks),
        str(row.solved),
        str(row.solved_true),
        str(row.solved_false),
        str(row.wrong),
        str(row.unknown),
        str(row.score),
        "" if row.cpu_median is None else seconds(row.cpu_median),
        seconds(row.cpu_total),
    )


def is_total(row: Tally) -> bool:
    return row.folder == TOTAL


def seconds(value: float) -> str:
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{digits}f} s"


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    texts = [
        _escaped(text).ljust(width) if n < _NAMES else text.rjust(width)
        for n, (text, width) in enumerate(zip(row, widths))
    ]
    return f"| {' | '.join(texts)} |"


def _escaped(text: str) -> str:
    return one_line(text).replace("\\", "\\\\").replace("|", "\\|")
