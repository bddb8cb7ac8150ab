"""Loading C text in tests."""

from __future__ import annotations

from pathlib import Path

from plait.c import FrontEndOptions, load
from plait.model.program import Program
from plait.model.properties import Specification, from_names
from plait.semantics.run import Execution, run


def write(folder: Path, **files: str) -> list[str]:
    paths = []
    for name, text in files.items():
        path = folder / f"{name}.c"
        path.write_text(text)
        paths.append(str(path))
    return paths


def program(
    folder: Path,
    text: str,
    properties: tuple[str, ...] = (),
    options: FrontEndOptions | None = None,
) -> Program:
    specification = from_names(list(properties) or ["assertions"])
    return load(write(folder, main=text), options or FrontEndOptions(), specification)


def execute(folder: Path, text: str, options: FrontEndOptions | None = None) -> Execution:
    loaded = program(folder, text, options=options)
    assert not loaded.unsupported, loaded.unsupported
    return run(loaded, Specification(), seed=1)
