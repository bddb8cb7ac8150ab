"""The page: template, style and script are files of their own and are put into one text.

What comes from the program (names, source text, values) gets into the page in two ways only: as
JSON in a script element that is not executed, with every character that could end it escaped, and
as escaped text in the title and for readers without JavaScript. The page's script inserts it as
text, never as markup. The policy at the top allows exactly the page's own script and style, by
their hashes, and no request to anywhere; so even a mistake in this could not send anything out.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from functools import cache
from pathlib import Path

from plait.evidence.result import Result
from plait.report.characters import clean
from plait.report.html.data import page_data

_HERE = Path(__file__).parent

# In the order in which they build on each other.
_SCRIPTS = (
    "dom.js",
    "trace.js",
    "player.js",
    "verdict.js",
    "violation.js",
    "lanes.js",
    "source.js",
    "variables.js",
    "orders.js",
    "invariants.js",
    "tree.js",
    "statistics.js",
    "main.js",
)
_DATA_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def to_html(result: Result) -> str:
    """The report, to be written as UTF-8."""
    parts = {
        "policy": _policy(),
        "title": _text(_title(result)),
        "verdict": _text(result.verdict),
        "reason": _text(result.reason),
        "style": _style(),
        "data": _json(result),
        "script": _script(),
    }
    # One pass: what is filled in is not looked at again.
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], _read("page.html"))


def _title(result: Result) -> str:
    names = ", ".join(path.rsplit("/", 1)[-1] for path in result.files)
    return f"{result.verdict}: {names}" if names else result.verdict


def _text(text: str) -> str:
    return html.escape(clean(text))


def _json(result: Result) -> str:
    """ASCII only, so that line separators and lone surrogates are escaped as well."""
    text = json.dumps(page_data(result), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.translate(_DATA_ESCAPES)


@cache
def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


@cache
def _style() -> str:
    return "\n" + _read("style.css")


@cache
def _script() -> str:
    return '\n"use strict";\n{\n' + "\n".join(_read(name) for name in _SCRIPTS) + "}\n"


@cache
def _policy() -> str:
    return (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"script-src '{_hash(_script())}'; style-src '{_hash(_style())}'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")
