"""Tests as compiled programs: what they reach, counted by gcov, beside what is claimed of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from plait.api import Options
from plait.coverage.search import NOTHING, program_of
from plait.coverage.table import Line, Table, Test
from plait.data import dataclass
from plait.native.build import Builder, Source, find_compiler, run_tool, stand_ins
from plait.native.errors import CannotBuild
from plait.native.execute import execute
from plait.native.plan import NOTHING as NO_FAILURE
from plait.native.plan import make_plan
from plait.portfolio.subject import arguments_of_main
from plait.semantics.run import run
from plait.semantics.schedule import from_text

_SECONDS = 10.0  # of one test
_MEMORY = 2 << 30
_ENDED = "ended"


@dataclass(slots=True, frozen=True)
class Measured:
    """A run of a compiled test. `missing` are lines that it should have executed and has not,
    `beyond` are those that it has executed though they are dead. `trouble` says what may have kept
    it from its way; it is empty where there is none."""

    test: int
    missing: tuple[Line, ...]
    beyond: tuple[Line, ...]
    trouble: str


def builder_of(
    options: Options, table: Table, sources: Sequence[Source], compiler: str | None
) -> Builder:
    """Of a program that makes each test, by its plan."""
    chosen = find_compiler(compiler)
    if "clang" in os.path.basename(chosen.split()[0]):
        raise CannotBuild("tests are compiled with gcc: its gcov counts what they reach")
    entry = options.entry or "main"
    program = program_of(options)
    plans = {
        f"test-{test.number}.plan": make_plan(
            program,
            NOTHING,
            run(program, NOTHING, schedule=from_text(test.schedule, "a test"), trace=True),
            NO_FAILURE,
            0,
            stands_in_for=stand_ins(),
            spurious_wakeups=bool(options.spurious_wakeups),
            fixed_arguments=arguments_of_main(options.args),
            compiled={source.path for source in sources},
        )
        for test in table.tests
    }
    return Builder(program, entry, plans, sources, chosen, counting=True)


def measured(
    executable: Path, sources: Sequence[Source], table: Table, tell: Callable[[str], None]
) -> list[Measured]:
    """Runs each test once."""
    found = []
    for test in table.tests:
        tell(f"running test {test.number} of {len(table.tests)}")
        found.append(_measured(executable, sources, table, test))
    return found


def _measured(executable: Path, sources: Sequence[Source], table: Table, test: Test) -> Measured:
    folder = executable.parent
    for path in folder.glob("*.gcda"):
        path.unlink()
    ran = execute(executable, _SECONDS, _MEMORY, PLAIT_PLAN=f"test-{test.number}.plan")
    counted, executed = _counts(folder, sources, table)
    missing = tuple(sorted((test.reached & counted) - executed))
    beyond = tuple(sorted(executed & set(table.dead)))
    trouble = "" if ran.outcome == _ENDED else f"{ran.outcome}: {ran.detail}"
    if ran.notes and (missing or beyond):
        trouble = "; ".join([*([trouble] if trouble else []), *ran.notes])
    return Measured(test.number, missing, beyond, trouble)


def _counts(folder: Path, sources: Sequence[Source], table: Table) -> tuple[set[Line], set[Line]]:
    """The lines of the table that gcov knows, and those of them that were executed."""
    names = {os.path.realpath(path): path for path in table.lines}
    counted: set[Line] = set()
    executed: set[Line] = set()
    for number in range(len(sources)):
        data = folder / f"source{number}.gcda"
        if not data.exists():
            data = data.with_suffix(".gcno")
        said = run_tool(["gcov", "--json-format", "--stdout", data.name], folder=folder)
        for text in said.stdout.splitlines():
            for path, line, count in _rows(text, folder):
                if path in names and line in table.lines[names[path]]:
                    counted.add((names[path], line))
                    if count:
                        executed.add((names[path], line))
    return counted, executed


def _rows(text: str, folder: Path) -> list[tuple[str, int, int]]:
    """Files, lines and counts in what gcov writes."""
    try:
        document = json.loads(text)
        base = document.get("current_working_directory", str(folder))
        return [
            (os.path.realpath(os.path.join(base, item["file"])), row["line_number"], row["count"])
            for item in document["files"]
            for row in item["lines"]
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CannotBuild(f"gcov writes what plait cannot read: {error}") from None
