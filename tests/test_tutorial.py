"""What the tutorial and the README say that plait answers, plait answers."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from plait.cli.main import main

ROOT = Path(__file__).parents[1]


def blocks(document: str) -> list[list[str]]:
    text = (ROOT / document).read_text()
    return [block.strip().splitlines() for block in re.findall(r"```\n(\$ .*?)```", text, re.S)]


def commands(document: str) -> list[tuple[str, list[str]]]:
    """Each command with the lines that it is said to print."""
    found: list[tuple[str, list[str]]] = []
    for block in blocks(document):
        for line in block:
            if line.startswith("$ plait "):
                found.append((line[8:], []))
            elif line not in ("...", "") and not line.startswith("engine "):  # how long it took
                found[-1][1].append(line)
    return found


@pytest.mark.parametrize(
    ("document", "least"), [("docs/tutorial.md", 9), ("README.md", 2), ("docs/replay.md", 2)]
)
def test_every_command_answers_as_said(
    document: str,
    least: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One after the other, because later ones use files of earlier ones."""
    monkeypatch.chdir(tmp_path)
    os.symlink(ROOT / "examples", tmp_path / "examples")
    said = commands(document)
    assert len(said) >= least
    for command, lines in said:
        if command.startswith("replay") and not any(map(shutil.which, ("cc", "gcc", "clang"))):
            continue
        try:
            main(shlex.split(command))
        except SystemExit as stop:
            raise AssertionError(f"plait {command}: {stop}") from None
        shown = capsys.readouterr().out.splitlines()
        for line in lines:
            # Which engine is the first to prove something depends on how busy the machine is.
            by_an_engine = f"{line}; by "
            assert any(row == line or row.startswith(by_an_engine) for row in shown), (
                f"plait {command}: {line}"
            )
        assert shown[-1] == lines[-1], f"plait {command}"
