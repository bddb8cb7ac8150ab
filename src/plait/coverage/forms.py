"""A table of lines in the forms that people and tools read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from plait import __version__
from plait.coverage.table import Line, Table
from plait.report.characters import clean_line
from plait.report.fingerprint import line_hash
from plait.report.sarif import SCHEMA
from plait.report.sarif_places import uri
from plait.report.sarif_text import text_of

if TYPE_CHECKING:
    from plait.coverage.compiled import Measured

_DEAD = "dead-code"
_STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem; color: #222; background: #fff; }
h2 { font-size: 1.05rem; margin-top: 2rem; }
table.counts td, table.counts th { text-align: right; padding: 0 1rem 0 0; }
table.counts td:first-child, table.counts th:first-child { text-align: left; }
pre { margin: 0; overflow-x: auto; }
pre span { display: block; padding: 0 .5rem; white-space: pre; }
.live { background: #e3f5e3; } .dead { background: #f6dcdc; } .unknown { background: #fdf3cf; }
.number { display: inline; color: #777; padding: 0; }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #1b1b1b; } .live { background: #1e3a1e; }
  .dead { background: #4a2222; } .unknown { background: #453a14; } .number { color: #999; }
}
"""


def to_text(table: Table, *, verbose: bool) -> Iterator[str]:
    width = max([4, *(len(path) for path in table.lines)])
    yield f"{'file':<{width}}  lines   live   dead  unknown"
    for path in table.lines:
        counts = table.counts(path)
        yield f"{path:<{width}} {counts[0]:>6} {counts[1]:>6} {counts[2]:>6} {counts[3]:>8}"
    for title, rows in (("dead", table.dead), ("unknown", table.unknown)):
        if rows:
            yield f"{title}:"
            for path, first, last, why in _ranges(table, rows):
                yield f"  {path}:{first}{f'-{last}' if last > first else ''}: {why}"
    if verbose:
        for test in table.tests:
            places = ", ".join(f"{path}:{number}" for path, number in test.lines)
            yield f"test {test.number} ({test.found_by}): {places}"


def to_words(item: Measured) -> Iterator[str]:
    """How a compiled test differs from what is claimed of it; nothing if it does not."""
    for what, lines in (("does not reach", item.missing), ("reaches, though dead,", item.beyond)):
        if lines:
            places = ", ".join(f"{path}:{number}" for path, number in lines)
            yield f"compiled test {item.test} {what} {places}"
    if item.trouble:
        yield f"compiled test {item.test}: {item.trouble}"


def _ranges(table: Table, rows: dict[Line, str]) -> Iterator[tuple[str, int, int, str]]:
    """Neighbours with the same reason stand together: file, first and last line, reason."""
    for path, numbers in table.lines.items():
        begin = last = 0
        why = ""
        for number in [*numbers, 0]:
            reason = rows.get((path, number), "")
            if reason and reason == why:
                last = number
                continue
            if why:
                yield path, begin, last, why
            begin, last, why = number, number, reason


def to_json(table: Table) -> str:
    lines, live, dead, unknown = table.counts()
    return (
        json.dumps(
            {
                "plait-coverage": 1,
                "lines": lines,
                "live": live,
                "dead": dead,
                "unknown": unknown,
                "assumptions": table.assumptions,
                "tests": [
                    {
                        "number": test.number,
                        "found_by": test.found_by,
                        "first_to_reach": [list(line) for line in test.lines],
                        "schedule": json.loads(test.schedule),
                    }
                    for test in table.tests
                ],
                "files": {
                    path: [_row(table, (path, number)) for number in numbers]
                    for path, numbers in table.lines.items()
                },
            },
            indent=1,
        )
        + "\n"
    )


def _row(table: Table, line: Line) -> dict[str, object]:
    if line in table.live:
        return {"line": line[1], "is": "live", "test": table.live[line]}
    kind = "dead" if line in table.dead else "unknown"
    why = table.dead.get(line) or table.unknown.get(line, "")
    return {"line": line[1], "is": kind, "why": why}


def to_lcov(table: Table) -> str:
    """Lines that are not known to be live count as not executed."""
    rows = ["TN:plait"]
    for path, numbers in table.lines.items():
        rows.append(f"SF:{path}")
        rows += [f"DA:{number},{int((path, number) in table.live)}" for number in numbers]
        found, live, _, _ = table.counts(path)
        rows += [f"LF:{found}", f"LH:{live}", "end_of_record"]
    return "\n".join(rows) + "\n"


def to_sarif(table: Table) -> str:
    """Dead lines as notes."""
    results = [
        {
            "ruleId": _DEAD,
            "level": "note",
            "message": {"text": text_of(f"dead code: {why}")},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": uri(path)},
                        "region": {"startLine": first, "endLine": last},
                    }
                }
            ],
            "partialFingerprints": {
                "primaryLocationLineHash": line_hash(table.sources[path], first)
            },
        }
        for path, first, last, why in _ranges(table, table.dead)
    ]
    rule = {
        "id": _DEAD,
        "name": "DeadCode",
        "shortDescription": {"text": "No execution comes here"},
        "fullDescription": {
            "text": text_of(
                "In no schedule and for no inputs is this line executed, under these assumptions: "
                + ("; ".join(table.assumptions) or "none")
            )
        },
        "defaultConfiguration": {"level": "note"},
    }
    tool = {"driver": {"name": "plait", "version": __version__, "rules": [rule]}}
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": tool, "results": results}]}
    return json.dumps(log, indent=1) + "\n"


def to_html(table: Table) -> str:
    head = "<tr><th>file</th><th>lines</th><th>live</th><th>dead</th><th>unknown</th></tr>"
    counts = "".join(
        f"<tr><td>{escape(clean_line(path))}</td>"
        + "".join(f"<td>{number}</td>" for number in table.counts(path))
        + "</tr>"
        for path in table.lines
    )
    notes = "".join(f"<li>{escape(clean_line(item))}</li>" for item in table.assumptions)
    files = "".join(_source(table, path) for path in table.lines)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="generator" content="plait"><title>plait cover</title>'
        f"<style>{_STYLE}</style></head><body><h1>Lines that can be reached</h1>"
        f'<table class="counts">{head}{counts}</table>'
        '<p><span class="live">live</span>: a test reaches it. <span class="dead">dead</span>: no'
        ' execution comes here. <span class="unknown">unknown</span>: neither is shown.</p>'
        + (f"<p>Assumptions:</p><ul>{notes}</ul>" if notes else "")
        + f"{files}</body></html>\n"
    )


def _source(table: Table, path: str) -> str:
    rows = []
    known = set(table.lines[path])
    for number, text in enumerate(table.sources[path], 1):
        kind = title = ""
        if number in known:
            row = _row(table, (path, number))
            kind = str(row["is"])
            title = f"test {row['test']}" if "test" in row else str(row["why"])
        marks = f' class="{kind}" title="{escape(clean_line(title))}"' if kind else ""
        shown = escape(clean_line(text))
        rows.append(f'<span{marks}><span class="number">{number:>5} </span>{shown}</span>')
    return f"<h2>{escape(clean_line(path))}</h2><pre>{''.join(rows)}</pre>"
