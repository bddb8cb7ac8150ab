"""The scores of SV-COMP, and how many tasks each engine has solved in each folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from plait.bench.records import CORRECT, UNJUDGED, UNKNOWN, WRONG, Record
from plait.data import dataclass

TOTAL = "all"
_CORRECT = {"true": 2, "false": 1}
_WRONG = {"true": -32, "false": -16}


def score(record: Record) -> int:
    match record.status:
        case "correct":
            return _CORRECT[record.verdict]
        case "wrong":
            return _WRONG[record.verdict]
    return 0


@dataclass(frozen=True, slots=True)
class Tally:
    """Of one engine in one folder. The median is that of solved tasks, None if there are none;
    `cpu_total` is that of all tasks."""

    folder: str
    engine: str
    tasks: int
    solved_true: int
    solved_false: int
    wrong: int
    unknown: int
    unjudged: int
    score: int
    cpu_median: float | None
    cpu_total: float

    @property
    def solved(self) -> int:
        return self.solved_true + self.solved_false


def tally(folder: str, engine: str, records: Iterable[Record]) -> Tally:
    rows = list(records)
    solved = [row for row in rows if row.status == CORRECT]
    return Tally(
        folder=folder,
        engine=engine,
        tasks=len(rows),
        solved_true=sum(row.verdict == "true" for row in solved),
        solved_false=sum(row.verdict == "false" for row in solved),
        wrong=sum(row.status == WRONG for row in rows),
        unknown=sum(row.status == UNKNOWN for row in rows),
        unjudged=sum(row.status == UNJUDGED for row in rows),
        score=sum(score(row) for row in rows),
        cpu_median=median(row.cpu_seconds for row in solved) if solved else None,
        cpu_total=sum(row.cpu_seconds for row in rows),
    )


def engines_of(records: Iterable[Record]) -> list[str]:
    """In the order in which they first appear."""
    return list(dict.fromkeys(record.engine for record in records))


def tallies(records: Sequence[Record]) -> list[Tally]:
    """For each folder and engine, and at the end for each engine over all folders."""
    engines = engines_of(records)
    folders = sorted({record.folder for record in records})
    rows = [
        tally(folder, engine, found)
        for folder in folders
        for engine in engines
        if (found := [r for r in records if r.folder == folder and r.engine == engine])
    ]
    for engine in engines:
        rows.append(tally(TOTAL, engine, (r for r in records if r.engine == engine)))
    return rows


def quantiles(records: Iterable[Record]) -> list[tuple[int, Record]]:
    """The n-th fastest correct result, for each n from 1."""
    solved = sorted(
        (record for record in records if record.is_solved),
        key=lambda record: (record.cpu_seconds, record.key),
    )
    return list(enumerate(solved, 1))
