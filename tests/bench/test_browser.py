"""The summary in a real browser: sorted and filtered as a reader does."""

from __future__ import annotations

from pathlib import Path

import pytest

from browser import Browser, program
from plait.bench.page import to_page
from tests.bench.fakes import record

pytestmark = pytest.mark.skipif(program() is None, reason="no browser: install chromium")

SHOWN = "[...document.querySelectorAll('#tasks tbody tr')].filter(r => !r.hidden).map(r => r.cells[0].textContent.slice(7, -4) + ' ' + r.cells[2].textContent).join(', ')"


def test_rows_are_sorted_and_filtered(tmp_path: Path) -> None:
    records = [
        record("b", cpu=10.0),
        record("a", "false", True, cpu=9.0),
        record("c", "unknown", False, "impact", 2.5, reason="<b>too & hard</b>"),
    ]
    page = tmp_path / "summary.html"
    page.write_text(to_page(records, {}, {}, 3), encoding="utf-8")
    browser = Browser()
    try:
        browser.size(1200, 1600)
        browser.open(page)
        assert browser.run(SHOWN) == "b orders, a orders, c impact"
        browser.click("#tasks th:nth-child(8) button")
        assert browser.run(SHOWN) == "c impact, a orders, b orders"
        browser.click("#tasks th:nth-child(8) button")
        assert browser.run(SHOWN) == "b orders, a orders, c impact"
        browser.click("#tasks th:nth-child(1) button")
        assert browser.run(SHOWN) == "a orders, b orders, c impact"
        type_into = "(() => {{ const field = document.getElementById('text'); field.value = '{}'; field.dispatchEvent(new Event('input')); }})()"
        browser.run(type_into.format("HARD too"))
        assert browser.run(SHOWN) == "c impact"
        browser.run(type_into.format(""))
        choose = "(() => { const field = document.querySelector('select[aria-label=status]'); field.value = 'wrong'; field.dispatchEvent(new Event('change')); })()"
        browser.run(choose)
        assert browser.run(SHOWN) == "a orders"
        assert browser.run("document.getElementById('count').textContent") == "1 of 3"
        assert browser.messages == []
    finally:
        browser.close()
