"""The list of library functions in the documentation is the one of the models."""

from __future__ import annotations

from list_library import BEGIN, DOCUMENT, END, listing, renewed


def test_the_document_is_up_to_date() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert BEGIN in text and END in text
    assert renewed(text) == text, "run tools/list_library.py"


def test_what_the_list_says() -> None:
    rows = listing().splitlines()
    assert any(row.startswith("| `string.c` |") and "`memcpy`" in row for row in rows)
    [recv] = [row for row in rows if "`recv`" in row and "argument" in row]
    assert "| -1 to argument 3 |" in recv and "as many bytes as the result says" in recv
    assert any("`fork`" in row and "processes are not modelled" in row for row in rows)
