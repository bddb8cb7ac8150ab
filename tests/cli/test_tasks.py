"""BenchExec task definitions as programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.cli.main import main

TASK = """
format_version: '2.0'
input_files: 'prog.c'
properties:
  - property_file: props/unreach.prp
    expected_verdict: false
options:
  language: C
  data_model: ILP32
"""
PROGRAM = """
extern void reach_error(void);
int main(void) { if (sizeof(long) == 4) reach_error(); return 0; }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "prog.c").write_text(PROGRAM)
    (tmp_path / "props").mkdir()
    unreach = "CHECK( init(main()), LTL(G ! call(reach_error())) )\n"
    (tmp_path / "props" / "unreach.prp").write_text(unreach)
    (tmp_path / "props" / "race.prp").write_text("CHECK( init(main()), LTL(G ! data-race) )\n")
    (tmp_path / "task.yml").write_text(TASK)
    return tmp_path


@pytest.mark.parametrize("command", ["verify", "explore"])
def test_the_task_says_all(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, str(folder / "task.yml")]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "VERDICT: false (unreach-call)"


def test_another_property(folder: Path) -> None:
    task = str(folder / "task.yml")
    assert main(["verify", "--property", "no-data-race", task]) == 0
    assert main(["verify", "--prp", str(folder / "props" / "race.prp"), task]) == 0


def test_several_properties(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = str(folder / "task.yml")
    both = TASK.replace("options:", "  - property_file: props/race.prp\noptions:")
    (folder / "task.yml").write_text(both)
    assert main(["explore", task]) == 2
    assert "props/unreach.prp, props/race.prp" in capsys.readouterr().err
    assert main(["verify", task]) == 1
    assert "1 true, 1 false of 2 tasks" in capsys.readouterr().out
    assert main(["verify", "--json", str(folder / "r"), task]) == 2
    assert "one property, which --property chooses" in capsys.readouterr().err
    assert main(["verify", "--property", "unreach-call", task]) == 1
    assert "tasks" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: [",
        "[]",
        "input_files: 3",
        "input_files: []",
        "input_files: prog.c",
        "input_files: prog.c\nproperties: x",
        TASK.replace("ILP32", "ILP33"),
        TASK.replace("data_model: ILP32", "data_model: [1]"),
        TASK.replace("prog.c", "missing.c"),
        "input_files: &a [*a]",
    ],
)
def test_mistakes(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "task.yml").write_text(text)
    assert main(["verify", str(folder / "task.yml")]) == 2
    assert capsys.readouterr().err.startswith("plait: ")


def test_a_task_stands_alone(folder: Path) -> None:
    assert main(["verify", str(folder / "task.yml"), str(folder / "prog.c")]) == 2
