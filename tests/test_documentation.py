"""The documentation: the picture and the table of the layers are those of `tools/layers.toml`, and
the index names all pages."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import draw_layers

ROOT = Path(__file__).parents[1]
LAYERS = tomllib.loads((ROOT / "tools" / "layers.toml").read_text("utf-8"))["layers"]


def test_the_picture_is_up_to_date() -> None:
    committed = (ROOT / "docs" / "layers.svg").read_text("utf-8")
    assert committed == draw_layers.picture(LAYERS), "run tools/draw_layers.py"


def test_the_table_is_up_to_date() -> None:
    document = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    assert document == draw_layers.with_permissions(document, LAYERS), "run tools/draw_layers.py"
    for name in LAYERS.keys() - {"engines"}:  # a folder of folders
        assert f"\n| `{name.replace('.', '/')}` |" in document


def test_the_index_names_all_pages() -> None:
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", index))
    assert linked == {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}


def test_an_arrow_that_others_imply_is_left_out() -> None:
    layers = {"low": [], "middle": ["low"], "high": ["low", "middle"], "other": ["low"]}
    assert draw_layers.reduced(layers) == {**layers, "high": ["middle"]}
    assert draw_layers.rows_of(layers) == {"low": 0, "middle": 1, "high": 2, "other": 1}


def test_a_long_arrow_passes_between_the_boxes() -> None:
    layers = {"low": [], "work": [], "middle": ["low"], "high": ["middle", "work"]}
    drawn = draw_layers.picture(layers)
    (passing,) = (
        line for line in drawn.splitlines() if line.endswith("/>") and line.count(" L") > 1
    )
    x = int(passing.split(" L")[1].split()[0])
    (box,) = (line for line in drawn.splitlines() if ">middle<" in line)
    left = int(box.split('"')[1])
    assert not left <= x <= left + 128


def test_permissions_are_filled_in() -> None:
    table = "| `a` | one | ? |\n| `b/c` | two, `a` | `x` |\n| other | three | ? |\n"
    filled = draw_layers.with_permissions(table, {"a": [], "b.c": ["a"]})
    assert filled == "| `a` | one | nothing |\n| `b/c` | two, `a` | `a` |\n| other | three | ? |\n"
