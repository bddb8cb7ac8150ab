"""`plait cover`: for each line a test that reaches it, or a proof that there is none."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from plait.cli import exits
from plait.cli.chosen import options_of
from plait.cli.interrupts import ended_by_signals
from plait.cli.output import Console, save
from plait.cli.replay import check_emit_folder
from plait.cli.targets import is_own
from plait.errors import InputError

if TYPE_CHECKING:
    from plait.api import Options
    from plait.coverage.table import Table, Test


def cover(options: argparse.Namespace, console: Console) -> int:
    if not options.run:
        return _cover(options, console)
    return ended_by_signals(lambda: _cover(options, console))


def _cover(options: argparse.Namespace, console: Console) -> int:
    from plait.coverage import forms
    from plait.coverage.search import cover as search

    check_emit_folder(options.emit)
    chosen = options_of(options)
    if chosen.property or chosen.prp or chosen.error_function or chosen.monitor or chosen.reach:
        raise InputError("plait cover asks about lines: properties are for plait verify")
    chosen.check()
    if any(path.endswith((".yml", ".yaml")) or os.path.isdir(path) for path in chosen.programs):
        raise InputError("plait cover takes sources, no tasks")
    shown = sys.stderr.isatty()

    def tell(text: str) -> None:
        if shown:
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()

    table = search(chosen, tell)
    tell("")
    console.lines(forms.to_text(table, verbose=options.verbose))
    console.block("assumptions", table.assumptions)
    written = _compiled(options, chosen, table, console, tell)
    for name, make in (
        ("json", forms.to_json),
        ("lcov", forms.to_lcov),
        ("sarif", forms.to_sarif),
        ("html", forms.to_html),
    ):
        path = getattr(options, name)
        if path is not None:
            written &= save(console, f"--{name}", path, make(table))
    if options.tests is not None:
        written &= _save_tests(options.tests, table.tests, console)
    lines, live, dead, unknown = table.counts()
    console.line(f"COVER: {live} live, {dead} dead, {unknown} unknown of {lines} lines")
    if not written:
        return exits.UNUSABLE_INPUT
    return exits.UNKNOWN if unknown else exits.HOLDS


def _compiled(
    options: argparse.Namespace,
    chosen: Options,
    table: Table,
    console: Console,
    tell: Callable[[str], None],
) -> bool:
    """Whether all could be done that is wanted of the tests as compiled programs."""
    from plait.cli.replay import sources_of
    from plait.coverage import forms
    from plait.coverage.compiled import builder_of, measured
    from plait.native.emit import emit_tests

    if not (options.emit or options.run) or not table.tests:
        return True
    try:
        sources = sources_of(chosen, chosen.entry or "main")
        builder = builder_of(chosen, table, sources, options.cc)
        tell("compiling the tests")
        with tempfile.TemporaryDirectory(prefix="plait-cover-") as folder:
            executable = builder.build(Path(folder))
            runs = measured(executable, sources, table, tell) if options.run else []
        tell("")
        if options.emit:
            emit_tests(Path(options.emit), builder)
            console.line(f"written: {options.emit} (make coverage runs the tests)")
    except InputError as error:
        tell("")
        console.error(str(error))
        return False
    except OSError as error:
        tell("")
        console.error(f"--emit {options.emit}: cannot write: {error.strerror or error}")
        return False
    console.block("notes", builder.notes())
    for item in runs:
        console.lines(forms.to_words(item))
    if runs:
        good = sum(not item.missing and not item.beyond for item in runs)
        console.line(f"compiled: {good} of {len(runs)} tests reach what is claimed (gcov)")
    return True


def _save_tests(folder: str, tests: list[Test], console: Console) -> bool:
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        console.error(f"--tests {folder}: {error.strerror}")
        return False
    written = True
    for item in tests:
        path = os.path.join(folder, f"test-{item.number}.json")
        if os.path.lexists(path) and not is_own(path):
            console.error(
                f"--tests {folder}: {path} is there already, and plait has not written it"
            )
            written = False
        else:
            written &= save(console, "--tests", path, item.schedule)
    return written
