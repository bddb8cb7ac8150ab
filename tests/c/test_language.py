"""Hand-written programs that use every part of the language print what gcc's binaries print."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.model.properties import Specification
from plait.semantics.run import run

PROGRAMS = sorted((Path(__file__).parents[1] / "programs" / "language").glob("*.c"))
GCC = shutil.which("gcc")


@pytest.mark.parametrize("source", PROGRAMS, ids=lambda path: path.stem)
@pytest.mark.skipif(GCC is None, reason="gcc is missing: nothing to compare the interpreter with")
def test_same_output_as_gcc(source: Path, tmp_path: Path) -> None:
    binary = tmp_path / "native"
    flags = ["-O0", "-fwrapv", "-std=gnu17", "-w", "-pthread"]
    subprocess.run([str(GCC), *flags, "-o", str(binary), str(source), "-latomic"], check=True)
    native = subprocess.run([str(binary)], capture_output=True, timeout=20, check=True)

    program = load([str(source)], FrontEndOptions(), Specification())
    assert program.unsupported == []
    execution = run(program, Specification(), seed=0)

    assert execution.output.decode() == native.stdout.decode()
    assert (execution.ending, execution.status) == ("exit", 0)
