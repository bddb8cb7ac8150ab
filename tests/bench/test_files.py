"""The files of a run: read back, well formed, and safe to open."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.bench.axes import Linear, Logarithmic, decades
from plait.bench.compare import compare
from plait.bench.files import read_csv, to_csv, to_json
from plait.bench.page import to_page
from plait.bench.plots import Pair, quantile_plot, scatter_plot
from plait.bench.records import VERDICTS, Record
from plait.errors import InputError
from plait.files import write_at_once
from plait.report.characters import to_bytes
from tests.bench.fakes import record

NASTY = "<script>alert(1)</script>&amp;\"'\x00\udcff\u2028]]>|,\r\n"
TEXTS = st.text(max_size=20) | st.just(NASTY)
RECORDS = st.lists(
    st.builds(
        Record,
        task=TEXTS,
        property_name=st.just("unreach-call"),
        engine=st.sampled_from(["orders", "impact", NASTY]),
        expected=st.sampled_from([True, False, None]),
        verdict=st.sampled_from(VERDICTS),
        reason=TEXTS,
        violated=st.none() | st.just("unreach-call"),
        cpu_seconds=st.floats(0, 1e6),
        memory_bytes=st.integers(0, 1 << 40),
    ),
    max_size=8,
)


def page(records: list[Record]) -> ElementTree.Element:
    text = to_page(records, {"plait": NASTY}, {"cpu": NASTY, "packages": {"z": "1"}}, 10)
    text.encode("utf-8")
    return ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>"))


@given(
    st.lists(
        st.builds(
            record,
            st.text("abc\",\n'é;", max_size=9),
            st.sampled_from(VERDICTS),
            st.sampled_from([True, False, None]),
            cpu=st.floats(0, 1e6),
            reason=st.text('ab,"', max_size=9),
        )
    )
)
def test_csv_comes_back(tmp_path_factory: pytest.TempPathFactory, records: list[Record]) -> None:
    path = tmp_path_factory.mktemp("csv") / "results.csv"
    write_at_once(path, to_bytes(to_csv(records)))
    found = read_csv(path)
    assert [replace(item, reason="") for item in found] == [
        replace(item, reason="") for item in records
    ]
    assert to_csv(found) == to_csv(records)


def test_the_status_of_another_part_comes_back(tmp_path: Path) -> None:
    item = replace(record("x", "false", False), subproperty="valid-free", violated="valid-deref")
    write_at_once(tmp_path / "r.csv", to_bytes(to_csv([item])))
    assert read_csv(tmp_path / "r.csv")[0].status == "wrong"


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n",
        "\x00",
        to_csv([record("x")]).replace("true", "maybe"),
        to_csv([record("x")]).replace("1.0", "much"),
        *(to_csv([record("x")]).replace("1.0", text) for text in ("nan", "inf", "-1.0")),
    ],
)
def test_other_tables_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(InputError, match="not a result"):
        read_csv(tmp_path / "x.csv")


def test_no_table() -> None:
    with pytest.raises(InputError, match="No such file"):
        read_csv(Path("/nowhere.csv"))


@given(RECORDS)
def test_json(records: list[Record]) -> None:
    data = json.loads(to_json(records, {"timeout": 5}, {"cores": 2}, 10, compare(records, records)))
    assert (data["jobs"], data["finished"], data["settings"]) == (10, len(records), {"timeout": 5})
    assert [row["status"] for row in data["results"]] == [item.status for item in records]


@given(RECORDS)
def test_the_page_is_well_formed_and_harmless(records: list[Record]) -> None:
    root = page(records)
    assert len(list(root.iter("script"))) == 1
    assert not [name for item in root.iter() for name in item.attrib if name.startswith("on")]
    (table,) = [item for item in root.iter("table") if item.get("id") == "tasks"]
    body = table.find("tbody")
    assert body is not None
    assert len(body) == len(records)


def test_the_page_needs_nothing_else() -> None:
    text = to_page([record("x")], {}, {}, 1)
    addresses = set(re.findall(r"https?://[^\"' ]*", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in text.replace("&#x27;", "'")
    assert not re.search(r"\ssrc=|\shref=|url\(|@import|style=", text)


def test_the_page_tells_of_everything() -> None:
    records = [
        record("good"),
        record("bad", "true", False),
        record("open", "unknown", reason="too hard"),
        record("good", engine="impact", cpu=3.0),
    ]
    old = [record("good", "unknown"), record("open")]
    text = to_page(records, {"timeout": 60.0}, {}, 6, compare(old, records))
    for part in (
        "2 of 4 solved, 1 wrong",
        "2 of 6 jobs are not finished",
        "too hard",
        "60.0",
        "Newly solved: 1",
        "Lost: 1",
        "orders before",
        "orders and impact",
    ):
        assert part in text


@given(RECORDS)
def test_plots_are_well_formed(records: list[Record]) -> None:
    root = ElementTree.fromstring(quantile_plot(records))
    solved = sum(item.is_solved for item in records)
    assert len(list(root.iter("{http://www.w3.org/2000/svg}title"))) == solved
    ElementTree.fromstring(scatter_plot([Pair(item, item) for item in records], NASTY, "b"))


def test_who_has_not_solved_it_is_at_the_far_end() -> None:
    pairs = [
        Pair(record("a", cpu=1.0), record("a", "unknown")),
        Pair(record("b", "unknown"), record("b", "unknown")),
    ]
    text = scatter_plot(pairs, "one", "other")
    assert "folder/a.yml: one 1.00 s, other unknown" in text
    assert "folder/b.yml" not in text


@given(st.lists(st.floats(0, 1e9)), st.floats(0, 1e9))
def test_axes_of_powers(values: list[float], value: float) -> None:
    low, high = decades(values)
    axis = Logarithmic(low, high, 100, 0)
    assert 0 <= axis.at(value) <= 100
    assert axis.ticks()[0] == pytest.approx(low)
    assert axis.ticks()[-1] == pytest.approx(high)
    assert all(low * 0.9999 <= max(item, 0.01) <= high * 1.0001 for item in values)


@given(st.integers(1, 10**7))
def test_axes_of_numbers(high: int) -> None:
    axis = Linear(high, 0, 100)
    ticks = axis.ticks()
    assert 1 <= len(ticks) <= 10
    assert all(item == int(item) and 0 <= axis.at(item) <= 100 for item in ticks)
