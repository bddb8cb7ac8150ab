"""Scores as in SV-COMP, quantiles, the comparison of two runs."""

from __future__ import annotations

from dataclasses import replace
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.bench.compare import compare, lines
from plait.bench.records import VERDICTS, Record
from plait.bench.scores import TOTAL, quantiles, score, tallies
from plait.bench.table import to_markdown
from tests.bench.fakes import record

RECORDS = st.lists(
    st.builds(
        lambda folder, number, verdict, expected, engine, cpu: Record(
            f"{folder}/{number}.yml", "unreach-call", engine, expected, verdict, cpu_seconds=cpu
        ),
        st.sampled_from(["a", "b|c", ""]),
        st.integers(0, 30),
        st.sampled_from(VERDICTS),
        st.sampled_from([True, False, None]),
        st.sampled_from(["orders", "impact"]),
        st.floats(0, 1000),
    ),
    max_size=40,
    unique_by=lambda item: item.key,
)


@pytest.mark.parametrize(
    ("verdict", "expected", "status", "points"),
    [
        ("true", True, "correct", 2),
        ("false", False, "correct", 1),
        ("false", True, "wrong", -16),
        ("true", False, "wrong", -32),
        ("unknown", True, "unknown", 0),
        ("error", False, "unknown", 0),
        ("true", None, "unjudged", 0),
    ],
)
def test_points(verdict: str, expected: bool | None, status: str, points: int) -> None:
    item = record("x", verdict, expected)
    assert (item.status, score(item)) == (status, points)


def test_another_part_of_the_property() -> None:
    item = replace(record("x", "false", False), subproperty="valid-free", violated="valid-deref")
    assert (item.status, score(item)) == ("wrong", -16)
    assert replace(item, violated="valid-free").status == "correct"
    assert replace(item, violated=None).status == "correct"


@given(RECORDS)
def test_tallies_add_up(records: list[Record]) -> None:
    rows = tallies(records)
    for engine in {item.engine for item in records}:
        (total,) = [row for row in rows if row.folder == TOTAL and row.engine == engine]
        parts = [row for row in rows if row.folder != TOTAL and row.engine == engine]
        for name in ("tasks", "solved_true", "solved_false", "wrong", "unknown", "score"):
            assert getattr(total, name) == sum(getattr(row, name) for row in parts)
    for row in rows:
        assert row.tasks == row.solved + row.wrong + row.unknown + row.unjudged
        assert -32 * row.wrong <= row.score <= 2 * row.solved
    assert sum(row.score for row in rows if row.folder == TOTAL) == sum(map(score, records))


@given(RECORDS)
def test_quantiles(records: list[Record]) -> None:
    points = quantiles(records)
    times = [item.cpu_seconds for _, item in points]
    assert [number for number, _ in points] == list(range(1, len(points) + 1))
    assert times == sorted(item.cpu_seconds for item in records if item.is_solved)
    if times:
        assert times[(len(times) - 1) // 2] <= median(times) <= times[len(times) // 2]


@given(RECORDS)
def test_the_table_has_one_line_for_each_row(records: list[Record]) -> None:
    text = to_markdown(records).splitlines()
    assert len(text) == 2 + len(tallies(records))
    assert len({line.replace("\\|", "").count("|") for line in text}) == 1
    assert len(set(map(len, text))) == 1


@given(RECORDS)
def test_nothing_has_changed_since_now(records: list[Record]) -> None:
    for item in compare(records, records):
        assert item.gained == item.lost == item.changed == []
        assert item.cpu_ratio in (None, 1.0)
        assert item.score_before == item.score_now


def test_changes() -> None:
    old = [
        record("gained", "unknown"),
        record("lost", "true"),
        record("faster", "true", cpu=4.0),
        record("slower", "true", cpu=1.0),
        record("same", "true", cpu=0.0001),
        record("other", "unknown", None),
        record("gone"),
    ]
    new = [
        record("gained", "true"),
        record("lost", "error", reason="it fell"),
        record("faster", "true", cpu=1.0),
        record("slower", "true", cpu=3.0),
        record("same", "true", cpu=0.002),
        record("other", "true", None),
        record("added"),
    ]
    (item,) = compare(old, new)
    assert [change.new.task for change in item.gained] == ["folder/gained.yml"]
    assert [change.new.task for change in item.lost] == ["folder/lost.yml"]
    assert [change.new.task for change in item.changed] == ["folder/other.yml"]
    assert item.cpu_ratio == 1.0
    assert (item.common, item.score_before, item.score_now) == (6, 8, 8)
    text = "\n".join(lines(item))
    assert "folder/lost.yml unreach-call: true -> error (it fell)" in text
    assert "newly solved: 1" in text


def test_a_new_engine_is_compared_with_the_only_old_one() -> None:
    (item,) = compare([record("a", engine="orders")], [record("a", engine="auto", cpu=2.0)])
    assert (item.common, item.cpu_ratio) == (1, 2.0)
    other = [record("a", engine="impact"), record("a", engine="orders")]
    items = compare([record("a", engine="orders")], other)
    assert [(item.engine, item.common) for item in items] == [("impact", 0), ("orders", 1)]
    assert list(lines(items[0])) == ["impact: no task in common with the earlier run"]


def test_many_changes_are_not_all_printed() -> None:
    names = [str(number) for number in range(50)]
    (item,) = compare([record(n, "unknown") for n in names], [record(n) for n in names])
    text = list(lines(item))
    assert len(text) < 30
    assert text[-1] == "    and 30 more"
