"""The small programs beside this file, each with the verdicts it expects:
`// expect PROPERTY: true|false` lines at the top. A verdict of unknown is a failure."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.model.properties import from_names
from plait.semantics.explore import ExploreOptions, explore

HERE = Path(__file__).parent
EXPECTATION = re.compile(r"^// expect ([a-z-]+): (\w+)$", re.MULTILINE)
MOST_SECONDS = 30
FILES = [path for folder in ("litmus", "library") for path in sorted((HERE / folder).glob("*.c"))]
CASES = [
    pytest.param(path, name, verdict, id=f"{path.parent.name}/{path.stem}-{name}")
    for path in FILES
    for name, verdict in EXPECTATION.findall(path.read_text())
]


@pytest.mark.parametrize(("path", "name", "wanted"), CASES)
def test_verdict(path: Path, name: str, wanted: str) -> None:
    specification = from_names([name])
    program = load([str(path)], FrontEndOptions(), specification)
    found = explore(program, specification, ExploreOptions(max_seconds=MOST_SECONDS))
    assert found.verdict.value == wanted, found.reason


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_program_expects_something(path: Path) -> None:
    lines = [line for line in path.read_text().splitlines() if "expect" in line.split()[:2]]
    assert lines
    for line in lines:
        assert EXPECTATION.fullmatch(line) and line.split()[-1] in ("true", "false"), line
