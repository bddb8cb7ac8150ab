"""The summary as one page without any other file: tables, plots, and all tasks with reasons.

Everything is in the page as escaped text; the script only sorts and hides rows. The policy at the
top allows exactly this script and this style, and no request to anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

from plait.bench.compare import Comparison
from plait.bench.plots import Pair, quantile_plot, scatter_plot
from plait.bench.records import Key, Record
from plait.bench.scores import engines_of, score, tallies
from plait.bench.suite import Flaw
from plait.bench.table import HEAD, cells, is_total
from plait.report.characters import one_line

_HERE = Path(__file__).parent
_NAME_COLUMNS = 2
_WRONG_COLUMN = HEAD.index("wrong")
_MOST_SCATTER_PLOTS = 6
_TASK_HEAD = (
    ("task", False),
    ("property", False),
    ("engine", False),
    ("expected", False),
    ("verdict", False),
    ("status", False),
    ("score", True),
    ("CPU (s)", True),
    ("wall (s)", True),
    ("MB", True),
    ("winner", False),
    ("reason", False),
)
_FILTERS = {"engine": 2, "expected": 3, "verdict": 4, "status": 5}


def to_page(
    records: Sequence[Record],
    settings: dict[str, Any],
    machine: dict[str, Any],
    total: int,
    comparisons: Sequence[Comparison] = (),
    flaws: Sequence[Flaw] = (),
    pages: Mapping[Key, str] | None = None,
) -> str:
    """`pages` has the address of the page about a job, where there is one."""
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"script-src '{_hash(_read('summary.js'))}'; style-src '{_hash(_read('summary.css'))}'"
    )
    missing = total - len(records)
    incomplete = f"<p>{missing} of {total} jobs are not finished.</p>" if missing else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta http-equiv="Content-Security-Policy" content="{_text(policy)}" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<meta name="generator" content="plait" />
<title>{_text(_title(records))}</title>
<style>{_read("summary.css")}</style>
</head>
<body>
<main>
<h1>{_text(_title(records))}</h1>
{incomplete}
{_facts(settings, machine)}
{_flaws(flaws)}
<h2>By folder and engine</h2>
{_tallies(records)}
{"".join(map(_comparison, comparisons))}
<h2>Plots</h2>
<div class="plots">{_figures(records, comparisons)}</div>
<h2>Tasks</h2>
{_filters(records)}
{_tasks(records, pages or {})}
</main>
<script>{_read("summary.js")}</script>
</body>
</html>
"""


def _title(records: Sequence[Record]) -> str:
    wrong = sum(record.status == "wrong" for record in records)
    solved = sum(record.is_solved for record in records)
    return f"plait bench: {solved} of {len(records)} solved, {wrong} wrong"


def _facts(settings: dict[str, Any], machine: dict[str, Any]) -> str:
    facts = _flat(settings) | _flat(machine)
    rows = (
        f"<div><dt>{_text(name.replace('_', ' '))}</dt><dd>{_text(str(value))}</dd></div>"
        for name, value in facts.items()
        if value is not None
    )
    return f"<dl>{''.join(rows)}</dl>"


def _flaws(flaws: Sequence[Flaw]) -> str:
    if not flaws:
        return ""
    rows = "".join(f"<li>{_text(flaw.reason)}</li>" for flaw in flaws)
    return f"<h2>Task definitions that cannot be used: {len(flaws)}</h2><ul>{rows}</ul>"


