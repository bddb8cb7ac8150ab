"""Run a C source by plait's own front end and semantics, to hold against a native run."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from plait.c import load
from plait.c.options import FrontEndOptions
from plait.model.program import Program
from plait.model.properties import Specification
from plait.model.types import DataModel
from plait.semantics.run import run
from trust.native import Run

MOST_STEPS = 2_000_000


@contextmanager
def source_file(source: str) -> Iterator[str]:
    """A file that holds the source while it is read."""
    with tempfile.TemporaryDirectory(prefix="plait-trust-") as directory:
        path = os.path.join(directory, "program.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        yield path


def load_source(
    source: str,
    specification: Specification | None = None,
    *,
    data_model: DataModel = DataModel.LP64,
    include_dirs: Sequence[str] = (),
) -> Program:
    options = FrontEndOptions(data_model=data_model, include_dirs=tuple(include_dirs))
    with source_file(source) as path:
        return load([path], options, specification or Specification())


def interpret(
    source: str, *, data_model: DataModel = DataModel.LP64, include_dirs: Sequence[str] = ()
) -> Run:
    """What the program prints and how it ends; an ending that has no exit status is an error."""
    program = load_source(source, data_model=data_model, include_dirs=include_dirs)
    execution = run(program, Specification(), seed=0, max_steps=MOST_STEPS)
    output = execution.output.decode("latin-1")
    if execution.ending == "exit" and execution.status is not None:
        return Run(output, execution.status & 0xFF)
    if execution.ending == "abort":
        return Run(output, -6)
    place = program.place(execution.outcome.origin)
    text = program.text(execution.outcome.origin)
    return Run(output, 1000, f"{execution.ending}: {execution.outcome.message} at {place}: {text}")
