"""Reasons name places in the user's code, also of what the library does."""

from __future__ import annotations

from pathlib import Path

from plait.c import load
from plait.c.options import FrontEndOptions
from plait.model.properties import from_names


def test_the_call_that_leads_to_an_edge(tmp_path: Path) -> None:
    path = tmp_path / "main.c"
    path.write_text(
        "#include <string.h>\n"
        "char *copy(const char *text) {\n"
        "  return strdup(text);\n"
        "}\n"
        'int main(void) { return copy("a") != 0; }\n'
    )
    program = load([str(path)], FrontEndOptions(), from_names([]))
    own, called = program.functions["copy"], program.functions["strdup"]
    deeper = program.functions["malloc"]
    assert called.library and deeper.library
    there = f"{path}:3:3"
    for function in (own, called, deeper):
        first = next(iter(function.all_edges()))
        assert program.place_of_edge(first) == there, function.name
    unreached = next(iter(program.functions["__plait_start"].all_edges()))
    assert program.place_of_edge(unreached) == program.place(unreached.action.origin)