def _flat(data: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in data.items():
        if name == "nodes":
            flat[name] = ", ".join(f"{item['name']} ({item['cpus']} CPUs)" for item in value)
        else:
            flat |= value if isinstance(value, dict) else {name: value}
    return flat


def _tallies(records: Sequence[Record]) -> str:
    head = "".join(_head(name, n >= _NAME_COLUMNS) for n, name in enumerate(HEAD))
    rows = []
    for row in tallies(records):
        texts = []
        for n, text in enumerate(cells(row)):
            is_bad = n == _WRONG_COLUMN and row.wrong > 0
            kind = "" if n < _NAME_COLUMNS else "number bad" if is_bad else "number"
            texts.append(_cell(text, kind))
        kind = ' class="total"' if is_total(row) else ""
        rows.append(f"<tr{kind}>{''.join(texts)}</tr>")
    return _table(head, rows)


def _comparison(item: Comparison) -> str:
    ratio = "" if item.cpu_ratio is None else f", CPU time x{item.cpu_ratio:.2f} (median)"
    parts = [
        f"<h2>{_text(item.engine)}: compared with the earlier run</h2>"
        f"<p>{item.common} tasks in common, score {item.score_before} to {item.score_now}"
        f"{_text(ratio)}</p>"
    ]
    for title, changes in (
        ("Newly solved", item.gained),
        ("Lost", item.lost),
        ("Other verdict", item.changed),
    ):
        rows = "".join(f"<li>{_text(str(change))}</li>" for change in changes)
        parts.append(f"<h3>{title}: {len(changes)}</h3>" + (f"<ul>{rows}</ul>" if rows else ""))
    return "".join(parts)


def _figures(records: Sequence[Record], comparisons: Sequence[Comparison]) -> str:
    return "".join(f"<figure>{plot}</figure>" for plot in _plots(records, comparisons))


def _plots(records: Sequence[Record], comparisons: Sequence[Comparison]) -> Iterable[str]:
    yield quantile_plot(records)
    for item in comparisons:
        pairs = [Pair(change.old, change.new) for change in item.both + item.gained + item.lost]
        yield scatter_plot(pairs, f"{item.engine} before", f"{item.engine} now")
    by_engine = {
        engine: {(r.task, r.property_name): r for r in records if r.engine == engine}
        for engine in engines_of(records)
    }
    for one, other in list(combinations(by_engine, 2))[:_MOST_SCATTER_PLOTS]:
        common = by_engine[one].keys() & by_engine[other].keys()
        pairs = [Pair(by_engine[one][key], by_engine[other][key]) for key in sorted(common)]
        yield scatter_plot(pairs, one, other)


def _filters(records: Sequence[Record]) -> str:
    values: dict[str, Callable[[Record], str]] = {
        "engine": lambda record: record.engine,
        "expected": _expected,
        "verdict": lambda record: record.verdict,
        "status": lambda record: record.status,
    }
    parts = ['<input id="text" type="search" placeholder="words" aria-label="words in a row" />']
    for name, column in _FILTERS.items():
        options = sorted({values[name](record) for record in records} - {""})
        listed = "".join(f"<option>{_text(value)}</option>" for value in options)
        parts.append(
            f'<select data-column="{column}" aria-label="{name}">'
            f'<option value="">any {name}</option>{listed}</select>'
        )
    return f'<div class="filters">{"".join(parts)}<span id="count" class="note"></span></div>'


def _tasks(records: Sequence[Record], pages: Mapping[Key, str]) -> str:
    head = "".join(
        _head(name, is_number, f'<button type="button">{name}</button>')
        for name, is_number in _TASK_HEAD
    )
    return _table(head, (_task(record, pages) for record in records), ' id="tasks"')


def _task(record: Record, pages: Mapping[Key, str]) -> str:
    said = record.verdict if record.violated is None else f"{record.verdict} ({record.violated})"
    cells = (
        _linked(_cell(record.task, "task"), pages.get(record.key)),
        _cell(record.property_name),
        _cell(record.engine),
        _cell(_expected(record)),
        _cell(record.verdict, record.status, said),
        _cell(record.status, record.status),
        _cell(str(score(record)), "number"),
        _cell(f"{record.cpu_seconds:.2f}", "number"),
        _cell(f"{record.wall_seconds:.2f}", "number"),
        _cell(f"{record.memory_bytes / 1e6:.0f}", "number"),
        _cell(record.winner),
        _cell(record.reason, "reason"),
    )
    return f"<tr>{''.join(cells)}</tr>"


def _cell(text: str, kind: str = "", title: str = "") -> str:
    attributes = f' class="{kind}"' if kind else ""
    attributes += f' title="{_text(title)}"' if title else ""
    return f"<td{attributes}>{_text(text)}</td>"


def _linked(cell: str, address: str | None) -> str:
    if address is None:
        return cell
    start = cell.index(">") + 1
    end = cell.rindex("</td>")
    return f'{cell[:start]}<a href="{html.escape(address)}">{cell[start:end]}</a>{cell[end:]}'


def _expected(record: Record) -> str:
    return "" if record.expected is None else str(record.expected).lower()


def _head(name: str, is_number: bool, content: str | None = None) -> str:
    kind = ' class="number"' if is_number else ""
    return f'<th scope="col"{kind}>{_text(name) if content is None else content}</th>'


def _table(head: str, rows: Iterable[str], attributes: str = "") -> str:
    body = "\n".join(rows)
    return (
        f'<div class="scroll"><table{attributes}><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _text(text: str) -> str:
    return html.escape(one_line(text))


@cache
def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")
