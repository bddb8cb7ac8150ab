"""The programs of `benchmarks/everyday`: their tasks are what `plait bench` takes, their table says
what the tasks expect, a compiler has nothing to complain about, and with very few items plait's
reference interpreter sees what the tasks expect."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from plait.bench.suite import find_tasks
from plait.c import FrontEndOptions, load
from plait.model.program import Program
from plait.model.properties import Specification, from_names
from plait.semantics.explore import ExploreOptions, explore

FOLDER = Path(__file__).parents[2] / "benchmarks" / "everyday"
GCC = shutil.which("gcc")
WARNINGS = ("-std=gnu17", "-Wall", "-Wextra", "-Werror", "-pthread", "-fsyntax-only")
PROPERTIES = {"assertions", "no-data-race", "no-deadlock", "valid-memsafety"}
MOST_SECONDS = 120

NAMES = sorted(path.stem for path in FOLDER.glob("*.c") if not path.stem.endswith("_broken"))
SUITE = find_tasks([str(FOLDER)])
EXPECTED: dict[str, dict[str, bool | None]] = {}
for task in SUITE.tasks:
    EXPECTED.setdefault(Path(task.path).stem, {})[task.property_name] = task.expected


def violated(name: str) -> set[str]:
    return {about for about, expected in EXPECTED[f"{name}_broken"].items() if not expected}


def test_all_files_are_there_and_all_tasks_are_usable() -> None:
    assert len(NAMES) >= 16
    assert not SUITE.flaws and not SUITE.left_out and not SUITE.unjudged
    versions = {version for name in NAMES for version in (name, f"{name}_broken")}
    assert EXPECTED.keys() == versions == {path.stem for path in FOLDER.glob("*.c")}
    for task in SUITE.tasks:
        assert [Path(file).name for file in task.files] == [Path(task.path).stem + ".c"]
        assert Path(task.property_file).stem == task.property_name


@pytest.mark.parametrize("name", NAMES)
def test_expected_verdicts(name: str) -> None:
    assert EXPECTED[name] == dict.fromkeys(PROPERTIES, True)
    assert violated(name)
    # After undefined behaviour there is nothing to expect.
    if violated(name) & {"no-data-race", "valid-memsafety"}:
        assert EXPECTED[f"{name}_broken"].keys() == violated(name)
    else:
        assert EXPECTED[f"{name}_broken"].keys() == PROPERTIES


@pytest.mark.parametrize("name", NAMES)
def test_program_says_what_it_violates(name: str) -> None:
    text = (FOLDER / f"{name}.c").read_text()
    comment = text[: text.index("*/")]
    said = re.sub(r"\s+", " ", comment.partition("Violates:")[2])
    assert {about for about in PROPERTIES if about in said} == violated(name)
    assert "The mistake:" in comment and comment.startswith("/* ")
    assert "#ifndef ITEMS\n" in text and "BROKEN\n" in text
    assert 60 <= len(text.splitlines()) <= 150
    broken = (FOLDER / f"{name}_broken.c").read_text()
    assert broken == f'#define BROKEN\n#include "{name}.c"\n'
    assert f"required_files: '{name}.c'" in (FOLDER / f"{name}_broken.yml").read_text()


def test_table() -> None:
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([^|]*) \|$", (FOLDER / "README.md").read_text(), re.M)
    assert [name for name, _ in rows] == NAMES
    for name, properties in rows:
        assert set(re.findall(r"`([\w-]+)`", properties)) == violated(name)


@pytest.mark.skipif(GCC is None, reason="gcc is missing")
def test_no_warnings() -> None:
    assert GCC is not None
    for path in sorted(FOLDER.glob("*.c")):
        done = subprocess.run([GCC, *WARNINGS, str(path)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def loaded(version: str, specification: Specification, macros: tuple[str, ...] = ()) -> Program:
    options = FrontEndOptions(defines=macros)
    return load([str(FOLDER / f"{version}.c")], options, specification)


@pytest.mark.parametrize("version", sorted(EXPECTED))
def test_front_end_takes_all_of_it(version: str) -> None:
    program = loaded(version, from_names(["assertions", "valid-memsafety"]))
    assert "main" in program.functions
    assert program.unsupported == []


@pytest.mark.parametrize(
    ("version", "about", "macros"),
    [
        ("mpmc_queue_broken", "assertions", ("ITEMS=1", "CAPACITY=1")),
        ("dining_philosophers", "no-deadlock", ("ITEMS=1", "WORKERS=2")),
        ("dining_philosophers_broken", "no-deadlock", ("ITEMS=1", "WORKERS=2")),
        ("lazy_singleton", "no-data-race", ("ITEMS=1", "WORKERS=2")),
        ("lazy_singleton_broken", "no-data-race", ("ITEMS=1", "WORKERS=2")),
        ("futures", "valid-memsafety", ("ITEMS=1", "WORKERS=1")),
        ("futures_broken", "valid-memsafety", ("ITEMS=1", "WORKERS=1")),
    ],
)
def test_verdict_with_few_items(version: str, about: str, macros: tuple[str, ...]) -> None:
    specification = from_names([about])
    program = loaded(version, specification, macros)
    found = explore(program, specification, ExploreOptions(max_seconds=MOST_SECONDS))
    assert found.verdict.value == str(EXPECTED[version][about]).lower(), found.reason
