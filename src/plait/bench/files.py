"""The files of a run: rows for spreadsheets, all of it for programs."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plait.bench.compare import Change, Comparison
from plait.bench.records import VERDICTS, Record, to_plain
from plait.bench.scores import score, tallies
from plait.bench.suite import Flaw
from plait.errors import InputError
from plait.files import read_regular
from plait.report.characters import one_line

COLUMNS = (
    "task",
    "folder",
    "property",
    "expected",
    "engine",
    "verdict",
    "violated",
    "status",
    "score",
    "cpu_seconds",
    "wall_seconds",
    "memory_bytes",
    "winner",
    "reason",
)
_EXPECTED = {True: "true", False: "false", None: ""}


def to_csv(records: Sequence[Record]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for record in records:
        writer.writerow(
            (
                record.task,
                record.folder,
                record.property_name,
                _EXPECTED[record.expected],
                record.engine,
                record.verdict,
                record.violated or "",
                record.status,
                score(record),
                record.cpu_seconds,
                record.wall_seconds,
                record.memory_bytes,
                record.winner,
                one_line(record.reason),
            )
        )
    return text.getvalue()


def read_csv(path: Path) -> list[Record]:
    """The results of an earlier run, whatever columns later versions may add."""
    try:
        text = read_regular(path).decode("utf-8", "surrogateescape")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    rows = csv.DictReader(io.StringIO(text, newline=""), restval="")
    try:
        missing = set(COLUMNS) - set(rows.fieldnames or ())
        if missing:
            raise ValueError(f"no column '{min(missing)}'")
        return [_record(row) for row in rows]
    except (KeyError, ValueError, TypeError, csv.Error) as error:
        place = f"line {rows.line_num}"
        raise InputError(f"{path}: {place}: not a result of `plait bench` ({error})") from None


def _record(row: dict[str, str]) -> Record:
    if row["verdict"] not in VERDICTS:
        raise ValueError(f"verdict '{row['verdict']}'")
    return Record(
        task=row["task"],
        property_name=row["property"],
        engine=row["engine"],
        expected={"true": True, "false": False, "": None}[row["expected"]],
        verdict=row["verdict"],
        reason=row["reason"],
        violated=row["violated"] or None,
        # A status that says otherwise is one of a part of the property.
        subproperty="another" if _is_other_part(row) else None,
        winner=row["winner"],
        cpu_seconds=_number(row, "cpu_seconds"),
        wall_seconds=_number(row, "wall_seconds"),
        memory_bytes=int(_number(row, "memory_bytes")),
    )


def _number(row: dict[str, str], column: str) -> float:
    number = float(row[column])
    if not 0 <= number < math.inf:
        raise ValueError(f"{column} {row[column]}")
    return number


def _is_other_part(row: dict[str, str]) -> bool:
    return row["verdict"] == row["expected"] == "false" and row["status"] == "wrong"


def to_json(
    records: Sequence[Record],
    settings: dict[str, Any],
    machine: dict[str, Any],
    total: int,
    comparisons: Sequence[Comparison] = (),
    flaws: Sequence[Flaw] = (),
) -> str:
    data = {
        "format": 1,
        "settings": settings,
        "machine": machine,
        "jobs": total,
        "finished": len(records),
        "tallies": [
            {name: getattr(row, name) for name in row.__slots__} for row in tallies(records)
        ],
        "unusable": [{"file": flaw.path, "reason": flaw.reason} for flaw in flaws],
        "comparison": [_comparison(item) for item in comparisons],
        "results": [
            to_plain(record) | {"status": record.status, "score": score(record)}
            for record in records
        ],
    }
    return json.dumps(data, indent=1) + "\n"


def _comparison(item: Comparison) -> dict[str, Any]:
    return {
        "engine": item.engine,
        "common": item.common,
        "newly_solved": _names(item.gained),
        "lost": _names(item.lost),
        "changed": _names(item.changed),
        "cpu_ratio_median": item.cpu_ratio,
        "score_before": item.score_before,
        "score_now": item.score_now,
    }


def _names(changes: Sequence[Change]) -> list[dict[str, str]]:
    return [{"task": item.new.task, "property": item.new.property_name} for item in changes]
