"""Options that write files replace what plait has written, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plait.cli.main import main
from plait.cli.parser import build_parser
from plait.cli.targets import is_own, target, target_or_output

RACE = Path(__file__).parents[2] / "examples" / "counter_race.c"
PROVED = "int main(void) { return 0; }\n"
OF_RESULTS = ("--json", "--html", "--sarif", "--junit", "--witness")
WRITING = [
    *(("verify", option) for option in (*OF_RESULTS, "--certificate")),
    *(("explore", option) for option in (*OF_RESULTS, "--save-schedule")),
    *(("report", option) for option in OF_RESULTS),
    *(("show", option) for option in ("--dot", "--svg")),
    ("run", "--save-schedule"),
    *(("cover", option) for option in ("--json", "--html", "--lcov", "--sarif")),
    ("hunt", "--save-schedule"),
]


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`a.c` and `b.c`, of which one program is made."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.c").write_text("int helper(void) { return 1; }\n")
    (tmp_path / "b.c").write_text("int helper(void); int main(void) { return helper() - 1; }\n")
    return tmp_path


def test_all_options_that_write_are_tried() -> None:
    """An option with another name for its file must be added to the list, or not write."""
    commands = next(a.choices for a in build_parser()._actions if isinstance(a.choices, dict))
    found = [
        (name, action.option_strings[0])
        for name, parser in commands.items()
        for action in parser._actions
        if action.type in (target, target_or_output)
    ]
    assert sorted(found) == sorted(WRITING)


@pytest.mark.parametrize(("command", "option"), WRITING)
def test_a_source_is_not_replaced(
    command: str, option: str, sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Path("a.c").read_bytes()
    assert main([command, option, "a.c", "b.c"]) == 2
    assert Path("a.c").read_bytes() == before
    said = capsys.readouterr()
    assert said.out == ""
    assert f"{option} a.c: this file is there already, and plait has not written it" in said.err
    order = "" if command == "report" else " b.c"
    assert f"plait {command} {option} FILE a.c{order} (--force replaces it)" in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("name", ["b.c", "./b.c", "link.c", "hard.c"])
def test_an_input_is_not_replaced(
    name: str, sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.symlink("b.c", "link.c")
    os.link("b.c", "hard.c")
    before = Path("b.c").read_bytes()
    assert main(["show", "--svg", name, "a.c", "b.c"]) == 2
    assert "is read by this command" in capsys.readouterr().err
    assert Path("b.c").read_bytes() == before


def test_an_input_that_plait_has_written(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--save-schedule", "s.txt", "a.c", "b.c"]) == 0
    arguments = ["run", "--schedule", "s.txt", "--save-schedule", "s.txt", "a.c", "b.c"]
    assert main(arguments) == 2
    assert "--save-schedule s.txt: this file is read by this command" in capsys.readouterr().err
    assert main([*arguments, "--force"]) == 0


def test_own_files_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every form is recognised as what plait has written, whatever the verdict."""
    monkeypatch.chdir(tmp_path)
    Path("proved.c").write_text(PROVED)
    written: list[str] = []

    def arguments(kind: str, *options: str) -> list[str]:
        words = []
        for option in options:
            written.append(f"{kind}{option}")
            words += [option, written[-1]]
        return words

    commands = [
        ["verify", *arguments("race", *OF_RESULTS), str(RACE)],
        ["verify", *arguments("proved", *OF_RESULTS, "--certificate"), "proved.c"],
        ["explore", *arguments("explored", *OF_RESULTS, "--save-schedule"), str(RACE)],
        ["report", "race--json", *arguments("graphml", "--witness"), "--witness-format", "graphml"],
        ["show", *arguments("shown", "--dot", "--svg"), "proved.c"],
        ["run", *arguments("run", "--save-schedule"), "proved.c"],
    ]
    codes = [main(command) for command in commands]
    assert codes == [1, 0, 1, 0, 0, 0]
    for path in written:
        assert Path(path).stat().st_size, path
        assert is_own(path), path
    assert [main(command) for command in commands] == codes


def test_an_empty_file_is_replaced(sources: Path) -> None:
    Path("empty").touch()
    assert main(["show", "--svg", "empty", "a.c", "b.c"]) == 0
    assert Path("empty").read_text().startswith("<svg")


def test_force(sources: Path) -> None:
    Path("notes.txt").write_text("mine\n")
    assert main(["show", "--svg", "notes.txt", "a.c", "b.c"]) == 2
    assert Path("notes.txt").read_text() == "mine\n"
    assert main(["show", "--force", "--svg", "notes.txt", "a.c", "b.c"]) == 0
    assert Path("notes.txt").read_text().startswith("<svg")


@pytest.mark.parametrize(
    "text",
    [
        '// "plait-result": 1\n',
        "<!DOCTYPE html>\n<html><head></head><body>made with plait</body></html>\n",
        '{"plait": 1}\n',
        "digraph program {\n}\n",
    ],
)
def test_what_only_speaks_of_plait_is_not_its_own(text: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    assert not is_own(str(path))


@pytest.mark.parametrize(
    ("leads_to", "said"),
    [("link", "leads nowhere"), ("missing", "missing, which is not there"), ("notes", "is there")],
)
def test_links(leads_to: str, said: str, sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("notes").write_text("mine\n")
    os.symlink(leads_to, "link")
    assert main(["verify", "--json", "link", "a.c", "b.c"]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1
    assert not os.path.lexists("missing") and Path("notes").read_text() == "mine\n"


def test_two_options_for_one_file(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--svg", "x", "--dot", "./x", "a.c", "b.c"]) == 2
    assert "name the same file" in capsys.readouterr().err
    assert not Path("x").exists()


def test_the_only_source_is_named_as_a_file_to_write(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["verify", "--json", "a.c"])
    assert stop.value.code == 2
    assert "no source file given (a.c is named as a file to write)" in capsys.readouterr().err


def test_devices_are_written_to(sources: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with open("out", "w") as out:
        saved = os.dup(1)
        os.dup2(out.fileno(), 1)
        try:
            os.write(1, b"before\n")
            code = main(["show", "--svg", "/dev/stdout", "a.c", "b.c"])
        finally:
            os.dup2(saved, 1)
            os.close(saved)
    assert code == 0
    assert Path("out").read_text().startswith("before\n<svg")


class TestBench:
    TASK = "format_version: '2.0'\ninput_files: t.c\nproperties:\n- property_file: p.prp\n  expected_verdict: true\n"

    @pytest.fixture
    def task(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        Path("t.yml").write_text(self.TASK)
        Path("t.c").write_text(PROVED)
        Path("p.prp").write_text("CHECK( init(main()), LTL(G ! call(reach_error())) )\n")

    @pytest.mark.parametrize("name", ["journal.jsonl", "results.csv", "summary.html"])
    def test_foreign_files(self, name: str, task: None, capsys: pytest.CaptureFixture[str]) -> None:
        Path("out").mkdir()
        Path("out", name).write_text("mine\n")
        command = ["bench", "-q", "--engines", "modular", "--out", "out", "t.yml"]
        for more in ([], ["--fresh"]):
            assert main([*command, *more]) == 2
            assert "--out out: has files that no run has written" in capsys.readouterr().err
            assert Path("out", name).read_text() == "mine\n"

    def test_own_files_and_force(self, task: None) -> None:
        command = ["bench", "-q", "--engines", "modular", "--out", "out", "t.yml"]
        assert main(command) == 0
        assert main(command) == 0
        assert main([*command, "--fresh"]) == 0
        Path("out", "journal.jsonl").write_text("mine\n")
        assert main([*command, "--fresh", "--force"]) == 0
