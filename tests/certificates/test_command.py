"""`plait check`: the last line, exit codes, limits, and mistakes in the file."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from plait.cli.check import front_end_of
from plait.cli.main import main
from plait.cli.parser import parse
from tests.certificates.building import Builder, Document, program_of

TEXT = """
#include <assert.h>
#include <pthread.h>
#ifndef LIMIT
#define LIMIT 2
#endif
int x; pthread_mutex_t m;
void *f(void *unused) {
  pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }
int main(void) {
  pthread_t t; pthread_create(&t, 0, f, 0); f(0); pthread_join(t, 0); assert(x == LIMIT); return 0; }
"""


@pytest.fixture
def proof(tmp_path: Path) -> tuple[Path, Path, Document]:
    """The source, the certificate's file, and what is in it."""
    program = program_of(tmp_path, TEXT)
    source = tmp_path / "program.c"
    document = Builder(program).document()
    document["front_end"] = front_end_of(parse(["verify", str(source)]), "main")
    return source, tmp_path / "proof.json", document


def run(
    capsys: pytest.CaptureFixture[str], file: Path, document: Document, *arguments: str
) -> tuple[int, str]:
    file.write_text(json.dumps(document))
    code = main(["check", str(file), *arguments])
    shown = capsys.readouterr()
    return code, (shown.out + shown.err).rstrip().splitlines()[-1]


def test_answers(
    capsys: pytest.CaptureFixture[str], proof: tuple[Path, Path, Document], tmp_path: Path
) -> None:
    source, file, document = proof
    assert run(capsys, file, document, str(source)) == (0, "CERTIFICATE: accepted")
    moved = tmp_path / "moved.c"
    moved.write_text(TEXT)
    assert run(capsys, file, document, str(moved)) == (0, "CERTIFICATE: accepted")
    moved.write_text(TEXT.replace("x++", "x += 2"))
    code, last = run(capsys, file, document, str(moved))
    assert (code, last.partition(" (")[0]) == (1, "CERTIFICATE: rejected")
    code, last = run(capsys, file, document, "--timeout", "0.001", str(source))
    assert (code, last) == (3, "CERTIFICATE: unknown (time limit of 0.001 s)")


def test_the_first_failing_step_is_said(
    capsys: pytest.CaptureFixture[str], proof: tuple[Path, Path, Document]
) -> None:
    source, file, document = proof
    document["nodes"][3]["expanded"] = []
    document["nodes"] = [node for number, node in enumerate(document["nodes"]) if number <= 3]
    code, last = run(capsys, file, document, str(source))
    assert code == 1
    assert last.startswith("CERTIFICATE: rejected (node ")


def test_options_are_those_of_the_certificate(
    capsys: pytest.CaptureFixture[str], proof: tuple[Path, Path, Document]
) -> None:
    source, file, document = proof
    document["front_end"]["defines"] = ["LIMIT=3"]
    code, last = run(capsys, file, document, str(source))
    assert code == 1
    assert "another program" in last


def test_front_end_of_is_read_back(proof: tuple[Path, Path, Document]) -> None:
    arguments = ["-I", "a", "-D", "B=1", "-U", "C", "-include", "d.h", "--std", "c11"]
    arguments += ["--data-model", "ILP32", "--no-spurious-wakeups", str(proof[0])]
    options = parse(["verify", *arguments])
    kept = front_end_of(options, "start")
    assert json.loads(json.dumps(kept)) == kept
    from plait.cli.check import options_of

    read = options_of(kept, options.programs)
    assert isinstance(read, argparse.Namespace)
    for name in kept:
        if name != "entry":
            assert getattr(read, name) == getattr(options, name)
    assert read.entry == "start"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("entry", None),
        ("entry", 1),
        ("data_model", "LP65"),
        ("data_model", []),
        ("defines", "X"),
        ("defines", [1]),
        ("spurious_wakeups", 1),
        ("compile_commands", 3),
        ("more", 1),
    ],
)
def test_mistakes_in_the_options(
    capsys: pytest.CaptureFixture[str],
    proof: tuple[Path, Path, Document],
    name: str,
    value: object,
) -> None:
    source, file, document = proof
    document["front_end"][name] = value
    code, last = run(capsys, file, document, str(source))
    assert code == 2
    assert f"front_end.{name}" in last
    del document["front_end"][name]
    if name != "more":
        assert run(capsys, file, document, str(source))[0] == 2


def test_unusable_input(
    capsys: pytest.CaptureFixture[str], proof: tuple[Path, Path, Document], tmp_path: Path
) -> None:
    source, file, document = proof
    assert run(capsys, file, document, str(tmp_path / "none.c"))[0] == 2
    file.write_bytes(b"\xff\xfe{}")
    assert main(["check", str(file), str(source)]) == 2
    file.write_text("{}")
    assert main(["check", str(file), str(source)]) == 2
    assert main(["check", str(tmp_path), str(source)]) == 2
    assert "plait:" in capsys.readouterr().err
    with pytest.raises(SystemExit) as stop:
        main(["check", str(file)])
    assert stop.value.code == 2
