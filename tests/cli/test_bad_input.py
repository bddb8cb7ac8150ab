"""Bad input: one or two lines that say what and where, exit code 2, no traceback."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plait.cli.main import main

GOOD = "int main(void) { return 0; }\n"
COMMANDS = ["show", "run", "explore", "verify"]


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What plait says about an input it cannot use."""
    try:
        code = main(list(arguments))
    except SystemExit as stop:
        assert isinstance(stop.code, int)
        code = stop.code
    captured = capsys.readouterr()
    assert code == 2, captured
    assert captured.out == ""
    assert "Traceback" not in captured.err
    assert 1 <= len(captured.err.strip().splitlines()) <= 2, captured.err
    return captured.err


@pytest.fixture
def good(tmp_path: Path) -> str:
    path = tmp_path / "good.c"
    path.write_text(GOOD)
    return str(path)


@pytest.mark.parametrize("command", COMMANDS)
class TestFiles:
    def test_missing(
        self, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = str(tmp_path / "missing.c")
        assert path in complaint(capsys, command, path)

    def test_directory(
        self, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert str(tmp_path) in complaint(capsys, command, str(tmp_path))

    @pytest.mark.parametrize("kind", ["pipe", "device", "link"])
    def test_no_regular_file(
        self, command: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """To open a pipe that nobody writes to would take for ever."""
        path = str(tmp_path / "special.c")
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "device":
            path = "/dev/zero"
        else:
            os.mkfifo(tmp_path / "pipe")
            os.symlink("pipe", path)
        assert complaint(capsys, command, path) == f"plait: {path}: not a regular file\n"

    def test_pipes_as_options(
        self, command: str, good: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        pipe = str(tmp_path / "pipe")
        os.mkfifo(pipe)
        assert "not a regular file" in complaint(capsys, command, "--prp", pipe, good)
        assert "not a regular file" in complaint(capsys, command, "-include", pipe, good)

    def test_standard_input(self, command: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert "standard input is not read" in complaint(capsys, command, "-")

    @pytest.mark.parametrize("name", ["a.cpp", "a.cc", "a.C"])
    def test_cplusplus(
        self, command: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / name
        path.write_text("#include <iostream>\nint main() { std::cout << 1; }\n")
        said = complaint(capsys, command, str(path))
        assert said == f"plait: {path}: a C++ source; plait verifies C\n"

    @pytest.mark.parametrize(
        "text",
        [
            "#include <iostream>\nint main() { return 0; }\n",
            "using namespace std;\nint main() { return 0; }\n",
            "class Queue { int size; };\nint main() { return 0; }\n",
            "template <class T> T id(T x) { return x; }\nint main() { return 0; }\n",
        ],
    )
    def test_cplusplus_under_a_name_of_c(
        self, command: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "a.c"
        path.write_text(text)
        said = complaint(capsys, command, str(path))
        assert f"{path}:1:" in said and "; this looks like C++, and plait verifies C" in said

    def test_binary(self, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "binary.c"
        path.write_bytes(b"\x7fELF\x02\x01\x01\x00" + bytes(range(256)) * 8)
        assert str(path) in complaint(capsys, command, str(path))

    def test_empty(self, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "empty.c"
        path.write_text("")
        assert "empty" in complaint(capsys, command, str(path))

    def test_c_that_is_wrong_is_not_called_cplusplus(
        self, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "both.c"
        path.write_text(
            "#ifdef __cplusplus\nclass Queue {};\n#endif\nint main(void) { return x; }\n"
        )
        assert "C++" not in complaint(capsys, command, str(path))

    def test_syntax_error(
        self, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "syntax.c"
        path.write_text("int main(void) {\n  return 0\n}\n")
        text = complaint(capsys, command, str(path))
        assert f"{path}:2:" in text
        assert "return 0" in text

    def test_type_error(
        self, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "types.c"
        path.write_text("struct s { int a; } x;\nint main(void) {\n  return x + 1;\n}\n")
        text = complaint(capsys, command, str(path))
        assert f"{path}:3:" in text
        assert "return x + 1;" in text

    def test_several_errors_make_one_message(
        self, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "many.c"
        path.write_text("int main(void) {\n" + "  return nowhere;\n" * 5 + "}\n")
        text = complaint(capsys, command, str(path))
        assert f"{path}:2:" in text

    def test_undefined_entry(
        self, command: str, good: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert "nowhere" in complaint(capsys, command, "--entry", "nowhere", good)

    def test_conflicting_definitions(
        self, command: str, good: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        other = tmp_path / "other.c"
        other.write_text(GOOD)
        assert "main" in complaint(capsys, command, good, str(other))

    def test_missing_compile_commands(
        self, command: str, good: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        text = complaint(capsys, command, "--compile-commands", str(tmp_path), good)
        assert "compile_commands.json" in text


class TestProperties:
    def test_unknown_name(self, good: str, capsys: pytest.CaptureFixture[str]) -> None:
        text = complaint(capsys, "explore", "--property", "no-bugs", good)
        assert "no-bugs" in text
        assert "no-data-race" in text

    def test_missing_prp(
        self, good: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert "none.prp" in complaint(capsys, "explore", "--prp", str(tmp_path / "none.prp"), good)

    @pytest.mark.parametrize(
        ("text", "part"),
        [
            ("", "no property"),
            ("CHECK( init(main()), LTL(G ! call(reach_error()))\n", "CHECK( init(main())"),
            ("CHECK( init(main()), LTL(F end) )\n", "unknown property"),
            ("\x00\x01\x02\n", "not of the form"),
        ],
    )
    def test_malformed_prp(
        self,
        text: str,
        part: str,
        good: str,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        path = tmp_path / "p.prp"
        path.write_text(text)
        said = complaint(capsys, "explore", "--prp", str(path), good)
        assert part in said
        assert str(path) in said

    def test_prp_excludes_property(
        self, good: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = str(tmp_path / "p.prp")
        text = complaint(capsys, "explore", "--prp", path, "--property", "assertions", good)
        assert "p.prp excludes other properties" in text


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["explore"],
        ["verify-nothing", "x.c"],
        ["explore", "--max-states", "0", "x.c"],
        ["explore", "--max-states", "many", "x.c"],
        ["explore", "--timeout", "-1", "x.c"],
        ["explore", "--timeout", "nan", "x.c"],
        ["explore", "--inputs", "5", "x.c"],
        ["explore", "--inputs", "5..3", "x.c"],
        ["explore", "--inputs"],
        ["explore", "--reduction", "magic", "x.c"],
        ["explore", "--data-model", "LLP64", "x.c"],
        ["explore", "--max", "3", "x.c"],
        ["verify", "--timeout", "0", "x.c"],
        ["verify", "--memory-limit", "0", "x.c"],
        ["verify", "--memory-limit", "4G", "x.c"],
        ["verify", "--memory-limit", "inf", "x.c"],
        ["verify", "--unwind", "0", "x.c"],
        ["verify", "--engine", "magic", "x.c"],
        ["verify", "--refinement", "magic", "x.c"],
        ["verify", "--order-encoding", "magic", "x.c"],
        ["run", "--seed", "x", "x.c"],
        ["run", "--seed", "1", "--schedule", "s.txt", "x.c"],
        ["show", "--no-such-option", "x.c"],
    ],
)
def test_wrong_options(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "--help" in complaint(capsys, *arguments)


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("show", "--dot"),
        ("show", "--svg"),
        ("run", "--save-schedule"),
        ("explore", "--save-schedule"),
        ("explore", "--json"),
        ("verify", "--json"),
    ],
)
def test_output_that_cannot_be_written(
    command: str,
    option: str,
    good: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = str(tmp_path / "no" / "such" / "directory")
    assert option in complaint(capsys, command, option, path, good)
    assert option in complaint(capsys, command, option, str(tmp_path), good)


@pytest.mark.parametrize("text", ["", "thread x\n", "\x00\x01", "step\n", "one two three\n"])
def test_malformed_schedule(
    text: str, good: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "schedule.txt"
    path.write_text(text)
    assert str(path) in complaint(capsys, "run", "--schedule", str(path), good)


def test_wrong_standard(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "c1492" in complaint(capsys, "explore", "--std", "c1492", good)
