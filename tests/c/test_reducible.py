"""Loops that goto or switch enter in the middle: one entry is left, and the program is the same."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from plait.analysis.loops import find_loops
from plait.c import FrontEndOptions, load
from plait.engines.interface import Answer
from plait.engines.orders.engine import check
from plait.model.properties import Specification
from plait.semantics.run import run

LOOPS = {
    "goto": """int i = 0, s = 0;
        if (argc > 1) goto middle;
        for (; i < 4; i++) { s = s * 3 + 1; middle: s = s * 3 + 2; }""",
    "two": """int i = 0, s = 0;
        if (argc > 2) goto one; else if (argc > 1) goto two;
        while (i < 5) { s = s * 3 + 1; one: i++; s = s * 3 + 2; two: i++; s = s * 5; }""",
    "nested": """int i = 0, j = 0, s = 0;
        if (argc > 1) goto inner;
        for (; i < 3; i++) for (j = 0; j < 3; j++) { s = s * 3 + 1; inner: s += j; }""",
    "duff": """int n = argc + 6, s = 0, k = n % 4;
        switch (k) { case 0: do { s = s * 3 + 1; case 3: s = s * 3 + 2;
        case 2: s = s * 5; case 1: s++; } while ((n -= 4) > 0); }""",
    "crossed": """int i = 0, s = 0;
        if (argc > 1) goto b;
        a: s = s * 3 + 1; if (i++ > 5) goto end;
        b: s = s * 3 + 2; if (i++ % 3) goto a; else goto b;
        end: ;""",
}


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")
@pytest.mark.parametrize("name", LOOPS)
def test_the_program_is_the_same(name: str, tmp_path: Path) -> None:
    source, binary = tmp_path / "main.c", tmp_path / "binary"
    source.write_text(
        f"#include <stdio.h>\nint main(int argc, char **argv) {{ {LOOPS[name]}"
        '\nprintf("%d\\n", s); return 0; }\n'
    )
    subprocess.run(["gcc", "-w", "-fwrapv", str(source), "-o", str(binary)], check=True)
    for arguments in (("./program",), ("./program", "x"), ("./program", "x", "y")):
        real = subprocess.run(arguments, executable=binary, capture_output=True, check=True)
        options = FrontEndOptions(arguments=arguments)
        loaded = load([str(source)], options, Specification())
        assert all(loop.is_reducible for loop in find_loops(loaded, loaded.functions["main"]))
        assert run(loaded, Specification(), seed=1).output == real.stdout


@pytest.mark.parametrize(("sum_", "expected"), [(5, Answer.HOLDS), (6, Answer.VIOLATED)])
def test_the_bounded_engine_takes_them(sum_: int, expected: Answer, tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text(
        "#include <assert.h>\nextern _Bool __VERIFIER_nondet_bool(void);\n"
        "int main(void) { int i = 0, s = 0; if (__VERIFIER_nondet_bool()) goto middle;"
        " for (; i < 2; i++) { s += 2; middle: s++; }"
        f" assert(s == {sum_} - 1 || s == {sum_} + 1); return 0; }}"
    )
    loaded = load([str(source)], FrontEndOptions(), Specification())
    outcome = check(loaded, 4, time.monotonic() + 20)
    assert outcome.answer is expected, outcome.reason
