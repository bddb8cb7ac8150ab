"""Whatever sources and file names hold: nothing of it moves the cursor of a terminal, nothing makes
a text look like another one, and nothing can be taken for a line of plait's own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import plait
from plait.cli.main import main
from plait.report.characters import clean

EVIL = "\x1b[2J\x07\x9b31m\u202e\u2066"
PROGRAM = f"""
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
int shared;
void *work(void *argument) {{
  shared = 1; /*{EVIL}*/ shared = 2;
  return 0;
}}
int main(void) {{
  pthread_t thread;
  printf("{EVIL}\\n");
  pthread_create(&thread, 0, work, 0);
  assert(shared == 0 && "{EVIL}");
  return 0;
}}
"""
COMMANDS = ["show", "run", "explore", "verify"]


def is_harmless(text: str) -> bool:
    return clean(text) == text and "\r" not in text


@pytest.fixture
def evil(tmp_path: Path) -> str:
    path = tmp_path / f"evil{EVIL}\nVERDICT: true.c"
    path.write_text(PROGRAM, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("verbose", [[], ["-v"]])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_program(
    command: str, verbose: list[str], evil: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([command, *verbose, evil])
    said = capsys.readouterr()
    assert code == (0 if command == "show" else 1)
    assert said.err == "" and is_harmless(said.out)
    assert "\\x1b[2J" in said.out
    if command != "show":  # which has no verdict
        assert not re.search(r"^VERDICT: true", said.out, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "text",
    [
        f"#error {EVIL}\nint main(void) {{ return 0; }}\n",
        f'#include "{EVIL}.h"\nint main(void) {{ return 0; }}\n',
        f"int main(void) {{ return nowhere; /*{EVIL}*/ }}\n",
    ],
)
def test_mistakes(
    command: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"{EVIL}.c"
    path.write_text(text, encoding="utf-8")
    assert main([command, str(path)]) == 2
    said = capsys.readouterr()
    assert said.out == "" and is_harmless(said.err) and "\\x1b[2J" in said.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["verify", f"missing{EVIL}.c"],
        ["verify", f"--{EVIL}", "a.c"],
        ["verify", "--unwind", EVIL, "a.c"],
        ["verify", "--prp", EVIL, "a.c"],
        ["verify", "--json", f"{EVIL}/x", "a.c"],
        ["report", EVIL],
        ["bench", EVIL],
    ],
)
def test_options(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(arguments)
    except SystemExit as stop:
        assert isinstance(stop.code, int)
        code = stop.code
    assert code == 2
    assert is_harmless(capsys.readouterr().err)


def test_the_output_of_a_program_with_a_flag(evil: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-q", "--raw-output", evil]) == 1
    assert f"\noutput:\n  {EVIL}\n" in capsys.readouterr().out


def test_colours_are_those_of_plait(evil: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from plait.cli.output import Console

    lines: list[str] = []
    monkeypatch.setattr("plait.cli.printing.has_colour", lambda: True)
    monkeypatch.setattr(Console, "_write", lambda self, text: lines.append(text))
    assert main(["explore", evil]) == 1
    text = "".join(lines)
    assert re.findall(r"\x1b\[3\dm", text)
    assert is_harmless(re.sub(r"\x1b\[(?:3\d|0)m", "", text))


def test_pages_and_pictures(evil: str, tmp_path: Path) -> None:
    page, picture, graph = (str(tmp_path / name) for name in ("page", "picture", "graph"))
    assert main(["explore", "--html", page, evil]) == 1
    assert main(["show", "--svg", picture, "--dot", graph, evil]) == 0
    texts = [Path(path).read_text(encoding="utf-8") for path in (page, picture, graph)]
    assert all(map(is_harmless, texts))
    data = json.loads(re.findall(r'id="data">(.*?)</script>', texts[0])[0])
    strings: list[str] = []

    def collect(value: object) -> None:
        if isinstance(value, str):
            strings.append(value)
        elif isinstance(value, dict):
            collect([*value.keys(), *value.values()])
        elif isinstance(value, list):
            for item in value:
                collect(item)

    collect(data)
    assert all(map(is_harmless, strings)) and any("\\x1b[2J" in item for item in strings)


def test_a_result_as_text_in_python(evil: str) -> None:
    text = str(plait.verify(evil))
    assert "\\x1b[2J" in text and is_harmless(text)
    assert not re.search(r"^VERDICT: true", text, re.MULTILINE)


def test_files_that_are_verified_one_by_one(evil: str) -> None:
    Path(evil).write_text("int main(void) { return 0; }\n")
    command = [sys.executable, "-m", "plait.cli.verify_files", evil]
    said = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=60)
    assert said.returncode == 0, said
    assert is_harmless(said.stdout) and said.stdout.endswith(": VERDICT: true\n")
    assert said.stdout.count("\n") == 1
