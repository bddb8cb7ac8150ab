"""What has changed since an earlier run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from plait.bench.records import Record, label
from plait.bench.scores import engines_of, score
from plait.data import dataclass
from plait.report.characters import one_line

_SHORTEST = 0.01  # CPU seconds: below it a ratio says nothing
_MOST_NAMES = 20


@dataclass(frozen=True, slots=True)
class Change:
    """The same job before and now."""

    old: Record
    new: Record

    def __str__(self) -> str:
        new = self.new
        reason = "" if new.is_solved or not new.reason else f" ({one_line(new.reason)})"
        name = label((new.task, new.property_name))
        return f"{name}: {self.old.verdict} -> {new.verdict}{reason}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Of one engine, on the tasks that both runs have. `changed` are verdicts that differ though
    neither solved less nor more: between wrong ones, and those without an expected verdict.
    `cpu_ratio` is the median of new by old of tasks that were solved in both."""

    engine: str
    common: int
    gained: list[Change]
    lost: list[Change]
    changed: list[Change]
    both: list[Change]
    cpu_ratio: float | None
    score_before: int
    score_now: int


def compare(old: Sequence[Record], new: Sequence[Record]) -> list[Comparison]:
    """For each engine of the new run. An engine that alone was run, and another that alone was run
    before, are compared with each other."""
    before = {record.key: record for record in old}
    names = engines_of(new)
    others = engines_of(old)
    renamed = {names[0]: others[0]} if len(names) == len(others) == 1 else {}
    return [_compare(engine, renamed.get(engine, engine), before, new) for engine in names]


def _compare(
    engine: str, old_engine: str, before: dict[tuple[str, str, str], Record], new: Sequence[Record]
) -> Comparison:
    pairs = [
        Change(before[key], record)
        for record in new
        if record.engine == engine
        and (key := (record.task, record.property_name, old_engine)) in before
    ]
    both = [item for item in pairs if item.old.is_solved and item.new.is_solved]
    ratios = [
        max(item.new.cpu_seconds, _SHORTEST) / max(item.old.cpu_seconds, _SHORTEST) for item in both
    ]
    return Comparison(
        engine=engine,
        common=len(pairs),
        gained=[item for item in pairs if item.new.is_solved and not item.old.is_solved],
        lost=[item for item in pairs if item.old.is_solved and not item.new.is_solved],
        changed=[
            item
            for item in pairs
            if item.old.is_solved == item.new.is_solved and item.old.verdict != item.new.verdict
        ],
        both=both,
        cpu_ratio=median(ratios) if ratios else None,
        score_before=sum(score(item.old) for item in pairs),
        score_now=sum(score(item.new) for item in pairs),
    )


def lines(comparison: Comparison) -> Iterator[str]:
    """For people, at the end of a run."""
    item = comparison
    if not item.common:
        yield f"{item.engine}: no task in common with the earlier run"
        return
    ratio = "" if item.cpu_ratio is None else f"; CPU time x{item.cpu_ratio:.2f} (median)"
    yield (
        f"{item.engine}: {item.common} tasks in common, score {item.score_before} ->"
        f" {item.score_now}{ratio}"
    )
    for title, changes in (
        ("newly solved", item.gained),
        ("lost", item.lost),
        ("other verdict", item.changed),
    ):
        if changes:
            yield f"  {title}: {len(changes)}"
            yield from (f"    {change}" for change in changes[:_MOST_NAMES])
            if len(changes) > _MOST_NAMES:
                yield f"    and {len(changes) - _MOST_NAMES} more"
