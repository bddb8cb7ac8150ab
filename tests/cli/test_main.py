"""The frame around every command: help, start-up time, interruptions, internal errors, pipes."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import plait
from plait.cli import main as cli
from plait.cli.output import Console, save
from plait.cli.parser import build_parser, parse
from plait.errors import Diagnostic, InputError, UnsupportedCode
from plait.model.properties import Property
from plait.model.property_names import MONITOR_NAME, PROPERTY_NAMES

COMMANDS = ["show", "run", "explore", "verify"]


def failing(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every command raise."""

    def command(options: argparse.Namespace, console: Console) -> int:
        raise error

    monkeypatch.setattr(cli, "_run_command", command)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"plait {plait.__version__}\n"


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help_teaches(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main([*command, "--help"])
    assert stop.value.code == 0
    assert "examples:" in capsys.readouterr().out


def test_help_names_all_properties() -> None:
    assert {*PROPERTY_NAMES, MONITOR_NAME} == {item.value for item in Property}


def test_monitors_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["verify", "--monitor", "list"])
    assert stop.value.code == 0
    assert re.search(r"^file-use +A FILE is used", capsys.readouterr().out, re.MULTILINE)


def test_help_imports_no_front_end() -> None:
    code = (
        "import sys; from plait.cli.parser import build_parser; build_parser().format_help();"
        "sys.exit(any(n.startswith(('plait.c.', 'plait.semantics', 'plait.analysis'))"
        " for n in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_front_end_options(command: str) -> None:
    options = parse(
        [command, "-Iinc", "-I", "inc2", "-DX", "-D", "Y=1", "-UZ", "-include", "a.h"]
        + ["--std", "c11", "--data-model", "ILP32", "--entry", "f", "a.c", "b.i"]
    )
    assert options.include_dirs == ["inc", "inc2"]
    assert options.defines == ["X", "Y=1"]
    assert options.undefines == ["Z"]
    assert options.force_includes == ["a.h"]
    assert options.programs == ["a.c", "b.i"]
    assert (options.std, options.data_model, options.entry) == ("c11", "ILP32", "f")


def test_sources_around_options() -> None:
    assert parse(["verify", "a.c", "--timeout", "3", "b.c", "-v", "c.c"]).programs == [
        "a.c",
        "b.c",
        "c.c",
    ]
    options = parse(["check", "proof.json", "-DX", "a.c", "--timeout", "3", "b.c"])
    assert (options.certificate, options.programs) == ("proof.json", ["a.c", "b.c"])
    with pytest.raises(SystemExit):
        parse(["verify", "a.c", "--made-up", "b.c"])


def test_negative_inputs() -> None:
    assert parse(["explore", "--inputs", "-3..4", "a.c"]).inputs == (-3, 4)


@pytest.mark.parametrize("name", ["c89", "gnu99", "c11", "gnu17", "c2x", "gnu23", "iso9899:1999"])
def test_dialects(name: str) -> None:
    assert parse(["show", "--std", name, "a.c"]).std == name


def test_no_abbreviations() -> None:
    with pytest.raises(SystemExit):
        build_parser().parse_args(["explore", "--prop", "assertions", "a.c"])


def test_internal_error_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing(KeyError("lost"), monkeypatch)
    assert cli.main(["explore", "a.c"]) == 3
    captured = capsys.readouterr()
    assert re.fullmatch(
        r"VERDICT: unknown \(internal error: KeyError at plait/cli/main.py:\d+: 'lost'\)\n",
        captured.out,
    )
    assert "please report" in captured.err
    assert "Traceback" not in captured.err


def test_internal_error_of_other_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing(ZeroDivisionError("x"), monkeypatch)
    assert cli.main(["show", "a.c"]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("internal error: ZeroDivisionError") == 1


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (KeyboardInterrupt(), "interrupted"),
        (MemoryError(), "out of memory"),
        (UnsupportedCode("inline assembly"), "inline assembly"),
    ],
)
def test_no_answer_is_unknown(
    error: BaseException,
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    failing(error, monkeypatch)
    assert cli.main(["explore", "a.c"]) == 3
    assert capsys.readouterr().out == f"VERDICT: unknown ({reason})\n"


def test_interrupted_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing(KeyboardInterrupt(), monkeypatch)
    assert cli.main(["run", "a.c"]) == 130
    assert capsys.readouterr().err == "plait: interrupted\n"


def test_diagnostics(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    many = [Diagnostic("wrong", "a.c", line, 1, f"line {line}") for line in (3, 4, 5)]
    failing(InputError(*many), monkeypatch)
    assert cli.main(["explore", "a.c"]) == 2
    assert capsys.readouterr().err == "plait: a.c:3:1: wrong (and 2 more: -v)\n  line 3\n"
    assert cli.main(["explore", "-v", "a.c"]) == 2
    assert capsys.readouterr().err.count("wrong") == 3


def test_a_reader_that_goes_away() -> None:
    code = (
        "from plait.cli.output import Console\n"
        "console = Console()\n"
        "for _ in range(100000): console.line('x' * 80)\n"
        "console.close()\n"
        "raise SystemExit(7)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 7


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_full_disk() -> None:
    code = (
        "from plait.cli.output import Console\n"
        "console = Console()\n"
        "console.line('VERDICT: true')\n"
        "console.close()\n"
        "raise SystemExit(7)\n"
    )
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert result.returncode == 7
    assert "cannot write to standard output" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_file_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console()
    assert not save(console, "--json", "/dev/full", "text")
    assert "--json /dev/full: cannot write" in capsys.readouterr().err


@pytest.mark.parametrize("path", [".", "none/result.json"])
def test_paths_are_checked_early(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is read, so that the missing source is not what it complains about."""
    monkeypatch.chdir(tmp_path)
    assert cli.main(["verify", "--json", path, "missing.c"]) == 2
    assert f"--json {path}: " in capsys.readouterr().err


def test_standard_output_is_for_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["verify", "--json", "-", "missing.c"])
    assert stop.value.code == 2
    assert "name a file" in capsys.readouterr().err
