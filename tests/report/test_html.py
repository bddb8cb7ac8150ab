"""The page as a text: complete, harmless, and in need of nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from tests.report import samples

from plait.evidence.result import Result
from plait.report.characters import clean
from plait.report.html import to_html
from plait.report.html.data import page_data

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """The elements of a page, and whether each one is closed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []  # of the scripts and the style
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("script", "style", "title"):
            self.texts.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, text: str) -> None:
        if self.open and self.open[-1] in ("script", "style", "title"):
            self.texts[-1] += text


def _embedded(text: str) -> dict[str, Any]:
    _, _, data, _ = Page(text).texts
    found: dict[str, Any] = json.loads(data)
    return found


@pytest.mark.parametrize("name", [*samples.ALL])
def test_pages_are_well_formed_and_self_contained(name: str) -> None:
    text = to_html(samples.ALL[name]())
    page = Page(text)
    assert page.open == []
    tags = [tag for tag, _ in page.elements]
    assert tags.count("script") == 2 and tags.count("style") == 1
    assert not {"link", "img", "iframe", "object", "embed", "base", "form"} & set(tags)
    for _, attributes in page.elements:
        assert not {"src", "href", "srcset", "action", "style"} & set(attributes)
        assert not any(attribute.startswith("on") for attribute in attributes)
    assert "@import" not in text and "url(http" not in text
    addresses = set(re.findall(r"https?://[^\s\"'`)]*", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}, "that one is a name, nothing is loaded"


def test_the_policy_allows_the_page_itself_and_nothing_else() -> None:
    page = Page(to_html(samples.lost_update()))
    policy = next(
        attributes["content"]
        for _, attributes in page.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    _, style, _, script = page.texts
    rules = dict(rule.strip().split(" ", 1) for rule in str(policy).split(";"))
    assert rules.pop("default-src") == rules.pop("base-uri") == rules.pop("form-action") == "'none'"
    assert rules.pop("style-src") == _hash(style)
    assert rules.pop("script-src") == _hash(script)
    assert rules == {}


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_hostile_texts_are_data_and_nothing_else() -> None:
    result = samples.hostile()
    text = to_html(result)
    text.encode("utf-8")
    plain = to_html(samples.lost_update())
    tags = [tag for tag, _ in Page(text).elements]
    assert tags == [tag for tag, _ in Page(plain).elements]
    data = _embedded(text)
    assert data["files"] == [clean(item) for item in result.files]
    assert data["sources"][0]["lines"] == [clean(line) for line in result.sources[0].lines]
    assert data["violation"]["message"] == clean(samples.HOSTILE[3])
    assert data["statistics"]["nan"] == "nan" and data["statistics"]["list"] == [1, {"a": "inf"}]


def test_what_is_filled_in_is_not_filled_in_again() -> None:
    result = Result("1", ["{{script}}.c"], "main", "LP64", [], "orders", "unknown", "{{data}}")
    assert "<title>unknown: {{script}}.c</title>" in to_html(result)


def test_rows_are_packed_without_loss() -> None:
    result = samples.lost_update()
    data = page_data(result)
    assert len(data["trace"]) == len(result.trace)
    for packed, row in zip(data["trace"], result.trace):
        step, thread, place, changes, operation, depth, branch, inputs, entered, returned = packed
        assert [step, thread, depth, branch] == [row.step, row.thread, row.depth, row.branch]
        assert [entered, returned] == [row.entered, row.returned]
        assert [item.rpartition(" = ")[2] for item in inputs] == row.inputs
        assert all(item.startswith("__VERIFIER_nondet_int() = ") for item in inputs)
        where = row.place
        assert data["places"][place] == [
            where.file,
            where.line,
            where.column,
            where.text,
            where.function,
        ]
        assert [(data["names"][name], value, flags) for name, value, flags in changes] == [
            (change.name, change.value, change.read + 2 * change.shared) for change in row.changes
        ]
        assert (operation is None) == (row.operation is None)
    assert len(data["places"]) < len(result.trace), "places that repeat are listed once"


def test_a_result_without_anything_has_a_page_as_well() -> None:
    empty = Result("1", [], "main", "LP64", [], "explore", "unknown", "")
    assert Page(to_html(empty)).open == []


def test_the_size_of_a_page_grows_slowly() -> None:
    short, long = (len(to_html(samples.long_trace(length))) for length in (10, 5000))
    assert long - short < 5000 * 100
