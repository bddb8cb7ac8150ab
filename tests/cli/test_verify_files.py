"""Each file is a program of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from plait.cli.verify_files import main

RIGHT = "#include <assert.h>\nint main(void) { assert(1); }\n"
WRONG = "#include <assert.h>\nint main(void) { assert(0); }\n"
ENDLESS = """#include <assert.h>
int more(void);
int main(void) {
  unsigned rounds = 0;
  while (more()) rounds++;
  assert(rounds != 1000000);
}
"""

Write = Callable[[str, str], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def file(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return file


def test_files_are_not_linked(write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    files = [write("a.c", RIGHT), write("b.c", RIGHT)]
    assert main(["--property", "assertions", *files]) == 0
    assert capfd.readouterr().out.splitlines() == [f"{file}: VERDICT: true" for file in files]


def test_one_violation_is_enough(write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    assert main([write("a.c", WRONG), write("b.c", RIGHT)]) == 1
    assert "VERDICT: false (assertions)" in capfd.readouterr().out


def test_unknown_passes(write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--unwind", "1", write("a.c", ENDLESS)]) == 0
    assert "VERDICT: unknown" in capfd.readouterr().out


def test_what_is_no_program_fails(write: Write) -> None:
    assert main([write("a.c", "int x;\n")]) == 2


def test_headers_are_no_programs(write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    files = [write("a.c", RIGHT), write("a.h", "int x;\n"), write("b.c", RIGHT)]
    assert main(files) == 0
    assert len(capfd.readouterr().out.splitlines()) == 2


def test_nothing_to_do() -> None:
    assert main([]) == 0
